//! Delivery rate samples (draft-cardwell-iccrg-delivery-rate-estimation-02).
//!
//! A transport keeps one [`RateEstimator`] for each path and one [`SendRecord`] for each transmission in
//! flight. The rate of a sample is the bytes delivered between two times divided by the longer of the send
//! interval and the acknowledgement interval. So ACK compression cannot raise it above the send rate.

use units::{BitRate, ByteCount, Instant, Span};

/// State of a path when a chunk or segment was sent (the draft's `P` variables).
#[derive(Clone, Copy, Debug, Default)]
pub struct SendRecord {
    /// Bytes delivered on the path before the transmission (`P.delivered`).
    delivered: ByteCount,
    /// Time of the latest delivery before the transmission (`P.delivered_time`).
    delivered_at: Instant,
    /// Start of the send interval (`P.first_sent_time`).
    first_sent_at: Instant,
    /// The path was application-limited (`P.is_app_limited`).
    app_limited: bool,
    /// Bytes in flight before the transmission.
    flight: ByteCount,
    /// Bytes lost on the path before the transmission (`P.lost`).
    lost: ByteCount,
}

/// Delivery rate sample of one acknowledgement on one path (the draft's `rs` variables).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateSample {
    /// Bytes delivered since `prior_at` (`rs.delivered`).
    pub delivered: ByteCount,
    /// The longer of the send interval and the acknowledgement interval (`rs.interval`).
    pub interval: Span,
    /// Delivery rate; `None` if the interval is zero or shorter than the minimum RTT, and thus unreliable.
    pub rate: Option<BitRate>,
    /// Bytes delivered on the path when the newest acknowledged transmission was sent (`rs.prior_delivered`).
    pub prior_delivered: ByteCount,
    /// Time of the latest delivery before that transmission (`rs.prior_time`).
    pub prior_at: Instant,
    /// The sender limited the rate when the newest transmission was sent (`rs.is_app_limited`).
    pub app_limited: bool,
    /// Round-trip time of the newest transmission; `None` if it was a retransmission.
    pub rtt: Option<Span>,
    /// Bytes in flight just after the newest transmission was sent, including it (`rs.tx_in_flight`).
    pub tx_in_flight: ByteCount,
    /// Bytes declared lost on the path since the newest transmission was sent (`rs.lost`).
    pub lost: ByteCount,
}

/// The newest transmission that the current acknowledgement covers.
#[derive(Clone, Copy, Debug)]
struct Newest {
    record: SendRecord,
    bytes: ByteCount,
    sent_at: Instant,
    rtt: Option<Span>,
}

/// Estimates the delivery rate of one path (the draft's `C` variables).
#[derive(Clone, Debug, Default)]
pub struct RateEstimator {
    delivered: ByteCount,
    delivered_at: Instant,
    first_sent_at: Instant,
    /// The path is application-limited until more than this number of bytes is delivered (`C.app_limited`).
    app_limited: Option<ByteCount>,
    min_rtt: Option<Span>,
    newest: Option<Newest>,
    /// Bytes declared lost (`C.lost`).
    lost: ByteCount,
    /// The part of `lost` that [`Self::take_lost`] has returned.
    lost_taken: ByteCount,
}

impl RateEstimator {
    /// Records a transmission at `now`; `flight` is the number of bytes in flight before it.
    pub fn on_sent(&mut self, now: Instant, flight: ByteCount) -> SendRecord {
        if flight.is_zero() {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        SendRecord {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            app_limited: self.is_app_limited(),
            flight,
            lost: self.lost,
        }
    }

    /// Adds bytes that were in flight and are now declared lost.
    pub fn on_lost(&mut self, bytes: ByteCount) {
        self.lost += bytes;
    }

    /// Bytes declared lost so far.
    pub fn lost(&self) -> ByteCount {
        self.lost
    }

    /// Takes back all losses that were declared when `before` bytes had
    /// been declared lost already, because these losses were spurious.
    pub fn undo_lost(&mut self, before: ByteCount) {
        self.lost = before;
        self.lost_taken = before;
    }

    /// True if [`Self::take_lost`] would return bytes.
    pub fn has_lost(&self) -> bool {
        self.lost > self.lost_taken
    }

    /// Returns the bytes declared lost since the last call.
    pub fn take_lost(&mut self) -> ByteCount {
        let lost = self.lost - self.lost_taken;
        self.lost_taken = self.lost;
        lost
    }

    /// Marks the path as application-limited: the sender has no more data, with `flight` bytes in flight.
    pub fn on_app_limited(&mut self, flight: ByteCount) {
        self.app_limited = Some(self.delivered + flight);
    }

    /// True if a transmission at this time is application-limited.
    pub fn is_app_limited(&self) -> bool {
        self.app_limited.is_some()
    }

    /// Records that `bytes`, last sent at `sent_at`, are acknowledged for the first time. An acknowledgement
    /// of a `retransmitted` chunk is ambiguous and gives no RTT (Karn's rule).
    pub fn on_delivered(
        &mut self,
        now: Instant,
        bytes: ByteCount,
        sent_at: Instant,
        record: SendRecord,
        retransmitted: bool,
    ) {
        self.delivered += bytes;
        self.delivered_at = now;
        let rtt = (!retransmitted).then(|| now.since(sent_at));
        if let Some(rtt) = rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        let is_newest =
            |newest: &Newest| (record.delivered, sent_at) >= (newest.record.delivered, newest.sent_at);
        if self.newest.as_ref().is_none_or(is_newest) {
            self.newest = Some(Newest { record, bytes, sent_at, rtt });
            self.first_sent_at = sent_at;
        }
    }

    /// Returns the sample of the current acknowledgement; `None` if it delivered nothing.
    pub fn take_sample(&mut self) -> Option<RateSample> {
        if self.app_limited.is_some_and(|limit| self.delivered > limit) {
            self.app_limited = None;
        }
        let Newest { record, bytes, sent_at, rtt } = self.newest.take()?;
        let send_interval = sent_at.since(record.first_sent_at);
        let ack_interval = self.delivered_at.since(record.delivered_at);
        let interval = send_interval.max(ack_interval);
        let delivered = self.delivered - record.delivered;
        let reliable = !interval.is_zero() && self.min_rtt.is_none_or(|least| interval >= least);
        Some(RateSample {
            delivered,
            interval,
            rate: reliable.then(|| rate_of(delivered, interval)),
            prior_delivered: record.delivered,
            prior_at: record.delivered_at,
            app_limited: record.app_limited,
            rtt,
            tx_in_flight: record.flight + bytes,
            lost: self.lost - record.lost,
        })
    }
}

/// Rate for `bytes` in `time`, which is not zero.
fn rate_of(bytes: ByteCount, time: Span) -> BitRate {
    let bps = u128::from(bytes.get()) * 8_000_000_000 / u128::from(time.as_nanos());
    BitRate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: ByteCount = ByteCount::new(1000);

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Span::from_millis(ms)
    }

