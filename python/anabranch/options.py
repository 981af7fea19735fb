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
    """The buffers that are divided among the paths. Default: "none"."""
    cuc: Literal["normal", "v1", "v2"]
    """When an acknowledgement lets cwnd grow (``cmtCUCVariant``). Default: "v2"."""
    dac: bool
    """Delayed acknowledgement for CMT (``cmtUseDAC``). Default: true."""
    detect_bottlenecks: bool
    """Measures which paths share a bottleneck, by what their round-trip times have in common. A coupled congestion
    control does not couple two paths of a group that share none. Default: false."""
    enabled: bool
    """Sends data on all active paths at once, not on the primary path only (``allowCMT``). Default: false."""
    groups: Sequence[int]
    """Group of each path, by path number; further paths are in group 0. A coupled congestion control couples only
    the paths of one group, which are known to share a bottleneck. Default: []."""
    keep_room: bool
    """Sends no new chunks into the part of the peer's receive window that lost chunks need. RFC 9260, section
    6.2.1, rule C, counts that part as free. With one path, cwnd still limits new chunks. With several paths
    cwnd does not, and the peer drops the chunks if its buffer is full. Default: false."""
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
    """The order in which paths send new data (``cmtSendAllVariant``). Default: "smallest-last-transmission"."""
    recovery_by_cuc: bool
    """Fast recovery of a path ends by its own pseudo-cumulative TSN, with every CUC variant. Otherwise it ends
    only by the cumulative TSN of the association. Default: true."""
    reinjection: Literal["none", "blocked", "silent", "both"]
    """Cases in which a path with room in its cwnd carries copies of chunks in flight on another path. Default:
    "none"."""
    rescheduling: Literal["none", "sender", "receiver", "both"]
    """The buffers that chunk rescheduling protects: once half of the buffer waits for the earliest chunk, that
    chunk may move to another path. The cwnd of its old path is then reduced as for a loss, and no cwnd grows by
    the chunk. Default: "none"."""
    rtt_heuristic: bool
    """At an expiry of T3-rtx, only chunks that were sent at least one SRTT ago are lost. Default: true."""
    rtx: Literal["same", "asap", "cwnd", "ssthresh", "lossrate", "fastest", "alternate"]
    """The path on which lost chunks are retransmitted. Default: "alternate"."""
    sfr: bool
    """Split fast retransmission: a missing report counts only if newer data of the same path was acknowledged
    (``cmtUseSFR``). Default: true."""
    smart_fast_rtx: bool
    """An acknowledgement of a chunk that timed out causes no missing reports on its path. Default: true."""
    smart_t3: bool
    """T3-rtx restarts when the oldest chunk of its path is acknowledged, even by a Gap Ack Block. Default: true."""
    split_by: Literal["queued", "outstanding"]
    """Bytes that count against a path's share of a divided buffer. Default: "queued"."""


