//! Reassembly by TSN: fragments of a message have successive TSNs.

use super::fragments::{Chain, Fragments};
use super::gaps::TsnTracker;
use super::window::ChunkCost;
use crate::message::Payload;
use crate::steps::{count, count_search};
use std::collections::{BTreeMap, VecDeque};
use units::ByteCount;
use wire::{Data, IData, Mid, Ppid, Ssn, StreamId};

/// Fields that all fragments of a message share, and the payload protocol identifier of the first fragment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Label {
    pub(super) stream: StreamId,
    pub(super) ssn: Ssn,
    pub(super) ppid: Ppid,
    pub(super) unordered: bool,
}

impl Label {
    #[inline]
    fn of(data: &Data<'_>) -> Self {
        Label { stream: data.stream, ssn: data.ssn, ppid: data.ppid, unordered: data.flags.unordered }
    }

    /// Message number as in the chunk: the SSN, or 0 for an unordered message.
    #[inline]
    pub(super) fn number(&self) -> Mid {
        Mid(if self.unordered { 0 } else { self.ssn.0.into() })
    }

    /// The stream sequence number of unordered messages has no meaning (`rfc9260#section-6.6`), and
    /// fragments of a message may differ in their payload protocol identifier (`rfc9260#section-6.9`).
    fn is_same_message(&self, other: &Label) -> bool {
        self.stream == other.stream
            && self.unordered == other.unordered
            && (self.unordered || self.ssn == other.ssn)
    }
}

/// A whole message, or a part of a message without missing fragments.
#[derive(Debug)]
pub(super) struct Piece {
    /// Index of the TSN of the first fragment of the message.
    pub(super) message: u64,
    /// Number of fragments (1 for I-DATA); 0 if the rest of an incomplete message will not come.
    pub(super) fragments: u32,
    /// Room that this message, or part of one, takes in the receive buffer: at least the number of its bytes.
    pub(super) cost: u32,
    pub(super) stream: StreamId,
    /// The MID, or the stream sequence number until [`Streams`](super::streams::Streams) extends it to 32
    /// bits.
    pub(super) number: Mid,
    pub(super) ppid: Ppid,
    pub(super) unordered: bool,
    /// True if this piece (a message, or a part of one) ends its message.
    pub(super) ending: bool,
    /// Fragments that hold the bytes until the user reads. Meanwhile `payload` is filler (zeros that are not
    /// stored) of the same length.
    pub(super) chain: Chain,
    pub(super) payload: Payload,
}

/// The memory of a message's record is covered by the least cost of a message in the receive buffer.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Piece>() == ChunkCost::LEAST as usize);

impl Piece {
    /// Returns true if the piece has no data and tells that the rest of an incomplete message will not come.
    #[inline]
    pub(super) fn is_aborted(&self) -> bool {
        self.fragments == 0
    }

    /// Creates the piece for a DATA chunk with a whole message.
    #[inline(always)]
    pub(super) fn whole(index: u64, data: &Data<'_>, cost: ChunkCost) -> Self {
        Piece {
            message: index,
            fragments: 1,
            cost: cost.of(data.payload.len()),
            stream: data.stream,
            number: Label::of(data).number(),
            ppid: data.ppid,
            unordered: data.flags.unordered,
            ending: true,
            chain: Chain::NONE,
            payload: Payload::from_octets(data.payload),
        }
    }
}

impl Piece {
    /// Creates the piece for an I-DATA chunk with a whole message.
    pub(super) fn interleaved(index: u64, data: &IData<'_>, cost: ChunkCost) -> Self {
        Piece {
            message: index,
            fragments: 1,
            cost: cost.of(data.payload.len()),
            stream: data.stream,
            number: data.mid,
            ppid: data.ppid,
            unordered: data.flags.unordered,
            ending: true,
            chain: Chain::NONE,
            payload: Payload::from_octets(data.payload),
        }
    }

