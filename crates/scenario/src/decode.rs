//! From TOML to values, with a schema of what is understood: [`Decode`] for a value, [`Record`] for the keys of a
//! table, and the macros that declare them.

use super::Hertz;
use super::diagnostic::{Faults, expected_one_of, nearest};
use super::quantity::Quantity;
use super::tree::{Item, Table, Value};
use serde_json::{Map, Value as Json, json};
use std::ops::Range;
use units::{BitRate, ByteCount, Instant, Probability, Span};

/// Definitions of the schema by name.
pub(super) type Definitions = Map<String, Json>;

/// What can be read from a TOML value.
pub(super) trait Decode: Sized {
    /// Reads it; `None` if a fault was noted.
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self>;
    /// JSON Schema of what is understood.
    fn schema(definitions: &mut Definitions) -> Json;
    /// What a missing key stands for, if it may be missing.
    fn absent() -> Option<Self> {
        None
    }
}

/// A value as a file would state it.
pub(super) trait Show {
    fn show(&self) -> Json;
}

/// The keys of a table.
pub(super) trait Record: Sized {
    /// Every key, with those of the records it includes.
    fn keys() -> Vec<&'static str>;
    /// Reads them; `None` if a fault was noted.
    fn read(fields: &Fields<'_>, faults: &mut Faults) -> Option<Self>;
    /// Adds the schema of each key, and the keys that must be there.
    fn properties(
        definitions: &mut Definitions,
        into: &mut Map<String, Json>,
        required: &mut Vec<&'static str>,
    );

    /// Schema of a table of these keys.
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

/// The table that is being read. A key that its first layer lacks is looked up in the next.
pub(super) struct Fields<'t> {
    layers: Vec<&'t Table>,
    place: String,
    span: Range<usize>,
    /// Keys that unknown ones probably stand for: they are not missing as well.
    misspelt: Vec<&'static str>,
}

impl<'t> Fields<'t> {
    /// Opens `item`, noting keys that are not among `keys`.
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

    /// This table, with `below` for the keys it lacks.
    pub fn over(mut self, below: &Fields<'t>) -> Self {
        self.layers.extend(&below.layers);
        self
    }

    /// The value of a key; it may also be written in camelCase.
    pub fn find(&self, key: &str) -> Option<&'t Item> {
        let camel = camel_case(key);
        self.layers.iter().find_map(|table| table.get(key).or_else(|| table.get(&camel)))
    }

    /// The table under `key` in each layer, as one table of layers.
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

    /// The value of a key that must be there unless its type says otherwise.
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

    /// What the table is, for messages.
    pub fn place(&self) -> &str {
        &self.place
    }
}

/// `frame_rate` for `frameRate`: the names of paper 001 are understood as well.
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

pub(super) fn camel_case(name: &str) -> String {
    let mut words = name.split('_');
    let mut camel = words.next().unwrap_or_default().to_owned();
    for word in words {
        let (head, tail) = word.split_at(word.len().min(1));
        camel += &head.to_ascii_uppercase();
        camel += tail;
    }
    camel
}

