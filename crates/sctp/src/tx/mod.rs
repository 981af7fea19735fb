//! The sending half of an association: from queued messages to chunks that the peer has acknowledged.
//!
//! A chunk that is in flight is on a list of its path, and a lost chunk is in a queue of its path. An
//! acknowledged or abandoned chunk is kept only until the cumulative TSN passes it.

mod abandon;
mod account;
mod acked;
mod acked_paths;
mod choice;
mod copy;
mod cuc;
mod dac;
mod delivery;
mod delta;
mod ecn;
mod first_come;
mod held;
mod limits;
mod missing_reports;
mod moved;
mod nr_sack;
mod packet_drop;
mod partial;
mod peer_window;
mod pieces;
mod probe;
mod queue;
mod rack;
mod ranges;
mod reset_queue;
mod resume;
mod sack;
mod send;
mod silence;
#[cfg(test)]
mod tests;
mod timeout;
mod turns;
mod user;

pub(crate) use delivery::Failure;
pub(crate) use delta::SackDelta;
pub(crate) use ecn::Echoed;
pub(crate) use sack::SackOutcome;
pub(crate) use send::Plan;

use crate::chunks::{ChunkState, Mark, Outstanding, RecordId, TxChunk};
use crate::config::{
    Accounting, Cmt, Config, Cuc, LossDetection, Resume, RtxPolicy, SackPath, StreamScheduler,
};
use crate::draws::Draws;
use crate::error::StreamError;
use crate::message::{Message, MessageId, Reliability, SendError};
use crate::multipath::bottlenecks::Bottlenecks;
use crate::multipath::copies::Copies;
use crate::multipath::same_return::SameReturn;
use crate::path::{Loss, Path, PathId, Paths, RateControl};
use crate::saved::Saved;
use account::{Account, Plain};
use acked::Acked;
use acked_paths::AckedPaths;
use arrayvec::ArrayVec;
use cc::{CongestionControl, CongestionWindow, PathView, WindowRule};
use choice::Choice;
use delivery::Deliveries;
use delta::PathDelta;
use ecn::Marks;
use limits::Limits;
use partial::Partial;
use peer_window::PeerWindow;
use queue::SendQueue;
use rack::Remembered;
use std::sync::Arc;
use transport::{BufferBudget, BufferSize, SendBuffer};
use units::{BitRate, ByteCount, Instant};
use user::User;
use wire::{Data, IData, StreamId, Tsn};

/// Missing reports after which a chunk counts as lost (`rfc9260#section-7.2.4`).
const MISSING_REPORTS: u8 = 3;

/// The sending half of an association.
#[derive(Debug)]
pub(crate) struct Sender {
    config: Arc<Config>,
    /// `config.cmt`, or the options of standard SCTP if CMT is not enabled.
    cmt: Cmt,
    /// `None` before [`Sender::establish`].
    control: Option<Box<dyn CongestionControl>>,
    random: Draws,

    /// Messages that wait for their first transmission.
    queue: SendQueue,
    user: User,
    /// Largest payload of a chunk that fits into a packet on every path, in bytes.
    fragment: u16,
    /// Bytes that each packet with data keeps free for other chunks.
    extra: usize,

    /// Chunks that were sent and are above the cumulative TSN.
    out: Outstanding,
    /// User bytes of outstanding chunks that the sender keeps, since the peer may lack them or renege on
    /// them.
    retained: ByteCount,
    /// Number of packets with data that were sent.
    packets: u64,

