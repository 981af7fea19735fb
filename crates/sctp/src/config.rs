//! Options of an association.

use transport::{BufferBudget, BufferSize, named, options};
use units::{ByteCount, Span};

options! {
    /// The options of an association, among them the protocol parameters of `rfc9260#section-16`.
    ///
    /// The defaults are those of RFC 9260, without CMT. The defaults of the CMT options are those of table 1
    /// of paper 001 (Dreibholz et al., OMNeT++ 2010). `INET:` precedes the name of an option in the INET
    /// framework.
    pub struct Config {
        /// RTO before the first measurement (`RTO.Initial`).
        rto_initial: Span = Span::from_secs(1), "more than zero, at most `rto_max`"
            if |initial, all| !initial.is_zero() && initial <= all.rto_max;
        /// Lower bound of the RTO (`RTO.Min`).
        rto_min: Span = Span::from_secs(1), "more than zero" if |min| !min.is_zero();
        /// Upper bound of the RTO (`RTO.Max`).
        rto_max: Span = Span::from_secs(60), "at least `rto_min`" if |max, all| max >= all.rto_min;
        /// Largest number of packets that a path sends at once (`Max.Burst`). Each SACK that acknowledges
        /// data on the path permits this number again.
        max_burst: u32 = 4, "at least 1" if |packets| packets > 0;
        /// Lifetime of a state cookie (`Valid.Cookie.Life`).
        valid_cookie_life: Span = Span::from_secs(60), "more than zero" if |life| !life.is_zero();
        /// Consecutive errors after which the association fails (`Association.Max.Retrans`). If the value
        /// exceeds `path_max_retrans` times the number of the peer's addresses, all addresses may be inactive
        /// while the association goes on (`rfc9260#section-8.2`).
        association_max_retrans: u32 = 10, "at least 1" if |errors| errors > 0;
        /// Consecutive errors after which a path is inactive (`Path.Max.Retrans`).
        path_max_retrans: u32 = 5;
        /// Consecutive errors after which a path is potentially failed (`PotentiallyFailed.Max.Retrans`,
        /// `rfc7829`). The path is then probed once per RTO and carries no data while another path is active.
        /// None: no path becomes potentially failed.
        potentially_failed: Option<u32> = None, "at most `path_max_retrans`, or none"
            if |errors, all| errors.is_none_or(|errors| errors <= all.path_max_retrans);
        /// Consecutive errors after which another path becomes the primary path
        /// (`Primary.Switchover.Max.Retrans`, `rfc7829#section-5`). None: errors never change it.
        primary_switchover: Option<u32> = None, "at least `potentially_failed`, or none"
            if |errors, all| errors.is_none_or(|errors| errors >= all.potentially_failed.unwrap_or(0));
        /// Most retransmissions in each handshake step (`Max.Init.Retransmits`).
        max_init_retransmits: u32 = 8;
        /// Upper bound of the timeout of INIT and COOKIE ECHO (`sinit_max_init_timeo` of
        /// `rfc6458#section-8.1.3`). None: `rto_max`.
        init_rto_max: Option<Span> = None, "more than zero, or none for `rto_max`" if |most| most != Some(Span::ZERO);
        /// Time between heartbeats on an idle path (`HB.interval`). None: heartbeats only verify unconfirmed
        /// addresses, and an association without data does not notice that its peer is gone. On a path in UDP
        /// the interval is at most 15 s, so that a NAT keeps the port mapping.
        hb_interval: Option<Span> = Some(Span::from_secs(30)), "more than zero, or none for no heartbeats"
            if |interval| interval != Some(Span::ZERO);
        /// How the sender detects the loss of a chunk before T3-rtx expires.
        loss_detection: LossDetection = LossDetection::MissingReports;
        /// Longest delay of an acknowledgement (`SACK.Delay`).
        // rfc9260#section-6.2: an implementation must not allow more.
        sack_delay: Span = Span::from_millis(200), "at most 500 ms" if |delay| delay <= Span::from_millis(500);
        /// Packets with data after which an acknowledgement is sent at once (2 in `rfc9260#section-6.2`).
        sack_frequency: u32 = 2, "at least 1" if |packets| packets > 0;
        /// Acknowledges with NR-SACK chunks, which name the data that will never be reneged on, if the peer
        /// supports them too (draft-natarajan-tsvwg-sctp-nrsack).
        nr_sack: bool = false;
        /// Sends fewer and shorter SACKs, for a narrow return link, if both ends have `nr_sack`. A receiver
        /// without `reneging` delays a SACK that is long compared with the data that it acknowledges, for at
        /// most 25 ms after the packet required by `sack_frequency`. It omits Gap Ack Blocks that earlier
        /// SACKs reported. The sender sets the I bit (`rfc7053`) in slow start, while cwnd is small, and in
        /// retransmitted chunks.
        lean_sacks: bool = false;
        /// Uses AUTH if the peer supports it too (`rfc4895`; INET: `auth`): authenticates the chunk types
        /// that the peer requires, and accepts the types in `auth_chunks` only if they are authenticated.
        auth: bool = false;
        /// Chunk types that the peer must authenticate, besides those of ASCONF if `asconf` is on (INET:
        /// `chunks`). 0 is DATA, 3 is SACK.
        auth_chunks: Vec<u8> = Vec::new(), "at most 32 chunk types, and none of 1, 2, 14 and 15"
            if |types| types.len() <= 32 && !types.iter().any(|kind| wire::Auth::NEVER_LISTED.contains(kind));
        /// HMAC identifiers that the peer may use, the preferred one first: 3 is SHA-256, and 1 is SHA-1,
        /// which `rfc4895#section-3.3` demands.
        auth_hmacs: Vec<u16> = vec![3, 1], "[3, 1], [1, 3] or [1]"
            if |ids| matches!(ids[..], [3, 1] | [1, 3] | [1]);
        /// Adds and deletes addresses of an existing association by ASCONF, if the peer supports it too
        /// (`rfc5061`; INET: `addIP`). Needs `auth`.
        asconf: bool = false, "false unless `auth` is true" if |on, all| !on || all.auth;
        /// True if our addresses are behind NATs. A request to add an address is then sent from this address,
        /// and contains the wildcard address (INET: `natFriendly`).
        nat_friendly: bool = false;
        /// Abandons messages by their lifetime, number of retransmissions or priority, if the peer supports
        /// it (PR-SCTP, `rfc3758`, `rfc7496`). Otherwise every message is reliable, whatever its policy.
        pr_sctp: bool = false;
        /// Allows resets and additions of streams if the peer allows them too (RE-CONFIG, `rfc6525`; INET:
        /// `streamReset`).
        stream_reset: bool = false;
        /// Resets and additions of streams that the peer may request of its own accord.
        allow_reset: AllowReset = AllowReset::None;
        /// A number that tells the peer which protocol uses this end (`rfc5061#section-4.2.6`). None: no
        /// number is sent.
        adaptation: Option<u32> = None;
        /// The path on which acknowledgements are sent.
        sack_path: SackPath = SackPath::Standard;
        /// How packets carry their send time, so that a peer that supports it reports one-way delays.
        timestamps: Timestamps = Timestamps::Off;
        /// Explicit congestion notification (draft-stewart-tsvwg-sctpecn-07): routers may mark packets
        /// instead of dropping them, if the peer supports it too.
        ecn: EcnMode = EcnMode::Off;
        /// Reports packets that arrive with a wrong checksum. Retransmits the chunks of packets that the peer
        /// reports, without a reduction of cwnd. Both ends must support these reports
        /// (draft-stewart-sctp-pktdrprep-16; INET: `packetDrop`).
        packet_drop_reports: bool = false;

        /// Number of outbound streams that we request.
        outbound_streams: u16 = 10, "at least 1" if |streams| streams > 0;
        /// Largest number of inbound streams that the peer may use.
        max_inbound_streams: u16 = 2048, "at least 1" if |streams| streams > 0;
        /// The order in which streams send (`rfc8260#section-3`).
        stream_scheduler: StreamScheduler = StreamScheduler::Fcfs;
        /// Values of the streams, by stream number, for the stream schedulers `priority` (the stream with the
        /// lowest value sends first; the default is 0) and `wfq` (weights, by default 1).
        stream_values: Vec<u16> = Vec::new(), "at least 1 each for `wfq`"
            if |values, all| all.stream_scheduler != StreamScheduler::Wfq || !values.contains(&0);
        /// Sends I-DATA chunks (`rfc8260`) if the peer supports them too. Fragments of messages on different
        /// streams may then alternate, so that a long message does not delay messages on other streams.
        interleaving: bool = false;
        /// Bytes of an incomplete message that are delivered before the rest has arrived
        /// (`SCTP_PARTIAL_DELIVERY_POINT`). None: a message is delivered in parts only if it fills the
        /// receive buffer.
        partial_delivery_point: Option<ByteCount> = None, "more than zero, or none"
            if |point| point != Some(ByteCount::ZERO);
        /// Receive buffer, advertised as a_rwnd. `auto`: twice the bytes that the application read and that
        /// waited for missing chunks in the last round-trip time, within `buffer_budget`.
        receive_buffer: BufferSize = BufferSize::fixed(1 << 20), "1500 to 4294967295 bytes, or auto"
            if |size| (u64::from(LEAST_WINDOW)..=u64::from(u32::MAX)).contains(&size.first().get());
        /// A receive window below this limit is advertised as zero, and a lower a_rwnd of the peer counts as
        /// zero (`rfc1122#section-4.2.3.3`). Zero turns the avoidance of silly windows off.
        sws_limit: ByteCount = ByteCount::new(1500), "less than `receive_buffer`"
            if |limit, all| limit < all.receive_buffer.first();
        /// Bytes that are counted for one chunk in the receive buffer.
        receive_accounting: Accounting = Accounting::Payload;
        /// A full receive buffer reneges on data above a gap to make room for a chunk that closes the gap
        /// (`rfc9260#section-6.2`). Otherwise all acknowledged data is kept.
        reneging: bool = true;
        /// Send buffer: bytes not yet sent plus bytes not yet cumulatively acknowledged. `auto`: twice
        /// the bytes not yet cumulatively acknowledged.
        send_buffer: BufferSize = BufferSize::fixed(1 << 20), "at least 1 byte, or auto"
            if |size| size.first() > ByteCount::ZERO;
        /// Bytes by which all buffers of an endpoint with the size `auto` may grow together. Each buffer
        /// begins with 1 MiB, and never has more of the budget than remains for the others.
        buffer_budget: ByteCount = BufferBudget::USUAL;
        /// Messages that may wait for their first transmission. None: only `send_buffer` limits them.
        send_queue: Option<u32> = None, "at least 1, or none for no limit in messages"
            if |messages| messages != Some(0);
        /// Definition of a path: an address of the peer, or a pair of a local and a remote address.
        paths: PathSet = PathSet::Addresses;
        /// Finds the MTU of each path by probes, up to `mtu` (DPLPMTUD, `rfc8899`). Otherwise each path has
        /// the MTU `mtu`, unless the application sets another one.
        pmtud: bool = false;
        /// Path MTU, IP header included; with `pmtud`, the MTU of the interface.
        mtu: ByteCount = ByteCount::new(1500), "576 to 65535 bytes" if |size| MTU.contains(&size.get());
        /// Bundles chunks into packets (`rfc9260#section-6.10`), also DATA with a SACK or a COOKIE ECHO.
        bundling: bool = true;
        /// A message that is longer than a packet begins in the free bytes of the last packet of the message
        /// before it. Successive long messages then fill all packets to the same length.
        fill_packets: bool = false;
        /// Nagle's algorithm: while data is outstanding, only full packets are sent (`rfc9260#section-6.10`),
        /// except packets that are sent in any case, for example with a SACK.
        nagle: bool = false;

        /// The congestion control.
        congestion_control: cc::ControlChoice = cc::Algorithm::Standard.into();
        /// Spreads the packets of each path over its round-trip time, under every congestion control. The
        /// rate is that of the control or, if it has none, 2 cwnd/SRTT below half of ssthresh and 1.2
        /// cwnd/SRTT above, as in Linux. In congestion avoidance it is at most 5/4 of the most that the path
        /// delivered in one of its last ten round trips. New data that is paced is not limited to `max_burst`
        /// packets.
        pacing: bool = false;
        /// Which paths begin near the rate that an earlier path between their addresses had (`rfc9959`). It
        /// has no effect with the control bbr.
        resume: Resume = Resume::Off;
        /// The RFC that determines how cwnd grows: by RFC 2960 and 4960 only if the cumulative TSN advances.
        growth: cc::GrowthRule = cc::GrowthRule::Rfc9260;
        /// Bytes that are counted for one chunk in the flight size.
        accounting: Accounting = Accounting::Chunk;
        /// Initial cwnd of each path in full packets (`rfc6928` argues for 10). None: the value of the growth
        /// rule, at most 4 packets (`rfc9260#section-7.2.1`).
        initial_window: Option<u32> = None, "1 to 10000 packets, or none for that of the growth rule"
            if |packets| (1..=10_000).contains(&packets.unwrap_or(1));
        /// ssthresh of each path before its first loss. None: the a_rwnd of the peer, the upper bound that
        /// `rfc9260#section-7.2.1` suggests; with `send_buffer = "auto"` no bound, since the peer's a_rwnd
        /// may grow, too.
        initial_ssthresh: Option<ByteCount> = None;
        /// Lower bound of CMT/RP's ssthresh over all paths, in MTU (paper 000, equation 5: 4).
        rp_min: u64 = 4, "at least 1" if |mtus| mtus > 0;
        /// ssthresh of a path that was idle for an RTO.
        idle_threshold: cc::IdleThreshold = cc::IdleThreshold::Window;
        /// Options of the congestion controls: one table for each control.
        knobs: cc::Knobs = cc::Knobs::default();

        /// Concurrent multipath transfer.
        cmt: Cmt = Cmt::default();
    }
}

