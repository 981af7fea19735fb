//! A path: a destination address, or a pair of addresses, with all state that the association keeps for it.

mod cuc;
mod heartbeat;
mod list;
mod liveness;
mod loss;
mod model;
mod options;
mod pacer;
mod pmtud;
mod rack;
mod return_path;
mod rto;

pub(crate) use cuc::CucState;
pub(crate) use heartbeat::{Heartbeat, HeartbeatTimer};
pub(crate) use list::{List, NIL};
#[cfg(test)]
pub(crate) use liveness::Life;
pub(crate) use liveness::Liveness;
pub use loss::{Loss, LossTrigger};
pub(crate) use options::Agreed;
pub use options::PathOptions;
pub(crate) use pacer::RateControl;
pub(crate) use pmtud::Pmtud;
pub(crate) use rack::Rack;
pub(crate) use return_path::ReturnRate;
pub(crate) use rto::Rto;

use crate::config::{Config, SackPath};
use cc::{CongestionWindow, OneWayDelay};
use model::Delivered;
use std::net::IpAddr;
use std::ops::{Index, IndexMut};
use transport::{Datagram, Transmit};
use units::{ByteCount, Instant, Span};

/// The index of a path within its association, in the order of addition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub u8);

impl PathId {
    /// The path number as an array index.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Whether a path may carry data (`rfc9260#section-5.4`, `rfc9260#section-8.2`, `rfc7829`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathState {
    /// The address is not verified yet: the path carries no user data.
    Unconfirmed,
    /// The address is verified, and no failure of the path is known.
    Active,
    /// More than `PotentiallyFailed.Max.Retrans` errors in a row: the path carries data only if no path is
    /// active.
    PotentiallyFailed,
    /// More than `Path.Max.Retrans` errors in a row.
    Inactive,
}

impl PathState {
    /// All states.
    pub const ALL: [PathState; 4] =
        [PathState::Unconfirmed, PathState::Active, PathState::PotentiallyFailed, PathState::Inactive];

    /// The name of the state, for example `potentially-failed`.
    pub const fn name(self) -> &'static str {
        match self {
            PathState::Unconfirmed => "unconfirmed",
            PathState::Active => "active",
            PathState::PotentiallyFailed => "potentially-failed",
            PathState::Inactive => "inactive",
        }
    }
}

/// Why a chunk counts as lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossCause {
    FastRetransmit,
    Timeout,
}

impl LossCause {
    pub(crate) fn of(trigger: LossTrigger) -> Self {
        match trigger {
            LossTrigger::MissingReports | LossTrigger::TimeThreshold | LossTrigger::PacketDrop => {
                LossCause::FastRetransmit
            }
            LossTrigger::ProbeTimeout | LossTrigger::T3 | LossTrigger::PathRemoved => LossCause::Timeout,
        }
    }
}

/// Counters of a path since the association began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PathStats {
    /// Packets with user data sent.
    pub data_packets: u64,
    /// User bytes sent, retransmissions included.
    pub user_bytes: ByteCount,
    /// Bytes of all packets sent, without the IP header.
    pub packet_bytes: ByteCount,
    /// Bytes of packets received on this path (from its remote to its local address), without the IP header.
    pub received_bytes: ByteCount,
    /// Bytes of packets sent with a SACK and without user data; the IP header is included.
    pub ack_bytes: ByteCount,
    /// Chunks retransmitted because of missing reports or RACK, or because the peer reported them as damaged.
    pub fast_retransmissions: u64,
    /// Chunks that counted as lost although they had arrived; counted only with time-based loss detection.
    pub needless_retransmissions: u64,
    /// Fast recoveries undone because all their retransmissions were needless.
    pub undone_recoveries: u64,
    /// Chunks retransmitted after an expiry of T3-rtx, as a tail loss probe, or because their path
    /// was removed.
    pub timer_retransmissions: u64,
    /// Chunks that blocked a buffer and were retransmitted on this path before they counted as lost.
    pub rescheduled: u64,
    /// Copies of chunks of other paths that were sent on this path.
    pub copies: u64,
    /// Number of times that cwnd was reduced at the start of fast recovery or by rescheduling.
    pub fast_recoveries: u64,
    /// Number of times that cwnd was reduced because the peer reported congestion marks (ECN).
    pub ecn_reductions: u64,
    /// Chunks that the peer reported as dropped for a wrong checksum; they are retransmitted.
    pub reported_drops: u64,
    /// Expiries of T3-rtx.
    pub timeouts: u64,
    /// Number of the last chunk sent on this path, counted from 1 over all paths; 0 if none was sent.
    pub last_chunk: u64,
}

