//! FORWARD TSN: the peer has abandoned messages, which the receiver skips (`rfc3758#section-3.6`).

use super::Receiver;
use crate::path::PathId;
use wire::{Data, ForwardTsn, Mid};

/// A FORWARD TSN that skips more TSNs than this beyond the highest that arrived is ignored, unless the receive buffer could
/// hold as many chunks of one byte.
const MOST_SKIPPED: u64 = 1 << 16;

impl Receiver {
    /// Processes a FORWARD TSN; [`Self::packet_done`] follows at the end of the packet. False if it is ignored.
    pub(crate) fn on_forward_tsn(&mut self, forward: &ForwardTsn<'_>, from: PathId) -> bool {
        self.stats.forward_tsns += 1;
        let new = self.tsns.index_of(forward.new_cumulative_tsn);
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
        self.drop_fragments(new);
        for (stream, ssn) in forward.skips() {
            if stream.0 < self.inbound_streams {
                self.streams.skip(stream, Mid(ssn.0.into()), &mut self.ready);
            }
        }
        self.promise(readable);
        self.relieve();
        if self.window.has_reopened() {
            self.sacks.force();
        }
        true
    }

    /// Drops the fragments of messages that cannot be completed, since they lack a TSN up to `new`.
    fn drop_fragments(&mut self, new: u64) {
        let (cost, aborted) = self.reassembly.skip_to(new);
        self.window.release(cost);
        if let Some(end) = aborted {
            let (stream, unordered) = (end.stream, end.unordered);
            super::append(&mut self.ready, end);
            if !unordered {
                self.streams.advance(stream, &mut self.ready);
            }
        }
    }

    /// A fragment of a message of which the fragment before was skipped: it arrived, but is not kept. False if it is not.
    #[inline]
    pub(super) fn is_orphan(&self, index: u64, data: &Data<'_>) -> bool {
        !data.flags.beginning && self.reassembly.is_orphan(index)
    }

    /// Takes such a fragment.
    #[cold]
    pub(super) fn drop_orphan(&mut self, index: u64) {
        self.tsns.insert(index);
        if let Some(non_renegable) = &mut self.non_renegable {
            non_renegable.keep(index, 1, &self.tsns);
        }
        self.drop_fragments(index);
    }
}
