//! The sending half of an association: from messages that wait to chunks that the peer has acknowledged.
//!
//! A chunk is in one of three places: on its path's list of chunks in flight, in its path's queue of lost chunks, or
//! acknowledged or abandoned and kept only until the cumulative TSN passes it.

mod abandon;
mod account;
mod acked_paths;
mod copy;
mod cuc;
mod dac;
mod delivery;
mod delta;
mod ecn;
mod first_come;
mod hold;
mod limits;
mod moved;
mod nr_sack;
mod partial;
mod pieces;
mod probe;
mod queue;
mod rack;
mod ranges;
mod report;
mod reported;
mod sack;
mod send;
mod silence;
#[cfg(test)]
mod tests;
mod timeout;
mod turns;

pub(crate) use delivery::Failure;
pub(crate) use delta::SackDelta;
pub(crate) use ecn::Echoed;
pub(crate) use sack::SackOutcome;
pub(crate) use send::Plan;

use crate::chunks::{ChunkState, Mark, Outstanding, RecordId, TxChunk};
use crate::config::{Accounting, Cmt, Config, Cuc, LossDetection, RtxPolicy, SackPath, StreamScheduler};
use crate::draws::Draws;
use crate::message::{Message, MessageId, Reliability, SendError};
use crate::multipath::copies::Copies;
use crate::multipath::evened::Evened;
use crate::multipath::{Scheduler, SchedulerTraits};
use crate::path::{Path, PathId, Paths, RateControl};
use account::{Account, Plain};
use acked_paths::AckedPaths;
use arrayvec::ArrayVec;
use cc::{CongestionControl, CongestionWindow, PathView, WindowRule};
use delivery::Deliveries;
use delta::PathDelta;
use ecn::Marks;
use limits::Limits;
use partial::Partial;
use queue::SendQueue;
use rack::Remembered;
use ranges::Range;
use std::sync::Arc;
use units::{ByteCount, Instant};
use wire::{Data, IData, StreamId, Tsn};

/// Reports of one chunk as missing that make it lost (`rfc9260#section-7.2.4`).
const MISSING_REPORTS: u8 = 3;

/// The sending half of an association.
#[derive(Debug)]
pub(crate) struct Sender {
    config: Arc<Config>,
    /// `config.cmt`, or standard SCTP if that is not enabled.
    cmt: Cmt,
    /// None before the peer is known.
    control: Option<Box<dyn CongestionControl>>,
    random: Draws,

    /// Messages that wait for their first transmission.
    queue: SendQueue,
    /// Nothing was ever given to send.
    never_used: bool,
    /// A push was refused, and the user was not told yet that there is room again.
    blocked: bool,
    /// A push was refused since the queue was empty last: the user has more to send.
    has_more: bool,
    /// The user will give no more messages.
    closing: bool,
    /// Largest payload of a chunk that fits every path: less than the MTU, which has 16 bits.
    fragment: u16,
    /// Bytes of a packet with data that are for something else.
    extra: usize,

    /// Chunks that were sent, from the cumulative TSN on.
    out: Outstanding,
    /// User bytes of outstanding chunks, acknowledged or not, that may have to be sent again.
    retained: ByteCount,
    /// Chunks lost and not yet sent again.
    lost_chunks: usize,
    /// What the lost chunks will take at the peer.
    lost_bytes: ByteCount,
    /// Packets with data sent.
    packets: u64,

