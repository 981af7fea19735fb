//! The sending half of an association: messages wait, travel, and are kept until the peer has them for good.
//!
//! A chunk is in one of three places: on its path's list of chunks in flight, in its path's queue of lost chunks, or
//! acknowledged or abandoned and kept only until the cumulative TSN passes it.

mod abandon;
mod acked_paths;
mod column;
mod copies;
mod delta;
mod first_come;
mod limits;
mod nr_sack;
mod outstanding;
mod pieces;
mod queue;
mod ranges;
mod reinject;
mod report;
mod reschedule;
mod sack;
mod send;
mod split;
#[cfg(test)]
mod tests;
mod timeout;

pub(crate) use delta::{PathDelta, SackDelta};
pub(crate) use outstanding::{ChunkState, Mark, Outstanding, TxChunk};
pub(crate) use sack::SackOutcome;
pub(crate) use send::Plan;

use crate::ahead::fetch;
use crate::config::{Accounting, Cmt, Config, Cuc, PfCwnd, RtxPolicy};
use crate::draws::Draws;
use crate::message::{Message, SendError};
use crate::path::{PathId, Paths, RateControl};
use crate::sched::{Scheduler, SchedulerTraits};
use arrayvec::ArrayVec;
use cc::{CongestionControl, PathView, Window, WindowRule};
use copies::Copies;
use limits::Limits;
use queue::SendQueue;
use ranges::Range;
use std::sync::Arc;
use units::{ByteCount, Instant};
use wire::{Data, StreamId, Tsn};

/// Reports of one chunk as missing that make it lost (`rfc9260#section-7.2.4`).
const MISSING_REPORTS: u8 = 3;

/// In the order of what a packet looks at: of an association that only receives, the first cache line; of one that sends
/// on one path, the first six.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Sender {
    config: Arc<Config>,
    control: Option<Box<dyn CongestionControl>>,
    /// Chunks lost and not yet sent again.
    lost_chunks: usize,
    now: Instant,
    total_burst_left: u32,
    traits: SchedulerTraits,
    /// Nothing was ever given to send.
    never_used: bool,
    /// The peer's last SACK left no room for a chunk.
    peer_closed: bool,
    /// A SACK came since T3 last expired.
    heard: bool,
    /// A push was refused, and nothing was said since.
    blocked: bool,
    closing: bool,
    /// A buffer is full, and copies of what is late may help.
    starved: bool,
    /// Largest payload of a chunk that fits every path: less than the MTU, which has 16 bits.
    fragment: u16,
    /// Bytes of outstanding chunks, acknowledged or not, but for those the peer has for good.
    retained: ByteCount,

    queue: SendQueue,
    /// What the peer can still take, as far as known.
    peer_rwnd: ByteCount,
    out: Outstanding,
    packets: u64,
    /// A SACK of this packet was taken: a peer sends one (`rfc9260#section-6.2`), and others are skipped.
    sack_taken: bool,
    /// The peer sends NR-SACKs.
    nr_sacks: bool,
    /// What the peer has above the cumulative TSN, by its last SACK.
    gap_acked: Vec<Range>,
    /// The gap blocks of the SACK at hand.
    blocks: Vec<Range>,
    /// `config.cmt`, or standard SCTP if that is not enabled.
    cmt: Cmt,
    /// By path; empty before the first copy.
    copies: Vec<Copies>,

    /// What the lost chunks will take at the peer.
    lost_bytes: ByteCount,
    /// What the peer has above the cumulative TSN for good; only with NR-SACK.
    non_renegable: Vec<Range>,
    /// What the peer may still withdraw.
    limits: Limits,
    /// Paths in the order they are served at this opportunity; empty if not sorted yet.
    order: Vec<PathId>,
    turn: usize,
    /// The path that is asked first to carry a copy of a late chunk.
    copy_turn: usize,
    /// How often new data waited because the peer had no room.
    refusals: u64,
    /// Bytes of a packet with data that are for something else.
    extra: usize,
    scheduler: Box<dyn Scheduler>,
    /// Kept only where the peer may tell of one-way delays.
    acked_paths: acked_paths::AckedPaths,
    random: Draws,
}

