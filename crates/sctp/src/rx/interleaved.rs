//! Reassembly by message identifier and fragment sequence number for I-DATA (`rfc8260#section-2.2.3`).
//!
//! [`Reassembly`](super::reassembly::Reassembly) joins fragments of successive TSNs. With I-DATA,
//! fragments of several messages may be interleaved: the stream, the U bit and the MID identify the
//! message. TSNs do not show which fragments are neighbours.

use super::fragments::{Chain, Fragments};
use super::reassembly::{Outcome, Piece};
use super::window::ChunkCost;
use crate::message::Payload;
use crate::per_stream::StreamSet;
use crate::steps::{count_paid, count_search};
use std::collections::BTreeMap;
use units::ByteCount;
use wire::{IData, Mid, Ppid, SkippedMessage, StreamId};

/// Identifies a message: ordered and unordered messages of a stream have separate MIDs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct MessageKey {
    pub(super) stream: StreamId,
    pub(super) unordered: bool,
    mid: u32,
}

impl MessageKey {
    fn of(data: &IData<'_>) -> Self {
        MessageKey { stream: data.stream, unordered: data.flags.unordered, mid: data.mid.0 }
    }

    pub(super) fn mid(&self) -> Mid {
        Mid(self.mid)
    }
}

/// Identifies a fragment: its message, and its fragment sequence number.
type FragmentKey = (MessageKey, u32);

/// Fragments of incomplete messages. Each fragment counts in the receive buffer.
#[derive(Debug)]
pub(super) struct Interleaved {
    /// Runs of successive fragments, by the first fragment of the run. No two runs are adjacent.
    runs: BTreeMap<FragmentKey, Run>,
    /// The messages in `runs` whose first fragment has arrived, by the TSN index of that fragment.
    heads: BTreeMap<u64, MessageKey>,
    /// The message in partial delivery of each stream: at most one per stream (`rfc8260#section-2.2.2`).
    partial: BTreeMap<StreamId, Partial>,
    /// The last unordered message that was skipped in each stream, and the cumulative TSN at that time.
    skipped: BTreeMap<StreamId, (Mid, u64)>,
    fragments: Fragments,
    cost: ChunkCost,
}

/// Number of TSNs after which MIDs of a stream may no longer be comparable. Each message takes at least one
/// TSN, so within this number of TSNs the MIDs advance by at most half of their range.
const HALF_CIRCLE: u64 = 1 << 31;

/// Successive fragments of one message.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// Fragment sequence number of the last fragment.
    last: u32,
    ending: bool,
    length: u32,
    cost: u32,
    chain: Chain,
    /// Payload protocol identifier, if the run begins the message.
    ppid: Ppid,
    /// Index of the TSN of the first fragment, if the run begins the message.
    tsn: u64,
}

/// A message in partial delivery: all fragments before the first missing one are delivered.
#[derive(Clone, Copy, Debug)]
struct Partial {
    key: MessageKey,
    /// The first missing fragment.
    next: u32,
    ppid: Ppid,
    tsn: u64,
}

impl Interleaved {
    pub(super) fn new(cost: ChunkCost, receive_buffer: ByteCount) -> Self {
        Interleaved {
            runs: BTreeMap::new(),
            heads: BTreeMap::new(),
            partial: BTreeMap::new(),
            skipped: BTreeMap::new(),
            fragments: Fragments::new(receive_buffer),
            cost,
        }
    }