/// Weight of a new sample in [`Path::return_ratio`], a moving average: RTO.Alpha of RFC 9260.
const RATIO_WEIGHT: f64 = 0.125;

/// Upper limit of [`Path::return_ratio`], by which the sender multiplies cwnd if SACKs return on a slow path.
const MAX_RETURN_RATIO: f64 = 2.0;

/// The state of one path. Fields that are used together share a cache line.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Path {
    pub(crate) state: PathState,
    /// T3-rtx expired and nothing was acknowledged since: at most one packet may be in flight.
    pub(crate) timed_out: bool,
    pub(crate) burst_left: u32,
    pub(crate) window: CongestionWindow,
    /// Bytes in flight.
    pub(crate) flight: ByteCount,
    /// Bytes of chunks last sent on this path and not freed. Acknowledged chunks count while they are
    /// renegable.
    pub(crate) queued: ByteCount,
    pub(crate) t3: Option<Instant>,

    /// Chunks in flight that were sent once, by TSN.
    pub(crate) fresh: List,
    /// Chunks in flight that were sent more than once, by TSN.
    pub(crate) resent: List,
    /// Chunks lost on this path and waiting for their retransmission, by TSN: one list for each cause.
    pub(crate) lost_fast: List,
    pub(crate) lost_timer: List,

    pub(crate) remote: IpAddr,
    pub(crate) local: IpAddr,
    /// The peer's UDP port on this path (`rfc6951`); 0 if packets are not encapsulated.
    pub(crate) udp_port: u16,
    /// Consecutive errors (`rfc9260#section-8.2`).
    pub(crate) errors: u32,
    /// Path MTU in bytes, IP header included.
    pub(crate) mtu: ByteCount,
    /// Serial number, over all paths, of the last SACK sent here.
    pub(crate) last_sack: u64,
    /// Serial number, over all paths, of the last data packet sent here.
    pub(crate) last_order: u64,

    pub(crate) rto: Rto,
    pub(crate) liveness: Liveness,

    /// Index of the chunk whose acknowledgement ends fast recovery; `None` outside fast recovery.
    pub(crate) recovery: Option<u64>,
    /// Present with time-based loss detection only.
    pub(crate) rack: Option<Box<Rack>>,
    /// Present if packets are paced or the congestion control needs rate samples.
    pub(crate) rate: Option<Box<RateControl>>,
    /// `None` if the MTU is fixed.
    pub(crate) pmtud: Option<Box<Pmtud>>,
    /// Present if the option `sack_path` is `fastest`.
    pub(crate) returns: Option<Box<ReturnRate>>,
    pub(crate) last_data: Option<Instant>,

    pub(crate) heartbeat: Heartbeat,
    /// One packet of lost chunks may be sent although cwnd is full (`rfc9260#section-7.2.4`).
    pub(crate) may_resend: bool,

    pub(crate) stats: PathStats,
    /// Moving average of the share of chunks that are lost.
    pub(crate) loss_rate: f64,
    /// Time of the last change of route. A chunk sent earlier gives no RTT sample, and its acknowledgement
    /// does not let cwnd grow.
    pub(crate) route_since: Instant,

    pub(crate) cuc: CucState,
    /// The least one-way delay reported since the last SACK.
    pub(crate) owd: Option<OneWayDelay>,
    /// RTT divided by the RTT that the path would have if all SACKs returned on the fastest path. The value
    /// is smoothed and lies between 1 and [`MAX_RETURN_RATIO`].
    pub(crate) return_ratio: f64,
    pub(crate) delivered: Delivered,
    /// Time up to which the idle time of the path has already reduced cwnd.
    pub(crate) decayed: Option<Instant>,
    pub(crate) initial_cwnd: ByteCount,
    /// Time before which the path sends no data, because it delayed a rescheduled chunk.
    pub(crate) blocked_until: Instant,
    /// ICMP messages "unreachable" that arrive before this time do not count as errors of the path.
    pub(crate) unreachable_until: Option<Instant>,
    /// Serial number, over all paths, of this path's last transition out of Active.
    pub(crate) failed: u64,
    /// Time at which the path last became potentially failed.
    pub(crate) failing_since: Instant,
    /// One of the two addresses of the path was removed from the association. The path is unconfirmed
    /// and carries no packets, but keeps its number, and may be added again.
    pub(crate) removed: bool,
    /// Options that the two ends set for the path; `None` if neither end set any.
    pub(crate) options: Option<Box<Agreed>>,
    /// The larger of the two costs set by our end and by the peer: see [`PathOptions::cost`].
    pub(crate) cost: u16,
}

