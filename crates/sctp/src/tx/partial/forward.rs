//! Tells the peer what to skip: the Advanced.Peer.Ack.Point and FORWARD TSN (`rfc3758#section-3.5`).

use super::{ChunkState, Mark, Outstanding, Sender};
use crate::path::{PathId, Paths};
use std::collections::BTreeMap;
use units::{Instant, Span};
use wire::{ForwardTsn, PacketWriter, Ssn, StreamId};

/// Longest delay of a FORWARD TSN that waits for data to be bundled with (`rfc3758#section-3.5`, rule F3).
const LONGEST_DELAY: Span = Span::from_millis(200);

/// What made the sender look at its Advanced.Peer.Ack.Point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tx) enum Cause {
    Sack,
    Timeout,
    /// A decision of the sender: a lifetime passed, or a message made room for another one.
    Decision,
}

/// What the peer was told to skip, and when it is told again.
#[derive(Debug, Default)]
pub(in crate::tx) struct Forwarding {
    /// The Advanced.Peer.Ack.Point.
    point: u64,
    /// The first chunk above it that has not been looked at: those between are non-renegable.
    scanned: u64,
    /// The new cumulative TSN of the last FORWARD TSN.
    told: u64,
    told_at: Instant,
    /// The path of that, until the peer's cumulative TSN reaches `told`.
    told_on: Option<PathId>,
    /// That path, once the FORWARD TSN is to be repeated: it may have failed.
    avoided: Option<PathId>,
    /// When a FORWARD TSN is to be sent, if it is not bundled with data before.
    due: Option<Instant>,
}

/// Something that the receiver skips: messages of a stream up to this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Skip {
    stream: StreamId,
    unordered: bool,
    ssn: Ssn,
}

impl Sender {
    /// Moves the Advanced.Peer.Ack.Point on and decides whether a FORWARD TSN is due (rules C1 to C3 and C5).
    pub(super) fn advance_point(&mut self, now: Instant, cause: Cause, paths: &mut Paths) {
        let Some(partial) = &mut self.partial else { return };
        let forward = &mut partial.forward;
        let cum = self.out.first_index() - 1;
        forward.point = forward.point.max(cum);
        forward.scanned = forward.scanned.max(forward.point + 1);
        while forward.scanned < self.out.next_index() {
            let chunk = &self.out[forward.scanned];
            // Above the last non-renegable chunk of a message there may be others that are still to come.
            if chunk.is(Mark::Abandoned) || (chunk.state == ChunkState::Freed && chunk.is_ending()) {
                forward.point = forward.scanned;
            } else if chunk.state != ChunkState::Freed {
                break;
            }
            forward.scanned += 1;
        }
        if forward.point == cum {
            forward.due = None;
            return;
        }
        let (news, told_at, told_on) = (forward.point > forward.told, forward.told_at, forward.told_on);
        let repeat_at = |rtt: Span| told_at + rtt;
        let due = match cause {
            Cause::Timeout => Some(now),
            Cause::Decision if news && self.is_starved(paths) => Some(now),
            Cause::Decision => news.then(|| now + LONGEST_DELAY),
            Cause::Sack if news => Some(now),
            // Not more than once in a round-trip time: each FORWARD TSN brings about a SACK.
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

    /// New data waits for room at the peer, which may hold what it is to skip.
    fn is_starved(&self, paths: &Paths) -> bool {
        self.queue.head_len().is_some_and(|len| !self.peer_can_take(self.fragment_of(len), paths))
    }

    /// The path of the lowest abandoned chunk if it works as far as known, else another one that does, else the one that carries
    /// control chunks.
    fn forward_path(&self, paths: &Paths) -> PathId {
        let lowest = self.out.indices().next().map(|i| self.out[i].path);
        let avoided = self.partial.as_ref().and_then(|partial| partial.forward.avoided);
        let works = |&p: &PathId| paths[p].is_usable() && !paths[p].timed_out && avoided != Some(p);
        let other = || lowest.and_then(|p| paths.next_active(p));
        lowest
            .filter(works)
            .or_else(|| paths.ids().find(works))
            .or_else(other)
            .unwrap_or_else(|| paths.default_path())
    }

    /// True if the peer is to skip chunks that it was not seen to skip.
    fn is_forwarding(&self) -> bool {
        let point = self.partial.as_ref().map_or(0, |partial| partial.forward.point);
        self.abandons && point >= self.out.first_index()
    }

    /// T3 runs on the path of the FORWARD TSN until the cumulative TSN reaches the Advanced.Peer.Ack.Point (rule C5).
    fn guard_forward(&mut self, now: Instant, p: PathId, paths: &mut Paths) {
        if self.is_forwarding() && paths[p].t3.is_none() {
            paths[p].t3 = Some(now + self.t3_span(&paths[p]));
        }
    }

    pub(super) fn forward_deadline(&self) -> Option<Instant> {
        self.partial.as_ref()?.forward.due
    }

    /// The path on which a FORWARD TSN is to be sent now.
    #[inline]
    pub(crate) fn forward_due(&self, paths: &Paths) -> Option<PathId> {
        let due = self.partial.as_ref()?.forward.due?;
        (due <= self.now && self.is_forwarding()).then(|| self.forward_path(paths))
    }

    /// True if a packet with data for path `p` may carry a FORWARD TSN: there is news for the peer, or one is due.
    #[inline]
    pub(crate) fn forward_rides(&self, p: PathId, paths: &Paths) -> bool {
        self.partial.as_ref().is_some_and(|partial| partial.forward.due.is_some())
            && self.is_forwarding()
            && self.forward_path(paths) == p
    }

    /// Writes a FORWARD TSN; false if not even its fixed part fits. If not all streams fit, the chunk ends below the first
    /// message that is left out (rule C4).
    pub(crate) fn write_forward(&mut self, p: PathId, paths: &mut Paths, w: &mut PacketWriter<'_>) -> bool {
        let Some(room) = w.room().checked_sub(ForwardTsn::FIXED_LEN) else { return false };
        let (last, skips) = self.skips(room / ForwardTsn::SKIP_LEN);
        let Some(last) = last else { return false };
        if !w.forward_tsn(Outstanding::tsn(last), &skips) {
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

    /// The new cumulative TSN, and each stream with abandoned ordered messages with the last number that is skipped; `most`
    /// streams at most. Unordered messages need no number: their fragments are found by their TSNs.
    fn skips(&self, most: usize) -> (Option<u64>, Vec<(StreamId, Ssn)>) {
        let point = self.partial.as_ref().map_or(0, |partial| partial.forward.point);
        let (mut last, mut skips) = (None, BTreeMap::<StreamId, Ssn>::new());
        for i in self.out.first_index()..=point {
            let chunk = &self.out[i];
            if chunk.is(Mark::Abandoned) {
                let Skip { stream, unordered, ssn } = self.skip(i);
                if !unordered {
                    if skips.len() == most && !skips.contains_key(&stream) {
                        break;
                    }
                    skips.insert(stream, ssn); // numbers ascend with TSNs
                }
            }
            if chunk.is_ending() {
                last = Some(i);
            }
        }
        (last, skips.into_iter().collect())
    }

    /// What the receiver skips with chunk `i`.
    fn skip(&self, i: u64) -> Skip {
        let data = self.out.data(i);
        Skip { stream: data.stream, unordered: data.flags.unordered, ssn: data.ssn }
    }

    /// The cumulative TSN reached `cum`. The path of the last FORWARD TSN, once, if that is what it asked for.
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
