use crate::decode::{At, Decode, Definitions, Show, mismatch, table, words};
use crate::diagnostic::Faults;
use crate::tree::{Item, Value};
use crate::{Every, ProbeQuantity};
use serde_json::{Value as Json, json};
use units::{Instant, Span};

table! {
    /// A stretch of time in which everything is measured.
    struct WindowTable in "[[window]]" {
        /// Unique name, a column of the results.
        name: At<String>;
        /// Its begin, from the start of the run.
        from: Instant;
        /// Its end, from the start of the run.
        to: At<Instant>;
    }
}

table! {
    /// A quantity recorded over time.
    struct ProbeTable in "[[probe]]" {
        /// What is recorded.
        quantity: At<ProbeQuantity>;
        /// Name of the flow; of one with a `count`, all of them, or one as in `name-1`.
        flow: Option<At<String>>;
        /// Name of the link; the nodes the other way round (`b-a`) name its direction back.
        link: Option<At<String>>;
        /// First instant recorded; by default the start of the run.
        from: Option<At<Instant>>;
        /// Last instant recorded; by default the end of the run.
        to: Option<At<Instant>>;
        /// Name of a window, instead of `from` and `to`.
        window: Option<At<String>>;
        /// Interval of recording, or "change".
        every: At<Every> = At { value: Every::Change, span: 0..0 };
        /// Of bursts: the longest wait between two packets of one; by default they come at one instant.
        gap: Option<At<Span>>;
    }
}

table! {
    /// A link whose packets are written to a pcapng file.
    struct CaptureTable in "[[capture]]" {
        /// Name of the link.
        link: At<String>;
        /// Name of the file, which is written below the directory of the run.
        file: At<String>;
    }
}

words!(ProbeQuantity);

impl Decode for Every {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        match &item.value {
            Value::Text(text) if text == "change" => Some(Every::Change),
            _ => match Span::decode(item, faults)? {
                Span::ZERO => mismatch(item, "an interval above zero, or \"change\"", faults),
                interval => Some(Every::Interval(interval)),
            },
        }
    }
    fn schema(definitions: &mut Definitions) -> Json {
        json!({ "anyOf": [{ "const": "change" }, Span::schema(definitions)] })
    }
}

impl Show for Every {
    fn show(&self) -> Json {
        match self {
            Every::Change => json!("change"),
            Every::Interval(interval) => interval.show(),
        }
    }
}
