//! Reasons that keep a sender from sending more, and the time under each reason.

use units::{Instant, Span};

crate::named! {
    /// The reason that keeps a sender from sending more now. If the paths of a flow have different reasons,
    /// the first of them in this order counts for the flow.
    #[derive(PartialOrd, Ord)]
    "limit" Limit {
        /// The application: everything it gave is sent, and the send buffer has room for more.
        Application = "application",
        /// The send buffer: everything in it is sent, and there is no room for more until the peer
        /// acknowledges data.
        SendBuffer = "send-buffer",
        /// The peer's receive window.
        PeerWindow = "peer-window",
        /// Head-of-line blocking: the peer's receive window or the send buffer is full of data that arrived
        /// and waits for a chunk which is still missing.
        HeadOfLine = "head-of-line",
        /// The choice of paths: a path has room, but the scheduler, a divided buffer or a policy keeps new
        /// data from it.
        Scheduler = "scheduler",
        /// The pacer or a limit of bursts.
        Pacing = "pacing",
        /// The congestion window, outside loss recovery.
        Cwnd = "cwnd",
        /// The congestion window during loss recovery.
        Recovery = "recovery",
        /// The retransmission timer: what was in flight is lost, and the path has not answered since.
        Timeout = "timeout",
    }
}

/// Number of limits.
const LIMITS: usize = Limit::ALL.len();

/// For each reason that held a sender back (a [`Limit`]), the time during which
/// it did. The times add up to the time since the first such period began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitTimes {
    /// For each element of [`Limit::ALL`], in that order, the time
    /// during which it held the sender back, without the current period.
    ended: [Span; LIMITS],
    present: Option<(Limit, Instant)>,
}

impl LimitTimes {
    /// The reason that holds the sender back now; `None` before
    /// the first transmission and after the end of the flow.
    #[inline]
    pub fn present(&self) -> Option<Limit> {
        self.present.map(|(limit, _)| limit)
    }

    /// Records that `limit` holds the sender back from `now` on; `None` stops counting.
    #[inline]
    pub fn enter(&mut self, now: Instant, limit: Option<Limit>) {
        if self.present() != limit {
            self.change(now, limit);
        }
    }

    fn change(&mut self, now: Instant, limit: Option<Limit>) {
        if let Some((before, since)) = self.present {
            self.ended[before as usize] += now.since(since);
        }
        self.present = limit.map(|limit| (limit, now));
    }

    /// Counts the current period under `limit` from `since`
    /// on, because the reason for the wait is known only now.
    pub fn reassign(&mut self, since: Instant, limit: Limit) {
        if let Some((_, begun)) = self.present {
            self.change(since.max(begun), Some(limit));
        }
    }

    /// A copy that also counts the current period, up to `now`.
    #[must_use]
    pub fn until(mut self, now: Instant) -> Self {
        self.change(now, self.present());
        self
    }

    /// The time during which `limit` held the sender back, without the current
    /// period. A copy made by [`Self::until`] includes the current period.
    pub fn of(&self, limit: Limit) -> Span {
        self.ended[limit as usize]
    }

    /// The sum of the times of all limits.
    pub fn total(&self) -> Span {
        self.ended.iter().fold(Span::ZERO, |sum, &time| sum + time)
    }

    /// For each [`Limit`], the fraction of the time since `before` in
    /// which it held the sender back; `None` if no time has passed.
    pub fn shares_since(&self, before: &LimitTimes) -> Option<impl Iterator<Item = (Limit, f64)>> {
        let grown = |limit| self.of(limit).saturating_sub(before.of(limit)).as_nanos();
        let grown: [u64; LIMITS] = std::array::from_fn(|i| grown(Limit::ALL[i]));
        let total: u64 = grown.iter().sum();
        let share = move |(&limit, time): (&Limit, u64)| (limit, time as f64 / total as f64);
        (total > 0).then(|| Limit::ALL.iter().zip(grown).map(share))
    }
}

