use super::{Admission, Backlog, Discipline, Kind, Offered, Queue, Site, Verdict};
use crate::counters::DropCause;
use crate::fault::SpecFault;
use des::Random;
use transport::named;
use units::{BitRate, ByteCount, Instant, Probability, Span};

/// Random early detection (S. Floyd and V. Jacobson, "Random Early Detection Gateways for Congestion
/// Avoidance", IEEE/ACM Transactions on Networking 1(4), 1993).
#[derive(Clone, Debug, PartialEq)]
pub struct RedSpec {
    /// Weight of the newest queue length in the average (w_q), above 0. With 1 the average is the queue
    /// length itself.
    pub weight: f64,
    /// Average below which no packet is dropped (min_th).
    pub min: f64,
    /// Average from which every packet is dropped (max_th), unless `gentle`.
    pub max: f64,
    /// Drop probability just below `max` (max_p).
    pub max_p: Probability,
    /// Limit of the queue: a packet that finds this length or more waiting is dropped.
    pub limit: f64,
    /// Unit of `min`, `max` and `limit`.
    pub unit: RedUnit,
    /// Size of a typical packet, for drop probabilities in bytes and for the idle time.
    pub mean_packet: ByteCount,
    /// Packets per second that the link could send while the queue is empty; the average decays at this rate.
    /// `None`: the link's rate divided by `mean_packet`.
    pub packet_rate: Option<f64>,
    /// Between `max` and twice `max` the drop probability rises from `max_p` to 1 instead of jumping.
    pub gentle: bool,
    /// An ECN-capable packet that would be dropped early is marked instead (`rfc3168#section-5`). A full
    /// queue, or an average at which every packet is dropped, drops ECN-capable packets, too.
    pub ecn: bool,
    /// Deviation from the published algorithm.
    pub quirk: RedQuirk,
}

named! {
    /// A deviation from published RED in a widely used simulator. Published figures depend on it.
    #[derive(Default)]
    "quirk" RedQuirk {
        /// None: RED as published.
        #[default]
        None = "none",
        /// If `count p_b` exceeds 1, the drop probability p_b / (1 - count p_b) is negative. It is used as it
        /// is: no packet is dropped until the queue reaches its limit or the average leaves the range between
        /// the thresholds. Published RED drops the packet.
        NegativeProbability = "negative-probability",
    }
}

/// Unit in which a RED queue is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedUnit {
    /// Packets; all have the same drop probability.
    Packets,
    /// Bytes; the drop probability grows with the size of the packet.
    Bytes,
}

impl Discipline for RedSpec {
    fn check(&self) -> Result<(), SpecFault> {
        let rate_is_sound = self.packet_rate.is_none_or(|rate| rate >= 0.0 && rate.is_finite());
        let checks = [
            (self.min >= 0.0 && self.min.is_finite(), "min", "a number, 0 or more"),
            (self.max > self.min && self.max.is_finite(), "max", "more than `min`"),
            (self.weight > 0.0 && self.weight <= 1.0, "weight", "a number above 0, at most 1"),
            (self.limit > 0.0 && self.limit.is_finite(), "capacity", "more than 0"),
            (!self.mean_packet.is_zero(), "mean_packet", "more than 0 B"),
            (rate_is_sound, "packet_rate", "a number, 0 or more"),
        ];
        SpecFault::first(checks)
    }

    fn build(&self, site: &Site<'_>) -> Queue {
        Queue(Kind::Red(Box::new(Red::new(self.clone(), site.rate, site.random()))))
    }
}

/// The state of one RED queue.
#[derive(Debug)]
pub(crate) struct Red {
    spec: RedSpec,
    /// ln(1 - weight) times the packets per nanosecond: the decay of the average while no packet waits.
    idle_decay: f64,
    average: f64,
    /// Packets since the last drop (count), -1 while the average is below `min`.
    count: i64,
    /// Time since which the queue is empty; or, if later, the end of the idle time already counted.
    empty_since: Instant,
    /// Idle time by which the average must still decay. The decay is postponed while packets find the queue
    /// empty and the average below `min`: these packets all pass.
    idle: Span,
    random: Random,
}

impl Red {
    fn new(spec: RedSpec, rate: Option<BitRate>, random: Random) -> Self {
        let from_link = || rate.map_or(0.0, |rate| rate.as_bps() as f64 / (8.0 * spec.mean_packet.as_f64()));
        let packets_per_second = spec.packet_rate.unwrap_or_else(from_link);
        let idle_decay =
            if packets_per_second > 0.0 { libm::log1p(-spec.weight) * packets_per_second / 1e9 } else { 0.0 };
        Red {
            spec,
            idle_decay,
            average: 0.0,
            count: -1,
            empty_since: Instant::ZERO,
            idle: Span::ZERO,
            random,
        }
    }

