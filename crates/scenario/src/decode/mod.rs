//! Decodes TOML to values and describes the accepted values by a JSON Schema: [`Decode`] for a value,
//! [`Record`] for the keys of a table, and the macros that declare them.

mod table;
mod values;
mod words;

pub(crate) use table::{key, property, table};
pub(crate) use values::decode_quantity;
pub(crate) use words::{set_word, words};

use crate::diagnostic::{Faults, expected_one_of, nearest};
use crate::tree::{Item, Table, Value};
use serde_json::{Map, Value as Json, json};
use std::ops::Range;

/// Definitions of the schema by name.
pub(crate) type Definitions = Map<String, Json>;

/// A type that can be read from a TOML value.
pub(crate) trait Decode: Sized {
    /// Reads the value; `None` if a fault was noted.
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self>;
    /// JSON Schema of the accepted values.
    fn schema(definitions: &mut Definitions) -> Json;
    /// The value of a missing key; `None` if the key is required.
    fn absent() -> Option<Self> {
        None
    }
}

/// A value that can be written as in a scenario file, for the defaults in the schema.
pub(crate) trait Show {
    fn show(&self) -> Json;
}

/// The keys of a table.
pub(crate) trait Record: Sized {
    /// All keys, including those of included records.
    fn keys() -> Vec<&'static str>;
    /// Reads the keys; `None` if a fault was noted.
    fn read(fields: &Fields<'_>, faults: &mut Faults) -> Option<Self>;
    /// Adds the schema of each key, and the names of the required keys.
    fn properties(
        definitions: &mut Definitions,
        into: &mut Map<String, Json>,
        required: &mut Vec<&'static str>,
    );

    /// Schema of a table with these keys.
    fn object(definitions: &mut Definitions) -> Json {
        let (mut properties, mut required) = (Map::new(), Vec::new());
        Self::properties(definitions, &mut properties, &mut required);
        let mut object = json!({ "type": "object", "properties": properties, "additionalProperties": false });
        if !required.is_empty() {
            object["required"] = json!(required);
        }
        object
    }
}

/// A table that is being read, in layers: a key that is missing in one layer is looked up in the next.
pub(crate) struct Fields<'t> {
    layers: Vec<&'t Table>,
    place: String,
    span: Range<usize>,
    /// Valid keys for which the table probably has a misspelt key. These are not also reported as missing.
    misspelt: Vec<&'static str>,
}

impl<'t> Fields<'t> {
    /// Opens the table `item` and notes each of its keys that is not one of `keys`.
    pub fn open(item: &'t Item, place: &str, keys: &[&'static str], faults: &mut Faults) -> Option<Self> {
        let Value::Table(table) = &item.value else {
            faults.note(item.span.clone(), format!("expected a table, {place}; found {}", describe(item)));
            return None;
        };
        let mut misspelt = Vec::new();
        for entry in table.entries() {
            let name = entry.key.as_str();
            if !keys.contains(&name) && !keys.contains(&snake_case(name).as_str()) {
                let expected = expected_one_of(name, keys.iter().copied());
                misspelt.extend(nearest(name, keys.iter().copied()));
                faults.note(entry.span.clone(), format!("unknown key `{name}` in {place}; {expected}"));
            } else if snake_case(name) != name && table.get(&snake_case(name)).is_some() {
                let snake = snake_case(name);
                faults.note(
                    entry.span.clone(),
                    format!("`{name}` and `{snake}` are the same key; expected only one of them"),
                );
            }
        }
        Some(Fields { layers: vec![table], place: place.to_owned(), span: item.span.clone(), misspelt })
    }

    /// Returns this table with `below` as the next layer, for keys that are missing in this table.
    pub fn over(mut self, below: &Fields<'t>) -> Self {
        self.layers.extend(&below.layers);
        self
    }

    /// The value of a key, which the file may also write in camelCase.
    pub fn find(&self, key: &str) -> Option<&'t Item> {
        let camel = camel_case(key);
        self.layers.iter().find_map(|table| table.get(key).or_else(|| table.get(&camel)))
    }

    /// The tables under `key` in all layers, as the layers of one table.
    pub fn nested(&self, key: &str, keys: &[&'static str], faults: &mut Faults) -> Option<Self> {
        let place = format!("`{key}` of {}", self.place);
        let mut nested = Fields {
            layers: Vec::new(),
            place: place.clone(),
            span: self.span.clone(),
            misspelt: Vec::new(),
        };
        for item in self.layers.iter().filter_map(|table| table.get(key)) {
            nested.layers.extend(Fields::open(item, &place, keys, faults)?.layers);
        }
        Some(nested)
    }

    /// The value of a key. Notes a fault if the key is missing and [`Decode::absent`] has no value for it.
    pub fn take<T: Decode>(&self, key: &str, faults: &mut Faults) -> Option<T> {
        match self.find(key) {
            Some(item) => T::decode(item, faults),
            None => T::absent().or_else(|| {
                if !self.misspelt.contains(&key) {
                    faults.note(self.span.clone(), format!("`{key}` is missing in {}", self.place));
                }
                None
            }),
        }
    }

    /// The value of a key, or `default` if it is missing.
    pub fn take_or<T: Decode>(&self, key: &str, default: T, faults: &mut Faults) -> Option<T> {
        match self.find(key) {
            Some(item) => T::decode(item, faults),
            None => Some(default),
        }
    }

    /// Description of the table in messages.
    pub fn place(&self) -> &str {
        &self.place
    }
}

