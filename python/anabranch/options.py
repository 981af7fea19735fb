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
    enabled: bool
    """Sends data on all active paths at once, not on the primary path only (``allowCMT``). Default: false."""
    groups: Sequence[int]
    """Group of each path, by their numbers; further paths are in group 0. A coupled congestion control couples the
    paths of one group, which are known to share a bottleneck, and no others. Default: []."""
    keep_room: bool
    """Sends no new chunks into the part of the peer's receive window that lost chunks need. RFC 9260, section
    6.2.1, rule C, counts that part as free. With one path cwnd then holds new chunks back; with several it does
    not, and the peer drops them if its buffer is full. Default: false."""
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
    """The path that is served first (``cmtSendAllVariant``). Default: "smallest-last-transmission"."""
    recovery_by_cuc: bool
    """Fast recovery of a path ends with its own pseudo-cumulative TSN, whatever the CUC variant. Otherwise it ends
    only with the cumulative TSN of the association. Default: true."""
    reinjection: Literal["none", "blocked", "silent", "both"]
    """When paths with room carry copies of overdue chunks of another path. Default: "none"."""
    rescheduling: Literal["none", "sender", "receiver", "both"]
    """The buffers for which chunk rescheduling works: once half of such a buffer waits for the earliest chunk,
    that chunk may move to another path. The cwnd of its old path is then cut as for a loss, and no cwnd grows
    by the chunk. Default: "none"."""
    rtt_heuristic: bool
    """T3 marks only chunks that were sent at least one smoothed RTT ago. Default: true."""
    rtx: Literal["same", "asap", "cwnd", "ssthresh", "lossrate", "fastest", "alternate"]
    """The path on which lost chunks are retransmitted. Default: "alternate"."""
    sfr: bool
    """Split fast retransmission: a missing report counts only if newer data of the same path was acknowledged
    (``cmtUseSFR``). Default: true."""
    smart_fast_rtx: bool
    """Acknowledgements of chunks that timed out make no missing reports on the path of the retransmission.
    Default: true."""
    smart_t3: bool
    """T3 restarts when the oldest chunk of its path is acknowledged, not only when the cumulative TSN passes it.
    Default: true."""
    split_by: Literal["queued", "outstanding"]
    """What counts against a path's share of a divided buffer. Default: "queued"."""


