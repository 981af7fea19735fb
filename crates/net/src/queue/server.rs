use crate::counters::DropCause;
use crate::packet::PacketId;
use crate::parcel::Parcel;
use std::collections::VecDeque;
use std::fmt::Debug;
use units::{ByteCount, Instant};

/// A discipline that owns its packets and chooses the next one whenever the transmitter is free.
///
/// A server must return each packet that it gets: from `dequeue`, from `drain`, or through [`Drops`]. The
/// network panics if a server keeps packets.
pub trait Server: Debug + Send {
    /// Adds a packet that arrives at `now`. To refuse this packet, or to make room for it, the server puts
    /// packets into `drops`.
    fn enqueue(&mut self, now: Instant, packet: Queued, drops: &mut Drops);

    /// Chooses the packet whose transmission starts at `now`. The server may first drop packets: it puts them
    /// into `drops`. Returns `None` only if no packet is left.
    fn dequeue(&mut self, now: Instant, drops: &mut Drops) -> Option<Queued>;

    /// Returns all packets and resets the server to its initial state, because the link has failed.
    fn drain(&mut self) -> Vec<Queued>;
}

/// A packet that waits in a [`Server`].
#[derive(Debug)]
#[must_use = "a packet is transmitted or dropped"]
pub struct Queued {
    pub(crate) packet: PacketId,
    pub(crate) parcel: Parcel,
    pub(crate) arrived: Instant,
    pub(crate) flow: u64,
    pub(crate) marked: bool,
}

impl Queued {
    /// Time at which the packet arrived at the queue.
    pub fn arrived(&self) -> Instant {
        self.arrived
    }

    /// Bytes of the IP packet, without framing.
    pub fn size(&self) -> ByteCount {
        ByteCount::new(u64::from(self.parcel.size()))
    }

    /// A hash of source and destination address, protocol and ports, equal for all packets of a flow. The
    /// hash is the same in each run. A discipline that assigns flows to queues differently in each run mixes
    /// the hash with a number from its random stream.
    pub fn flow(&self) -> u64 {
        self.flow
    }

    /// True if the transport uses ECN: the packet can be marked instead of dropped.
    pub fn is_ecn_capable(&self) -> bool {
        self.parcel.is_ecn_capable()
    }

    /// Marks an ECN-capable packet as "congestion experienced"
    /// ([RFC 3168](https://www.rfc-editor.org/rfc/rfc3168#section-5)). Other packets stay as they are.
    pub fn mark(&mut self) {
        self.marked = self.is_ecn_capable();
    }
}

/// The packets that a [`Server`] drops, each with the cause.
#[derive(Debug, Default)]
pub struct Drops(pub(crate) VecDeque<(Queued, DropCause)>);

impl Drops {
    /// Drops a packet.
    pub fn push(&mut self, packet: Queued, cause: DropCause) {
        self.0.push_back((packet, cause));
    }
}
