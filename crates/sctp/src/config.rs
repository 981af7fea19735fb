//! Everything a user may choose about an association.

use transport::{named, options};
use units::{ByteCount, Span};

options! {
    /// The protocol parameters of an association (`rfc9260#section-16`), its buffers, its congestion control and its
    /// multipath options.
    ///
    /// The defaults are those of RFC 9260, with CMT off and, once on, set as in table 1 of paper 001 (Dreibholz et al.,
    /// OMNeT++ 2010).
    pub struct Config {
        /// RTO before the first measurement (`RTO.Initial`).
        rto_initial: Span = Span::from_secs(1), "more than zero, at most `rto_max`"
            if |initial, all| !initial.is_zero() && initial <= all.rto_max;
        /// Lower bound of the RTO (`RTO.Min`).
        rto_min: Span = Span::from_secs(1), "more than zero" if |min| !min.is_zero();
        /// Upper bound of the RTO (`RTO.Max`).
        rto_max: Span = Span::from_secs(60), "at least `rto_min`" if |max, all| max >= all.rto_min;
        /// Packets that a path sends at one instant (`Max.Burst`); an acknowledgement of data on the path lets it send as many
        /// again.
        max_burst: u32 = 4, "at least 1" if |packets| packets > 0;
        /// Lifetime of a state cookie (`Valid.Cookie.Life`).
        valid_cookie_life: Span = Span::from_secs(60), "more than zero" if |life| !life.is_zero();
        /// Consecutive errors after which the association is given up (`Association.Max.Retrans`). Best at most
        /// `path_max_retrans` times the addresses of the peer: otherwise all of them may be inactive while the association goes on
        /// (`rfc9260#section-8.2`).
        association_max_retrans: u32 = 10, "at least 1" if |errors| errors > 0;
        /// Consecutive errors after which a path is inactive (`Path.Max.Retrans`).
        path_max_retrans: u32 = 5;
        /// Consecutive errors after which a path is potentially failed (`PotentiallyFailed.Max.Retrans`, `rfc7829`): it is
        /// probed once per RTO and carries no data while another path is active. None: no path ever is.
        potentially_failed: Option<u32> = None, "at most `path_max_retrans`, or none"
            if |errors, all| errors.is_none_or(|errors| errors <= all.path_max_retrans);
        /// Consecutive errors after which another path becomes the primary path (`Primary.Switchover.Max.Retrans`,
        /// `rfc7829#section-5`). None: never.
        primary_switchover: Option<u32> = None, "at least `potentially_failed`, or none"
            if |errors, all| errors.is_none_or(|errors| errors >= all.potentially_failed.unwrap_or(0));
        /// Attempts at each handshake step (`Max.Init.Retransmits`).
        max_init_retransmits: u32 = 8;
        /// Upper bound of the timeout of INIT and COOKIE ECHO (`sinit_max_init_timeo` of `rfc6458#section-8.1.3`). None:
        /// `rto_max`.
        init_rto_max: Option<Span> = None, "more than zero, or none for `rto_max`" if |most| most != Some(Span::ZERO);
        /// Time between heartbeats on an idle path (`HB.interval`). None: no heartbeats but those that verify unconfirmed
        /// addresses; an association without data then never notices that its peer is gone. At most 15 s on a path in UDP, so
        /// that a NAT keeps the port.
        hb_interval: Option<Span> = Some(Span::from_secs(30)), "more than zero, or none for no heartbeats"
            if |interval| interval != Some(Span::ZERO);
        /// How the sender finds that a chunk is lost before T3 expires.
        loss_detection: LossDetection = LossDetection::MissingReports;
        /// Longest delay of an acknowledgement (`SACK.Delay`).
        // rfc9260#section-6.2: an implementation must not allow more.
        sack_delay: Span = Span::from_millis(200), "at most 500 ms" if |delay| delay <= Span::from_millis(500);
        /// Packets with data after which an acknowledgement is sent at once (2 in `rfc9260#section-6.2`).
        sack_frequency: u32 = 2, "at least 1" if |packets| packets > 0;
        /// Acknowledges with NR-SACK chunks, which name the data that will never be reneged on, if the peer does so too
        /// (draft-natarajan-tsvwg-sctp-nrsack).
        nr_sack: bool = false;
        /// SACKs that fit a narrow return link, if the peer has `nr_sack`, too. As receiver without `reneging`: a SACK waits until it is
        /// short for the data that it acknowledges, at most 10 ms more than `sack_frequency` says, and leaves out gap blocks
        /// that were told of before. As sender: asks for a SACK at once (I bit, `rfc7053`) where its window has to grow or is
        /// small or the window of the peer is full, and raises the burst limit to what a SACK acknowledges.
        lean_sacks: bool = false;
        /// Authenticates chunks that the peer wants authenticated, and accepts those in `auth_chunks` only so, if the peer has
        /// AUTH too (`rfc4895`; INET: `auth`).
        auth: bool = false;
        /// Types of the chunks that must come authenticated, beside those of ASCONF if `asconf` is on (INET: `chunks`). 0 is
        /// DATA, 3 SACK.
        auth_chunks: Vec<u8> = Vec::new(), "at most 32 chunk types, and none of 1, 2, 14 and 15"
            if |types| types.len() <= 32 && !types.iter().any(|kind| wire::Auth::NEVER_LISTED.contains(kind));
        /// Lets addresses join and leave an association by ASCONF, if the peer has it too (`rfc5061`; INET: `addIP`). Needs
        /// `auth`.
        asconf: bool = false, "false unless `auth` is true" if |on, all| !on || all.auth;
        /// Our addresses are behind NATs: requests to add one leave from it and name no address (INET: `natFriendly`).
        nat_friendly: bool = false;
        /// Messages may be given up, by their lifetime, number of retransmissions or priority, if the peer supports it (PR-SCTP,
        /// `rfc3758`, `rfc7496`). Otherwise every message is reliable whatever it asks for.
        pr_sctp: bool = false;
        /// Streams can be reset and added if the peer announces that, too (RE-CONFIG, `rfc6525`; INET's `streamReset`).
        stream_reset: bool = false;
        /// What the peer may do with `stream_reset` without being asked.
        allow_reset: AllowReset = AllowReset::None;
        /// The path on which acknowledgements are sent.
        sack_path: SackPath = SackPath::Standard;
        /// How the peer learns when packets were sent, so that it can report one-way delays if it supports that.
        timestamps: Timestamps = Timestamps::Off;
        /// Explicit congestion notification (draft-stewart-tsvwg-sctpecn-07): a router may mark packets instead of dropping
        /// them, if the peer has it, too.
        ecn: EcnMode = EcnMode::Off;
        /// Reports packets that arrive with a wrong checksum, and retransmits what the peer reports without reducing a window,
        /// if the peer does so too (draft-stewart-sctp-pktdrprep-16; INET: `packetDrop`).
        packet_drop_reports: bool = false;

        /// Outbound streams requested.
        outbound_streams: u16 = 10, "at least 1" if |streams| streams > 0;
        /// Inbound streams the peer may use.
        max_inbound_streams: u16 = 2048, "at least 1" if |streams| streams > 0;
        /// The stream that sends next (`rfc8260#section-3`).
        stream_scheduler: StreamScheduler = StreamScheduler::Fcfs;
        /// Values of the streams, by their numbers, for the stream schedulers `priority` (the least is served first; further
        /// streams have 0) and `wfq` (weights; further streams have 1).
        stream_values: Vec<u16> = Vec::new(), "at least 1 each for `wfq`"
            if |values, all| all.stream_scheduler != StreamScheduler::Wfq || !values.contains(&0);
        /// Announces I-DATA chunks (`rfc8260`). If the peer does so too, fragments of messages of different streams may alternate,
        /// so that a long message does not delay those of other streams.
        interleaving: bool = false;
        /// Receive buffer, advertised as a_rwnd.
        receive_buffer: ByteCount = ByteCount::new(1 << 20), "1500 to 4294967295 bytes"
            if |size| (u64::from(LEAST_WINDOW)..=u64::from(u32::MAX)).contains(&size.get());
        /// A window below this is advertised, and taken, as closed (`rfc1122#section-4.2.3.3`). Zero turns silly window
        /// avoidance off.
        sws_limit: ByteCount = ByteCount::new(1500), "less than `receive_buffer`"
            if |limit, all| limit < all.receive_buffer;
        /// Bytes that one chunk counts as in the receive buffer.
        receive_accounting: Accounting = Accounting::Payload;
        /// A full receive buffer reneges on data above a gap to make room for a chunk that closes the gap
        /// (`rfc9260#section-6.2`). Otherwise all acknowledged data is kept.
        reneging: bool = true;
        /// Send buffer: bytes not yet sent plus bytes not yet cumulatively acknowledged.
        send_buffer: ByteCount = ByteCount::new(1 << 20), "at least 1 byte" if |size| size > ByteCount::ZERO;
        /// Messages that may wait for their first transmission. None: only `send_buffer` limits them.
        send_queue: Option<u32> = None, "at least 1, or none for no limit in messages"
            if |messages| messages != Some(0);
        /// What a path is: an address of the peer, or a pair of an address of ours and one of the peer.
        paths: PathSet = PathSet::Addresses;
        /// Finds the MTU of each path by probes, up to `mtu` (DPLPMTUD, `rfc8899`). Otherwise each path has the MTU `mtu`, unless
        /// the application sets another one.
        pmtud: bool = false;
        /// Path MTU, with the IP header; with `pmtud` that of the interface.
        mtu: ByteCount = ByteCount::new(1500), "576 to 65535 bytes" if |size| MTU.contains(&size.get());
        /// Bundles several chunks into a packet (`rfc9260#section-6.10`), also DATA behind a SACK or a COOKIE ECHO.
        bundling: bool = true;
        /// A message too long for one packet begins in the room that the message before it leaves in its last packet. So
        /// successive long messages make full packets only, of one length.
        fill_packets: bool = false;
        /// Nagle's algorithm: while data is outstanding only full packets are sent (`rfc9260#section-6.10`), unless a
        /// packet is sent in any case, as one with a SACK is.
        nagle: bool = false;

        /// The congestion control.
        congestion_control: cc::ControlChoice = cc::Algorithm::Standard.into();
        /// Spreads the packets of each path over its round-trip time under every congestion control. The rate is that of the
        /// control or, if it has none, cwnd/SRTT times 2 below half of ssthresh and times 1.2 above, as in Linux, and in congestion
        /// avoidance at most 5/4 of the most that the path delivered in its last ten round trips; in slow
        /// start after a timeout nothing is paced then. New data that is paced is not limited to `max_burst` packets.
        pacing: bool = false;
        /// The edition of SCTP whose rules drive the growth of cwnd: RFC 2960 and RFC 4960 require that the cumulative TSN
        /// advances, RFC 9260 does not.
        growth: cc::GrowthRule = cc::GrowthRule::Rfc9260;
        /// Bytes that one chunk counts as in flight.
        accounting: Accounting = Accounting::Chunk;
        /// Initial cwnd of each path in full packets (`rfc6928` argues for 10). None: that of the growth rule, at most 4
        /// packets (`rfc9260#section-7.2.1`).
        initial_window: Option<u32> = None, "1 to 10000 packets, or none for that of the growth rule"
            if |packets| (1..=10_000).contains(&packets.unwrap_or(1));
        /// ssthresh of each path before its first loss. None: the peer's a_rwnd, the most that `rfc9260#section-7.2.1`
        /// suggests.
        initial_ssthresh: Option<ByteCount> = None;
        /// Lower bound of CMT/RP's ssthresh over all paths, in MTU (paper 000, equation 5: 4).
        rp_min: u64 = 4, "at least 1" if |mtus| mtus > 0;
        /// ssthresh of a path after an idle RTO.
        idle_threshold: cc::IdleThreshold = cc::IdleThreshold::Window;
        /// Options of the congestion controls, a table for each.
        knobs: cc::Knobs = cc::Knobs::default();

        /// Concurrent multipath transfer.
        cmt: Cmt = Cmt::default();
    }
}

