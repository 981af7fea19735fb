//! NR-SACK processing: as for a SACK, but the sender also frees the bytes of non-renegable chunks
//! (draft-natarajan-tsvwg-sctp-nrsack, section 4).

use super::partial::Cause;
use super::ranges::{Range, cut_below, difference, trim_common};
use super::sack::{SackOutcome, Told};
use super::{ChunkState, SackDelta, Sender};
use crate::path::Paths;
use crate::steps;
use units::{ByteCount, Instant};
use wire::NrSack;

impl Sender {
    /// Processes an NR-SACK. The error text names the rule that the peer broke.
    pub(crate) fn on_nr_sack(
        &mut self,
        now: Instant,
        sack: &NrSack<'_>,
        paths: &mut Paths,
    ) -> Result<SackOutcome, &'static str> {
        self.take_nr_sack(now, sack, paths, &mut SackDelta::default())
    }

    pub(super) fn take_nr_sack(
        &mut self,
        now: Instant,
        sack: &NrSack<'_>,
        paths: &mut Paths,
        delta: &mut SackDelta,
    ) -> Result<SackOutcome, &'static str> {
        if std::mem::replace(&mut self.sack_taken, true) {
            return Ok(SackOutcome::default());
        }
        let told_cum = self.out.index_of(sack.cumulative_tsn_ack);
        self.acked.said.clear();
        let overtaken = told_cum + 1 < self.out.first_index();
        if (overtaken && !self.config.lean_sacks) || self.is_from_before_reset(told_cum) {
            return Ok(SackOutcome::default());
        }
        self.peer.nr_sacks = true;
        self.acked.read(told_cum, sack.nr_gap_blocks(), self.out.next_index())?;
        let mut said = std::mem::take(&mut self.acked.said);
        let mut cum = told_cum;
        if overtaken {
            // Of an outdated NR-SACK only the non-renegable chunks count: later NR-SACKs may omit them.
            cum = self.out.first_index() - 1;
            cut_below(&mut said, cum);
            self.acked.said.clone_from(&self.acked.gaps);
        } else {
            self.acked.read(cum, sack.gap_blocks(), self.out.next_index())?;
        }
        let known = self.acked.add_non_renegable(cum, &said);
        self.acked.say_non_renegable(cum);
        let a_rwnd = Some(sack.a_rwnd).filter(|_| !overtaken);
        let packets = Some(sack.packets_since_last);
        let told = Told { a_rwnd, packets };
        let outcome = self.acknowledge_all(now, cum, told, paths, delta)?;
        self.free(now, &known, paths);
        self.note_duplicates(now, sack.duplicates(), paths);
        Ok(outcome)
    }

    /// Frees the bytes of the chunks that became non-renegable. `known` are the earlier non-renegable chunks.
    fn free(&mut self, now: Instant, known: &[Range], paths: &mut Paths) {
        let non_renegable = std::mem::take(&mut self.acked.non_renegable);
        let mut freed = false;
        let (new, old) = trim_common(&non_renegable, known);
        difference(new, old, |range| {
            for i in range.first..=range.last {
                steps::count_paid(1);
                let chunk = &mut self.out[i];
                paths[chunk.path].queued -= ByteCount::new(u64::from(chunk.flight_size));
                chunk.state = ChunkState::Freed;
                if chunk.is_delivered() {
                    self.peer.delivered(ByteCount::new(u64::from(chunk.flight_size)));
                }
                self.retained -= self.out.free(i);
                self.note_delivery(i);
                freed = true;
            }
        });
        self.acked.non_renegable = non_renegable;
        if freed {
            self.after_losses(now, Cause::Sack, paths);
        }
    }
}
