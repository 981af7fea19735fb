//! Everything a user may choose about an association.

mod check;

pub use crate::sched::PathSelection;
use transport::named;
use units::{ByteCount, Span};

/// The protocol parameters of an association (`rfc9260#section-16`), its buffers, its congestion control and its
/// multipath options. The defaults are those of RFC 9260, with CMT off and, once on, set as in table 1 of paper 001
/// (Dreibholz et al., OMNeT++ 2010).
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// RTO before the first measurement (`RTO.Initial`).
    pub rto_initial: Span,
    /// Lower bound of the RTO (`RTO.Min`).
    pub rto_min: Span,
    /// Upper bound of the RTO (`RTO.Max`).
    pub rto_max: Span,
    /// Weight of a new sample in the smoothed RTT (`RTO.Alpha`), 0 to 1.
    pub rto_alpha: f64,
    /// Weight of a new sample in the RTT variation (`RTO.Beta`), 0 to 1.
    pub rto_beta: f64,
    /// Most that is added to the RTO at random when T3, or the timer of a heartbeat, is started after an expiry, as a share of
    /// it, 0 to 0.5; zero: nothing. Without it retransmissions may fall into each outage of a path that fails periodically
    /// (Kuzmanovic, Knightly, "Low-rate TCP-targeted denial of service attacks", SIGCOMM 2003, section 6.2).
    pub rto_jitter: f64,
    /// Packets sent at one opportunity (`Max.Burst`); see [`BurstControl`].
    pub max_burst: u32,
    /// What the burst limit acts upon.
    pub burst_control: BurstControl,
    /// Lifetime of a state cookie (`Valid.Cookie.Life`).
    pub valid_cookie_life: Span,
    /// Consecutive errors after which the association is given up (`Association.Max.Retrans`).
    pub association_max_retrans: u32,
    /// Consecutive errors after which a path is inactive (`Path.Max.Retrans`).
    pub path_max_retrans: u32,
    /// Consecutive errors after which a path has potentially failed (`PotentiallyFailed.Max.Retrans`, `rfc7829`): it is
    /// probed each RTO, and carries no data as long as another path is active. None: no path ever does.
    pub potentially_failed: Option<u32>,
    /// The window of a path that had potentially failed and answers a heartbeat.
    pub pf_cwnd: PfCwnd,
    /// Consecutive errors after which the primary path ceases to be it (`Primary.Switchover.Max.Retrans`,
    /// `rfc7829#section-5`); none: never.
    pub primary_switchover: Option<u32>,
    /// Attempts at each handshake step (`Max.Init.Retransmits`).
    pub max_init_retransmits: u32,
    /// Upper bound of the timeout of INIT and COOKIE ECHO (`sinit_max_init_timeo` of `rfc6458#section-8.1.3`); none:
    /// `rto_max`.
    pub init_rto_max: Option<Span>,
    /// Time between heartbeats on an idle path (`HB.interval`); none turns them off, but for the verification of
    /// unconfirmed addresses. Without them an association that has nothing to send never notices that its peer is gone.
    pub hb_interval: Option<Span>,
    /// Heartbeats sent at one instant (`HB.Max.Burst`).
    pub hb_max_burst: u32,
    /// Longest delay of an acknowledgement (`SACK.Delay`), at most 500 ms.
    pub sack_delay: Span,
    /// A retransmission counts as lost once data that left on its path a quarter of a round-trip time later is
    /// acknowledged (`rfc8985#section-6.2`); if not, only T3 finds that out.
    pub rtx_losses: bool,
    /// An acknowledgement at the latest for every so many packets with data (2 in `rfc9260#section-6.2`).
    pub sack_frequency: u32,
    /// Acknowledges with NR-SACK, which says what will never be given up, if the peer does too
    /// (draft-natarajan-tsvwg-sctp-nrsack).
    pub nr_sack: bool,
    /// Where acknowledgements go.
    pub sack_path: SackPath,
    /// How the peer learns when packets were sent, so that it can report one-way delays, if it knows how to.
    pub timestamps: Timestamps,

    /// Streams asked for in our direction.
    pub outbound_streams: u16,
    /// Streams the peer may use.
    pub max_inbound_streams: u16,
    /// Receive buffer, advertised as the receiver window.
    pub receive_buffer: ByteCount,
    /// Windows below this are advertised, and taken, as closed (`rfc1122#section-4.2.3.3`); zero turns silly window
    /// avoidance off.
    pub sws_limit: ByteCount,
    /// What a chunk takes up in the receive buffer.
    pub receive_accounting: Accounting,
    /// When the receive buffer is full, what lies above a gap is given up for a chunk that closes it
    /// (`rfc9260#section-6.2`). If not, whatever was acknowledged stays.
    pub reneging: bool,
    /// Send buffer: bytes not yet sent plus bytes not yet cumulatively acknowledged.
    pub send_buffer: ByteCount,
    /// Messages that may wait for their first transmission; none: only `send_buffer` limits.
    pub send_queue: Option<u32>,
    /// What a path is.
    pub paths: PathSet,
    /// Path MTU with the IP header.
    pub mtu: ByteCount,
    /// Several chunks a packet (`rfc9260#section-6.10`), also DATA behind a SACK or a COOKIE ECHO.
    pub bundling: bool,
    /// Nagle's rule: no packet that is not full while data is outstanding (`rfc9260#section-6.10`), but for one that leaves
    /// in any case, as one with a SACK does.
    pub nagle: bool,
    /// Sends the Supported Address Types parameter in INIT (`rfc9260#section-3.3.2.1`).
    pub announce_address_types: bool,

    /// Which congestion control.
    pub congestion_control: cc::Algorithm,
    /// Growth rule: RFC 4960 needs an advance of the cumulative TSN, RFC 9260 does not.
    pub growth: cc::GrowthRule,
    /// What counts as in flight.
    pub accounting: Accounting,
    /// Initial congestion window of each path, in full packets (`rfc6928` argues for 10); none: at most 4 of them, as in
    /// `rfc9260#section-7.2.1`.
    pub initial_window: Option<u32>,
    /// Slow start threshold of every path before its first loss; none: the peer's receive window, the most that
    /// `rfc9260#section-7.2.1` suggests.
    pub initial_ssthresh: Option<ByteCount>,
    /// Lower bound of CMT/RP's threshold on all paths together, in MTU (paper 000, eq. 5: 4).
    pub rp_min: u64,
    /// What coupled controls take an unset slow start threshold for.
    pub unset_share: cc::UnsetShare,
    /// What idleness leaves of a slow start threshold.
    pub idle_threshold: cc::IdleThreshold,
    /// What else congestion controls leave open.
    pub knobs: cc::Knobs,

    /// Concurrent multipath transfer.
    pub cmt: Cmt,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            rto_initial: Span::from_secs(1),
            rto_min: Span::from_secs(1),
            rto_max: Span::from_secs(60),
            rto_alpha: 0.125,
            rto_beta: 0.25,
            rto_jitter: 0.0,
            max_burst: 4,
            burst_control: BurstControl::MaxBurst,
            valid_cookie_life: Span::from_secs(60),
            association_max_retrans: 10,
            path_max_retrans: 5,
            potentially_failed: None,
            pf_cwnd: PfCwnd::TwoMtu,
            primary_switchover: None,
            max_init_retransmits: 8,
            init_rto_max: None,
            hb_interval: Some(Span::from_secs(30)),
            hb_max_burst: 1,
            rtx_losses: false,
            sack_delay: Span::from_millis(200),
            sack_frequency: 2,
            nr_sack: false,
            sack_path: SackPath::Standard,
            timestamps: Timestamps::Off,
            outbound_streams: 10,
            max_inbound_streams: 2048,
            receive_buffer: ByteCount::new(1 << 20),
            sws_limit: ByteCount::new(1500),
            receive_accounting: Accounting::Payload,
            reneging: true,
            send_buffer: ByteCount::new(1 << 20),
            send_queue: None,
            paths: PathSet::Addresses,
            mtu: ByteCount::new(1500),
            bundling: true,
            nagle: false,
            announce_address_types: true,
            congestion_control: cc::Algorithm::Standard,
            growth: cc::GrowthRule::Rfc9260,
            accounting: Accounting::Chunk,
            initial_window: None,
            initial_ssthresh: None,
            rp_min: 4,
            unset_share: cc::UnsetShare::Raw,
            idle_threshold: cc::IdleThreshold::Window,
            knobs: cc::Knobs::default(),
            cmt: Cmt::default(),
        }
    }
}

