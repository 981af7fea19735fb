use crate::ids::{LinkDir, LinkId, NodeId};
use crate::packet::PacketId;
use des::Kernel;
use units::Instant;

/// An event of the network, for [`crate::Network::handle`].
///
/// One word, so that it passes through the kernel in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NetEvent(u64);

/// Kind of a [`NetEvent`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NetAction {
    /// The first packet on the wire reaches the far end.
    Arrive(LinkDir),
    /// A packet that may arrive out of order (jitter, reordering, duplicates) reaches the far end.
    ArriveAlone(LinkDir, PacketId),
    /// The transmitter of a link whose discipline is a [`Server`](crate::Server) is free for the next packet.
    Transmit(LinkDir),
    Fail(LinkId),
    Repair(LinkId),
    /// A NAT forgets its mappings.
    Rebind(NodeId),
}

impl NetEvent {
    /// The link fails in both directions, until its repair.
    ///
    /// Until the repair, the link drops the packets in its queues and on its wire, and all packets that
    /// arrive. The caller schedules this event.
    pub fn fail(link: LinkId) -> Self {
        Self::encode(LINK, link.0, FAIL)
    }

    /// The link is repaired.
    pub fn repair(link: LinkId) -> Self {
        Self::encode(LINK, link.0, REPAIR)
    }

    /// The NAT at a node forgets its mappings, so that packets to the outside get other ports from then on.
    ///
    /// The caller schedules this event.
    pub fn rebind(nat: NodeId) -> Self {
        Self::encode(LINK, nat.0, REBIND)
    }

    #[inline]
    pub(crate) fn arrive(direction: LinkDir) -> Self {
        Self::encode(ARRIVE, direction.0, 0)
    }

    pub(crate) fn arrive_alone(direction: LinkDir, packet: PacketId) -> Self {
        Self::encode(ARRIVE_ALONE, direction.0, packet.index() as u32)
    }

    pub(crate) fn transmit(direction: LinkDir) -> Self {
        Self::encode(TRANSMIT, direction.0, 0)
    }

    #[inline]
    fn encode(kind: u64, place: u32, detail: u32) -> Self {
        NetEvent(u64::from(detail) << 32 | u64::from(place) << KIND_BITS | kind)
    }

    #[inline]
    pub(crate) fn action(self) -> NetAction {
        let (place, detail) = (self.0 as u32 >> KIND_BITS, (self.0 >> 32) as u32);
        match self.0 & ((1 << KIND_BITS) - 1) {
            ARRIVE => NetAction::Arrive(LinkDir(place)),
            ARRIVE_ALONE => NetAction::ArriveAlone(LinkDir(place), PacketId::new(detail as usize)),
            TRANSMIT => NetAction::Transmit(LinkDir(place)),
            _ if detail == FAIL => NetAction::Fail(LinkId(place)),
            _ if detail == REPAIR => NetAction::Repair(LinkId(place)),
            _ => NetAction::Rebind(NodeId(place)),
        }
    }
}

const KIND_BITS: u32 = 2;
const ARRIVE: u64 = 0;
const ARRIVE_ALONE: u64 = 1;
const TRANSMIT: u64 = 2;
const LINK: u64 = 3;

/// Codes of the events that are of kind [`LINK`]: failure and repair of a link, and a NAT that forgets its
/// mappings.
const FAIL: u32 = 0;
const REPAIR: u32 = 1;
const REBIND: u32 = 2;

/// The clock and event queue of the network: a [`Kernel`] of any event type that a [`NetEvent`] converts
/// into.
pub trait Schedule {
    /// The time of the current event.
    fn now(&self) -> Instant;
    /// Schedules `event` at `at`.
    fn at(&mut self, at: Instant, event: NetEvent);
}

impl<E: Copy + From<NetEvent>> Schedule for Kernel<E> {
    #[inline]
    fn now(&self) -> Instant {
        Kernel::now(self)
    }

    #[inline]
    fn at(&mut self, at: Instant, event: NetEvent) {
        self.schedule(at, event.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_decodes_to_the_encoded_action() {
        let (direction, link) = (LinkDir((1 << 30) - 1), LinkId(5));
        let packet = PacketId::new(4_000_000_000);
        assert_eq!(NetEvent::arrive(direction).action(), NetAction::Arrive(direction));
        assert_eq!(
            NetEvent::arrive_alone(direction, packet).action(),
            NetAction::ArriveAlone(direction, packet)
        );
        assert_eq!(NetEvent::transmit(direction).action(), NetAction::Transmit(direction));
        assert_eq!(NetEvent::fail(link).action(), NetAction::Fail(link));
        assert_eq!(NetEvent::repair(link).action(), NetAction::Repair(link));
        assert_eq!(NetEvent::rebind(NodeId(5)).action(), NetAction::Rebind(NodeId(5)));
    }
}
