//! The receiving half of an association: records TSNs, sends SACKs, and assembles messages from chunks.
//!
//! All streams and paths share one receive buffer. When the buffer is full, DATA above the highest TSN is
//! dropped. DATA that fills a gap is accepted: to make room, the receiver reneges on the highest chunks that
//! the user cannot read yet (`rfc9260#section-6.2`), never on readable messages. With reneging disabled, DATA
//! above the highest TSN is dropped as soon as the missing TSNs need the rest of the buffer.
//!
//! A message that fills the buffer alone is delivered in parts as it arrives (partial delivery,
//! `rfc9260#section-6.9`). Until an ordered message ends, its stream delivers no other ordered message.
//! Between its parts, the receiver may deliver unordered messages and messages of other streams: [`Received`]
//! identifies each part.

mod delays;
mod echoes;
mod fragments;
mod gaps;
mod i_data;
mod interleaved;
mod lean;
mod non_renegable;
mod reassembly;
mod reserve;
mod reset;
mod sack_policy;
mod skip;
mod streams;
mod window;

use crate::config::Config;
use crate::message::{Payload, Received, Unread};
use crate::path::PathId;
use delays::Delays;
use echoes::Echoes;
use fragments::Chain;
use gaps::{TsnTracker, tsn_of};
use interleaved::Interleaved;
use lean::Lean;
use non_renegable::NonRenegable;
use reassembly::{Outcome, Piece, Reassembly, append};
use reserve::Reserve;
pub(crate) use reset::Reset;
use reset::Resets;
use sack_policy::SackPolicy;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use streams::Streams;
use transport::{BufferBudget, ReceiveTuning};
use units::{ByteCount, Instant, Span};
use window::{ChunkCost, ReceiveWindow};
use wire::{Cwr, Data, GapBlock, NrSack, PacketDelay, PacketWriter, Sack, Ssn, StreamId, Tsn};

/// Joins the fragments of a piece (a message, or a part of one) into one payload.
fn gather(piece: &mut Piece, reassembly: &mut Reassembly, interleaved: Option<&mut Interleaved>) {
    piece.gather(interleaved.map(Interleaved::fragments).or_else(|| reassembly.fragments()));
}

/// Counters of the receiving half of an association.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReceiveStats {
    /// Packets with DATA.
    pub data_packets: u64,
    /// DATA chunks, including dropped ones.
    pub chunks: u64,
    /// User bytes of chunks that were accepted.
    pub user_bytes: ByteCount,
    /// SACKs written.
    pub sacks: u64,
    /// Chunks that had arrived before.
    pub duplicates: u64,
    /// Chunks dropped because the buffer had no room.
    pub dropped: u64,
    /// Chunks dropped after a Gap Ack Block had acknowledged them, to make room (`rfc9260#section-6.2`).
    pub reneged: u64,
    /// FORWARD TSN chunks, including ignored ones (`rfc3758`).
    pub forward_tsns: u64,
    /// Packets with DATA that arrived with the ECN mark "congestion experienced".
    pub marked_packets: u64,
}

/// The decision about a DATA chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DataVerdict {
    /// The chunk is new and kept.
    Accepted,
    /// The chunk had arrived before.
    Duplicate,
    /// The chunk was dropped; the peer must retransmit it.
    NoRoom,
    /// The stream does not exist. The chunk is acknowledged and reported to the peer, but not kept
    /// (`rfc9260#section-6.5`).
    InvalidStream,
    /// The chunk has no user data: the association is aborted (`rfc9260#section-6.2`).
    NoUserData,
    /// The chunk contradicts earlier chunks: the association is aborted.
    Violation(&'static str),
}

/// A chunk with user data that has not arrived before.
struct Arrival {
    index: u64,
    /// Number of user bytes.
    length: usize,
    from: PathId,
    /// True if TSNs were missing below the highest TSN before the chunk arrived.
    had_gaps: bool,
}

