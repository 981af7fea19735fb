//! The order of messages within each stream.

use super::reassembly::{Piece, append};
use crate::per_stream::{PerStream, StreamSet};
use crate::steps;
use std::collections::{BTreeMap, VecDeque};
use wire::{Mid, StreamId};

/// The order of messages in each stream (`rfc9260#section-6.5`). Messages that arrive too early are parked:
/// they wait for the messages before them.
#[derive(Debug, Default)]
pub(super) struct Streams {
    inbound: PerStream<Inbound>,
    /// True if messages have message identifiers, not stream sequence numbers.
    mids: bool,
    /// Parked messages; `None` before the first parked message.
    parked: Option<Box<Parked>>,
    /// Number of parked messages that have become readable since the last packet.
    released: u32,
    /// At least one stream is [stalled](Inbound::stalled).
    stalled: bool,
}

#[derive(Debug)]
struct Inbound {
    /// Number of the next message to deliver. Its lower 16 bits are the stream sequence number.
    next: Mid,
    /// Partial delivery of message `next` has started.
    begun: bool,
    /// The last packet made the maximum number of parked messages readable. Further messages become readable
    /// as the user reads.
    stalled: bool,
    /// The peer abandoned messages up to `skip`. Some of them are complete and parked, and could not become
    /// readable yet.
    skips: bool,
    skip: Mid,
    rank: Rank,
    /// Numbers of the neighbouring streams in the order of [`Rank::Recent`], or [`NO_STREAM`].
    newer: u16,
    older: u16,
    /// Parked messages that arrived in the order of both their TSNs and their numbers; never an empty queue.
    lane: Option<Lane>,
}

/// The record of a stream must stay small, since each used stream has one.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Inbound>() == 24);

/// The queue of parked messages of a stream. The box keeps the record of a stream without parked messages
/// small.
type Lane = Box<VecDeque<Piece>>;

impl Default for Inbound {
    fn default() -> Self {
        Inbound {
            next: Mid(0),
            begun: false,
            stalled: false,
            skips: false,
            skip: Mid(0),
            rank: Rank::Recent,
            newer: NO_STREAM,
            older: NO_STREAM,
            lane: None,
        }
    }
}

/// The index in which a stream is found by the TSN of the last message of its lane (queue of parked
/// messages).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rank {
    /// A list, highest TSN first. A stream enters it when a message joins its lane whose TSN is the highest
    /// of all lanes.
    Recent,
    /// A tree. A stream enters it when a message of its lane is evicted (dropped to make room for lower
    /// TSNs).
    Evicted,
}

/// Marks the absence of a stream: there are at most 65535 streams, numbered from 0.
const NO_STREAM: u16 = u16::MAX;

#[derive(Debug)]
struct Parked {
    count: usize,
    /// The highest TSN of the messages that were put into lanes (queues of single streams) since all lanes
    /// were last empty. A message goes into a lane only if its TSN is higher.
    high_water: u64,
    /// Parked messages that are not in a lane (queue of one stream), by [`key`] (stream and message number).
    late: BTreeMap<u64, Piece>,
    /// Keys of the messages in `late`, by TSN.
    late_by_tsn: BTreeMap<u64, u64>,
    /// The stream in [`Rank::Recent`] whose lane (queue of parked messages) ends with the highest TSN.
    newest: u16,
    /// Streams of [`Rank::Evicted`] by the TSN of the last message of their lane.
    evicted: BTreeMap<u64, u16>,
    stalled: VecDeque<u16>,
    /// An unused lane (queue of parked messages), kept for the next stream that needs one.
    spare: Option<Lane>,
}

impl Default for Parked {
    fn default() -> Self {
        Parked {
            count: 0,
            high_water: 0,
            late: BTreeMap::new(),
            late_by_tsn: BTreeMap::new(),
            newest: NO_STREAM,
            evicted: BTreeMap::new(),
            stalled: VecDeque::new(),
            spare: None,
        }
    }
}

/// Where a parked message is stored: in the lane (queue) of its stream, or in [`Parked::late`] under this
/// key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Lane(StreamId),
    Late(u64),
}