/// Least and most bytes of a path MTU: what every IPv4 host must take, and what fits the length field of IP.
pub(crate) const MTU: std::ops::RangeInclusive<u64> = 576..=65_535;

/// Smallest receive buffer: with a smaller window the peer must refuse the association (`rfc9260#section-3.3.2`).
pub(crate) const LEAST_WINDOW: u32 = 1500;

impl Config {
    /// Returns the options that are recommended for several paths.
    ///
    /// A transfer with them should be at least as fast as over its best path alone, should not stall for long when a path fails, and should take no more of a
    /// bottleneck that its paths share than one TCP flow would: its paths are coupled. Whoever owns all lines uncouples them with
    /// [`Algorithm::Cubic`](cc::Algorithm::Cubic). `docs/bonding.md` gives the reason for each option, and measures in which cases this is not reached.
    pub fn recommended() -> Self {
        Config {
            congestion_control: cc::Algorithm::CoupledCubic.into(),
            knobs: cc::Knobs {
                cubic: cc::CubicKnobs { hystart: true, ..cc::CubicKnobs::default() },
                ..cc::Knobs::default()
            },
            idle_threshold: cc::IdleThreshold::Kept,
            loss_detection: LossDetection::Rack,
            pacing: true,
            potentially_failed: Some(0),
            hb_interval: Some(Span::from_secs(5)),
            rto_max: Span::from_secs(3),
            association_max_retrans: 20,
            fill_packets: true,
            nr_sack: true,
            lean_sacks: true,
            sack_path: SackPath::Fastest,
            reneging: false,
            pr_sctp: true,
            auth: true,
            asconf: true,
            stream_reset: true,
            receive_buffer: ByteCount::new(4 << 20),
            send_buffer: ByteCount::new(8 << 20),
            cmt: Cmt {
                enabled: true,
                path_selection: PathSelection::InTime,
                rtx: RtxPolicy::Fastest,
                rtt_heuristic: false,
                keep_room: true,
                reinjection: Reinjection::Both,
                ..Cmt::default()
            },
            ..Config::default()
        }
    }
}

