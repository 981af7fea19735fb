//! Sets of SCTP options: every field of [`sctp::Config`] is a key, and a set may inherit from another.

use super::knobs;
use crate::scenario::decode::{Decode, Definitions, Fields, NoneOr, Show, describe, property, words};
use crate::scenario::diagnostic::{Faults, expected_one_of};
use crate::scenario::tree::{Entry, Item, Value};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use units::{ByteCount, Span};

words!(named cc::Algorithm, cc::GrowthRule, cc::UnsetShare);
words!(named sctp::Accounting, sctp::BurstControl, sctp::Cuc, sctp::RtxPolicy, sctp::PathSelection);

/// Declares the fields of a configuration that can be set, as a module of functions over them.
macro_rules! settings {
    ($module:ident sets $config:ty { $($(#[doc = $doc:literal])* $field:ident : $type:ty;)+ }) => {
        mod $module {
            use super::*;

            pub const KEYS: &[&str] = &[$(stringify!($field)),+];

            /// Sets what the table states; false if a fault was noted.
            pub fn apply(fields: &Fields<'_>, config: &mut $config, faults: &mut Faults) -> bool {
                let mut right = true;
                $(if let Some(item) = fields.find(stringify!($field)) {
                    match <$type>::decode(item, faults) {
                        Some(value) => config.$field = value.into(),
                        None => right = false,
                    }
                })+
                right
            }

            pub fn properties(definitions: &mut Definitions) -> Map<String, Json> {
                let default = <$config>::default();
                let mut properties = Map::new();
                $({
                    let doc = concat!($($doc),*);
                    let schema = property(<$type>::schema(definitions), doc, Some(default.$field.show()));
                    properties.insert(stringify!($field).to_owned(), schema);
                })+
                properties
            }
        }
    };
}

settings! { association sets sctp::Config {
    /// RTO before the first measurement (RTO.Initial).
    rto_initial: Span;
    /// Lower bound of the RTO (RTO.Min).
    rto_min: Span;
    /// Upper bound of the RTO (RTO.Max).
    rto_max: Span;
    /// Weight of a new sample in the smoothed RTT (RTO.Alpha).
    rto_alpha: f64;
    /// Weight of a new sample in the RTT variation (RTO.Beta).
    rto_beta: f64;
    /// Packets sent at one opportunity (Max.Burst).
    max_burst: u32;
    /// What the burst limit acts upon.
    burst_control: sctp::BurstControl;
    /// Lifetime of a state cookie (Valid.Cookie.Life).
    valid_cookie_life: Span;
    /// Consecutive errors after which the association is given up (Association.Max.Retrans).
    association_max_retrans: u32;
    /// Consecutive errors after which a path is inactive (Path.Max.Retrans).
    path_max_retrans: u32;
    /// Attempts at each handshake step (Max.Init.Retransmits).
    max_init_retransmits: u32;
    /// Time between heartbeats on an idle path (HB.interval), or "none".
    hb_interval: NoneOr<Span>;
    /// Heartbeats sent at one instant (HB.Max.Burst).
    hb_max_burst: u32;
    /// Longest delay of an acknowledgement (SACK.Delay), at most 500 ms.
    sack_delay: Span;
    /// An acknowledgement at the latest for every so many packets with data.
    sack_frequency: u32;
    /// Streams asked for in our direction.
    outbound_streams: u16;
    /// Streams the peer may use.
    max_inbound_streams: u16;
    /// Receive buffer, advertised as the receiver window.
    receive_buffer: ByteCount;
    /// Windows below this are advertised, and taken, as closed; "0 B" turns silly window avoidance off.
    sws_limit: ByteCount;
    /// Send buffer: bytes not yet sent plus bytes not yet cumulatively acknowledged.
    send_buffer: ByteCount;
    /// Messages that may wait for their first transmission, or "none" for no such limit.
    send_queue: NoneOr<u32>;
    /// Path MTU with the IP header.
    mtu: ByteCount;
    /// Several chunks a packet.
    bundling: bool;
    /// Nagle's rule: no packet that is not full while data is outstanding.
    nagle: bool;
    /// Sends the Supported Address Types parameter in INIT.
    announce_address_types: bool;
    /// Which congestion control.
    congestion_control: cc::Algorithm;
    /// Growth rule: that of RFC 4960 needs an advance of the cumulative TSN, that of RFC 9260 does not.
    growth: cc::GrowthRule;
    /// What counts as in flight.
    accounting: sctp::Accounting;
    /// Lower bound of CMT/RP's threshold on all paths together, in MTU.
    rp_min: u64;
    /// What coupled controls take an unset slow start threshold for.
    unset_share: cc::UnsetShare;
} }

settings! { multipath sets sctp::Cmt {
    /// Data travels on all active paths at once.
    enabled: bool;
    /// Split fast retransmission: a report counts only against chunks of its own path.
    sfr: bool;
    /// Delayed acknowledgement for CMT.
    dac: bool;
    /// When an acknowledgement lets a window grow.
    cuc: sctp::Cuc;
    /// Where lost chunks are sent again.
    rtx: sctp::RtxPolicy;
    /// Which path is served first.
    path_selection: sctp::PathSelection;
    /// T3 restarts when the oldest chunk on its path is acknowledged.
    smart_t3: bool;
    /// Acknowledgements of chunks that timed out are no evidence of loss on the path of the retransmission.
    smart_fast_rtx: bool;
    /// T3 marks only chunks sent at least a smoothed RTT ago.
    rtt_heuristic: bool;
    /// Fast recovery of a path ends with its own pseudo-cumulative TSN.
    recovery_by_cuc: bool;
    /// Chunks acknowledged by the cumulative TSN count as newly acknowledged on their path.
    note_cumulative: bool;
} }

/// The option sets of a file, unread: what a set says depends on what it inherits.
pub(in crate::scenario) struct OptionSets(BTreeMap<String, Item>);

impl OptionSets {
    /// Every set, complete; `None` if a fault was noted.
    pub fn resolve(&self, faults: &mut Faults) -> Option<BTreeMap<String, sctp::Config>> {
        // Each for itself first, so that a fault is told of the set it stands in.
        let before = faults.len();
        for (name, set) in &self.0 {
            read(&format!("[sctp.{name}]"), &[set], faults);
        }
        if faults.len() > before {
            return None;
        }
        self.0.keys().map(|name| Some((name.clone(), self.inherited(name, faults)?))).collect()
    }

    fn inherited(&self, name: &str, faults: &mut Faults) -> Option<sctp::Config> {
        let mut names = vec![name.to_owned()];
        let mut layers = vec![self.0.get(name)?];
        while let Some(parent) = layers.last().and_then(|set| member(set, "inherit")) {
            let text = String::decode(parent, faults)?;
            let Some(set) = self.0.get(&text) else {
                let expected = expected_one_of(&text, self.0.keys().map(String::as_str));
                faults.note(parent.span.clone(), format!("unknown option set \"{text}\"; {expected}"));
                return None;
            };
            if names.contains(&text) {
                faults.note(parent.span.clone(), format!("option set \"{text}\" inherits from itself"));
                return None;
            }
            names.push(text);
            layers.push(set);
        }
        let config = read(&format!("[sctp.{name}]"), &layers, faults)?;
        let Err(error) = config.check() else { return Some(config) };
        // A default that does not go with what is set has no place of its own.
        let at = layers.iter().find_map(|set| option(set, error.option)).unwrap_or(layers[0]);
        let message =
            format!("`{}` = {} cannot work; expected {}", error.option, error.value, error.expected);
        faults.note(at.span.clone(), message);
        None
    }
}

/// Defaults, changed by what the layers say; the first that says something counts.
fn read(place: &str, layers: &[&Item], faults: &mut Faults) -> Option<sctp::Config> {
    let mut keys = association::KEYS.to_vec();
    keys.extend(["inherit", "cmt", knobs::KEY]);
    let mut opened = layers.iter().map(|layer| Fields::open(layer, place, &keys, faults));
    let mut fields = opened.next()??;
    for below in opened {
        fields = fields.over(&below?);
    }
    let mut config = sctp::Config::default();
    let right = association::apply(&fields, &mut config, faults);
    let right = knobs::apply(&fields, &mut config.knobs, faults) && right;
    let cmt = fields.nested("cmt", multipath::KEYS, faults)?;
    (multipath::apply(&cmt, &mut config.cmt, faults) && right).then_some(config)
}

/// Where an option stands: a key of the set, or `group.name` below its knobs.
fn option<'t>(set: &'t Item, name: &str) -> Option<&'t Item> {
    match name.split_once('.') {
        Some((group, name)) => member(member(member(set, knobs::KEY)?, group)?, name),
        None => member(set, name),
    }
}

fn member<'t>(set: &'t Item, key: &str) -> Option<&'t Item> {
    match &set.value {
        Value::Table(table) => table.get(key),
        _ => None,
    }
}

