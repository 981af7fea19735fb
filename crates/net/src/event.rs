use crate::packet::PacketId;
use crate::topology::{LinkDir, LinkId};
use des::Kernel;
use units::Instant;

/// What the network asks the kernel to hand back to [`crate::Network::handle`]. 12 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetEvent {
    /// The first packet on the wire reaches the far end.
    Arrive(LinkDir),
    /// A packet that travels on its own (jitter, reordering, duplicates) reaches the far end.
    ArriveAlone(LinkDir, PacketId),
    /// The link fails, both ways: what is queued or on the wire is lost, and so is what comes until the repair.
    /// Scheduled by whoever plans the failure.
    Fail(LinkId),
    /// The link works again.
    Repair(LinkId),
}

/// The clock and calendar the network runs on: a [`Kernel`] of any event type a [`NetEvent`] turns into.
pub trait Schedule {
    /// Time of the event that runs now.
    fn now(&self) -> Instant;
    /// Hands `event` back at `at`.
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
