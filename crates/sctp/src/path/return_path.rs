//! Rate of the SACKs that a fast path carries for data of slower paths.
//!
//! A SACK is worth more the earlier it arrives. But the link of the fastest return path may be narrow, and
//! its rate is unknown. So the rate r of these SACKs begins low. At times this end bundles a HEARTBEAT
//! with one of these SACKs as a probe. The time until the HEARTBEAT ACK shows whether there is a queue:
//!
//! ```text
//! r ← 3/2 r   if SACKs used up r and the answer came within T
//! r ← r/4     if the answer came later, or not at all
//! T = l + (o - l)/2
//! ```
//!
//! l is the least round-trip time of this path, o that of the path on which the data arrived. After a late or
//! missing answer the path carries none of these SACKs for T, or for half a second if r is the first rate.

use transport::LeastRtt;
use units::{Instant, Span};

/// First rate in bytes per second: one SACK per interval between probes.
const FIRST_RATE: u64 = 1250;
/// Least time between two probes (HEARTBEATs bundled with a SACK).
const PROBE_INTERVAL: Span = Span::from_millis(50);
/// Time for which a path carries no SACKs for data of other paths after a late answer at the first rate.
const REST: Span = Span::from_millis(500);

#[derive(Debug)]
pub(crate) struct ReturnRate {
    /// Least RTT of heartbeats.
    least: LeastRtt,
    /// Time of the last SACK sent on this path, for data of any path.
    pub(crate) last: Instant,
    /// Bytes per second.
    rate: u64,
    /// `next`: time from which the rate allows a SACK for data of another path. `taken`: time of the
    /// last such SACK.
    next: Instant,
    taken: Instant,
    /// Since the last probe, a SACK was not sent on this path because it would have exceeded `rate`.
    used_up: bool,
    probe: Option<ReturnProbe>,
    next_probe: Instant,
    rests_until: Instant,
}

#[derive(Clone, Copy, Debug)]
struct ReturnProbe {
    nonce: u64,
    sent: Instant,
    /// An answer that takes longer than this is late.
    limit: Span,
}

impl ReturnRate {
    pub(crate) fn new() -> Self {
        ReturnRate {
            least: LeastRtt::default(),
            last: Instant::ZERO,
            rate: FIRST_RATE,
            next: Instant::ZERO,
            taken: Instant::ZERO,
            used_up: false,
            probe: None,
            next_probe: Instant::ZERO,
            rests_until: Instant::ZERO,
        }
    }

    /// The least RTT of heartbeats in the last 15 to 30 s.
    pub(crate) fn least(&self) -> Option<Span> {
        self.least.get()
    }

    /// Adds the RTT of an answered heartbeat.
    pub(crate) fn observe(&mut self, now: Instant, rtt: Span) {
        self.least.sample(now, rtt);
    }

    /// Returns true if this path may carry a SACK for data of another path now. Between two such SACKs at
    /// least the time `apart` passes.
    pub(crate) fn takes(&mut self, now: Instant, apart: Span) -> bool {
        if let Some(late) = self.probe.take_if(|probe| now.since(probe.sent) > probe.limit) {
            self.slow_down(now, late.limit);
        }
        if now < self.rests_until || now < self.taken + apart {
            return false;
        }
        let has_room = now >= self.next;
        self.used_up |= !has_room;
        has_room
    }

    /// Returns true if a probe should be bundled with the next SACK for data of another path.
    pub(crate) fn wants_probe(&self, now: Instant) -> bool {
        self.probe.is_none() && now >= self.next_probe
    }

    /// Records a SACK for data of another path, with this number of bytes.
    pub(crate) fn carried(&mut self, now: Instant, bytes: usize) {
        let takes = Span::from_nanos(bytes as u64 * 1_000_000_000 / self.rate);
        self.next = self.next.max(now) + takes;
        self.taken = now;
    }

    /// Records a probe; its answer is late after `limit`.
    pub(crate) fn probed(&mut self, now: Instant, nonce: u64, limit: Span) {
        self.probe = Some(ReturnProbe { nonce, sent: now, limit });
        self.next_probe = now + PROBE_INTERVAL;
        self.used_up = false;
    }

    /// Processes the answer to the probe with this nonce, and adapts the rate of SACKs for data of
    /// other paths.
    pub(crate) fn answered(&mut self, now: Instant, nonce: u64) {
        let Some(probe) = self.probe.take_if(|probe| probe.nonce == nonce) else { return };
        let rtt = now.since(probe.sent);
        self.observe(now, rtt);
        if rtt > probe.limit {
            self.slow_down(now, probe.limit);
        } else if self.used_up {
            self.rate += self.rate / 2;
        }
    }

    fn slow_down(&mut self, now: Instant, pause: Span) {
        self.rests_until = now + if self.rate == FIRST_RATE { REST } else { pause };
        self.rate = (self.rate / 4).max(FIRST_RATE);
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

    /// Offers SACKs in each millisecond until the path takes no more. Each probe is answered after `rtt`, or
    /// never. Returns the bytes carried.
    fn run(path: &mut ReturnRate, milliseconds: std::ops::Range<u64>, rtt: Option<Span>) -> u64 {
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
        assert!(run(&mut ReturnRate::new(), 0..10, Some(ms(10))) <= 2 * SACK as u64);
        let mut path = ReturnRate::new();
        run(&mut path, 0..55, Some(ms(10)));
        assert!(path.rate == FIRST_RATE * 3 / 2 && path.least() == Some(ms(10)), "{path:?}");
        let bytes = run(&mut path, 60..1060, Some(ms(10)));
        assert!(path.rate > FIRST_RATE * 100 && bytes > FIRST_RATE * 20, "{bytes} {path:?}");
    }

    #[test]
    fn a_rate_that_is_not_used_up_does_not_grow() {
        let mut path = ReturnRate::new();
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
    fn a_late_answer_and_a_missing_one_quarter_the_rate() {
        for answered in [true, false] {
            let mut path = ReturnRate::new();
            run(&mut path, 0..1000, Some(ms(10)));
            let before = path.rate;
            path.probe = None;
            path.probed(at(1010), 7, LIMIT);
            if answered {
                path.answered(at(1031), 7);
            }
            assert!(!path.takes(at(1031), Span::ZERO), "it rests");
            assert_eq!(path.rate, before / 4);
            assert!(path.takes(at(1060), Span::ZERO) && path.wants_probe(at(1060)));
        }
    }

    // rfc9260#section-6.4
    #[test]
    fn a_path_that_does_not_answer_gets_few_sacks() {
        let mut path = ReturnRate::new();
        run(&mut path, 0..1000, Some(ms(10)));
        let fast = path.rate;
        let bytes = run(&mut path, 1000..11_000, None);
        assert!(bytes < fast / 8 + 20 * 5 * SACK as u64, "{bytes} bytes, at {fast} before");
        assert_eq!(path.rate, FIRST_RATE);
    }

    #[test]
    fn the_least_round_trip_time_is_forgotten_after_half_a_minute() {
        let mut path = ReturnRate::new();
        path.observe(at(0), ms(10));
        path.observe(at(16_000), ms(30));
        assert_eq!(path.least(), Some(ms(10)));
        path.observe(at(32_000), ms(40));
        assert_eq!(path.least(), Some(ms(30)));
    }
}