    /// Creates a piece that marks the end of a message that remains incomplete.
    #[cold]
    pub(super) fn aborted(message: u64, stream: StreamId, number: Mid, ppid: Ppid, unordered: bool) -> Self {
        Piece {
            message,
            fragments: 0,
            cost: 0,
            stream,
            number,
            ppid,
            unordered,
            ending: false,
            chain: Chain::NONE,
            payload: Payload::Filler(0),
        }
    }

    /// Moves the bytes of a message out of its fragments before the user reads it.
    #[cold]
    pub(super) fn gather(&mut self, fragments: Option<&mut Fragments>) {
        let chain = std::mem::replace(&mut self.chain, Chain::NONE);
        if let Some(fragments) = fragments.filter(|_| chain != Chain::NONE) {
            self.payload = fragments.gather(chain, self.payload.len());
        }
    }
}

/// Appends a piece (a message, or a part of one) to a queue. A full queue grows by a quarter, not to twice
/// its size, since the number of pieces can be very large: as many as the receive buffer holds short
/// messages.
#[inline(always)] // into `Streams::accept`, so that the piece is written to its final place
pub(super) fn append(queue: &mut VecDeque<Piece>, piece: Piece) {
    if queue.len() == queue.capacity() {
        queue.reserve_exact(queue.len() / 4 + 1);
    }
    queue.push_back(piece);
}

/// Result of the addition of a fragment.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Other fragments are still missing.
    Waiting,
    /// The message is complete.
    Message(Piece),
    /// A further part of the message in partial delivery.
    Continuation(Piece),
}

/// Fragments of incomplete messages.
///
/// Fragments of a message have successive TSNs, so a message is a run of fragments from its B bit to
/// its E bit. A fragment can only join the runs next to it.
#[derive(Debug, Default)]
pub(super) struct Reassembly {
    /// `None` before the first fragment.
    store: Option<Box<Store>>,
    cost: ChunkCost,
    /// The highest TSN that was skipped, or whose fragment was dropped because it follows a skipped TSN. The
    /// fragment with the next TSN is dropped, too, unless it begins a message.
    skipped: u64,
    receive_buffer: ByteCount,
}

#[derive(Debug)]
struct Store {
    /// The highest run, to which fragments in order are appended. No run contains fragments of two messages,
    /// and two adjacent runs of the same message are always joined.
    top: Option<Run>,
    /// The other runs, by their first TSN index.
    below: BTreeMap<u64, Run>,
    /// The message in partial delivery.
    partial: Option<Partial>,
    fragments: Fragments,
}

/// Successive fragments of one message.
#[derive(Clone, Copy, Debug)]
struct Run {
    first: u64,
    last: u64,
    /// Label of the first fragment.
    label: Label,
    beginning: bool,
    ending: bool,
    cost: u32,
    length: u32,
    chain: Chain,
}

/// A message in partial delivery. All fragments before the first missing one are delivered. `next` is the TSN
/// index of this missing fragment.
#[derive(Clone, Copy, Debug)]
struct Partial {
    message: u64,
    label: Label,
    next: u64,
}

impl Reassembly {
    pub(super) fn new(cost: ChunkCost, receive_buffer: ByteCount) -> Self {
        Reassembly { cost, receive_buffer, store: None, skipped: 0 }
    }