/// Measures the total time during which a condition held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stopwatch {
    ended: Span,
    since: Option<Instant>,
}

impl Stopwatch {
    /// Records whether the condition holds from `now` on.
    #[inline]
    pub fn set(&mut self, now: Instant, holds: bool) {
        if self.since.is_some() != holds {
            if let Some(since) = self.since {
                self.ended += now.since(since);
            }
            self.since = holds.then_some(now);
        }
    }

    /// A copy with the time counted up to `now`.
    #[must_use]
    pub fn until(mut self, now: Instant) -> Self {
        let holds = self.since.is_some();
        self.set(now, false);
        self.set(now, holds);
        self
    }

    /// Time from which the condition has held without a break; `None` if it does not hold now.
    pub fn since(&self) -> Option<Instant> {
        self.since
    }

    /// The total time, without a period that has not ended.
    /// A copy made by [`Self::until`] includes this period.
    pub fn time(&self) -> Span {
        self.ended
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Instant {
        Instant::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn times_add_up_to_the_time_since_the_first_limit() {
        let mut times = LimitTimes::default();
        times.enter(at(100), Some(Limit::Cwnd));
        times.enter(at(150), Some(Limit::Cwnd));
        times.enter(at(200), Some(Limit::Application));
        times.enter(at(200), Some(Limit::PeerWindow));
        let read = times.until(at(260));
        let [cwnd, window, application] =
            [Limit::Cwnd, Limit::PeerWindow, Limit::Application].map(|limit| read.of(limit));
        assert_eq!((cwnd, window), (Span::from_millis(100), Span::from_millis(60)));
        assert_eq!((application, read.total()), (Span::ZERO, Span::from_millis(160)));
        assert_eq!(times.present(), Some(Limit::PeerWindow), "to read it does not stop it");
        assert_eq!(read.until(at(270)), times.until(at(270)), "nor does it count anything twice");
    }

    #[test]
    fn an_expired_timer_takes_the_time_since_it_was_started() {
        let mut times = LimitTimes::default();
        times.enter(at(0), Some(Limit::Cwnd));
        times.reassign(at(300), Limit::Timeout);
        let read = times.until(at(1000));
        assert_eq!(read.of(Limit::Cwnd), Span::from_millis(300));
        assert_eq!(read.of(Limit::Timeout), Span::from_millis(700));
        // The time that is reassigned begins with the current limit at the earliest.
        let mut short = LimitTimes::default();
        short.enter(at(0), Some(Limit::Application));
        short.enter(at(500), Some(Limit::Cwnd));
        short.reassign(at(300), Limit::Timeout);
        assert_eq!(short.until(at(900)).of(Limit::Application), Span::from_millis(500));
        assert_eq!(short.until(at(900)).of(Limit::Timeout), Span::from_millis(400));
    }

    #[test]
    fn shares_are_those_of_the_time_between_two_readings() {
        let mut times = LimitTimes::default();
        times.enter(at(0), Some(Limit::Cwnd));
        let before = times.until(at(100));
        times.enter(at(175), Some(Limit::Recovery));
        let shares: Vec<_> = times.until(at(200)).shares_since(&before).expect("time passed").collect();
        let of = |limit| shares.iter().find(|(one, _)| *one == limit).map(|&(_, share)| share);
        assert_eq!(
            (of(Limit::Cwnd), of(Limit::Recovery), of(Limit::Pacing)),
            (Some(0.75), Some(0.25), Some(0.0))
        );
        assert!(before.shares_since(&before).is_none());
    }

    #[test]
    fn a_stopwatch_adds_the_stretches_in_which_it_is_set() {
        let mut watch = Stopwatch::default();
        watch.set(at(10), true);
        watch.set(at(15), true);
        watch.set(at(30), false);
        watch.set(at(50), true);
        assert_eq!(watch.until(at(55)).time(), Span::from_millis(25));
    }
}