/// The receiving half of an association.
#[derive(Debug)]
pub(crate) struct Receiver {
    /// TSNs that arrived.
    tsns: TsnTracker,
    /// Decides when a SACK is sent.
    sacks: SackPolicy,
    /// TSNs that NR-SACKs report as non-renegable; `None` without NR-SACK.
    non_renegable: Option<Box<NonRenegable>>,
    /// Present with lean SACKs only: short SACKs, which repeat few blocks and wait for more data.
    lean: Option<Box<Lean>>,
    /// Present if one-way delays are reported to the peer.
    delays: Option<Box<Delays>>,
    /// ECN marks that no CWR of the peer has answered yet.
    echoes: Echoes,

    /// The receive buffer.
    window: ReceiveWindow,
    /// Present if the receive buffer has the size `auto`.
    tuning: Option<Box<ReceiveTuning>>,
    /// The room that a chunk takes in the receive buffer.
    cost: ChunkCost,
    /// True if the receiver may renege on chunks above a gap to make room for the missing chunk.
    reneging: bool,
    /// Room reserved for missing chunks; present only if `config.reneging` is off.
    reserve: Option<Reserve>,

    /// Fragments of incomplete messages.
    reassembly: Reassembly,
    /// Used in place of `reassembly` if the peer sends I-DATA.
    interleaved: Option<Box<Interleaved>>,
    /// Number of streams that the peer may use.
    inbound_streams: u16,
    /// Number of bytes of an incomplete message at which its partial delivery starts.
    partial_point: Option<ByteCount>,
    /// The order of messages within each stream.
    streams: Streams,
    /// Messages that can be read.
    ready: VecDeque<Piece>,
    /// `None` before the first reset of streams.
    resets: Option<Box<Resets>>,

    stats: ReceiveStats,
}

impl Receiver {
    /// Creates a receiver. `nr_sack`: it sends NR-SACKs in place of SACKs. `delays`: it reports one-way
    /// delays with each SACK. `interleaved`: the peer sends I-DATA in place of DATA. A buffer of the size
    /// `auto` takes memory from `budget` to grow.
    pub(crate) fn new(
        config: &Config,
        peer_initial_tsn: Tsn,
        inbound_streams: u16,
        nr_sack: bool,
        delays: bool,
        interleaved: bool,
        budget: &Arc<BufferBudget>,
    ) -> Self {
        let buffer = config.receive_buffer.first();
        let cost = ChunkCost::new(config.receive_accounting, interleaved);
        let reneging = config.reneging && !interleaved;
        Receiver {
            tsns: TsnTracker::new(peer_initial_tsn),
            reassembly: Reassembly::new(cost, buffer),
            inbound_streams,
            interleaved: interleaved.then(|| Box::new(Interleaved::new(cost, buffer))),
            partial_point: config.partial_delivery_point,
            streams: Streams::new(interleaved),
            ready: VecDeque::new(),
            non_renegable: nr_sack.then(|| Box::new(NonRenegable::new(peer_initial_tsn, reneging))),
            lean: (config.lean_sacks && nr_sack && !reneging).then(|| Box::new(Lean::new(buffer))),
            resets: None,
            window: ReceiveWindow::new(config),
            tuning: ReceiveTuning::new(config.receive_buffer, budget).map(Box::new),
            cost,
            reneging,
            reserve: (!config.reneging).then(Reserve::default),
            sacks: SackPolicy::new(config),
            delays: delays.then(Box::default),
            echoes: Echoes::default(),
            stats: ReceiveStats::default(),
        }
    }

    /// Processes a DATA chunk. After the last chunk of a packet, the caller calls [`Self::packet_done`].
    #[inline(always)]
    pub(crate) fn on_data(&mut self, data: &Data<'_>, from: PathId) -> DataVerdict {
        let arrival = match self.begin_chunk(data.tsn, data.flags.immediate, data.payload.len(), from) {
            Ok(arrival) => arrival,
            Err(verdict) => return verdict,
        };
        let taken = self.take_new(arrival.index, data);
        self.end_chunk(&arrival, taken)
    }