    /// Returns true if no fragment waits and no partial delivery is in progress.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.store.as_ref().is_none_or(|store| store.top.is_none() && store.partial.is_none())
    }

    /// Compares a new chunk with its neighbours: a message must begin where the message before it ends, and
    /// nowhere else (`rfc9260#section-6.9`). If a neighbouring TSN has arrived but no fragment of it waits,
    /// it belongs to a complete message. `kept`: the stream of the chunk exists. If not, its fragments do not
    /// wait, so that a neighbouring TSN proves nothing.
    pub(super) fn check(
        &self,
        index: u64,
        data: &Data<'_>,
        tsns: &TsnTracker,
        kept: bool,
    ) -> Result<(), &'static str> {
        let label = Label::of(data);
        let store = self.store.as_deref();
        let settled = |index| (kept && tsns.contains(index)).then_some((label, true));
        let partial = store.and_then(|store| store.partial).filter(|partial| partial.next == index);
        let before = partial
            .map(|partial| (partial.label, false))
            .or_else(|| store?.ending_at(index - 1).map(|run| (run.label, run.ending)));
        join(label, data.flags.beginning, before.or_else(|| settled(index - 1)))?;
        let after = store.and_then(|store| store.beginning_at(index + 1));
        join(
            label,
            data.flags.ending,
            after.map(|run| (run.label, run.beginning)).or_else(|| settled(index + 1)),
        )
    }

    /// Adds a fragment that passed [`Self::check`].
    pub(super) fn insert(&mut self, index: u64, data: &Data<'_>) -> Outcome {
        let (cost, receive_buffer) = (self.cost.of(data.payload.len()), self.receive_buffer);
        let store = &mut **self.store.get_or_insert_with(|| Box::new(Store::new(receive_buffer)));
        if store.extend_top(index, data, cost) {
            return store
                .take_top()
                .map_or(Outcome::Waiting, |run| Outcome::Message(run.piece(run.first, run.label)));
        }
        let before = store.ending_at(index - 1).filter(|_| !data.flags.beginning).copied();
        let mut run = match before {
            Some(mut run) => {
                store.remove(&run);
                run.extend(data, cost, &mut store.fragments);
                run
            }
            None => Run {
                first: index,
                last: index,
                label: Label::of(data),
                beginning: data.flags.beginning,
                ending: data.flags.ending,
                cost,
                length: data.payload.len() as u32,
                chain: store.fragments.begin(data.payload, data.flags.beginning),
            },
        };
        if !run.ending
            && let Some(after) = store.beginning_at(index + 1).copied()
        {
            store.remove(&after);
            run = store.joined(run, after);
        }
        if let Some(partial) = store.partial.filter(|partial| partial.next == run.first) {
            return Outcome::Continuation(store.hand_out(&run, partial));
        }
        if run.beginning && run.ending {
            store.refill();
            return Outcome::Message(run.piece(run.first, run.label));
        }
        store.put(run);
        Outcome::Waiting
    }

    /// The incomplete message, if any, whose TSNs up to `cumulative` have all arrived.
    pub(super) fn head(&self, cumulative: u64) -> Option<Label> {
        self.store.as_ref()?.head(cumulative).map(|run| run.label)
    }

    /// Bytes of the message that `head` returns.
    pub(super) fn head_len(&self, cumulative: u64) -> usize {
        let head = self.store.as_ref().and_then(|store| store.head(cumulative));
        head.map_or(0, |run| run.length as usize)
    }

    /// Starts the partial delivery of the message that `head` returns. The rest is delivered as it arrives.
    pub(super) fn begin_partial(&mut self, cumulative: u64) -> Option<Piece> {
        let store = self.store.as_deref_mut()?;
        let run = *store.head(cumulative)?;
        store.remove(&run);
        Some(store.hand_out(&run, Partial { message: run.first, label: run.label, next: run.first }))
    }

    /// The highest TSN index of all waiting fragments.
    pub(super) fn highest(&self) -> Option<u64> {
        self.store.as_ref()?.top.map(|run| run.last)
    }

    /// Drops the fragment with the highest TSN. Returns the length of its payload.
    pub(super) fn drop_highest(&mut self) -> usize {
        let Some(store) = self.store.as_deref_mut() else { return 0 };
        let Some(run) = &mut store.top else { return 0 };
        let length = store.fragments.drop_last(run.chain);
        if run.first == run.last {
            store.top = None;
            store.refill();
            return length;
        }
        run.last -= 1;
        run.ending = false;
        run.cost -= self.cost.of(length);
        run.length -= length as u32;
        length
    }

    /// The store with the bytes of the messages that the user has not read yet.
    pub(super) fn fragments(&mut self) -> Option<&mut Fragments> {
        self.store.as_mut().map(|store| &mut store.fragments)
    }

    /// Frees the fragments that may still hold the bytes of a dropped message.
    pub(super) fn give_up(&mut self, piece: &Piece) {
        if let Some(store) = &mut self.store {
            store.fragments.give_up(piece.chain);
        }
    }

    /// Returns true if the preceding fragment was skipped or dropped, so that it will not arrive.
    #[inline]
    pub(super) fn is_orphan(&self, index: u64) -> bool {
        index == self.skipped + 1
            && self.store.as_ref().is_none_or(|store| {
                store.ending_at(index - 1).is_none()
                    && store.partial.is_none_or(|partial| partial.next != index)
            })
    }

    /// Drops the fragments of all messages that lack a TSN up to `new`. All TSNs up to `new` now count as
    /// received. Returns the room that these fragments took in the receive buffer, and the piece that ends a
    /// partial delivery, if one was aborted.
    pub(super) fn skip_to(&mut self, new: u64) -> (u32, Option<Piece>) {
        self.skipped = self.skipped.max(new);
        let Some(store) = self.store.as_deref_mut() else { return (0, None) };
        let aborted = store.partial.take_if(|partial| partial.next <= new).map(|partial| partial.abort());
        let mut cost = 0;
        while let Some(run) = store.take_cut(self.skipped) {
            store.fragments.give_up(run.chain);
            cost += run.cost;
            self.skipped = self.skipped.max(run.last);
        }
        (cost, aborted)
    }

    /// Called at the end of a packet: frees some of the dropped fragments.
    #[inline]
    pub(super) fn packet_done(&mut self) {
        if let Some(store) = &mut self.store {
            store.fragments.sweep();
        }
    }
}

