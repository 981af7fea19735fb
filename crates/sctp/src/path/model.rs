//! The model of a path: from it the sender decides which path delivers first, and which chunk is late.
//!
//! | symbol | what | where |
//! |---|---|---|
//! | d | least RTT of the last 15 to 30 s | `path.rto` |
//! | SRTT, v | smoothed RTT and its variation | `path.rto` |
//! | μ | rate at which the path delivers | [`Path::delivered_rate`], [`Path::window_rate`] |
//! | κ | rate at which it could deliver | [`Path::possible_rate`], [`Path::window_rate`] |
//! | x | bytes in flight | `path.flight` |
//! | m | bytes that leave now | |
//! | T | time until these m bytes are acknowledged | [`Path::time_for`] |
//!
//! ```text
//! T = max(d, (x + m)/μ) + v/2
//! ```
//!
//! Up to a bandwidth-delay product in flight no packet waits in a queue, so T is d + v/2: of two equal paths
//! none waits for the other. If the application gives more data than the paths carry, the sender measures μ
//! and κ: cwnd/SRTT would be too high, since a full buffer leaves parts of the windows unused. Otherwise both
//! are cwnd/SRTT, since a path with little to send gives no measurement, and since after a loss cwnd tells
//! sooner how much the path will carry.
//!
//! A path that waits for another one delivers less than it could. μ gives the time in which its queue
//! empties, and κ the data that it could have sent during the wait. With μ for both, a fast path that waits
//! for a slow path would seem slow, and would continue to wait.
//!
//! A chunk is overdue 1.25 SRTT + 4 v after it left ([`Path::overdue`]).

use super::{LEAST_PROBE_TIMEOUT, Path};
use transport::RoundRates;
use units::{ByteCount, Instant, Span};

/// Number of round trips over which the highest rate is taken.
const ROUNDS: usize = 4;

/// Weight of the RTT variation in the time until an acknowledgement (T). The value is a guess: it
/// follows neither from the model nor from a measurement.
const VARIATION: f64 = 0.5;

/// In slow start cwnd doubles in each round trip (`rfc9260#section-7.2.1`), and the delivered rate with it.
const NEXT_ROUND: f64 = 2.0;

/// Lower bound of the least RTT (d) and of SRTT, in seconds: it only prevents a division by zero.
const LEAST_TIME: f64 = 1e-6;

/// Rates at which bytes left the flight of a path, acknowledged or lost, in its last round trips. Round trips
/// in which no bytes left the flight do not count.
///
/// The flight size divided by SRTT would be too high while a queue grows: SRTT contains the queue only later.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Delivered {
    rounds: RoundRates<ROUNDS>,
    /// As `rounds`, but only of round trips in which the path always used its cwnd, or delivered
    /// faster than in any round trip kept here.
    busy: RoundRates<ROUNDS>,
    /// In the present round trip, the path at some time had room in cwnd but did not send
    /// ([`Path::note_idle`]).
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

    /// Records that the path has room in cwnd but does not send: there is no data, the peer's receive
    /// window is full, or the scheduler prefers another path.
    pub(crate) fn note_idle(&mut self) {
        self.delivered.was_idle = true;
    }

    /// Returns true if the path is usable and T3-rtx has not expired since its last acknowledgement.
    #[inline]
    pub(crate) fn answers(&self) -> bool {
        self.is_usable() && !self.timed_out
    }

    /// μ in bytes per second: the highest delivered rate of the last round trips, or twice this rate while
    /// cwnd grows in slow start, for which at least half of cwnd must be in flight (`tcp_is_cwnd_limited` of
    /// Linux; `cc::paced` has the same rule). `None` before the first round trip.
    pub(crate) fn delivered_rate(&self) -> Option<f64> {
        let most = self.delivered.rounds.most()?;
        let grows = self.in_slow_start() && self.flight * 2 >= self.window.cwnd;
        Some(if grows { NEXT_ROUND * most } else { most })
    }

    /// κ in bytes per second: the highest delivered rate of the last round trips in which the path always
    /// used its cwnd, or twice this rate in slow start. `None` before the first round trip.
    pub(crate) fn possible_rate(&self) -> Option<f64> {
        let most = self.delivered.busy.most()?;
        Some(if self.in_slow_start() { NEXT_ROUND * most } else { most })
    }

    fn in_slow_start(&self) -> bool {
        self.window.ssthresh.is_none_or(|ssthresh| self.window.cwnd < ssthresh)
    }

    /// cwnd/SRTT in bytes per second: both rates of the model, μ and κ, while the application has
    /// little to send. `None` without an RTT sample.
    pub(crate) fn window_rate(&self) -> Option<f64> {
        self.rto.srtt().map(|srtt| self.window.cwnd.as_f64() / srtt.as_secs_f64().max(LEAST_TIME))
    }

    /// The least RTT of the last 15 to 30 s (d), in seconds; `None` without an RTT sample.
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
