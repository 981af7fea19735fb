//! Segments that were sent and that the peer has not acknowledged cumulatively.
//!
//! Each segment is in flight, lost and waiting for retransmission, or selectively acknowledged. Segments have
//! indices that count up and never wrap. The cost of an acknowledgement depends on the number of newly
//! acknowledged segments, not on the number of segments in flight.

use crate::ranges::{Range, Ranges};
use cc::SendRecord;
use std::collections::VecDeque;
use std::ops::Index;
use units::Instant;

/// A segment that was sent and is not acknowledged cumulatively.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// Position of the first byte of the segment.
    pub(crate) start: u64,
    /// Length in sequence numbers: data bytes and the FIN.
    pub(crate) len: u32,
    pub(crate) fin: bool,
    pub(crate) state: SentState,
    pub(crate) retransmitted: bool,
    /// Number of transmissions that count as in flight.
    copies: u8,
    /// Time of the last transmission.
    pub(crate) sent_at: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SentState {
    InFlight,
    /// The segment waits for retransmission.
    Lost,
    /// The segment is selectively acknowledged; the peer may renege.
    Sacked,
}

impl Sent {
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }

    /// User bytes of the segment.
    #[inline]
    pub(crate) fn data_len(&self) -> u32 {
        self.len - u32::from(self.fin)
    }

    #[cfg(test)]
    pub(super) fn copies(&self) -> u64 {
        u64::from(self.copies)
    }

    #[inline]
    fn in_flight(&self) -> u64 {
        u64::from(self.len) * u64::from(self.copies)
    }
}

#[derive(Debug)]
pub(crate) struct Flight {
    /// Index of the first segment.
    first: u64,
    segments: VecDeque<Sent>,
    /// Position of the oldest byte that is not acknowledged (SND.UNA).
    una: u64,
    /// Position of the next byte to be sent for the first time (SND.NXT).
    nxt: u64,
    /// Bytes in flight (`rfc6675#section-4`, pipe): sent, and neither acknowledged nor lost. A segment that
    /// was retransmitted without being lost counts twice.
    in_flight: u64,
    /// Indices of lost segments, ascending.
    lost: VecDeque<u64>,
    lost_bytes: u64,
    /// Indices of segments that are selectively acknowledged.
    sacked: Ranges,
    sacked_segments: u64,
    /// [`Self::lose_by_sack`] has examined all segments below this index.
    judged: u64,
    /// Transmissions in the order of time. Outdated entries are skipped. Used only by RACK.
    by_time: Option<VecDeque<(u64, Instant)>>,
    /// State of the path at the last transmission of each segment. Used only for rate samples.
    records: Option<VecDeque<SendRecord>>,
    /// Bytes of transmissions that were declared lost since the last call of [`Self::take_newly_lost`].
    newly_lost: u64,
}

impl Flight {
    /// An empty flight at `position`. `by_time` is true if the caller will use [`Self::lose_by_time`].
    pub(crate) fn new(position: u64, by_time: bool) -> Self {
        Flight {
            first: 0,
            segments: VecDeque::new(),
            una: position,
            nxt: position,
            in_flight: 0,
            lost: VecDeque::new(),
            lost_bytes: 0,
            sacked: Ranges::default(),
            sacked_segments: 0,
            judged: 0,
            by_time: by_time.then(VecDeque::new),
            records: None,
            newly_lost: 0,
        }
    }

    /// Keeps a [`SendRecord`] of each transmission from now on. Must be called before the first transmission.
    pub(crate) fn keep_records(&mut self) {
        self.records = Some(VecDeque::new());
    }

    /// Records a transmission of segment `i`.
    pub(crate) fn set_record(&mut self, i: u64, record: SendRecord) {
        if let Some(records) = &mut self.records {
            records[(i - self.first) as usize] = record;
        }
    }

    #[inline]
    fn record(&self, i: u64) -> Option<SendRecord> {
        self.records.as_ref().map(|records| records[(i - self.first) as usize])
    }