    /// Begins to process a chunk with user data. Returns the final verdict as an error if the chunk is empty,
    /// is a duplicate, or was sent before the last reset of the TSNs.
    #[inline(always)]
    fn begin_chunk(
        &mut self,
        tsn: Tsn,
        immediate: bool,
        length: usize,
        from: PathId,
    ) -> Result<Arrival, DataVerdict> {
        self.stats.chunks += 1;
        if self.is_from_before_reset(tsn) {
            return Err(DataVerdict::Duplicate);
        }
        self.sacks.chunk(from, immediate);
        if length == 0 {
            return Err(DataVerdict::NoUserData);
        }
        let index = self.tsns.index_of(tsn);
        if self.tsns.contains(index) {
            self.stats.duplicates += 1;
            self.sacks.duplicate(tsn);
            if let Some(lean) = &mut self.lean {
                lean.arrived(index, length, from);
            }
            return Err(DataVerdict::Duplicate);
        }
        Ok(Arrival { index, length, from, had_gaps: self.tsns.has_gaps() })
    }

    /// Records the decision about a new chunk.
    #[inline(always)]
    fn end_chunk(&mut self, arrival: &Arrival, taken: Result<DataVerdict, &'static str>) -> DataVerdict {
        match taken {
            Ok(DataVerdict::NoRoom) => {
                self.stats.dropped += 1;
                self.sacks.dropped();
                DataVerdict::NoRoom
            }
            Ok(verdict) => {
                self.sacks.fresh(arrival.had_gaps || self.tsns.has_gaps());
                if let Some(tuning) = &mut self.tuning {
                    tuning.arrived(arrival.from.0, self.window.held());
                }
                if let Some(lean) = &mut self.lean {
                    lean.arrived(arrival.index, arrival.length, arrival.from);
                }
                verdict
            }
            Err(what) => DataVerdict::Violation(what),
        }
    }

    #[inline(always)]
    fn take_new(&mut self, index: u64, data: &Data<'_>) -> Result<DataVerdict, &'static str> {
        let fragment = !(data.flags.beginning && data.flags.ending);
        if fragment && self.is_orphan(index, data) {
            self.drop_orphan(index);
            return Ok(DataVerdict::Accepted);
        }
        let kept = data.stream.0 < self.inbound_streams;
        if fragment || !self.reassembly.is_idle() {
            self.reassembly.check(index, data, &self.tsns, kept)?;
        }
        if !self.tsns.has_place_for(index) || (kept && !self.make_room(index, data.payload.len())) {
            return Ok(DataVerdict::NoRoom);
        }
        self.tsns.insert(index);
        if !kept {
            if let Some(non_renegable) = &mut self.non_renegable {
                non_renegable.keep(index, 1, &self.tsns);
            }
            return Ok(DataVerdict::InvalidStream);
        }
        let readable = self.ready.len();
        self.stats.user_bytes += data.payload.len().into();
        self.window.hold(self.cost.of(data.payload.len()));
        if fragment {
            let outcome = self.reassembly.insert(index, data);
            self.joined(outcome)?;
        } else {
            self.accept(Piece::whole(index, data, self.cost))?;
        }
        self.promise(readable);
        Ok(DataVerdict::Accepted)
    }

    /// Makes the messages in `ready` non-renegable, from position `readable` in the queue on.
    #[inline(always)]
    fn promise(&mut self, readable: usize) {
        if self.non_renegable.is_some() {
            self.keep_for_good(readable);
        }
    }

    #[inline(never)]
    fn keep_for_good(&mut self, readable: usize) {
        let Some(non_renegable) = &mut self.non_renegable else { return };
        // For a later part of a message, `piece.message` is the TSN of the first part. So the TSNs of earlier
        // parts are kept here, which does no harm: every part ends below the first gap, where all TSNs are
        // cumulatively acknowledged.
        for piece in self.ready.range(readable..) {
            non_renegable.keep(piece.message, piece.fragments, &self.tsns);
        }
    }

    /// Delivers the message, or the part of a message, that a new fragment has completed.
    fn joined(&mut self, outcome: Outcome) -> Result<(), &'static str> {
        match outcome {
            Outcome::Message(message) => self.accept(message)?,
            Outcome::Continuation(piece) => {
                let (stream, ends_turn) = (piece.stream, piece.ending && !piece.unordered);
                append(&mut self.ready, piece);
                if ends_turn {
                    self.streams.advance(stream, &mut self.ready);
                }
            }
            Outcome::Waiting => self.relieve(),
        }
        Ok(())
    }

