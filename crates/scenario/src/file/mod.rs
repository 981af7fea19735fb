//! The tables of a scenario file, as they are written: names are not looked up yet.

mod flow;
mod link;
mod options;
mod probe;
mod settings;
mod transfers;

pub(super) use flow::{FlowTable, PrimaryPathWord, TrafficTable};
pub(super) use link::{DirectionTable, LinkTable};
pub(super) use options::OptionSets;
pub use options::sctp_options;
pub(super) use probe::{CaptureTable, ProbeTable, WindowTable};
pub(super) use transfers::TransfersTable;

use super::decode::{At, table, words};
use transport::named;
use units::{Instant, Span};

table! {
    /// A scenario.
    struct FileTable in "the scenario" {
        /// For people; no result depends on it.
        title: String = String::new();
        /// Root of all random streams.
        seed: u64 = 1;
        /// Hosts, routers and NATs.
        node: Vec<NodeTable>;
        /// Links between nodes.
        link: Vec<LinkTable>;
        /// Sets of SCTP options by name, for flows to refer to.
        sctp: OptionSets<sctp::Config>;
        /// Sets of TCP options by name, for flows to refer to.
        tcp: OptionSets<tcp::Config>;
        /// NetPerfMeter flows: each an association with its application and measurement.
        flow: Vec<FlowTable>;
        /// Short transfers.
        transfers: Vec<TransfersTable>;
        /// Stretches of time in which everything is measured, beside the flows' own.
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
        /// More than 1: so many nodes, `name-1`, `name-2` and so on. A link or a flow that names them by `name` is meant
        /// once for each.
        count: At<u32> = At { value: 1, span: 0..0 };
        /// Hosts are the ends of flows; routers forward; NATs translate, too.
        kind: NodeWord = NodeWord::Host;
        /// Longest processing time of a host: each packet that arrives waits a random time up to this.
        jitter: Option<At<Span>>;
        /// Of a NAT: name of the node at the other end of its outside link; all its other links lead inside.
        outside: Option<At<String>>;
        /// Of a NAT: a mapping ends when no packet has left through it for so long; by default 5 min.
        timeout: Option<At<Span>>;
        /// Of a NAT: when it forgets all mappings, so that packets leave from another port and answers to the old one are
        /// dropped.
        rebind_at: Vec<At<Instant>>;
    }
}

named! {
    /// What a node does with packets.
    "kind" NodeWord {
        /// Ends of flows.
        Host = "host",
        /// Forwards packets.
        Router = "router",
        /// A router that translates the addresses and UDP ports of packets which leave over its outside link.
        Nat = "nat",
    }
}
words!(NodeWord);