impl Path {
    pub(crate) fn new(remote: IpAddr, local: IpAddr, config: &Config) -> Self {
        Path {
            remote,
            local,
            udp_port: 0,
            state: PathState::Unconfirmed,
            mtu: config.mtu,
            rto: Rto::new(config),
            errors: 0,
            heartbeat: Heartbeat::default(),
            window: CongestionWindow { cwnd: config.mtu, ssthresh: None },
            flight: ByteCount::ZERO,
            queued: ByteCount::ZERO,
            t3: None,
            rack: None,
            rate: None,
            pmtud: None,
            returns: (config.sack_path == SackPath::Fastest).then(|| Box::new(ReturnRate::new())),
            liveness: Liveness::default(),
            route_since: Instant::ZERO,
            delivered: Delivered::default(),
            initial_cwnd: config.mtu,
            recovery: None,
            timed_out: false,
            cuc: CucState::default(),
            fresh: List::default(),
            resent: List::default(),
            lost_fast: List::default(),
            lost_timer: List::default(),
            may_resend: false,
            loss_rate: 0.0,
            last_data: None,
            decayed: None,
            last_order: 0,
            last_sack: 0,
            owd: None,
            return_ratio: 1.0,
            blocked_until: Instant::ZERO,
            unreachable_until: None,
            failed: 0,
            failing_since: Instant::ZERO,
            options: None,
            cost: 0,
            removed: false,
            burst_left: config.max_burst,
            stats: PathStats::default(),
        }
    }

    /// Length of the IP header in bytes.
    pub(crate) fn ip_header(&self) -> usize {
        if self.remote.is_ipv4() { 20 } else { 40 }
    }

    /// Maximum length of an SCTP packet on this path, common header included.
    #[inline]
    pub(crate) fn packet_limit(&self) -> usize {
        self.mtu.get() as usize - self.overhead()
    }

    /// Bytes of IP and UDP header.
    #[inline]
    fn overhead(&self) -> usize {
        self.ip_header() + if self.udp_port == 0 { 0 } else { UDP_HEADER }
    }

    /// Starts path MTU discovery if it is enabled.
    pub(crate) fn discover_mtu(&mut self, config: &Config) {
        if config.pmtud {
            let interface_mtu = config.mtu.get() as usize;
            let pmtud = Pmtud::new(self.remote.is_ipv4(), self.overhead(), interface_mtu);
            self.mtu = ByteCount::from(pmtud.mtu());
            self.pmtud = Some(Box::new(pmtud));
        }
    }

    /// Returns addresses and flags for a packet of `len` bytes. The network may fragment a packet longer than
    /// the path MTU: its contents cannot be divided, or the packet was written before the MTU became smaller.
    #[inline]
    pub(crate) fn transmit(&self, len: usize) -> Transmit {
        let may_fragment = len > self.packet_limit();
        Transmit { udp_port: self.udp_port, may_fragment, ..Transmit::new(self.local, self.remote) }
    }