/// Range of a path MTU in bytes: from the least that IPv4 hosts must accept to the most that IP can carry.
pub(crate) const MTU: std::ops::RangeInclusive<u64> = 576..=65_535;

/// Smallest receive buffer: the peer must refuse an association with less (`rfc9260#section-3.3.2`).
pub(crate) const LEAST_WINDOW: u32 = 1500;

impl Config {
    /// Returns the options that are recommended for several paths.
    ///
    /// With these options a transfer should be at least as fast as over its best path alone, and should not
    /// stall for long when a path fails. Its paths are coupled: over a shared bottleneck, all of them
    /// together should take no more than one TCP flow. Users who own all lines can uncouple the paths with
    /// [`Algorithm::Cubic`](cc::Algorithm::Cubic). `docs/bonding.md` gives the reason for each option, and
    /// lists measured cases in which a transfer misses these aims.
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
            resume: Resume::Return,
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
            receive_buffer: BufferSize::Auto,
            send_buffer: BufferSize::Auto,
            cmt: Cmt {
                enabled: true,
                path_selection: PathSelection::InTime,
                rtx: RtxPolicy::Fastest,
                rtt_heuristic: false,
                detect_bottlenecks: true,
                keep_room: true,
                reinjection: Reinjection::Both,
                ..Cmt::default()
            },
            ..Config::default()
        }
    }
}

