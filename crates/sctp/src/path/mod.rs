//! A path: one destination address with everything that is known about the way there. Per-path state lives here
//! and nowhere else.

mod cuc;
mod heartbeat;
mod list;
mod liveness;
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
pub(crate) use options::Agreed;
pub use options::PathOptions;
pub(crate) use pacer::RateControl;
pub(crate) use pmtud::Pmtud;
pub(crate) use rack::Rack;
pub(crate) use return_path::Return;
pub(crate) use rto::Rto;

use crate::config::{Config, SackPath};
use cc::{CongestionWindow, OneWayDelay};
use std::net::IpAddr;
use std::ops::{Index, IndexMut};
use transport::{Datagram, Transmit};
use units::{ByteCount, Instant, Span};

/// The number of a path within its association, in order of addition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PathId(pub u8);

impl PathId {
    /// The number as an index.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Whether a path may carry data (`rfc9260#section-5.4`, `rfc9260#section-8.2`, `rfc7829`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathState {
    /// Its address is not verified yet: no user data.
    Unconfirmed,
    /// Verified and, as far as known, working.
    Active,
    /// More than `PotentiallyFailed.Max.Retrans` errors in a row: probed, and used only if no path is active.
    PotentiallyFailed,
    /// More than `Path.Max.Retrans` errors in a row.
    Inactive,
}

/// Why a chunk counts as lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LossCause {
    FastRetransmit,
    Timeout,
}

/// What a path did so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathStats {
    /// Packets with user data sent.
    pub data_packets: u64,
    /// User bytes sent, retransmissions included.
    pub user_bytes: ByteCount,
    /// Bytes of all packets sent, without the IP header.
    pub packet_bytes: ByteCount,
    /// Bytes of packets sent with a SACK and without user data, with the IP header.
    pub ack_bytes: ByteCount,
    /// Chunks sent again before an expiry of T3.
    pub fast_retransmissions: u64,
    /// Chunks taken for lost by fast retransmission that had arrived; only with time-based loss detection.
    pub needless_retransmissions: u64,
    /// Fast recoveries undone because all their retransmissions were needless.
    pub undone_recoveries: u64,
    /// Chunks sent again after a timeout.
    pub timer_retransmissions: u64,
    /// Chunks sent again here to free a buffer before they counted as lost.
    pub rescheduled: u64,
    /// Copies sent of chunks that travel elsewhere.
    pub copies: u64,
    /// Window cuts by fast retransmission.
    pub fast_recoveries: u64,
    /// Window cuts because the peer reported marks of congestion (ECN).
    pub ecn_reductions: u64,
    /// Chunks that the peer reported as dropped for a wrong checksum; they are sent again as after missing reports.
    pub reported_drops: u64,
    /// Expiries of T3.
    pub timeouts: u64,
    /// The chunk sent last, counted from 1 for the first of the association; zero before there is one.
    pub last_chunk: u64,
}

/// Weight of a new sample in the smoothed ratio: that in the smoothed round-trip time (RTO.Alpha of RFC 9260).
const RATIO_WEIGHT: f64 = 0.125;

/// The flight size is limited to so many congestion windows where SACKs return on a slower path.
const MAX_RETURN_RATIO: f64 = 2.0;

