//! Measures for how long each [`Limit`] (a reason that holds the sender back) applied to the flow and its
//! paths.
//!
//! Whenever no further packet may be sent, the sender derives the limits from its state. These limits hold
//! until the next calculation. Each event costs one look at each path; a packet costs nothing.
//!
//! The limit of a path is the first of these that applies: the path does not answer, no data waits, cwnd is
//! full, the peer's receive window is full, the scheduler, pacing. The limit of the flow is the first of the
//! limits of its paths, in the order of [`Limit`].

use super::Sender;
use crate::path::{PathId, Paths};
use transport::{Limit, LimitTimes, Stopwatch};
use units::{ByteCount, Instant};

/// For how long each [`Limit`] (reason that holds the sender back) applied to the flow and to each path.
#[derive(Debug, Default)]
pub(super) struct Account {
    flow: LimitTimes,
    /// By path number; all times are zero for a path whose address was never confirmed.
    paths: Vec<PathAccount>,
}

/// A summary of the sender's state. If it is unchanged after an event, no [`Limit`] (reason that holds the
/// sender back) has changed.
#[derive(Debug, Default)]
pub(super) struct Plain {
    /// The summary, if the [`Limit`]s (reasons that hold the sender back) follow from the sender's state
    /// alone: see [`Sender::plain_state`].
    state: Option<u64>,
    /// The largest receive window of the peer so far.
    largest_window: ByteCount,
}