options! {
    /// Concurrent multipath transfer (Iyengar, Amer, Stewart, ToN 2006; paper 001 §3), one option for each
    /// mechanism.
    ///
    /// Unless `enabled` is true, no other option has any effect.
    pub struct Cmt in "cmt" {
        /// Sends data on all active paths at once, not on the primary path only (`allowCMT`).
        enabled: bool = false;
        /// Split fast retransmission: a missing report counts only if newer data of the same path was
        /// acknowledged (`cmtUseSFR`).
        sfr: bool = true;
        /// Delayed acknowledgement for CMT (`cmtUseDAC`).
        dac: bool = true;
        /// When an acknowledgement lets cwnd grow (`cmtCUCVariant`).
        cuc: Cuc = Cuc::V2;
        /// The path on which lost chunks are retransmitted.
        rtx: RtxPolicy = RtxPolicy::Alternate;
        /// The order in which paths send new data (`cmtSendAllVariant`).
        path_selection: PathSelection = PathSelection::SmallestLastTransmission;
        /// Group of each path, by path number; further paths are in group 0. A coupled congestion control
        /// couples only the paths of one group, which are known to share a bottleneck.
        groups: Vec<u8> = Vec::new();
        /// Measures which paths share a bottleneck, by what their round-trip times have in common. A coupled
        /// congestion control does not couple two paths of a group that share none.
        detect_bottlenecks: bool = false;
        /// T3-rtx restarts when the oldest chunk of its path is acknowledged, even by a Gap Ack Block.
        smart_t3: bool = true;
        /// An acknowledgement of a chunk that timed out causes no missing reports on its path.
        smart_fast_rtx: bool = true;
        /// At an expiry of T3-rtx, only chunks that were sent at least one SRTT ago are lost.
        rtt_heuristic: bool = true;
        /// Fast recovery of a path ends by its own pseudo-cumulative TSN, with every CUC variant. Otherwise
        /// it ends only by the cumulative TSN of the association.
        recovery_by_cuc: bool = true;
        /// The buffers that are divided among the paths.
        buffer_split: BufferSide = BufferSide::None;
        /// Bytes that count against a path's share of a divided buffer.
        split_by: SplitBy = SplitBy::Queued;
        /// The buffers that chunk rescheduling protects: once half of the buffer waits for the earliest
        /// chunk, that chunk may move to another path. The cwnd of its old path is then reduced as for a
        /// loss, and no cwnd grows by the chunk.
        rescheduling: BufferSide = BufferSide::None;
        /// Sends no new chunks into the part of the peer's receive window that lost chunks need.
        /// `rfc9260#section-6.2.1`, rule C, counts that part as free. With one path, cwnd still limits new
        /// chunks. With several paths cwnd does not, and the peer drops the chunks if its buffer is full.
        keep_room: bool = false;
        /// Cases in which a path with room in its cwnd carries copies of chunks in flight on another path.
        reinjection: Reinjection = Reinjection::None;
    }
}

