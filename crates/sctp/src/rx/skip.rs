//! FORWARD TSN and I-FORWARD-TSN: the receiver skips messages that the peer has abandoned
//! (`rfc3758#section-3.6`, `rfc8260#section-2.3.1`).

use super::Receiver;
use super::reassembly::{Piece, append};
use crate::path::PathId;
use wire::{Data, ForwardTsn, IData, IForwardTsn, Mid, SkippedMessage, Tsn};

/// A FORWARD TSN is ignored if it skips more TSNs above the highest received TSN than this number, or than
/// the receive buffer has bytes, whichever is larger.
const MOST_SKIPPED: u64 = 1 << 16;

impl Receiver {
    /// Processes a FORWARD TSN. Returns false if it is ignored. After the last chunk of a packet, the caller
    /// calls [`Self::packet_done`].
    pub(crate) fn on_forward_tsn(&mut self, forward: &ForwardTsn<'_>, from: PathId) -> bool {
        self.forward(forward.new_cumulative_tsn, from, |this, new| {
            this.drop_fragments(new);
            for (stream, ssn) in forward.skips() {
                if stream.0 < this.inbound_streams {
                    this.streams.skip(stream, Mid(ssn.0.into()), &mut this.ready);
                }
            }
        })
    }

    /// Processes an I-FORWARD-TSN, as [`Self::on_forward_tsn`] does (`rfc8260#section-2.3.1`).
    pub(crate) fn on_i_forward_tsn(&mut self, forward: &IForwardTsn<'_>, from: PathId) -> bool {
        self.forward(forward.new_cumulative_tsn, from, |this, new| {
            let streams = this.inbound_streams;
            for message in forward.skipped().filter(|message| message.stream.0 < streams) {
                this.skip_message(new, message);
            }
        })
    }

    /// Moves the cumulative TSN to `new`, and calls `skip` with the index of `new` to skip the messages.
    fn forward(&mut self, new: Tsn, from: PathId, skip: impl FnOnce(&mut Self, u64)) -> bool {
        self.stats.forward_tsns += 1;
        let new = self.tsns.index_of(new);
        if new <= self.tsns.cumulative() {
            self.sacks.forward(from, true, false);
            return true;
        }
        if new - self.tsns.highest().min(new) > MOST_SKIPPED.max(self.window.size_and_held().0.into()) {
            return false;
        }
        self.sacks.forward(from, false, self.tsns.has_gaps());
        let readable = self.ready.len();
        self.tsns.advance_to(new);
        skip(self, new);
        self.promise(readable);
        self.relieve();
        if self.window.has_reopened() {
            self.sacks.force();
        }
        true
    }

    /// Drops the fragments of messages that cannot be completed because they lack a TSN up to `new`.
    fn drop_fragments(&mut self, new: u64) {
        let (cost, aborted) = self.reassembly.skip_to(new);
        self.window.release(cost);
        if let Some(end) = aborted {
            self.end_early(end);
        }
    }

    /// Ends the partial delivery of a message that remains incomplete.
    fn end_early(&mut self, end: Piece) {
        let (stream, unordered) = (end.stream, end.unordered);
        append(&mut self.ready, end);
        if !unordered {
            self.streams.advance(stream, &mut self.ready);
        }
    }

    /// Skips the ordered or unordered messages of a stream up to `message`. `new` is the new cumulative TSN.
    fn skip_message(&mut self, new: u64, message: SkippedMessage) {
        let Some(interleaved) = &mut self.interleaved else { return };
        let (cost, aborted) = interleaved.skip(new, message);
        self.window.release(cost);
        if let Some(end) = aborted {
            self.end_early(end);
        }
        if !message.unordered {
            self.streams.skip(message.stream, message.mid, &mut self.ready);
        }
    }

    /// Returns true if an I-DATA chunk is a fragment of a skipped message. Such a chunk is not kept.
    pub(super) fn is_skipped(&mut self, index: u64, data: &IData<'_>) -> bool {
        if self.stats.forward_tsns == 0 || self.is_behind_reset(data.stream, index) {
            return false;
        }
        if data.flags.unordered {
            self.interleaved.as_ref().is_some_and(|interleaved| interleaved.is_skipped(index, data))
        } else {
            self.streams.is_skipped(data.stream, data.mid)
        }
    }

    /// Returns true if the preceding fragment was skipped. The chunk then counts as received but is not kept.
    #[inline]
    pub(super) fn is_orphan(&self, index: u64, data: &Data<'_>) -> bool {
        !data.flags.beginning && self.reassembly.is_orphan(index)
    }

    /// Records a fragment whose predecessor was skipped, without keeping it.
    #[cold]
    pub(super) fn drop_orphan(&mut self, index: u64) {
        self.tsns.insert(index);
        if let Some(non_renegable) = &mut self.non_renegable {
            non_renegable.keep(index, 1, &self.tsns);
        }
        self.drop_fragments(index);
    }
}
