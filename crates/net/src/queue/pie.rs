use super::codel::Waiting;
use super::{Discipline, Drops, Queue, Queued, Server, Site};
use crate::counters::DropCause;
use crate::fault::SpecFault;
use des::Random;
use units::{ByteCount, Instant, Span};

/// PIE ([RFC 8033](https://www.rfc-editor.org/rfc/rfc8033)): drops arriving packets with a probability. A
/// controller changes the probability until the delay equals the target. The delay is that of the last packet
/// that left, measured from its arrival (section 5.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieSpec {
    /// Target delay (QDELAY_REF).
    pub target: Span,
    /// Interval between updates of the probability (T_UPDATE).
    pub update: Span,
    /// Duration of a burst that passes without drops after the queue was short (MAX_BURST).
    pub max_burst: Span,
    /// Maximum number of packets in the queue.
    pub limit: u32,
    /// Marks ECN-capable packets instead of dropping them, while the probability is at most 10 % (section
    /// 5.1).
    pub ecn: bool,
}

impl Default for PieSpec {
    /// Target 15 ms, update every 15 ms, bursts of 150 ms, 1000 packets, without ECN.
    fn default() -> Self {
        let (target, max_burst) = (Span::from_millis(15), Span::from_millis(150));
        PieSpec { target, update: target, max_burst, limit: 1000, ecn: false }
    }
}

impl Discipline for PieSpec {
    fn check(&self) -> Result<(), SpecFault> {
        SpecFault::first([
            (!self.target.is_zero(), "target", "more than 0 s"),
            (self.update >= Span::from_micros(100), "update", "at least 100 us"),
            (self.limit > 0, "packets", "at least 1"),
        ])
    }

    fn build(&self, site: &Site<'_>) -> Queue {
        let control = Control { burst_allowance: self.max_burst, ..Control::default() };
        Queue::server(Pie { spec: *self, queue: Waiting::default(), control, random: site.random() })
    }
}

/// Weights in 1/s: of the distance from the target, and of the change of the delay (section 4.2).
const ALPHA: f64 = 0.125;
const BETA: f64 = 1.25;
/// ECN-capable packets are marked only while the drop probability is at most this.
const MARK_LIMIT: f64 = 0.1;
/// No packet is dropped while at most two packets of this size wait.
const MEAN_PACKET: ByteCount = ByteCount::new(1024);
/// The sum of probabilities below which no packet, and above which every packet is dropped (section 5.4).
const NEVER: f64 = 0.85;
const ALWAYS: f64 = 8.5;

/// The state of the controller; names as in `rfc8033#appendix-A`.
#[derive(Debug, Default)]
struct Control {
    drop_prob: f64,
    /// Sum of the probabilities since the last drop.
    accumulated: f64,
    delay: Span,
    old_delay: Span,
    burst_allowance: Span,
    next_update: Instant,
}

#[derive(Debug)]
struct Pie {
    spec: PieSpec,
    queue: Waiting,
    control: Control,
    random: Random,
}

impl Control {
    /// Makes the updates that are due since the last packet. The delay did not change in this time.
    fn catch_up(&mut self, spec: &PieSpec, now: Instant) {
        while self.next_update <= now {
            self.update(spec);
            self.next_update += spec.update;
            if self.is_at_rest(spec) {
                let missed = now.since(self.next_update).as_nanos() / spec.update.as_nanos() + 1;
                if now >= self.next_update {
                    self.next_update += spec.update * missed;
                }
            }
        }
    }

    /// True if further updates change nothing while no packet leaves.
    fn is_at_rest(&self, spec: &PieSpec) -> bool {
        self.drop_prob == 0.0
            && self.delay.is_zero()
            && self.old_delay.is_zero()
            && self.burst_allowance == spec.max_burst
    }

