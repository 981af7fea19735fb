//! Resets of streams on which the peer sends (`rfc6525#section-5.2.2`).
//!
//! A reset that the peer requested before all its data arrived is deferred until the cumulative TSN
//! reaches the last TSN that the peer named. Until then the receive buffer holds messages of its
//! streams above that TSN. A mark in the queue of readable messages separates messages before and after
//! a reset: the user reads up to the mark, gets the event of the reset, and reads on.

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

/// An event for the user after all messages before it are read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reset {
    /// Streams on which the peer sends start again.
    Streams(StreamSet),
    /// All streams of both directions and the TSNs start again.
    Association,
}

/// State of the resets of streams on which the peer sends.
#[derive(Debug, Default)]
pub(super) struct Resets {
    deferred: Option<Deferred>,
    marks: VecDeque<Mark>,
    /// Index of the first TSN since the TSNs were reset; 0 if they were not.
    base: u64,
}

/// A reset that waits for TSNs.
#[derive(Debug)]
struct Deferred {
    streams: StreamSet,
    /// Index of the last TSN before the reset.
    last: u64,
    /// Messages behind the reset, by the index of their first TSN.
    held: BTreeMap<u64, Piece>,
}

#[derive(Debug)]
struct Mark {
    /// Pieces that the user reads between the previous mark and this one.
    pieces: usize,
    reset: Reset,
}

/// Maximum number of marks that wait for the user: the peer causes them, and each may name many streams.
const MOST_MARKS: usize = 32;

/// A distance above the cumulative TSN beyond the reach of Gap Ack Blocks: after a reset of TSNs, a
/// chunk further above was sent before the reset.
const FAR: u64 = 1 << 17;

impl Receiver {
    /// Adds a complete message.
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

    /// The deferred reset that a chunk of a stream is behind.
    fn deferred_before(&mut self, stream: StreamId, index: u64) -> Option<&mut Deferred> {
        let deferred = self.resets.as_mut()?.deferred.as_mut()?;
        (index > deferred.last && deferred.streams.contains(stream)).then_some(deferred)
    }

    /// Returns true if a chunk of a stream is behind a deferred reset.
    pub(super) fn is_behind_reset(&mut self, stream: StreamId, index: u64) -> bool {
        self.deferred_before(stream, index).is_some()
    }

    /// Returns true if the peer may request no further reset until the user got the events of earlier ones.
    pub(crate) fn has_many_marks(&self) -> bool {
        self.resets.as_ref().is_some_and(|resets| resets.marks.len() >= MOST_MARKS)
    }

    /// Returns true if a reset waits for TSNs.
    pub(crate) fn has_deferred(&self) -> bool {
        self.resets.as_ref().is_some_and(|resets| resets.deferred.is_some())
    }

    /// Resets streams of the peer, whose last data has TSN `last`, now or once all data up to it has
    /// arrived. The caller ensures that no other reset is deferred.
    pub(crate) fn reset_after(&mut self, streams: StreamSet, last: Tsn) {
        let deferred = Deferred { streams, last: self.tsns.index_of(last), held: BTreeMap::new() };
        self.resets.get_or_insert_default().deferred = Some(deferred);
    }

    /// Performs the deferred reset if all data before it has arrived; returns true if it did.
    ///
    /// # Errors
    /// The rule that the peer broke in data behind the reset.
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

    /// Starts the peer's streams at 0 and its TSNs at `next`. Complete messages remain readable; an
    /// incomplete message is readable up to its first gap.
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

    /// Returns true if the peer sent a chunk before the TSNs were reset.
    #[inline]
    pub(super) fn is_from_before_reset(&self, tsn: Tsn) -> bool {
        self.resets.as_ref().is_some_and(|resets| resets.base > 0 && resets.precede(tsn, &self.tsns))
    }

    /// Places the event of a reset after all messages that can be read now.
    fn mark(&mut self, reset: Reset) {
        let resets = self.resets.get_or_insert_default();
        let before: usize = resets.marks.iter().map(|mark| mark.pieces).sum();
        resets.marks.push_back(Mark { pieces: self.ready.len() - before, reset });
    }

    /// Returns true if the event of a reset comes next for the user.
    #[inline]
    pub(crate) fn is_at_mark(&self) -> bool {
        self.resets.as_ref().is_some_and(|resets| resets.is_at_mark())
    }

    /// Returns the next reset once all messages before it are read.
    pub(crate) fn take_mark(&mut self) -> Option<Reset> {
        let marks = &mut self.resets.as_mut()?.marks;
        marks.front().filter(|mark| mark.pieces == 0)?;
        marks.pop_front().map(|mark| mark.reset)
    }

    /// Returns the resets that the user got no event for, and removes their marks.
    pub(crate) fn drop_marks(&mut self) -> Vec<Reset> {
        let marks = self.resets.as_mut().map(|resets| std::mem::take(&mut resets.marks));
        marks.into_iter().flatten().map(|mark| mark.reset).collect()
    }

    /// Records that the first piece was read to its end.
    #[inline]
    pub(super) fn note_read(&mut self) {
        if let Some(resets) = &mut self.resets
            && let Some(mark) = resets.marks.front_mut()
        {
            mark.pieces -= 1;
        }
    }

    /// Reneges on the highest message behind a deferred reset if it is above `index`.
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