    peer: PeerWindow,
    /// True if an acknowledgement arrived since T3-rtx last expired.
    heard: bool,
    /// Arrival time of the last acknowledgement.
    heard_at: Instant,
    /// RTTs as if all SACKs returned on the fastest path; present only with [`SackPath::Fastest`].
    same_return: Option<Box<SameReturn>>,
    /// Which paths share a bottleneck; present only with [`Cmt::detect_bottlenecks`].
    bottlenecks: Option<Box<Bottlenecks>>,
    ecn: Marks,
    /// Lost chunks that were not reported to the observer of the association yet; `None` without an observer.
    losses: Option<Vec<Loss>>,
    /// Rates of removed paths, which new paths take over; present only with [`Config::resume`].
    saved: Option<Saved>,
    /// True if a SACK of the present packet was processed. The sender ignores further SACKs of the packet,
    /// since a peer sends at most one for each packet that it receives (`rfc9260#section-6.2`).
    sack_taken: bool,
    acked: Acked,
    /// How often the peer may still renege on acknowledged chunks.
    limits: Limits,
    /// Paths of recently acknowledged chunks, to which reported one-way delays belong. Filled only if
    /// [`Config::timestamps`] is not off: otherwise the peer reports no delays.
    acked_paths: AckedPaths,

    paced: bool,

    /// Time of the last [`wake`](Sender::wake). It serves as the present time until the next `wake`.
    now: Instant,
    choice: Choice,
    copies: Copies,
    /// True if a full send or receive buffer stops new data: copies of late chunks may then help.
    starved: bool,
    /// True once the TSNs were reset (`rfc6525`).
    jumped: bool,
    /// Retransmissions of which the peer may report duplicates; present only with time-based loss detection.
    remembered: Option<Box<Remembered>>,
    /// `None` before the first chunk of a tracked message (with a delivery report) is sent or acknowledged.
    deliveries: Option<Box<Deliveries>>,
    /// `None` before the first message that may be abandoned or has a context (a number that the user gets
    /// back if the message fails).
    partial: Option<Box<Partial>>,
    /// True if both ends support FORWARD TSN, so that messages may be abandoned.
    abandons: bool,
    /// `None` before the first message.
    account: Option<Box<Account>>,
    plain: Plain,
    buffer: SendBuffer,
}

/// One value for each path, on the stack. The array has room for the maximum number of paths. Fill it in
/// place, since moving it costs more than using it.
type PerPath<T> = ArrayVec<T, { Paths::LIMIT }>;

impl Sender {
    pub(crate) fn new(config: Arc<Config>, seed: u64, initial_tsn: Tsn) -> Self {
        let cmt = effective(&config.cmt);
        Sender {
            control: None,
            queue: SendQueue::new(&config),
            out: Outstanding::new(initial_tsn),
            acked: Acked::default(),
            limits: Limits::default(),
            acked_paths: AckedPaths::default(),
            retained: ByteCount::ZERO,
            peer: PeerWindow::new(cmt.keep_room),
            choice: Choice::new(cmt.path_selection.build()),
            bottlenecks: cmt.detect_bottlenecks.then(Box::default),
            cmt,
            user: User::default(),
            heard: false,
            heard_at: Instant::ZERO,
            ecn: Marks::default(),
            losses: None,
            saved: None,
            sack_taken: false,
            fragment: 0,
            extra: 0,
            copies: Copies::default(),
            starved: false,
            jumped: false,
            remembered: (config.loss_detection == LossDetection::Rack).then(Box::default),
            deliveries: None,
            partial: None,
            abandons: false,
            account: None,
            plain: Plain::default(),
            buffer: SendBuffer::new(config.send_buffer),
            same_return: (config.sack_path == SackPath::Fastest).then(Box::default),
            paced: false,
            now: Instant::ZERO,
            packets: 0,
            random: Draws::new(seed),
            config,
        }
    }

    #[inline]
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn shared_config(&self) -> Arc<Config> {
        self.config.clone()
    }

    /// Replaces the protocol parameters, except those of multipath transfer and congestion control.
    pub(crate) fn set_config(&mut self, config: Arc<Config>) {
        self.config = config;
    }

    /// Sends I-DATA chunks (`rfc8260`) in place of DATA chunks. Must be called before [`Self::establish`].
    pub(crate) fn interleave(&mut self) {
        self.out.interleave();
        self.queue.interleave();
    }