    fn ms(n: u64) -> Span {
        Span::from_millis(n)
    }

    /// Sends one packet at `now` ms, with `flight` bytes in flight before it.
    fn send(path: &mut RateEstimator, now: u64, flight: u64) -> (Instant, SendRecord) {
        (at(now), path.on_sent(at(now), ByteCount::new(flight)))
    }

    fn ack(path: &mut RateEstimator, now: u64, sent: &[(Instant, SendRecord)]) -> RateSample {
        for &(sent_at, record) in sent {
            path.on_delivered(at(now), FULL, sent_at, record, false);
        }
        path.take_sample().unwrap()
    }

    // draft-cardwell-iccrg-delivery-rate-estimation-02, section 2.2, by hand
    #[test]
    fn delivery_rate_is_bytes_delivered_in_one_round_trip() {
        let mut path = RateEstimator::default();
        // One packet leaves every 10 ms, and each is acknowledged after 40 ms.
        let sent: Vec<_> = (0..4).map(|n| send(&mut path, 100 + 10 * n, 1000 * n)).collect();
        let first = ack(&mut path, 140, &sent[..1]);
        assert_eq!((first.delivered, first.interval), (FULL, ms(40)));
        assert_eq!(first.rate, Some(BitRate::from_bps(200_000)));
        // The fifth packet is sent at 140 ms, when 1000 bytes are delivered. It is acknowledged at 180 ms,
        // after three other packets.
        let fifth = send(&mut path, 140, 3000);
        for (n, packet) in sent[1..].iter().enumerate() {
            ack(&mut path, 150 + 10 * n as u64, &[*packet]);
        }
        let sample = ack(&mut path, 180, &[fifth]);
        let expected = RateSample {
            delivered: FULL * 4,
            interval: ms(40),
            rate: Some(BitRate::from_bps(800_000)),
            prior_delivered: FULL,
            prior_at: at(140),
            app_limited: false,
            rtt: Some(ms(40)),
            tx_in_flight: FULL * 4,
            lost: ByteCount::ZERO,
        };
        assert_eq!(sample, expected);
        assert_eq!(path.take_sample(), None);
    }

    // The draft, section 2.2.2: the network holds acknowledgements back and then delivers them together.
    #[test]
    fn ack_compression_does_not_raise_the_rate_above_the_send_rate() {
        let mut path = RateEstimator::default();
        let first = send(&mut path, 0, 0);
        ack(&mut path, 40, &[first]);
        // One packet every 20 ms from 40 ms on.
        let sent: Vec<_> =
            (0..4).map(|n| send(&mut path, 40 + 20 * n, if n == 0 { 1 } else { 1000 * n })).collect();
        // The first acknowledgement arrives at 140 ms, all others at 141 ms.
        ack(&mut path, 140, &sent[..1]);
        let last = send(&mut path, 140, 3000);
        ack(&mut path, 141, &sent[1..]);
        // The acknowledgement interval is 140 to 180 ms (40 ms), the send interval 40 to 140 ms (100 ms).
        let sample = ack(&mut path, 180, &[last]);
        assert_eq!((sample.delivered, sample.interval), (FULL * 4, ms(100)));
        assert_eq!(sample.rate, Some(BitRate::from_bps(320_000)));
    }