/// What is looked at together stands together, in the cache lines that are told apart here: of many paths few are in
/// the cache.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Path {
    pub(crate) state: PathState,
    /// T3 expired and nothing was acknowledged since: one packet in flight.
    pub(crate) timed_out: bool,
    pub(crate) burst_left: u32,
    pub(crate) window: CongestionWindow,
    /// Bytes in flight.
    pub(crate) flight: ByteCount,
    /// Bytes of all chunks last sent here that the peer does not have for good.
    pub(crate) queued: ByteCount,
    pub(crate) t3: Option<Instant>,

    /// In flight for the first time, by TSN.
    pub(crate) fresh: List,
    /// In flight again, by TSN.
    pub(crate) resent: List,
    /// Lost on this path and waiting to be sent again, by TSN, for each cause.
    pub(crate) lost_fast: List,
    pub(crate) lost_timer: List,

    pub(crate) remote: IpAddr,
    pub(crate) local: IpAddr,
    /// The peer's UDP port there (`rfc6951`); 0: packets are not encapsulated.
    pub(crate) udp_port: u16,
    /// Consecutive errors (`rfc9260#section-8.2`).
    pub(crate) errors: u32,
    /// With the IP header.
    pub(crate) mtu: ByteCount,
    /// Number of the last SACK that left here, over all paths.
    pub(crate) last_sack: u64,
    /// Serial number of the last data packet sent here, over all paths.
    pub(crate) last_order: u64,

    pub(crate) rto: Rto,
    /// Whether it answers.
    pub(crate) liveness: Liveness,

    /// Index of the TSN whose acknowledgement ends fast recovery.
    pub(crate) recovery: Option<u64>,
    /// Only with time-based loss detection.
    pub(crate) rack: Option<Box<Rack>>,
    /// Only for a congestion control that wants rate samples.
    pub(crate) rate: Option<Box<RateControl>>,
    /// None: the MTU is fixed.
    pub(crate) pmtud: Option<Box<Pmtud>>,
    /// Only where SACKs take the fastest path.
    pub(crate) returns: Option<Box<Return>>,
    pub(crate) last_data: Option<Instant>,

    pub(crate) heartbeat: Heartbeat,
    /// Packets of lost chunks that may leave although cwnd is full (`rfc9260#section-7.2.4`).
    pub(crate) shots: u32,

    pub(crate) stats: PathStats,
    /// Share of chunks lost, a moving average.
    pub(crate) loss_rate: f64,

    pub(crate) cuc: CucState,
    /// The least one-way delay told of since the last SACK.
    pub(crate) owd: Option<OneWayDelay>,
    /// Round-trip time over the one that the path would have if all SACKs returned on the fastest path.
    /// Smoothed, from 1 to [`MAX_RETURN_RATIO`].
    pub(crate) return_ratio: f64,
    /// The window has decayed for all idleness up to then.
    pub(crate) decayed: Option<Instant>,
    /// cwnd at first.
    pub(crate) initial_cwnd: ByteCount,
    /// It was slow, and sends nothing before.
    pub(crate) blocked_until: Instant,
    /// ICMP messages of an unreachable destination are no errors of the path before.
    pub(crate) unreachable_until: Option<Instant>,
    /// Which change of state of any path was the last that ended its being active.
    pub(crate) failed: u64,
    /// When it last became potentially failed.
    pub(crate) failing_since: Instant,
    /// It has no local address any more: it is unconfirmed, nothing is sent there, and packets find another path. It keeps
    /// its number, and may come back.
    pub(crate) removed: bool,
    /// What the ends of the path set for it; none if neither did.
    pub(crate) options: Option<Box<Agreed>>,
    /// The greater of the costs that the ends set: see [`PathOptions::cost`].
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
            returns: (config.sack_path == SackPath::Fastest).then(|| Box::new(Return::new())),
            liveness: Liveness::default(),
            initial_cwnd: config.mtu,
            recovery: None,
            timed_out: false,
            cuc: CucState::default(),
            fresh: List::default(),
            resent: List::default(),
            lost_fast: List::default(),
            lost_timer: List::default(),
            shots: 0,
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

    /// Bytes of IP header on the way.
    pub(crate) fn ip_header(&self) -> usize {
        if self.remote.is_ipv4() { 20 } else { 40 }
    }

    /// Bytes an SCTP packet may have here, common header included.
    #[inline]
    pub(crate) fn packet_limit(&self) -> usize {
        self.mtu.get() as usize - self.overhead()
    }

    /// Bytes of IP and UDP header.
    #[inline]
    fn overhead(&self) -> usize {
        self.ip_header() + if self.udp_port == 0 { 0 } else { UDP_HEADER }
    }

    /// Begins path MTU discovery, if it is on, with what is known of the path.
    pub(crate) fn discover_mtu(&mut self, config: &Config) {
        if config.pmtud {
            let interface_mtu = config.mtu.get() as usize;
            let pmtud = Pmtud::new(self.remote.is_ipv4(), self.overhead(), interface_mtu);
            self.mtu = ByteCount::from(pmtud.mtu());
            self.pmtud = Some(Box::new(pmtud));
        }
    }

    /// How a packet of so many bytes leaves here. A longer one than the path MTU allows cannot be divided, or was before
    /// the MTU became smaller: the network may fragment it.
    #[inline]
    pub(crate) fn transmit(&self, len: usize) -> Transmit {
        let may_fragment = len > self.packet_limit();
        Transmit { udp_port: self.udp_port, may_fragment, ..Transmit::new(self.local, self.remote) }
    }

    /// Nobody has shown yet that the address is the peer's (`rfc9260#section-5.4`).
    #[inline]
    pub(crate) fn is_unconfirmed(&self) -> bool {
        self.state == PathState::Unconfirmed
    }

    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        self.state == PathState::Active
    }

    /// The number of the chunk with the lowest TSN that is in flight here; `NIL` if there is none.
    #[inline]
    pub(crate) fn earliest(&self) -> u64 {
        self.fresh.head.min(self.resent.head)
    }

    /// Active and not silent.
    #[inline]
    pub(crate) fn is_usable(&self) -> bool {
        self.is_active() && !self.liveness.is_silent()
    }

    /// Index of the lowest chunk last sent here that is not acknowledged, in flight or lost; [`NIL`] if there is none. One
    /// above the pseudo-cumulative TSN of the path.
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

    /// Chunks lost for this cause.
    #[inline]
    pub(crate) fn lost_list(&self, cause: LossCause) -> &List {
        match cause {
            LossCause::FastRetransmit => &self.lost_fast,
            LossCause::Timeout => &self.lost_timer,
        }
    }

    /// Takes a sample of the round-trip time, and its value if the SACK had returned on the fastest path.
    pub(crate) fn note_return(&mut self, rtt: Span, fastest: Span) {
        let ratio = rtt.as_secs_f64() / fastest.as_secs_f64();
        if ratio.is_finite() {
            self.return_ratio += (ratio.min(MAX_RETURN_RATIO) - self.return_ratio) * RATIO_WEIGHT;
        }
    }

    /// Age from which a chunk or a copy is presumed lost: 1.25 SRTT + 4 RTTVAR, not below [`LEAST_PROBE_TIMEOUT`].
    pub(crate) fn overdue(&self) -> Span {
        let expected = |srtt| srtt + srtt / 4 + self.rto.variation() * 4;
        self.rto.srtt().map_or(self.rto.current(), expected).max(LEAST_PROBE_TIMEOUT)
    }

    /// The flight size at which the path keeps the rate of its congestion window.
    ///
    /// cwnd counts as if all SACKs returned on the fastest path. On a slower one the same rate needs a larger flight size.
    #[inline]
    fn allowed_flight(&self) -> ByteCount {
        match self.return_ratio > 1.0 {
            true => ByteCount::round_f64(self.window.cwnd.as_f64() * self.return_ratio),
            false => self.window.cwnd,
        }
    }

    /// Bytes that may be in flight: the congestion window; one packet on a path that has potentially failed and is used
    /// for want of a better one; nothing more after an expiry of T3 until something is acknowledged.
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

    /// Bytes of urgent data that may be sent now, where a full chunk has the length `longest`: see [`Message::urgent`](crate::Message).
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