    /// The function `calculate_drop_prob` of the RFC.
    fn update(&mut self, spec: &PieSpec) {
        let seconds = Span::as_secs_f64;
        let mut p = ALPHA * (seconds(self.delay) - seconds(spec.target))
            + BETA * (seconds(self.delay) - seconds(self.old_delay));
        // The lower the probability, the smaller the steps.
        p /= match self.drop_prob {
            low if low < 0.000_001 => 2048.0,
            low if low < 0.000_01 => 512.0,
            low if low < 0.000_1 => 128.0,
            low if low < 0.001 => 32.0,
            low if low < 0.01 => 8.0,
            low if low < 0.1 => 2.0,
            _ => 1.0,
        };
        if self.drop_prob >= 0.1 {
            p = p.min(0.02);
        }
        self.drop_prob += p;
        if self.delay.is_zero() && self.old_delay.is_zero() {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.burst_allowance = self.burst_allowance.saturating_sub(spec.update);
        let short = |delay: Span| delay * 2 < spec.target;
        if self.drop_prob == 0.0 && short(self.delay) && short(self.old_delay) {
            self.burst_allowance = spec.max_burst;
        }
        self.old_delay = self.delay;
    }

    /// The function `drop_early`, without marks: true if a packet that arrives with `waiting` bytes is
    /// dropped.
    fn is_unlucky(&mut self, spec: &PieSpec, waiting: ByteCount, random: &mut Random) -> bool {
        if !self.burst_allowance.is_zero() {
            return false;
        }
        if (self.old_delay * 2 < spec.target && self.drop_prob < 0.2) || waiting <= MEAN_PACKET * 2 {
            return false;
        }
        if self.drop_prob == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += self.drop_prob;
        let unlucky =
            self.accumulated >= NEVER && (self.accumulated >= ALWAYS || random.uniform() < self.drop_prob);
        if unlucky {
            self.accumulated = 0.0;
        }
        unlucky
    }
}

impl Server for Pie {
    fn enqueue(&mut self, now: Instant, mut packet: Queued, drops: &mut Drops) {
        self.control.catch_up(&self.spec, now);
        if self.queue.len() >= self.spec.limit as usize {
            return drops.push(packet, DropCause::QueueFull);
        }
        if self.control.is_unlucky(&self.spec, self.queue.bytes, &mut self.random) {
            let marks = self.spec.ecn && packet.is_ecn_capable() && self.control.drop_prob <= MARK_LIMIT;
            if !marks {
                return drops.push(packet, DropCause::Delayed);
            }
            packet.mark();
        }
        self.queue.push(packet);
    }

    fn dequeue(&mut self, now: Instant, _drops: &mut Drops) -> Option<Queued> {
        self.control.catch_up(&self.spec, now);
        let packet = self.queue.pop()?;
        // If the queue is empty now, the delay of this packet does not apply to later packets.
        self.control.delay = if self.queue.is_empty() { Span::ZERO } else { now.since(packet.arrived()) };
        Some(packet)
    }

