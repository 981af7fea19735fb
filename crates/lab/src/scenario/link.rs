use net::RedSpec;
use units::{BitRate, ByteCount, Instant, Probability, Span};

/// A full-duplex link between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Unique in the scenario; if the file gives none, the names of both nodes joined by `-`.
    pub name: String,
    /// Index of the two nodes in [`Scenario::nodes`](super::Scenario::nodes).
    pub between: [usize; 2],
    /// The independent network it belongs to; 0 belongs to all (paper 001, section 4.3).
    pub net_id: u16,
    /// Largest IP packet it carries.
    pub mtu: ByteCount,
    /// Bytes added to each packet on the wire, such as 7 for PPP or 38 for Ethernet.
    pub framing: ByteCount,
    /// From the first node to the second.
    pub forward: Direction,
    /// From the second node to the first.
    pub back: Direction,
    /// When it carries nothing, in order of time, without overlap.
    pub down: Vec<Outage>,
}

/// One direction of a link: a queue, a transmitter, and what happens on the way.
#[derive(Clone, Debug, PartialEq)]
pub struct Direction {
    /// Rate of the transmitter; never zero.
    pub rate: BitRate,
    /// Propagation delay.
    pub delay: Span,
    /// Further delay of each packet, uniform from zero to this; packets may overtake each other.
    pub jitter: Span,
    /// What waits for the transmitter.
    pub queue: Queue,
    /// A packet is lost.
    pub loss: Probability,
    /// A packet arrives twice.
    pub duplicate: Probability,
    /// A packet is held back by `reorder_delay`, so that later ones overtake it.
    pub reorder: Probability,
    /// How long such a packet is held back.
    pub reorder_delay: Span,
    /// A bit is flipped.
    pub bit_errors: Probability,
}

/// The queue before a transmitter.
#[derive(Clone, Debug, PartialEq)]
pub enum Queue {
    /// First in, first out; what does not fit is dropped.
    DropTail(QueueLimit),
    /// Random early detection.
    Red(RedSpec),
}

/// What a queue holds at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueLimit {
    /// So many packets.
    Packets(u32),
    /// So many bytes.
    Bytes(ByteCount),
}

/// A time in which a link carries nothing: packets sent into it, or on their way as it starts, are lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outage {
    /// The link fails.
    pub from: Instant,
    /// The link is repaired.
    pub to: Instant,
}
