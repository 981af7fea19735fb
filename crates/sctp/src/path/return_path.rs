//! SACKs that leave on a path although their data came on a slower one: how many it may carry.
//!
//! A SACK is worth the more the earlier it arrives. But the link on which it would arrive first may be narrow, and nobody knows how narrow.
//! So the rate r of such SACKs begins low. A HEARTBEAT rides along with one of them now and then, and its answer tells of a queue on the
//! way:
//!
//! ```text
//! r ← 3/2 r   if SACKs used up r and the answer came within T
//! r ← r/4     if the answer came later; then r does not grow for 3 s
//! T = max(l + min((o - l)/2, l/2 + 20 ms), min(u, o))
//! ```
//!
//! l is the least round-trip time of this path, o that of the path of the data. u is the time that answers usually took at the first rate:
//! its mean and four mean deviations. It may be longer than l since data makes queues, too. A probe may be lost. If the next one finds no
//! answer either, the path is left alone for a while, and r begins anew.

use transport::LeastRtt;
use units::{Instant, Span};

/// Rate at first, in bytes a second: one SACK in each interval between probes.
const FIRST_RATE: u64 = 1250;
/// Least time between two probes.
const PROBE_INTERVAL: Span = Span::from_millis(50);
/// Time by which a SACK may leave early.
const EARLY: Span = Span::from_millis(10);
/// Queueing delay that is allowed at most, beside half of the round-trip time.
const MOST_QUEUE: Span = Span::from_millis(20);
/// How long the rate does not grow after an answer that was late.
const STEADY: Span = Span::from_secs(3);
/// How long a path carries no such SACKs if an answer was late at the first rate, or if two probes in a row found none.
const REST: Span = Span::from_millis(500);

/// What a path may carry for others.
#[derive(Debug)]
pub(crate) struct Return {
    /// Of heartbeats.
    least: LeastRtt,
    /// When a SACK last left here, for whichever data.
    pub(crate) last: Instant,
    /// Bytes a second.
    rate: u64,
    /// When the next one may leave, and when the last one left.
    next: Instant,
    taken: Instant,
    /// One more would have left.
    used_up: bool,
    probe: Option<Probe>,
    /// The one before, if its answer is overdue.
    missing: Option<Probe>,
    next_probe: Instant,
    /// The rate grows from then on.
    steady_until: Instant,
    rests_until: Instant,
    /// Mean and mean deviation of answers at the first rate.
    usual: Option<(Span, Span)>,
}

#[derive(Clone, Copy, Debug)]
struct Probe {
    nonce: u64,
    sent: Instant,
    /// An answer that takes longer is late.
    limit: Span,
}

impl Return {
    pub(crate) fn new() -> Self {
        Return {
            least: LeastRtt::default(),
            last: Instant::ZERO,
            rate: FIRST_RATE,
            next: Instant::ZERO,
            taken: Instant::ZERO,
            used_up: false,
            probe: None,
            missing: None,
            next_probe: Instant::ZERO,
            steady_until: Instant::ZERO,
            rests_until: Instant::ZERO,
            usual: None,
        }
    }

    /// The least round-trip time of heartbeats lately.
    pub(crate) fn least(&self) -> Option<Span> {
        self.least.get()
    }

    /// A heartbeat was answered.
    pub(crate) fn observe(&mut self, now: Instant, rtt: Span) {
        self.least.sample(now, rtt);
    }

    /// Whether a SACK may leave now that another path would carry, some time after the one before.
    pub(crate) fn takes(&mut self, now: Instant, apart: Span) -> bool {
        if let Some(late) = self.probe.take_if(|probe| now.since(probe.sent) > probe.limit) {
            if self.missing.replace(late).is_some() {
                self.begin_anew(now);
            }
            self.next_probe = now;
        }
        if now < self.rests_until || (self.missing.is_some() && self.probe.is_some()) {
            return false;
        }
        if now < self.taken + apart {
            return false;
        }
        let has_room = now + EARLY >= self.next;
        self.used_up |= !has_room;
        has_room
    }

