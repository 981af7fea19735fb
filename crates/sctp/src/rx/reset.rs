//! Resets of streams on which the peer sends (`rfc6525#section-5.2.2`).
//!
//! If the peer requests a reset before all its data has arrived, the reset is deferred until the cumulative
//! TSN reaches the last TSN that the request names. Until then the receive buffer holds messages of these
//! streams above that TSN. A mark in the queue of readable messages separates messages before and after a
//! reset: the user reads up to the mark, then gets the event of the reset, and then reads the later messages.

use super::echoes::Echoes;
use super::fragments::Chain;
use super::gaps::TsnTracker;
use super::interleaved::Interleaved;
use super::non_renegable::NonRenegable;
use super::reassembly::{Piece, Reassembly};
use super::{Receiver, gather};
use crate::per_stream::StreamSet;
use std::collections::{BTreeMap, VecDeque};
use wire::{StreamId, Tsn};

/// An event that the user gets after reading all messages before the reset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reset {
    /// The streams on which the peer sends restart at number 0.
    Streams(StreamSet),
    /// All streams of both directions restart at number 0, and the TSNs restart.
    Association,
}

/// State of the resets of streams on which the peer sends.
#[derive(Debug, Default)]
pub(super) struct Resets {
    deferred: Option<Deferred>,
    marks: VecDeque<Mark>,
    /// Index of the first TSN after the last reset of the TSNs; 0 if the TSNs were never reset.
    base: u64,
}

/// A deferred reset: data before the reset is still missing.
#[derive(Debug)]
struct Deferred {
    streams: StreamSet,
    /// Index of the last TSN before the reset.
    last: u64,
    /// Messages sent after the reset, by the index of their first TSN.
    held: BTreeMap<u64, Piece>,
}

#[derive(Debug)]
struct Mark {
    /// Number of pieces (messages or parts of messages) that the user reads between the previous mark and
    /// this mark.
    pieces: usize,
    reset: Reset,
}

/// Maximum number of resets of which the user has not got the event yet: each may name many streams.
const MOST_MARKS: usize = 32;

/// After a reset of the TSNs, a chunk whose TSN exceeds the cumulative TSN by more than this was sent before
/// the reset. This is larger than the largest offset in a Gap Ack Block (65,535).
const FAR: u64 = 1 << 17;