/// One value a path; on the stack, where it is always in the cache. It has room for the most paths there can be, so fill
/// it where it stays: to move it costs more than to use it.
type PerPath<T> = ArrayVec<T, { Paths::LIMIT }>;

impl Sender {
    pub(crate) fn new(config: Arc<Config>, seed: u64, initial_tsn: Tsn) -> Self {
        let cmt = effective(&config.cmt);
        let scheduler = cmt.path_selection.build(&cmt);
        Sender {
            cmt,
            control: None,
            queue: SendQueue::new(config.outbound_streams),
            out: Outstanding::new(initial_tsn),
            gap_acked: Vec::new(),
            blocks: Vec::new(),
            non_renegable: Vec::new(),
            lost_chunks: 0,
            lost_bytes: ByteCount::ZERO,
            limits: Limits::default(),
            acked_paths: acked_paths::AckedPaths::default(),
            retained: ByteCount::ZERO,
            peer_rwnd: ByteCount::ZERO,
            never_used: true,
            peer_closed: false,
            heard: false,
            sack_taken: false,
            nr_sacks: false,
            fragment: 0,
            extra: 0,
            blocked: false,
            closing: false,
            traits: scheduler.traits(),
            scheduler,
            copies: Vec::new(),
            refusals: 0,
            starved: false,
            order: Vec::new(),
            turn: 0,
            copy_turn: 0,
            now: Instant::ZERO,
            total_burst_left: config.max_burst,
            packets: 0,
            random: Draws::new(seed),
            config,
        }
    }

    /// Asks the cache for what a SACK touches, in each line of it.
    #[inline]
    pub(crate) fn fetch(&self) {
        fetch(self);
        fetch(&self.queue);
        fetch(&self.out);
        fetch(&self.gap_acked);
        fetch(&self.cmt);
        self.out.fetch();
    }

    /// The protocol parameters.
    #[inline]
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// The same, to be shared.
    pub(crate) fn shared_config(&self) -> Arc<Config> {
        self.config.clone()
    }

    /// Other parameters from now on; those of multipath transfer and congestion control must be the same.
    pub(crate) fn set_config(&mut self, config: Arc<Config>) {
        self.config = config;
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
        self.queue.set_streams(outbound_streams);
        let ip_header = paths.iter().map(|p| p.ip_header()).min().unwrap_or(20);
        let paths_used = if self.cmt.enabled { paths.len() } else { 1 };
        let initial_ssthresh = self.config.initial_ssthresh.unwrap_or(self.peer_rwnd);
        let setup = cc::Setup {
            rp_min: self.config.rp_min,
            unset_share: self.config.unset_share,
            idle_threshold: self.config.idle_threshold,
            initial_window: self.config.initial_window,
            knobs: self.config.knobs,
            ..cc::Setup::sctp(self.config.growth, ByteCount::from(ip_header), initial_ssthresh, paths_used)
        };
        self.start_control(self.config.congestion_control.build(&setup), paths);
    }

    fn start_control(&mut self, control: Box<dyn CongestionControl>, paths: &mut Paths) {
        if control.wants_rate_samples() {
            self.out.keep_records();
        }
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
        if self.out.keeps_records() {
            let mut rate = Box::new(RateControl::new(path.mtu));
            rate.pacer.set_rate(Instant::ZERO, control.pacing_rate(p.index()), path.mtu);
            path.rate = Some(rate);
        }
        let limit = paths.iter().map(|p| p.packet_limit()).min().unwrap_or(0);
        self.fragment = (limit.saturating_sub(COMMON_HEADER + self.extra + Data::HEADER_LEN) & !3) as u16;
    }

    /// What of so many user bytes a chunk can carry.
    #[inline]
    fn fragment_of(&self, len: usize) -> usize {
        len.min(usize::from(self.fragment))
    }

    /// A heartbeat was answered on a path that had potentially failed.
    pub(crate) fn on_path_back(&mut self, now: Instant, p: PathId, paths: &mut Paths) {
        let packets = match self.config.pf_cwnd {
            PfCwnd::Unchanged => return,
            PfCwnd::OneMtu => 1,
            PfCwnd::TwoMtu => 2,
        };
        self.apply_rule(now, p, WindowRule::Set(paths[p].mtu * packets), paths);
        paths[p].timed_out = false;
        paths[p].decayed = Some(now);
    }

