//! Decoding of the types that many keys share.

use super::{At, Decode, Definitions, OneOrMore, Show, describe, mismatch, number, refer, whole};
use crate::Hertz;
use crate::diagnostic::Faults;
use crate::quantity::{Quantity, comma};
use crate::tree::{Item, Value};
use serde_json::{Value as Json, json};
use units::{BitRate, ByteCount, Instant, Probability, Span};

/// Reads a quantity of any size, also zero.
pub(crate) fn decode_quantity<Q: Quantity>(item: &Item, faults: &mut Faults) -> Option<Q> {
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
        let (read, given) = match &item.value {
            Value::Text(text) => {
                if let Some(message) = comma(text, Probability::parse) {
                    faults.note(item.span.clone(), message);
                    return None;
                }
                (Probability::parse(text).filter(|_| text.contains('%')), text.trim().parse().ok())
            }
            Value::Integer(n) => (Probability::new(*n as f64).ok(), Some(*n as f64)),
            Value::Real(n) => (Probability::new(*n).ok(), Some(*n)),
            _ => (None, None),
        };
        read.or_else(|| mismatch(item, &Probability::expected(given), faults))
    }
    fn schema(_: &mut Definitions) -> Json {
        json!({ "anyOf": [
            { "type": "number", "minimum": 0, "maximum": 1 },
            { "type": "string", "pattern": "^\\s*[0-9]+(\\.[0-9]+)?\\s*%\\s*$" },
        ] })
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
        // All elements are read even if one is wrong, so that every fault is reported.
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

impl<T: Decode> Decode for OneOrMore<T> {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        match &item.value {
            Value::List(list) if list.is_empty() => mismatch(item, "at least one value in the list", faults),
            Value::List(_) => Vec::decode(item, faults).map(OneOrMore),
            _ => Some(OneOrMore(vec![T::decode(item, faults)?])),
        }
    }
    fn schema(definitions: &mut Definitions) -> Json {
        let one = T::schema(definitions);
        json!({ "anyOf": [one, { "type": "array", "items": one, "minItems": 1 }] })
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

impl<T: Decode> Decode for At<T> {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        Some(At { value: T::decode(item, faults)?, span: item.span.clone() })
    }
    fn schema(definitions: &mut Definitions) -> Json {
        T::schema(definitions)
    }
}

macro_rules! shown {
    ($($type:ty: |$value:ident| $shown:expr;)+) => {$(
        impl Show for $type {
            fn show(&self) -> Json {
                let $value = self;
                json!($shown)
            }
        }
    )+};
}
shown! {
    Span: |span| span.to_string();
    ByteCount: |size| size.to_string();
    BitRate: |rate| rate.to_string();
    Hertz: |frequency| format!("{} Hz", frequency.as_f64());
    Probability: |probability| probability.get();
    f64: |number| number;
    bool: |flag| flag;
    String: |text| text;
    Instant: |instant| instant.since(Instant::ZERO).to_string();
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