class AssociationOptions(TypedDict, total=False):
    """Options that can change while an association exists."""

    association_max_retrans: int
    """Consecutive errors after which the association is given up (``Association.Max.Retrans``). Best at most
    ``path_max_retrans`` times the addresses of the peer: otherwise all of them may be inactive while the
    association goes on (RFC 9260, section 8.2). Expected: at least 1. Default: 10."""
    hb_interval: str
    """Time between heartbeats on an idle path (``HB.interval``). None: no heartbeats but those that verify
    unconfirmed addresses; an association without data then never notices that its peer is gone. At most 15 s on
    a path in UDP, so that a NAT keeps the port. Expected: more than zero, or none for no heartbeats. Default:
    "30 s"."""
    max_burst: int
    """Packets that a path sends at one instant (``Max.Burst``); an acknowledgement of data on the path lets it
    send as many again. Expected: at least 1. Default: 4."""
    nagle: bool
    """Nagle's algorithm: while data is outstanding only full packets are sent (RFC 9260, section 6.10), unless a
    packet is sent in any case, as one with a SACK is. Default: false."""
    path_max_retrans: int
    """Consecutive errors after which a path is inactive (``Path.Max.Retrans``). Default: 5."""
    potentially_failed: int | Literal["none"]
    """Consecutive errors after which a path is potentially failed (``PotentiallyFailed.Max.Retrans``, RFC 7829):
    it is probed once per RTO and carries no data while another path is active. None: no path ever is. Expected:
    at most ``path_max_retrans``, or none. Default: "none"."""
    primary_switchover: int | Literal["none"]
    """Consecutive errors after which another path becomes the primary path (``Primary.Switchover.Max.Retrans``,
    RFC 7829, section 5). None: never. Expected: at least ``potentially_failed``, or none. Default: "none"."""
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
    """Bytes that one chunk counts as in flight. Default: "chunk"."""
    allow_reset: Literal["none", "streams", "add", "all"]
    """What the peer may do with ``stream_reset`` without being asked. Default: "none"."""
    asconf: bool
    """Lets addresses join and leave an association by ASCONF, if the peer has it too (RFC 5061; INET: ``addIP``).
    Needs ``auth``. Expected: false unless ``auth`` is true. Default: false."""
    auth: bool
    """Authenticates chunks that the peer wants authenticated, and accepts those in ``auth_chunks`` only so, if the
    peer has AUTH too (RFC 4895; INET: ``auth``). Default: false."""
    auth_chunks: Sequence[int]
    """Types of the chunks that must come authenticated, beside those of ASCONF if ``asconf`` is on (INET:
    ``chunks``). 0 is DATA, 3 SACK. Expected: at most 32 chunk types, and none of 1, 2, 14 and 15. Default: []."""
    bundling: bool
    """Bundles several chunks into a packet (RFC 9260, section 6.10), also DATA behind a SACK or a COOKIE ECHO.
    Default: true."""
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
    """Explicit congestion notification (draft-stewart-tsvwg-sctpecn-07): a router may mark packets instead of
    dropping them, if the peer has it, too. Default: "off"."""
    fill_packets: bool
    """A message too long for one packet begins in the room that the message before it leaves in its last packet.
    So successive long messages make full packets only, of one length. Default: false."""
    growth: Literal["rfc2960", "rfc4960", "rfc9260"]
    """The edition of SCTP whose rules drive the growth of cwnd: RFC 2960 and RFC 4960 require that the cumulative
    TSN advances, RFC 9260 does not. Default: "rfc9260"."""
    idle_threshold: Literal["window", "kept"]
    """ssthresh of a path after an idle RTO. Default: "window"."""
    init_rto_max: str
    """Upper bound of the timeout of INIT and COOKIE ECHO (``sinit_max_init_timeo`` of RFC 6458, section 8.1.3).
    None: ``rto_max``. Expected: more than zero, or none for ``rto_max``. Default: "none"."""
    initial_ssthresh: str
    """ssthresh of each path before its first loss. None: the peer's a_rwnd, the most that RFC 9260, section 7.2.1
    suggests. Default: "none"."""
    initial_window: int | Literal["none"]
    """Initial cwnd of each path in full packets (RFC 6928 argues for 10). None: that of the growth rule, at most 4
    packets (RFC 9260, section 7.2.1). Expected: 1 to 10000 packets, or none for that of the growth rule.
    Default: "none"."""
    interleaving: bool
    """Announces I-DATA chunks (RFC 8260). If the peer does so too, fragments of messages of different streams may
    alternate, so that a long message does not delay those of other streams. Default: false."""
    knobs: Mapping[str, Mapping[str, str | float | bool]]
    """Options of the congestion controls, a table for each."""
    lean_sacks: bool
    """SACKs that fit a narrow return link, if the peer has ``nr_sack``, too. As receiver without ``reneging``: a
    SACK waits until it is short for the data that it acknowledges, at most 10 ms more than ``sack_frequency``
    says, and leaves out gap blocks that were told of before. As sender: asks for a SACK at once (I bit, RFC
    7053) where its window has to grow or is small or the window of the peer is full, and raises the burst limit
    to what a SACK acknowledges. Default: false."""
    loss_detection: Literal["missing-reports", "rack"]
    """How the sender finds that a chunk is lost before T3 expires. Default: "missing-reports"."""
    max_inbound_streams: int
    """Inbound streams the peer may use. Expected: at least 1. Default: 2048."""
    max_init_retransmits: int
    """Attempts at each handshake step (``Max.Init.Retransmits``). Default: 8."""
    mtu: str
    """Path MTU, with the IP header; with ``pmtud`` that of the interface. Expected: 576 to 65535 bytes. Default:
    "1500 B"."""
    nat_friendly: bool
    """Our addresses are behind NATs: requests to add one leave from it and name no address (INET:
    ``natFriendly``). Default: false."""
    nr_sack: bool
    """Acknowledges with NR-SACK chunks, which name the data that will never be reneged on, if the peer does so too
    (draft-natarajan-tsvwg-sctp-nrsack). Default: false."""
    outbound_streams: int
    """Outbound streams requested. Expected: at least 1. Default: 10."""
    pacing: bool
    """Spreads the packets of each path over its round-trip time under every congestion control. The rate is that
    of the control or, if it has none, cwnd/SRTT times 2 below half of ssthresh and times 1.2 above, as in
    Linux, and in congestion avoidance at most 5/4 of the most that the path delivered in its last ten round
    trips; in slow start after a timeout nothing is paced then. New data that is paced is not limited to
    ``max_burst`` packets. Default: false."""
    packet_drop_reports: bool
    """Reports packets that arrive with a wrong checksum, and retransmits what the peer reports without reducing a
    window, if the peer does so too (draft-stewart-sctp-pktdrprep-16; INET: ``packetDrop``). Default: false."""
    paths: Literal["addresses", "pairs", "same-subnet"]
    """What a path is: an address of the peer, or a pair of an address of ours and one of the peer. Default:
    "addresses"."""
    pmtud: bool
    """Finds the MTU of each path by probes, up to ``mtu`` (DPLPMTUD, RFC 8899). Otherwise each path has the MTU
    ``mtu``, unless the application sets another one. Default: false."""
    pr_sctp: bool
    """Messages may be given up, by their lifetime, number of retransmissions or priority, if the peer supports it
    (PR-SCTP, RFC 3758, RFC 7496). Otherwise every message is reliable whatever it asks for. Default: false."""
    profile: Literal["standard", "recommended"]
    """The values of options that the set leaves out: those of RFC 9260, or those for real use over several paths.
    The defaults in this schema are those of "standard". Default: "standard"."""
    receive_accounting: Literal["payload", "chunk", "packet"]
    """Bytes that one chunk counts as in the receive buffer. Default: "payload"."""
    receive_buffer: str
    """Receive buffer, advertised as a_rwnd. Expected: 1500 to 4294967295 bytes. Default: "1048576 B"."""
    reneging: bool
    """A full receive buffer reneges on data above a gap to make room for a chunk that closes the gap (RFC 9260,
    section 6.2). Otherwise all acknowledged data is kept. Default: true."""
    rp_min: int
    """Lower bound of CMT/RP's ssthresh over all paths, in MTU (paper 000, equation 5: 4). Expected: at least 1.
    Default: 4."""
    sack_path: Literal["standard", "primary", "round-robin", "smallest-srtt", "fastest"]
    """The path on which acknowledgements are sent. Default: "standard"."""
    send_buffer: str
    """Send buffer: bytes not yet sent plus bytes not yet cumulatively acknowledged. Expected: at least 1 byte.
    Default: "1048576 B"."""
    send_queue: int | Literal["none"]
    """Messages that may wait for their first transmission. None: only ``send_buffer`` limits them. Expected: at
    least 1, or none for no limit in messages. Default: "none"."""
    stream_reset: bool
    """Streams can be reset and added if the peer announces that, too (RE-CONFIG, RFC 6525; INET's
    ``streamReset``). Default: false."""
    stream_scheduler: Literal["fcfs", "rr", "rr-packet", "priority", "fair", "wfq"]
    """The stream that sends next (RFC 8260, section 3). Default: "fcfs"."""
    stream_values: Sequence[int]
    """Values of the streams, by their numbers, for the stream schedulers ``priority`` (the least is served first;
    further streams have 0) and ``wfq`` (weights; further streams have 1). Expected: at least 1 each for
    ``wfq``. Default: []."""
    sws_limit: str
    """A window below this is advertised, and taken, as closed (RFC 1122, section 4.2.3.3). Zero turns silly window
    avoidance off. Expected: less than ``receive_buffer``. Default: "1500 B"."""
    timestamps: Literal["off", "chunk", "metadata"]
    """How the peer learns when packets were sent, so that it can report one-way delays if it supports that.
    Default: "off"."""
    valid_cookie_life: str
    """Lifetime of a state cookie (``Valid.Cookie.Life``). Expected: more than zero. Default: "60 s"."""
    cmt: Cmt
    """Concurrent multipath transfer."""
