use super::gaps::TsnTracker;
use super::window::ChunkCost;
use crate::message::Payload;
use bytes::Bytes;
use std::collections::VecDeque;
use wire::{Data, Ppid, Ssn, StreamId};

/// What all fragments of a message have in common.
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

    /// The stream sequence number of unordered messages has no meaning (`rfc9260#section-6.6`).
    fn is_same_message(&self, other: &Label) -> bool {
        self.stream == other.stream
            && self.unordered == other.unordered
            && (self.unordered || self.ssn == other.ssn)
            && self.ppid == other.ppid
    }
}

/// A message, or a part of one that has no hole.
#[derive(Debug)]
#[repr(align(64))] // not two cache lines
pub(super) struct Piece {
    /// Index of the TSN of the message's first fragment.
    pub(super) message: u64,
    /// Number of fragments in here.
    pub(super) fragments: u32,
    /// What it counts as in the receive buffer: never less than its bytes.
    pub(super) cost: u32,
    pub(super) label: Label,
    /// Ends its message.
    pub(super) ending: bool,
    pub(super) payload: Payload,
}

impl Piece {
    /// The message of a chunk that is not fragmented.
    #[inline]
    pub(super) fn whole(index: u64, data: &Data<'_>, cost: ChunkCost) -> Self {
        Piece {
            message: index,
            fragments: 1,
            cost: cost.of(data.payload.len()),
            label: Label::of(data),
            ending: true,
            payload: Payload::from_octets(data.payload),
        }
    }
}

/// What an added fragment brought about.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Others are still missing.
    Waiting,
    /// A whole message.
    Message(Piece),
    /// More of the message whose beginning has been handed out.
    Continuation(Piece),
}

/// Fragments whose messages are not complete.
///
/// Fragments of a message have successive TSNs, so a message is a run of fragments from one that begins it to one
/// that ends it. The first and the last fragment of each run know its length, which makes joining cheap.
#[derive(Debug, Default)]
#[repr(C)] // what tells that it is idle first
pub(super) struct Reassembly {
    /// By index; runs are maximal, and never reach across the border of a message.
    fragments: VecDeque<Fragment>,
    /// A message that is handed out in parts; apart, since that is rare.
    partial: Option<Box<Partial>>,
    cost: ChunkCost,
}

#[derive(Debug)]
struct Fragment {
    index: u64,
    /// Length of the run of fragments around this one; right only in its first and its last.
    run: u32,
    label: Label,
    beginning: bool,
    ending: bool,
    payload: Payload,
}

/// A message that is handed out before it is complete. Everything of it that arrived without a hole has been handed
/// out, so the next fragment is the first TSN that is missing.
#[derive(Clone, Copy, Debug)]
struct Partial {
    message: u64,
    label: Label,
    next: u64,
}

impl Reassembly {
    pub(super) fn new(cost: ChunkCost) -> Self {
        Reassembly { cost, ..Reassembly::default() }
    }

