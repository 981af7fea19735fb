//! Proportional rate reduction (`rfc6937`): in recovery the sender sends in proportion to delivered bytes.

/// State of one recovery (`rfc6937#section-3`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Prr {
    /// FlightSize when recovery began.
    recover_fs: u64,
    delivered: u64,
    out: u64,
}

impl Prr {
    pub(super) fn new(recover_fs: u64) -> Self {
        Prr { recover_fs: recover_fs.max(1), delivered: 0, out: 0 }
    }

    /// Counts bytes that were sent.
    pub(super) fn sent(&mut self, bytes: u64) {
        self.out += bytes;
    }

    /// The send limit after an acknowledgement that newly delivers `delivered` bytes.
    pub(super) fn on_ack(&mut self, delivered: u64, pipe: u64, ssthresh: u64, smss: u64) -> u64 {
        self.delivered += delivered;
        let send = if pipe > ssthresh {
            let share = u128::from(self.delivered) * u128::from(ssthresh);
            (share.div_ceil(u128::from(self.recover_fs)) as u64).saturating_sub(self.out)
        } else {
            // PRR-SSRB: slow start up to ssthresh.
            let limit = self.delivered.saturating_sub(self.out).max(delivered) + smss;
            (ssthresh - pipe).min(limit)
        };
        pipe + send
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twenty segments are in flight, the first is lost, and ssthresh is 10: an ACK arrives for each of the
    /// others.
    // rfc6937#section-3, in segments, by hand
    #[test]
    fn prr_sends_half_of_the_delivered_segments() {
        let mut prr = Prr::new(20);
        let mut pipe = 19; // the lost segment has left the flight
        prr.sent(1); // the fast retransmission
        pipe += 1;
        let mut sent = Vec::new();
        for _ in 0..18 {
            pipe -= 1;
            let cwnd = prr.on_ack(1, pipe, 10, 1);
            let room = cwnd - pipe;
            sent.push(room);
            prr.sent(room);
            pipe += room;
        }
        // ceil(n / 2) - out: nothing for the first two ACKs, then one segment for every other ACK. Before the
        // 17th ACK is answered, pipe has decreased to ssthresh, and it stays there.
        assert_eq!(sent, [0, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1]);
        assert_eq!(pipe, 10);
    }

    /// Heavy loss reduced pipe below ssthresh: slow start raises it up to ssthresh.
    #[test]
    fn prr_slow_starts_below_ssthresh() {
        let mut prr = Prr::new(20);
        assert_eq!(prr.on_ack(1, 4, 10, 1), 4 + 2);
        prr.sent(2);
        assert_eq!(prr.on_ack(1, 5, 10, 1), 5 + 2);
        prr.sent(2);
        assert_eq!(prr.on_ack(1, 9, 10, 1), 10);
    }
}
