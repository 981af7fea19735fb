//! Decodes the options declared by `transport::options!` from keys of a file, and describes them in the
//! schema.

use crate::decode::{Decode, Definitions, Fields, Show, mismatch, number, property, set_word, whole};
use crate::diagnostic::Faults;
use crate::tree::{Item, Value};
use serde_json::{Map, Value as Json, json};
use transport::{List, Maybe, OptionValue, Options, Whole};
use units::{ByteCount, Span};

/// The names of a group's options.
pub fn keys(options: &mut dyn Options) -> Vec<&'static str> {
    let mut keys = Vec::new();
    options.each(&mut |setting| keys.push(setting.name()));
    keys
}

/// Sets the options to the values of the table. Returns false if a fault was noted.
pub fn apply(fields: &Fields<'_>, options: &mut dyn Options, faults: &mut Faults) -> bool {
    let mut right = true;
    options.each(&mut |setting| {
        let name = setting.name();
        right &= match setting.value {
            OptionValue::Group(group) => match fields.nested(name, &keys(group), faults) {
                Some(table) => apply(&table, group, faults),
                None => false,
            },
            value => fields.find(name).is_none_or(|item| set(value, item, faults).is_some()),
        };
    });
    right
}

/// Sets an option to the value of `item`; `None` if a fault was noted.
fn set(value: OptionValue<'_>, item: &Item, faults: &mut Faults) -> Option<()> {
    match value {
        OptionValue::Switch(on) => *on = bool::decode(item, faults)?,
        OptionValue::Whole(count) => count.set(whole(item, 0, count.most(), faults)?),
        OptionValue::Number(any) => *any = number(item, faults)?,
        OptionValue::Time(time) => *time = Span::decode(item, faults)?,
        OptionValue::Size(size) => set_size(size, item, faults)?,
        OptionValue::Word(word) => set_word(word, item, faults)?,
        OptionValue::Maybe(maybe) => match &item.value {
            Value::Text(text) if text == maybe.none() => maybe.set_none(),
            _ => set(maybe.set_some(), item, faults)?,
        },
        OptionValue::List(list) => set_list(list, item, faults)?,
        OptionValue::Group(_) => unreachable!("a group is a table, which `apply` opens"),
    }
    Some(())
}

fn set_size(size: &mut dyn Whole, item: &Item, faults: &mut Faults) -> Option<()> {
    let bytes = ByteCount::decode(item, faults)?.get();
    if bytes > size.most() {
        return mismatch(item, &format!("a size of at most {} B", size.most()), faults);
    }
    size.set(bytes);
    Some(())
}

fn set_list(list: &mut dyn List, item: &Item, faults: &mut Faults) -> Option<()> {
    let Value::List(elements) = &item.value else { return mismatch(item, "a list in brackets", faults) };
    list.clear();
    // All elements are read even if one is wrong, so that every fault is reported.
    let wrong = elements.iter().filter(|element| set(list.push(), element, faults).is_none()).count();
    (wrong == 0).then_some(())
}

/// The schema of each option, with the values of `options` as defaults.
pub fn properties(options: &mut dyn Options, definitions: &mut Definitions) -> Map<String, Json> {
    let mut all = Map::new();
    options.each(&mut |setting| {
        let (name, mut doc) = (setting.name(), plain(setting.doc));
        if !setting.expected.is_empty() {
            doc = format!("{doc} Expected: {}.", setting.expected);
        }
        let (default, schema) = match setting.value {
            OptionValue::Group(group) => (None, object(properties(group, definitions))),
            value => {
                let (default, schema) = described(value, definitions);
                (Some(default), schema)
            }
        };
        all.insert(name.to_owned(), property(schema, &doc, default));
    });
    all
}

/// Schema of a table with these keys.
pub fn object(properties: Map<String, Json>) -> Json {
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// The value as a file writes it, and the schema of such values. If the value is a list,
/// adds an element to it, because the schema of a list contains that of an element.
fn described(value: OptionValue<'_>, definitions: &mut Definitions) -> (Json, Json) {
    match value {
        OptionValue::Switch(on) => (on.show(), bool::schema(definitions)),
        OptionValue::Whole(count) => {
            (json!(count.get()), json!({ "type": "integer", "minimum": 0, "maximum": count.most() }))
        }
        OptionValue::Number(number) => (number.show(), f64::schema(definitions)),
        OptionValue::Time(time) => (time.show(), Span::schema(definitions)),
        OptionValue::Size(size) => (ByteCount::new(size.get()).show(), ByteCount::schema(definitions)),
        OptionValue::Word(word) => (json!(word.word()), json!({ "enum": word.words() })),
        OptionValue::Maybe(maybe) => described_maybe(maybe, definitions),
        OptionValue::List(list) => {
            let default: Vec<_> = (0..list.count()).map(|n| described(list.get(n), definitions).0).collect();
            let (_, element) = described(list.push(), definitions);
            (json!(default), json!({ "type": "array", "items": element }))
        }
        OptionValue::Group(_) => unreachable!("a group has no value"),
    }
}

fn described_maybe(maybe: &mut dyn Maybe, definitions: &mut Definitions) -> (Json, Json) {
    let none = maybe.none();
    let default = maybe.get().map_or(json!(none), |value| described(value, definitions).0);
    let (_, schema) = described(maybe.set_some(), definitions);
    (default, json!({ "anyOf": [schema, { "const": none }] }))
}

/// Documentation for readers without links: `rfc9260#section-6.2` becomes RFC 9260, section 6.2.
pub fn plain(doc: &str) -> String {
    let mut text = String::new();
    for (n, part) in doc.trim().split('`').enumerate() {
        let rfc = part.strip_prefix("rfc").filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        match (n % 2 == 1, rfc.map(|rest| rest.split_once("#section-").unwrap_or((rest, "")))) {
            (false, _) => text += part,
            (true, None) => text += &format!("`{part}`"),
            (true, Some((number, ""))) => text += &format!("RFC {number}"),
            (true, Some((number, section))) => text += &format!("RFC {number}, section {section}"),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc_anchors_are_written_as_rfc_and_section() {
        let doc = " As `rfc9260#section-6.2.1`, rule C, and `rfc7829` have it for `rto_max`.";
        let text = "As RFC 9260, section 6.2.1, rule C, and RFC 7829 have it for `rto_max`.";
        assert_eq!(plain(doc), text);
    }
}