    /// What the peer can still take, as far as known.
    peer_rwnd: ByteCount,
    /// The largest a_rwnd of the peer: about its receive buffer.
    peer_buffer: ByteCount,
    /// Bytes of all chunks above the cumulative TSN, acknowledged or not, but for those that the peer has
    /// [delivered](TxChunk::is_delivered).
    extent: ByteCount,
    /// The peer's last SACK left no room for a chunk.
    peer_closed: bool,
    /// How often new data waited because the peer had no room.
    refusals: u64,
    /// The last SACK had no room for all that arrived.
    untold: bool,
    /// A SACK came since T3 last expired.
    heard: bool,
    /// When the last SACK came.
    heard_at: Instant,
    /// Only where SACKs take the fastest path.
    evened: Option<Box<Evened>>,
    /// Marks that the peer echoed.
    ecn: Marks,
    /// A SACK of this packet was taken: a peer sends one (`rfc9260#section-6.2`), and others are skipped.
    sack_taken: bool,
    /// The peer sends NR-SACKs.
    nr_sacks: bool,
    /// What the peer has above the cumulative TSN, by its last SACK.
    gap_acked: Vec<Range>,
    /// The gap blocks of the SACK at hand.
    blocks: Vec<Range>,
    /// What the peer has above the cumulative TSN for good; only with NR-SACK.
    non_renegable: Vec<Range>,
    /// What the peer may still withdraw.
    limits: Limits,
    /// Kept only where the peer may tell of one-way delays.
    acked_paths: AckedPaths,

    /// The congestion control paces the paths.
    paced: bool,

    /// The time of the last [`wake`](Sender::wake): that of what is sent until the next one.
    now: Instant,
    scheduler: Box<dyn Scheduler>,
    traits: SchedulerTraits,
    /// Paths in the order in which they are served until the next `wake`; empty if not sorted yet.
    order: Vec<PathId>,
    /// The place in `order` of the path that is served now.
    turn: usize,

    copies: Copies,
    /// A buffer is full, and copies of late chunks may help.
    starved: bool,
    /// The TSNs were reset.
    jumped: bool,
    /// Only with time-based loss detection.
    remembered: Option<Box<Remembered>>,
    /// None before the first chunk of a tracked message.
    deliveries: Option<Box<Deliveries>>,
    /// None before the first message that may be abandoned or has a context.
    partial: Option<Box<Partial>>,
    /// Messages may be abandoned: both ends have FORWARD TSN.
    abandons: bool,
    /// None before the first message.
    account: Option<Box<Account>>,
    plain: Plain,
}

/// One value for each path, on the stack. It has room for the most paths there can be, so fill it in place: to move it
/// costs more than to use it.
type PerPath<T> = ArrayVec<T, { Paths::LIMIT }>;

impl Sender {
    pub(crate) fn new(config: Arc<Config>, seed: u64, initial_tsn: Tsn) -> Self {
        let cmt = effective(&config.cmt);
        let scheduler = cmt.path_selection.build();
        Sender {
            cmt,
            control: None,
            queue: SendQueue::new(&config),
            out: Outstanding::new(initial_tsn),
            gap_acked: Vec::new(),
            blocks: Vec::new(),
            non_renegable: Vec::new(),
            lost_chunks: 0,
            lost_bytes: ByteCount::ZERO,
            limits: Limits::default(),
            acked_paths: AckedPaths::default(),
            retained: ByteCount::ZERO,
            peer_rwnd: ByteCount::ZERO,
            peer_buffer: ByteCount::ZERO,
            extent: ByteCount::ZERO,
            never_used: true,
            peer_closed: false,
            heard: false,
            heard_at: Instant::ZERO,
            ecn: Marks::default(),
            sack_taken: false,
            nr_sacks: false,
            fragment: 0,
            extra: 0,
            blocked: false,
            has_more: false,
            closing: false,
            traits: scheduler.traits(),
            scheduler,
            copies: Copies::default(),
            refusals: 0,
            untold: false,
            starved: false,
            order: Vec::new(),
            turn: 0,
            jumped: false,
            remembered: (config.loss_detection == LossDetection::Rack).then(Box::default),
            deliveries: None,
            partial: None,
            abandons: false,
            account: None,
            plain: Plain::default(),
            evened: (config.sack_path == SackPath::Fastest).then(Box::default),
            paced: false,
            now: Instant::ZERO,
            packets: 0,
            random: Draws::new(seed),
            config,
        }
    }

    /// The protocol parameters.
    #[inline]
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// The protocol parameters, shared.
    pub(crate) fn shared_config(&self) -> Arc<Config> {
        self.config.clone()
    }

