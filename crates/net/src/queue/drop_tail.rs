use super::Backlog;
use units::ByteCount;

/// How much a queue holds.
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

    /// True if a packet of `size` may join `backlog`.
    #[inline]
    pub(crate) fn admits(self, backlog: Backlog, size: ByteCount) -> bool {
        match self {
            Limit::Packets(limit) => backlog.packets < limit,
            Limit::Bytes(limit) => backlog.bytes + size <= limit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn backlog(packets: u64, bytes: u64) -> Backlog {
        Backlog { packets, bytes: ByteCount::new(bytes) }
    }

    #[test]
    fn a_packet_limit_is_reached_by_the_packet_that_makes_it_full() {
        let size = ByteCount::new(9000);
        assert!(Limit::Packets(3).admits(backlog(2, 0), size));
        assert!(!Limit::Packets(3).admits(backlog(3, 0), size));
    }

    #[test]
    fn a_byte_limit_lets_a_small_packet_in_where_a_large_one_is_refused() {
        let limit = Limit::Bytes(ByteCount::new(3000));
        assert!(limit.admits(backlog(1, 1500), ByteCount::new(1500)));
        assert!(!limit.admits(backlog(1, 1501), ByteCount::new(1500)));
        assert!(limit.admits(backlog(1, 1501), ByteCount::new(40)));
    }
}