    /// The average queue length, as of the last arrival.
    fn decayed_average(&self) -> f64 {
        if self.idle.is_zero() {
            return self.average;
        }
        self.average * libm::exp(self.idle_decay * self.idle.as_nanos() as f64)
    }

    #[inline]
    fn update_average(&mut self, now: Instant, length: f64) {
        if length > 0.0 {
            self.decay();
            self.average += self.spec.weight * (length - self.average);
            return;
        }
        self.idle += now.since(self.empty_since);
        // The idle time up to now is counted. If this packet is dropped,
        // the queue remains empty, and this time must not be counted again.
        self.empty_since = now;
        if self.average >= self.spec.min {
            self.decay();
        }
    }

    #[inline]
    fn decay(&mut self) {
        if !self.idle.is_zero() {
            self.average = self.decayed_average();
            self.idle = Span::ZERO;
        }
    }

    /// The drop probability p_a of the `count`-th packet since
    /// the last drop; `None` if every packet is dropped.
    fn drop_probability(&self, size: ByteCount) -> Option<f64> {
        let RedSpec { min, max, gentle, .. } = self.spec;
        let max_p = self.spec.max_p.get();
        let average = self.average;
        let mut base = if average < max {
            max_p * (average - min) / (max - min)
        } else if gentle && average < 2.0 * max {
            max_p + (1.0 - max_p) * (average - max) / max
        } else {
            return None;
        };
        if self.spec.unit == RedUnit::Bytes {
            base *= size.as_f64() / self.spec.mean_packet.as_f64();
        }
        let rest = 1.0 - self.count as f64 * base;
        Some(match self.spec.quirk {
            RedQuirk::None if rest <= 0.0 => 1.0,
            RedQuirk::None => (base / rest).min(1.0),
            RedQuirk::NegativeProbability => base / rest,
        })
    }
}

impl Admission for Red {
    #[inline]
    fn admit(&mut self, now: Instant, backlog: Backlog, packet: Offered) -> Verdict {
        let length = match self.spec.unit {
            RedUnit::Packets => backlog.packets as f64,
            RedUnit::Bytes => backlog.bytes.as_f64(),
        };
        self.update_average(now, length);
        if length >= self.spec.limit {
            self.count = 0;
            return Verdict::Drop(DropCause::QueueFull);
        }
        if self.average < self.spec.min {
            self.count = -1;
            return Verdict::Pass;
        }
        self.count += 1;
        let Some(probability) = self.drop_probability(packet.size) else {
            self.count = 0;
            return Verdict::Drop(DropCause::RedForced);
        };
        if probability >= 1.0 || self.random.uniform() < probability {
            self.count = 0;
            if self.spec.ecn && packet.ecn_capable {
                return Verdict::Mark;
            }
            return Verdict::Drop(DropCause::RedEarly);
        }
        Verdict::Pass
    }

    #[inline]
    fn empties_at(&mut self, at: Instant) {
        self.empty_since = at;
    }

    fn average(&self) -> Option<f64> {
        Some(self.decayed_average())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use des::Streams;

    /// Paper 001, section 5: w 0.002, thresholds 20 and 80, max_p 0.02, on a link of 100 Mbit/s.
    fn spec() -> RedSpec {
        RedSpec {
            weight: 0.002,
            min: 20.0,
            max: 80.0,
            max_p: Probability::new(0.02).unwrap(),
            limit: 80.0,
            unit: RedUnit::Packets,
            mean_packet: ByteCount::new(1500),
            packet_rate: None,
            gentle: false,
            ecn: false,
            quirk: RedQuirk::None,
        }
    }

    fn red(spec: RedSpec, average: f64, count: i64) -> Red {
        let mut red = Red::new(spec, Some(BitRate::from_mbps(100)), Streams::new(1, 0).stream("queue"));
        (red.average, red.count) = (average, count);
        red
    }

    fn waiting(packets: u64) -> Backlog {
        Backlog { packets, bytes: ByteCount::new(1500) * packets }
    }

    const FULL_SIZE: ByteCount = ByteCount::new(1500);

    /// The verdict on a full-size packet.
    fn admit(red: &mut Red, now: Instant, backlog: Backlog) -> Verdict {
        red.admit(now, backlog, Offered { size: FULL_SIZE, ecn_capable: false })
    }

    fn probability(spec: RedSpec, average: f64, count: i64, size: ByteCount) -> f64 {
        red(spec, average, count).drop_probability(size).unwrap()
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-12, "{value} is not {expected}");
    }