/// Lower bound of the times after which a sender acts on silence before T3 does, as that of a tail loss probe
/// (draft-dukkipati-tcpm-tcp-loss-probe-01, section 2.1): timers of peers are coarse, and an RTT may be almost zero.
pub(crate) const LEAST_PROBE_TIMEOUT: Span = Span::from_millis(10);

/// The paths of an association.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    list: Vec<Path>,
    pub(crate) primary: PathId,
    /// A path is a pair of a local and a remote address, not a remote address.
    pairs: bool,
    /// A path has a cost.
    has_costs: bool,
}

impl Paths {
    /// Most paths an association keeps; addresses beyond are not used.
    pub(crate) const LIMIT: usize = 16;

    /// No paths yet; each will be a pair of addresses if `pairs`, else a remote address.
    pub(crate) fn new(pairs: bool) -> Self {
        Paths { pairs, ..Paths::default() }
    }

    /// Adds a path; `None` if it exists or the largest number of paths is reached.
    pub(crate) fn add(&mut self, path: Path) -> Option<PathId> {
        let same = |p: &Path| p.remote == path.remote && (!self.pairs || p.local == path.local);
        if self.list.len() >= Self::LIMIT || self.list.iter().any(same) {
            return None;
        }
        self.list.reserve_exact(1); // most associations have one or two
        self.has_costs |= path.cost > 0;
        self.list.push(path);
        Some(PathId(self.list.len() as u8 - 1))
    }

