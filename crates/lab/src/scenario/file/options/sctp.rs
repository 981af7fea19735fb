//! Options of SCTP endpoints.

use super::{OptionSet, settings, table_of};
use crate::scenario::decode::{Decode, Definitions, Fields, NoneOr, Show, property, words};
use crate::scenario::diagnostic::Faults;
use crate::scenario::file::knobs;
use serde_json::{Map, Value as Json};
use units::{ByteCount, Span};

words!(named cc::GrowthRule, cc::IdleThreshold, cc::UnsetShare);
words!(named sctp::Accounting, sctp::BurstControl, sctp::Cuc, sctp::RtxPolicy, sctp::PathSelection, sctp::SackPath, sctp::Timestamps);
words!(named sctp::BufferSide, sctp::SplitBy, sctp::PfCwnd, sctp::Reinjection);

/// What holds where the set says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Profile {
    Standard,
    Recommended,
}
words!(Profile { "standard" => Profile::Standard, "recommended" => Profile::Recommended });

settings! { association sets sctp::Config, by default sctp::Config::default(), {
    /// RTO before the first measurement (RTO.Initial).
    rto_initial: Span;
    /// Lower bound of the RTO (RTO.Min).
    rto_min: Span;
    /// Upper bound of the RTO (RTO.Max).
    rto_max: Span;
    /// Weight of a new sample in the smoothed RTT (RTO.Alpha).
    rto_alpha: f64;
    /// Weight of a new sample in the RTT variation (RTO.Beta).
    rto_beta: f64;
    /// Most that is added to the RTO at random after an expiry of T3, as a share of it: 0 to 0.5.
    rto_jitter: f64;
    /// Packets sent at one opportunity (Max.Burst).
    max_burst: u32;
    /// What the burst limit acts upon.
    burst_control: sctp::BurstControl;
    /// Lifetime of a state cookie (Valid.Cookie.Life).
    valid_cookie_life: Span;
    /// Consecutive errors after which the association is given up (Association.Max.Retrans).
    association_max_retrans: u32;
    /// Consecutive errors after which a path is inactive (Path.Max.Retrans).
    path_max_retrans: u32;
    /// Consecutive errors after which a path has potentially failed (PFMR of RFC 7829), or "none".
    potentially_failed: NoneOr<u32>;
    /// The window of a path that had potentially failed and answers a heartbeat.
    pf_cwnd: sctp::PfCwnd;
    /// Consecutive errors after which the primary path ceases to be it (PSMR of RFC 7829), or "none".
    primary_switchover: NoneOr<u32>;
    /// Attempts at each handshake step (Max.Init.Retransmits).
    max_init_retransmits: u32;
    /// Upper bound of the timeout of INIT and COOKIE ECHO, or "none" for that of all (RTO.Max).
    init_rto_max: NoneOr<Span>;
    /// Time between heartbeats on an idle path (HB.interval), or "none".
    hb_interval: NoneOr<Span>;
    /// Heartbeats sent at one instant (HB.Max.Burst).
    hb_max_burst: u32;
    /// A retransmission that was overtaken on its path by a quarter of a round-trip time is lost (RACK, RFC 8985).
    rtx_losses: bool;
    /// Longest delay of an acknowledgement (SACK.Delay), at most 500 ms.
    sack_delay: Span;
    /// An acknowledgement at the latest for every so many packets with data.
    sack_frequency: u32;
    /// Acknowledges with NR-SACK, which says what will never be given up, if the peer does too.
    nr_sack: bool;
    /// Where acknowledgements go.
    sack_path: sctp::SackPath;
    /// How the peer learns when packets were sent, to report one-way delays; "metadata" costs no bytes.
    timestamps: sctp::Timestamps;
    /// Streams asked for in our direction.
    outbound_streams: u16;
    /// Streams the peer may use.
    max_inbound_streams: u16;
    /// Receive buffer, advertised as the receiver window.
    receive_buffer: ByteCount;
    /// Windows below this are advertised, and taken, as closed; "0 B" turns silly window avoidance off.
    sws_limit: ByteCount;
    /// What a chunk takes up in the receive buffer.
    receive_accounting: sctp::Accounting;
    /// When the receive buffer is full, what lies above a gap is given up for a chunk that closes it.
    reneging: bool;
    /// Send buffer: bytes not yet sent plus bytes not yet cumulatively acknowledged.
    send_buffer: ByteCount;
    /// Messages that may wait for their first transmission, or "none" for no such limit.
    send_queue: NoneOr<u32>;
    /// Path MTU with the IP header.
    mtu: ByteCount;
    /// Several chunks a packet.
    bundling: bool;
    /// Nagle's rule: no packet that is not full while data is outstanding.
    nagle: bool;
    /// Sends the Supported Address Types parameter in INIT.
    announce_address_types: bool;
    /// Which congestion control.
    congestion_control: cc::Algorithm;
    /// Growth rule: those of RFC 2960 and RFC 4960 need an advance of the cumulative TSN, that of RFC 9260 does not.
    growth: cc::GrowthRule;
    /// What counts as in flight.
    accounting: sctp::Accounting;
    /// Initial congestion window of each path in full packets, or "none" for that of the growth rule.
    initial_window: NoneOr<u32>;
    /// Slow start threshold of every path before its first loss, or "none" for the peer's receive window.
    initial_ssthresh: NoneOr<ByteCount>;
    /// Lower bound of CMT/RP's threshold on all paths together, in MTU.
    rp_min: u64;
    /// What coupled controls take an unset slow start threshold for.
    unset_share: cc::UnsetShare;
    /// What idleness leaves of a slow start threshold.
    idle_threshold: cc::IdleThreshold;
} }

