//! Step C of SACK processing: counts missing reports, and marks chunks as lost that have enough of them.

use super::dac;
use super::sack::LOSS_WEIGHT;
use super::{COMMON_HEADER, ChunkState, MISSING_REPORTS, Mark, Outstanding, SackDelta, Sender};
use crate::path::{Loss, LossCause, LossTrigger, NIL, Paths};
use crate::steps;
use units::ByteCount;

impl Sender {
    /// Counts the missing reports of one SACK for chunks below `last`, the end of the SACK's last Gap Ack
    /// Block. Only chunks that were sent once can be reported, since a chunk is fast retransmitted once. Each
    /// chunk is visited at most [`MISSING_REPORTS`] times.
    pub(super) fn report_missing(
        &mut self,
        packets: u8,
        advanced: bool,
        last: u64,
        paths: &mut Paths,
        delta: &mut SackDelta,
    ) {
        let fresh_evidence = delta.iter().filter(|delta| delta.saw_new).count();
        let highest = delta.iter().filter_map(|delta| delta.hi).max();
        // DAC (several reports per SACK) refines the reports of SFR (evidence by path; paper 001 §3.3).
        // Without SFR, all paths share their evidence.
        let counts_packets = self.cmt.dac && self.cmt.sfr;
        for p in paths.ids() {
            let limit = if self.cmt.sfr {
                delta[p].hi
            } else if paths[p].recovery.is_some() && advanced {
                Some(last) // rfc9260#section-7.2.4: in recovery, every missing chunk counts
            } else {
                highest
            };
            let Some(limit) = limit else { continue };
            if paths[p].rack.as_ref().is_some_and(|rack| !rack.counts_reports()) {
                continue;
            }
            let evidence = dac::Evidence { paths: fresh_evidence, lo: delta[p].lo, packets };
            let mut i = paths[p].fresh.head;
            while i != NIL && i < limit {
                let next = self.out.following(i);
                let chunk = &mut self.out[i];
                if chunk.is(Mark::Credited) {
                    steps::count(1)
                } else {
                    steps::count_paid(1)
                }
                chunk.missing += if counts_packets { evidence.reports(i) } else { 1 };
                if chunk.missing >= MISSING_REPORTS {
                    delta[p].hit |= self.mark_lost_in_steps(i, LossTrigger::MissingReports, paths);
                }
                i = next;
            }
        }
    }

    /// Marks chunk `i`, which is in flight, as lost before T3-rtx expires. The work per packet is limited: if
    /// no step is left to find the position of the chunk in the list of lost chunks, returns false, and the
    /// chunk needs one more missing report to be lost.
    pub(super) fn mark_lost_in_steps(&mut self, i: u64, trigger: LossTrigger, paths: &mut Paths) -> bool {
        if self.out[i].is(Mark::Abandoned) {
            self.lose_abandoned(i, paths);
            return true;
        }
        let lost = &paths[self.out[i].path].lost_fast;
        match self.out.place(lost, i, &mut self.limits.steps) {
            Some(before) => self.mark_lost_after(before, i, trigger, paths),
            None => {
                self.limits.steps = 0;
                self.out[i].missing = MISSING_REPORTS - 1;
                return false;
            }
        }
        true
    }

    /// Takes chunk `i` out of flight without an acknowledgement.
    pub(super) fn take_from_flight(&mut self, i: u64, paths: &mut Paths) {
        let chunk = &self.out[i];
        let path = &mut paths[chunk.path];
        let flight_size = ByteCount::new(u64::from(chunk.flight_size));
        self.out.unlink(chunk.flight_list(path), i);
        path.flight -= flight_size;
        self.peer.gone(flight_size);
    }

    /// Marks chunk `i`, in flight, as lost. The chunk then waits for retransmission, unless it is abandoned.
    pub(super) fn mark_lost(&mut self, i: u64, trigger: LossTrigger, paths: &mut Paths) {
        if self.out[i].is(Mark::Abandoned) {
            return self.lose_abandoned(i, paths);
        }
        let lost = paths[self.out[i].path].lost(LossCause::of(trigger));
        let before = self.out.place(lost, i, &mut { u32::MAX }).unwrap_or(lost.tail);
        self.mark_lost_after(before, i, trigger, paths);
    }

    fn mark_lost_after(&mut self, before: u64, i: u64, trigger: LossTrigger, paths: &mut Paths) {
        let cause = LossCause::of(trigger);
        if cause == LossCause::Timeout {
            self.forget_resent(i);
        }
        let size = COMMON_HEADER + self.chunk_len(self.out[i].len());
        let chunk = &mut self.out[i];
        let path = &mut paths[chunk.path];
        if cause == LossCause::Timeout {
            chunk.mark(Mark::TimedOut);
        } else {
            if let Some(rack) = &mut path.rack {
                rack.lost_one(path.recovery.is_some());
            }
            if let Some(pmtud) = &mut path.pmtud
                && path.lost_fast.first().is_none()
            {
                pmtud.data_lost(size, chunk.sent_at, path.loss_rate);
            }
        }
        path.loss_rate += (1.0 - path.loss_rate) * LOSS_WEIGHT;
        if let Some(rate) = &mut path.rate {
            rate.estimator.on_lost(ByteCount::new(u64::from(chunk.flight_size)));
        }
        self.queue_lost(before, i, trigger, paths);
    }

    /// Queues chunk `i`, in flight, for retransmission after chunk `before` of the list of lost chunks.
    pub(super) fn queue_lost(&mut self, before: u64, i: u64, trigger: LossTrigger, paths: &mut Paths) {
        let cause = LossCause::of(trigger);
        if let Some(losses) = &mut self.losses {
            losses.push(Loss { path: self.out[i].path, tsn: Outstanding::tsn(i), trigger });
        }
        self.out[i].state = ChunkState::Lost(cause);
        self.out[i].missing = 0;
        self.take_from_flight(i, paths);
        self.note_lost(i);
        self.peer.lose(ByteCount::new(u64::from(self.out[i].flight_size)));
        let path = &mut paths[self.out[i].path];
        self.out.link_after(path.lost(cause), before, i);
    }
}
