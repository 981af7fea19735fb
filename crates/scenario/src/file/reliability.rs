//! When messages of a flow are abandoned, as written in the file.

use crate::decode::{Decode, Definitions, Fields, mismatch, property};
use crate::diagnostic::Faults;
use crate::tree::{Item, Value};
use sctp::Reliability;
use serde_json::{Value as Json, json};
use units::Span;

/// The policy and its limit: `{ retransmissions = 1 }`, `{ lifetime = "100 ms" }` or `{ priority = 3 }`.
pub(crate) struct Policy(pub Reliability);

const POLICY: &str = "{ lifetime = \"100 ms\" }, { retransmissions = 1 } or { priority = 3 }";

impl Decode for Policy {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        let Value::Table(table) = &item.value else { return mismatch(item, POLICY, faults) };
        let keys = ["lifetime", "retransmissions", "priority"];
        Fields::open(item, "a reliability", &keys, faults)?;
        let reliability = match (keys.map(|key| table.get(key)), table.entries().len()) {
            ([Some(lifetime), ..], 1) => Reliability::Until(Span::decode(lifetime, faults)?),
            ([_, Some(most), _], 1) => Reliability::Retransmissions(u32::decode(most, faults)?),
            ([.., Some(priority)], 1) => Reliability::Priority(u32::decode(priority, faults)?),
            _ => return mismatch(item, POLICY, faults),
        };
        Some(Policy(reliability))
    }

    fn schema(definitions: &mut Definitions) -> Json {
        let one = |key: &str, doc: &str, schema: Json| {
            let schema = property(schema, doc, None);
            json!({
                "type": "object",
                "properties": { key: schema },
                "required": [key],
                "additionalProperties": false,
            })
        };
        let (span, number) = (Span::schema(definitions), u32::schema(definitions));
        json!({ "anyOf": [
            one("lifetime", "The time after which it is not sent or retransmitted.", span),
            one("retransmissions", "How often each of its chunks is retransmitted at most.", number.clone()),
            one("priority", "In a full send buffer it gives way to messages of a smaller number.", number),
        ] })
    }
}