settings! { multipath sets sctp::Cmt, by default sctp::Cmt::default(), {
    /// Data travels on all active paths at once.
    enabled: bool;
    /// Split fast retransmission: a report counts only against chunks of its own path.
    sfr: bool;
    /// Delayed acknowledgement for CMT.
    dac: bool;
    /// When an acknowledgement lets a window grow.
    cuc: sctp::Cuc;
    /// Where lost chunks are sent again.
    rtx: sctp::RtxPolicy;
    /// Which path is served first.
    path_selection: sctp::PathSelection;
    /// Shares of the paths for the weighted path selection; without any, shares follow the paths' rates.
    weights: Vec<u32>;
    /// Group of each path, the first's first; of those beyond, 0. Coupled congestion controls couple paths of one group only.
    groups: Vec<u8>;
    /// T3 restarts when the oldest chunk on its path is acknowledged.
    smart_t3: bool;
    /// Acknowledgements of chunks that timed out are no evidence of loss on the path of the retransmission.
    smart_fast_rtx: bool;
    /// T3 marks only chunks sent at least a smoothed RTT ago.
    rtt_heuristic: bool;
    /// Fast recovery of a path ends with its own pseudo-cumulative TSN.
    recovery_by_cuc: bool;
    /// Chunks acknowledged by the cumulative TSN count as newly acknowledged on their path.
    note_cumulative: bool;
    /// Which buffers are divided among the paths.
    buffer_split: sctp::BufferSide;
    /// What counts against a path's share of a buffer.
    split_by: sctp::SplitBy;
    /// Half full of data that waits for the earliest chunk, which of the buffers let that chunk move to another path.
    rescheduling: sctp::BufferSide;
    /// The path a chunk moved away from is cut as if the chunk were lost, and nothing grows by it.
    moved_penalty: bool;
    /// Room at the peer that lost chunks will take is not given to new ones.
    keep_room: bool;
    /// When other paths carry copies of what a path is late with.
    reinjection: sctp::Reinjection;
} }

const PROFILE: &str = "profile";

impl OptionSet for sctp::Config {
    const KEY: &'static str = "sctp";

    fn keys() -> Vec<&'static str> {
        [&[PROFILE], association::KEYS, &["cmt", knobs::KEY]].concat()
    }

    fn read(fields: &Fields<'_>, faults: &mut Faults) -> Option<Self> {
        let mut config = match fields.take_or(PROFILE, Profile::Standard, faults)? {
            Profile::Standard => sctp::Config::default(),
            Profile::Recommended => sctp::Config::recommended(),
        };
        let right = association::apply(fields, &mut config, faults);
        let right = knobs::apply(fields, &mut config.knobs, faults) && right;
        let cmt = fields.nested("cmt", multipath::KEYS, faults)?;
        (multipath::apply(&cmt, &mut config.cmt, faults) && right).then_some(config)
    }

    fn properties(definitions: &mut Definitions) -> Map<String, Json> {
        let mut properties = association::properties(definitions);
        let doc = "What holds where the set says nothing: RFC 9260, or the options for real use over several paths. The \
                   defaults told here are those of \"standard\".";
        let profile = property(Profile::schema(definitions), doc, Some(Profile::Standard.show()));
        properties.insert(PROFILE.to_owned(), profile);
        let cmt = table_of(multipath::properties(definitions));
        properties.insert("cmt".to_owned(), property(cmt, "Concurrent multipath transfer.", None));
        let doc = "What congestion controls leave open, a table for each.";
        properties.insert(knobs::KEY.to_owned(), property(knobs::schema(definitions), doc, None));
        properties
    }

    fn check(&self) -> Result<(), transport::ConfigError> {
        sctp::Config::check(self)
    }
}