    /// Returns true if the buffer has room for a chunk. To make room, may renege on chunks with higher TSNs.
    #[inline]
    fn make_room(&mut self, index: u64, payload: usize) -> bool {
        let cost = self.cost.of(payload);
        let fits = self.window.fits(cost);
        if self.reneging {
            return fits || self.renege_for(index, cost);
        }
        (fits && (index == self.tsns.cumulative() + 1 || self.leaves_room(index, cost)))
            || self.squeeze_in(index)
    }

    /// Returns false if a chunk has the highest TSN and would take the room reserved for missing chunks.
    fn leaves_room(&mut self, index: u64, cost: u32) -> bool {
        let highest = self.tsns.highest();
        let Some(reserve) = self.reserve.as_mut().filter(|_| index > highest) else { return true };
        reserve.sample(cost);
        let missing = self.tsns.missing() + (index - highest - 1);
        self.window.has_room_for(u64::from(cost).saturating_add(reserve.of(missing)))
    }

    /// Reneges on the highest chunks until a lower chunk fits (`rfc9260#section-6.2`). Returns true if the
    /// chunk fits.
    #[cold]
    fn renege_for(&mut self, index: u64, cost: u32) -> bool {
        while !self.window.fits(cost) {
            if self.renege_on_held(index) {
                continue;
            }
            let fragment = self.reassembly.highest().filter(|&highest| highest > index);
            let parked = self.streams.highest().filter(|&(highest, _)| highest > index);
            match (fragment, parked) {
                (Some(fragment), parked) if parked.is_none_or(|(parked, _)| parked < fragment) => {
                    let length = self.reassembly.drop_highest();
                    self.forget(fragment, 1, length, self.cost.of(length));
                }
                (_, Some(parked)) => {
                    let Some(message) = self.streams.remove(parked) else { break };
                    self.reassembly.give_up(&message);
                    self.forget(message.message, message.fragments, message.payload.len(), message.cost);
                }
                _ => {
                    self.hand_out_for(index);
                    return false;
                }
            }
        }
        true
    }

    /// Starts the partial delivery of a message longer than the buffer, if the first missing TSN has no room
    /// and the user can read no message.
    fn hand_out_for(&mut self, index: u64) {
        if index == self.tsns.cumulative() + 1 && self.ready.is_empty() {
            self.hand_out_head();
        }
    }

    /// Without reneging, accepts the first missing TSN even if the buffer is full, since all data waits for
    /// this chunk. Only one chunk may exceed the buffer: before the next one is accepted, the user must read.
    #[cold]
    fn squeeze_in(&mut self, index: u64) -> bool {
        let waited_for = index == self.tsns.cumulative() + 1 && self.ready.is_empty();
        if waited_for && !self.window.is_overdrawn() {
            return true;
        }
        self.hand_out_for(index);
        false
    }

    fn forget(&mut self, first: u64, fragments: u32, length: usize, cost: u32) {
        self.tsns.remove_all(first, first + u64::from(fragments) - 1);
        self.window.release(cost);
        self.stats.reneged += u64::from(fragments);
        self.stats.user_bytes -= length.into();
    }