    /// The time within which a probe is to be answered, where `least` and `other` are the least round-trip times here and on the path that
    /// would carry the SACKs otherwise.
    pub(crate) fn limit(&self, least: Span, other: Span) -> Span {
        let queue = (other.saturating_sub(least) / 2).min(least / 2 + MOST_QUEUE);
        let usual = self.usual.map_or(Span::ZERO, |(mean, deviation)| mean + deviation * 4);
        (least + queue).max(usual.min(other))
    }

    /// Whether a probe is to leave with the next SACK that another path would carry.
    pub(crate) fn wants_probe(&self, now: Instant) -> bool {
        self.probe.is_none() && now >= self.next_probe
    }

    /// A SACK of so many bytes left that another path would have carried.
    pub(crate) fn carried(&mut self, now: Instant, bytes: usize) {
        let takes = Span::from_nanos(bytes as u64 * 1_000_000_000 / self.rate);
        self.next = self.next.max(now) + takes;
        self.taken = now;
    }

    /// A probe left.
    pub(crate) fn probed(&mut self, now: Instant, nonce: u64, limit: Span) {
        self.probe = Some(Probe { nonce, sent: now, limit });
        self.next_probe = now + PROBE_INTERVAL;
        self.used_up = false;
    }

    /// An answer with this nonce.
    pub(crate) fn answered(&mut self, now: Instant, nonce: u64) {
        let this = |probe: &mut Probe| probe.nonce == nonce;
        let Some(probe) = self.probe.take_if(this).or_else(|| self.missing.take_if(this)) else { return };
        let rtt = now.since(probe.sent);
        self.observe(now, rtt);
        if self.rate == FIRST_RATE {
            self.note_usual(rtt);
        }
        self.missing = None;
        if rtt > probe.limit {
            self.slow_down(now, probe.limit);
        } else if self.used_up && now >= self.steady_until {
            self.rate += self.rate / 2;
        }
    }

    fn note_usual(&mut self, rtt: Span) {
        self.usual = Some(match self.usual {
            None => (rtt, rtt / 4),
            Some((mean, deviation)) => {
                let off = rtt.saturating_sub(mean).max(mean.saturating_sub(rtt));
                ((mean * 7 + rtt) / 8, (deviation * 3 + off) / 4)
            }
        });
    }

    fn slow_down(&mut self, now: Instant, pause: Span) {
        if self.rate == FIRST_RATE {
            return self.begin_anew(now);
        }
        self.rate = (self.rate / 4).max(FIRST_RATE);
        self.rests_until = now + pause;
        self.steady_until = now + STEADY;
    }

