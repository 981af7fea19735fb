//! The Advanced.Peer.Ack.Point and FORWARD TSN: the peer skips abandoned chunks (`rfc3758#section-3.5`).

use super::{ChunkState, Mark, Outstanding, Sender};
use crate::path::{PathId, Paths};
use std::collections::BTreeMap;
use units::{Instant, Span};
use wire::{ForwardTsn, IForwardTsn, PacketWriter, SkippedMessage, Ssn, StreamId};

/// Longest time that a FORWARD TSN waits to be bundled with data (`rfc3758#section-3.5`, rule F3).
const LONGEST_DELAY: Span = Span::from_millis(200);

/// The event after which the sender checks its Advanced.Peer.Ack.Point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tx) enum Cause {
    Sack,
    Timeout,
    /// The sender abandoned a message because its lifetime passed or another message needed room.
    Decision,
}

/// State of the FORWARD TSNs: the last one, and the next one.
#[derive(Debug, Default)]
pub(in crate::tx) struct Forwarding {
    /// The Advanced.Peer.Ack.Point.
    point: u64,
    /// The first chunk not checked yet. The chunks between the Advanced.Peer.Ack.Point and this one are
    /// non-renegable.
    scanned: u64,
    /// The last abandoned chunk below `scanned`.
    abandoned: u64,
    /// The last non-renegable chunk below `scanned`.
    non_renegable: u64,
    /// The new cumulative TSN of the last FORWARD TSN.
    told: u64,
    told_at: Instant,
    /// The path of the last FORWARD TSN, until the cumulative TSN of the peer reaches `told`.
    told_on: Option<PathId>,
    /// A path on which a FORWARD TSN was not answered: it may have failed, and the next one takes another.
    avoided: Option<PathId>,
    /// Time at which a FORWARD TSN must be sent, unless it is bundled with data earlier.
    due: Option<Instant>,
}

impl Sender {
    /// Advances the Advanced.Peer.Ack.Point and decides whether a FORWARD TSN is due (`rfc3758#section-3.5`,
    /// rules C1 to C3 and C5).
    pub(super) fn advance_point(&mut self, now: Instant, cause: Cause, paths: &mut Paths) {
        let Some(partial) = &mut self.partial else { return };
        let forward = &mut partial.forward;
        let cum = self.out.first_index() - 1;
        forward.point = forward.point.max(cum);
        forward.scanned = forward.scanned.max(forward.point + 1);
        while forward.scanned < self.out.next_index() {
            let chunk = &self.out[forward.scanned];
            // If a non-renegable chunk does not end its message, more chunks of the message may follow. So
            // the Advanced.Peer.Ack.Point does not move to this chunk.
            if chunk.is(Mark::Abandoned) {
                (forward.point, forward.abandoned) = (forward.scanned, forward.scanned);
            } else if chunk.state == ChunkState::Freed {
                forward.non_renegable = forward.scanned;
                if chunk.is_ending() {
                    forward.point = forward.scanned;
                }
            } else {
                break;
            }
            forward.scanned += 1;
        }
        if forward.point == cum {
            forward.due = None;
            return;
        }
        // Non-renegable chunks need no FORWARD TSN: the peer has them.
        let (news, told_at, told_on) = (forward.abandoned > forward.told, forward.told_at, forward.told_on);
        let repeat_at = |rtt: Span| told_at + rtt;
        let due = match cause {
            Cause::Timeout => Some(now),
            Cause::Decision if news && (self.is_starved(paths) || self.is_ending()) => Some(now),
            Cause::Decision => news.then(|| now + LONGEST_DELAY),
            Cause::Sack if news => Some(now),
            // The FORWARD TSN is repeated at most once per round-trip time, since each one causes a SACK.
            Cause::Sack => {
                let path = &paths[told_on.unwrap_or_else(|| self.forward_path(paths))];
                let rtt = path.rto.srtt().unwrap_or(path.rto.current());
                (repeat_at(rtt) <= now).then_some(now)
            }
        };
        self.set_due(due);
        if due.is_some()
            && !news
            && let Some(partial) = &mut self.partial
        {
            partial.forward.avoided = told_on;
        }
        let p = self.forward_path(paths);
        self.guard_forward(now, p, paths);
    }