named! {
    /// Bytes that are counted for one chunk, in the flight size or in a buffer.
    #[non_exhaustive]
    "accounting" Accounting {
        /// User bytes only.
        Payload = "payload",
        /// User bytes and the chunk header.
        Chunk = "chunk",
        /// User bytes, chunk header, common header and IP header, as if each chunk had its own packet.
        Packet = "packet",
    }
}

named! {
    /// How the sender detects the loss of a chunk before T3-rtx expires.
    #[non_exhaustive]
    "loss detection" LossDetection {
        /// Three missing reports (`rfc9260#section-7.2.4`).
        MissingReports = "missing-reports",
        /// By time, for each path (RACK, `rfc8985`): a chunk is lost if a chunk that was sent later on the
        /// path arrived, and the reordering window has passed. The window adapts to reordering. Needless
        /// recoveries are undone, and lost retransmissions are detected, too. With `reinjection` of silent
        /// paths, the last usable path sends tail loss probes.
        Rack = "rack",
    }
}

named! {
    /// Congestion window update (paper 001 §3.2): when acknowledged bytes let the cwnd of a path grow.
    #[non_exhaustive]
    "CUC variant" Cuc {
        /// cwnd grows only if the cumulative TSN passed a chunk of the path.
        Normal = "normal",
        /// cwnd grows if the pseudo-cumulative TSN of the path advanced.
        V1 = "v1",
        /// As `v1`, and retransmitted chunks have a pseudo-cumulative TSN of their own.
        V2 = "v2",
    }
}