    // draft-ietf-ccwg-bbr-06, section 3.8: samples of aggregated ACKs can exceed the rate of the path.
    // Four ACKs arrive together every 10 ms, which are 3.2 Mbit/s.
    #[test]
    fn a_sample_that_begins_within_a_burst_of_acknowledgements_has_a_part_of_that_burst_more() {
        let mut path = RateEstimator::default();
        let sent: Vec<_> = (0..15).map(|n| send(&mut path, 10 + n, 1000 * n)).collect();
        ack(&mut path, 40, &sent[..1]);
        let last = send(&mut path, 40, 14_000);
        ack(&mut path, 40, &sent[1..4]);
        ack(&mut path, 50, &sent[4..8]);
        ack(&mut path, 60, &sent[8..12]);
        // The sample has three packets of the first burst and all of three more bursts, in 30 ms. The send
        // interval is 10 to 40 ms.
        let sample = ack(&mut path, 70, &[sent[12], sent[13], sent[14], last]);
        assert_eq!((sample.delivered, sample.interval), (FULL * 15, ms(30)));
        assert_eq!(sample.rate, Some(BitRate::from_bps(4_000_000)));
    }

    // The draft, section 3.4: packets are application-limited
    // until the bytes in flight at that time are delivered.
    #[test]
    fn samples_are_app_limited_until_the_flight_at_that_time_is_delivered() {
        let mut path = RateEstimator::default();
        let sent: Vec<_> = (0..2).map(|n| send(&mut path, n, 1000 * n)).collect();
        path.on_app_limited(FULL * 2);
        let limited = send(&mut path, 10, 2000);
        assert!(path.is_app_limited());
        assert!(!ack(&mut path, 40, &sent[..1]).app_limited);
        assert!(!ack(&mut path, 41, &sent[1..]).app_limited);
        assert!(path.is_app_limited(), "2000 bytes are delivered, not more");
        assert!(ack(&mut path, 50, &[limited]).app_limited);
        assert!(!path.is_app_limited());
        let free = send(&mut path, 60, 0);
        assert!(!ack(&mut path, 100, &[free]).app_limited);
    }

    // The draft, section 3.3: the acknowledgement of the first
    // transmission arrives just after the second transmission.
    #[test]
    fn a_spurious_retransmission_gives_no_rate_and_no_rtt() {
        let mut path = RateEstimator::default();
        let first = send(&mut path, 0, 0);
        ack(&mut path, 40, &[first]);
        let (_, _) = send(&mut path, 50, 0);
        let (sent_at, record) = send(&mut path, 120, 0); // after a timeout
        path.on_delivered(at(121), FULL, sent_at, record, true);
        let sample = path.take_sample().unwrap();
        assert_eq!((sample.delivered, sample.interval, sample.rate, sample.rtt), (FULL, ms(1), None, None));
        // A genuine retransmission gives a rate, but no RTT.
        let (sent_at, record) = send(&mut path, 200, 0);
        path.on_delivered(at(240), FULL, sent_at, record, true);
        let sample = path.take_sample().unwrap();
        assert_eq!((sample.rate, sample.rtt), (Some(BitRate::from_bps(200_000)), None));
    }

    #[test]
    fn idle_time_does_not_count_as_send_or_ack_interval() {
        let mut path = RateEstimator::default();
        let first = send(&mut path, 0, 0);
        ack(&mut path, 40, &[first]);
        let second = send(&mut path, 10_000, 0);
        assert_eq!(ack(&mut path, 10_040, &[second]).interval, ms(40));
    }

    #[test]
    fn of_several_transmissions_the_newest_gives_the_sample() {
        let mut path = RateEstimator::default();
        let old = send(&mut path, 0, 0);
        let other = send(&mut path, 5, 1000);
        ack(&mut path, 40, &[old]);
        let new = send(&mut path, 41, 1000);
        // The order of the two acknowledged packets does not matter.
        let sample = ack(&mut path, 90, &[new, other]);
        assert_eq!((sample.delivered, sample.prior_at, sample.rtt), (FULL * 2, at(40), Some(ms(49))));
    }

    // draft-ietf-ccwg-bbr, RS.lost and RS.tx_in_flight
    #[test]
    fn a_sample_has_the_losses_since_its_packet_was_sent_and_the_flight_at_that_time() {
        let mut path = RateEstimator::default();
        path.on_lost(FULL * 7);
        let sent: Vec<_> = (0..3).map(|n| send(&mut path, n, 1000 * n)).collect();
        path.on_lost(FULL);
        let later = send(&mut path, 10, 2000);
        path.on_lost(FULL * 2);
        let early = ack(&mut path, 40, &sent[1..2]);
        assert_eq!((early.tx_in_flight, early.lost), (FULL * 2, FULL * 3));
        let late = ack(&mut path, 50, &[later]);
        assert_eq!((late.tx_in_flight, late.lost), (FULL * 3, FULL * 2));
        assert!(path.has_lost());
        assert_eq!(
            (path.take_lost(), path.take_lost(), path.has_lost()),
            (FULL * 10, ByteCount::ZERO, false)
        );
    }
}