/// One empty lane (queue of parked messages) is kept for reuse, if its capacity is at most this number of
/// messages.
const KEPT: usize = 64;

/// Maximum number of parked messages that one packet makes readable. Further messages become readable as the
/// user reads.
const MOST_RELEASED: u32 = 512;

/// Combines a stream and a message number into one key.
fn key(stream: StreamId, number: Mid) -> u64 {
    u64::from(stream.0) << 32 | u64::from(number.0)
}

impl Inbound {
    /// The full number of a message. For a 16-bit stream sequence number: the number nearest to `next` with
    /// these lower bits.
    #[inline]
    fn unwrap(&self, number: Mid, mids: bool) -> Mid {
        if mids {
            return number;
        }
        let ahead = (number.0 as u16).wrapping_sub(self.next.0 as u16) as i16;
        Mid(self.next.0.wrapping_add_signed(ahead.into()))
    }
}

impl Streams {
    /// Creates the streams. `mids`: messages have message identifiers, not stream sequence numbers.
    pub(super) fn new(mids: bool) -> Self {
        Streams { mids, ..Streams::default() }
    }

    /// Parks a complete message, or delivers it to `ready` with the messages that waited for it.
    #[inline(always)]
    pub(super) fn accept(
        &mut self,
        mut message: Piece,
        ready: &mut VecDeque<Piece>,
    ) -> Result<(), &'static str> {
        if message.unordered {
            append(ready, message);
            return Ok(());
        }
        let stream = message.stream;
        let inbound = self.inbound.of(stream);
        message.number = inbound.unwrap(message.number, self.mids);
        if message.number != inbound.next || inbound.begun || inbound.stalled {
            return self.park(message);
        }
        append(ready, message);
        inbound.next = inbound.next.next();
        if self.parked.as_ref().is_some_and(|parked| parked.count > 0) {
            self.release(stream, ready);
        }
        Ok(())
    }

    /// Returns true if partial delivery of an ordered message may start.
    pub(super) fn is_next(&mut self, stream: StreamId, number: Mid) -> bool {
        let mids = self.mids;
        let inbound = self.inbound.of(stream);
        inbound.next == inbound.unwrap(number, mids) && !inbound.stalled
    }

    /// Returns true if the ordered message with this MID was delivered.
    pub(super) fn is_past(&mut self, stream: StreamId, mid: Mid) -> bool {
        mid.precedes(self.inbound.of(stream).next)
    }

    /// Returns true if the ordered message with this MID was delivered, or will be skipped.
    pub(super) fn is_skipped(&mut self, stream: StreamId, mid: Mid) -> bool {
        let inbound = self.inbound.of(stream);
        mid.precedes(inbound.next) || (inbound.skips && !inbound.skip.precedes(mid))
    }

    /// Records that partial delivery of the next message has started: the stream waits for the rest of this
    /// message.
    pub(super) fn begin(&mut self, stream: StreamId) {
        self.inbound.of(stream).begun = true;
    }

    /// Records that the next message was delivered completely.
    #[inline]
    pub(super) fn advance(&mut self, stream: StreamId, ready: &mut VecDeque<Piece>) {
        let inbound = self.inbound.of(stream);
        inbound.begun = false;
        inbound.next = inbound.next.next();
        if self.parked.as_ref().is_some_and(|parked| parked.count > 0) {
            self.release(stream, ready);
        } else {
            inbound.skip_to(None);
        }
    }

    /// Skips messages of a stream up to `number`, which the peer abandoned (`rfc3758#section-3.6`). Complete
    /// messages among these go to `ready`, and then the messages that waited for the skipped ones.
    #[cold]
    pub(super) fn skip(&mut self, stream: StreamId, number: Mid, ready: &mut VecDeque<Piece>) {
        let mids = self.mids;
        let inbound = self.inbound.of(stream);
        let number = inbound.unwrap(number, mids);
        if number.precedes(inbound.next) || (inbound.skips && !inbound.skip.precedes(number)) {
            return;
        }
        (inbound.skips, inbound.skip) = (true, number);
        if inbound.begun || inbound.stalled {
            return;
        }
        if self.parked.as_ref().is_some_and(|parked| parked.count > 0) {
            self.release(stream, ready);
        } else {
            inbound.skip_to(None);
        }
    }

    /// Called at the end of a packet: the next packet may again make the maximum number of messages readable.
    #[inline]
    pub(super) fn packet_done(&mut self) {
        self.released = 0;
    }

    /// Returns true if messages that are next in order wait only until the user has read others.
    #[inline]
    pub(super) fn is_stalled(&self) -> bool {
        self.stalled
    }

    /// Makes further messages of a stream readable, which waited until the user had read others.
    #[cold]
    pub(super) fn resume(&mut self, ready: &mut VecDeque<Piece>) {
        self.released = 0;
        let Some(parked) = self.parked.as_deref_mut() else { return };
        let stream = parked.stalled.pop_front().map(StreamId);
        self.stalled = !parked.stalled.is_empty();
        if let Some(stream) = stream
            && std::mem::take(&mut self.inbound.of(stream).stalled)
        {
            self.release(stream, ready);
        }
    }

    /// Moves the messages of a stream that are next in order to `ready`.
    fn release(&mut self, stream: StreamId, ready: &mut VecDeque<Piece>) {
        let Some(parked) = self.parked.as_deref_mut() else { return };
        let inbound = self.inbound.of(stream);
        let mut last = None;
        loop {
            let next = inbound.next;
            let in_lane =
                inbound.lane.as_ref().and_then(|lane| lane.front()).is_some_and(|m| m.number == next);
            let late = !in_lane && !parked.late.is_empty() && {
                steps::count_search(parked.late.len());
                parked.late.contains_key(&key(stream, next))
            };
            if !in_lane && !late {
                if !inbound.skips {
                    break;
                }
                let in_lane = inbound.lane.as_ref().and_then(|lane| lane.front()).map(|first| first.number);
                let parked = in_lane.into_iter().chain(parked.next_late(stream, next));
                let lowest = parked.min_by_key(|number| number.distance_from(next));
                inbound.skip_to(lowest);
                if inbound.next == next {
                    break;
                }
                continue;
            }
            if self.released == MOST_RELEASED {
                inbound.stalled = true;
                self.stalled = true;
                parked.stalled.push_back(stream.0);
                break;
            }
            steps::count(1);
            let message = if in_lane {
                let message = inbound.lane.as_mut().and_then(|lane| lane.pop_front());
                last = message.as_ref().map(|message| message.message);
                message
            } else {
                parked.take_late(key(stream, next))
            };
            if let Some(message) = message {
                append(ready, message);
            }
            parked.count -= 1;
            self.released += 1;
            inbound.next = next.next();
        }
        if let Some(last) = last
            && let Some(lane) = &mut inbound.lane
        {
            if !lane.is_empty() {
                shrink(lane);
                return;
            }
            parked.spare = inbound.lane.take().filter(|lane| lane.capacity() <= KEPT);
            self.unrank(stream, last);
        }
    }

    /// Removes a stream from the index of its [`Rank`].
    fn unrank(&mut self, stream: StreamId, last: u64) {
        let Some(parked) = self.parked.as_deref_mut() else { return };
        let inbound = self.inbound.of(stream);
        if inbound.rank == Rank::Evicted {
            steps::count_search(parked.evicted.len());
            parked.evicted.remove(&last);
            return;
        }
        let (newer, older) = (inbound.newer, inbound.older);
        (inbound.newer, inbound.older) = (NO_STREAM, NO_STREAM);
        match newer {
            NO_STREAM => parked.newest = older,
            newer => self.inbound.of(StreamId(newer)).older = older,
        }
        if older != NO_STREAM {
            self.inbound.of(StreamId(older)).newer = newer;
        }
    }

    /// Resets streams: the next message of each has number 0 (`rfc6525#section-5.2.2`). Parked messages go to
    /// `ready` in their order, since the peer will not send the missing messages before them.
    pub(super) fn reset(&mut self, streams: &StreamSet, ready: &mut VecDeque<Piece>) {
        while self.stalled {
            self.resume(ready);
        }
        for stream in self.inbound.used(streams) {
            self.release_parked(stream, ready);
            let inbound = self.inbound.of(stream);
            (inbound.next, inbound.begun) = (Mid(0), false);
        }
        self.released = 0;
    }

    /// Moves all parked messages of a stream to `ready`, even if messages before them are missing.
    fn release_parked(&mut self, stream: StreamId, ready: &mut VecDeque<Piece>) {
        while self.parked.as_ref().is_some_and(|parked| parked.count > 0) {
            let inbound = self.inbound.of(stream);
            let next = inbound.next;
            let lowest = inbound.lane.as_ref().and_then(|lane| lane.front()).map(|message| message.number);
            let Some(parked) = self.parked.as_deref() else { return };
            let first = |from: Mid, to: Mid| {
                parked
                    .late
                    .range(key(stream, from)..=key(stream, to))
                    .map(|(_, message)| message.number)
                    .next()
            };
            let late = first(next, Mid(u32::MAX)).or_else(|| first(Mid(0), next));
            let lowest = lowest.into_iter().chain(late).min_by_key(|number| number.distance_from(next));
            let Some(lowest) = lowest else { return };
            self.inbound.of(stream).next = lowest;
            self.released = 0;
            self.release(stream, ready);
            self.unstall(stream);
        }
    }

    /// Removes a stream from the list of stalled streams.
    fn unstall(&mut self, stream: StreamId) {
        if std::mem::take(&mut self.inbound.of(stream).stalled)
            && let Some(parked) = self.parked.as_deref_mut()
        {
            parked.stalled.retain(|&stalled| stalled != stream.0);
            self.stalled = !parked.stalled.is_empty();
        }
    }

    fn park(&mut self, message: Piece) -> Result<(), &'static str> {
        let (stream, number, tsn) = (message.stream, message.number, message.message);
        let parked = &mut **self.parked.get_or_insert_default();
        if parked.count == parked.late.len() {
            parked.high_water = 0; // no lane is in use
        }
        let inbound = self.inbound.of(stream);
        let next = inbound.next;
        if !next.precedes(number) {
            return Err("the number of a message in its stream is used again");
        }
        let in_order = match inbound.lane.as_ref().and_then(|lane| lane.back()) {
            Some(last) => last.message < tsn && last.number.distance_from(next) < number.distance_from(next),
            None => true,
        };
        if in_order && parked.high_water < tsn {
            if !parked.late.is_empty() {
                steps::count_search(parked.late.len());
                if parked.late.contains_key(&key(stream, number)) {
                    return Err(USED_TWICE);
                }
            }
            self.append(message);
            return Ok(());
        }
        let ahead = |number: Mid| number.distance_from(next);
        let lane = inbound.lane.as_ref().filter(|lane| {
            let ends = lane.front().zip(lane.back());
            ends.is_some_and(|(first, last)| {
                (ahead(first.number)..=ahead(last.number)).contains(&ahead(number))
            })
        });
        if let Some(lane) = lane {
            steps::count(lane.len().ilog2() as usize + 1);
            if lane.binary_search_by_key(&ahead(number), |message| ahead(message.number)).is_ok() {
                return Err(USED_TWICE);
            }
        }
        steps::count_search(parked.late.len());
        steps::count_search(parked.late.len());
        if parked.late.insert(key(stream, number), message).is_some() {
            return Err(USED_TWICE);
        }
        parked.late_by_tsn.insert(tsn, key(stream, number));
        parked.count += 1;
        Ok(())
    }

    /// Appends a message to the lane of its stream (its queue of parked messages). The TSN of the message is
    /// above those of all lanes, so this lane becomes the newest.
    fn append(&mut self, message: Piece) {
        let (stream, tsn) = (message.stream, message.message);
        let Some(parked) = self.parked.as_deref_mut() else { return };
        parked.count += 1;
        parked.high_water = tsn;
        steps::count(1);
        let newest = parked.newest;
        let inbound = self.inbound.of(stream);
        if let Some(lane) = &mut inbound.lane {
            let last = lane.back().map_or(0, |last| last.message);
            append(lane, message);
            if newest != stream.0 {
                self.unrank(stream, last);
                self.rank_first(stream);
            }
            return;
        }
        let mut lane = parked.spare.take().unwrap_or_else(|| Box::new(VecDeque::with_capacity(1)));
        lane.push_back(message);
        inbound.lane = Some(lane);
        (inbound.rank, inbound.newer, inbound.older) = (Rank::Recent, NO_STREAM, newest);
        parked.newest = stream.0;
        if newest != NO_STREAM {
            self.inbound.of(StreamId(newest)).newer = stream.0;
        }
    }

    /// Makes a stream the newest one: the last message of its lane (queue of parked messages) now has the
    /// highest TSN.
    fn rank_first(&mut self, stream: StreamId) {
        let Some(parked) = self.parked.as_deref_mut() else { return };
        let older = std::mem::replace(&mut parked.newest, stream.0);
        let inbound = self.inbound.of(stream);
        (inbound.rank, inbound.newer, inbound.older) = (Rank::Recent, NO_STREAM, older);
        if older != NO_STREAM {
            self.inbound.of(StreamId(older)).newer = stream.0;
        }
    }

    /// First TSN of the parked message with the highest TSN, and where the message is stored.
    pub(super) fn highest(&mut self) -> Option<(u64, Place)> {
        let parked = self.parked.as_deref().filter(|parked| parked.count > 0)?;
        steps::count(1);
        let late = parked.late_by_tsn.last_key_value().map(|(&tsn, &key)| (tsn, Place::Late(key)));
        let evicted =
            parked.evicted.last_key_value().map(|(&tsn, &stream)| (tsn, Place::Lane(StreamId(stream))));
        let newest = StreamId(parked.newest);
        let recent = match newest.0 {
            NO_STREAM => None,
            _ => last_of(self.inbound.of(newest)).map(|tsn| (tsn, Place::Lane(newest))),
        };
        [late, evicted, recent].into_iter().flatten().max_by_key(|&(tsn, _)| tsn)
    }

    /// Removes and returns the message that `highest` returned.
    pub(super) fn remove(&mut self, (tsn, place): (u64, Place)) -> Option<Piece> {
        let parked = self.parked.as_deref_mut()?;
        let message = match place {
            Place::Late(key) => {
                steps::count(1);
                steps::count_search(parked.late.len());
                parked.late_by_tsn.pop_last();
                parked.late.remove(&key)?
            }
            Place::Lane(stream) => {
                self.unrank(stream, tsn);
                let inbound = self.inbound.of(stream);
                let lane = inbound.lane.as_mut()?;
                let message = lane.pop_back()?;
                match lane.back().map(|last| last.message) {
                    None => {
                        inbound.lane = None;
                        inbound.rank = Rank::Recent;
                    }
                    Some(last) => {
                        inbound.rank = Rank::Evicted;
                        shrink(lane);
                        let parked = self.parked.as_deref_mut()?;
                        steps::count_search(parked.evicted.len());
                        parked.evicted.insert(last, stream.0);
                    }
                }
                message
            }
        };
        self.parked.as_deref_mut()?.count -= 1;
        let inbound = self.inbound.of(message.stream);
        inbound.stalled &= inbound.next != message.number;
        Some(message)
    }
}