    fn set_due(&mut self, at: Option<Instant>) {
        if let (Some(partial), Some(at)) = (&mut self.partial, at) {
            let due = &mut partial.forward.due;
            *due = Some(due.map_or(at, |before| before.min(at)));
        }
    }

    /// Repeats the last FORWARD TSN at once, since the peer reported that it arrived damaged.
    pub(crate) fn repeat_forward(&mut self, now: Instant) {
        if self.is_forwarding() {
            self.set_due(Some(now));
        }
    }

    /// True if new data waits for room in the peer's receive buffer, which chunks to be skipped may fill.
    fn is_starved(&self, paths: &Paths) -> bool {
        self.queue.head_len().is_some_and(|len| !self.peer_can_take(self.fragment_of(len), paths))
    }

    /// True if the user has closed the association and all data was sent: no data can carry a FORWARD TSN.
    fn is_ending(&self) -> bool {
        self.user.is_closing() && self.queue.is_empty() && !self.queue.has_held()
    }

    /// Counts abandoned chunks as acknowledged if no other chunks are outstanding and a FORWARD TSN was sent.
    /// So the shutdown does not wait for the answer (`rfc3758#section-3.5`, rule A2). The shutdown does wait
    /// if the peer has non-renegable chunks that it may deliver only after the FORWARD TSN.
    pub(crate) fn acknowledge_skipped(&mut self, now: Instant, paths: &mut Paths) {
        let Some(forward) = self.partial.as_ref().map(|partial| &partial.forward) else { return };
        let (last, first) = (self.out.next_index() - 1, self.out.first_index());
        if forward.told == last && forward.non_renegable < first && first <= last && self.is_ending() {
            self.take_skipped(now, last, paths);
        }
    }

    /// The path for a FORWARD TSN: the path of the lowest outstanding chunk if that path works, else another
    /// path that works, else the next active path, else the default path. The avoided path does not count as
    /// working.
    fn forward_path(&self, paths: &Paths) -> PathId {
        let lowest = self.out.indices().next().map(|i| self.out[i].path);
        let avoided = self.partial.as_ref().and_then(|partial| partial.forward.avoided);
        let works = |&p: &PathId| {
            paths[p].is_usable() && !paths[p].timed_out && avoided != Some(p) && !paths.is_spared(p)
        };
        let other = || lowest.and_then(|p| paths.next_active(p));
        lowest
            .filter(works)
            .or_else(|| paths.ids().find(works))
            .or_else(other)
            .unwrap_or_else(|| paths.default_path())
    }

    /// True if the peer has not confirmed yet that it skipped all chunks up to the Advanced.Peer.Ack.Point.
    fn is_forwarding(&self) -> bool {
        let point = self.partial.as_ref().map_or(0, |partial| partial.forward.point);
        self.abandons && point >= self.out.first_index()
    }

    /// Runs T3-rtx on the path of the FORWARD TSN until the cumulative TSN reaches the
    /// Advanced.Peer.Ack.Point (rule C5).
    fn guard_forward(&mut self, now: Instant, p: PathId, paths: &mut Paths) {
        if self.is_forwarding() && paths[p].t3.is_none() {
            paths[p].t3 = Some(now + paths[p].rto.current());
        }
    }

    pub(super) fn forward_deadline(&self) -> Option<Instant> {
        self.partial.as_ref()?.forward.due
    }

    /// The path on which a FORWARD TSN must be sent now; `None` if no FORWARD TSN is due.
    #[inline]
    pub(crate) fn forward_due(&self, paths: &Paths) -> Option<PathId> {
        let due = self.partial.as_ref()?.forward.due?;
        (due <= self.now && self.is_forwarding()).then(|| self.forward_path(paths))
    }

