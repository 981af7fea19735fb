use net::ChannelSpec;
use units::{Instant, Span};

/// A full-duplex link between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Unique in the scenario; by default the names of both nodes joined by `-`.
    pub name: String,
    /// Indices of the two nodes in [`Scenario::nodes`](super::Scenario::nodes).
    pub between: [usize; 2],
    /// The independent network it belongs to; 0 belongs to all (paper 001, section 4.3).
    pub net_id: u8,
    /// From the first node to the second.
    pub forward: ChannelSpec,
    /// From the second node to the first.
    pub back: ChannelSpec,
    /// Outages of the link, in order of time, without overlap.
    pub down: Vec<Outage>,
    /// Time after which the hosts at its ends notice that it failed or was repaired; none: they do not.
    pub carrier_delay: Option<Span>,
    /// Times at which a host at one of its ends gets another address there.
    pub renumber: Vec<Renumbering>,
}

/// A host gets another address on a link. Packets to the old one are lost from then on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renumbering {
    /// The node is the second one of the link, not the first.
    pub second: bool,
    /// When.
    pub at: Instant,
}

/// A time in which a link is down. Packets that are sent in it, or are in flight on the link when it begins,
/// are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// The link fails.
    pub from: Instant,
    /// The link is repaired.
    pub to: Instant,
}
