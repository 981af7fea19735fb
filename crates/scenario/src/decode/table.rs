//! Declaration of the tables of a scenario file.

use serde_json::{Value as Json, json};

/// The schema of one key: its value, or a list of variations of it.
pub(crate) fn property(value: Json, doc: &str, default: Option<Json>) -> Json {
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

/// The key of a field. A field whose name is a keyword of Rust is written `r#for`.
pub(crate) fn key(field: &'static str) -> &'static str {
    field.strip_prefix("r#").unwrap_or(field)
}

/// Declares a table of the file: its keys with their types, defaults and documentation. The schema contains
/// the documentation. `+` adds the keys of another record.
macro_rules! table {
    (
        $(#[doc = $doc:literal])* struct $name:ident in $place:literal {
            $($(#[doc = $field_doc:literal])* $field:ident : $type:ty $(= $default:expr)?;)*
            $(+ $included:ident : $record:ty;)?
        }
    ) => {
        $(#[doc = $doc])*
        #[allow(dead_code, reason = "some keys are only checked")]
        pub(crate) struct $name { $(pub $field: $type,)* $(pub $included: $record,)? }

        impl $crate::decode::Record for $name {
            fn keys() -> Vec<&'static str> {
                #[allow(unused_mut, reason = "only records that include another add to it")]
                let mut keys = vec![$($crate::decode::key(stringify!($field))),*];
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
                        required.push($crate::decode::key(stringify!($field)));
                    }
                    let doc = concat!($($field_doc),*);
                    into.insert(
                        $crate::decode::key(stringify!($field)).to_owned(),
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
        $fields.take($crate::decode::key(stringify!($field)), $faults)
    };
    (@take $fields:ident, $faults:ident, $field:ident, $default:expr) => {
        $fields.take_or($crate::decode::key(stringify!($field)), $default, $faults)
    };
    (@show $type:ty) => { None };
    (@show $type:ty, $default:expr) => {{
        let default: $type = $default;
        Some($crate::decode::Show::show(&default))
    }};
}
pub(crate) use table;