    /// Sets cwnd and ssthresh of all paths after the handshake. Each packet with data keeps `extra` bytes
    /// free.
    pub(crate) fn establish(
        &mut self,
        now: Instant,
        peer_rwnd: u32,
        outbound_streams: u16,
        extra: usize,
        paths: &mut Paths,
    ) {
        self.extra = extra;
        self.peer.begin(peer_rwnd);
        self.queue.set_streams(outbound_streams);
        let ip_header = paths.iter().map(|p| p.ip_header()).min().unwrap_or(20);
        let paths_used = if self.cmt.enabled { paths.len() } else { 1 };
        let most = match self.config.send_buffer {
            BufferSize::Auto => ByteCount::new(u64::from(u32::MAX)),
            BufferSize::Fixed(_) => self.peer.free(),
        };
        let initial_ssthresh = self.config.initial_ssthresh.unwrap_or(most);
        let setup = cc::Setup {
            rp_min: self.config.rp_min,
            idle_threshold: self.config.idle_threshold,
            initial_window: self.config.initial_window,
            paced: self.config.pacing,
            ..cc::Setup::sctp(self.config.growth, ByteCount::from(ip_header), initial_ssthresh, paths_used)
        };
        let control = self.config.congestion_control.build(&setup, &self.config.knobs);
        let mut control = cc::paced(control, &setup);
        if self.saved.is_some() {
            control = cc::resumed(control, &setup);
        }
        self.start_control(now, control, paths);
    }

    fn start_control(&mut self, now: Instant, control: Box<dyn CongestionControl>, paths: &mut Paths) {
        if control.wants_rate_samples() {
            self.out.keep_records();
        }
        self.paced = control.is_paced();
        self.control = Some(control);
        for p in paths.ids() {
            self.add_window(p, paths);
        }
        if self.config.resume == Resume::Full {
            for p in paths.ids() {
                self.resume(now, p, paths);
            }
        }
    }

    /// Sets cwnd and ssthresh of a path that is added. Does nothing before [`Self::establish`].
    pub(crate) fn path_added(&mut self, now: Instant, p: PathId, paths: &mut Paths) {
        self.add_window(p, paths);
        self.resume(now, p, paths);
    }

