"""Options of endpoints and of existing associations, as types. Written by ``python/tools/write_options.py``.

Times, sizes and rates are text with a unit (``"200 ms"``, ``"1 MB"``), as in a scenario. Options that are left out have
the default that is given here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypedDict


class Cmt(TypedDict, total=False):
    """Concurrent multipath transfer: unless ``enabled``, nothing else has any effect."""

    buffer_split: Literal["none", "sender", "receiver", "both"]
    """Which buffers are divided among the paths. Default: "none"."""
    cuc: Literal["normal", "v1", "v2"]
    """When an acknowledgement lets a window grow. Default: "v2"."""
    dac: bool
    """Delayed acknowledgement for CMT. Default: true."""
    enabled: bool
    """Data travels on all active paths at once. Default: false."""
    groups: Sequence[int]
    """Group of each path, the first's first; of those beyond, 0. Coupled congestion controls couple paths of one
    group only. Default: []."""
    keep_room: bool
    """Room at the peer that lost chunks will take is not given to new ones. Default: false."""
    moved_penalty: bool
    """The path a chunk moved away from is cut as if the chunk were lost, and nothing grows by it. Default: true."""
    note_cumulative: bool
    """Chunks acknowledged by the cumulative TSN count as newly acknowledged on their path. Default: true."""
    path_selection: Literal[
        "smallest-last-transmission",
        "largest-space",
        "largest-ssthresh",
        "largest-ssthresh-and-space",
        "round-robin",
        "random",
        "lowest-rtt",
        "ecf",
        "blest",
        "in-time",
        "redundant",
        "weighted",
    ]
    """Which path is served first. Default: "smallest-last-transmission"."""
    recovery_by_cuc: bool
    """Fast recovery of a path ends with its own pseudo-cumulative TSN. Default: true."""
    reinjection: Literal["none", "blocked", "silent", "both"]
    """When other paths carry copies of what a path is late with. Default: "none"."""
    rescheduling: Literal["none", "sender", "receiver", "both"]
    """Half full of data that waits for the earliest chunk, which of the buffers let that chunk move to another
    path. Default: "none"."""
    rtt_heuristic: bool
    """T3 marks only chunks sent at least a smoothed RTT ago. Default: true."""
    rtx: Literal["same", "asap", "cwnd", "ssthresh", "lossrate", "fastest", "alternate"]
    """Where lost chunks are sent again. Default: "alternate"."""
    sfr: bool
    """Split fast retransmission: a report counts only against chunks of its own path. Default: true."""
    smart_fast_rtx: bool
    """Acknowledgements of chunks that timed out are no evidence of loss on the path of the retransmission.
    Default: true."""
    smart_t3: bool
    """T3 restarts when the oldest chunk on its path is acknowledged. Default: true."""
    split_by: Literal["queued", "outstanding"]
    """What counts against a path's share of a buffer. Default: "queued"."""
    weights: Sequence[int]
    """Shares of the paths for the weighted path selection; without any, shares follow the paths' rates. Default:
    []."""


class AssociationOptions(TypedDict, total=False):
    """Options that can change while an association exists."""

    association_max_retrans: int
    """Consecutive errors after which the association is given up (Association.Max.Retrans). Default: 10."""
    hb_interval: str
    """Time between heartbeats on an idle path (HB.interval), or "none". Default: "30 s"."""
    max_burst: int
    """Packets sent at one opportunity (Max.Burst). Default: 4."""
    nagle: bool
    """Nagle's rule: no packet that is not full while data is outstanding. Default: false."""
    path_max_retrans: int
    """Consecutive errors after which a path is inactive (Path.Max.Retrans). Default: 5."""
    potentially_failed: int | Literal["none"]
    """Consecutive errors after which a path has potentially failed (PFMR of RFC 7829), or "none". Default: "none"."""
    primary_switchover: int | Literal["none"]
    """Consecutive errors after which the primary path ceases to be it (PSMR of RFC 7829), or "none". Default:
    "none"."""
    rto_initial: str
    """RTO before the first measurement (RTO.Initial). Default: "1 s"."""
    rto_max: str
    """Upper bound of the RTO (RTO.Max). Default: "60 s"."""
    rto_min: str
    """Lower bound of the RTO (RTO.Min). Default: "1 s"."""
    sack_delay: str
    """Longest delay of an acknowledgement (SACK.Delay), at most 500 ms. Default: "200 ms"."""
    sack_frequency: int
    """An acknowledgement at the latest for every so many packets with data. Default: 2."""