    #[test]
    fn the_drop_probability_rises_with_the_packets_since_the_last_drop() {
        near(probability(spec(), 50.0, 0, FULL_SIZE), 0.01);
        near(probability(spec(), 50.0, 50, FULL_SIZE), 0.02);
        near(probability(spec(), 50.0, 99, FULL_SIZE), 1.0);
        near(probability(spec(), 50.0, 100, FULL_SIZE), 1.0);
        near(probability(spec(), 50.0, 1000, FULL_SIZE), 1.0);
    }

    #[test]
    fn with_the_quirk_nothing_is_dropped_once_count_times_p_b_exceeds_1() {
        let quirk = RedSpec { quirk: RedQuirk::NegativeProbability, ..spec() };
        near(probability(quirk.clone(), 50.0, 50, FULL_SIZE), 0.02);
        assert!(probability(quirk.clone(), 50.0, 101, FULL_SIZE) < 0.0);
        let pass = |spec: RedSpec| {
            let mut red = red(spec, 50.0, 200);
            (0..1000)
                .filter(|_| {
                    red.average = 50.0;
                    admit(&mut red, Instant::ZERO, waiting(50)) == Verdict::Pass
                })
                .count()
        };
        assert_eq!(pass(quirk.clone()), 1000);
        assert!(pass(spec()) < 1000, "published RED drops at once, and goes on from there");
        let mut red = red(quirk, 50.0, 200);
        assert_eq!(admit(&mut red, Instant::ZERO, waiting(80)), Verdict::Drop(DropCause::QueueFull));
        assert_eq!(red.count, 0, "a drop at the limit resets the count");
    }

    #[test]
    fn a_weight_of_1_makes_the_average_the_queue_length() {
        for packet_rate in [None, Some(0.0)] {
            let mut red = red(RedSpec { weight: 1.0, packet_rate, ..spec() }, 50.0, 0);
            red.update_average(Instant::ZERO, 30.0);
            near(red.decayed_average(), 30.0);
            red.empties_at(Instant::from_nanos(1));
            red.update_average(Instant::from_nanos(1_000_000), 0.0);
            red.update_average(Instant::from_nanos(1_000_000), 12.0);
            near(red.decayed_average(), 12.0);
        }
    }

    #[test]
    fn the_check_names_the_field_that_is_wrong() {
        assert_eq!(spec().check(), Ok(()));
        assert_eq!(RedSpec { weight: 1.0, ..spec() }.check(), Ok(()));
        for (wrong, field) in [
            (RedSpec { min: -1.0, ..spec() }, "min"),
            (RedSpec { max: 20.0, ..spec() }, "max"),
            (RedSpec { max: f64::INFINITY, ..spec() }, "max"),
            (RedSpec { weight: 0.0, ..spec() }, "weight"),
            (RedSpec { weight: 1.1, ..spec() }, "weight"),
            (RedSpec { weight: f64::NAN, ..spec() }, "weight"),
            (RedSpec { limit: 0.0, ..spec() }, "capacity"),
            (RedSpec { mean_packet: ByteCount::ZERO, ..spec() }, "mean_packet"),
            (RedSpec { packet_rate: Some(f64::NAN), ..spec() }, "packet_rate"),
        ] {
            assert_eq!(wrong.check().map_err(|fault| fault.field), Err(field));
        }
    }

    #[test]
    fn the_average_decays_to_nearly_zero_in_a_second_of_idle_time() {
        let mut red = red(spec(), 50.0, 0);
        red.empties_at(Instant::from_nanos(1_000));
        red.update_average(Instant::from_nanos(1_000) + Span::from_secs(1), 0.0);
        let decay = red.decayed_average() / 50.0;
        assert!((decay / 5.7e-8 - 1.0).abs() < 0.01, "{decay}");
    }

    #[test]
    fn one_packet_time_of_idleness_decays_the_average_as_one_empty_sample_would() {
        let mut red = red(spec(), 50.0, 0);
        red.update_average(Instant::from_nanos(120_000), 0.0);
        near(red.average, 50.0 * 0.998);
    }

    #[test]
    fn idle_time_is_counted_once_when_the_packet_that_ends_it_is_dropped() {
        let mut red = red(spec(), 1000.0, 0);
        let at = Instant::from_nanos(1_200_000);
        assert_eq!(admit(&mut red, at, waiting(0)), Verdict::Drop(DropCause::RedForced));
        let once = red.average;
        assert_eq!(admit(&mut red, at, waiting(0)), Verdict::Drop(DropCause::RedForced));
        near(red.average, once);
    }