/// What a value is, for messages.
pub(super) fn describe(item: &Item) -> String {
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

/// Notes that something else was expected.
pub(super) fn mismatch<T>(item: &Item, expected: &str, faults: &mut Faults) -> Option<T> {
    faults.note(item.span.clone(), format!("expected {expected}; found {}", describe(item)));
    None
}

/// A whole number from `least` to `most`.
pub(super) fn whole(item: &Item, least: u64, most: u64, faults: &mut Faults) -> Option<u64> {
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
pub(super) fn number(item: &Item, faults: &mut Faults) -> Option<f64> {
    match item.value {
        Value::Integer(n) => Some(n as f64),
        Value::Real(n) if n.is_finite() => Some(n),
        _ => mismatch(item, "a number", faults),
    }
}

fn decode_quantity<Q: Quantity>(item: &Item, faults: &mut Faults) -> Option<Q> {
    let expected = || format!("{} such as \"{}\"", Q::KIND, Q::EXAMPLE);
    match &item.value {
        Value::Text(text) => match Q::parse(text) {
            Ok(quantity) => Some(quantity),
            Err(message) => {
                faults.note(item.span.clone(), message);
                None
            }
        },
        Value::Integer(_) | Value::Real(_) => {
            let message = format!("{} has no unit; expected {} in quotes", describe(item), expected());
            faults.note(item.span.clone(), message);
            None
        }
        _ => mismatch(item, &expected(), faults),
    }
}

/// Refers to a definition, which is made if it is not there yet.
pub(super) fn refer(
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

fn quantity_schema<Q: Quantity>(definitions: &mut Definitions) -> Json {
    refer(definitions, Q::NAME, |_| {
        let units: Vec<_> = Q::UNITS.iter().map(|(unit, _)| *unit).collect();
        json!({
            "type": "string",
            "pattern": format!("^\\s*[0-9]+(\\.[0-9]+)?\\s*({})\\s*$", units.join("|")),
            "description": format!("Written with its unit: {} such as \"{}\".", Q::KIND, Q::EXAMPLE),
        })
    })
}

macro_rules! quantities {
    ($($type:ident),+) => {$(
        impl Decode for $type {
            fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
                decode_quantity(item, faults)
            }
            fn schema(definitions: &mut Definitions) -> Json {
                quantity_schema::<$type>(definitions)
            }
        }
    )+};
}
quantities!(Span, ByteCount, Hertz);

impl Decode for BitRate {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        let rate: BitRate = decode_quantity(item, faults)?;
        if rate.as_bps() == 0 {
            return mismatch(item, "a rate above zero", faults);
        }
        Some(rate)
    }
    fn schema(definitions: &mut Definitions) -> Json {
        quantity_schema::<BitRate>(definitions)
    }
}

impl Decode for Instant {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        Some(Instant::ZERO + Span::decode(item, faults)?)
    }
    fn schema(definitions: &mut Definitions) -> Json {
        Span::schema(definitions)
    }
}

macro_rules! whole_numbers {
    ($($type:ident),+) => {$(
        impl Decode for $type {
            fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
                whole(item, 0, $type::MAX.into(), faults).and_then(|n| n.try_into().ok())
            }
            fn schema(_: &mut Definitions) -> Json {
                json!({ "type": "integer", "minimum": 0, "maximum": $type::MAX })
            }
        }
        impl Show for $type {
            fn show(&self) -> Json {
                json!(self)
            }
        }
    )+};
}
whole_numbers!(u8, u16, u32, u64);

impl Decode for f64 {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        number(item, faults)
    }
    fn schema(_: &mut Definitions) -> Json {
        json!({ "type": "number" })
    }
}

impl Decode for Probability {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        Probability::new(number(item, faults)?)
            .ok()
            .or_else(|| mismatch(item, "a number from 0 to 1", faults))
    }
    fn schema(_: &mut Definitions) -> Json {
        json!({ "type": "number", "minimum": 0, "maximum": 1 })
    }
}

impl Decode for bool {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        match &item.value {
            Value::Flag(flag) => Some(*flag),
            _ => mismatch(item, "true or false", faults),
        }
    }
    fn schema(_: &mut Definitions) -> Json {
        json!({ "type": "boolean" })
    }
}

impl Decode for String {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        match &item.value {
            Value::Text(text) => Some(text.clone()),
            _ => mismatch(item, "text in quotes", faults),
        }
    }
    fn schema(_: &mut Definitions) -> Json {
        json!({ "type": "string" })
    }
}

impl<T: Decode> Decode for Option<T> {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        T::decode(item, faults).map(Some)
    }
    fn schema(definitions: &mut Definitions) -> Json {
        T::schema(definitions)
    }
    fn absent() -> Option<Self> {
        Some(None)
    }
}

impl<T: Show> Show for Vec<T> {
    fn show(&self) -> Json {
        self.iter().map(Show::show).collect()
    }
}