    /// Replaces the protocol parameters; those of multipath transfer and congestion control must be the same.
    pub(crate) fn set_config(&mut self, config: Arc<Config>) {
        self.config = config;
    }

    /// Sends I-DATA chunks (`rfc8260`) in place of DATA chunks; called before [`Self::establish`].
    pub(crate) fn interleave(&mut self) {
        self.out.interleave();
        self.queue.interleave();
    }

    /// The peer is known: sets the windows of all paths. Each packet with data has room for `extra` bytes more.
    pub(crate) fn establish(
        &mut self,
        peer_rwnd: u32,
        outbound_streams: u16,
        extra: usize,
        paths: &mut Paths,
    ) {
        self.extra = extra;
        self.peer_rwnd = ByteCount::new(u64::from(peer_rwnd));
        self.peer_buffer = self.peer_rwnd;
        self.queue.set_streams(outbound_streams);
        let ip_header = paths.iter().map(|p| p.ip_header()).min().unwrap_or(20);
        let paths_used = if self.cmt.enabled { paths.len() } else { 1 };
        let initial_ssthresh = self.config.initial_ssthresh.unwrap_or(self.peer_rwnd);
        let setup = cc::Setup {
            rp_min: self.config.rp_min,
            idle_threshold: self.config.idle_threshold,
            initial_window: self.config.initial_window,
            paced: self.config.pacing,
            knobs: self.config.knobs,
            ..cc::Setup::sctp(self.config.growth, ByteCount::from(ip_header), initial_ssthresh, paths_used)
        };
        let control = self.config.congestion_control.build(&setup);
        let control = cc::paced(control, &setup);
        self.start_control(control, paths);
    }

    fn start_control(&mut self, control: Box<dyn CongestionControl>, paths: &mut Paths) {
        if control.wants_rate_samples() {
            self.out.keep_records();
        }
        self.paced = control.is_paced();
        self.control = Some(control);
        for p in paths.ids() {
            self.path_added(p, paths);
        }
    }

    /// A path was added; before [`Self::establish`] there is nothing to do.
    pub(crate) fn path_added(&mut self, p: PathId, paths: &mut Paths) {
        let Some(control) = &mut self.control else { return };
        let views: PerPath<PathView> = views(&self.cmt.groups, paths).collect();
        let path = &mut paths[p];
        path.window = control.on_path_added(&views, p.index());
        path.initial_cwnd = path.window.cwnd;
        if self.paced {
            let mut rate = Box::new(RateControl::new(path.mtu));
            rate.pacer.set_rate(Instant::ZERO, control.pacing_rate(p.index()), path.mtu);
            path.rate = Some(rate);
        }
        self.begin_rack(&mut paths[p]);
        self.fit_fragments(paths);
    }

    /// Path `p` was replaced by another one, on which nothing is outstanding.
    pub(crate) fn path_replaced(&mut self, now: Instant, p: PathId, paths: &mut Paths) {
        let cwnd = paths[p].initial_cwnd;
        paths[p].window = CongestionWindow { cwnd, ssthresh: None };
        self.apply_rule(now, p, WindowRule::Set(cwnd), paths);
        if self.paced {
            paths[p].rate = Some(Box::new(RateControl::new(paths[p].mtu)));
        }
        self.begin_rack(&mut paths[p]);
        self.copies.forget(p);
        self.fit_fragments(paths);
    }

    /// Index of the earliest chunk that is not acknowledged, or of the next if there is none.
    pub(crate) fn first_index(&self) -> u64 {
        self.out.first_index()
    }

    /// Chunks are cut for the smallest packet of all paths from now on. Those that have a TSN stay as they are.
    pub(crate) fn fit_fragments(&mut self, paths: &Paths) {
        // Until an address is verified, its path MTU is not looked for.
        let fits = |p: &&Path| p.pmtud.is_none() || !p.is_unconfirmed();
        let confirmed = paths.iter().filter(fits).map(Path::packet_limit).min();
        let limit = confirmed.or_else(|| paths.iter().map(Path::packet_limit).min()).unwrap_or(0);
        self.fragment = (limit.saturating_sub(COMMON_HEADER + self.extra + self.header_len()) & !3) as u16;
    }

