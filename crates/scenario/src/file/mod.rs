//! The tables of a scenario file, decoded but with unresolved names.

mod bucket;
mod change;
mod checked;
mod flow;
mod host;
mod latency;
mod link;
mod options;
mod probe;
mod queue;
mod rate;
mod reliability;
mod settings;
mod transfers;
mod wire;

pub(super) use bucket::BucketTable;
pub(super) use change::{ChangeTable, WhenTable};
pub(super) use flow::{FlowTable, PrimaryPathWord, TrafficTable};
pub(super) use host::{HostTable, RealTable, Socket};
pub(super) use latency::LatencyTable;
pub(super) use link::{DirectionTable, LinkTable, RenumberTable};
pub(super) use options::OptionSets;
pub use options::{assoc_options_over, sctp_options, sctp_options_over};
pub(super) use probe::{CaptureTable, ProbeTable, WindowTable};
pub(super) use rate::{Course, RateTable};
pub(super) use transfers::TransfersTable;
pub(super) use wire::Loss;

use super::decode::{At, table, words};
use transport::named;
use units::{Instant, Span};

table! {
    /// A scenario.
    struct FileTable in "the scenario" {
        /// A title for readers; no result depends on it.
        title: String = String::new();
        /// Root seed of all random streams.
        seed: u64 = 1;
        /// Hosts, routers and NATs.
        node: Vec<NodeTable>;
        /// Hosts that are real, for an emulation.
        host: Vec<HostTable>;
        /// Links between nodes.
        link: Vec<LinkTable>;
        /// Named sets of SCTP options, which flows refer to.
        sctp: OptionSets<sctp::Config>;
        /// Named sets of TCP options, which flows refer to.
        tcp: OptionSets<tcp::Config>;
        /// NetPerfMeter flows: each is a connection with its application and measurement.
        flow: Vec<FlowTable>;
        /// Short transfers.
        transfers: Vec<TransfersTable>;
        /// Probes of the round-trip time beside the flows and transfers.
        latency: Vec<LatencyTable>;
        /// Changes of links and flows during the run.
        change: Vec<ChangeTable>;
        /// Additional intervals in which all flows are measured.
        window: Vec<WindowTable>;
        /// Quantities recorded over time.
        probe: Vec<ProbeTable>;
        /// Links whose packets are written to pcapng files.
        capture: Vec<CaptureTable>;
    }
}

table! {
    /// A host, a router or a NAT.
    struct NodeTable in "[[node]]" {
        /// Unique name: letters, digits, `_`, `-` and `.`.
        name: At<String>;
        /// Number of nodes with these keys. If above 1, they have the names `name-1`, `name-2` and so on, and
        /// a link or flow that refers to `name` is created for each of them.
        count: At<u32> = At { value: 1, span: 0..0 };
        /// Hosts are the ends of flows; routers forward packets; NATs also translate addresses and ports.
        kind: NodeWord = NodeWord::Host;
        /// Longest processing time of a host: each arriving packet waits a random time from zero to this.
        jitter: Option<At<Span>>;
        /// Of a NAT: name of the node at the other end of its outside link. All other links of the NAT lead
        /// inside.
        outside: Option<At<String>>;
        /// Of a NAT: a mapping expires when no packet has left through it for this time; by default 5 min.
        timeout: Option<At<Span>>;
        /// Of a NAT: times at which it drops all mappings, so that packets leave from another port and
        /// answers to the old port are dropped.
        rebind_at: Vec<At<Instant>>;
    }
}

named! {
    /// The kind of a node.
    "kind" NodeWord {
        /// An end of flows.
        Host = "host",
        /// Forwards packets.
        Router = "router",
        /// A router that translates the addresses and UDP ports of packets which leave over its outside link.
        Nat = "nat",
    }
}
words!(NodeWord);