impl Decode for OptionSets {
    fn decode(item: &Item, faults: &mut Faults) -> Option<Self> {
        let Value::Table(table) = &item.value else {
            faults.note(item.span.clone(), "expected option sets, each a table such as [sctp.cmt]".into());
            return None;
        };
        let mut sets = BTreeMap::new();
        for Entry { key: name, item: set, .. } in table.entries() {
            if !matches!(set.value, Value::Table(_)) {
                let found = describe(set);
                let message = format!(
                    "expected `{name}` to be the table of an option set, [sctp.{name}]; found {found}"
                );
                faults.note(set.span.clone(), message);
                return None;
            }
            sets.insert(name.clone(), set.clone());
        }
        Some(OptionSets(sets))
    }

    fn schema(definitions: &mut Definitions) -> Json {
        let cmt = json!({
            "type": "object", "properties": multipath::properties(definitions), "additionalProperties": false,
        });
        let mut properties = association::properties(definitions);
        properties.insert("cmt".to_owned(), property(cmt, "Concurrent multipath transfer.", None));
        let doc = "What congestion controls leave open, a table for each.";
        properties.insert(knobs::KEY.to_owned(), property(knobs::schema(definitions), doc, None));
        let doc = "Name of the option set that holds where this one says nothing.";
        properties.insert("inherit".to_owned(), property(json!({ "type": "string" }), doc, None));
        json!({
            "type": "object",
            "additionalProperties": { "type": "object", "properties": properties, "additionalProperties": false },
        })
    }

    fn absent() -> Option<Self> {
        Some(OptionSets(BTreeMap::new()))
    }
}
