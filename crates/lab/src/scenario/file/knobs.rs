//! What congestion controls leave open: a table for each group of options, as `cc` declares them.

use crate::scenario::decode::{Decode, Definitions, Fields, NoneOr, Show, mismatch, property};
use crate::scenario::diagnostic::{Faults, expected_one_of};
use crate::scenario::tree::{Item, Value};
use cc::Knobs;
use serde_json::{Map, Value as Json, json};
use transport::{Knob, KnobValue};
use units::Span;

/// The key of the table of tables.
pub const KEY: &str = "knobs";

/// Sets what the tables below [`KEY`] state; false if a fault was noted.
pub fn apply(fields: &Fields<'_>, knobs: &mut Knobs, faults: &mut Faults) -> bool {
    let groups: Vec<_> = Knobs::GROUPS.iter().map(|(group, _)| *group).collect();
    let Some(fields) = fields.nested(KEY, &groups, faults) else { return false };
    let mut right = true;
    let mut tables = Vec::new();
    for (group, names) in Knobs::GROUPS {
        match fields.nested(group, names, faults) {
            Some(table) => tables.push((*group, table)),
            None => right = false,
        }
    }
    knobs.each(&mut |knob| {
        let table = tables.iter().find(|(group, _)| *group == knob.group());
        if let Some(item) = table.and_then(|(_, table)| table.find(knob.name())) {
            right &= set(knob.value, item, faults).is_some();
        }
    });
    right
}

fn set(knob: KnobValue<'_>, item: &Item, faults: &mut Faults) -> Option<()> {
    match knob {
        KnobValue::Switch(value) => *value = bool::decode(item, faults)?,
        KnobValue::Count(value) => *value = u32::decode(item, faults)?,
        KnobValue::Number(value) => *value = f64::decode(item, faults)?,
        KnobValue::Time(value) => *value = Span::decode(item, faults)?,
        KnobValue::MaybeTime(value) => *value = NoneOr::<Span>::decode(item, faults)?.into(),
        KnobValue::Word(value) => {
            let Value::Text(text) = &item.value else { return mismatch(item, "a word in quotes", faults) };
            if value.set(text).is_err() {
                let expected = expected_one_of(text, value.words().iter().copied());
                faults.note(item.span.clone(), format!("unknown word \"{text}\"; {expected}"));
                return None;
            }
        }
    }
    Some(())
}

/// The schema of the table of tables.
pub fn schema(definitions: &mut Definitions) -> Json {
    let mut tables: Map<String, Json> = Map::new();
    Knobs::default().each(&mut |knob| {
        let Knob { doc, expected, .. } = knob;
        let (group, name) = (knob.group(), knob.name());
        let (schema, default) = match knob.value {
            KnobValue::Switch(value) => (bool::schema(definitions), value.show()),
            KnobValue::Count(value) => (u32::schema(definitions), value.show()),
            KnobValue::Number(value) => (f64::schema(definitions), value.show()),
            KnobValue::Time(value) => (Span::schema(definitions), value.show()),
            KnobValue::MaybeTime(value) => (NoneOr::<Span>::schema(definitions), value.show()),
            KnobValue::Word(value) => (json!({ "enum": value.words() }), json!(value.word())),
        };
        let doc = format!("{} Expected: {expected}.", doc.trim());
        let empty = || json!({ "type": "object", "properties": {}, "additionalProperties": false });
        let table = tables.entry(group).or_insert_with(empty);
        table["properties"][name] = property(schema, &doc, Some(default));
    });
    json!({ "type": "object", "properties": tables, "additionalProperties": false })
}