    fn drain(&mut self) -> Vec<Queued> {
        let next_update = self.control.next_update;
        self.control = Control { burst_allowance: self.spec.max_burst, next_update, ..Control::default() };
        let queue = &mut self.queue;
        std::iter::from_fn(|| queue.pop()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::run;
    use super::*;
    use des::Streams;
    use transport::Ecn;

    const MILLI: Span = Span::from_millis(1);

    fn server(spec: PieSpec) -> Pie {
        let control = Control { burst_allowance: spec.max_burst, ..Control::default() };
        Pie { spec, queue: Waiting::default(), control, random: Streams::new(1, 0).stream("queue") }
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-12, "{value} is not {expected}");
    }

    fn millis(ms: u64) -> Span {
        Span::from_millis(ms)
    }

    // rfc8033#section-4.2, by hand: p = 0.125 (d - 0.015) + 1.25 (d - d_old). The size of drop_prob scales
    // the step.
    #[test]
    fn the_probability_moves_by_distance_and_change_in_steps_of_its_size() {
        let spec = PieSpec::default();
        let mut control = Control { delay: millis(35), old_delay: millis(25), ..Control::default() };
        control.update(&spec);
        near(control.drop_prob, (0.125 * 0.020 + 1.25 * 0.010) / 2048.0);
        for (before, divisor) in
            [(0.000_005, 512.0), (0.000_05, 128.0), (0.000_5, 32.0), (0.005, 8.0), (0.05, 2.0)]
        {
            let (delay, old_delay) = (millis(35), millis(25));
            let mut control = Control { drop_prob: before, delay, old_delay, ..Control::default() };
            control.update(&spec);
            near(control.drop_prob, before + 0.015 / divisor);
        }
        let mut control =
            Control { drop_prob: 0.3, delay: millis(200), old_delay: millis(20), ..Control::default() };
        control.update(&spec);
        near(control.drop_prob, 0.32);
    }

    #[test]
    fn without_delay_the_probability_decays_and_bursts_are_allowed_again() {
        let spec = PieSpec::default();
        let mut control = Control { drop_prob: 0.5, ..Control::default() };
        control.update(&spec);
        near(control.drop_prob, (0.5 - 0.125 * 0.015) * 0.98);
        assert!(control.burst_allowance.is_zero());
        control.catch_up(&spec, Instant::from_nanos(1) + Span::from_secs(30));
        assert_eq!((control.drop_prob, control.burst_allowance), (0.0, spec.max_burst));
        assert!(control.next_update > Instant::ZERO + Span::from_secs(30));
        assert!(control.next_update <= Instant::from_nanos(1) + Span::from_secs(30) + spec.update);
    }

    #[test]
    fn a_burst_passes_and_a_standing_queue_is_brought_to_the_target() {
        let burst = (0..100).map(|_| (Instant::ZERO, 1500, 0));
        assert!(run(&mut server(PieSpec::default()), burst, MILLI, Ecn::NotCapable).late.is_empty());
        // The load exceeds the link rate by a tenth for 60 s: a tenth is dropped, and the delay is near the
        // target.
        let arrivals = (0..66_000).map(|n| (Instant::from_nanos(n * 909_091), 1500, 0));
        let record = run(&mut server(PieSpec::default()), arrivals, MILLI, Ecn::NotCapable);
        let delays = &record.delay[20..58];
        assert!(delays.iter().all(|delay| *delay < millis(60)), "{delays:?}");
        let dropped = record.late.len() as f64 / 66_000.0;
        assert!((0.07..0.11).contains(&dropped), "{dropped}");
    }

    #[test]
    fn ecn_capable_packets_are_marked_up_to_a_tenth_and_dropped_beyond() {
        let spec = PieSpec { ecn: true, ..PieSpec::default() };
        // Marks do not slow this sender down: the probability exceeds a tenth again and again.
        let arrivals = (0..60_000).map(|n| (Instant::from_nanos(n * 970_000), 1500, 0));
        let record = run(&mut server(spec), arrivals, MILLI, Ecn::Capable0);
        let marked = record.sent.iter().filter(|(.., marked)| *marked).count();
        assert!(marked > 50 && record.late.len() > 50, "{marked} marked, {} dropped", record.late.len());
    }

    #[test]
    fn drops_are_neither_close_together_nor_far_apart() {
        // rfc8033#section-5.4: the distance between drops is 0.85/p to 8.5/p packets.
        let spec = PieSpec::default();
        let mut control = Control { drop_prob: 0.05, old_delay: spec.target, ..Control::default() };
        let mut random = Streams::new(1, 0).stream("queue");
        let (mut gap, mut gaps) = (0, Vec::new());
        for _ in 0..100_000 {
            gap += 1;
            if control.is_unlucky(&spec, ByteCount::new(100_000), &mut random) {
                gaps.push(gap);
                gap = 0;
            }
        }
        assert!(
            gaps.iter().all(|gap| (17..=170).contains(gap)),
            "{:?} {:?}",
            gaps.iter().min(),
            gaps.iter().max()
        );
    }

    #[test]
    fn the_check_names_the_parameter_that_is_wrong() {
        let good = PieSpec::default();
        assert_eq!(good.check(), Ok(()));
        for (wrong, field) in [
            (PieSpec { target: Span::ZERO, ..good }, "target"),
            (PieSpec { update: Span::from_micros(1), ..good }, "update"),
            (PieSpec { limit: 0, ..good }, "packets"),
        ] {
            assert_eq!(wrong.check().map_err(|fault| fault.field), Err(field));
        }
    }
}