options! {
    /// Concurrent multipath transfer (Iyengar, Amer, Stewart, ToN 2006; paper 001 §3): each option by itself.
    ///
    /// Unless `enabled`, none of the others has any effect.
    pub struct Cmt in "cmt" {
        /// Sends data on all active paths at once, not on the primary path only (`allowCMT`).
        enabled: bool = false;
        /// Split fast retransmission: a missing report counts only if newer data of the same path was acknowledged
        /// (`cmtUseSFR`).
        sfr: bool = true;
        /// Delayed acknowledgement for CMT (`cmtUseDAC`).
        dac: bool = true;
        /// When an acknowledgement lets cwnd grow (`cmtCUCVariant`).
        cuc: Cuc = Cuc::V2;
        /// The path on which lost chunks are retransmitted.
        rtx: RtxPolicy = RtxPolicy::Alternate;
        /// The path that is served first (`cmtSendAllVariant`).
        path_selection: PathSelection = PathSelection::SmallestLastTransmission;
        /// Group of each path, by their numbers; further paths are in group 0. A coupled congestion control couples the
        /// paths of one group, which are known to share a bottleneck, and no others.
        groups: Vec<u8> = Vec::new();
        /// T3 restarts when the oldest chunk of its path is acknowledged, not only when the cumulative TSN passes it.
        smart_t3: bool = true;
        /// Acknowledgements of chunks that timed out make no missing reports on the path of the retransmission.
        smart_fast_rtx: bool = true;
        /// T3 marks only chunks that were sent at least one smoothed RTT ago.
        rtt_heuristic: bool = true;
        /// Fast recovery of a path ends with its own pseudo-cumulative TSN, whatever the CUC variant. Otherwise it ends only
        /// with the cumulative TSN of the association.
        recovery_by_cuc: bool = true;
        /// The buffers that are divided among the paths.
        buffer_split: BufferSide = BufferSide::None;
        /// What counts against a path's share of a divided buffer.
        split_by: SplitBy = SplitBy::Queued;
        /// The buffers for which chunk rescheduling works: once half of such a buffer waits for the earliest chunk, that
        /// chunk may move to another path. The cwnd of its old path is then cut as for a loss, and no cwnd grows by the chunk.
        rescheduling: BufferSide = BufferSide::None;
        /// Sends no new chunks into the part of the peer's receive window that lost chunks need. `rfc9260#section-6.2.1`,
        /// rule C, counts that part as free. With one path cwnd then holds new chunks back; with several it does not, and
        /// the peer drops them if its buffer is full.
        keep_room: bool = false;
        /// When paths with room carry copies of overdue chunks of another path.
        reinjection: Reinjection = Reinjection::None;
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
    /// What makes a chunk lost before T3 expires.
    "loss detection" LossDetection {
        /// Three missing reports (`rfc9260#section-7.2.4`).
        MissingReports = "missing-reports",
        /// Time, for each path (RACK, `rfc8985`): data sent later on the path has arrived, and the reordering window has passed since. The
        /// window adapts to reordering, recoveries from losses that were none are undone, and the loss of a retransmission is
        /// found in the same way. With `reinjection` of silent paths the last path that works sends tail loss probes.
        Rack = "rack",
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
    /// Which path is offered new data first; each is filled before the next.
    "path selection" PathSelection {
        /// The path that transmitted least recently first.
        SmallestLastTransmission = "smallest-last-transmission",
        /// The path with most room in its window first.
        LargestSpace = "largest-space",
        /// The path with the largest slow start threshold first.
        LargestSsthresh = "largest-ssthresh",
        /// The largest slow start threshold first, ties by room.
        LargestSsthreshAndSpace = "largest-ssthresh-and-space",
        /// One packet a path in turn.
        RoundRobin = "round-robin",
        /// A new random order for each packet.
        Random = "random",
        /// The path with the lowest smoothed round-trip time first.
        LowestRtt = "lowest-rtt",
        /// Earliest completion first: waits for the fastest path where that is sooner than sending on a slower one.
        Ecf = "ecf",
        /// Blocking estimation: leaves a slow path out where it would block the window of the transfer.
        Blest = "blest",
        /// A path carries what is acknowledged before the window closes: by its least round-trip time, or what it has in flight over its delivery rate.
        InTime = "in-time",
        /// Each path carries everything, as far as its window goes.
        Redundant = "redundant",
        /// Packets in proportion to the paths' rates.
        Weighted = "weighted",
    }
}

named! {
    /// Which stream sends next. Its unit is a message or, with interleaving, a chunk.
    "stream scheduler" StreamScheduler {
        /// First come, first served: messages leave in the order in which they were given.
        Fcfs = "fcfs",
        /// Round robin: the streams that have something to send by turns.
        Rr = "rr",
        /// Round robin for each packet: the stream changes between packets, and a packet carries data of one stream.
        RrPacket = "rr-packet",
        /// The stream of the least value first, and streams of the same value by turns.
        Priority = "priority",
        /// Fair bandwidth: the stream that sent the fewest bytes.
        Fair = "fair",
        /// Weighted fair queueing: bytes in proportion to the values.
        Wfq = "wfq",
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
        /// The path that would carry all of them first, of those that answer: it pays to wait for room there. After a timeout another
        /// one than before if there is an active one, until that one answers.
        Fastest = "fastest",
        /// After a fast retransmission the same path, after a timeout the next active one (`rfc9260#section-6.4`).
        Alternate = "alternate",
    }
}

named! {
    /// What the peer may do to streams unless we ask it to (`rfc6525#section-6.3.1`). Each level allows what those before it do.
    "level of allowed resets" AllowReset {
        /// Nothing: each such request is denied.
        None = "none",
        /// Reset streams on which it sends, and ask us to reset streams on which we send.
        Streams = "streams",
        /// Add streams, of either direction.
        Add = "add",
        /// Reset the association: all streams, and the TSNs.
        All = "all",
    }
}

impl AllowReset {
    /// Its place among the levels.
    pub(crate) fn rank(self) -> u8 {
        self as u8
    }
}

named! {
    /// What a path is. Each path has a cwnd, an RTT, timers and heartbeats of its own.
    "path set" PathSet {
        /// An address of the peer. Packets to it are sent from the address of ours that shares the longest prefix with it.
        Addresses = "addresses",
        /// A pair of an address of ours and one of the peer, at most 16 pairs: two uplinks to a peer with one address are two
        /// paths. An address of the peer has failed when all its pairs have.
        Pairs = "pairs",
        /// As `pairs`, but only those pairs whose addresses are in one subnet (/24 of IPv4, /64 of IPv6), and all pairs if
        /// either side has one address. An address of the peer without such a pair has the path that it has with
        /// `addresses`.
        SameSubnet = "same-subnet",
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
        /// Back where the data came from, or, with lean SACKs, on a faster path as far as heartbeats show that it has room for them.
        Fastest = "fastest",
    }
}

named! {
    /// Whether packets may be marked instead of dropped.
    "ECN mode" EcnMode {
        /// No: packets are not ECN-capable.
        Off = "off",
        /// Packets with new data only are ECN-capable, and a mark reduces cwnd of its path once a window as a fast
        /// retransmission does.
        On = "on",
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
        /// When a buffer is full: chunks that are overdue, or that would arrive sooner on the other path (Raiciu et al., NSDI
        /// 2012, section 4.2).
        Blocked = "blocked",
        /// When the other path is silent: its next acknowledgement is overdue, or none came within a probe timeout (`rfc8985#section-7.2`). If T3 expires
        /// there, a heartbeat is overdue and other paths bring SACKs, ssthresh is not cut: the path failed.
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