    fn add_window(&mut self, p: PathId, paths: &mut Paths) {
        let Some(control) = &mut self.control else { return };
        let views: PerPath<PathView> = views(&self.cmt.groups, self.bottlenecks.as_deref(), paths).collect();
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

    /// Resets the state of path `p`: a new path has taken the number of a removed path without outstanding
    /// chunks.
    pub(crate) fn path_replaced(&mut self, now: Instant, p: PathId, paths: &mut Paths) {
        let cwnd = paths[p].initial_cwnd;
        paths[p].window = CongestionWindow { cwnd, ssthresh: None };
        self.apply_rule(now, p, WindowRule::Set(cwnd), paths);
        self.forget_bottleneck(p);
        if self.paced {
            paths[p].rate = Some(Box::new(RateControl::new(paths[p].mtu)));
        }
        self.begin_rack(&mut paths[p]);
        self.copies.forget(p);
        self.resume(now, p, paths);
        self.fit_fragments(paths);
    }

    /// Index of the first chunk above the cumulative TSN, or of the next new chunk if nothing is outstanding.
    pub(crate) fn first_index(&self) -> u64 {
        self.out.first_index()
    }

    /// Adapts the fragment size to the path with the shortest maximum packet. Chunks that have a TSN keep
    /// their size.
    pub(crate) fn fit_fragments(&mut self, paths: &Paths) {
        // A path with an unverified address is left out, since its path MTU is not discovered yet.
        let fits = |p: &&Path| p.pmtud.is_none() || !p.is_unconfirmed();
        let confirmed = paths.iter().filter(fits).map(Path::packet_limit).min();
        let limit = confirmed.or_else(|| paths.iter().map(Path::packet_limit).min()).unwrap_or(0);
        self.fragment = (limit.saturating_sub(COMMON_HEADER + self.extra + self.header_len()) & !3) as u16;
    }

    /// Returns how many of `len` user bytes one chunk can carry.
    #[inline]
    fn fragment_of(&self, len: usize) -> usize {
        len.min(usize::from(self.fragment))
    }

    /// Prepares a potentially failed path for data after an answered heartbeat. Sets cwnd to two packets, so
    /// that the peer does not delay the acknowledgement.
    pub(crate) fn on_path_back(&mut self, now: Instant, p: PathId, paths: &mut Paths) {
        self.apply_rule(now, p, WindowRule::Set(paths[p].mtu * 2), paths);
        paths[p].timed_out = false;
        paths[p].decayed = Some(now);
        paths[p].restart();
    }

    /// Resets cwnd and ssthresh of path `p` to the initial values after a change of route
    /// (`rfc9260#section-7.2.5.2`).
    pub(crate) fn on_route_changed(&mut self, now: Instant, p: PathId, paths: &mut Paths) {
        let window = CongestionWindow { cwnd: paths[p].initial_cwnd, ssthresh: None };
        self.apply_rule(now, p, WindowRule::Replace(window), paths);
        paths[p].rto.forget_least();
        paths[p].route_since = now;
        self.forget_bottleneck(p);
        paths[p].restart();
    }

    fn forget_bottleneck(&mut self, p: PathId) {
        self.bottlenecks.iter_mut().for_each(|bottlenecks| bottlenecks.forget(p));
    }

    /// Queues a message. Returns its number if it is tracked (has a delivery report). After an error the
    /// queue is unchanged.
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
        self.buffer.tune(self.retained);
        let length = message.payload.byte_count();
        let (limit, most) = (self.send_buffer().max(length), self.config.send_buffer.most());
        if length > most {
            return Err(SendError::TooLong { length: message.payload.len(), limit: most.get() });
        }
        let full = (self.is_queue_full() && !message.urgent) || self.buffered() + length > limit;
        let displaces = matches!(message.reliability, Reliability::Priority(_));
        if full && !(displaces && self.displace_for(now, &message, paths)) {
            self.user.refused();
            return Err(SendError::WouldBlock);
        }
        self.user.gave(self.queue.is_empty());
        let (stream, record) = (message.stream, self.record_of(now, &message));
        let id = self.queue.give(message, record);
        if record != RecordId::default() {
            self.note_queued(record, stream, id);
        }
        Ok(id)
    }

    fn is_queue_full(&self) -> bool {
        self.config.send_queue.is_some_and(|most| self.unsent_messages() >= most as usize)
    }

    /// Sets the priority or weight of a stream (`SCTP_STREAM_SCHEDULER_VALUE` of `rfc8260#section-4.3.3`).
    pub(crate) fn set_stream_value(&mut self, stream: StreamId, value: u16) -> Result<(), StreamError> {
        if value == 0 && self.config.stream_scheduler == StreamScheduler::Wfq {
            return Err(StreamError::ZeroWeight { stream });
        }
        self.queue.set_value(stream, value)
    }

    pub(crate) fn stream_value(&self, stream: StreamId) -> Option<u16> {
        self.queue.value(stream)
    }

    /// True once after each refused push, when the send buffer has room again.
    #[inline(always)]
    pub(crate) fn take_writable(&mut self) -> bool {
        if !self.user.is_blocked() {
            return false;
        }
        let writable = !self.is_queue_full() && self.buffered() < self.send_buffer();
        if writable {
            self.user.informed();
        }
        writable
    }