impl Partial {
    /// Returns a piece that marks the end of the message, which remains incomplete.
    fn abort(self) -> Piece {
        let Label { stream, ppid, unordered, .. } = self.label;
        Piece::aborted(self.message, stream, self.label.number(), ppid, unordered)
    }
}

impl Run {
    /// Returns true if the message of this run lacks a TSN up to `skipped`.
    fn is_cut(&self, skipped: u64) -> bool {
        if self.beginning { self.last < skipped } else { self.first <= skipped + 1 }
    }

    /// Appends the next fragment to the run.
    fn extend(&mut self, data: &Data<'_>, cost: u32, fragments: &mut Fragments) {
        fragments.append(self.chain, data.payload, self.length as usize);
        self.last += 1;
        self.ending = data.flags.ending;
        self.cost += cost;
        self.length += data.payload.len() as u32;
    }

    /// Returns all fragments of the run as one part of `message`.
    fn piece(&self, message: u64, label: Label) -> Piece {
        let Label { stream, ppid, unordered, .. } = label;
        Piece {
            message,
            fragments: (self.last - self.first + 1) as u32,
            cost: self.cost,
            stream,
            number: label.number(),
            ppid,
            unordered,
            ending: self.ending,
            chain: self.chain,
            payload: Payload::Filler(self.length),
        }
    }
}

impl Store {
    fn new(receive_buffer: ByteCount) -> Self {
        let fragments = Fragments::new(receive_buffer);
        Store { top: None, below: BTreeMap::new(), partial: None, fragments }
    }

    /// Appends a fragment to the highest run; returns false if the fragment does not follow that run. The
    /// fragment cannot belong to the message in partial delivery: that message's next fragment follows no
    /// run.
    fn extend_top(&mut self, index: u64, data: &Data<'_>, cost: u32) -> bool {
        let next = self.top.as_mut().filter(|top| top.last + 1 == index && !data.flags.beginning);
        let Some(top) = next else { return false };
        top.extend(data, cost, &mut self.fragments);
        true
    }