class AssociationOptions(TypedDict, total=False):
    """Options that can change while an association exists."""

    association_max_retrans: int
    """Consecutive errors after which the association fails (``Association.Max.Retrans``). If the value exceeds
    ``path_max_retrans`` times the number of the peer's addresses, all addresses may be inactive while the
    association goes on (RFC 9260, section 8.2). Expected: at least 1. Default: 10."""
    hb_interval: str
    """Time between heartbeats on an idle path (``HB.interval``). None: heartbeats only verify unconfirmed
    addresses, and an association without data does not notice that its peer is gone. On a path in UDP the
    interval is at most 15 s, so that a NAT keeps the port mapping. Expected: more than zero, or none for no
    heartbeats. Default: "30 s"."""
    max_burst: int
    """Largest number of packets that a path sends at once (``Max.Burst``). Each SACK that acknowledges data on the
    path permits this number again. Expected: at least 1. Default: 4."""
    nagle: bool
    """Nagle's algorithm: while data is outstanding, only full packets are sent (RFC 9260, section 6.10), except
    packets that are sent in any case, for example with a SACK. Default: false."""
    partial_delivery_point: str
    """Bytes of an incomplete message that are delivered before the rest has arrived
    (``SCTP_PARTIAL_DELIVERY_POINT``). None: a message is delivered in parts only if it fills the receive
    buffer. Expected: more than zero, or none. Default: "none"."""
    path_max_retrans: int
    """Consecutive errors after which a path is inactive (``Path.Max.Retrans``). Default: 5."""
    potentially_failed: int | Literal["none"]
    """Consecutive errors after which a path is potentially failed (``PotentiallyFailed.Max.Retrans``, RFC 7829).
    The path is then probed once per RTO and carries no data while another path is active. None: no path becomes
    potentially failed. Expected: at most ``path_max_retrans``, or none. Default: "none"."""
    primary_switchover: int | Literal["none"]
    """Consecutive errors after which another path becomes the primary path (``Primary.Switchover.Max.Retrans``,
    RFC 7829, section 5). None: errors never change it. Expected: at least ``potentially_failed``, or none.
    Default: "none"."""
    rto_initial: str
    """RTO before the first measurement (``RTO.Initial``). Expected: more than zero, at most ``rto_max``. Default:
    "1 s"."""
    rto_max: str
    """Upper bound of the RTO (``RTO.Max``). Expected: at least ``rto_min``. Default: "60 s"."""
    rto_min: str
    """Lower bound of the RTO (``RTO.Min``). Expected: more than zero. Default: "1 s"."""
    sack_delay: str
    """Longest delay of an acknowledgement (``SACK.Delay``). Expected: at most 500 ms. Default: "200 ms"."""
    sack_frequency: int
    """Packets with data after which an acknowledgement is sent at once (2 in RFC 9260, section 6.2). Expected: at
    least 1. Default: 2."""


