use super::{Admission, Backlog, Discipline, Kind, Offered, Queue, Site, Verdict};
use crate::counters::DropCause;
use units::{ByteCount, Instant};

/// Maximum size of a drop-tail queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// At most this many packets wait.
    Packets(u64),
    /// At most this many bytes of IP packets wait.
    Bytes(ByteCount),
}

impl Limit {
    /// A queue that is never full.
    pub const NONE: Limit = Limit::Packets(u64::MAX);

    /// True if a packet of `size` may join a queue with `backlog`.
    #[inline]
    fn admits(self, backlog: Backlog, size: ByteCount) -> bool {
        match self {
            Limit::Packets(limit) => backlog.packets < limit,
            Limit::Bytes(limit) => backlog.bytes + size <= limit,
        }
    }
}

impl Discipline for Limit {
    fn build(&self, _site: &Site<'_>) -> Queue {
        Queue(Kind::DropTail(*self))
    }
}

impl Admission for Limit {
    #[inline]
    fn admit(&mut self, _now: Instant, backlog: Backlog, packet: Offered) -> Verdict {
        if self.admits(backlog, packet.size) { Verdict::Pass } else { Verdict::Drop(DropCause::QueueFull) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backlog(packets: u64, bytes: u64) -> Backlog {
        Backlog { packets, bytes: ByteCount::new(bytes) }
    }

    #[test]
    fn a_packet_is_refused_if_as_many_as_the_limit_wait() {
        let size = ByteCount::new(9000);
        assert!(Limit::Packets(3).admits(backlog(2, 0), size));
        assert!(!Limit::Packets(3).admits(backlog(3, 0), size));
    }

    #[test]
    fn a_byte_limit_admits_a_packet_that_fits_into_the_rest() {
        let limit = Limit::Bytes(ByteCount::new(3000));
        assert!(limit.admits(backlog(1, 1500), ByteCount::new(1500)));
        assert!(!limit.admits(backlog(1, 1501), ByteCount::new(1500)));
        assert!(limit.admits(backlog(1, 1501), ByteCount::new(40)));
    }
}