    /// Returns true if no fragment waits for others.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.runs.is_empty() && self.partial.is_empty()
    }

    /// Number of waiting runs plus number of partial deliveries.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.runs.len() + self.partial.len()
    }

    /// Checks a new chunk against the other fragments of its message (`rfc8260#section-2.2.3`). The error
    /// text names the contradiction.
    pub(super) fn check(&self, data: &IData<'_>) -> Result<(), &'static str> {
        let (key, fsn) = (MessageKey::of(data), data.fsn);
        if fsn == 0 && !data.flags.beginning {
            return Err("a fragment that does not begin its message has fragment sequence number 0");
        }
        let handed_out = self.partial.get(&key.stream).filter(|partial| partial.key == key);
        let before = self.at_most(key, fsn);
        if handed_out.is_some_and(|partial| fsn < partial.next) || before.is_some_and(|run| run.last >= fsn) {
            return Err("a fragment sequence number is used twice");
        }
        let highest = self.at_most(key, u32::MAX);
        if highest.is_some_and(|run| if run.last > fsn { data.flags.ending } else { run.ending }) {
            return Err("a fragment lies beyond the end of its message");
        }
        Ok(())
    }

    /// Of the runs of a message that begin at or below `fsn`, returns the highest.
    fn at_most(&self, key: MessageKey, fsn: u32) -> Option<&Run> {
        count_search(self.runs.len());
        let run = self.runs.range(..=(key, fsn)).next_back();
        run.filter(|&((other, _), _)| *other == key).map(|(_, run)| run)
    }

    /// Adds a fragment that passed [`Self::check`]. `index` is the index of its TSN.
    pub(super) fn insert(&mut self, index: u64, data: &IData<'_>) -> Outcome {
        let (key, mut first) = (MessageKey::of(data), data.fsn);
        let mut run = Run {
            last: first,
            ending: data.flags.ending,
            length: data.payload.len() as u32,
            cost: self.cost.of(data.payload.len()),
            chain: self.fragments.begin(data.payload, data.flags.beginning),
            ppid: data.ppid,
            tsn: index,
        };
        count_search(self.runs.len());
        let before = self.runs.range(..(key, first)).next_back().map(|(&at, &before)| (at, before));
        if let Some(((_, begin), before)) =
            before.filter(|((other, _), before)| *other == key && before.last + 1 == first)
        {
            self.runs.remove(&(key, begin));
            run = self.joined(before, run);
            first = begin;
        }
        if let Some(after) = run.last.checked_add(1).and_then(|next| self.runs.remove(&(key, next))) {
            run = self.joined(run, after);
        }
        let partial = self.partial.get(&key.stream).copied();
        if let Some(partial) = partial.filter(|partial| partial.key == key && partial.next == first) {
            return Outcome::Continuation(self.hand_out(&run, partial));
        }
        if first == 0 && run.ending {
            self.heads.remove(&run.tsn);
            return Outcome::Message(run.piece(key, run.ppid, run.tsn));
        }
        if first == 0 {
            self.heads.insert(run.tsn, key);
        }
        self.runs.insert((key, first), run);
        Outcome::Waiting
    }

    /// The message whose first fragment has the lowest TSN, if that TSN is at most `cumulative`: then all
    /// earlier messages of its stream are complete. `None` if the stream of that message already has a
    /// partial delivery, which a correct peer does not cause.
    pub(super) fn oldest(&self, cumulative: u64) -> Option<MessageKey> {
        let (&tsn, &key) = self.heads.first_key_value()?;
        (tsn <= cumulative && !self.partial.contains_key(&key.stream)).then_some(key)
    }

    /// Number of bytes that have arrived without a gap from the beginning of the message that `oldest`
    /// returns.
    pub(super) fn oldest_len(&self, cumulative: u64) -> usize {
        let run = self.oldest(cumulative).and_then(|key| self.runs.get(&(key, 0)));
        run.map_or(0, |run| run.length as usize)
    }

    /// Starts the partial delivery of the message that `oldest` returns. The rest is delivered as it arrives.
    pub(super) fn begin_partial(&mut self) -> Option<Piece> {
        let (_, key) = self.heads.pop_first()?;
        let run = self.runs.remove(&(key, 0))?;
        Some(self.hand_out(&run, Partial { key, next: 0, ppid: run.ppid, tsn: run.tsn }))
    }

    /// Turns a run of fragments, which the caller has removed, into a piece (a part of a message) to deliver.
    fn hand_out(&mut self, run: &Run, partial: Partial) -> Piece {
        let Partial { key, ppid, tsn, .. } = partial;
        match run.last.checked_add(1) {
            Some(next) if !run.ending => self.partial.insert(key.stream, Partial { next, ..partial }),
            _ => self.partial.remove(&key.stream),
        };
        run.piece(key, ppid, tsn)
    }

    /// Makes one run of two adjacent runs of fragments.
    fn joined(&mut self, a: Run, b: Run) -> Run {
        Run {
            last: b.last,
            ending: b.ending,
            length: a.length + b.length,
            cost: a.cost + b.cost,
            chain: self.fragments.join(a.chain, b.chain),
            ..a
        }
    }

    /// The store of the fragments, from which messages are read.
    pub(super) fn fragments(&mut self) -> &mut Fragments {
        &mut self.fragments
    }

    /// Called at the end of a packet: frees some of the dropped fragments.
    #[inline]
    pub(super) fn packet_done(&mut self) {
        self.fragments.sweep();
    }

    /// Drops the fragments of the messages that an I-FORWARD-TSN skips (`rfc8260#section-2.3.1`): ordered or
    /// unordered messages of a stream, up to `mid`. `new` is the index of the new cumulative TSN. Returns the
    /// room that the fragments took in the receive buffer, and the piece that ends a partial delivery, if one
    /// was aborted.
    pub(super) fn skip(&mut self, new: u64, skipped: SkippedMessage) -> (u32, Option<Piece>) {
        let SkippedMessage { stream, unordered, mid } = skipped;
        let message = |mid| MessageKey { stream, unordered, mid };
        let ends = |partial: &Partial| partial.key.unordered == unordered && !mid.precedes(partial.key.mid());
        let ended = self.partial.get(&stream).copied().filter(ends);
        if ended.is_some() {
            self.partial.remove(&stream);
        }
        if unordered {
            count_search(self.skipped.len());
            self.skipped.insert(stream, (mid, new));
        }
        // The range of skipped identifiers: `mid` and the 2^31 - 1 identifiers below.
        let lowest = mid.0.wrapping_sub(u32::MAX / 2);
        let ranges = match lowest <= mid.0 {
            true => [Some((lowest, mid.0)), None],
            false => [Some((lowest, u32::MAX)), Some((0, mid.0))],
        };
        let mut released = 0;
        for (from, to) in ranges.into_iter().flatten() {
            let range = (message(from), 0)..=(message(to), u32::MAX);
            count_search(self.runs.len());
            while let Some((&at, &run)) = self.runs.range(range.clone()).next() {
                count_paid(1);
                self.runs.remove(&at);
                if at.1 == 0 {
                    self.heads.remove(&run.tsn);
                }
                self.fragments.give_up(run.chain);
                released += run.cost;
            }
        }
        (released, ended.map(Partial::abort))
    }

    /// Returns true if a fragment belongs to a skipped unordered message. Returns false after
    /// [`HALF_CIRCLE`] TSNs, when the MIDs of the stream can no longer be compared.
    pub(super) fn is_skipped(&self, index: u64, data: &IData<'_>) -> bool {
        count_search(self.skipped.len());
        self.skipped
            .get(&data.stream)
            .is_some_and(|&(mid, at)| index.saturating_sub(at) < HALF_CIRCLE && !mid.precedes(data.mid))
    }

    /// Handles a reset of streams: their MIDs restart.
    pub(super) fn reset(&mut self, streams: &StreamSet) {
        self.skipped.retain(|&stream, _| !streams.contains(stream));
    }
}