/// Least and most bytes of a path MTU: what every IPv4 host must take, and what fits the length field of IP.
pub(crate) const MTU: std::ops::RangeInclusive<u64> = 576..=65_535;

/// Smallest receive buffer: with a smaller window the peer must refuse the association (`rfc9260#section-3.3.2`).
pub(crate) const LEAST_WINDOW: u32 = 1500;

impl Config {
    /// The options for real use over several paths: never slower than the best of them, and no long stall when one of
    /// them dies. `docs/bonding.md` says why each of them is as it is, and measures them.
    pub fn recommended() -> Self {
        Config {
            congestion_control: cc::Algorithm::Cubic,
            idle_threshold: cc::IdleThreshold::Kept,
            rtx_losses: true,
            potentially_failed: Some(0),
            hb_interval: Some(Span::from_secs(5)),
            rto_max: Span::from_secs(3),
            rto_jitter: 0.25,
            association_max_retrans: 20,
            receive_buffer: ByteCount::new(4 << 20),
            send_buffer: ByteCount::new(8 << 20),
            cmt: Cmt {
                enabled: true,
                path_selection: PathSelection::InTime,
                rtx: RtxPolicy::Fastest,
                rescheduling: BufferSide::Both,
                reinjection: Reinjection::Both,
                ..Cmt::default()
            },
            ..Config::default()
        }
    }
}