impl<T: Decode> Decode for Vec<T> {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        let list = match &item.value {
            Value::List(list) => list,
            Value::Table(_) => return mismatch(item, "a list, as double brackets make one: [[...]]", faults),
            _ => return mismatch(item, "a list in brackets", faults),
        };
        // All of them are read before giving up, so that every fault is found.
        let read: Vec<_> = list.iter().map(|element| T::decode(element, faults)).collect();
        read.into_iter().collect()
    }
    fn schema(definitions: &mut Definitions) -> Json {
        json!({ "type": "array", "items": T::schema(definitions) })
    }
    fn absent() -> Option<Self> {
        Some(Vec::new())
    }
}

impl<T: Decode> Decode for [T; 2] {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        match &item.value {
            Value::List(list) if list.len() == 2 => {
                let (a, b) = (T::decode(&list[0], faults), T::decode(&list[1], faults));
                Some([a?, b?])
            }
            _ => mismatch(item, "a list of two", faults),
        }
    }
    fn schema(definitions: &mut Definitions) -> Json {
        json!({ "type": "array", "items": T::schema(definitions), "minItems": 2, "maxItems": 2 })
    }
}

/// A value that remembers where it stands.
#[derive(Clone, Debug)]
pub(super) struct At<T> {
    pub value: T,
    pub span: Range<usize>,
}

impl<T: Decode> Decode for At<T> {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        Some(At { value: T::decode(item, faults)?, span: item.span.clone() })
    }
    fn schema(definitions: &mut Definitions) -> Json {
        T::schema(definitions)
    }
}

macro_rules! shown_as_text {
    ($($type:ty),+) => {$(
        impl Show for $type {
            fn show(&self) -> Json {
                json!(self.to_string())
            }
        }
    )+};
}
shown_as_text!(Span, ByteCount, BitRate);

macro_rules! shown_as_is {
    ($($type:ty),+) => {$(
        impl Show for $type {
            fn show(&self) -> Json {
                json!(self)
            }
        }
    )+};
}
shown_as_is!(f64, bool, String);

impl Show for Probability {
    fn show(&self) -> Json {
        json!(self.get())
    }
}

impl Show for Hertz {
    fn show(&self) -> Json {
        json!(format!("{} Hz", self.as_f64()))
    }
}

impl<T: Show> Show for Option<T> {
    fn show(&self) -> Json {
        self.as_ref().map_or_else(|| json!("none"), Show::show)
    }
}

impl<T: Show> Show for At<T> {
    fn show(&self) -> Json {
        self.value.show()
    }
}

/// A closed set of words.
pub(super) trait Word: Copy + PartialEq + 'static {
    /// The words.
    const NAMES: &'static [&'static str];
    /// What each of them stands for.
    const ALL: &'static [Self];
}

/// The value a word stands for.
pub(super) fn decode_word<W: Word>(item: &Item, faults: &mut Faults) -> Option<W> {
    let Value::Text(text) = &item.value else { return mismatch(item, "a word in quotes", faults) };
    if let Some(i) = W::NAMES.iter().position(|word| word == text) {
        return Some(W::ALL[i]);
    }
    let expected = expected_one_of(text, W::NAMES.iter().copied());
    faults.note(item.span.clone(), format!("unknown word \"{text}\"; {expected}"));
    None
}

/// The word for a value.
pub(super) fn show_word<W: Word>(value: W) -> Json {
    json!(W::ALL.iter().position(|v| *v == value).map(|i| W::NAMES[i]))
}

/// Makes an enum readable from words: those given, or those it has names for.
macro_rules! words {
    ($type:ty { $($word:literal => $value:expr),+ $(,)? }) => {
        impl $crate::decode::Word for $type {
            const NAMES: &'static [&'static str] = &[$($word),+];
            const ALL: &'static [Self] = &[$($value),+];
        }
        $crate::decode::words!(@decode $type);
    };
    (named $($type:ty),+) => {$(
        impl $crate::decode::Word for $type {
            const NAMES: &'static [&'static str] = <$type>::NAMES;
            const ALL: &'static [Self] = <$type>::ALL;
        }
        $crate::decode::words!(@decode $type);
    )+};
    (@decode $type:ty) => {
        impl $crate::decode::Decode for $type {
            fn decode(
                item: &$crate::tree::Item,
                faults: &mut $crate::diagnostic::Faults,
            ) -> Option<Self> {
                $crate::decode::decode_word(item, faults)
            }
            fn schema(_: &mut $crate::decode::Definitions) -> serde_json::Value {
                serde_json::json!({ "enum": <$type as $crate::decode::Word>::NAMES })
            }
        }

        impl $crate::decode::Show for $type {
            fn show(&self) -> serde_json::Value {
                $crate::decode::show_word(*self)
            }
        }
    };
}
pub(super) use words;