    pub(crate) fn newly_lost(&self) -> u64 {
        self.newly_lost
    }

    pub(crate) fn take_newly_lost(&mut self) -> u64 {
        std::mem::take(&mut self.newly_lost)
    }

    #[inline]
    pub(crate) fn una(&self) -> u64 {
        self.una
    }

    #[inline]
    pub(crate) fn nxt(&self) -> u64 {
        self.nxt
    }

    #[inline]
    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight
    }

    /// FlightSize (`rfc5681#section-2`): bytes sent and not acknowledged cumulatively, without lost bytes.
    #[inline]
    pub(crate) fn size(&self) -> u64 {
        self.nxt - self.una - self.lost_bytes
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// Index of the oldest segment.
    #[inline]
    pub(crate) fn first_index(&self) -> u64 {
        self.first
    }

    /// Index of the next segment to be sent for the first time.
    #[inline]
    pub(crate) fn next_index(&self) -> u64 {
        self.first + self.segments.len() as u64
    }

    #[inline]
    pub(crate) fn sacked_segments(&self) -> u64 {
        self.sacked_segments
    }

    /// Index of the next segment to retransmit.
    #[inline]
    pub(crate) fn next_lost(&self) -> Option<u64> {
        self.lost.front().copied()
    }

    #[inline]
    fn segment(&mut self, i: u64) -> &mut Sent {
        &mut self.segments[(i - self.first) as usize]
    }

    /// Adds a new segment that is sent now.
    pub(crate) fn push(&mut self, len: u32, fin: bool, now: Instant) -> u64 {
        let i = self.next_index();
        let state = SentState::InFlight;
        let (start, copies) = (self.nxt, 1);
        self.segments.push_back(Sent { start, len, fin, state, retransmitted: false, copies, sent_at: now });
        if let Some(records) = &mut self.records {
            records.push_back(SendRecord::default());
        }
        self.nxt += u64::from(len);
        self.in_flight += u64::from(len);
        self.note_time(i, now);
        i
    }

    /// Marks a segment as retransmitted now.
    pub(crate) fn resend(&mut self, i: u64, now: Instant) {
        let segment = &mut self.segments[(i - self.first) as usize];
        let len = u64::from(segment.len);
        if segment.state == SentState::Lost {
            segment.state = SentState::InFlight;
            self.lost_bytes -= len;
            forget(&mut self.lost, i);
        }
        segment.retransmitted = true;
        segment.sent_at = now;
        if segment.copies < u8::MAX {
            segment.copies += 1;
            self.in_flight += len;
        }
        self.note_time(i, now);
    }

    fn note_time(&mut self, i: u64, now: Instant) {
        if let Some(by_time) = &mut self.by_time {
            by_time.push_back((i, now));
        }
    }

    /// Processes a cumulative acknowledgement. Calls `tell` with every newly acknowledged segment.
    #[inline]
    pub(crate) fn acknowledge(&mut self, position: u64, mut tell: impl FnMut(&Sent, Option<SendRecord>)) {
        debug_assert!(position >= self.una && position <= self.nxt);
        self.una = position;
        while let Some(&segment) = self.segments.front().filter(|segment| segment.start < position) {
            if segment.end() > position {
                self.cut_first((position - segment.start) as u32);
                break;
            }
            self.in_flight -= segment.in_flight();
            match segment.state {
                SentState::Sacked => self.sacked_segments -= 1,
                SentState::Lost => {
                    forget(&mut self.lost, self.first);
                    self.lost_bytes -= u64::from(segment.len);
                }
                SentState::InFlight => {}
            }
            if segment.state != SentState::Sacked {
                tell(&segment, self.record(self.first));
            }
            self.segments.pop_front();
            if let Some(records) = &mut self.records {
                records.pop_front();
            }
            self.first += 1;
        }
        self.sacked.cut_below(self.first);
    }

    /// Removes the acknowledged first bytes of the first segment.
    fn cut_first(&mut self, bytes: u32) {
        let Some(segment) = self.segments.front_mut() else { return };
        segment.start += u64::from(bytes);
        segment.len -= bytes;
        self.in_flight -= u64::from(bytes) * u64::from(segment.copies);
        if segment.state == SentState::Lost {
            self.lost_bytes -= u64::from(bytes);
        }
    }

    /// Processes a SACK block. Calls `tell` with every newly acknowledged segment, and returns the sum of
    /// their bytes. Ignores partly covered segments.
    pub(crate) fn sack(
        &mut self,
        left: u64,
        right: u64,
        mut tell: impl FnMut(&Sent, Option<SendRecord>),
    ) -> u64 {
        if left >= right || right <= self.una || right > self.nxt {
            return 0;
        }
        let from = self.first + self.segments.partition_point(|segment| segment.start < left) as u64;
        let end = match self.segments.back() {
            Some(last) if last.end() <= right => self.next_index(),
            _ => self.first + self.segments.partition_point(|segment| segment.end() <= right) as u64,
        };
        let mut bytes = 0;
        let mut sacked = std::mem::take(&mut self.sacked);
        sacked.insert(Range { first: from, end }, |missing| {
            for i in missing.first..missing.end {
                let segment = *self.segment(i);
                tell(&segment, self.record(i));
                bytes += u64::from(segment.len);
                self.take_sacked(i);
            }
        });
        self.sacked = sacked;
        bytes
    }

    fn take_sacked(&mut self, i: u64) {
        let segment = &mut self.segments[(i - self.first) as usize];
        self.in_flight -= segment.in_flight();
        if segment.state == SentState::Lost {
            self.lost_bytes -= u64::from(segment.len);
            forget(&mut self.lost, i);
        }
        segment.copies = 0;
        segment.state = SentState::Sacked;
        self.sacked_segments += 1;
    }

    pub(crate) fn lose(&mut self, i: u64) {
        let segment = &mut self.segments[(i - self.first) as usize];
        if segment.state != SentState::InFlight {
            return;
        }
        self.in_flight -= segment.in_flight();
        self.newly_lost += segment.in_flight();
        segment.copies = 0;
        segment.state = SentState::Lost;
        self.lost_bytes += u64::from(segment.len);
        match self.lost.back() {
            Some(&last) if last > i => {
                let at = self.lost.partition_point(|&other| other < i);
                self.lost.insert(at, i);
            }
            _ => self.lost.push_back(i),
        }
    }

    /// Marks segments as lost after an expiry of the retransmission timer: the first
    /// one, and all others for which `unless` is false. Selectively acknowledged
    /// segments are marked only if `forget` is true (`rfc2018#section-8`).
    pub(crate) fn lose_all(&mut self, forget: bool, mut unless: impl FnMut(&Sent) -> bool) {
        if forget {
            self.forget_sacks();
        }
        for i in self.first..self.next_index() {
            if i == self.first || !unless(&self[i]) {
                self.lose(i);
            }
        }
        self.judged = self.next_index();
    }

    /// Counts all lost segments as in flight again: they were only late.
    pub(crate) fn find_lost(&mut self) {
        for i in std::mem::take(&mut self.lost) {
            let segment = &mut self.segments[(i - self.first) as usize];
            segment.state = SentState::InFlight;
            segment.copies = 1;
            self.in_flight += u64::from(segment.len);
        }
        self.lost_bytes = 0;
    }

    /// Discards all selective acknowledgements, since the peer may have reneged.
    pub(crate) fn forget_sacks(&mut self) {
        let sacked = std::mem::take(&mut self.sacked);
        for range in sacked.descending() {
            for i in range.first..range.end {
                let segment = self.segment(i);
                segment.state = SentState::InFlight;
                segment.copies = 1;
                let len = u64::from(segment.len);
                self.in_flight += len;
            }
        }
        self.sacked_segments = 0;
    }

    /// True if the peer reneged: the first segment is selectively, but not cumulatively acknowledged
    /// (`rfc2018#section-8`).
    pub(crate) fn reneged(&self) -> bool {
        self.segments.front().is_some_and(|segment| segment.state == SentState::Sacked)
    }

    /// Index below which every segment that is not acknowledged is lost (`rfc6675#section-4`, IsLost): at
    /// least three ranges or more than two segments' bytes above it are selectively acknowledged.
    pub(crate) fn sack_boundary(&self, smss: u64) -> u64 {
        let mut bytes = 0;
        for (n, range) in self.sacked.descending().take(DUP_THRESHOLD as usize).enumerate() {
            bytes += self[range.end - 1].end() - self[range.first].start;
            if n as u64 + 1 == DUP_THRESHOLD || bytes > (DUP_THRESHOLD - 1) * smss {
                return range.first;
            }
        }
        self.first
    }

    /// Marks segments below an index as lost if they are not acknowledged. If a segment was retransmitted,
    /// only its first transmission leaves the flight.
    pub(crate) fn lose_by_sack(&mut self, boundary: u64) {
        for i in self.judged.max(self.first)..boundary {
            let segment = self.segment(i);
            if segment.state != SentState::InFlight {
                continue;
            }
            if !segment.retransmitted {
                self.lose(i);
            } else if segment.copies > 1 {
                segment.copies -= 1;
                let len = u64::from(segment.len);
                self.in_flight -= len;
                self.newly_lost += len;
            }
        }
        self.judged = self.judged.max(boundary);
    }

    /// Marks segments as lost in the order of transmission, while `is_lost` is true. Returns true if
    /// any was marked.
    pub(crate) fn lose_by_time(&mut self, mut is_lost: impl FnMut(&Sent) -> bool) -> bool {
        let Some(mut by_time) = self.by_time.take() else { return false };
        let mut any = false;
        while let Some(&(i, at)) = by_time.front() {
            let known = i >= self.first;
            let last = known && self[i].state == SentState::InFlight && self[i].sent_at == at;
            if last {
                if !is_lost(&self[i]) {
                    break;
                }
                self.lose(i);
                any = true;
            }
            by_time.pop_front();
        }
        self.by_time = Some(by_time);
        any
    }

    /// Index of the next segment for NextSeg rule 3 (`rfc6675#section-4`): the first one below the highest
    /// selectively acknowledged range that is neither acknowledged nor retransmitted. Moves `from` to that
    /// segment, so that no segment is examined twice.
    pub(crate) fn next_hole(&self, from: &mut u64) -> Option<u64> {
        let end = self.sacked.last()?.first;
        *from = (*from).max(self.first);
        while *from < end {
            if self[*from].state == SentState::InFlight && !self[*from].retransmitted {
                return Some(*from);
            }
            *from += 1;
        }
        None
    }

    /// The last segment that is not acknowledged (`rfc6675#section-4`, NextSeg rule 4).
    pub(crate) fn last_hole(&self) -> Option<u64> {
        let end = match self.sacked.last() {
            Some(range) if range.end == self.next_index() => range.first,
            _ => self.next_index(),
        };
        (end > self.first).then(|| end - 1)
    }
}

/// Number of duplicate acknowledgements that indicate a loss (`rfc5681#section-3.2`).
pub(crate) const DUP_THRESHOLD: u64 = 3;

/// Removes an index from a sorted queue; mostly it is the first one.
#[inline]
fn forget(queue: &mut VecDeque<u64>, i: u64) {
    if queue.front() == Some(&i) {
        queue.pop_front();
    } else if let Ok(at) = queue.binary_search(&i) {
        queue.remove(at);
    }
}

impl Index<u64> for Flight {
    type Output = Sent;
    #[inline]
    fn index(&self, i: u64) -> &Sent {
        &self.segments[(i - self.first) as usize]
    }
}