    /// Records that no more messages follow: the last chunk then requests a SACK (`rfc7053#section-4.1`).
    pub(crate) fn shutdown_pending(&mut self) {
        self.user.closes();
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

    /// Bytes in the send buffer: unsent bytes, and sent bytes that the peer may lack or may renege on.
    pub(crate) fn buffered(&self) -> ByteCount {
        self.queue.bytes() + self.queue.held_bytes() + self.retained
    }

    /// Sets the budget from which a send buffer of the size [`BufferSize::Auto`] takes memory to grow.
    pub(crate) fn join(&mut self, budget: &Arc<BufferBudget>) {
        self.buffer.join(budget);
    }

    fn send_buffer(&self) -> ByteCount {
        self.buffer.size(self.retained)
    }

    /// Maximum number of sent bytes in the send buffer. [`BufferSize::Auto`] keeps half for unsent bytes.
    fn most_outstanding(&self) -> ByteCount {
        match self.config.send_buffer {
            BufferSize::Auto => ByteCount::new(self.config.send_buffer.most().get() / 2),
            BufferSize::Fixed(size) => size,
        }
    }

    pub(crate) fn peer_rwnd(&self) -> ByteCount {
        self.peer.free()
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

    #[inline]
    fn header_len(&self) -> usize {
        if self.out.is_interleaved() { IData::HEADER_LEN } else { Data::HEADER_LEN }
    }

    /// Bytes that a chunk with `payload` user bytes takes in a packet, padding included.
    #[inline]
    fn chunk_len(&self, payload: usize) -> usize {
        (self.header_len() + payload).next_multiple_of(4)
    }

    /// Calls the congestion control with a view of all paths, and applies the cwnd and ssthresh that it sets.
    fn control(
        &mut self,
        now: Instant,
        paths: &mut Paths,
        ask: impl FnOnce(&mut dyn CongestionControl, &mut [PathView], &mut [CongestionWindow]),
    ) {
        let Some(control) = &mut self.control else { return };
        let (mut all, mut windows) = (PerPath::<PathView>::new(), PerPath::<CongestionWindow>::new());
        all.extend(views(&self.cmt.groups, self.bottlenecks.as_deref(), paths));
        windows.extend(paths.iter().map(|p| p.window));
        ask(&mut **control, &mut all, &mut windows);
        for (path, window) in paths.iter_mut().zip(&windows) {
            path.window = *window;
        }
        if self.paced {
            Self::set_rates(&**control, now, paths);
        }
    }

    /// Informs the congestion control of a cwnd or ssthresh that a rule of SCTP, not the algorithm, sets.
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

    /// Begins or ends the log of lost chunks.
    pub(crate) fn log_losses(&mut self, log: bool) {
        self.losses = log.then(Vec::new);
    }

    pub(crate) fn losses(&mut self) -> Option<&mut Vec<Loss>> {
        self.losses.as_mut()
    }

    /// The rate at which the sender paces the packets of path `p`; `None` if it does not pace them.
    pub(crate) fn pacing_rate(&self, p: PathId) -> Option<BitRate> {
        self.control.as_ref().filter(|_| self.paced)?.pacing_rate(p.index())
    }

    pub(crate) fn partial_bytes_acked(&self, p: PathId) -> ByteCount {
        self.control.as_ref().map_or(ByteCount::ZERO, |control| control.partial_bytes_acked(p.index()))
    }

    pub(crate) fn inspect(&self, p: usize, paths: &Paths, show: &mut dyn FnMut(&'static str, f64)) {
        let views: PerPath<PathView> = views(&self.cmt.groups, self.bottlenecks.as_deref(), paths).collect();
        let coupled = |&(q, view): &(usize, &PathView)| q == p || view.active && views[p].may_share(q, view);
        show("coupled", views.iter().enumerate().filter(coupled).count() as f64);
        self.control.iter().for_each(|control| control.inspect(p, show));
    }
}

#[inline]
fn views(groups: &[u8], bottlenecks: Option<&Bottlenecks>, paths: &Paths) -> impl Iterator<Item = PathView> {
    paths.iter().enumerate().map(move |(number, p)| PathView {
        window: p.window,
        flight: p.flight,
        mtu: p.mtu,
        srtt: p.rto.srtt(),
        rto: p.rto.current(),
        active: p.is_active(),
        group: groups.get(number).copied().unwrap_or_default(),
        apart: bottlenecks.map_or(0, |bottlenecks| bottlenecks.apart(number)),
        in_recovery: p.recovery.is_some(),
    })
}

/// Bytes of the SCTP common header.
const COMMON_HEADER: usize = 12;

/// The options of CMT, or those of standard SCTP if CMT is not enabled.
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