    /// Takes a message, or says why not and leaves everything as it was.
    pub(crate) fn push(&mut self, message: Message) -> Result<(), SendError> {
        self.queue.check(&message)?;
        let limit = self.config.send_buffer;
        let length = message.payload.byte_count();
        if length > limit {
            return Err(SendError::TooLong { length: message.payload.len(), limit: limit.get() });
        }
        let queue_full = self.config.send_queue.is_some_and(|most| self.queue.len() >= most as usize);
        if queue_full || self.buffered() + length > limit {
            self.blocked = true;
            return Err(SendError::WouldBlock);
        }
        self.queue.push(message);
        self.never_used = false;
        Ok(())
    }

    /// True once after a push was refused, when there is room again.
    pub(crate) fn take_writable(&mut self) -> bool {
        if !self.blocked {
            return false;
        }
        let queue_full = self.config.send_queue.is_some_and(|most| self.queue.len() >= most as usize);
        let writable = !queue_full && self.buffered() < self.config.send_buffer;
        self.blocked = !writable;
        writable
    }

    /// No more messages will be pushed: the last chunks ask for an acknowledgement at once (`rfc7053#section-4.1`).
    pub(crate) fn shutdown_pending(&mut self) {
        self.closing = true;
    }

    pub(crate) fn is_drained(&self) -> bool {
        self.queue.is_empty() && self.out.is_empty()
    }

    pub(crate) fn outstanding_chunks(&self) -> usize {
        self.out.len()
    }

    pub(crate) fn unsent_messages(&self) -> usize {
        self.queue.len()
    }

    /// Bytes waiting for their first transmission plus bytes that the peer does not have for good.
    pub(crate) fn buffered(&self) -> ByteCount {
        self.queue.bytes() + self.retained
    }

    pub(crate) fn peer_rwnd(&self) -> ByteCount {
        self.peer_rwnd
    }

    /// Empties the queue, and names everything that the peer did not acknowledge and that was not abandoned: its stream, its TSN if it was sent, its length in bytes.
    pub(crate) fn failed(&mut self, mut tell: impl FnMut(StreamId, Option<Tsn>, usize)) {
        for i in self.out.indices() {
            let chunk = &self.out[i];
            if !chunk.is_acked() && !chunk.is(Mark::Abandoned) {
                tell(chunk.stream, Some(Outstanding::tsn(i)), chunk.len());
            }
        }
        while !self.queue.is_empty() {
            let unsent = self.queue.take(usize::MAX);
            tell(unsent.stream, None, unsent.payload.len());
        }
    }

    /// What a chunk with this many user bytes counts as in flight.
    fn flight_size_of(&self, payload: usize, p: &crate::path::Path) -> u32 {
        let extra = match self.config.accounting {
            Accounting::Payload => 0,
            Accounting::Chunk => Data::HEADER_LEN,
            Accounting::Packet => Data::HEADER_LEN + COMMON_HEADER + p.ip_header(),
        };
        (payload + extra) as u32
    }

    /// Asks the congestion control for windows, with the snapshot from before.
    fn control(
        &mut self,
        now: Instant,
        paths: &mut Paths,
        ask: impl FnOnce(&mut dyn CongestionControl, &mut [PathView], &mut [Window]),
    ) {
        let Some(control) = &mut self.control else { return };
        let (mut all, mut windows) = (PerPath::<PathView>::new(), PerPath::<Window>::new());
        all.extend(views(&self.cmt.groups, paths));
        windows.extend(paths.iter().map(|p| p.window));
        ask(&mut **control, &mut all, &mut windows);
        for (path, window) in paths.iter_mut().zip(&windows) {
            path.window = *window;
        }
        if self.out.keeps_records() {
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

/// What congestion control sees of the paths.
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

/// CMT not enabled is standard SCTP, whatever its options say.
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
        note_cumulative: false,
        ..Cmt::default()
    }
}