    /// Removes the highest run if it is a whole message.
    fn take_top(&mut self) -> Option<Run> {
        let top = self.top.take_if(|top| top.beginning && top.ending)?;
        self.refill();
        Some(top)
    }

    /// The run of fragments whose last TSN has this index.
    fn ending_at(&self, index: u64) -> Option<&Run> {
        let top = self.top.as_ref().filter(|top| top.first <= index);
        let run = top.or_else(|| {
            count_search(self.below.len());
            self.below.range(..=index).next_back().map(|(_, run)| run)
        });
        run.filter(|run| run.last == index)
    }

    /// The run of fragments whose first TSN has this index.
    fn beginning_at(&self, index: u64) -> Option<&Run> {
        match &self.top {
            Some(top) if index < top.first => {
                count_search(self.below.len());
                self.below.get(&index)
            }
            top => top.as_ref().filter(|top| top.first == index),
        }
    }

    /// Removes and returns the lowest run if its message lacks a TSN up to `skipped`.
    fn take_cut(&mut self, skipped: u64) -> Option<Run> {
        count(1);
        match self.below.first_entry() {
            Some(lowest) => lowest.get().is_cut(skipped).then(|| lowest.remove()),
            None => self.top.take_if(|top| top.is_cut(skipped)),
        }
    }

    fn remove(&mut self, run: &Run) {
        if self.top.is_some_and(|top| top.first == run.first) {
            self.top = None; // the caller puts a longer run in its place, or calls `refill`
        } else {
            count_search(self.below.len());
            self.below.remove(&run.first);
        }
    }

    /// Makes the highest of the other runs the top run, if there is no top run.
    fn refill(&mut self) {
        if self.top.is_none() {
            count_search(self.below.len());
            self.top = self.below.pop_last().map(|(_, run)| run);
        }
    }

    fn put(&mut self, run: Run) {
        match &mut self.top {
            Some(top) if run.first < top.first => {
                count_search(self.below.len());
                self.below.insert(run.first, run);
            }
            top => {
                if let Some(old) = top.replace(run) {
                    count_search(self.below.len());
                    self.below.insert(old.first, old);
                }
            }
        }
    }

    /// Makes one run of two adjacent runs of fragments.
    fn joined(&mut self, a: Run, b: Run) -> Run {
        Run {
            last: b.last,
            ending: b.ending,
            cost: a.cost + b.cost,
            length: a.length + b.length,
            chain: self.fragments.join(a.chain, b.chain),
            ..a
        }
    }

    fn head(&self, cumulative: u64) -> Option<&Run> {
        self.ending_at(cumulative).filter(|run| run.beginning)
    }

    /// Turns a run of fragments, which the caller has removed, into a piece (a part of a message) to deliver.
    fn hand_out(&mut self, run: &Run, partial: Partial) -> Piece {
        self.refill();
        self.partial = (!run.ending).then_some(Partial { next: run.last + 1, ..partial });
        run.piece(partial.message, partial.label)
    }
}

