use super::{Capture, Flow, Link, Probe, Transfers, Window};
use units::{Instant, Span};

/// One experiment, complete: every reference is resolved, every default filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// For people; no result depends on it.
    pub title: String,
    /// Root of all random streams.
    pub seed: u64,
    /// Hosts, routers and NATs, in the order of the file.
    pub nodes: Vec<Node>,
    /// Links, in the order of the file.
    pub links: Vec<Link>,
    /// Flows; one written with a `count` stands here that many times.
    pub flows: Vec<Flow>,
    /// Short transfers.
    pub transfers: Vec<Transfers>,
    /// Stretches of time in which everything is measured.
    pub windows: Vec<Window>,
    /// What is recorded over time.
    pub probes: Vec<Probe>,
    /// Links whose packets are captured.
    pub captures: Vec<Capture>,
}

impl Scenario {
    /// How many nodes, links, flows and probes it has.
    pub(super) fn parts(&self) -> usize {
        self.nodes.len() + self.links.len() + self.flows.len() + self.transfers.len() + self.probes.len()
    }
}

/// A host, a router or a NAT.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Unique in the scenario.
    pub name: String,
    /// What it does.
    pub kind: NodeKind,
}

/// What a node does with packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Ends of flows. Each packet that arrives waits a random time, uniform from zero to `jitter`, as processing takes
    /// in a real host; packets keep their order.
    Host {
        /// Longest wait.
        jitter: Span,
    },
    /// Forwards packets, at once.
    Router,
    /// A router that translates addresses and UDP ports.
    Nat {
        /// Index of the link in [`Scenario::links`] that leads outside; its other links lead inside.
        outside: usize,
        /// A mapping ends when no packet has left through it for so long.
        timeout: Span,
        /// When it forgets all mappings.
        rebind_at: Vec<Instant>,
    },
}
