use super::{Capture, Flow, Link, Probe, RealHost, RunChange, Transfers, Window};
use units::{Instant, Span};

/// One experiment in which all names are resolved and all defaults are filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// A title for readers; no result depends on it.
    pub title: String,
    /// Root seed of all random streams.
    pub seed: u64,
    /// Hosts, routers and NATs, in the order of the file.
    pub nodes: Vec<Node>,
    /// Hosts that are real, for an emulation; empty for a simulation.
    pub real: Vec<RealHost>,
    /// Links, in the order of the file.
    pub links: Vec<Link>,
    /// Flows; a table with a `count` gives that many flows.
    pub flows: Vec<Flow>,
    /// Short transfers.
    pub transfers: Vec<Transfers>,
    /// Changes of links and flows during the run.
    pub changes: Vec<RunChange>,
    /// Additional intervals in which all flows are measured.
    pub windows: Vec<Window>,
    /// Quantities recorded over time.
    pub probes: Vec<Probe>,
    /// Links whose packets are captured.
    pub captures: Vec<Capture>,
}

impl Scenario {
    /// Number of nodes, links, flows, transfers and probes.
    pub(super) fn parts(&self) -> usize {
        self.nodes.len() + self.links.len() + self.flows.len() + self.transfers.len() + self.probes.len()
    }
}

/// A host, a router or a NAT.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Unique in the scenario.
    pub name: String,
    /// Host, router or NAT.
    pub kind: NodeKind,
}

/// The kind of a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// An end of flows. Each arriving packet waits a random time, uniform from zero to `jitter`, like the
    /// processing time of a real host. Packets keep their order.
    Host {
        /// Longest wait.
        jitter: Span,
    },
    /// Forwards packets without delay.
    Router,
    /// A router that translates addresses and UDP ports.
    Nat {
        /// Index in [`Scenario::links`] of the link to the outside. All other links of the NAT lead inside.
        outside: usize,
        /// A mapping expires when no packet has left through it for this time.
        timeout: Span,
        /// Times at which the NAT drops all mappings.
        rebind_at: Vec<Instant>,
    },
}
