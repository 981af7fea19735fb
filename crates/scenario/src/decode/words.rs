//! Decoding of enums that the file writes as words.

use super::mismatch;
use crate::diagnostic::{Faults, expected_one_of};
use crate::tree::{Item, Value};
use transport::Word;

/// Sets `value` to the variant that the word in `item` names; `None` if a fault was noted.
pub(crate) fn set_word(value: &mut dyn Word, item: &Item, faults: &mut Faults) -> Option<()> {
    let Value::Text(text) = &item.value else { return mismatch(item, "a word in quotes", faults) };
    if value.set(text).is_err() {
        let expected = expected_one_of(text, value.words().iter().copied());
        faults.note(item.span.clone(), format!("unknown word \"{text}\"; {expected}"));
        return None;
    }
    Some(())
}

/// Implements [`Decode`](super::Decode) for enums declared by `transport::named!`.
macro_rules! words {
    ($($type:ty),+) => {$(
        impl $crate::decode::Decode for $type {
            fn decode(item: &$crate::tree::Item, faults: &mut $crate::diagnostic::Faults) -> Option<Self> {
                let mut value = <$type>::ALL[0];
                $crate::decode::set_word(&mut value, item, faults)?;
                Some(value)
            }
            fn schema(_: &mut $crate::decode::Definitions) -> serde_json::Value {
                serde_json::json!({ "enum": <$type>::NAMES })
            }
        }

        impl $crate::decode::Show for $type {
            fn show(&self) -> serde_json::Value {
                serde_json::json!(self.name())
            }
        }
    )+};
}
pub(crate) use words;