/// Concurrent multipath transfer (Iyengar, Amer, Stewart, ToN 2006; paper 001 §3): each option by itself. With
/// `enabled` false none of the others has any effect.
#[derive(Clone, Debug, PartialEq)]
pub struct Cmt {
    /// Data travels on all active paths at once, not on the primary path only (`allowCMT`).
    pub enabled: bool,
    /// Split fast retransmission: a report counts only against chunks of its own path (`cmtUseSFR`).
    pub sfr: bool,
    /// Delayed acknowledgement for CMT (`cmtUseDAC`).
    pub dac: bool,
    /// When an acknowledgement lets a window grow (`cmtCUCVariant`).
    pub cuc: Cuc,
    /// Where lost chunks are sent again.
    pub rtx: RtxPolicy,
    /// Which path is served first (`cmtSendAllVariant`).
    pub path_selection: PathSelection,
    /// Shares of the paths, by their numbers, for [`PathSelection::Weighted`]; paths beyond have 1. Without any, shares
    /// follow the paths' rates.
    pub weights: Vec<u32>,
    /// Group of each path, by their numbers; paths beyond are in group 0. Coupled congestion controls couple paths of
    /// one group, those that are known to share a bottleneck, and no others.
    pub groups: Vec<u8>,
    /// T3 restarts when the oldest chunk on its path is acknowledged, not only when the cumulative TSN passes it.
    pub smart_t3: bool,
    /// Acknowledgements of chunks that timed out are no evidence of loss on the path of the retransmission.
    pub smart_fast_rtx: bool,
    /// T3 marks only chunks sent at least a smoothed RTT ago.
    pub rtt_heuristic: bool,
    /// Fast recovery of a path ends with its own pseudo-cumulative TSN, whatever the CUC variant; if not, only with the
    /// cumulative TSN of the association.
    pub recovery_by_cuc: bool,
    /// Chunks acknowledged by the cumulative TSN count as newly acknowledged on their path, for SFR and DAC.
    pub note_cumulative: bool,
    /// Which buffers are divided among the paths.
    pub buffer_split: BufferSide,
    /// What counts against a path's share of a buffer.
    pub split_by: SplitBy,
    /// Half full of data that waits for the earliest chunk, which of the buffers let that chunk move to another path.
    pub rescheduling: BufferSide,
    /// The path a chunk moved away from is cut as if the chunk were lost, and nothing grows by it.
    pub moved_penalty: bool,
    /// Room at the peer that lost chunks will take is not given to new ones. `rfc9260#section-6.2.1`, rule C, has the
    /// sender count it as free; with one path the window keeps new chunks back then, with several it does not, and they
    /// travel for nothing to a peer whose buffer waits for the lost ones.
    pub keep_room: bool,
    /// When other paths carry copies of what a path is late with.
    pub reinjection: Reinjection,
}