    /// True if a packet with data on path `p` may carry a FORWARD TSN, because one is due now or later.
    #[inline]
    pub(crate) fn forward_rides(&self, p: PathId, paths: &Paths) -> bool {
        self.partial.as_ref().is_some_and(|partial| partial.forward.due.is_some())
            && self.is_forwarding()
            && self.forward_path(paths) == p
    }

    /// The chunk type of a FORWARD TSN or I-FORWARD-TSN, and its length with one message
    /// (`rfc8260#section-2.3.1`).
    pub(crate) fn forward_kind(&self) -> (u8, usize) {
        match self.out.is_interleaved() {
            true => (IForwardTsn::TYPE, IForwardTsn::len_of(1)),
            false => (ForwardTsn::TYPE, ForwardTsn::FIXED_LEN + ForwardTsn::SKIP_LEN),
        }
    }

    /// Writes a FORWARD TSN or I-FORWARD-TSN. Returns false if its fixed part does not fit. If not all
    /// messages fit, the new cumulative TSN is below the first message that is left out (rule C4).
    pub(crate) fn write_forward(&mut self, p: PathId, paths: &mut Paths, w: &mut PacketWriter<'_>) -> bool {
        let (fixed, each) = match self.out.is_interleaved() {
            true => (IForwardTsn::FIXED_LEN, SkippedMessage::LEN),
            false => (ForwardTsn::FIXED_LEN, ForwardTsn::SKIP_LEN),
        };
        let Some(room) = w.room().checked_sub(fixed) else { return false };
        let (last, skips) = self.skips(room / each);
        let Some(last) = last else { return false };
        if !self.write_skips(last, &skips, w) {
            return false;
        }
        if let Some(partial) = &mut self.partial {
            let forward = &mut partial.forward;
            (forward.told, forward.told_at, forward.told_on) = (last, self.now, Some(p));
            forward.due = None;
        }
        self.guard_forward(self.now, p, paths);
        true
    }

    fn write_skips(&self, last: u64, skips: &[SkippedMessage], w: &mut PacketWriter<'_>) -> bool {
        let last = Outstanding::tsn(last);
        if self.out.is_interleaved() {
            return w.i_forward_tsn(last, skips);
        }
        // The stream sequence number is the lower half of the message identifier.
        let skips: Vec<_> = skips.iter().map(|skip| (skip.stream, Ssn(skip.mid.0 as u16))).collect();
        w.forward_tsn(last, &skips)
    }

    /// Returns the new cumulative TSN, and at most `most` skipped messages: the last ordered message of each
    /// stream, and with interleaving also the last unordered one. Without interleaving, the peer finds the
    /// fragments of unordered messages by their TSNs.
    fn skips(&self, most: usize) -> (Option<u64>, Vec<SkippedMessage>) {
        let interleaved = self.out.is_interleaved();
        let point = self.partial.as_ref().map_or(0, |partial| partial.forward.point);
        let (mut last, mut skips) = (None, BTreeMap::<(StreamId, bool), SkippedMessage>::new());
        for i in self.out.first_index()..=point {
            let chunk = &self.out[i];
            if chunk.is(Mark::Abandoned) {
                let skip = self.out.skipped(i);
                if interleaved || !skip.unordered {
                    let key = (skip.stream, skip.unordered);
                    if skips.len() == most && !skips.contains_key(&key) {
                        break;
                    }
                    skips.insert(key, skip); // numbers ascend with TSNs
                }
            }
            if interleaved || chunk.is_ending() {
                last = Some(i);
            }
        }
        (last, skips.into_values().collect())
    }

    /// Returns the path of the last FORWARD TSN, once, if the cumulative TSN `cum` answers it.
    #[inline]
    pub(in crate::tx) fn forward_answered(&mut self, cum: u64) -> Option<PathId> {
        let forward = &mut self.partial.as_mut()?.forward;
        if cum < forward.told {
            return None;
        }
        forward.avoided = None;
        forward.told_on.take()
    }
}