/// The schema of one key: any value can be a list of variations instead.
pub(super) fn property(value: Json, doc: &str, default: Option<Json>) -> Json {
    let vary = json!({
        "type": "array", "items": value, "minItems": 1, "description": "The values, one for each variation.",
    });
    let name = json!({ "type": "string", "description": "Name of the axis; by default that of the key." });
    let variations = json!({
        "type": "object",
        "properties": { "vary": vary, "name": name },
        "required": ["vary"],
        "additionalProperties": false,
    });
    let mut property = json!({ "anyOf": [value, variations], "description": doc.trim() });
    if let Some(default) = default {
        property["default"] = default;
    }
    property
}

/// Declares a table of the file: its keys with their types and defaults, and the documentation that the schema repeats.
/// `+` adds the keys of another record.
macro_rules! table {
    (
        $(#[doc = $doc:literal])* struct $name:ident in $place:literal {
            $($(#[doc = $field_doc:literal])* $field:ident : $type:ty $(= $default:expr)?;)*
            $(+ $included:ident : $record:ty;)?
        }
    ) => {
        $(#[doc = $doc])*
        #[allow(dead_code, reason = "some keys are there only to be checked")]
        pub(crate) struct $name { $(pub $field: $type,)* $(pub $included: $record,)? }

        impl $crate::decode::Record for $name {
            fn keys() -> Vec<&'static str> {
                #[allow(unused_mut, reason = "only records that include another add to it")]
                let mut keys = vec![$(stringify!($field)),*];
                $(keys.extend(<$record as $crate::decode::Record>::keys());)?
                keys
            }

            fn read(
                fields: &$crate::decode::Fields<'_>,
                faults: &mut $crate::diagnostic::Faults,
            ) -> Option<Self> {
                $(let $field = $crate::decode::table!(@take fields, faults, $field $(, $default)?);)*
                $(let $included = <$record as $crate::decode::Record>::read(fields, faults);)?
                Some($name { $($field: $field?,)* $($included: $included?,)? })
            }

            fn properties(
                definitions: &mut $crate::decode::Definitions,
                into: &mut serde_json::Map<String, serde_json::Value>,
                required: &mut Vec<&'static str>,
            ) {
                $({
                    let schema = <$type as $crate::decode::Decode>::schema(definitions);
                    let default = $crate::decode::table!(@show $type $(, $default)?);
                    if default.is_none() && <$type as $crate::decode::Decode>::absent().is_none() {
                        required.push(stringify!($field));
                    }
                    let doc = concat!($($field_doc),*);
                    into.insert(
                        stringify!($field).to_owned(),
                        $crate::decode::property(schema, doc, default),
                    );
                })*
                $(<$record as $crate::decode::Record>::properties(definitions, into, required);)?
            }
        }

        impl $crate::decode::Decode for $name {
            fn decode(
                item: &$crate::tree::Item,
                faults: &mut $crate::diagnostic::Faults,
            ) -> Option<Self> {
                let keys = <Self as $crate::decode::Record>::keys();
                let fields = $crate::decode::Fields::open(item, $place, &keys, faults)?;
                $crate::decode::Record::read(&fields, faults)
            }
            fn schema(definitions: &mut $crate::decode::Definitions) -> serde_json::Value {
                <Self as $crate::decode::Record>::object(definitions)
            }
        }
    };
    (@take $fields:ident, $faults:ident, $field:ident) => {
        $fields.take(stringify!($field), $faults)
    };
    (@take $fields:ident, $faults:ident, $field:ident, $default:expr) => {
        $fields.take_or(stringify!($field), $default, $faults)
    };
    (@show $type:ty) => { None };
    (@show $type:ty, $default:expr) => {{
        let default: $type = $default;
        Some($crate::decode::Show::show(&default))
    }};
}
pub(super) use table;
