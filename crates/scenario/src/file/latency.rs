use crate::decode::{At, Decode, Definitions, Show, table, whole};
use crate::diagnostic::Faults;
use crate::tree::Item;
use serde_json::{Value as Json, json};
use std::ops::Range;

table! {
    /// Probes of the paths between two hosts, on each path as a UDP flow with `echo`: datagrams of 64 bytes
    /// that the server returns at once.
    struct LatencyTable in "[[latency]]" {
        /// Name in the results, different from those of all flows and transfers. With several paths it is
        /// followed by the number of the path, from 1: `latency-1`.
        name: At<String> = At { value: "latency".to_owned(), span: 0..0 };
        /// The host that sends the probes.
        client: At<String>;
        /// The host that returns the probes.
        server: At<String>;
        /// Probes a second on each path.
        rate: ProbeRate = ProbeRate(20);
        /// The networks whose paths are probed; by default all.
        networks: Option<At<Vec<At<u16>>>>;
    }
}

/// Probes a second, a whole number as for `anabranch measure --latency`.
pub(crate) struct ProbeRate(pub u32);

/// The most probes a second, as in `anabranch measure`.
const MOST: u32 = 100;

impl Decode for ProbeRate {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        whole(item, 1, MOST.into(), faults).map(|rate| ProbeRate(rate as u32))
    }
    fn schema(_: &mut Definitions) -> Json {
        json!({ "type": "integer", "minimum": 1, "maximum": MOST })
    }
}

impl Show for ProbeRate {
    fn show(&self) -> Json {
        json!(self.0)
    }
}

impl LatencyTable {
    /// The place of faults that concern the whole table: that of the name or, if the file has none, of the
    /// client.
    pub fn place(&self) -> &Range<usize> {
        if self.name.span.is_empty() { &self.client.span } else { &self.name.span }
    }
}