    fn begin_anew(&mut self, now: Instant) {
        (self.rate, self.missing) = (FIRST_RATE, None);
        self.rests_until = now + REST;
        self.steady_until = now + STEADY;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SACK: usize = 64;
    const LIMIT: Span = ms(20);

    const fn ms(n: u64) -> Span {
        Span::from_millis(n)
    }

    fn at(n: u64) -> Instant {
        Instant::ZERO + Span::from_secs(100) + ms(n)
    }

    /// SACKs in each millisecond of a time that the path takes; a probe is answered after `rtt`, or never. Gives their bytes.
    fn run(path: &mut Return, milliseconds: std::ops::Range<u64>, rtt: Option<Span>) -> u64 {
        let (mut bytes, mut answers) = (0, Vec::new());
        for n in milliseconds {
            let now = at(n);
            answers.retain(|&(due, nonce)| {
                if due <= now {
                    path.answered(now, nonce);
                }
                due > now
            });
            while path.takes(now, Span::ZERO) {
                bytes += SACK as u64;
                if path.wants_probe(now) {
                    path.probed(now, n, LIMIT);
                    answers.extend(rtt.map(|rtt| (now + rtt, n)));
                }
                path.carried(now, SACK);
            }
        }
        bytes
    }

    // rfc9260#section-6.4
    #[test]
    fn the_rate_begins_low_and_grows_by_half_with_each_answer_in_time() {
        assert!(run(&mut Return::new(), 0..10, Some(ms(10))) <= 2 * SACK as u64);
        let mut path = Return::new();
        run(&mut path, 0..55, Some(ms(10)));
        assert!(path.rate == FIRST_RATE * 3 / 2 && path.least() == Some(ms(10)), "{path:?}");
        let bytes = run(&mut path, 60..1060, Some(ms(10)));
        assert!(path.rate > FIRST_RATE * 100 && bytes > FIRST_RATE * 20, "{bytes} {path:?}");
    }

    #[test]
    fn a_rate_that_is_not_used_up_does_not_grow() {
        let mut path = Return::new();
        for n in 0..20 {
            let now = at(n * 60);
            assert!(path.takes(now, Span::ZERO) && path.wants_probe(now));
            path.probed(now, n, LIMIT);
            path.carried(now, SACK);
            path.answered(now + ms(5), n);
        }
        assert_eq!(path.rate, FIRST_RATE);
    }

    // rfc9260#section-6.4
    #[test]
    fn a_late_answer_quarters_the_rate_which_stays_for_three_seconds() {
        let mut path = Return::new();
        run(&mut path, 0..1000, Some(ms(10)));
        let before = path.rate;
        let now = at(1010);
        path.probe = None;
        path.probed(now, 7, LIMIT);
        path.answered(now + ms(21), 7);
        assert_eq!(path.rate, before / 4);
        run(&mut path, 1100..3900, Some(ms(10)));
        assert_eq!(path.rate, before / 4);
        run(&mut path, 4040..4200, Some(ms(10)));
        assert!(path.rate > before / 4);
    }

    #[test]
    fn a_lost_probe_costs_nothing_if_the_next_one_is_answered() {
        let mut path = Return::new();
        run(&mut path, 0..1000, Some(ms(10)));
        let before = path.rate;
        path.probe = None;
        path.probed(at(1000), 7, LIMIT);
        assert!(path.takes(at(1021), Span::ZERO) && path.wants_probe(at(1021)), "one more, with a probe");
        path.probed(at(1021), 8, LIMIT);
        assert!(!path.takes(at(1022), Span::ZERO), "and then none before it is answered");
        path.answered(at(1031), 8);
        assert!(path.takes(at(1032), Span::ZERO) && path.rate >= before);
    }

    // rfc9260#section-6.4
    #[test]
    fn a_path_that_does_not_answer_gets_few_sacks() {
        let mut path = Return::new();
        run(&mut path, 0..1000, Some(ms(10)));
        let fast = path.rate;
        let bytes = run(&mut path, 1000..11_000, None);
        assert!(bytes < fast / 8 + 20 * 5 * SACK as u64, "{bytes} bytes, at {fast} before");
        assert_eq!(path.rate, FIRST_RATE);
    }

    // rfc9260#section-6.4
    #[test]
    fn queues_of_the_data_do_not_count_as_late() {
        let mut path = Return::new();
        assert_eq!(path.limit(ms(10), ms(30)), ms(20), "half of the gain");
        assert_eq!(path.limit(ms(10), ms(400)), ms(35), "half of its round-trip time and 20 ms");
        for n in 0..50 {
            path.probed(at(n * 60), n, ms(1));
            path.answered(at(n * 60) + ms(20 + n % 2 * 4), n);
            path.rests_until = at(0);
        }
        let limit = path.limit(ms(10), ms(400));
        assert_eq!(limit, ms(35));
        assert!((ms(27)..ms(33)).contains(&path.limit(ms(10), ms(33))), "22 ± 2 ms are usual");
        assert_eq!(path.limit(ms(10), ms(24)), ms(24), "there is nothing to gain above that");
    }

    #[test]
    fn the_least_round_trip_time_is_forgotten_after_half_a_minute() {
        let mut path = Return::new();
        path.observe(at(0), ms(10));
        path.observe(at(16_000), ms(30));
        assert_eq!(path.least(), Some(ms(10)));
        path.observe(at(32_000), ms(40));
        assert_eq!(path.least(), Some(ms(30)));
    }
}