    #[test]
    fn idle_times_below_min_add_up_until_the_average_is_needed() {
        let mut red = red(spec(), 19.0, -1);
        for k in 1..=100 {
            assert_eq!(admit(&mut red, Instant::from_nanos(k * 120_000), waiting(0)), Verdict::Pass);
        }
        let idle = 19.0 * 0.998_f64.powi(100);
        near(red.decayed_average(), idle);
        red.update_average(Instant::from_nanos(100 * 120_000), 40.0);
        near(red.average, idle + 0.002 * (40.0 - idle));
    }

    #[test]
    fn a_busy_queue_moves_the_average_by_its_weight() {
        let mut red = red(spec(), 10.0, 0);
        red.update_average(Instant::ZERO, 60.0);
        near(red.average, 10.0 + 0.002 * 50.0);
    }

    #[test]
    fn below_min_nothing_is_dropped_and_the_count_is_reset() {
        let mut red = red(spec(), 19.0, 500);
        for _ in 0..400 {
            assert_eq!(admit(&mut red, Instant::ZERO, waiting(19)), Verdict::Pass);
        }
        assert_eq!(red.count, -1);
        red.average = 30.0;
        assert_eq!(admit(&mut red, Instant::ZERO, waiting(30)), Verdict::Pass);
        assert_eq!(red.count, 0);
    }

    #[test]
    fn between_the_thresholds_gaps_between_drops_are_uniform() {
        // Floyd and Jacobson, section 7: with constant p_b the gap between drops is uniform on 1..=1/p_b,
        // with a mean of about 1/(2 p_b).
        let mut red = red(spec(), 50.0, 0);
        let (mut gaps, mut gap) = (Vec::new(), 0_u32);
        for _ in 0..200_000 {
            red.average = 50.0;
            gap += 1;
            if admit(&mut red, Instant::ZERO, waiting(50)) != Verdict::Pass {
                gaps.push(gap);
                gap = 0;
            }
        }
        let mean = gaps.iter().sum::<u32>() as f64 / gaps.len() as f64;
        assert!((mean - 50.5).abs() < 2.0, "{mean}");
        assert!(gaps.iter().all(|&gap| gap <= 100));
    }

    #[test]
    fn above_max_all_are_dropped_and_gentle_rises_to_one_at_twice_max() {
        assert_eq!(red(spec(), 80.0, 0).drop_probability(FULL_SIZE), None);
        let gentle = RedSpec { gentle: true, ..spec() };
        near(probability(gentle.clone(), 80.0, 0, FULL_SIZE), 0.02);
        near(probability(gentle.clone(), 120.0, 0, FULL_SIZE), 0.51);
        assert_eq!(red(gentle, 160.0, 0).drop_probability(FULL_SIZE), None);
    }

    #[test]
    fn the_limit_drops_at_any_average() {
        let mut red = red(spec(), 0.0, -1);
        assert_eq!(admit(&mut red, Instant::ZERO, waiting(79)), Verdict::Pass);
        assert_eq!(admit(&mut red, Instant::ZERO, waiting(80)), Verdict::Drop(DropCause::QueueFull));
        assert_eq!(red.count, 0);
    }

    // rfc3168#section-5
    #[test]
    fn with_ecn_capable_packets_are_marked_where_others_are_dropped_early() {
        let marked = RedSpec { ecn: true, ..spec() };
        let verdict = |spec: &RedSpec, average: f64, waiting_packets: u64, ecn_capable: bool| {
            let mut red = red(spec.clone(), average, 99);
            red.admit(Instant::ZERO, waiting(waiting_packets), Offered { size: FULL_SIZE, ecn_capable })
        };
        assert_eq!(verdict(&marked, 50.0, 50, true), Verdict::Mark);
        assert_eq!(verdict(&marked, 50.0, 50, false), Verdict::Drop(DropCause::RedEarly));
        assert_eq!(verdict(&spec(), 50.0, 50, true), Verdict::Drop(DropCause::RedEarly));
        assert_eq!(verdict(&marked, 81.0, 79, true), Verdict::Drop(DropCause::RedForced));
        assert_eq!(verdict(&marked, 50.0, 80, true), Verdict::Drop(DropCause::QueueFull));
    }

    #[test]
    fn in_bytes_small_packets_have_a_smaller_drop_probability() {
        let bytes = RedSpec { unit: RedUnit::Bytes, min: 30_000.0, max: 120_000.0, limit: 1e6, ..spec() };
        near(probability(bytes.clone(), 75_000.0, 0, FULL_SIZE), 0.01);
        near(probability(bytes.clone(), 75_000.0, 0, ByteCount::new(150)), 0.001);
        let mut red = red(bytes, 0.0, -1);
        assert_eq!(admit(&mut red, Instant::ZERO, waiting(40)), Verdict::Pass);
        near(red.average, 0.002 * 60_000.0);
    }
}