class Options(AssociationOptions, total=False):
    """Every option of an endpoint: all protocol parameters of RFC 9260, section 16, and more."""

    accounting: Literal["payload", "chunk", "packet"]
    """What counts as in flight. Default: "chunk"."""
    announce_address_types: bool
    """Sends the Supported Address Types parameter in INIT. Default: true."""
    bundling: bool
    """Several chunks a packet. Default: true."""
    burst_control: Literal[
        "max-burst", "aggressive-max-burst", "total-max-burst", "use-it-or-lose-it", "congestion-window-limiting", "off"
    ]
    """What the burst limit acts upon. Default: "max-burst"."""
    congestion_control: Literal[
        "standard",
        "cubic",
        "multcp",
        "rpv1",
        "rpv2",
        "lia",
        "olia",
        "balia",
        "braid",
        "wvegas",
        "fast",
        "fast-weighted",
        "ledbat",
        "ledbat-mp",
        "ledbat-pp",
        "mpplus",
    ]
    """Which congestion control. Default: "standard"."""
    growth: Literal["rfc2960", "rfc4960", "rfc9260"]
    """Growth rule: those of RFC 2960 and RFC 4960 need an advance of the cumulative TSN, that of RFC 9260 does
    not. Default: "rfc9260"."""
    hb_max_burst: int
    """Heartbeats sent at one instant (HB.Max.Burst). Default: 1."""
    idle_threshold: Literal["window", "kept"]
    """What idleness leaves of a slow start threshold. Default: "window"."""
    init_rto_max: str
    """Upper bound of the timeout of INIT and COOKIE ECHO, or "none" for that of all (RTO.Max). Default: "none"."""
    initial_ssthresh: str
    """Slow start threshold of every path before its first loss, or "none" for the peer's receive window. Default:
    "none"."""
    initial_window: int | Literal["none"]
    """Initial congestion window of each path in full packets, or "none" for that of the growth rule. Default:
    "none"."""
    knobs: Mapping[str, Mapping[str, str | float | bool]]
    """What congestion controls leave open, a table for each."""
    max_inbound_streams: int
    """Streams the peer may use. Default: 2048."""
    max_init_retransmits: int
    """Attempts at each handshake step (Max.Init.Retransmits). Default: 8."""
    mtu: str
    """Path MTU with the IP header. Default: "1500 B"."""
    nr_sack: bool
    """Acknowledges with NR-SACK, which says what will never be given up, if the peer does too. Default: false."""
    outbound_streams: int
    """Streams asked for in our direction. Default: 10."""
    pf_cwnd: Literal["two-mtu", "one-mtu", "unchanged"]
    """The window of a path that had potentially failed and answers a heartbeat. Default: "two-mtu"."""
    profile: Literal["standard", "recommended"]
    """What holds where the set says nothing: RFC 9260, or the options for real use over several paths. The
    defaults told here are those of "standard". Default: "standard"."""
    receive_accounting: Literal["payload", "chunk", "packet"]
    """What a chunk takes up in the receive buffer. Default: "payload"."""
    receive_buffer: str
    """Receive buffer, advertised as the receiver window. Default: "1048576 B"."""
    reneging: bool
    """When the receive buffer is full, what lies above a gap is given up for a chunk that closes it. Default:
    true."""
    rp_min: int
    """Lower bound of CMT/RP's threshold on all paths together, in MTU. Default: 4."""
    rto_alpha: float
    """Weight of a new sample in the smoothed RTT (RTO.Alpha). Default: 0.125."""
    rto_beta: float
    """Weight of a new sample in the RTT variation (RTO.Beta). Default: 0.25."""
    rto_jitter: float
    """Most that is added to the RTO at random after an expiry of T3, as a share of it: 0 to 0.5. Default: 0.0."""
    rtx_losses: bool
    """A retransmission that was overtaken on its path by a quarter of a round-trip time is lost (RACK, RFC 8985).
    Default: false."""
    sack_path: Literal["standard", "primary", "round-robin", "smallest-srtt"]
    """Where acknowledgements go. Default: "standard"."""
    send_buffer: str
    """Send buffer: bytes not yet sent plus bytes not yet cumulatively acknowledged. Default: "1048576 B"."""
    send_queue: int | Literal["none"]
    """Messages that may wait for their first transmission, or "none" for no such limit. Default: "none"."""
    sws_limit: str
    """Windows below this are advertised, and taken, as closed; "0 B" turns silly window avoidance off. Default:
    "1500 B"."""
    timestamps: Literal["off", "chunk", "metadata"]
    """How the peer learns when packets were sent, to report one-way delays; "metadata" costs no bytes. Default:
    "off"."""
    unset_share: Literal["raw", "equal"]
    """What coupled controls take an unset slow start threshold for. Default: "raw"."""
    valid_cookie_life: str
    """Lifetime of a state cookie (Valid.Cookie.Life). Default: "60 s"."""
    cmt: Cmt
    """Concurrent multipath transfer."""
