//! I-DATA chunks (`rfc8260#section-2.2.3`).
//!
//! With interleaving, the receiver never reneges: with NR-SACK all acknowledged chunks are non-renegable.
//! When the buffer is full and the user can read no message, the partial delivery of the oldest incomplete
//! message starts. Each stream has at most one partial delivery at a time.

use super::reassembly::{Piece, append};
use super::{DataVerdict, Receiver};
use crate::path::PathId;
use wire::IData;

impl Receiver {
    /// Processes an I-DATA chunk. After the last chunk of a packet, the caller calls [`Self::packet_done`].
    pub(crate) fn on_i_data(&mut self, data: &IData<'_>, from: PathId) -> DataVerdict {
        let arrival = match self.begin_chunk(data.tsn, data.flags.immediate, data.payload.len(), from) {
            Ok(arrival) => arrival,
            Err(verdict) => return verdict,
        };
        let taken = self.take_i_data(arrival.index, data);
        self.end_chunk(&arrival, taken)
    }

    fn take_i_data(&mut self, index: u64, data: &IData<'_>) -> Result<DataVerdict, &'static str> {
        let fragment = !(data.flags.beginning && data.flags.ending);
        let kept = data.stream.0 < self.inbound_streams;
        if kept && fragment && self.is_skipped(index, data) {
            return Ok(self.take_without_keeping(index));
        }
        let Some(interleaved) = &self.interleaved else { return Err("I-DATA without interleaving") };
        if kept && (fragment || !interleaved.is_idle()) {
            interleaved.check(data)?;
        }
        if kept
            && fragment
            && !data.flags.unordered
            && self.streams.is_past(data.stream, data.mid)
            && !self.is_behind_reset(data.stream, index)
        {
            return Err("a message identifier is used again");
        }
        let length = data.payload.len();
        if !self.tsns.has_place_for(index) || (kept && !self.make_room(index, length)) {
            return Ok(DataVerdict::NoRoom);
        }
        self.tsns.insert(index);
        if !kept {
            return Ok(DataVerdict::InvalidStream);
        }
        self.stats.user_bytes += length.into();
        self.window.hold(self.cost.of(length));
        match &mut self.interleaved {
            Some(interleaved) if fragment => {
                let outcome = interleaved.insert(index, data);
                self.joined(outcome)?;
            }
            _ => self.accept(Piece::interleaved(index, data, self.cost))?,
        }
        Ok(DataVerdict::Accepted)
    }

    /// Records a chunk of a skipped message without keeping it.
    fn take_without_keeping(&mut self, index: u64) -> DataVerdict {
        if !self.tsns.has_place_for(index) {
            return DataVerdict::NoRoom;
        }
        self.tsns.insert(index);
        DataVerdict::Accepted
    }

    /// Starts the partial delivery of the oldest incomplete message, if it is the next message of its stream.
    pub(super) fn hand_out_oldest(&mut self) {
        let Some(interleaved) = &mut self.interleaved else { return };
        let Some(oldest) = interleaved.oldest(self.tsns.cumulative()) else { return };
        if !oldest.unordered {
            if !self.streams.is_next(oldest.stream, oldest.mid()) {
                return;
            }
            self.streams.begin(oldest.stream);
        }
        if let Some(piece) = interleaved.begin_partial() {
            append(&mut self.ready, piece);
        }
    }
}
