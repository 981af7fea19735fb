use super::reassembly::Piece;
use std::collections::VecDeque;
use wire::{Ssn, StreamId};

/// The order within each stream (`rfc9260#section-6.5`): a message that comes too early is parked.
#[derive(Debug, Default)]
pub(super) struct Streams {
    /// As far as streams have been used.
    streams: Vec<Inbound>,
    parked: usize,
}

#[derive(Debug, Default)]
struct Inbound {
    next: Ssn,
    /// The beginning of message `next` has been handed out.
    begun: bool,
    /// By distance from `next`, all of which are above zero.
    parked: VecDeque<Piece>,
}

/// Where a message is parked, and the index of its first TSN.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) message: u64,
    stream: usize,
    at: usize,
}

/// An empty queue of a stream keeps memory for so many messages at most.
const KEPT: usize = 64;

impl Streams {
    #[inline]
    fn inbound(&mut self, stream: StreamId) -> &mut Inbound {
        let at = usize::from(stream.0);
        if at >= self.streams.len() {
            self.streams.resize_with(at + 1, Inbound::default);
        }
        &mut self.streams[at]
    }

    /// Takes a complete message; it, and those that waited for it, go to `ready` once it is their turn.
    #[inline]
    pub(super) fn accept(&mut self, message: Piece, ready: &mut VecDeque<Piece>) -> Result<(), &'static str> {
        let label = message.label;
        if label.unordered {
            ready.push_back(message);
            return Ok(());
        }
        let inbound = self.inbound(label.stream);
        if label.ssn != inbound.next || inbound.begun {
            return self.park(message);
        }
        ready.push_back(message);
        self.advance(label.stream, ready);
        Ok(())
    }

    /// True if an ordered message may be handed out early.
    pub(super) fn is_next(&mut self, stream: StreamId, ssn: Ssn) -> bool {
        self.inbound(stream).next == ssn
    }

    /// The message whose turn it is has been handed out in part: the stream waits for the rest.
    pub(super) fn begin(&mut self, stream: StreamId) {
        self.inbound(stream).begun = true;
    }

    /// The message whose turn it was has been handed out.
    #[inline]
    pub(super) fn advance(&mut self, stream: StreamId, ready: &mut VecDeque<Piece>) {
        let inbound = self.inbound(stream);
        inbound.begun = false;
        inbound.next = inbound.next.next();
        if inbound.parked.is_empty() {
            return;
        }
        let waited = inbound.parked.len();
        while inbound.parked.front().is_some_and(|message| message.label.ssn == inbound.next) {
            ready.extend(inbound.parked.pop_front());
            inbound.next = inbound.next.next();
        }
        let released = waited - inbound.parked.len();
        if released == waited && inbound.parked.capacity() > KEPT {
            inbound.parked = VecDeque::new();
        }
        self.parked -= released;
    }

    fn park(&mut self, message: Piece) -> Result<(), &'static str> {
        let Inbound { next, parked, .. } = self.inbound(message.label.stream);
        let (next, ssn) = (*next, message.label.ssn);
        if !next.precedes(ssn) {
            return Err("a stream sequence number is used again");
        }
        let distance = |ssn: Ssn| ssn.distance_from(next);
        let at = match parked.back() {
            Some(last) if distance(last.label.ssn) >= distance(ssn) => {
                parked.partition_point(|other| distance(other.label.ssn) < distance(ssn))
            }
            _ => parked.len(),
        };
        if parked.get(at).is_some_and(|other| other.label.ssn == ssn) {
            return Err("a stream sequence number is used twice");
        }
        parked.insert(at, message);
        self.parked += 1;
        Ok(())
    }

    /// The parked message with the highest TSN. Looks at all of them: only for when the buffer is full.
    pub(super) fn highest(&self) -> Option<Place> {
        if self.parked == 0 {
            return None;
        }
        let places = self.streams.iter().enumerate().flat_map(|(stream, inbound)| {
            let of_stream = inbound.parked.iter().enumerate();
            of_stream.map(move |(at, message)| Place { message: message.message, stream, at })
        });
        places.max_by_key(|place| place.message)
    }

    /// Takes a parked message away.
    pub(super) fn remove(&mut self, place: Place) -> Option<Piece> {
        let removed = self.streams[place.stream].parked.remove(place.at);
        self.parked -= usize::from(removed.is_some());
        removed
    }
}

#[cfg(test)]
mod tests {
    use super::super::window::ChunkCost;
    use super::*;
    use proptest::prelude::*;
    use wire::{Data, DataFlags, Octets, Ppid, Tsn};

    fn message(stream: u16, ssn: u16, index: u64) -> Piece {
        let data = Data {
            flags: DataFlags { beginning: true, ending: true, ..DataFlags::default() },
            tsn: Tsn(index as u32),
            stream: StreamId(stream),
            ssn: Ssn(ssn),
            ppid: Ppid(0),
            payload: Octets::new(&[], 10),
        };
        Piece::whole(index, &data, ChunkCost::default())
    }

    fn order(ready: &VecDeque<Piece>) -> Vec<u16> {
        ready.iter().map(|message| message.label.ssn.0).collect()
    }

    // rfc9260#section-6.5
    #[test]
    fn streams_do_not_wait_for_each_other() {
        let (mut s, mut ready) = (Streams::default(), VecDeque::new());
        s.accept(message(0, 1, 11), &mut ready).unwrap();
        s.accept(message(2, 0, 12), &mut ready).unwrap();
        assert_eq!(ready.pop_front().map(|m| m.label.stream), Some(StreamId(2)));
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
        assert!(s.accept(message(0, 0, 14), &mut ready).is_err(), "delivered");
        assert!(s.accept(message(0, 3, 15), &mut ready).is_err(), "parked");
        s.begin(StreamId(0));
        assert!(s.accept(message(0, 1, 16), &mut ready).is_err(), "begun");
    }

    #[test]
    fn the_highest_tsn_is_found_among_all_streams() {
        let (mut s, mut ready) = (Streams::default(), VecDeque::new());
        assert!(s.highest().is_none());
        for (stream, ssn, index) in [(0, 2, 20), (2, 1, 22), (2, 3, 21), (1, 1, 19)] {
            s.accept(message(stream, ssn, index), &mut ready).unwrap();
        }
        let mut taken = Vec::new();
        while let Some(place) = s.highest() {
            taken.extend(s.remove(place).map(|message| message.message));
        }
        assert_eq!((taken, s.parked), (vec![22, 21, 20, 19], 0));
    }

    proptest! {
        // rfc9260#section-1.6, rfc9260#section-6.5: 65535 is followed by 0
        #[test]
        fn the_wrap_of_stream_sequence_numbers_is_crossed_in_any_order(
            lead in 0_u16..30,
            shuffle in Just((0..60_u16).collect::<Vec<_>>()).prop_shuffle(),
        ) {
            let start = Ssn(0).add(0_u16.wrapping_sub(lead));
            let mut s = Streams::default();
            s.inbound(StreamId(0)).next = start;
            let mut ready = VecDeque::new();
            for n in shuffle {
                s.accept(message(0, start.add(n).0, u64::from(n)), &mut ready).unwrap();
            }
            let expected: Vec<u16> = (0..60).map(|n| start.add(n).0).collect();
            prop_assert_eq!(order(&ready), expected);
            prop_assert_eq!(s.parked, 0);
        }
    }
}