impl Default for Cmt {
    fn default() -> Self {
        Cmt {
            enabled: false,
            sfr: true,
            dac: true,
            cuc: Cuc::V2,
            rtx: RtxPolicy::Alternate,
            path_selection: PathSelection::SmallestLastTransmission,
            weights: Vec::new(),
            groups: Vec::new(),
            smart_t3: true,
            smart_fast_rtx: true,
            rtt_heuristic: true,
            recovery_by_cuc: true,
            note_cumulative: true,
            buffer_split: BufferSide::None,
            split_by: SplitBy::Queued,
            rescheduling: BufferSide::None,
            moved_penalty: true,
            keep_room: false,
            reinjection: Reinjection::None,
        }
    }
}

named! {
    /// Bytes that one chunk counts as, in flight or in a buffer.
    "accounting" Accounting {
        /// User bytes only.
        Payload = "payload",
        /// User bytes and the chunk header.
        Chunk = "chunk",
        /// User bytes, chunk header, and the share of common and IP header of a packet of its own.
        Packet = "packet",
    }
}

named! {
    /// Congestion window update (paper 001 §3.2): when newly acknowledged bytes let the window of a path grow.
    "CUC variant" Cuc {
        /// Only if the cumulative TSN passed a chunk of the path.
        Normal = "normal",
        /// If the pseudo-cumulative TSN of the path advanced.
        V1 = "v1",
        /// As `v1`, with retransmitted chunks tracked apart.
        V2 = "v2",
    }
}

named! {
    /// The path a lost chunk is sent on again.
    "retransmission policy" RtxPolicy {
        /// The path it was last sent on as long as that is active, also after timeouts, where `rfc9260#section-6.4` recommends
        /// another one.
        Same = "same",
        /// A random path with room in its window.
        Asap = "asap",
        /// The path with the largest congestion window.
        Cwnd = "cwnd",
        /// The path with the largest slow start threshold.
        Ssthresh = "ssthresh",
        /// The path with the lowest loss rate.
        LossRate = "lossrate",
        /// The path of the least round-trip time, of those that answer: it pays to wait for room there. After a timeout another
        /// one than before if there is an active one.
        Fastest = "fastest",
        /// After a fast retransmission the same path, after a timeout the next active one (`rfc9260#section-6.4`).
        Alternate = "alternate",
    }
}

named! {
    /// What a path is: what has a congestion window, a round-trip time, timers and heartbeats of its own.
    "path set" PathSet {
        /// An address of the peer, which packets leave for from the address of ours that is most like it.
        Addresses = "addresses",
        /// A pair of an address of ours and one of the peer, at most 16 of them: two uplinks to a peer with one address are
        /// two paths. An address of the peer has failed when all its pairs have.
        Pairs = "pairs",
    }
}