    /// How many of `len` user bytes one chunk can carry.
    #[inline]
    fn fragment_of(&self, len: usize) -> usize {
        len.min(usize::from(self.fragment))
    }

    /// A potentially failed path is active again: a heartbeat was answered. It may send two packets, so that an acknowledgement is
    /// not delayed.
    pub(crate) fn on_path_back(&mut self, now: Instant, p: PathId, paths: &mut Paths) {
        self.apply_rule(now, p, WindowRule::Set(paths[p].mtu * 2), paths);
        paths[p].timed_out = false;
        paths[p].decayed = Some(now);
        paths[p].restart();
    }

    /// The route of path `p` has changed: its window is the initial one again (`rfc9260#section-7.2.5.2`).
    pub(crate) fn on_route_changed(&mut self, now: Instant, p: PathId, paths: &mut Paths) {
        let window = CongestionWindow { cwnd: paths[p].initial_cwnd, ssthresh: None };
        self.apply_rule(now, p, WindowRule::Replace(window), paths);
        paths[p].rto.forget_least();
        paths[p].restart();
    }

    /// Queues a message, and numbers it if it is tracked. After an error nothing has changed.
    pub(crate) fn push(
        &mut self,
        now: Instant,
        message: Message,
        paths: &mut Paths,
    ) -> Result<Option<MessageId>, SendError> {
        self.queue.check(&message)?;
        if self.queue.refuses(&message) {
            return Ok(None);
        }
        let limit = self.config.send_buffer;
        let length = message.payload.byte_count();
        if length > limit {
            return Err(SendError::TooLong { length: message.payload.len(), limit: limit.get() });
        }
        let full = (self.is_queue_full() && !message.urgent) || self.buffered() + length > limit;
        let displaces = matches!(message.reliability, Reliability::Priority(_));
        if full && !(displaces && self.displace_for(now, &message, paths)) {
            (self.blocked, self.has_more) = (true, true);
            return Err(SendError::WouldBlock);
        }
        self.never_used = false;
        self.has_more &= !self.queue.is_empty();
        let (stream, record) = (message.stream, self.record_of(now, &message));
        let id = self.queue.give(message, record);
        if record != RecordId::default() {
            self.note_queued(record, stream, id);
        }
        Ok(id)
    }

    /// True if as many messages wait as the configuration allows.
    fn is_queue_full(&self) -> bool {
        self.config.send_queue.is_some_and(|most| self.unsent_messages() >= most as usize)
    }

    /// Sets the priority or weight of a stream (`SCTP_STREAM_SCHEDULER_VALUE` of `rfc8260#section-4.3.3`); false if there is no
    /// such stream, or the weight is 0.
    pub(crate) fn set_stream_value(&mut self, stream: StreamId, value: u16) -> bool {
        let valid = value > 0 || self.config.stream_scheduler != StreamScheduler::Wfq;
        valid && self.queue.set_value(stream, value)
    }

    /// True once after a push was refused, when there is room again.
    #[inline(always)]
    pub(crate) fn take_writable(&mut self) -> bool {
        if !self.blocked {
            return false;
        }
        let writable = !self.is_queue_full() && self.buffered() < self.config.send_buffer;
        self.blocked = !writable;
        writable
    }

    /// No more messages will be pushed: the last chunks ask for an acknowledgement at once (`rfc7053#section-4.1`).
    pub(crate) fn shutdown_pending(&mut self) {
        self.closing = true;
    }

    pub(crate) fn is_drained(&self) -> bool {
        self.queue.is_empty() && !self.queue.has_held() && self.out.is_empty()
    }

    pub(crate) fn outstanding_chunks(&self) -> usize {
        self.out.len()
    }

    pub(crate) fn unsent_messages(&self) -> usize {
        self.queue.len() + self.queue.held_len()
    }