    /// Returns true if the address is not yet verified (`rfc9260#section-5.4`).
    #[inline]
    pub(crate) fn is_unconfirmed(&self) -> bool {
        self.state == PathState::Unconfirmed
    }

    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        self.state == PathState::Active
    }

    /// Index of the chunk with the lowest TSN in flight; [`NIL`] if no chunk is in flight.
    #[inline]
    pub(crate) fn earliest(&self) -> u64 {
        self.fresh.head.min(self.resent.head)
    }

    /// Returns true if the path is active and not silent.
    #[inline]
    pub(crate) fn is_usable(&self) -> bool {
        self.is_active() && !self.liveness.is_silent()
    }

    /// Index of the lowest chunk that was last sent on this path and is in flight or lost; [`NIL`] if there
    /// is no such chunk. The peer has all lower chunks of this path, or they are abandoned.
    #[inline]
    pub(crate) fn earliest_outstanding(&self) -> u64 {
        let lists = [self.fresh, self.resent, self.lost_fast, self.lost_timer];
        lists.into_iter().fold(NIL, |earliest, list| earliest.min(list.head))
    }

    #[inline]
    pub(crate) fn has_lost(&self) -> bool {
        self.lost_fast.head.min(self.lost_timer.head) != NIL
    }

    #[inline]
    pub(crate) fn lost(&mut self, cause: LossCause) -> &mut List {
        match cause {
            LossCause::FastRetransmit => &mut self.lost_fast,
            LossCause::Timeout => &mut self.lost_timer,
        }
    }

    #[inline]
    pub(crate) fn lost_list(&self, cause: LossCause) -> &List {
        match cause {
            LossCause::FastRetransmit => &self.lost_fast,
            LossCause::Timeout => &self.lost_timer,
        }
    }

    /// Adds a sample to `return_ratio`. `fastest` is the RTT that a SACK on the fastest path would
    /// have given.
    pub(crate) fn note_return_ratio(&mut self, rtt: Span, fastest: Span) {
        let ratio = rtt.as_secs_f64() / fastest.as_secs_f64();
        if ratio.is_finite() {
            self.return_ratio += (ratio.min(MAX_RETURN_RATIO) - self.return_ratio) * RATIO_WEIGHT;
        }
    }

    /// The flight size with which the path sends at the rate cwnd/RTT.
    ///
    /// The RTT in this rate assumes that all SACKs return on the fastest path. If they return on a slower
    /// path, the same rate needs a larger flight.
    #[inline]
    fn allowed_flight(&self) -> ByteCount {
        match self.return_ratio > 1.0 {
            true => ByteCount::round_f64(self.window.cwnd.as_f64() * self.return_ratio),
            false => self.window.cwnd,
        }
    }

    /// Maximum number of bytes in flight: cwnd, or one packet if the path is potentially failed or T3-rtx
    /// expired (until that packet is acknowledged).
    #[inline]
    fn send_limit(&self) -> ByteCount {
        if self.timed_out && !self.flight.is_zero() {
            ByteCount::ZERO
        } else if self.state == PathState::PotentiallyFailed {
            self.window.cwnd.min(self.mtu)
        } else {
            self.allowed_flight()
        }
    }

    /// Bytes of [urgent](crate::Message::urgent) data that may be sent, in chunks of at most `longest`
    /// bytes. The last chunk may exceed the send limit (cwnd), if at least one byte of it fits.
    pub(crate) fn urgent_space(&self, longest: ByteCount) -> ByteCount {
        let limit = self.send_limit();
        let beyond = if limit.is_zero() { limit } else { limit + longest - ByteCount::new(1) };
        beyond - self.flight
    }

    /// Bytes that may be sent now.
    #[inline]
    pub(crate) fn space(&self) -> ByteCount {
        self.send_limit() - self.flight
    }
}

/// Bytes of a UDP header that encapsulates an SCTP packet.
const UDP_HEADER: usize = 8;

/// Shortest time without an answer after which the sender may react before T3-rtx expires, as for a tail
/// loss probe (draft-dukkipati-tcpm-tcp-loss-probe-01, section 2.1). The reason: peers have coarse timers,
/// and an RTT may be near 0.
pub(crate) const LEAST_PROBE_TIMEOUT: Span = Span::from_millis(10);