named! {
    /// The path an acknowledgement takes.
    "SACK path" SackPath {
        /// Back where the data came from that brought it about (`rfc9260#section-6.4`).
        Standard = "standard",
        /// The primary path.
        Primary = "primary",
        /// The active path that carried none for longest.
        RoundRobin = "round-robin",
        /// The active path with the smallest smoothed round-trip time.
        SmallestSrtt = "smallest-srtt",
    }
}

named! {
    /// How the time of departure travels with packets that carry data. Unless it is off, LEDBAT-CONTROL chunks report the
    /// one-way delays of the peer's packets with every SACK, if the peer understands them.
    "timestamps" Timestamps {
        /// Not at all, and nothing is reported.
        Off = "off",
        /// In a TIMESTAMP chunk, which leaves 12 bytes less for data.
        Chunk = "chunk",
        /// Beside the packet, at no cost: only a simulator can do that.
        Metadata = "metadata",
    }
}

named! {
    /// Which of the two buffers of a transfer an option looks at.
    "buffer side" BufferSide {
        /// Neither.
        None = "none",
        /// The send buffer.
        Sender = "sender",
        /// The receive buffer of the peer, as far as known.
        Receiver = "receiver",
        /// Both.
        Both = "both",
    }
}

impl BufferSide {
    /// The send buffer is one of them.
    #[inline]
    pub(crate) fn sender(self) -> bool {
        matches!(self, BufferSide::Sender | BufferSide::Both)
    }

    /// The receive buffer is one of them.
    #[inline]
    pub(crate) fn receiver(self) -> bool {
        matches!(self, BufferSide::Receiver | BufferSide::Both)
    }
}

named! {
    /// When a path with room carries copies of chunks that travel on another path.
    "reinjection" Reinjection {
        /// Never.
        None = "none",
        /// When a buffer is full, of what would be there sooner or is overdue (Raiciu et al., NSDI 2012, section 4.2).
        Blocked = "blocked",
        /// When the other path is silent for two round-trip times (after `rfc8985#section-7`).
        Silent = "silent",
        /// In both cases.
        Both = "both",
    }
}

impl Reinjection {
    /// A full buffer brings copies about.
    #[inline]
    pub(crate) fn blocked(self) -> bool {
        matches!(self, Reinjection::Blocked | Reinjection::Both)
    }

    /// A silent path does.
    #[inline]
    pub(crate) fn silent(self) -> bool {
        matches!(self, Reinjection::Silent | Reinjection::Both)
    }
}

named! {
    /// What counts against a path's share of a buffer.
    "split" SplitBy {
        /// All that was last sent there and that the peer does not have for good.
        Queued = "queued",
        /// What is in flight there.
        Outstanding = "outstanding",
    }
}

named! {
    /// The window of a path that had potentially failed and answers a heartbeat.
    "PF window" PfCwnd {
        /// Two packets, so that an acknowledgement is not delayed.
        TwoMtu = "two-mtu",
        /// One packet.
        OneMtu = "one-mtu",
        /// Whatever it was (`rfc7829`).
        Unchanged = "unchanged",
    }
}

named! {
    /// How bursts are limited to [`Config::max_burst`] packets.
    "burst control" BurstControl {
        /// Packets per path and opportunity; an acknowledgement of data on the path opens a new one.
        MaxBurst = "max-burst",
        /// Packets per path and instant, whatever is acknowledged.
        AggressiveMaxBurst = "aggressive-max-burst",
        /// As `aggressive-max-burst`, and as many over all paths together.
        TotalMaxBurst = "total-max-burst",
        /// The window shrinks to what is in flight and a burst.
        UseItOrLoseIt = "use-it-or-lose-it",
        /// As `use-it-or-lose-it`, but the threshold remembers the window.
        CongestionWindowLimiting = "congestion-window-limiting",
        /// No limit.
        Off = "off",
    }
}