impl Receiver {
    /// Delivers a complete message, or keeps it until a deferred reset has been performed.
    #[inline(always)]
    pub(super) fn accept(&mut self, message: Piece) -> Result<(), &'static str> {
        if self.resets.is_some()
            && let Some(deferred) = self.deferred_before(message.stream, message.message)
        {
            deferred.hold(message);
            return Ok(());
        }
        self.streams.accept(message, &mut self.ready)
    }

    /// The deferred reset, if it names this stream and the chunk with this index was sent after the reset.
    fn deferred_before(&mut self, stream: StreamId, index: u64) -> Option<&mut Deferred> {
        let deferred = self.resets.as_mut()?.deferred.as_mut()?;
        (index > deferred.last && deferred.streams.contains(stream)).then_some(deferred)
    }

    /// Returns true if the chunk was sent after a deferred reset, on a stream that this reset names.
    pub(super) fn is_behind_reset(&mut self, stream: StreamId, index: u64) -> bool {
        self.deferred_before(stream, index).is_some()
    }

    /// Returns true if the peer may request no further reset until the user has got events of earlier resets.
    pub(crate) fn has_many_marks(&self) -> bool {
        self.resets.as_ref().is_some_and(|resets| resets.marks.len() >= MOST_MARKS)
    }

    /// Returns true if a reset is deferred.
    pub(crate) fn has_deferred(&self) -> bool {
        self.resets.as_ref().is_some_and(|resets| resets.deferred.is_some())
    }

    /// Resets streams of the peer as soon as all data up to TSN `last`, the last TSN before the reset, has
    /// arrived. The caller ensures that no other reset is deferred.
    pub(crate) fn reset_after(&mut self, streams: StreamSet, last: Tsn) {
        let deferred = Deferred { streams, last: self.tsns.index_of(last), held: BTreeMap::new() };
        self.resets.get_or_insert_default().deferred = Some(deferred);
    }

    /// Performs the deferred reset if all data before it has arrived. Returns true in that case.
    ///
    /// # Errors
    /// The rule that the peer broke in data sent after the reset.
    pub(crate) fn finish_deferred(&mut self) -> Result<bool, &'static str> {
        let cumulative = self.tsns.cumulative();
        let Some(resets) = &mut self.resets else { return Ok(false) };
        let Some(deferred) = resets.deferred.take_if(|deferred| deferred.last <= cumulative) else {
            return Ok(false);
        };
        let readable = self.ready.len();
        self.streams.reset(&deferred.streams, &mut self.ready);
        if let Some(interleaved) = &mut self.interleaved {
            interleaved.reset(&deferred.streams);
        }
        self.mark(Reset::Streams(deferred.streams));
        for (_, message) in deferred.held {
            self.streams.accept(message, &mut self.ready)?;
        }
        self.streams.packet_done();
        self.promise(readable);
        Ok(true)
    }

    /// Restarts the peer's streams at 0 and its TSNs at `next`. Complete messages remain readable; an
    /// incomplete message is readable up to its first missing fragment.
    pub(crate) fn begin_again(&mut self, next: Tsn) {
        self.streams.reset(&StreamSet::default(), &mut self.ready);
        for piece in self.ready.iter_mut().filter(|piece| piece.chain != Chain::NONE) {
            gather(piece, &mut self.reassembly, self.interleaved.as_deref_mut());
        }
        let buffer = self.window.size();
        self.reassembly = Reassembly::new(self.cost, buffer);
        if self.interleaved.is_some() {
            self.interleaved = Some(Box::new(Interleaved::new(self.cost, buffer)));
        }
        self.window.keep_only(self.ready.iter().map(|piece| u64::from(piece.cost)).sum());
        self.tsns.jump_to(next);
        if self.non_renegable.is_some() {
            self.non_renegable = Some(Box::new(NonRenegable::new(next, self.reneging)));
        }
        self.sacks.forget_duplicates();
        self.echoes = Echoes::default();
        if let Some(delays) = &mut self.delays {
            delays.clear();
        }
        self.mark(Reset::Association);
        let resets = self.resets.get_or_insert_default();
        resets.base = self.tsns.cumulative() + 1;
        resets.deferred = None;
    }

    /// Returns true if the peer sent the chunk with this TSN before the TSNs were reset.
    #[inline]
    pub(super) fn is_from_before_reset(&self, tsn: Tsn) -> bool {
        self.resets.as_ref().is_some_and(|resets| resets.base > 0 && resets.precede(tsn, &self.tsns))
    }

    /// Adds the event of a reset after all messages that are readable now.
    fn mark(&mut self, reset: Reset) {
        let resets = self.resets.get_or_insert_default();
        let before: usize = resets.marks.iter().map(|mark| mark.pieces).sum();
        resets.marks.push_back(Mark { pieces: self.ready.len() - before, reset });
    }

    /// Returns true if the user must get the event of a reset before the next message.
    #[inline]
    pub(crate) fn is_at_mark(&self) -> bool {
        self.resets.as_ref().is_some_and(|resets| resets.is_at_mark())
    }

    /// Returns the next reset if the user has read all messages before it.
    pub(crate) fn take_mark(&mut self) -> Option<Reset> {
        let marks = &mut self.resets.as_mut()?.marks;
        marks.front().filter(|mark| mark.pieces == 0)?;
        marks.pop_front().map(|mark| mark.reset)
    }

    /// Removes all resets of which the user has got no event yet, and returns them.
    pub(crate) fn drop_marks(&mut self) -> Vec<Reset> {
        let marks = self.resets.as_mut().map(|resets| std::mem::take(&mut resets.marks));
        marks.into_iter().flatten().map(|mark| mark.reset).collect()
    }

    /// Records that the user has read the first readable piece (a message, or a part of one) completely.
    #[inline]
    pub(super) fn note_read(&mut self) {
        if let Some(resets) = &mut self.resets
            && let Some(mark) = resets.marks.front_mut()
        {
            mark.pieces -= 1;
        }
    }

    /// Reneges on the highest message held by a deferred reset, if that message is above `index`.
    pub(super) fn renege_on_held(&mut self, index: u64) -> bool {
        let Some(deferred) = self.resets.as_mut().and_then(|resets| resets.deferred.as_mut()) else {
            return false;
        };
        let Some(highest) = deferred.held.last_entry().filter(|highest| *highest.key() > index) else {
            return false;
        };
        // A chunk up to the cumulative TSN is never dropped.
        if *highest.key() <= self.tsns.cumulative() {
            return false;
        }
        let message = highest.remove();
        self.reassembly.give_up(&message);
        self.forget(message.message, message.fragments, message.payload.len(), message.cost);
        true
    }

    /// Number of streams that the peer may use.
    pub(crate) fn inbound_streams(&self) -> u16 {
        self.inbound_streams
    }

    /// Sets the number of streams that the peer may use.
    pub(crate) fn set_inbound_streams(&mut self, streams: u16) {
        self.inbound_streams = streams;
    }

    /// Returns true if no TSN is missing below the highest one and no message is incomplete.
    pub(crate) fn is_complete(&self) -> bool {
        !self.tsns.has_gaps() && self.reassembly.is_idle()
    }
}

impl Deferred {
    #[cold]
    fn hold(&mut self, message: Piece) {
        self.held.insert(message.message, message);
    }
}

impl Resets {
    #[cold]
    fn is_at_mark(&self) -> bool {
        self.marks.front().is_some_and(|mark| mark.pieces == 0)
    }

    #[cold]
    fn precede(&self, tsn: Tsn, tsns: &TsnTracker) -> bool {
        let index = tsns.index_of(tsn);
        index < self.base || index > tsns.cumulative() + FAR
    }
}