/// `frame_rate` for `frameRate`: scenario files may also use the names of paper 001.
fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for c in name.chars() {
        if c.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(c.to_ascii_lowercase());
    }
    snake
}

pub(crate) fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let (head, tail) = word.split_at(word.len().min(1));
        camel += &head.to_ascii_uppercase();
        camel += tail;
    }
    camel
}

/// Description of a value in messages.
pub(crate) fn describe(item: &Item) -> String {
    match &item.value {
        Value::Text(text) => format!("the text \"{text}\""),
        Value::Integer(number) => format!("the number {number}"),
        Value::Real(number) => format!("the number {number}"),
        Value::Flag(flag) => flag.to_string(),
        Value::Date => "a date".to_owned(),
        Value::List(list) => format!("a list of {}", list.len()),
        Value::Table(_) => "a table".to_owned(),
    }
}

/// Notes that `item` is not the expected value.
pub(crate) fn mismatch<T>(item: &Item, expected: &str, faults: &mut Faults) -> Option<T> {
    faults.note(item.span.clone(), format!("expected {expected}; found {}", describe(item)));
    None
}

/// A whole number from `least` to `most`.
pub(crate) fn whole(item: &Item, least: u64, most: u64, faults: &mut Faults) -> Option<u64> {
    if let Value::Integer(n) = item.value
        && let Ok(n) = u64::try_from(n)
        && (least..=most).contains(&n)
    {
        return Some(n);
    }
    let range =
        if most == u64::MAX { format!("of at least {least}") } else { format!("from {least} to {most}") };
    mismatch(item, &format!("a whole number {range}"), faults)
}

/// Any finite number.
pub(crate) fn number(item: &Item, faults: &mut Faults) -> Option<f64> {
    match item.value {
        Value::Integer(n) => Some(n as f64),
        Value::Real(n) if n.is_finite() => Some(n),
        _ => mismatch(item, "a number", faults),
    }
}

/// A reference to the definition `name`, which is built first if it does not exist yet.
pub(crate) fn refer(
    definitions: &mut Definitions,
    name: &str,
    make: impl FnOnce(&mut Definitions) -> Json,
) -> Json {
    if !definitions.contains_key(name) {
        definitions.insert(name.to_owned(), Json::Null);
        let definition = make(definitions);
        definitions.insert(name.to_owned(), definition);
    }
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// One value, or a list of at least one.
#[derive(Clone, Debug)]
pub(crate) struct OneOrMore<T>(pub Vec<T>);

/// A value and its byte range in the file.
#[derive(Clone, Debug)]
pub(crate) struct At<T> {
    pub value: T,
    pub span: Range<usize>,
}