named! {
    /// The order in which paths send new data; each path fills its cwnd before the next path sends.
    #[non_exhaustive]
    "path selection" PathSelection {
        /// The path that transmitted least recently first.
        SmallestLastTransmission = "smallest-last-transmission",
        /// The path with the most room in its cwnd first.
        LargestSpace = "largest-space",
        /// The path with the largest slow start threshold first.
        LargestSsthresh = "largest-ssthresh",
        /// The path with the largest slow start threshold first; among equal paths, the one with the
        /// most room in cwnd.
        LargestSsthreshAndSpace = "largest-ssthresh-and-space",
        /// The paths by turns, one packet each.
        RoundRobin = "round-robin",
        /// The paths in a random order, which changes after each event.
        Random = "random",
        /// The path with the lowest smoothed round-trip time first.
        LowestRtt = "lowest-rtt",
        /// Earliest completion first: data waits for the fastest path if that path would deliver all
        /// waiting data sooner.
        Ecf = "ecf",
        /// Blocking estimation: a slow path carries no packet that would later stop faster paths,
        /// because a buffer of either end is full until that packet arrives.
        Blest = "blest",
        /// A path carries a packet if that packet is acknowledged before faster paths could fill the
        /// smaller of the two ends' buffers, or could send all that the application gave, if this is
        /// less. The expected time of the acknowledgement is the least round-trip time or, if longer,
        /// flight size divided by delivery rate.
        InTime = "in-time",
        /// Each path carries all data, as its cwnd permits.
        Redundant = "redundant",
        /// Each path carries packets in proportion to its rate.
        Weighted = "weighted",
    }
}

