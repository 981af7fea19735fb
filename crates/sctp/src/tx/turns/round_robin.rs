use super::Rule;
use std::collections::VecDeque;
use wire::StreamId;

/// Round robin by messages (`rfc8260#section-3.2`) or by packets (`rfc8260#section-3.3`). By packets, each
/// packet has chunks of one stream, and the next packet has chunks of the next stream.
#[derive(Debug)]
pub(super) struct RoundRobin {
    /// The waiting streams, in the order of their turns.
    ring: VecDeque<StreamId>,
    per_packet: bool,
    /// True if the first stream of the ring has chunks in the present packet.
    served: bool,
    /// True if a stream with chunks in the present packet has no more data.
    emptied: bool,
}

impl RoundRobin {
    pub(super) fn new(per_packet: bool) -> Self {
        RoundRobin { ring: VecDeque::new(), per_packet, served: false, emptied: false }
    }
}

impl Rule for RoundRobin {
    fn add(&mut self, stream: StreamId) {
        self.ring.push_back(stream);
    }

    fn next(&self) -> Option<StreamId> {
        self.ring.front().copied()
    }

    fn sent(&mut self, stream: StreamId, _bytes: u64, more: bool) {
        debug_assert_eq!(self.ring.front(), Some(&stream));
        if self.per_packet && more {
            self.served = true;
            return;
        }
        self.ring.pop_front();
        self.emptied = self.per_packet;
        if more {
            self.ring.push_back(stream);
        }
    }

    fn shares_packet(&self) -> bool {
        !self.emptied
    }

    fn packet_done(&mut self) {
        if self.served && !self.emptied {
            self.ring.rotate_left(1);
        }
        (self.served, self.emptied) = (false, false);
    }
}