impl Inbound {
    /// Skips abandoned messages: all, or those before `parked`, the next parked message.
    fn skip_to(&mut self, parked: Option<Mid>) {
        if !self.skips {
            return;
        }
        let end = self.skip.next();
        let next = self.next;
        let ahead = |number: Mid| number.distance_from(next);
        if self.skip.precedes(next) {
            self.skips = false;
        } else if let Some(parked) = parked.filter(|&parked| ahead(parked) < ahead(end)) {
            self.next = parked;
        } else {
            (self.next, self.skips) = (end, false);
        }
    }
}

/// Frees memory of a lane (queue of parked messages) that was much longer before: there can be very many
/// lanes.
fn shrink(lane: &mut VecDeque<Piece>) {
    if lane.capacity() > 4 * lane.len().max(1) {
        lane.shrink_to(2 * lane.len());
    }
}

const USED_TWICE: &str = "the number of a message in its stream is used twice";

/// Index of the first TSN of the last message in a lane (queue of parked messages).
fn last_of(inbound: &Inbound) -> Option<u64> {
    inbound.lane.as_ref()?.back().map(|last| last.message)
}

impl Parked {
    /// Returns the first message number from `next` on among the parked messages of a stream that are not in
    /// its lane (its queue of messages that arrived in order).
    fn next_late(&self, stream: StreamId, next: Mid) -> Option<Mid> {
        steps::count_search(self.late.len());
        let first = |first, last| {
            let range = key(stream, first)..=key(stream, last);
            self.late.range(range).next().map(|(_, message)| message.number)
        };
        first(next, Mid(u32::MAX)).or_else(|| first(Mid(0), next))
    }