impl Partial {
    /// Returns a piece that marks the end of the message, which remains incomplete.
    fn abort(self) -> Piece {
        Piece::aborted(self.tsn, self.key.stream, self.key.mid(), self.ppid, self.key.unordered)
    }
}

impl Run {
    /// Returns all fragments of the run as one part of a message. `tsn` is the TSN index of the message's
    /// first fragment.
    fn piece(&self, key: MessageKey, ppid: Ppid, tsn: u64) -> Piece {
        Piece {
            message: tsn,
            fragments: 1,
            cost: self.cost,
            stream: key.stream,
            number: key.mid(),
            ppid,
            unordered: key.unordered,
            ending: self.ending,
            chain: self.chain,
            payload: Payload::Filler(self.length),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Accounting;
    use proptest::prelude::*;
    use transport::Octets;
    use wire::{DataFlags, Tsn};

    fn chunk(message: (u16, bool, u32), fsn: u32, ending: bool, payload: &'static [u8]) -> IData<'static> {
        let (stream, unordered, mid) = message;
        let beginning = fsn == 0;
        IData {
            flags: DataFlags { unordered, beginning, ending, immediate: false },
            tsn: Tsn(0),
            stream: StreamId(stream),
            mid: Mid(mid),
            ppid: Ppid(if beginning { 51 } else { 0 }),
            fsn,
            payload: Octets::from(payload),
        }
    }

    fn interleaved() -> Interleaved {
        Interleaved::new(ChunkCost::new(Accounting::Payload, true), ByteCount::new(1 << 20))
    }

    fn put(messages: &mut Interleaved, index: u64, chunk: &IData<'_>) -> Result<Outcome, &'static str> {
        messages.check(chunk)?;
        Ok(messages.insert(index, chunk))
    }

    /// Skips messages of stream 1.
    fn skip(messages: &mut Interleaved, unordered: bool, mid: u32) -> (u32, Option<Piece>) {
        messages.skip(9, SkippedMessage { stream: StreamId(1), unordered, mid: Mid(mid) })
    }

    fn bytes(messages: &mut Interleaved, mut piece: Piece) -> Vec<u8> {
        piece.gather(Some(messages.fragments()));
        piece.payload.to_bytes().to_vec()
    }

    // rfc8260#section-2.2.3
    #[test]
    fn fragments_that_contradict_others_of_their_message_are_refused() {
        let refused = [
            (&[(1, false)][..], (1, false)),
            (&[(0, false), (1, false)], (0, false)),
            (&[(0, false)], (0, true)),
            (&[(2, false)], (1, true)),
            (&[(2, false)], (0, true)),
            (&[(2, true)], (3, false)),
            (&[(2, true)], (4, true)),
            (&[(2, true)], (1, true)),
        ];
        let message = (1, false, 3);
        for (accepted, (fsn, ending)) in refused {
            let mut messages = interleaved();
            for &(fsn, ending) in accepted {
                assert!(put(&mut messages, 1, &chunk(message, fsn, ending, b"x")).is_ok());
            }
            let outcome = put(&mut messages, 9, &chunk(message, fsn, ending, b"x"));
            assert!(outcome.is_err(), "{accepted:?} then {fsn} {ending}");
            let other = put(&mut messages, 9, &chunk((1, true, 3), fsn, ending, b"x"));
            assert!(other.is_ok(), "unordered messages have identifiers of their own");
        }
    }

    // rfc8260#section-2.1: the PPID is that of the fragment with the B bit
    #[test]
    fn fragment_sequence_number_0_belongs_to_the_first_fragment() {
        let first = chunk((1, false, 3), 0, false, b"x");
        let flags = DataFlags { beginning: false, ..first.flags };
        assert!(interleaved().check(&IData { flags, ..first }).is_err());
    }

    #[test]
    fn the_last_fragment_sequence_number_can_be_used() {
        let mut messages = interleaved();
        for (fsn, ending) in [(u32::MAX, true), (u32::MAX - 1, false)] {
            let outcome = put(&mut messages, 1, &chunk((0, false, 0), fsn, ending, b"x"));
            assert!(matches!(outcome, Ok(Outcome::Waiting)));
        }
    }

    // rfc9260#section-6.9: partial delivery in several streams at the same time
    #[test]
    fn the_oldest_message_of_each_stream_can_be_handed_out_in_parts() {
        let mut messages = interleaved();
        let (a, b) = ((1, false, 0), (2, true, 7));
        for (index, chunk) in
            [(11, chunk(b, 0, false, b"B")), (10, chunk(a, 0, false, b"A")), (12, chunk(a, 2, false, b"C"))]
        {
            assert!(matches!(put(&mut messages, index, &chunk), Ok(Outcome::Waiting)));
        }
        assert_eq!(messages.oldest(9), None, "messages below may be missing");
        for (expected, text) in [((1, 0, 10), b"A"), ((2, 7, 11), b"B")] {
            let oldest = messages.oldest(11).expect("a message");
            let piece = messages.begin_partial().expect("its beginning");
            assert_eq!((piece.stream.0, oldest.mid().0, piece.message), expected);
            assert!(!piece.ending);
            assert_eq!(bytes(&mut messages, piece), text);
        }
        assert!(messages.check(&chunk(a, 0, false, b"x")).is_err(), "it was handed out");
        put(&mut messages, 13, &chunk((1, true, 0), 0, false, b"x")).expect("no contradiction");
        assert_eq!(messages.oldest(20), None, "stream 1 has a message under way");
        let Ok(Outcome::Continuation(more)) = put(&mut messages, 14, &chunk(a, 1, false, b"B")) else {
            panic!("no continuation")
        };
        assert_eq!((more.message, more.ppid), (10, Ppid(51)));
        assert_eq!(bytes(&mut messages, more), b"BC");
        let Ok(Outcome::Continuation(end)) = put(&mut messages, 15, &chunk(a, 3, true, b"D")) else {
            panic!("no end")
        };
        assert!(end.ending && messages.oldest(20).is_some());
    }

    // rfc8260#section-2.3.1
    #[test]
    fn skipped_messages_lose_their_fragments_and_others_keep_them() {
        for mid in [5u32, 0] {
            let mut messages = interleaved();
            let at = |offset: i32| mid.wrapping_add_signed(offset);
            let kept = [(1, false, at(1)), (1, true, at(0)), (2, false, at(0))];
            let skipped = [(1, false, at(0)), (1, false, at(-1)), (1, false, at(-3))];
            for (n, &message) in (0..).zip(kept.iter().chain(&skipped)) {
                put(&mut messages, 10 + n, &chunk(message, 0, false, b"x")).expect("new");
                put(&mut messages, 20 + n, &chunk(message, 2, true, b"x")).expect("new");
            }
            let (released, aborted) = skip(&mut messages, false, mid);
            assert_eq!((released, aborted.is_none()), (6 * ChunkCost::LEAST_INTERLEAVED, true));
            assert_eq!((messages.heads.len(), messages.runs.len()), (3, 6));
            for message in kept {
                let whole = put(&mut messages, 30, &chunk(message, 1, false, b"x"));
                assert!(matches!(whole, Ok(Outcome::Message(_))), "{message:?}");
            }
            for message in skipped {
                assert!(messages.check(&chunk(message, 2, false, b"x")).is_ok(), "as if never seen");
            }
        }
    }

    #[test]
    fn a_skipped_message_that_is_handed_out_in_parts_ends() {
        let mut messages = interleaved();
        put(&mut messages, 1, &chunk((1, true, 4), 0, false, b"x")).expect("new");
        messages.begin_partial().expect("a beginning");
        assert!(skip(&mut messages, true, 3).1.is_none());
        assert!(!messages.is_idle());
        assert!(skip(&mut messages, false, 4).1.is_none());
        assert!(!messages.is_idle());
        assert!(skip(&mut messages, true, 4).1.is_some_and(|end| end.is_aborted()));
        assert!(messages.is_idle());
    }

    proptest! {
        /// Fragments of several messages of all streams and kinds, in any order of arrival.
        #[test]
        fn each_message_is_complete_with_its_last_fragment(
            lengths in prop::collection::vec((0u16..3, any::<bool>(), 1u32..9), 1..12),
            seed in any::<u64>(),
        ) {
            let mut arriving = Vec::new();
            for (mid, &(stream, unordered, length)) in (0..).zip(&lengths) {
                arriving.extend((0..length).map(|fsn| ((stream, unordered, mid), fsn, length)));
            }
            arriving.sort_by_cached_key(|&((_, _, mid), fsn, _)| {
                (u64::from(mid) << 32 | u64::from(fsn)).wrapping_mul(seed | 1).rotate_left(17)
            });
            let mut messages = interleaved();
            let mut missing: Vec<u32> = lengths.iter().map(|&(_, _, length)| length).collect();
            for (index, (message, fsn, length)) in (100..).zip(arriving) {
                let number = message.2 as usize;
                let ppid = Ppid(if fsn == 0 { message.2 } else { 0 });
                let payload = [fsn as u8; 2];
                let data = chunk(message, fsn, fsn + 1 == length, &[]);
                let outcome = put(&mut messages, index, &IData { ppid, payload: Octets::from(&payload[..]), ..data });
                missing[number] -= 1;
                match outcome {
                    Ok(Outcome::Message(piece)) => {
                        prop_assert_eq!((missing[number], piece.ppid.0), (0, message.2));
                        prop_assert_eq!(piece.cost, length * ChunkCost::LEAST_INTERLEAVED);
                        let whole: Vec<u8> = (0..length).flat_map(|fsn| [fsn as u8; 2]).collect();
                        prop_assert_eq!(bytes(&mut messages, piece), whole);
                    }
                    Ok(Outcome::Waiting) => prop_assert!(missing[number] > 0),
                    other => prop_assert!(false, "{:?}", other),
                }
            }
            prop_assert!(messages.is_idle() && messages.heads.is_empty());
        }
    }
}