class Options(AssociationOptions, total=False):
    """Every option of an endpoint."""

    accounting: Literal["payload", "chunk", "packet"]
    """Bytes that are counted for one chunk in the flight size. Default: "chunk"."""
    adaptation: int | Literal["none"]
    """A number that tells the peer which protocol uses this end (RFC 5061, section 4.2.6). None: no number is
    sent. Default: "none"."""
    allow_reset: Literal["none", "streams", "add", "all"]
    """Resets and additions of streams that the peer may request of its own accord. Default: "none"."""
    asconf: bool
    """Adds and deletes addresses of an existing association by ASCONF, if the peer supports it too (RFC 5061;
    INET: ``addIP``). Needs ``auth``. Expected: false unless ``auth`` is true. Default: false."""
    auth: bool
    """Uses AUTH if the peer supports it too (RFC 4895; INET: ``auth``): authenticates the chunk types that the
    peer requires, and accepts the types in ``auth_chunks`` only if they are authenticated. Default: false."""
    auth_chunks: Sequence[int]
    """Chunk types that the peer must authenticate, besides those of ASCONF if ``asconf`` is on (INET: ``chunks``).
    0 is DATA, 3 is SACK. Expected: at most 32 chunk types, and none of 1, 2, 14 and 15. Default: []."""
    auth_hmacs: Sequence[int]
    """HMAC identifiers that the peer may use, the preferred one first: 3 is SHA-256, and 1 is SHA-1, which RFC
    4895, section 3.3 demands. Expected: [3, 1], [1, 3] or [1]. Default: [3, 1]."""
    buffer_budget: str
    """Bytes by which all buffers of an endpoint with the size ``auto`` may grow together. Each buffer begins with
    1 MiB, and never has more of the budget than remains for the others. Default: "268435456 B"."""
    bundling: bool
    """Bundles chunks into packets (RFC 9260, section 6.10), also DATA with a SACK or a COOKIE ECHO. Default: true."""
    congestion_control: Literal[
        "standard",
        "cubic",
        "coupled-cubic",
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
        "bbr",
        "bbr-coupled",
        "ledbat",
        "ledbat-mp",
        "ledbat-pp",
        "mpplus",
    ]
    """The congestion control. Default: "standard"."""
    ecn: Literal["off", "on"]
    """Explicit congestion notification (draft-stewart-tsvwg-sctpecn-07): routers may mark packets instead of
    dropping them, if the peer supports it too. Default: "off"."""
    fill_packets: bool
    """A message that is longer than a packet begins in the free bytes of the last packet of the message before it.
    Successive long messages then fill all packets to the same length. Default: false."""
    growth: Literal["rfc2960", "rfc4960", "rfc9260"]
    """The RFC that determines how cwnd grows: by RFC 2960 and 4960 only if the cumulative TSN advances. Default:
    "rfc9260"."""
    idle_threshold: Literal["window", "kept"]
    """ssthresh of a path that was idle for an RTO. Default: "window"."""
    init_rto_max: str
    """Upper bound of the timeout of INIT and COOKIE ECHO (``sinit_max_init_timeo`` of RFC 6458, section 8.1.3).
    None: ``rto_max``. Expected: more than zero, or none for ``rto_max``. Default: "none"."""
    initial_ssthresh: str
    """ssthresh of each path before its first loss. None: the a_rwnd of the peer, the upper bound that RFC 9260,
    section 7.2.1 suggests; with ``send_buffer = "auto"`` no bound, since the peer's a_rwnd may grow, too.
    Default: "none"."""
    initial_window: int | Literal["none"]
    """Initial cwnd of each path in full packets (RFC 6928 argues for 10). None: the value of the growth rule, at
    most 4 packets (RFC 9260, section 7.2.1). Expected: 1 to 10000 packets, or none for that of the growth rule.
    Default: "none"."""
    interleaving: bool
    """Sends I-DATA chunks (RFC 8260) if the peer supports them too. Fragments of messages on different streams may
    then alternate, so that a long message does not delay messages on other streams. Default: false."""
    knobs: Mapping[str, Mapping[str, str | float | bool]]
    """Options of the congestion controls: one table for each control."""
    lean_sacks: bool
    """Sends fewer and shorter SACKs, for a narrow return link, if both ends have ``nr_sack``. A receiver without
    ``reneging`` delays a SACK that is long compared with the data that it acknowledges, for at most 25 ms after
    the packet required by ``sack_frequency``. It omits Gap Ack Blocks that earlier SACKs reported. The sender
    sets the I bit (RFC 7053) in slow start, while cwnd is small, and in retransmitted chunks. Default: false."""
    loss_detection: Literal["missing-reports", "rack"]
    """How the sender detects the loss of a chunk before T3-rtx expires. Default: "missing-reports"."""
    max_inbound_streams: int
    """Largest number of inbound streams that the peer may use. Expected: at least 1. Default: 2048."""
    max_init_retransmits: int
    """Most retransmissions in each handshake step (``Max.Init.Retransmits``). Default: 8."""
    mtu: str
    """Path MTU, IP header included; with ``pmtud``, the MTU of the interface. Expected: 576 to 65535 bytes.
    Default: "1500 B"."""
    nat_friendly: bool
    """True if our addresses are behind NATs. A request to add an address is then sent from this address, and
    contains the wildcard address (INET: ``natFriendly``). Default: false."""
    nr_sack: bool
    """Acknowledges with NR-SACK chunks, which name the data that will never be reneged on, if the peer supports
    them too (draft-natarajan-tsvwg-sctp-nrsack). Default: false."""
    outbound_streams: int
    """Number of outbound streams that we request. Expected: at least 1. Default: 10."""
    pacing: bool
    """Spreads the packets of each path over its round-trip time, under every congestion control. The rate is that
    of the control or, if it has none, 2 cwnd/SRTT below half of ssthresh and 1.2 cwnd/SRTT above, as in Linux.
    In congestion avoidance it is at most 5/4 of the most that the path delivered in one of its last ten round
    trips. New data that is paced is not limited to ``max_burst`` packets. Default: false."""
    packet_drop_reports: bool
    """Reports packets that arrive with a wrong checksum. Retransmits the chunks of packets that the peer reports,
    without a reduction of cwnd. Both ends must support these reports (draft-stewart-sctp-pktdrprep-16; INET:
    ``packetDrop``). Default: false."""
    paths: Literal["addresses", "pairs", "same-subnet"]
    """Definition of a path: an address of the peer, or a pair of a local and a remote address. Default:
    "addresses"."""
    pmtud: bool
    """Finds the MTU of each path by probes, up to ``mtu`` (DPLPMTUD, RFC 8899). Otherwise each path has the MTU
    ``mtu``, unless the application sets another one. Default: false."""
    pr_sctp: bool
    """Abandons messages by their lifetime, number of retransmissions or priority, if the peer supports it (PR-
    SCTP, RFC 3758, RFC 7496). Otherwise every message is reliable, whatever its policy. Default: false."""
    profile: Literal["standard", "recommended"]
    """The values of options that the set leaves out: those of RFC 9260, or those for real use over several paths.
    The defaults in this schema are those of "standard". Default: "standard"."""
    receive_accounting: Literal["payload", "chunk", "packet"]
    """Bytes that are counted for one chunk in the receive buffer. Default: "payload"."""
    receive_buffer: str
    """Receive buffer, advertised as a_rwnd. ``auto``: twice the bytes that the application read and that waited
    for missing chunks in the last round-trip time, within ``buffer_budget``. Expected: 1500 to 4294967295
    bytes, or auto. Default: "1048576 B"."""
    reneging: bool
    """A full receive buffer reneges on data above a gap to make room for a chunk that closes the gap (RFC 9260,
    section 6.2). Otherwise all acknowledged data is kept. Default: true."""
    resume: Literal["off", "return", "full"]
    """Which paths begin near the rate that an earlier path between their addresses had (RFC 9959). It has no
    effect with the control bbr. Default: "off"."""
    rp_min: int
    """Lower bound of CMT/RP's ssthresh over all paths, in MTU (paper 000, equation 5: 4). Expected: at least 1.
    Default: 4."""
    sack_path: Literal["standard", "primary", "round-robin", "smallest-srtt", "fastest"]
    """The path on which acknowledgements are sent. Default: "standard"."""
    send_buffer: str
    """Send buffer: bytes not yet sent plus bytes not yet cumulatively acknowledged. ``auto``: twice the bytes not
    yet cumulatively acknowledged. Expected: at least 1 byte, or auto. Default: "1048576 B"."""
    send_queue: int | Literal["none"]
    """Messages that may wait for their first transmission. None: only ``send_buffer`` limits them. Expected: at
    least 1, or none for no limit in messages. Default: "none"."""
    stream_reset: bool
    """Allows resets and additions of streams if the peer allows them too (RE-CONFIG, RFC 6525; INET:
    ``streamReset``). Default: false."""
    stream_scheduler: Literal["fcfs", "rr", "rr-packet", "priority", "fair", "wfq"]
    """The order in which streams send (RFC 8260, section 3). Default: "fcfs"."""
    stream_values: Sequence[int]
    """Values of the streams, by stream number, for the stream schedulers ``priority`` (the stream with the lowest
    value sends first; the default is 0) and ``wfq`` (weights, by default 1). Expected: at least 1 each for
    ``wfq``. Default: []."""
    sws_limit: str
    """A receive window below this limit is advertised as zero, and a lower a_rwnd of the peer counts as zero (RFC
    1122, section 4.2.3.3). Zero turns the avoidance of silly windows off. Expected: less than
    ``receive_buffer``. Default: "1500 B"."""
    timestamps: Literal["off", "chunk", "metadata"]
    """How packets carry their send time, so that a peer that supports it reports one-way delays. Default: "off"."""
    valid_cookie_life: str
    """Lifetime of a state cookie (``Valid.Cookie.Life``). Expected: more than zero. Default: "60 s"."""
    cmt: Cmt
    """Concurrent multipath transfer."""