#[derive(Debug, Default)]
pub(crate) struct Paths {
    list: Vec<Path>,
    pub(crate) primary: PathId,
    /// A path is a pair of a local and a remote address, not only a remote address.
    pairs: bool,
    /// True if a user set a cost ([`PathOptions::cost`]) for at least one path.
    has_costs: bool,
}

impl Paths {
    /// Maximum number of paths of an association; further addresses are not used.
    pub(crate) const LIMIT: usize = 16;

    /// Creates an empty list. A path is a pair of addresses if `pairs` is true, or else a remote address.
    pub(crate) fn new(pairs: bool) -> Self {
        Paths { pairs, ..Paths::default() }
    }

    /// Adds a path; `None` if it exists or the maximum number of paths is reached.
    pub(crate) fn add(&mut self, path: Path) -> Option<PathId> {
        let same = |p: &Path| p.remote == path.remote && (!self.pairs || p.local == path.local);
        if self.list.len() >= Self::LIMIT || self.list.iter().any(same) {
            return None;
        }
        self.list.reserve_exact(1); // most associations have one or two paths
        self.has_costs |= path.cost > 0;
        self.list.push(path);
        Some(PathId(self.list.len() as u8 - 1))
    }

    /// Returns a removed path that `path` may replace: a path with the same addresses, or, if the list is
    /// full, a path without chunks to free.
    pub(crate) fn removed_place(&self, path: &Path) -> Option<PathId> {
        let own = |p: &Path| p.removed && p.remote == path.remote && (!self.pairs || p.local == path.local);
        let free = |p: &Path| p.removed && p.queued.is_zero();
        let place = self.list.iter().position(own);
        let place =
            place.or_else(|| self.list.iter().position(free).filter(|_| self.list.len() >= Self::LIMIT));
        place.map(|i| PathId(i as u8))
    }

    /// Returns the first path to an address. Pairs are in order of similarity: the local address of the first
    /// pair is the most similar to `remote`.
    #[inline(always)] // inlined into `of`
    pub(crate) fn find(&self, remote: IpAddr) -> Option<PathId> {
        self.list.iter().position(|p| p.remote == remote && !p.removed).map(|i| PathId(i as u8))
    }

    /// Returns the path of an arrived packet: the pair of its addresses, else the first path to its source.
    #[inline(always)] // into `Association::arrived_on`, which calls it for each packet
    pub(crate) fn of(&self, datagram: &Datagram<'_>) -> Option<PathId> {
        let pair = |p: &Path| p.remote == datagram.src && p.local == datagram.dst && !p.removed;
        if self.pairs
            && let Some(i) = self.list.iter().position(pair)
        {
            return Some(PathId(i as u8));
        }
        self.find(datagram.src)
    }

    /// Returns the path between the addresses `local` and `remote`, else the first path to `remote`.
    pub(crate) fn towards(&self, remote: IpAddr, local: Option<IpAddr>) -> Option<PathId> {
        let pair = |p: &Path| p.remote == remote && Some(p.local) == local && !p.removed;
        let exact = self.list.iter().position(pair).map(|i| PathId(i as u8));
        exact.or_else(|| self.find(remote))
    }

    pub(crate) fn are_pairs(&self) -> bool {
        self.pairs
    }

    /// State of a remote address: the best state among all paths to this address.
    pub(crate) fn state_of(&self, remote: IpAddr) -> PathState {
        let states = self.list.iter().filter(|p| p.remote == remote && !p.removed).map(|p| p.state);
        states
            .min_by_key(|state| match state {
                PathState::Active => 0,
                PathState::PotentiallyFailed => 1,
                PathState::Inactive => 2,
                PathState::Unconfirmed => 3,
            })
            .unwrap_or(PathState::Unconfirmed)
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    pub(crate) fn ids(&self) -> impl Iterator<Item = PathId> + Clone + use<> {
        (0..self.list.len() as u8).map(PathId)
    }

    /// Path number `n` modulo the number of paths.
    pub(crate) fn cyclic(&self, n: usize) -> PathId {
        PathId((n % self.list.len()) as u8)
    }

    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Path> {
        self.list.iter()
    }

    pub(crate) fn iter_mut(&mut self) -> std::slice::IterMut<'_, Path> {
        self.list.iter_mut()
    }

