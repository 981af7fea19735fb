//! The model of a path: from it the sender decides which path delivers first, and which chunk is late.
//!
//! | symbol | what | where |
//! |---|---|---|
//! | d | least RTT of the last 15 to 30 s | `path.rto` |
//! | SRTT, v | smoothed RTT and its variation | `path.rto` |
//! | μ | rate at which the path delivers | [`Path::delivered_rate`], [`Path::window_rate`] |
//! | κ | rate at which it could deliver | [`Path::possible_rate`], [`Path::window_rate`] |
//! | x | bytes in flight | `path.flight` |
//! | T | time until bytes that leave now are acknowledged | [`Path::time_for`] |
//!
//! ```text
//! T = max(d, (x + m)/μ) + v/2
//! ```
//!
//! Up to a bandwidth-delay product in flight nothing queues, so T is d: of two equal paths none waits for the
//! other. Where the application gives more than the paths carry, μ and κ are measured: with a full buffer
//! cwnd/SRTT would be too high, since parts of the windows are unused. Elsewhere both are cwnd/SRTT, since a
//! path with little to send measures nothing, and after a loss the window tells sooner what the path will
//! carry.
//!
//! A path that waits for another one delivers less than it could. μ says how long its queue takes, and κ what
//! the wait costs. With μ for both, a fast path that waits for a slow one would seem slow, and go on waiting.
//!
//! A chunk is overdue 1.25 SRTT + 4 v after it left ([`Path::overdue`]).

use super::{LEAST_PROBE_TIMEOUT, Path};
use transport::RoundRates;
use units::{ByteCount, Instant, Span};

/// Number of round trips over which the highest rate is taken.
const ROUNDS: usize = 4;

/// Weight of the RTT variation in T. It does not follow from the model, and was not measured by itself.
const VARIATION: f64 = 0.5;

/// In slow start cwnd doubles in each round trip (`rfc9260#section-7.2.1`), and the delivered rate with it.
const NEXT_ROUND: f64 = 2.0;

/// Lower bound of d and of SRTT, in seconds: it only prevents a division by zero.
const LEAST_TIME: f64 = 1e-6;

/// Rates at which bytes left a path in its last round trips: they were acknowledged or lost. Round trips in
/// which no bytes left do not count.
///
/// The flight size divided by SRTT would be too high while a queue grows, since SACKs show the queue later.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivered {
    rounds: RoundRates<ROUNDS>,
    /// Round trips in which the path always used its window, and those in which it delivered more.
    busy: RoundRates<ROUNDS>,
    /// The path had room and nothing to send, in the present round trip.
    was_idle: bool,
}

impl Path {
    /// Measures the delivered rate after a SACK. While the path does not answer, the rates measured before
    /// are kept.
    #[inline]
    pub(crate) fn measure_rate(&mut self, now: Instant) {
        let Some(srtt) = self.rto.srtt().filter(|_| self.answers()) else {
            return self.delivered.rounds.pause();
        };
        let gone = (self.stats.user_bytes - self.flight).get();
        let Delivered { rounds, busy, was_idle } = &mut self.delivered;
        let Some(rate) = rounds.update(now, gone, srtt).filter(|&rate| rate > 0.0) else { return };
        rounds.keep(rate);
        if !std::mem::take(was_idle) || busy.most().is_none_or(|most| rate > most) {
            busy.keep(rate);
        }
    }

    /// Records that the path has room, but may not send: there is no data, the peer's window is full, or the
    /// scheduler chose so.
    pub(crate) fn note_idle(&mut self) {
        self.delivered.was_idle = true;
    }

    /// Returns true if the path is active and nothing on it waits for an answer that is late.
    #[inline]
    pub(crate) fn answers(&self) -> bool {
        self.is_usable() && !self.timed_out
    }

    /// μ in bytes per second: the highest delivered rate of the last round trips, twice that while slow start
    /// lets the window grow: at least half of it is in flight, as `tcp_is_cwnd_limited` of Linux asks and
    /// pacing here, too. `None` before the first round trip.
    pub(crate) fn delivered_rate(&self) -> Option<f64> {
        let most = self.delivered.rounds.most()?;
        let grows = self.in_slow_start() && self.flight * 2 >= self.window.cwnd;
        Some(if grows { NEXT_ROUND * most } else { most })
    }

    /// κ in bytes per second: the highest delivered rate of the last round trips in which the path was not
    /// kept waiting, twice that in slow start. `None` before the first round trip.
    pub(crate) fn possible_rate(&self) -> Option<f64> {
        let most = self.delivered.busy.most()?;
        Some(if self.in_slow_start() { NEXT_ROUND * most } else { most })
    }

    fn in_slow_start(&self) -> bool {
        self.window.ssthresh.is_none_or(|ssthresh| self.window.cwnd < ssthresh)
    }

    /// μ and κ in bytes per second if the window is used: cwnd/SRTT. `None` without an RTT sample.
    pub(crate) fn window_rate(&self) -> Option<f64> {
        self.rto.srtt().map(|srtt| self.window.cwnd.as_f64() / srtt.as_secs_f64().max(LEAST_TIME))
    }

    /// d in seconds; `None` without an RTT sample.
    pub(crate) fn least_time(&self) -> Option<f64> {
        self.rto.base().map(|base| base.as_secs_f64().max(LEAST_TIME))
    }

    /// T in seconds: the time until `bytes` that leave now, behind those in flight, are acknowledged, if the
    /// path delivers at this rate. `None` without an RTT sample.
    pub(crate) fn time_for(&self, bytes: ByteCount, rate: Option<f64>) -> Option<f64> {
        let queue = rate.map_or(0.0, |rate| (self.flight + bytes).as_f64() / rate);
        Some(self.least_time()?.max(queue) + VARIATION * self.rto.variation().as_secs_f64())
    }

    /// Age at which a chunk or copy is presumed lost: 1.25 SRTT + 4 RTTVAR, at least [`LEAST_PROBE_TIMEOUT`].
    pub(crate) fn overdue(&self) -> Span {
        let expected = |srtt| srtt + srtt / 4 + self.rto.variation() * 4;
        self.rto.srtt().map_or(self.rto.current(), expected).max(LEAST_PROBE_TIMEOUT)
    }
}
