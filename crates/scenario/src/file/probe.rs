use crate::decode::{At, Decode, Definitions, OneOrMore, Show, mismatch, table, words};
use crate::diagnostic::Faults;
use crate::tree::{Item, Value};
use crate::{Every, ProbeQuantity};
use serde_json::{Value as Json, json};
use units::{ByteCount, Instant, Span};

table! {
    /// An interval in which all flows are measured.
    struct WindowTable in "[[window]]" {
        /// Unique name, which appears in the results.
        name: At<String>;
        /// Start of the interval, from the start of the run.
        from: Instant;
        /// End of the interval, from the start of the run.
        to: At<Instant>;
    }
}

table! {
    /// A quantity recorded over time.
    struct ProbeTable in "[[probe]]" {
        /// The quantity, or a list of quantities.
        quantity: OneOrMore<At<ProbeQuantity>>;
        /// Name of the flow, or a list of names. For a flow with a `count`, `name` stands for all its flows
        /// and `name-1` for the first. `*` stands for any characters.
        flow: Option<OneOrMore<At<String>>>;
        /// Name of the link, such as `a-b`, or a list of names; `b-a` is its direction from b to a. `*`
        /// stands for any characters; a name with `*` never means the direction from b to a.
        link: Option<OneOrMore<At<String>>>;
        /// First instant recorded; by default the start of the run.
        from: Option<At<Instant>>;
        /// Last instant recorded; by default the end of the run.
        to: Option<At<Instant>>;
        /// Name of a window that replaces `from` and `to`.
        window: Option<At<String>>;
        /// Interval of recording, or "change".
        every: At<Every> = At { value: Every::Change, span: 0..0 };
        /// For quantity "bursts": the longest time between two packets of one burst. By default 0: a burst is
        /// packets that arrive at one instant.
        gap: Option<At<Span>>;
    }
}

table! {
    /// A link whose packets are written to a pcapng file.
    struct CaptureTable in "[[capture]]" {
        /// Name of the link.
        link: At<String>;
        /// Name of the file in the directory of the run.
        file: At<String>;
        /// Largest size of the file: it ends before the first packet that does not fit, and the run has a
        /// warning. By default unlimited for `anabranch run`, and 100 MB for each file of a sweep.
        limit: Option<ByteCount>;
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
