//! SACK processing. Whatever options are set, the steps A to H below run in this order.

use super::partial::Cause;
use super::ranges::{Range, cut_below, difference, trim_common};
use super::{COMMON_HEADER, ChunkState, Mark, PathDelta, PerPath, SackDelta, Sender, cuc};
use crate::config::{Cuc, Timestamps};
use crate::path::{Path, PathId, Paths};
use crate::steps;
use cc::{LossKind, PathAck};
use units::{ByteCount, Instant, Span};
use wire::{Sack, Tsn};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SackOutcome {
    /// One bit per path: bytes sent on the path are acknowledged for the first time.
    pub(crate) acked_paths: u32,
    /// One bit per path: a newly acknowledged chunk of the path was sent only once, so that its RTT is known.
    pub(crate) timed_paths: u32,
    /// True if the cumulative TSN advanced.
    pub(crate) advanced: bool,
}

/// The contents of an acknowledgement except its TSNs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Told {
    /// `None` in a SHUTDOWN, and in an NR-SACK that arrives after a later one.
    pub(super) a_rwnd: Option<u32>,
    /// Packets with data that the peer received since its previous SACK (DAC). `None` in a SHUTDOWN, which
    /// reports no gaps.
    pub(super) packets: Option<u8>,
}

impl Sender {
    /// Processes a SACK. The error text names the rule that the peer broke (`rfc9260#section-6.2.1`).
    pub(crate) fn on_sack(
        &mut self,
        now: Instant,
        sack: &Sack<'_>,
        paths: &mut Paths,
    ) -> Result<SackOutcome, &'static str> {
        self.take_sack(now, sack, paths, &mut SackDelta::default())
    }

    pub(super) fn take_sack(
        &mut self,
        now: Instant,
        sack: &Sack<'_>,
        paths: &mut Paths,
        delta: &mut SackDelta,
    ) -> Result<SackOutcome, &'static str> {
        if std::mem::replace(&mut self.sack_taken, true) {
            return Ok(SackOutcome::default());
        }
        let cum = self.out.index_of(sack.cumulative_tsn_ack);
        self.acked.said.clear();
        if self.is_from_before_reset(cum) {
            return Ok(SackOutcome::default());
        }
        let (a_rwnd, packets) = (Some(sack.a_rwnd), Some(sack.packets_since_last));
        let told = Told { a_rwnd, packets };
        if cum + 1 >= self.out.first_index() {
            self.acked.read(cum, sack.gap_blocks(), self.out.next_index())?;
            if self.peer.nr_sacks {
                self.acked.say_non_renegable(cum);
            }
        }
        let outcome = self.acknowledge_all(now, cum, told, paths, delta)?;
        self.note_duplicates(now, sack.duplicates(), paths);
        Ok(outcome)
    }

    /// Processes the cumulative TSN of a SHUTDOWN, which has no Gap Ack Blocks (`rfc9260#section-9.2`).
    pub(crate) fn on_cumulative_ack(
        &mut self,
        now: Instant,
        cum: Tsn,
        paths: &mut Paths,
    ) -> Result<SackOutcome, &'static str> {
        let cum = self.out.index_of(cum);
        self.acknowledge_all(now, cum, Told::default(), paths, &mut SackDelta::default())
    }

    pub(super) fn acknowledge_all(
        &mut self,
        now: Instant,
        cum: u64,
        told: Told,
        paths: &mut Paths,
        delta: &mut SackDelta,
    ) -> Result<SackOutcome, &'static str> {
        if cum >= self.out.next_index() {
            return Err("cumulative TSN ack for a TSN never sent");
        }
        if cum + 1 < self.out.first_index() {
            return Ok(SackOutcome::default()); // overtaken by a later acknowledgement
        }
        self.heard = true;
        self.hear(now, paths);
        self.note_sack(paths);
        delta.begin(paths);
        let advanced = self.take_cumulative(now, cum, paths, delta);
        let beyond_gap = match told.packets {
            Some(_) => self.take_gaps(now, paths, delta)?,
            None => self.acked.gaps.last().map(|range| range.last), // a SHUTDOWN reports no gaps
        };
        if let Some(last) = beyond_gap {
            self.report_missing(told.packets.unwrap_or(0), advanced, last, paths, delta);
        }
        self.find_late(now, paths, delta);
        self.end_recovery(cum, paths);
        for (path, delta) in paths.iter_mut().zip(delta.iter()) {
            if let Some(rtt) = delta.rtt
                && path.liveness.has_answered()
            {
                // Each SACK gives a sample, although rule C4 (rfc9260#section-6.3.1) recommends one per RTT.
                path.rto.sample(now, rtt, &self.config);
            }
        }
        if let Some(a_rwnd) = told.a_rwnd {
            self.peer.advertise(a_rwnd, paths.flight(), self.config.sws_limit); // step E
        }
        self.grow(now, paths, delta);
        self.enter_recovery(now, paths, delta);
        if self.cmt.enabled {
            paths.iter_mut().for_each(|path| path.measure_rate(now));
        }
        self.adjust_timers(now, paths, delta);
        self.after_losses(now, Cause::Sack, paths);
        self.buffer.tune(self.retained);
        let mut outcome = outcome(advanced, paths, delta);
        if let Some(p) = self.forward_answered(cum) {
            outcome.acked_paths |= 1 << p.0;
        }
        Ok(outcome)
    }

    /// Counts the chunks up to `cum`, all of them abandoned, as acknowledged.
    #[cold]
    pub(super) fn take_skipped(&mut self, now: Instant, cum: u64, paths: &mut Paths) {
        let delta = &mut SackDelta::default();
        delta.begin(paths);
        self.take_cumulative(now, cum, paths, delta);
        self.adjust_timers(now, paths, delta);
    }

    /// Step A: removes chunks up to the cumulative TSN from the ring of sent chunks. True if the TSN
    /// advanced.
    fn take_cumulative(&mut self, now: Instant, cum: u64, paths: &mut Paths, delta: &mut SackDelta) -> bool {
        let advanced = self.out.first_index() <= cum;
        while self.out.first_index() <= cum {
            let i = self.out.first_index();
            if self.out[i].is_acked() {
                // A Gap Ack Block has acknowledged the chunk before, so it is no longer in flight.
            } else if self.out[i].is(Mark::Abandoned) {
                self.pass_abandoned(i, paths, delta);
            } else {
                let p = self.acknowledge(now, i, paths, delta);
                paths[p].cuc.forget();
                if !self.out[i].is(Mark::Copied) {
                    delta[p].new_cum = true;
                    delta[p].new_pc = true;
                    delta[p].new_rpc = true;
                }
                self.note_new(i, &mut delta[p]);
            }
            self.note_delivery(i);
            let Some(chunk) = self.out.pop_front() else { break };
            if self.config.timestamps != Timestamps::Off {
                self.acked_paths.push(&chunk);
            }
            self.retained -= chunk.byte_count();
            if !chunk.is_delivered() {
                self.peer.delivered(ByteCount::new(u64::from(chunk.flight_size)));
            }
            if chunk.state != ChunkState::Freed {
                paths[chunk.path].queued -= ByteCount::new(u64::from(chunk.flight_size));
            }
        }
        cut_below(&mut self.acked.gaps, cum);
        advanced
    }

    /// Step B: compares the Gap Ack Blocks with those of the last SACK, and processes only chunks that
    /// differ. Returns the last index in a Gap Ack Block.
    fn take_gaps(
        &mut self,
        now: Instant,
        paths: &mut Paths,
        delta: &mut SackDelta,
    ) -> Result<Option<u64>, &'static str> {
        if self.acked.said == self.acked.gaps {
            return Ok(self.acked.said.last().map(|r| r.last));
        }
        self.limits.next_sack();
        let blocks = std::mem::take(&mut self.acked.said);
        let known = std::mem::take(&mut self.acked.gaps);
        let last = blocks.last().map(|r| r.last);
        cuc::find(self.cmt.cuc, &self.out, last, paths);
        let (gained, lost) = trim_common(&blocks, &known);
        difference(gained, lost, |range| {
            for i in range.first..=range.last {
                let p = self.acknowledge(now, i, paths, delta);
                paths[p].cuc.test(i, &mut delta[p]);
                self.note_new(i, &mut delta[p]);
            }
        });
        let (mut withdraws, mut kept) = (false, Vec::new());
        difference(lost, gained, |range| {
            withdraws = true;
            let mut all = range.first..=range.last;
            if let Some(first) = all.find(|&i| !self.renege(now, i, paths)) {
                kept.push(Range { first, ..range });
            }
        });
        cuc::find(self.cmt.cuc, &self.out, last, paths);
        self.acked.gaps = blocks;
        self.acked.said = known;
        if withdraws {
            self.note_withdrawal(&kept)?;
        }
        Ok(last)
    }

    /// Handles a SACK that reneged on chunks. `kept`: ranges on which it reneged in excess of the limit, and
    /// that still count as acknowledged.
    #[cold]
    fn note_withdrawal(&mut self, kept: &[Range]) -> Result<(), &'static str> {
        if !kept.is_empty() {
            self.acked.keep(kept);
        }
        self.limits.check(self.packets, &self.acked.gaps)
    }

    /// Acknowledges chunk `i`, and removes it from flight or from the list of lost chunks. Returns its path.
    #[inline(always)] // into the loop over the chunks that a SACK acknowledges
    fn acknowledge(&mut self, now: Instant, i: u64, paths: &mut Paths, all: &mut SackDelta) -> PathId {
        let chunk = &self.out[i];
        let (p, state, flight_size) = (chunk.path, chunk.state, ByteCount::new(u64::from(chunk.flight_size)));
        let (path, delta) = (&mut paths[p], &mut all[p]);
        match chunk.state {
            ChunkState::InFlight => {
                delta.oldest |= !chunk.is(Mark::Copied) && i == path.earliest();
                self.out.unlink(chunk.flight_list(path), i);
                path.flight -= flight_size;
            }
            ChunkState::Lost(cause) => {
                self.out.unlink(path.lost(cause), i);
                self.peer.unlose(flight_size);
            }
            ChunkState::Abandoned => {}
            ChunkState::Acked | ChunkState::Freed => return p,
        }
        let chunk = &mut self.out[i];
        chunk.state = ChunkState::Acked;
        if chunk.is(Mark::Credited) {
            steps::count(1);
            self.limits.restored();
        } else {
            steps::count_paid(1);
            chunk.mark(Mark::Credited);
            if chunk.is(Mark::Copied) {
                return p;
            }
            let of_this_route = chunk.sent_at >= path.route_since;
            if of_this_route {
                delta.new_bytes += flight_size;
            }
            path.loss_rate -= path.loss_rate * LOSS_WEIGHT;
            if chunk.transmissions == 1 && of_this_route {
                path.liveness.proven(chunk.sent_at);
                let rtt = now.since(chunk.sent_at);
                delta.rtt = Some(delta.rtt.map_or(rtt, |least| least.min(rtt)));
            }
            if self.config.pmtud
                && of_this_route
                && let Some(pmtud) = &mut path.pmtud
            {
                let chunk = &self.out[i];
                pmtud.data_acked(now, COMMON_HEADER + self.chunk_len(chunk.len()), chunk.sent_at);
            }
            if self.out.keeps_records() {
                self.count_delivery(now, i, path);
            }
            if self.detects_by_time() {
                self.note_arrival(now, i, state, paths);
                all[p].hit |= self.note_repair(i, state, paths);
            }
        }
        p
    }

    /// Counts chunk `i` in the delivery rate of its path. A copied chunk is not counted: its acknowledgement
    /// does not identify the transmission that arrived.
    #[cold]
    fn count_delivery(&self, now: Instant, i: u64, path: &mut Path) {
        if let Some(rate) = &mut path.rate {
            let (chunk, record) = (&self.out[i], self.out.record(i));
            let bytes = ByteCount::new(u64::from(chunk.flight_size));
            rate.estimator.on_delivered(now, bytes, chunk.sent_at, record, chunk.transmissions > 1);
        }
    }

    /// Records newly acknowledged chunk `i` as evidence that older chunks of its path are lost. A copied
    /// chunk is no evidence, since its copy on another path may have arrived.
    fn note_new(&self, i: u64, delta: &mut PathDelta) {
        if self.out[i].is(Mark::Copied) {
            return;
        }
        delta.saw_new = true;
        if self.cmt.smart_fast_rtx && self.out[i].is(Mark::TimedOut) {
            return;
        }
        delta.lo = Some(delta.lo.map_or(i, |lo| lo.min(i)));
        delta.hi = Some(delta.hi.map_or(i, |hi| hi.max(i)));
    }

    /// Puts chunk `i`, on which the peer reneged, in flight again (`rfc9260#section-6.2.1`, step D iii).
    /// Returns false if the peer may renege on no more chunks: then the chunk still counts as acknowledged.
    fn renege(&mut self, now: Instant, i: u64, paths: &mut Paths) -> bool {
        if !self.limits.allow() {
            return false;
        }
        steps::count(1);
        let chunk = &mut self.out[i];
        let path = &mut paths[chunk.path];
        let list = chunk.flight_list(path);
        let Some(before) = self.out.place(list, i, &mut self.limits.steps) else {
            self.limits.steps = 0;
            return false;
        };
        let by_time = self.detects_by_time();
        let chunk = &mut self.out[i];
        if by_time {
            // The SACK may be an older one that was delayed, and the chunk may have arrived. So loss
            // detection counts the chunk as sent now.
            chunk.sent_at = now;
        }
        chunk.state = ChunkState::InFlight;
        chunk.missing = 1;
        path.flight += ByteCount::new(u64::from(chunk.flight_size));
        let list = self.out[i].flight_list(path);
        self.out.link_after(list, before, i);
        self.limits.withdrew();
        path.t3.get_or_insert(now + path.rto.current());
        true
    }

    /// Step D: ends fast recovery of each path whose exit point (the highest TSN outstanding when recovery
    /// began) the cumulative TSN has reached (`rfc9260#section-7.2.4`). With `recovery_by_cuc`, fast recovery
    /// also ends when the pseudo-cumulative TSN of the path has reached the exit point, whatever the CUC
    /// variant.
    fn end_recovery(&mut self, cum: u64, paths: &mut Paths) {
        for path in paths.iter_mut() {
            let Some(exit) = path.recovery else { continue };
            if cum >= exit || (self.cmt.recovery_by_cuc && path.earliest_outstanding() > exit) {
                path.recovery = None;
                if let Some(rack) = &mut path.rack {
                    rack.recovered();
                }
            }
        }
    }

    /// Returns the RTT for the congestion control, adjusted as if all SACKs returned on the fastest path.
    #[inline]
    fn same_return_rtt(&mut self, now: Instant, p: PathId, path: &mut Path, rtt: Span) -> Span {
        let Some(same_return) = &mut self.same_return else { return rtt };
        let even = same_return.sample(now, p, rtt);
        path.note_return_ratio(rtt, even);
        even
    }

    /// Records the arrival path of the SACK that is processed next.
    #[inline]
    pub(crate) fn note_way_of_sack(&mut self, way: PathId) {
        if let Some(same_return) = &mut self.same_return {
            same_return.begin(way);
        }
    }

    /// Step F: calls the congestion control once for the whole SACK.
    fn grow(&mut self, now: Instant, paths: &mut Paths, delta: &SackDelta) {
        let cuc = self.cmt.cuc;
        let mut acks = PerPath::<PathAck>::new();
        for p in paths.ids() {
            let delta = &delta[p];
            let (acked, advanced) = match cuc {
                Cuc::Normal => (delta.new_bytes, delta.new_cum),
                Cuc::V1 => (delta.new_bytes, delta.new_pc),
                Cuc::V2 => (delta.new_bytes, delta.new_pc || delta.new_rpc),
            };
            if acked.is_zero() && !(self.out.keeps_records() && paths[p].has_losses_to_tell()) {
                continue;
            }
            acks.push(PathAck {
                path: p.index(),
                acked,
                advanced,
                flight_before: delta.flight_before,
                flight_after: paths[p].flight,
                rtt: delta.rtt.map(|rtt| self.same_return_rtt(now, p, &mut paths[p], rtt)),
                owd: paths[p].owd.take(),
                lost: ByteCount::ZERO,
                rate: None,
            });
        }
        if self.out.keeps_records() {
            add_rates(&mut acks, paths);
        }
        if acks.is_empty() {
            return;
        }
        if let Some(bottlenecks) = &mut self.bottlenecks {
            for ack in &acks {
                ack.rtt.iter().for_each(|&rtt| bottlenecks.sample(now, PathId(ack.path as u8), rtt, paths));
            }
        }
        let echoed = self.ecn.echoed;
        self.control(now, paths, |control, views, windows| {
            for ((p, view), delta) in views.iter_mut().enumerate().zip(delta.iter()) {
                view.flight = delta.flight_before;
                // rfc3168#section-6.1.2: an acknowledgement with an ECN echo does not let cwnd grow.
                view.in_recovery |= echoed & 1 << p != 0;
            }
            control.on_sack(now, views, &acks, windows);
        });
    }

    /// Step G: starts fast recovery on each path with a newly lost chunk, and reduces its cwnd once. Without
    /// CMT, fast recovery concerns the whole association.
    pub(super) fn enter_recovery(&mut self, now: Instant, paths: &mut Paths, delta: &SackDelta) {
        if !delta.iter().any(|delta| delta.hit) {
            return;
        }
        let association = !self.cmt.enabled;
        if association && paths.iter().any(|p| p.recovery.is_some()) {
            return;
        }
        let hits = paths.ids().filter(|&p| delta[p].hit && paths[p].recovery.is_none());
        let hits = hits.fold(0u32, |set, p| set | 1 << p.0);
        let hit = paths.ids().filter(|p| hits & 1 << p.0 != 0);
        let reduced = self.ecn.reduced_before(hit.clone(), paths);
        for p in hit.clone() {
            let before = paths[p].window;
            if let Some(rack) = &mut paths[p].rack {
                rack.begin(before);
            }
        }
        self.control(now, paths, |control, views, windows| {
            for p in hit.clone().filter(|p| reduced & 1 << p.0 == 0) {
                control.on_loss(now, views, p.index(), LossKind::FastRetransmit, windows);
            }
        });
        let highest = self.out.next_index() - 1;
        for p in hit {
            self.ecn.note_reduction(p, highest);
            let path = &mut paths[p];
            let own = path.fresh.last().max(path.resent.last()).max(path.lost_fast.last());
            path.recovery = Some(if association { highest } else { own.unwrap_or(highest) });
            path.may_resend = true;
            path.stats.fast_recoveries += 1;
        }
    }

    /// Step H: adjusts T3-rtx of each path (`rfc9260#section-6.3.2`).
    fn adjust_timers(&mut self, now: Instant, paths: &mut Paths, delta: &SackDelta) {
        for (path, delta) in paths.iter_mut().zip(delta.iter()) {
            if !delta.new_bytes.is_zero() {
                path.timed_out = false;
                if path.liveness.has_answered() {
                    self.end_silence(now, path);
                }
                path.burst_left = self.config.max_burst;
            }
            if path.flight.is_zero() {
                if !path.has_lost() {
                    path.t3 = None;
                }
            } else if delta.new_cum || (self.cmt.smart_t3 && delta.oldest) {
                path.t3 = Some(now + path.rto.current());
            }
        }
    }
}

/// Adds to `acks` the lost bytes and the rate samples of each path, for a congestion control that models the
/// rate.
#[cold]
fn add_rates(acks: &mut [PathAck], paths: &mut Paths) {
    for ack in acks {
        if let Some(rate) = &mut paths[PathId(ack.path as u8)].rate {
            ack.lost = rate.estimator.take_lost();
            ack.rate = rate.estimator.take_sample();
        }
    }
}

fn outcome(advanced: bool, paths: &Paths, delta: &SackDelta) -> SackOutcome {
    let mut outcome = SackOutcome { advanced, ..SackOutcome::default() };
    for (p, delta) in paths.ids().zip(delta.iter()) {
        outcome.acked_paths |= u32::from(!delta.new_bytes.is_zero()) << p.0;
        outcome.timed_paths |= u32::from(delta.rtt.is_some()) << p.0;
    }
    outcome
}

/// Weight of one chunk in the loss rate of its path.
pub(super) const LOSS_WEIGHT: f64 = 1.0 / 16.0;