/// Checks that two neighbouring chunks fit together: their labels and the border of messages between them.
fn join(label: Label, border: bool, neighbour: Option<(Label, bool)>) -> Result<(), &'static str> {
    match neighbour {
        Some((_, theirs)) if theirs != border => {
            Err("a message begins before the last one ended, or in its middle")
        }
        Some((other, false)) if !label.is_same_message(&other) => {
            Err("fragments of a message differ in stream or kind")
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use transport::Octets;
    use wire::{DataFlags, Tsn};

    fn data(flags: &str, tsn: u32, payload: &'static [u8]) -> Data<'static> {
        Data {
            flags: DataFlags {
                unordered: flags.contains('U'),
                beginning: flags.contains('B'),
                ending: flags.contains('E'),
                immediate: false,
            },
            tsn: Tsn(tsn),
            stream: StreamId(1),
            ssn: Ssn(5),
            ppid: Ppid(9),
            payload: Octets::from(payload),
        }
    }

    /// Fragments of one message, which begins with TSN 1, and the tracker of their TSNs.
    struct Fixture {
        reassembly: Reassembly,
        tsns: TsnTracker,
    }

    impl Fixture {
        fn new() -> Self {
            Fixture { reassembly: Reassembly::default(), tsns: TsnTracker::new(Tsn(1)) }
        }

        fn put(&mut self, chunk: Data<'_>) -> Result<Outcome, &'static str> {
            let index = self.tsns.index_of(chunk.tsn);
            self.reassembly.check(index, &chunk, &self.tsns, true)?;
            self.tsns.insert(index);
            Ok(self.reassembly.insert(index, &chunk))
        }

        fn message(&mut self, chunk: Data<'_>) -> Piece {
            match self.put(chunk) {
                Ok(Outcome::Message(piece)) => self.gathered(piece),
                other => panic!("no message but {other:?}"),
            }
        }

        fn gathered(&mut self, mut piece: Piece) -> Piece {
            piece.gather(self.reassembly.fragments());
            piece
        }

        fn waits(&mut self, chunk: Data<'_>) {
            assert!(matches!(self.put(chunk), Ok(Outcome::Waiting)));
        }
    }

    // rfc9260#section-6.9
    #[test]
    fn fragments_join_in_any_order() {
        let parts = [data("B", 1, b"ab"), data("", 2, b"cd"), data("", 3, b"e"), data("E", 4, b"fg")];
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [0, 3, 1, 2], [2, 0, 3, 1]] {
            let mut f = Fixture::new();
            for &i in &order[..3] {
                f.waits(parts[i]);
            }
            let piece = f.message(parts[order[3]]);
            assert_eq!(piece.payload.to_bytes().as_ref(), b"abcdefg");
            assert_eq!((piece.message, piece.fragments, piece.ending), (f.tsns.index_of(Tsn(1)), 4, true));
            assert!(f.reassembly.is_idle());
        }
    }

    #[test]
    fn filler_is_counted_and_never_stored() {
        let mut f = Fixture::new();
        f.waits(Data { payload: Octets::new(&[], 1000), ..data("B", 1, b"") });
        f.waits(data("", 2, b"\0\0"));
        let piece = f.message(Data { payload: Octets::new(&[], 500), ..data("E", 3, b"") });
        assert_eq!(piece.payload, Payload::Filler(1502));
    }

    #[test]
    fn filler_beside_real_bytes_is_written_out() {
        let mut f = Fixture::new();
        f.waits(data("E", 2, b"x"));
        let piece = f.message(Data { payload: Octets::new(&[], 2), ..data("B", 1, b"") });
        assert_eq!(piece.payload.to_bytes().as_ref(), [0, 0, b'x']);
    }

    // rfc9260#section-3.3.1: a message is a run from B to E
    #[test]
    fn borders_of_messages_that_contradict_each_other_are_refused() {
        let refused: [(&[&str], &str); 7] = [
            (&["B"], "B"),
            (&["B"], "BE"),
            (&["BE"], ""),
            (&["BE"], "E"),
            (&["B", "E"], ""),
            (&[], ""),
            (&[], "E"),
        ];
        for (accepted, wrong) in refused {
            let mut f = Fixture::new();
            for (tsn, flags) in (1..).zip(accepted) {
                f.put(data(flags, tsn, b"x")).expect("these go together");
            }
            let next = accepted.len() as u32 + 1;
            assert!(f.put(data(wrong, next, b"x")).is_err(), "{accepted:?} then {wrong:?}");
        }
    }

    #[test]
    fn borders_are_checked_towards_higher_tsns_too() {
        for (above, wrong) in [("B", "B"), ("BE", ""), ("", "BE"), ("E", "E")] {
            let mut f = Fixture::new();
            f.put(data(above, 3, b"x")).expect("alone");
            assert!(f.put(data(wrong, 2, b"x")).is_err(), "{wrong:?} below {above:?}");
        }
    }

    // rfc9260#section-6.9, rfc9260#section-6.6
    #[test]
    fn fragments_of_a_message_agree_in_stream_number_and_kind() {
        let end = data("E", 2, b"y");
        let wrong = [Data { stream: StreamId(2), ..end }, Data { ssn: Ssn(6), ..end }, data("UE", 2, b"y")];
        for end in wrong {
            let mut f = Fixture::new();
            f.waits(data("B", 1, b"x"));
            assert!(f.put(end).is_err(), "{end:?}");
        }
        let mut f = Fixture::new();
        f.waits(data("UB", 1, b"x"));
        f.message(Data { ssn: Ssn(6), ..data("UE", 2, b"y") });
    }

    // rfc9260#section-6.9
    #[test]
    fn the_first_fragment_says_the_payload_protocol_identifier() {
        let parts = [data("B", 1, b"a"), Data { ppid: Ppid(1), ..data("", 2, b"b") }, data("E", 3, b"c")];
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2], [1, 2, 0]] {
            let mut f = Fixture::new();
            f.waits(parts[order[0]]);
            f.waits(parts[order[1]]);
            assert_eq!(f.message(parts[order[2]]).ppid, Ppid(9));
        }
        let mut f = Fixture::new();
        f.waits(parts[0]);
        f.reassembly.begin_partial(f.tsns.cumulative()).expect("a beginning");
        let Ok(Outcome::Continuation(more)) = f.put(parts[1]) else { panic!("no continuation") };
        assert_eq!(more.ppid, Ppid(9), "of a part of the message, too");
    }

    #[test]
    fn dropped_fragments_can_come_again() {
        let mut f = Fixture::new();
        for (tsn, flags, payload) in [(2, "", "b"), (3, "", "cc"), (5, "E", "eee")] {
            f.waits(data(flags, tsn, payload.as_bytes()));
        }
        for (tsn, length) in [(5, 3), (3, 2)] {
            let index = f.tsns.index_of(Tsn(tsn));
            assert_eq!((f.reassembly.highest(), f.reassembly.drop_highest()), (Some(index), length));
            f.tsns.remove_all(index, index);
        }
        for (tsn, flags, payload) in [(3, "", "cc"), (5, "E", "eee"), (1, "B", "a")] {
            f.waits(data(flags, tsn, payload.as_bytes()));
        }
        assert_eq!(f.message(data("", 4, b"d")).payload.to_bytes().as_ref(), b"abccdeee");
    }

    // rfc9260#section-6.9: partial delivery
    #[test]
    fn a_message_begun_early_goes_on_as_its_fragments_arrive() {
        let mut f = Fixture::new();
        f.waits(data("B", 1, b"a"));
        f.waits(data("", 2, b"b"));
        f.waits(data("", 4, b"d"));
        let head = f.reassembly.begin_partial(f.tsns.cumulative()).expect("a beginning");
        let head = f.gathered(head);
        assert_eq!((head.payload.to_bytes().as_ref(), head.ending), (b"ab".as_slice(), false));
        assert!(f.put(data("B", 3, b"!")).is_err());
        let Ok(Outcome::Continuation(more)) = f.put(data("", 3, b"c")) else { panic!("no continuation") };
        let more = f.gathered(more);
        assert_eq!((more.payload.to_bytes().as_ref(), more.ending), (b"cd".as_slice(), false));
        let Ok(Outcome::Continuation(end)) = f.put(data("E", 5, b"e")) else { panic!("no end") };
        assert_eq!((end.message, end.ending), (f.tsns.index_of(Tsn(1)), true));
        assert!(f.reassembly.is_idle());
    }

    #[test]
    fn only_a_beginning_up_to_the_cumulative_tsn_can_be_handed_out_early() {
        let mut f = Fixture::new();
        f.waits(data("B", 2, b"a"));
        f.waits(data("", 3, b"b"));
        assert!(f.reassembly.begin_partial(f.tsns.cumulative()).is_none());
    }
}