    fn take_late(&mut self, key: u64) -> Option<Piece> {
        steps::count_search(self.late.len());
        steps::count_search(self.late.len());
        let message = self.late.remove(&key)?;
        self.late_by_tsn.remove(&message.message);
        Some(message)
    }
}

#[cfg(test)]
mod tests {
    use super::super::window::ChunkCost;
    use super::*;
    use crate::config::Accounting;
    use proptest::prelude::*;
    use transport::Octets;
    use wire::{Data, DataFlags, Ppid, Ssn, Tsn};

    fn message(stream: u16, ssn: u16, index: u64) -> Piece {
        let data = Data {
            flags: DataFlags { beginning: true, ending: true, ..DataFlags::default() },
            tsn: Tsn(index as u32),
            stream: StreamId(stream),
            ssn: Ssn(ssn),
            ppid: Ppid(0),
            payload: Octets::new(&[], 10),
        };
        Piece::whole(index, &data, ChunkCost::new(Accounting::Payload, false))
    }

    fn order(ready: &VecDeque<Piece>) -> Vec<u16> {
        ready.iter().map(|message| message.number.0 as u16).collect()
    }

    fn parked(s: &Streams) -> usize {
        s.parked.as_ref().map_or(0, |parked| parked.count)
    }

    // rfc9260#section-6.5
    #[test]
    fn streams_do_not_wait_for_each_other() {
        let (mut s, mut ready) = (Streams::default(), VecDeque::new());
        s.accept(message(0, 1, 11), &mut ready).unwrap();
        s.accept(message(2, 0, 12), &mut ready).unwrap();
        assert_eq!(ready.pop_front().map(|m| m.stream), Some(StreamId(2)));
        assert!(ready.is_empty());
        s.accept(message(0, 0, 10), &mut ready).unwrap();
        assert_eq!(order(&ready), [0, 1]);
    }