    /// Bytes in flight on all paths.
    #[inline(never)] // five copies of an unrolled loop do not fit the instruction cache
    pub(crate) fn flight(&self) -> ByteCount {
        self.list.iter().map(|p| p.flight).sum()
    }

    /// The next active path after `p`, in cyclic order; `p` itself only if it is the only active path.
    pub(crate) fn next_active(&self, p: PathId) -> Option<PathId> {
        self.next_that(p, Path::is_active)
    }

    /// As [`Self::next_active`], but considers only usable paths (active and not silent).
    pub(crate) fn next_usable(&self, p: PathId) -> Option<PathId> {
        self.next_that(p, Path::is_usable)
    }

    /// Returns the path for a control chunk that was not answered on `p`: the next active path, else the next
    /// confirmed path, since any confirmed path may work again (`rfc9260#section-8.2`).
    pub(crate) fn next_in_turn(&self, p: PathId) -> PathId {
        let confirmed = |path: &Path| !path.removed && !path.is_unconfirmed();
        self.next_active(p).or_else(|| self.next_that(p, confirmed)).unwrap_or_else(|| self.default_path())
    }

    fn next_that(&self, p: PathId, works: impl Fn(&Path) -> bool) -> Option<PathId> {
        (1..=self.list.len()).map(|k| self.cyclic(p.index() + k)).find(|&p| works(&self[p]))
    }

    /// Returns true if at least one address of the peer is verified.
    #[inline]
    pub(crate) fn any_confirmed(&self) -> bool {
        let primary = self.list.get(self.primary.index());
        primary.is_some_and(|path| !path.is_unconfirmed())
            || self.list.iter().any(|path| !path.is_unconfirmed())
    }

    /// Returns the potentially failed path with the fewest errors; of several, the one that was active last
    /// (`rfc7829#section-3`, rule 3). The sender uses this path if no path is active.
    pub(crate) fn best_failing(&self) -> Option<PathId> {
        let failing = self.ids().filter(|&p| self[p].state == PathState::PotentiallyFailed);
        failing.min_by_key(|&p| (self[p].errors, std::cmp::Reverse(self[p].failed)))
    }

    /// Returns the path for packets that are bound to no path. In this order: the primary path if active, the
    /// next active path, the best potentially failed path, the confirmed path with the fewest errors (if all
    /// are inactive, `rfc9260#section-8.2`), the primary path.
    #[inline]
    pub(crate) fn default_path(&self) -> PathId {
        let works = self.list.get(self.primary.index()).is_some_and(Path::is_active);
        if works { self.primary } else { self.other_default_path() }
    }

    #[cold]
    fn other_default_path(&self) -> PathId {
        self.next_active(self.primary).or_else(|| self.best_failing()).unwrap_or_else(|| {
            let confirmed = self.ids().filter(|&p| self[p].state != PathState::Unconfirmed);
            confirmed.min_by_key(|&p| self[p].errors).unwrap_or(self.primary)
        })
    }
}

impl Index<PathId> for Paths {
    type Output = Path;
    #[inline]
    fn index(&self, p: PathId) -> &Path {
        &self.list[p.index()]
    }
}

impl IndexMut<PathId> for Paths {
    #[inline]
    fn index_mut(&mut self, p: PathId) -> &mut Path {
        &mut self.list[p.index()]
    }
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::Path;
    use std::mem::offset_of;

    #[test]
    fn what_is_looked_at_together_begins_a_cache_line() {
        let begin = [offset_of!(Path, fresh), offset_of!(Path, remote), offset_of!(Path, rto)];
        assert_eq!(begin, [64, 128, 192]);
        assert_eq!([offset_of!(Path, recovery), offset_of!(Path, heartbeat)], [320, 384]);
    }
}