    /// True if nothing waits for anything.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.fragments.is_empty() && self.partial.is_none()
    }

    /// Compares a chunk that has not arrived before with its neighbours: where one message ends the next one has to
    /// begin, and nowhere else (`rfc9260#section-6.9`). What arrived and is not waiting here was a whole message,
    /// unless its stream does not exist: for chunks of such streams, which are not `kept`, that says nothing.
    pub(super) fn check(
        &self,
        index: u64,
        data: &Data<'_>,
        tsns: &TsnTracker,
        kept: bool,
    ) -> Result<(), &'static str> {
        let label = Label::of(data);
        let at = self.position(index);
        let settled = |index| (kept && tsns.contains(index)).then_some((label, true));
        let partial = self
            .partial
            .as_ref()
            .filter(|partial| partial.next == index)
            .map(|partial| (partial.label, false));
        let before = at.checked_sub(1).and_then(|at| self.fragments.get(at)).filter(|f| f.index + 1 == index);
        let before = partial.or(before.map(|f| (f.label, f.ending))).or_else(|| settled(index - 1));
        join(label, data.flags.beginning, before)?;
        let after = self.fragments.get(at).filter(|f| f.index == index + 1);
        join(label, data.flags.ending, after.map(|f| (f.label, f.beginning)).or_else(|| settled(index + 1)))
    }

    /// Takes a fragment that passed [`Self::check`].
    pub(super) fn insert(&mut self, index: u64, data: &Data<'_>) -> Outcome {
        let at = self.position(index);
        let adjacent =
            |at: Option<usize>, index| at.and_then(|at| self.fragments.get(at)).filter(|f| f.index == index);
        let before = if data.flags.beginning { None } else { adjacent(at.checked_sub(1), index - 1) };
        let after = if data.flags.ending { None } else { adjacent(Some(at), index + 1) };
        let (before, after) = (before.map_or(0, |f| f.run), after.map_or(0, |f| f.run));
        let run = before + 1 + after;
        let (first, last) = (at - before as usize, at + after as usize);
        self.fragments.insert(
            at,
            Fragment {
                index,
                run,
                label: Label::of(data),
                beginning: data.flags.beginning,
                ending: data.flags.ending,
                payload: Payload::from_octets(data.payload),
            },
        );
        self.fragments[first].run = run;
        self.fragments[last].run = run;
        if let Some(&partial) = self.partial.as_deref().filter(|partial| partial.next == index) {
            return Outcome::Continuation(self.take_partial(at, run, partial));
        }
        if self.fragments[first].beginning && self.fragments[last].ending {
            let message = self.fragments[first].index;
            return Outcome::Message(self.take(first, run, message));
        }
        Outcome::Waiting
    }

    /// The message whose beginning has arrived up to the cumulative TSN, so that nothing but its own length keeps it
    /// from being complete.
    pub(super) fn head(&self, cumulative: u64) -> Option<Label> {
        self.head_run(cumulative).map(|(first, _)| self.fragments[first].label)
    }

    /// Hands out the beginning of that message; the rest follows as it arrives.
    pub(super) fn begin_partial(&mut self, cumulative: u64) -> Option<Piece> {
        let (first, run) = self.head_run(cumulative)?;
        let Fragment { index, label, .. } = self.fragments[first];
        Some(self.take_partial(first, run, Partial { message: index, label, next: index }))
    }

    fn head_run(&self, cumulative: u64) -> Option<(usize, u32)> {
        let at = self.position(cumulative);
        let last = self.fragments.get(at).filter(|f| f.index == cumulative)?;
        let first = at + 1 - last.run as usize;
        self.fragments[first].beginning.then_some((first, last.run))
    }

    fn take_partial(&mut self, first: usize, run: u32, partial: Partial) -> Piece {
        let piece = self.take(first, run, partial.message);
        let next = partial.next + u64::from(run);
        let partial = Partial { next, ..partial };
        match &mut self.partial {
            _ if piece.ending => self.partial = None,
            Some(under_way) => **under_way = partial,
            None => self.partial = Some(Box::new(partial)),
        }
        piece
    }

    /// Removes the run of fragments at position `first`.
    fn take(&mut self, first: usize, run: u32, message: u64) -> Piece {
        let all = first..first + run as usize;
        let length = self.fragments.range(all.clone()).map(|f| f.payload.len()).sum();
        let cost = self.fragments.range(all.clone()).map(|f| self.cost.of(f.payload.len())).sum();
        let stored = self.fragments.range(all.clone()).any(|f| matches!(f.payload, Payload::Bytes(_)));
        let Fragment { label, .. } = self.fragments[first];
        let ending = self.fragments[all.end - 1].ending;
        let payload = if stored {
            let mut bytes = Vec::with_capacity(length);
            self.fragments.drain(all).for_each(|f| f.payload.as_octets().append_to(&mut bytes));
            Payload::Bytes(Bytes::from(bytes))
        } else {
            self.fragments.drain(all);
            Payload::Filler(length as u32)
        };
        Piece { message, fragments: run, cost, label, ending, payload }
    }

    /// The highest TSN of all fragments.
    pub(super) fn highest(&self) -> Option<u64> {
        self.fragments.back().map(|f| f.index)
    }

    /// Drops the fragment with the highest TSN; returns the length of its payload.
    pub(super) fn drop_highest(&mut self) -> usize {
        let Some(dropped) = self.fragments.pop_back() else { return 0 };
        let rest = dropped.run - 1;
        if rest > 0 {
            let last = self.fragments.len() - 1;
            let first = last + 1 - rest as usize;
            self.fragments[first].run = rest;
            self.fragments[last].run = rest;
        }
        dropped.payload.len()
    }

    /// Position of the first fragment that is not below `index`.
    #[inline]
    fn position(&self, index: u64) -> usize {
        match self.fragments.back() {
            Some(last) if last.index >= index => self.fragments.partition_point(|f| f.index < index),
            _ => self.fragments.len(),
        }
    }
}

/// Whether a chunk and its neighbour, each with what it says about the border between them, go together.
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
    use wire::{DataFlags, Octets, Tsn};

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

    /// Fragments of one message that begins with TSN 1, and the tracker that knows them.
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
                Ok(Outcome::Message(piece)) => piece,
                other => panic!("no message but {other:?}"),
            }
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
        let piece = f.message(Data { payload: Octets::new(&[], 500), ..data("E", 2, b"") });
        assert_eq!(piece.payload, Payload::Filler(1500));
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
    fn fragments_of_a_message_agree_in_stream_number_kind_and_protocol() {
        let end = data("E", 2, b"y");
        let wrong = [
            Data { stream: StreamId(2), ..end },
            Data { ssn: Ssn(6), ..end },
            Data { ppid: Ppid(1), ..end },
            data("UE", 2, b"y"),
        ];
        for end in wrong {
            let mut f = Fixture::new();
            f.waits(data("B", 1, b"x"));
            assert!(f.put(end).is_err(), "{end:?}");
        }
        let mut f = Fixture::new();
        f.waits(data("UB", 1, b"x"));
        f.message(Data { ssn: Ssn(6), ..data("UE", 2, b"y") });
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
            f.tsns.remove(index);
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
        assert_eq!((head.payload.to_bytes().as_ref(), head.ending), (b"ab".as_slice(), false));
        assert!(f.put(data("B", 3, b"!")).is_err());
        let Ok(Outcome::Continuation(more)) = f.put(data("", 3, b"c")) else { panic!("no continuation") };
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