    /// Starts a partial delivery if the user can read no message, and either the rest of a message has no
    /// room or the message has reached the partial delivery point.
    ///
    /// Without interleaving, lack of room does not count while there is a gap: [`Self::make_room`] then finds
    /// room for the chunk that fills the gap.
    #[inline]
    fn relieve(&mut self) {
        let reneges = |this: &Self| this.interleaved.is_none() && this.tsns.has_gaps();
        let needs_room = |this: &Self| this.window.is_tight() && !reneges(this);
        if self.ready.is_empty() && (needs_room(self) || self.has_reached_point()) {
            self.hand_out_head();
        }
    }

    /// True if the partial delivery point is set, and the message at the first missing TSN has at least as
    /// many bytes.
    fn has_reached_point(&self) -> bool {
        let Some(point) = self.partial_point else { return false };
        let cumulative = self.tsns.cumulative();
        let length = match &self.interleaved {
            Some(interleaved) => interleaved.oldest_len(cumulative),
            None => self.reassembly.head_len(cumulative),
        };
        ByteCount::from(length) >= point
    }

    /// Delivers the beginning of the message to which the first missing TSN belongs (`rfc9260#section-6.9`).
    #[cold]
    fn hand_out_head(&mut self) {
        if self.interleaved.is_some() {
            return self.hand_out_oldest();
        }
        let cumulative = self.tsns.cumulative();
        let Some(label) = self.reassembly.head(cumulative) else { return };
        if !label.unordered {
            if !self.streams.is_next(label.stream, label.number()) {
                return;
            }
            self.streams.begin(label.stream);
        }
        self.ready.extend(self.reassembly.begin_partial(cumulative));
    }

    /// Called after a packet with DATA or FORWARD TSN: decides whether a SACK is due.
    #[inline]
    pub(crate) fn packet_done(&mut self, now: Instant) {
        let fixed = self.least_sack_len();
        if self.sacks.packet_done(now, self.lean.as_deref(), fixed) {
            self.stats.data_packets += 1;
        }
        self.streams.packet_done();
        self.reassembly.packet_done();
        if let Some(interleaved) = &mut self.interleaved {
            interleaved.packet_done();
        }
    }

    /// Records the one-way delay of a packet with data, if it is known.
    #[inline]
    pub(crate) fn note_delay(&mut self, delay: impl FnOnce() -> Option<PacketDelay>) {
        if let Some(delays) = &mut self.delays {
            delays.extend(delay());
        }
    }

    /// Records an ECN mark on a packet that arrived on `path`. `first` is the lowest TSN in the packet.
    #[cold]
    pub(crate) fn note_mark(&mut self, path: PathId, first: Tsn) {
        self.stats.marked_packets += 1;
        self.echoes.note(path, first);
    }

    /// Processes a CWR that arrived on `path`: the peer has reduced its cwnd.
    pub(crate) fn on_cwr(&mut self, path: PathId, cwr: &Cwr) {
        self.echoes.answered(path, cwr);
    }

    /// Makes a SACK due at once.
    pub(crate) fn sack_now(&mut self) {
        self.sacks.force();
    }

    /// Returns true if a SACK must be sent now.
    #[inline]
    pub(crate) fn sack_due(&self) -> bool {
        self.sacks.is_due()
    }

    /// Returns true if DATA arrived since the last SACK, so that a SACK may be bundled with other chunks.
    #[inline]
    pub(crate) fn sack_pending(&self) -> bool {
        self.sacks.is_pending()
    }

    /// Time at which a delayed SACK becomes due; `None` if no SACK is delayed or a SACK is already due.
    #[inline]
    pub(crate) fn sack_deadline(&self) -> Option<Instant> {
        self.sacks.deadline()
    }

    /// Makes a delayed SACK due if its deadline has passed.
    pub(crate) fn on_sack_timeout(&mut self, now: Instant) {
        if self.sacks.on_timeout(now)
            && let Some(lean) = &mut self.lean
        {
            lean.expired();
        }
    }

