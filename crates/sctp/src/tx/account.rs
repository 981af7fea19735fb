//! Accounts for the sender's time: what kept the flow and each of its paths from sending more, and for how long.
//!
//! Each time that no further packet may be sent, the state of the sender says why. That holds until the next such time, so that
//! the cost is a look at each path for an event, and none for a packet.
//!
//! A path without room in its window is limited by that; otherwise it shares the limit of the flow, if that has no data, or
//! if the peer's window is full. The flow is limited as the path is that is nearest to sending. With one path both
//! are the same.

use super::Sender;
use crate::path::{PathId, Paths};
use transport::{Limit, LimitTimes, Stopwatch};
use units::{ByteCount, Instant};

/// The times of an association that sends.
#[derive(Debug, Default)]
pub(super) struct Account {
    flow: LimitTimes,
    /// By path; those of a path that was never confirmed are zero.
    paths: Vec<PathAccount>,
}

/// What tells at most times that the limits are still the same. Apart from the times, which are then not touched.
#[derive(Debug, Default)]
pub(super) struct Plain {
    /// What the limits follow from, if that is simple; see `plain_state`.
    state: Option<u64>,
    /// The largest receive window of the peer so far.
    largest_window: ByteCount,
}

impl Account {
    /// The limit of the flow at this time; then for each path its limit, and whether it blocks the flow.
    fn present(&self) -> (Option<Limit>, Vec<(Option<Limit>, bool)>) {
        let of_path = |path: &PathAccount| (path.limits.present(), path.blocks.since().is_some());
        (self.flow.present(), self.paths.iter().map(of_path).collect())
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct PathAccount {
    limits: LimitTimes,
    /// The flow was limited by head-of-line blocking, and the chunk that it waited for was last sent here.
    blocks: Stopwatch,
}

/// What the state of the whole sender says of all paths.
#[derive(Clone, Copy)]
enum Common {
    /// Nothing waits to be sent for the first time or again.
    NoData(Limit),
    /// New data waits for room at the peer.
    NoWindow(Limit),
    /// New data may be sent where there is room for it.
    Ready,
}

impl Sender {
    /// No further packet may be sent now: time counts from now on for what keeps the flow and each path from it.
    #[inline]
    pub(super) fn account(&mut self, paths: &Paths) {
        let window = self.peer_rwnd + paths.flight();
        let Plain { state, largest_window } = self.plain;
        let simple = state.is_some() && window <= largest_window;
        if !simple || state != self.plain_state(largest_window - window, paths) {
            self.account_anew(window, paths);
        } else {
            debug_assert!(self.is_current(window, paths), "other limits follow from the same state");
        }
    }

    /// True if accounting anew changes no limit.
    fn is_current(&mut self, window: ByteCount, paths: &Paths) -> bool {
        let before = self.account.as_deref().map(Account::present);
        self.account_anew(window, paths);
        before == self.account.as_deref().map(Account::present)
    }

    /// The state of the sender where the limits follow from little: all data is sent, or each path is kept back by its own
    /// window or by that of the peer, of which `held` bytes are taken by what the peer has. As long as the state stays the
    /// same, so do the limits.
    #[inline]
    fn plain_state(&self, held: ByteCount, paths: &Paths) -> Option<u64> {
        let waiting = self.queue.head_len();
        let waits = waiting.is_some();
        let simple = if waits {
            self.queue.head_path().is_none()
                && (self.cmt.enabled || paths.len() == 1)
                && !self.nagle_holds(paths)
        } else {
            !self.blocked && self.lost_chunks == 0
        };
        if !simple {
            return None;
        }
        // Two bits a path, and behind them what keeps paths back that have room.
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

    /// The path on which alone new data is sent; none if there is a choice.
    fn only_path(&self, paths: &Paths) -> Option<PathId> {
        let chosen = self.queue.head_path().filter(|&p| paths[p].is_active());
        chosen.or_else(|| (!self.cmt.enabled).then(|| paths.default_path()))
    }

    fn common_limit(&self, held: ByteCount, paths: &Paths) -> Common {
        let Some(waiting) = self.queue.head_len() else {
            let full = self.blocked && self.lost_chunks == 0;
            return match (full, self.lost_chunks) {
                (true, _) if self.is_blocked(self.arrived_early(paths), paths) => {
                    Common::NoData(Limit::HeadOfLine)
                }
                (true, _) => Common::NoData(Limit::SendBuffer),
                (false, 0) => Common::NoData(Limit::Application),
                (false, _) => Common::Ready,
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

    /// What keeps back `waiting` bytes of new data where a path has room for them; none if no window does.
    #[inline]
    fn closed_window(&self, waiting: usize, held: ByteCount, paths: &Paths) -> Option<Limit> {
        if !self.has_numbers() {
            return Some(Limit::SendBuffer);
        }
        if self.peer_can_take(self.fragment_of(waiting), paths) {
            return None;
        }
        let blocked = !self.gap_acked.is_empty() && self.is_blocked(held, paths);
        Some(if blocked { Limit::HeadOfLine } else { Limit::PeerWindow })
    }

    /// What limits a path; none of one that is not confirmed or was removed.
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

    /// True if `held` bytes, which wait for the earliest outstanding chunk, take more of a full buffer than what is in flight
    /// on the other paths than that chunk's.
    fn is_blocked(&self, held: ByteCount, paths: &Paths) -> bool {
        let Some(blocking) = self.blocking_path() else { return false };
        let others = paths.ids().filter(|&p| p != blocking).map(|p| paths[p].flight);
        held > others.sum()
    }

    /// Bytes in the send buffer that the peer has above the cumulative TSN and may still renege on.
    fn arrived_early(&self, paths: &Paths) -> ByteCount {
        let queued: ByteCount = paths.iter().map(|path| path.queued).sum();
        queued - paths.flight() - self.lost_bytes
    }

    /// T3 of path `p` expired: what it waited for was lost all along, since the timer was started.
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
            // Not before another path blocked the flow: that time is counted.
            let since = account.paths.iter().filter_map(|path| path.blocks.since()).fold(since, Instant::max);
            account.flow.reassign(since, Limit::Timeout);
            account.paths.iter_mut().for_each(|path| path.blocks.set(since, false));
        }
    }

    /// What limited the flow.
    pub(crate) fn limits(&self) -> LimitTimes {
        self.account.as_ref().map(|account| account.flow).unwrap_or_default()
    }

    /// What limited path `p`, and the time during which it blocked the flow.
    pub(crate) fn limits_of(&self, p: PathId) -> (LimitTimes, Stopwatch) {
        let path = self.account.as_ref().and_then(|account| account.paths.get(p.index()));
        path.map(|path| (path.limits, path.blocks)).unwrap_or_default()
    }
}
