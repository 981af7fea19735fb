use crate::queue::QueueSpec;
use crate::transmitter::TransmitterSpec;
use units::{ByteCount, Probability, Span};

/// A node of the network, numbered in the order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(crate) u32);

/// A full-duplex link, numbered in the order of creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub(crate) u32);

/// One direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkDir(pub(crate) u32);

impl NodeId {
    /// Place in the order of creation, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl LinkId {
    /// Place in the order of creation, from 0.
    pub fn index(self) -> usize {
        self.0 as usize
    }

    /// The direction from end `a` to end `b` of the link.
    pub fn forward(self) -> LinkDir {
        LinkDir(self.0 * 2)
    }

    /// The direction from end `b` to end `a`.
    pub fn backward(self) -> LinkDir {
        LinkDir(self.0 * 2 + 1)
    }
}

impl LinkDir {
    /// The link this is a direction of.
    pub fn link(self) -> LinkId {
        LinkId(self.0 / 2)
    }

    /// The other direction of the same link.
    pub fn reverse(self) -> LinkDir {
        LinkDir(self.0 ^ 1)
    }

    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node does with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// Ends the journey of packets. Has an address on each of its links and never forwards.
    Host {
        /// Each arriving packet waits for a processing time drawn uniformly from zero to this, without overtaking
        /// another that came over the same link. Real hosts are never exactly regular, and without it every seed
        /// falls into the same phase pattern.
        jitter: Span,
    },
    /// Forwards packets, at once. Has no address.
    Router,
}

/// A link to be built: two ends, the network it belongs to, and a channel each way.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSpec {
    /// One end.
    pub a: NodeId,
    /// The other end.
    pub b: NodeId,
    /// The independent network this link belongs to; 0 belongs to all networks (paper 001, section 4.3).
    pub net_id: u8,
    /// What the link adds to the length of a route; 1 makes the shortest route the one of fewest links.
    pub cost: u32,
    /// The channel from `a` to `b`.
    pub forward: ChannelSpec,
    /// The channel from `b` to `a`.
    pub backward: ChannelSpec,
}

impl LinkSpec {
    /// A link of cost 1 that is the same both ways.
    pub fn symmetric(a: NodeId, b: NodeId, net_id: u8, channel: ChannelSpec) -> Self {
        LinkSpec { a, b, net_id, cost: 1, forward: channel.clone(), backward: channel }
    }
}

/// One direction of a link: a queue, a transmitter and a wire.
#[derive(Clone, Debug, PartialEq)]
pub struct ChannelSpec {
    /// When the bytes of packets leave.
    pub transmitter: TransmitterSpec,
    /// Propagation delay.
    pub delay: Span,
    /// Where packets wait for the transmitter.
    pub queue: QueueSpec,
    /// The largest IP packet that passes; larger ones are dropped.
    pub mtu: ByteCount,
    /// Bytes the link layer adds to each IP packet on the wire (PPP 7, Ethernet with preamble and gap 38).
    pub framing: ByteCount,
    /// What goes wrong on the wire.
    pub impairments: Impairments,
}

impl Default for ChannelSpec {
    /// No transmission time, no delay, a drop-tail queue of 100 packets, MTU 1500, no framing, a perfect wire.
    fn default() -> Self {
        ChannelSpec {
            transmitter: TransmitterSpec::Unlimited,
            delay: Span::ZERO,
            queue: QueueSpec::default(),
            mtu: ByteCount::new(1500),
            framing: ByteCount::ZERO,
            impairments: Impairments::default(),
        }
    }
}

/// What goes wrong on a wire. Each packet has passed queue and transmitter before; the default is a perfect wire.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Impairments {
    /// Each packet is delayed by a further uniform time from zero to this, and packets may overtake each other.
    pub jitter: Span,
    /// Probability that a packet is lost.
    pub loss: Probability,
    /// Probability that a packet arrives twice.
    pub duplication: Probability,
    /// Probability that a packet is held back by `reordering_delay`, so that later ones overtake it.
    pub reordering: Probability,
    /// How long such a packet is held back.
    pub reordering_delay: Span,
    /// Probability of each bit to arrive inverted. In framing or IP header it costs the packet, in the payload it
    /// arrives and is marked as corrupted.
    pub bit_errors: Probability,
}

impl Impairments {
    pub(crate) fn is_perfect(&self) -> bool {
        *self == Impairments { reordering_delay: self.reordering_delay, ..Impairments::default() }
    }
}