    /// Returns true if SACKs are lean: they are short enough to be sent on a path on which no data arrived.
    #[inline]
    pub(crate) fn is_lean(&self) -> bool {
        self.lean.is_some()
    }

    /// The path of the next SACK (`rfc9260#section-6.4`): the path on which the latest DATA arrived; with
    /// lean SACKs, one of the paths on which DATA arrived since the last SACK.
    #[inline]
    pub(crate) fn sack_path(&self) -> PathId {
        let lean = self.lean.as_ref().and_then(|lean| lean.path());
        lean.unwrap_or(self.sacks.source())
    }

    /// Length of a SACK without gaps, including the chunks that report delays and ECN marks.
    #[inline]
    pub(crate) fn least_sack_len(&self) -> usize {
        self.fixed_sack_len() + self.delays.as_ref().map_or(0, |delays| delays.len()) + self.echoes.len()
    }

    #[inline]
    fn fixed_sack_len(&self) -> usize {
        if self.non_renegable.is_some() { NrSack::FIXED_LEN } else { Sack::FIXED_LEN }
    }

    /// Writes a SACK for `path`. Returns false, and changes nothing, if the packet has no room for the SACK.
    #[inline]
    pub(crate) fn write_sack(&mut self, now: Instant, path: PathId, w: &mut PacketWriter<'_>) -> bool {
        let fixed = self.fixed_sack_len();
        if fixed > w.room() {
            return false;
        }
        self.echoes.write(w, fixed);
        if let Some(delays) = &mut self.delays {
            delays.write(w, fixed);
        }
        let (cumulative, window) = (self.cumulative_tsn(), self.a_rwnd());
        let (packets, duplicates) = (self.sacks.packets_since_last(), self.sacks.duplicates());
        let written = match &mut self.non_renegable {
            None => w.sack(cumulative, window, packets, self.tsns.gap_blocks(), duplicates),
            Some(non_renegable) => {
                let most = w.room() / GapBlock::LEN;
                let (gaps, nr_gaps) = match &mut self.lean {
                    None => non_renegable.blocks(&self.tsns, most),
                    Some(lean) => (&[][..], lean.blocks(&self.tsns, path, most)),
                };
                w.nr_sack(cumulative, window, packets, gaps, nr_gaps, duplicates)
            }
        };
        if written {
            self.window.tell();
            self.sacks.written();
            if let Some(lean) = &mut self.lean {
                lean.written(now, path, fixed);
            }
            self.stats.sacks += 1;
        }
        written
    }

    /// Returns the next message, or at most `max` bytes of it; `None` if no message can be read or `max` is
    /// 0. Makes a SACK due if the receive window was closed and is open again (`rfc9260#section-6.2`).
    #[inline]
    pub(crate) fn read(&mut self, max: usize) -> Option<Received> {
        if self.is_at_mark() {
            return None;
        }
        let front = self.ready.front_mut().filter(|_| max > 0)?;
        if front.chain != Chain::NONE {
            gather(front, &mut self.reassembly, self.interleaved.as_deref_mut());
        }
        let received = if front.payload.len() <= max {
            let mut front = self.ready.pop_front()?;
            self.tidy_ready();
            self.note_read();
            self.release_read(front.cost);
            let payload = std::mem::replace(&mut front.payload, Payload::Filler(0));
            received(&front, payload, front.ending)
        } else {
            let payload = front.payload.split_to(max);
            front.cost -= max as u32;
            let part = received(front, payload, false);
            self.release_read(max as u32);
            part
        };
        if self.streams.is_stalled() {
            let readable = self.ready.len();
            self.streams.resume(&mut self.ready);
            self.promise(readable);
        }
        self.relieve();
        if self.window.has_reopened() {
            self.sacks.force();
        }
        Some(received)
    }

    /// Readable bytes of the next message; `None` if no message can be read.
    pub(crate) fn next_message_len(&self) -> Option<usize> {
        self.ready.front().filter(|_| !self.is_at_mark()).map(|piece| piece.payload.len())
    }