    // rfc9260#section-6.5
    #[test]
    fn a_number_used_again_is_refused() {
        let (mut s, mut ready) = (Streams::default(), VecDeque::new());
        s.accept(message(0, 0, 10), &mut ready).unwrap();
        s.accept(message(0, 3, 13), &mut ready).unwrap();
        s.accept(message(0, 2, 12), &mut ready).unwrap();
        assert!(s.accept(message(0, 0, 14), &mut ready).is_err(), "delivered");
        assert!(s.accept(message(0, 3, 15), &mut ready).is_err(), "parked");
        assert!(s.accept(message(0, 2, 16), &mut ready).is_err(), "parked late");
        s.begin(StreamId(0));
        assert!(s.accept(message(0, 1, 17), &mut ready).is_err(), "begun");
    }

    /// A model of the parked messages of four streams. In each step it searches all messages.
    #[derive(Default)]
    struct Model {
        next: [u16; 4],
        parked: BTreeMap<(u16, u16), u64>,
    }

    proptest! {
        // rfc9260#section-6.2, rfc9260#section-6.5: any messages in any order, and any messages evicted
        #[test]
        fn agrees_with_a_model_that_is_searched_whole(
            steps in prop::collection::vec((0u16..4, 0u16..12, 0u8..6, any::<u16>()), 1..300),
        ) {
            let (mut s, mut ready, mut model) = (Streams::default(), VecDeque::new(), Model::default());
            let mut delivered = Vec::new();
            for (n, (stream, ahead, kind, salt)) in (1u64..).zip(steps) {
                let base = n * 100_000;
                // Some messages arrive late: their TSN is lower than those of others.
                let tsn = if kind == 0 { u64::from(salt) } else { base + u64::from(salt) };
                let next = model.next[usize::from(stream)];
                let ssn = next + ahead;
                let known = model.parked.contains_key(&(stream, ssn)) || model.parked.values().any(|&t| t == tsn);
                if kind == 5 {
                    let highest = model.parked.iter().max_by_key(|&(_, &tsn)| tsn).map(|(&at, &tsn)| (at, tsn));
                    let found = s.highest();
                    prop_assert_eq!(found.map(|(tsn, _)| tsn), highest.map(|(_, tsn)| tsn));
                    let removed = found.and_then(|found| s.remove(found)).map(|m| ((m.stream.0, m.number.0 as u16), m.message));
                    prop_assert_eq!(removed, highest);
                    if let Some((at, _)) = highest {
                        model.parked.remove(&at);
                    }
                } else if !known {
                    s.accept(message(stream, ssn, tsn), &mut ready).unwrap();
                    model.parked.insert((stream, ssn), tsn);
                    let next = &mut model.next[usize::from(stream)];
                    while let Some(tsn) = model.parked.remove(&(stream, *next)) {
                        delivered.push((stream, *next, tsn));
                        *next += 1;
                    }
                }
                let found: Vec<_> = ready.iter().map(|m: &Piece| (m.stream.0, m.number.0 as u16, m.message)).collect();
                prop_assert_eq!(&found, &delivered);
                prop_assert_eq!(parked(&s), model.parked.len());
            }
        }

        // rfc9260#section-1.6, rfc9260#section-6.5: 65535 is followed by 0
        #[test]
        fn the_wrap_of_stream_sequence_numbers_is_crossed_in_any_order(
            lead in 0_u16..30,
            shuffle in Just((0..60_u16).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let start = Ssn(0).add(0_u16.wrapping_sub(lead));
            let mut s = Streams::default();
            s.inbound.of(StreamId(0)).next = Mid(start.0.into());
            let mut ready = VecDeque::new();
            for n in shuffle {
                s.accept(message(0, start.add(n).0, u64::from(n)), &mut ready).unwrap();
            }
            let expected: Vec<u16> = (0..60).map(|n| start.add(n).0).collect();
            prop_assert_eq!(order(&ready), expected);
            prop_assert_eq!(parked(&s), 0);
        }
    }

    #[test]
    fn a_packet_releases_so_many_messages_and_the_rest_follows() {
        let (mut s, mut ready) = (Streams::default(), VecDeque::new());
        let most = MOST_RELEASED as u16;
        for n in 1..3 * most {
            s.accept(message(0, n, u64::from(n)), &mut ready).unwrap();
        }
        s.accept(message(0, 0, 0), &mut ready).unwrap();
        assert_eq!((ready.len(), s.is_stalled()), (usize::from(most) + 1, true));
        assert!(s.accept(message(0, most + 1, 9999), &mut ready).is_err(), "it waits for its turn");
        s.packet_done();
        while s.is_stalled() {
            s.resume(&mut ready);
        }
        assert_eq!(order(&ready), (0..3 * most).collect::<Vec<_>>());
    }

    #[test]
    fn a_message_that_only_waits_for_the_user_can_be_evicted() {
        let (mut s, mut ready) = (Streams::default(), VecDeque::new());
        let most = MOST_RELEASED as u16;
        for n in 1..=most + 1 {
            s.accept(message(0, n, u64::from(n)), &mut ready).unwrap();
        }
        s.accept(message(0, 0, 0), &mut ready).unwrap();
        let highest = s.highest().unwrap();
        assert_eq!(s.remove(highest).map(|m| m.number.0 as u16), Some(most + 1));
        s.accept(message(0, most + 1, 9999), &mut ready).unwrap();
        s.resume(&mut ready);
        assert_eq!(order(&ready), (0..=most + 1).collect::<Vec<_>>());
    }
}
