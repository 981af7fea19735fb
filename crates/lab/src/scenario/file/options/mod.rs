//! Sets of options by name: every field of a protocol's configuration is a key, and a set may inherit from another.

mod sctp;
mod tcp;

use crate::scenario::decode::{Decode, Definitions, Fields, describe, property, words};
use crate::scenario::diagnostic::{Faults, expected_one_of};
use crate::scenario::tree::{Entry, Item, Value};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use std::marker::PhantomData;

words!(named cc::Algorithm);

/// Declares the fields of a configuration that can be set, as a module of functions over them.
macro_rules! settings {
    ($module:ident sets $config:ty, by default $standard:expr, { $($(#[doc = $doc:literal])* $field:ident : $type:ty;)+ }) => {
        mod $module {
            #[allow(unused_imports, reason = "not all of them name types")]
            use super::*;
            use $crate::scenario::decode::{Decode, Definitions, Fields, Show, property};
            use $crate::scenario::diagnostic::Faults;
            use serde_json::{Map, Value as Json};

            pub const KEYS: &[&str] = &[$(stringify!($field)),+];

            /// Sets what the table states; false if a fault was noted.
            pub fn apply(fields: &Fields<'_>, config: &mut $config, faults: &mut Faults) -> bool {
                let mut right = true;
                $(if let Some(item) = fields.find(stringify!($field)) {
                    match <$type>::decode(item, faults) {
                        Some(value) => config.$field = value.into(),
                        None => right = false,
                    }
                })+
                right
            }

            pub fn properties(definitions: &mut Definitions) -> Map<String, Json> {
                let default: $config = $standard;
                let mut properties = Map::new();
                $({
                    let doc = concat!($($doc),*);
                    let schema = property(
                        <$type>::schema(definitions),
                        doc,
                        Some(<$type>::from(default.$field.clone()).show()),
                    );
                    properties.insert(stringify!($field).to_owned(), schema);
                })+
                properties
            }
        }
    };
}
use settings;

/// The options of a protocol as a file states them.
pub(in crate::scenario) trait OptionSet: Sized {
    /// Under which key the sets stand.
    const KEY: &'static str;

    /// The keys of a set, `inherit` apart.
    fn keys() -> Vec<&'static str>;
    /// Defaults, changed by what the fields say; `None` if a fault was noted.
    fn read(fields: &Fields<'_>, faults: &mut Faults) -> Option<Self>;
    /// Schema of each key.
    fn properties(definitions: &mut Definitions) -> Map<String, Json>;
    /// Says which option cannot work, if one cannot.
    fn check(&self) -> Result<(), transport::ConfigError>;
}

/// The option sets of a protocol, unread: what a set says depends on what it inherits.
pub(in crate::scenario) struct OptionSets<S> {
    sets: BTreeMap<String, Item>,
    read_as: PhantomData<S>,
}

impl<S: OptionSet> OptionSets<S> {
    fn new(sets: BTreeMap<String, Item>) -> Self {
        OptionSets { sets, read_as: PhantomData }
    }

    /// Every set, complete; `None` if a fault was noted.
    pub fn resolve(&self, faults: &mut Faults) -> Option<BTreeMap<String, S>> {
        // Each for itself first, so that a fault is told of the set it stands in.
        let before = faults.len();
        for (name, set) in &self.sets {
            read::<S>(name, &[set], faults);
        }
        if faults.len() > before {
            return None;
        }
        self.sets.keys().map(|name| Some((name.clone(), self.inherited(name, faults)?))).collect()
    }

    fn inherited(&self, name: &str, faults: &mut Faults) -> Option<S> {
        let mut names = vec![name.to_owned()];
        let mut layers = vec![self.sets.get(name)?];
        while let Some(parent) = layers.last().and_then(|set| member(set, "inherit")) {
            let text = String::decode(parent, faults)?;
            let Some(set) = self.sets.get(&text) else {
                let expected = expected_one_of(&text, self.sets.keys().map(String::as_str));
                faults.note(parent.span.clone(), format!("unknown option set \"{text}\"; {expected}"));
                return None;
            };
            if names.contains(&text) {
                faults.note(parent.span.clone(), format!("option set \"{text}\" inherits from itself"));
                return None;
            }
            names.push(text);
            layers.push(set);
        }
        let config: S = read(name, &layers, faults)?;
        let Err(error) = config.check() else { return Some(config) };
        // A default that does not go with what is set has no place of its own.
        let at = layers.iter().find_map(|set| option(set, error.option)).unwrap_or(layers[0]);
        let message =
            format!("`{}` = {} cannot work; expected {}", error.option, error.value, error.expected);
        faults.note(at.span.clone(), message);
        None
    }
}

/// Defaults, changed by what the layers say; the first that says something counts.
fn read<S: OptionSet>(name: &str, layers: &[&Item], faults: &mut Faults) -> Option<S> {
    let place = format!("[{}.{name}]", S::KEY);
    let mut keys = S::keys();
    keys.push("inherit");
    let mut opened = layers.iter().map(|layer| Fields::open(layer, &place, &keys, faults));
    let mut fields = opened.next()??;
    for below in opened {
        fields = fields.over(&below?);
    }
    S::read(&fields, faults)
}

/// Where an option stands: a key of the set, `key.name` for one of a table in it, or `group.name` for one below its
/// knobs.
fn option<'t>(set: &'t Item, name: &str) -> Option<&'t Item> {
    let Some((group, name)) = name.split_once(['.', ' ']) else { return member(set, name) };
    let table = member(set, group).or_else(|| member(member(set, super::knobs::KEY)?, group))?;
    member(table, name)
}

fn member<'t>(set: &'t Item, key: &str) -> Option<&'t Item> {
    match &set.value {
        Value::Table(table) => table.get(key),
        _ => None,
    }
}

/// Schema of a table of these keys.
fn table_of(properties: Map<String, Json>) -> Json {
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

impl<S: OptionSet> Decode for OptionSets<S> {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        let key = S::KEY;
        let Value::Table(table) = &item.value else {
            let message = format!("expected option sets, each a table such as [{key}.fast]");
            faults.note(item.span.clone(), message);
            return None;
        };
        let mut sets = BTreeMap::new();
        for Entry { key: name, item: set, .. } in table.entries() {
            if !matches!(set.value, Value::Table(_)) {
                let found = describe(set);
                let message = format!(
                    "expected `{name}` to be the table of an option set, [{key}.{name}]; found {found}"
                );
                faults.note(set.span.clone(), message);
                return None;
            }
            sets.insert(name.clone(), set.clone());
        }
        Some(OptionSets::new(sets))
    }

    fn schema(definitions: &mut Definitions) -> Json {
        let mut properties = S::properties(definitions);
        let doc = "Name of the option set that holds where this one says nothing.";
        properties.insert("inherit".to_owned(), property(json!({ "type": "string" }), doc, None));
        json!({ "type": "object", "additionalProperties": table_of(properties) })
    }

    fn absent() -> Option<Self> {
        Some(OptionSets::new(BTreeMap::new()))
    }
}