    /// Number of readable messages and bytes, by stream.
    pub(crate) fn unread(&self) -> BTreeMap<StreamId, Unread> {
        let mut streams = BTreeMap::<StreamId, Unread>::new();
        for piece in &self.ready {
            let unread = streams.entry(piece.stream).or_default();
            unread.messages += usize::from(piece.ending);
            unread.bytes += piece.payload.byte_count();
        }
        streams
    }

    /// Changes the delay and the frequency of SACKs.
    pub(crate) fn set_sack_options(&mut self, now: Instant, delay: Span, frequency: u32) {
        self.sacks.set_options(now, delay, frequency);
    }

    /// Changes the partial delivery point.
    pub(crate) fn set_partial_point(&mut self, point: Option<ByteCount>) {
        self.partial_point = point;
    }

    /// Frees memory of the queue of readable messages after messages were removed.
    #[inline]
    fn tidy_ready(&mut self) {
        if self.ready.is_empty() {
            self.ready.clear(); // starts at the first slot again, which is still in the cache
        }
        if self.ready.capacity() > READY_KEPT.max(8 * self.ready.len()) {
            self.ready.shrink_to(READY_KEPT.max(2 * self.ready.len()));
        }
    }

    /// Returns true if a message, or a part of one, can be read.
    #[inline]
    pub(crate) fn readable(&self) -> bool {
        !self.ready.is_empty() && !self.is_at_mark()
    }

    /// The cumulative TSN: the last TSN before the first missing one.
    #[inline]
    pub(crate) fn cumulative_tsn(&self) -> Tsn {
        tsn_of(self.tsns.cumulative())
    }

    /// The a_rwnd of the next SACK.
    #[inline]
    pub(crate) fn a_rwnd(&self) -> u32 {
        self.window.advertised()
    }

    fn release_read(&mut self, cost: u32) {
        self.window.release(cost);
        if let Some(tuning) = &mut self.tuning {
            tuning.read(cost.into());
        }
    }

    /// Lets the receive buffer grow as the transfer needs. `rtt` returns the round-trip time of a path.
    #[inline]
    pub(crate) fn tune(&mut self, now: Instant, rtt: impl Fn(PathId) -> Option<Span>) {
        if let Some(size) = self.tuning.as_mut().and_then(|tuning| tuning.grown(now, |p| rtt(PathId(p)))) {
            self.window.resize(size);
        }
    }

    /// Returns true if the receive buffer may soon limit the sender, but cannot grow because no RTT is known.
    pub(crate) fn lacks_rtt(&self) -> bool {
        self.tuning.as_ref().is_some_and(|tuning| tuning.lacks_rtt())
    }

    /// Undoes the growth of the receive buffer if the buffer is empty and no data has arrived for a long
    /// time.
    pub(crate) fn rest(&mut self, now: Instant) {
        if self.window.held() == 0
            && let Some(size) = self.tuning.as_mut().and_then(|tuning| tuning.rested(now))
        {
            self.window.resize(size);
            self.sacks.force();
        }
    }

    /// Size of the receive buffer, and number of bytes in the buffer.
    pub(crate) fn buffer(&self) -> (u32, u32) {
        self.window.size_and_held()
    }

    pub(crate) fn stats(&self) -> &ReceiveStats {
        &self.stats
    }
}

/// Number of messages for which the queue of readable messages keeps memory.
const READY_KEPT: usize = 256;

/// Returns a part of a message for the user.
#[inline]
fn received(piece: &Piece, payload: Payload, end_of_record: bool) -> Received {
    Received {
        stream: piece.stream,
        ssn: Ssn(if piece.unordered { 0 } else { piece.number.0 as u16 }),
        mid: piece.number,
        tsn: tsn_of(piece.message),
        ppid: piece.ppid,
        unordered: piece.unordered,
        payload,
        end_of_record,
        aborted: piece.is_aborted(),
    }
}

#[cfg(test)]
mod tests;
