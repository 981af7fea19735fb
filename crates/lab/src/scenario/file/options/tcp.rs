//! Options of TCP endpoints: a profile, and what differs from it.

use super::{OptionSet, settings, table_of};
use crate::scenario::decode::{Decode, Definitions, Fields, NoneOr, Show, mismatch, property, whole, words};
use crate::scenario::diagnostic::Faults;
use crate::scenario::file::knobs;
use crate::scenario::tree::Item;
use serde_json::{Map, Value as Json, json};
use units::{ByteCount, Span};

words!(named tcp::Variant);

/// What holds where a set says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Profile {
    Qualnet,
    Modern,
}
words!(Profile { "qualnet" => Profile::Qualnet, "modern" => Profile::Modern });

settings! { connection sets tcp::Config, by default tcp::Config::modern(), {
    /// How losses are found and repaired.
    variant: tcp::Variant;
    /// Which congestion control.
    control: cc::Algorithm;
    /// Only a window that was used grows.
    grow_full_only: bool;
    /// Appropriate byte counting with this limit in segments, or "none": windows grow by the acknowledgement.
    abc: NoneOr<u32>;
    /// Initial window in segments.
    initial_window: u32;
    /// Initial slow start threshold, or "none" for slow start until the first loss.
    initial_ssthresh: NoneOr<ByteCount>;
    /// Largest segment, user bytes and options without the header's 20 bytes: what the MSS option says.
    mss: Segment;
    /// The timestamps option, which takes 12 bytes of each segment.
    timestamps: bool;
    /// The window scale option.
    window_scale: bool;
    /// Explicit congestion notification.
    ecn: bool;
    /// The SACK option.
    sack: bool;
    /// Most blocks in a SACK option, 1 to 4; with timestamps there is room for 3.
    max_sack_blocks: Blocks;
    /// Reports segments that arrived twice.
    dsack: bool;
    /// Proportional rate reduction in recovery, with variant "sack".
    prr: bool;
    /// RACK and tail loss probes, with variant "sack".
    rack_tlp: bool;
    /// Sends a new segment for each of the first two duplicate acknowledgements.
    limited_transmit: bool;
    /// Bytes not yet sent plus bytes not yet acknowledged: the queue of a sender.
    send_buffer: ByteCount;
    /// Receive buffer, advertised as the window.
    receive_buffer: ByteCount;
    /// Nagle's rule: no segment that is not full while data is in flight.
    nagle: bool;
    /// The restart window after idle time.
    idle_restart: bool;
    /// How long a connection that its client ended first stays known.
    time_wait: Span;
    /// Timeouts in a row after which the connection is given up.
    max_retransmissions: u32;
    /// Retransmissions of a SYN after which the connection is given up.
    max_syn_retransmissions: u32;
} }

settings! { timeout sets tcp::Rto, by default tcp::Config::modern().rto, {
    /// Before the first measurement.
    initial: Span;
    /// Lower bound.
    min: Span;
    /// Upper bound.
    max: Span;
    /// The clock: the timeout is a whole number of its ticks.
    granularity: Span;
} }

settings! { acknowledging sets tcp::DelayedAck, by default tcp::Config::modern().delayed_ack, {
    /// An acknowledgement at the latest for every so many segments with data.
    every: u32;
    /// Longest delay of an acknowledgement, at most 500 ms.
    timeout: Span;
} }

/// Bytes of a segment.
struct Segment(u16);

impl From<Segment> for u16 {
    fn from(segment: Segment) -> u16 {
        segment.0
    }
}

impl From<u16> for Segment {
    fn from(bytes: u16) -> Self {
        Segment(bytes)
    }
}

impl Decode for Segment {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        match u16::try_from(ByteCount::decode(item, faults)?.get()) {
            Ok(bytes) => Some(Segment(bytes)),
            Err(_) => mismatch(item, "a size of at most 65535 B", faults),
        }
    }
    fn schema(definitions: &mut Definitions) -> Json {
        ByteCount::schema(definitions)
    }
}

impl Show for Segment {
    fn show(&self) -> Json {
        ByteCount::new(self.0.into()).show()
    }
}

/// A number of SACK blocks.
struct Blocks(u8);

impl From<Blocks> for u8 {
    fn from(blocks: Blocks) -> u8 {
        blocks.0
    }
}

impl From<u8> for Blocks {
    fn from(blocks: u8) -> Self {
        Blocks(blocks)
    }
}

impl Decode for Blocks {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        whole(item, 1, 4, faults).map(|blocks| Blocks(blocks as u8))
    }
    fn schema(_: &mut Definitions) -> Json {
        json!({ "type": "integer", "minimum": 1, "maximum": 4 })
    }
}

impl Show for Blocks {
    fn show(&self) -> Json {
        json!(self.0)
    }
}

const RTO: &str = "rto";
const DELAYED_ACK: &str = "delayed_ack";
const PROFILE: &str = "profile";

impl OptionSet for tcp::Config {
    const KEY: &'static str = "tcp";

    fn keys() -> Vec<&'static str> {
        [&[PROFILE], connection::KEYS, &[RTO, DELAYED_ACK, knobs::KEY]].concat()
    }

    fn read(fields: &Fields<'_>, faults: &mut Faults) -> Option<Self> {
        let mut config = match fields.take_or(PROFILE, Profile::Modern, faults)? {
            Profile::Qualnet => tcp::Config::qualnet(),
            Profile::Modern => tcp::Config::modern(),
        };
        let right = connection::apply(fields, &mut config, faults);
        let right = knobs::apply(fields, &mut config.knobs, faults) && right;
        let rto = fields.nested(RTO, timeout::KEYS, faults)?;
        let right = timeout::apply(&rto, &mut config.rto, faults) && right;
        let delayed_ack = fields.nested(DELAYED_ACK, acknowledging::KEYS, faults)?;
        (acknowledging::apply(&delayed_ack, &mut config.delayed_ack, faults) && right).then_some(config)
    }

    fn properties(definitions: &mut Definitions) -> Map<String, Json> {
        let mut properties = connection::properties(definitions);
        let mut add = |key: &str, schema: Json, doc: &str, default: Option<Json>| {
            properties.insert(key.to_owned(), property(schema, doc, default));
        };
        let doc = "What holds where the set says nothing: the TCP of simulators around 2010, or that of today. The \
                   defaults told here are those of \"modern\".";
        add(PROFILE, Profile::schema(definitions), doc, Some(Profile::Modern.show()));
        let rto = table_of(timeout::properties(definitions));
        add(RTO, rto, "Bounds of the retransmission timeout.", None);
        let delayed_ack = table_of(acknowledging::properties(definitions));
        add(DELAYED_ACK, delayed_ack, "When data is acknowledged.", None);
        let doc = "What congestion controls leave open, a table for each.";
        add(knobs::KEY, knobs::schema(definitions), doc, None);
        properties
    }

    fn check(&self) -> Result<(), transport::ConfigError> {
        tcp::Config::check(self)
    }
}
