use net::ChannelSpec;
use units::{Instant, Span};

/// A full-duplex link between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Unique in the scenario; by default the names of both nodes joined by `-`.
    pub name: String,
    /// Indices of the two nodes in [`Scenario::nodes`](super::Scenario::nodes).
    pub between: [usize; 2],
    /// The independent network of the link. Network 0 belongs to all networks (paper 001, section 4.3).
    pub net_id: u8,
    /// From the first node to the second.
    pub forward: ChannelSpec,
    /// From the second node to the first.
    pub back: ChannelSpec,
    /// Outages of the link, in order of time, without overlap.
    pub down: Vec<Outage>,
    /// Time after which the hosts at both ends notice that the link failed or was repaired; none: they never
    /// notice.
    pub carrier_delay: Option<Span>,
    /// Times at which a host at one of its ends gets another address there.
    pub renumber: Vec<Renumbering>,
}

/// A host gets another address on a link. From then on, packets to the old address are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renumbering {
    /// True if the host is the second node of the link, false if it is the first.
    pub second: bool,
    /// Time of the change.
    pub at: Instant,
}

/// A time in which a link is down. Packets that are sent in this time, or that are on the link at its start,
/// are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// Time at which the link fails.
    pub from: Instant,
    /// Time at which the link is repaired.
    pub to: Instant,
}