    /// The place of a removed path that `path` may take: its own, or if no other is left that of one which the peer has
    /// everything for good from.
    pub(crate) fn removed_place(&self, path: &Path) -> Option<PathId> {
        let own = |p: &Path| p.removed && p.remote == path.remote && (!self.pairs || p.local == path.local);
        let free = |p: &Path| p.removed && p.queued.is_zero();
        let place = self.list.iter().position(own);
        let place =
            place.or_else(|| self.list.iter().position(free).filter(|_| self.list.len() >= Self::LIMIT));
        place.map(|i| PathId(i as u8))
    }

    /// The first path to an address; of several pairs the one with our address most like it.
    #[inline(always)] // into `of`
    pub(crate) fn find(&self, remote: IpAddr) -> Option<PathId> {
        self.list.iter().position(|p| p.remote == remote && !p.removed).map(|i| PathId(i as u8))
    }

    /// The path that a packet came on; with pairs that of its two addresses, if there is one.
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

    /// The path to an address of the peer; with pairs that from our address `local`, if it is known and there is one.
    pub(crate) fn towards(&self, remote: IpAddr, local: Option<IpAddr>) -> Option<PathId> {
        let pair = |p: &Path| p.remote == remote && Some(p.local) == local && !p.removed;
        let exact = self.list.iter().position(pair).map(|i| PathId(i as u8));
        exact.or_else(|| self.find(remote))
    }

    /// True if a path is a pair of addresses.
    pub(crate) fn are_pairs(&self) -> bool {
        self.pairs
    }

    /// Whether a remote address works: as the best of its paths does.
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

    /// Path number `n`, counted round and round.
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

    /// The next active path after `p`, in cyclic order; `p` itself only if no other is active and it is.
    pub(crate) fn next_active(&self, p: PathId) -> Option<PathId> {
        self.next_that(p, Path::is_active)
    }

    /// As [`Self::next_active`], of the paths that are not silent.
    pub(crate) fn next_usable(&self, p: PathId) -> Option<PathId> {
        self.next_that(p, Path::is_usable)
    }

    /// The path after `p` for a control chunk that was not answered there: the next active one, or, if none is active, the next confirmed
    /// one, since any of them may work again (`rfc9260#section-8.2`).
    pub(crate) fn next_in_turn(&self, p: PathId) -> PathId {
        let confirmed = |path: &Path| !path.removed && !path.is_unconfirmed();
        self.next_active(p).or_else(|| self.next_that(p, confirmed)).unwrap_or_else(|| self.default_path())
    }

    fn next_that(&self, p: PathId, works: impl Fn(&Path) -> bool) -> Option<PathId> {
        (1..=self.list.len()).map(|k| self.cyclic(p.index() + k)).find(|&p| works(&self[p]))
    }

    /// Some address is known to be the peer's.
    #[inline]
    pub(crate) fn any_confirmed(&self) -> bool {
        let primary = self.list.get(self.primary.index());
        primary.is_some_and(|path| !path.is_unconfirmed())
            || self.list.iter().any(|path| !path.is_unconfirmed())
    }

    /// The potentially failed path with the fewest errors, and of several the one that was active last
    /// (`rfc7829#section-3`, rule 3): what there is if none is active.
    pub(crate) fn best_failing(&self) -> Option<PathId> {
        let failing = self.ids().filter(|&p| self[p].state == PathState::PotentiallyFailed);
        failing.min_by_key(|&p| (self[p].errors, std::cmp::Reverse(self[p].failed)))
    }

    /// The path for what has no path of its own: the primary one if active, else the next active one, else the best
    /// of those that potentially failed, else (all inactive, `rfc9260#section-8.2`) the confirmed one with the fewest
    /// errors, else the primary.
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