named! {
    /// The order in which streams send. The unit is a message or, with interleaving, a chunk.
    #[non_exhaustive]
    "stream scheduler" StreamScheduler {
        /// First come, first served: messages are sent in the order in which the application gave them.
        Fcfs = "fcfs",
        /// Round robin: the streams that have data to send, by turns.
        Rr = "rr",
        /// Round robin for each packet: a packet carries data of one stream, the next packet of another.
        RrPacket = "rr-packet",
        /// The stream with the lowest value first; streams with the same value by turns.
        Priority = "priority",
        /// Fair bandwidth: the stream that has sent the fewest bytes first.
        Fair = "fair",
        /// Weighted fair queueing: each stream sends bytes in proportion to its value.
        Wfq = "wfq",
    }
}

named! {
    /// The path on which a lost chunk is retransmitted.
    #[non_exhaustive]
    "retransmission policy" RtxPolicy {
        /// The same path while it is active, also after timeouts (against `rfc9260#section-6.4`).
        Same = "same",
        /// A random path with room in its cwnd.
        Asap = "asap",
        /// The path with the largest congestion window.
        Cwnd = "cwnd",
        /// The path with the largest slow start threshold.
        Ssthresh = "ssthresh",
        /// The path with the lowest loss rate.
        LossRate = "lossrate",
        /// The path, among those that answer, that would deliver all lost chunks first; the chunks wait for
        /// room on that path. If no path answers, as `alternate`.
        Fastest = "fastest",
        /// The same path after a fast retransmission, the next active one after a timeout
        /// (`rfc9260#section-6.4`).
        Alternate = "alternate",
    }
}

named! {
    /// Stream changes that the peer may request of its own accord (`rfc6525#section-6.3.1`). Each level
    /// includes the levels before it.
    #[non_exhaustive]
    "level of allowed resets" AllowReset {
        /// Each request is denied.
        None = "none",
        /// Resets of the streams on which the peer sends, and of those on which we send.
        Streams = "streams",
        /// Additions of streams, in either direction.
        Add = "add",
        /// A reset of the association: all streams, and the TSNs.
        All = "all",
    }
}

impl AllowReset {
    /// Index of the level, from 0.
    pub(crate) fn rank(self) -> u8 {
        self as u8
    }
}

named! {
    /// Definition of a path. Each path has a cwnd, an RTT, timers and heartbeats of its own.
    #[non_exhaustive]
    "path set" PathSet {
        /// An address of the peer. Packets to this address have as source the local address that shares the
        /// longest prefix with it.
        Addresses = "addresses",
        /// A pair of a local address and an address of the peer, at most 16 pairs. Two uplinks to a peer with
        /// one address are two paths. An address of the peer has failed when all its pairs have failed.
        Pairs = "pairs",
        /// As `pairs`, but only those pairs whose addresses are in one subnet (/24 of IPv4, /64 of IPv6), and
        /// all pairs if either side has one address. An address of the peer without a local address in its
        /// subnet has the same path as with `addresses`.
        SameSubnet = "same-subnet",
    }
}