impl Account {
    /// The present [`Limit`] (reason that holds the sender back) of the flow, and for each path its limit and
    /// whether a chunk last sent on the path blocks the flow.
    fn present(&self) -> (Option<Limit>, Vec<(Option<Limit>, bool)>) {
        let of_path = |path: &PathAccount| (path.limits.present(), path.blocks.since().is_some());
        (self.flow.present(), self.paths.iter().map(of_path).collect())
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct PathAccount {
    limits: LimitTimes,
    /// Time for which a chunk last sent on this path has blocked the flow (head-of-line blocking).
    blocks: Stopwatch,
}

/// Whether data waits and may be sent, as far as this is the same for all paths.
#[derive(Clone, Copy)]
enum Common {
    /// No data waits, neither new nor lost.
    NoData(Limit),
    /// New data waits for room in the peer's receive window.
    NoWindow(Limit),
    /// New data may be sent on a path with room for it.
    Ready,
}

impl Sender {
    /// Determines the present [`Limit`]s (reasons that hold the sender back) of the flow and of each path,
    /// when no further packet may be sent. From now on, time counts as time under these limits.
    #[inline]
    pub(super) fn account(&mut self, paths: &Paths) {
        let window = self.peer.free() + paths.flight();
        let Plain { state, largest_window } = self.plain;
        let simple = state.is_some() && window <= largest_window;
        if !simple || state != self.plain_state(largest_window - window, paths) {
            self.account_anew(window, paths);
        } else {
            debug_assert!(self.is_current(window, paths), "other limits follow from the same state");
        }
    }

    /// True if a new calculation gives the same [`Limit`]s (reasons that hold the sender back).
    fn is_current(&mut self, window: ByteCount, paths: &Paths) -> bool {
        let before = self.account.as_deref().map(Account::present);
        self.account_anew(window, paths);
        before == self.account.as_deref().map(Account::present)
    }

    /// A summary of the sender's state: two states with the same summary have the same [`Limit`]s (reasons
    /// that hold the sender back). `None` unless all data is sent, or each path is limited by its own cwnd or
    /// by the peer's receive window. `held`: number of bytes that have arrived and still take room in the
    /// peer's receive window.
    #[inline]
    fn plain_state(&self, held: ByteCount, paths: &Paths) -> Option<u64> {
        let waiting = self.queue.head_len();
        let waits = waiting.is_some();
        let simple = if waits {
            self.queue.head_path().is_none()
                && (self.cmt.enabled || paths.len() == 1)
                && !self.nagle_holds(paths)
        } else {
            !self.user.is_blocked() && !self.peer.has_lost()
        };
        if !simple {
            return None;
        }
        // The summary has one bit for waiting data, two bits for each path, and the `Limit` of paths that
        // have room.
        let (mut state, mut has_room) = (u64::from(waits), false);
        for (p, path) in paths.iter().enumerate() {
            if path.timed_out || !path.is_usable() {
                return None;
            }
            let full = path.space().is_zero();
            has_room |= !full;
            let of_path = if waits && full { 2 + u64::from(path.recovery.is_some()) } else { 1 };
            state |= of_path << (2 * p + 1);
        }
        if let Some(waiting) = waiting.filter(|_| has_room) {
            let of_peer = match self.closed_window(waiting, held, paths)? {
                Limit::HeadOfLine => 3 + self.blocking_path().map_or(0, |p| u64::from(p.0)),
                Limit::PeerWindow => 2,
                _ => 1,
            };
            state |= of_peer << (2 * Paths::LIMIT + 1);
        }
        Some(state)
    }

    #[inline(never)]
    fn account_anew(&mut self, window: ByteCount, paths: &Paths) {
        let mut account = self.account.take().unwrap_or_default();
        self.plain.largest_window = self.plain.largest_window.max(window);
        let held = self.plain.largest_window - window;
        self.plain.state = self.plain_state(held, paths);
        if account.paths.len() < paths.len() {
            account.paths.resize(paths.len(), PathAccount::default());
        }
        let common = self.common_limit(held, paths);
        let only = self.only_path(paths);
        let mut nearest = None;
        for p in paths.ids() {
            let limit = self.limit_of(p, common, paths);
            account.paths[p.index()].limits.enter(self.now, limit);
            if only.is_none_or(|only| only == p) {
                nearest = nearest.into_iter().chain(limit).min();
            }
        }
        // If no address is confirmed, the sender waits for an answer.
        let limit = nearest.unwrap_or(Limit::Timeout);
        account.flow.enter(self.now, Some(limit));
        let blocking = self.blocking_path().filter(|_| limit == Limit::HeadOfLine);
        for (p, path) in account.paths.iter_mut().enumerate() {
            path.blocks.set(self.now, blocking.is_some_and(|blocking| blocking.index() == p));
        }
        self.account = Some(account);
    }

    /// The only path that may carry new data; `None` if several paths may carry it.
    fn only_path(&self, paths: &Paths) -> Option<PathId> {
        let chosen = self.queue.head_path().filter(|&p| paths[p].is_active());
        chosen.or_else(|| (!self.cmt.enabled).then(|| paths.default_path()))
    }

    fn common_limit(&self, held: ByteCount, paths: &Paths) -> Common {
        let Some(waiting) = self.queue.head_len() else {
            let full = self.user.is_blocked() && !self.peer.has_lost();
            return match (full, self.peer.has_lost()) {
                (true, _) if self.is_blocked(self.arrived_early(paths), paths) => {
                    Common::NoData(Limit::HeadOfLine)
                }
                (true, _) => Common::NoData(Limit::SendBuffer),
                (false, false) => Common::NoData(Limit::Application),
                (false, true) => Common::Ready,
            };
        };
        if let Some(limit) = self.closed_window(waiting, held, paths) {
            return Common::NoWindow(limit);
        }
        if self.nagle_holds(paths) {
            return Common::NoData(Limit::Application);
        }
        Common::Ready
    }

    /// The [`Limit`] (reason that holds the sender back) of new data on a path with room in cwnd; `None` if
    /// the next `waiting` bytes may be sent.
    #[inline]
    fn closed_window(&self, waiting: usize, held: ByteCount, paths: &Paths) -> Option<Limit> {
        if !self.has_numbers() {
            return Some(Limit::SendBuffer);
        }
        if self.peer_can_take(self.fragment_of(waiting), paths) {
            return None;
        }
        let blocked = !self.acked.gaps.is_empty() && self.is_blocked(held, paths);
        Some(if blocked { Limit::HeadOfLine } else { Limit::PeerWindow })
    }

    /// The [`Limit`] (reason that holds the sender back) of a path; `None` for a path that is not confirmed
    /// or was removed.
    fn limit_of(&self, p: PathId, common: Common, paths: &Paths) -> Option<Limit> {
        let path = &paths[p];
        if path.is_unconfirmed() {
            return None;
        }
        let unanswered = path.timed_out && (!path.flight.is_zero() || path.has_lost());
        Some(match common {
            _ if unanswered || !path.is_usable() => Limit::Timeout,
            Common::NoData(limit) => limit,
            _ if path.space().is_zero() && path.recovery.is_some() => Limit::Recovery,
            _ if path.space().is_zero() => Limit::Cwnd,
            Common::NoWindow(limit) => limit,
            Common::Ready if self.has_room(p, paths) || path.blocked_until > self.now => Limit::Scheduler,
            Common::Ready => Limit::Pacing,
        })
    }

    /// The path on which the earliest outstanding chunk was last sent.
    pub(super) fn blocking_path(&self) -> Option<PathId> {
        (!self.out.is_empty()).then(|| self.out[self.out.first_index()].path)
    }

    /// True if a missing chunk blocks the flow: `held`, the bytes that wait at the receiver for the earliest
    /// outstanding chunk, exceeds the flight size of all paths other than the path of that chunk.
    fn is_blocked(&self, held: ByteCount, paths: &Paths) -> bool {
        let Some(blocking) = self.blocking_path() else { return false };
        let others = paths.ids().filter(|&p| p != blocking).map(|p| paths[p].flight);
        held > others.sum()
    }

    /// Bytes in the send buffer that have arrived at the peer above the cumulative TSN and are renegable.
    fn arrived_early(&self, paths: &Paths) -> ByteCount {
        let queued: ByteCount = paths.iter().map(|path| path.queued).sum();
        queued - paths.flight() - self.peer.lost_bytes()
    }

    /// Corrects the times under each [`Limit`] (reason that holds the sender back) when T3-rtx of path `p`
    /// expires: the time since the timer started counts as [`Limit::Timeout`].
    #[cold]
    pub(super) fn account_for_timeout(&mut self, now: Instant, p: PathId, paths: &Paths) {
        let only = self.only_path(paths);
        let Some(account) = &mut self.account else { return };
        let waited = paths[p].rto.current();
        let since = Instant::from_nanos(now.as_nanos().saturating_sub(waited.as_nanos()));
        let idle = |limits: &LimitTimes| limits.present() == Some(Limit::Application);
        let dead = |path: &PathAccount| path.limits.present().is_none_or(|limit| limit == Limit::Timeout);
        if let Some(path) = account.paths.get_mut(p.index()).filter(|path| !idle(&path.limits)) {
            path.limits.reassign(since, Limit::Timeout);
        }
        let alone = only.map_or_else(|| account.paths.iter().all(dead), |only| only == p);
        if alone && !idle(&account.flow) {
            // If the chunk that blocks the flow began to do so after the timer started, only the time since
            // then is reassigned: before, a chunk on another path may have blocked the flow.
            let since = account.paths.iter().filter_map(|path| path.blocks.since()).fold(since, Instant::max);
            account.flow.reassign(since, Limit::Timeout);
            account.paths.iter_mut().for_each(|path| path.blocks.set(since, false));
        }
    }

    pub(crate) fn limit(&self) -> Option<Limit> {
        self.account.as_ref()?.flow.present()
    }

    pub(crate) fn limits(&self) -> LimitTimes {
        self.account.as_ref().map(|account| account.flow).unwrap_or_default()
    }

    /// How long each [`Limit`] (a reason that holds the sender back) applied to path `p`, and how long a
    /// chunk last sent on `p` blocked the flow.
    pub(crate) fn limits_of(&self, p: PathId) -> (LimitTimes, Stopwatch) {
        let path = self.account.as_ref().and_then(|account| account.paths.get(p.index()));
        path.map(|path| (path.limits, path.blocks)).unwrap_or_default()
    }
}