    /// Bytes waiting for their first transmission plus bytes that the peer does not have for good.
    pub(crate) fn buffered(&self) -> ByteCount {
        self.queue.bytes() + self.queue.held_bytes() + self.retained
    }

    pub(crate) fn peer_rwnd(&self) -> ByteCount {
        self.peer_rwnd
    }

    /// Bytes by which a chunk with `payload` user bytes raises the flight size of path `p`.
    fn flight_size_of(&self, payload: usize, p: &crate::path::Path) -> u32 {
        let extra = match self.config.accounting {
            Accounting::Payload => 0,
            Accounting::Chunk => self.header_len(),
            Accounting::Packet => self.header_len() + COMMON_HEADER + p.ip_header(),
        };
        (payload + extra) as u32
    }

    /// Bytes of a chunk with user data before the payload.
    #[inline]
    fn header_len(&self) -> usize {
        if self.out.is_interleaved() { IData::HEADER_LEN } else { Data::HEADER_LEN }
    }

    /// Bytes that a chunk with so many user bytes takes in a packet.
    #[inline]
    fn chunk_len(&self, payload: usize) -> usize {
        (self.header_len() + payload).next_multiple_of(4)
    }

    /// Calls the congestion control with a view of all paths, and takes over the windows that it sets.
    fn control(
        &mut self,
        now: Instant,
        paths: &mut Paths,
        ask: impl FnOnce(&mut dyn CongestionControl, &mut [PathView], &mut [CongestionWindow]),
    ) {
        let Some(control) = &mut self.control else { return };
        let (mut all, mut windows) = (PerPath::<PathView>::new(), PerPath::<CongestionWindow>::new());
        all.extend(views(&self.cmt.groups, paths));
        windows.extend(paths.iter().map(|p| p.window));
        ask(&mut **control, &mut all, &mut windows);
        for (path, window) in paths.iter_mut().zip(&windows) {
            path.window = *window;
        }
        if self.paced {
            Self::set_rates(&**control, now, paths);
        }
    }

    /// Tells the congestion control of a window that the rules of SCTP prescribe.
    #[cold]
    fn apply_rule(&mut self, now: Instant, p: PathId, rule: WindowRule, paths: &mut Paths) {
        self.control(now, paths, |control, views, windows| {
            control.on_rule(views, p.index(), rule, windows);
        });
    }

    #[cold]
    fn set_rates(control: &dyn CongestionControl, now: Instant, paths: &mut Paths) {
        for (p, path) in paths.iter_mut().enumerate() {
            if let Some(rate) = &mut path.rate {
                rate.pacer.set_rate(now, control.pacing_rate(p), path.mtu);
            }
        }
    }

    pub(crate) fn partial_bytes_acked(&self, p: PathId) -> ByteCount {
        self.control.as_ref().map_or(ByteCount::ZERO, |control| control.partial_bytes_acked(p.index()))
    }
}

/// The paths as congestion control sees them.
#[inline]
fn views(groups: &[u8], paths: &Paths) -> impl Iterator<Item = PathView> {
    paths.iter().enumerate().map(|(number, p)| PathView {
        window: p.window,
        flight: p.flight,
        mtu: p.mtu,
        srtt: p.rto.srtt(),
        rto: p.rto.current(),
        active: p.is_active(),
        group: groups.get(number).copied().unwrap_or_default(),
        in_recovery: p.recovery.is_some(),
    })
}

/// Bytes of the SCTP common header.
const COMMON_HEADER: usize = 12;

/// The options of CMT; those of standard SCTP if CMT is not enabled.
fn effective(cmt: &Cmt) -> Cmt {
    if cmt.enabled {
        return cmt.clone();
    }
    Cmt {
        enabled: false,
        sfr: false,
        dac: false,
        cuc: Cuc::Normal,
        rtx: RtxPolicy::Alternate,
        smart_t3: true,
        smart_fast_rtx: false,
        rtt_heuristic: false,
        recovery_by_cuc: false,
        ..Cmt::default()
    }
}