named! {
    /// Which paths resume the rate of an earlier path between their addresses.
    #[non_exhaustive]
    "resume" Resume {
        /// No path: each begins with the initial cwnd.
        Off = "off",
        /// Paths that return within an association: after an outage, or when an address is added again.
        Return = "return",
        /// Paths that return, and the paths of new associations.
        Full = "full",
    }
}

named! {
    /// The path on which an acknowledgement is sent.
    #[non_exhaustive]
    "SACK path" SackPath {
        /// The path of the data that caused the acknowledgement (`rfc9260#section-6.4`).
        Standard = "standard",
        /// The primary path.
        Primary = "primary",
        /// The active path that has sent no SACK for the longest time.
        RoundRobin = "round-robin",
        /// The active path with the smallest smoothed round-trip time.
        SmallestSrtt = "smallest-srtt",
        /// The path of the data or, with `lean_sacks`, a faster path, if heartbeats show that SACKs
        /// cause no queue there.
        Fastest = "fastest",
    }
}

named! {
    /// Whether routers may mark packets instead of dropping them.
    #[non_exhaustive]
    "ECN mode" EcnMode {
        /// Packets are not ECN-capable.
        Off = "off",
        /// Only packets with new data are ECN-capable. A mark reduces the cwnd of its path as a fast
        /// retransmission does, at most once per window of data.
        On = "on",
    }
}

named! {
    /// How packets with data carry their send time. Unless the option is off, a LEDBAT-CONTROL chunk with
    /// each SACK reports the one-way delays of the peer's packets, if the peer supports it.
    #[non_exhaustive]
    "timestamps" Timestamps {
        /// Packets carry no send time, and no delays are reported.
        Off = "off",
        /// The send time is in a TIMESTAMP chunk, which leaves 12 bytes less for data.
        Chunk = "chunk",
        /// The send time is outside of the packet and takes no bytes; only a simulator supports this.
        Metadata = "metadata",
    }
}

named! {
    /// The buffers to which an option applies.
    #[non_exhaustive]
    "buffer side" BufferSide {
        /// Neither buffer.
        None = "none",
        /// The send buffer.
        Sender = "sender",
        /// The receive buffer of the peer, as advertised in a_rwnd.
        Receiver = "receiver",
        /// Both buffers.
        Both = "both",
    }
}

impl BufferSide {
    /// True if the option applies to the send buffer.
    #[inline]
    pub(crate) fn sender(self) -> bool {
        matches!(self, BufferSide::Sender | BufferSide::Both)
    }

    /// True if the option applies to the receive buffer of the peer.
    #[inline]
    pub(crate) fn receiver(self) -> bool {
        matches!(self, BufferSide::Receiver | BufferSide::Both)
    }
}

named! {
    /// Cases in which a path with room in its cwnd carries copies of chunks in flight on another path.
    #[non_exhaustive]
    "reinjection" Reinjection {
        /// No copies are sent.
        None = "none",
        /// While a full buffer of either end stops all paths: chunks that are overdue, or of which a
        /// copy would arrive before the chunk itself (Raiciu et al., NSDI 2012, section 4.2).
        Blocked = "blocked",
        /// Chunks in flight on a silent path: its next acknowledgement is overdue, or none came
        /// within a probe timeout (`rfc8985#section-7.2`).
        Silent = "silent",
        /// Copies are sent in both cases: `Blocked` and `Silent`.
        Both = "both",
    }
}

impl Reinjection {
    /// True if a full buffer causes copies.
    #[inline]
    pub(crate) fn blocked(self) -> bool {
        matches!(self, Reinjection::Blocked | Reinjection::Both)
    }

    /// True if a silent path causes copies.
    #[inline]
    pub(crate) fn silent(self) -> bool {
        matches!(self, Reinjection::Silent | Reinjection::Both)
    }
}

named! {
    /// Bytes of a path that count when `buffer_split` gives each path an equal part of a buffer.
    #[non_exhaustive]
    "split" SplitBy {
        /// Bytes last sent on the path that are not acknowledged, or that the peer may still renege on.
        Queued = "queued",
        /// Bytes in flight on the path.
        Outstanding = "outstanding",
    }
}
