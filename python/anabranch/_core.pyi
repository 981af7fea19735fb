"""The compiled part of Anabranch."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from ipaddress import IPv4Address, IPv6Address
from os import PathLike
from typing import Generic, Literal, Self, TypeAlias, TypeVar, final, overload

__version__: str

_Address: TypeAlias = str | IPv4Address | IPv6Address
_T = TypeVar("_T")
_Bytes: TypeAlias = bytes | bytearray | memoryview

UDP_PORT: int
"""The UDP port that IANA assigned to SCTP over UDP (RFC 6951)."""

class ScenarioError(ValueError):
    """A scenario is wrong; the message names file, line, column, what was expected and the nearest right word."""

class SimulationError(RuntimeError):
    """A run or a sweep failed."""

class ConfigError(ValueError):
    """An option that does not exist or cannot work."""

class WouldBlockError(BlockingIOError):
    """The send buffer is full; a ``writable`` event tells when it is not."""

class AssociationClosedError(ConnectionError):
    """There is no such association, or it is closing."""

class ConnectError(ConnectionError):
    """An association did not begin: there is one with the peer, there are too many, or the arrival is gone."""

class ConnectionLostError(ConnectionError):
    """The peer no longer answers on any path, or it broke the protocol."""

class NotDeliveredError(ConnectionResetError):
    """A message was given up, or lost because the peer began anew or shut the connection down."""

class EndpointClosedError(ConnectionError):
    """The endpoint or the listener was closed."""

def with_values(text: str, values: list[tuple[str, str]]) -> str:
    """A scenario with other values for some keys: pairs of a key such as ``link.a-b.rate`` and its value as TOML."""

def axes(text: str, name: str) -> list[tuple[str, list[str]]]:
    """The axes of variation of a scenario, each with its values as a scenario names them."""

def run(text: str, name: str, seed: int | None, replica: int, out: str | None) -> tuple[bytes, bytes, str]:
    """Runs a scenario once. Returns scalars and series as Parquet, and the manifest as JSON.

    With ``out``, tables, manifest and captures are also written to that folder.
    """

def sweep(
    text: str,
    name: str,
    replicas: int,
    jobs: int | None,
    seed: int | None,
    out: str,
    captures: bool,
    until: tuple[str, int] | None,
    cluster: Callable[..., Iterator[int]] | None,
    progress: Callable[[int, int, float | None], object] | None,
) -> None:
    """Runs a sweep and writes its tables and its manifest to ``out``.

    ``cluster`` performs the runs elsewhere. It is called with the arguments of ``Plan``, the runs as pairs of a
    combination and a replica with their hash, and the folder of finished runs. It yields the number of finished runs
    repeatedly until all are finished.
    """

@final
class Plan:
    """A scenario with its variations. A worker of a cluster performs single runs of it."""

    def __new__(cls, text: str, name: str, seed: int | None, captures: bool) -> Self: ...
    def run(self, combination: int, replica: int, out: str) -> str:
        """Simulates one replica of a combination, stores the run below the folder ``out``, and returns its hash."""

def merge(into: str, others: list[str]) -> tuple[int, int, int, int, str | None]:
    """Merges folders of sweeps into one.

    Returns the numbers of runs that were copied, were in the folder already, were damaged, and are in the tables,
    and the reason if there are no tables.
    """

def measure(arguments: Sequence[str], progress: Callable[[str], object] | None) -> tuple[bytes, bytes, str]:
    """Measures as ``anabranch measure`` does with these arguments.

    Returns scalars and series as Parquet, and the report as JSON. ``progress`` gets each interval as JSON.
    """

def student_t(degrees: int, confidence: float) -> float:
    """Half width of the interval that contains the fraction ``confidence`` of Student's t-distribution."""

def latency_grade(added: float) -> str:
    """The grade for the latency ``added`` by a load, in seconds."""

def scenario_schema() -> str:
    """JSON Schema of scenario files."""

def cli(
    arguments: Sequence[str],
    connect: Callable[[str], object] | None = None,
    declared: Sequence[tuple[str, Sequence[str], str | None, str, Sequence[str]]] = (),
) -> int:
    """Runs the command with its arguments, without the name of the program, and returns the exit code.

    ``connect`` returns the function that performs runs on the cluster at an address, as ``sweep`` expects it.
    ``declared`` are the arguments of subcommands in Python: subcommand, names of the option, placeholder of the
    value, help text, and allowed values.
    """

@final
class Transmit:
    """A packet to send, and what its IP and UDP headers must say."""

    source: IPv4Address | IPv6Address
    """Source address: an address of the endpoint."""
    destination: IPv4Address | IPv6Address
    """Destination address."""
    udp_port: int
    """Destination port of the UDP header that encapsulates the packet; 0: no UDP header."""
    ecn: int
    """ECN field of the IP header, 0 to 3."""
    may_fragment: bool
    """Whether routers may fragment the packet (DF off)."""
    data: bytes
    """The SCTP packet."""

@final
class Received:
    """A message received, or the next part of one."""

    data: bytes
    """The bytes."""
    stream: int
    """Number of the stream."""
    ssn: int
    """Stream sequence number; 0 if unordered."""
    mid: int
    """Number of the message among the ordered or among the unordered messages of its stream; 0 if unordered and not
    interleaved."""
    tsn: int
    """TSN of the first fragment."""
    ppid: int
    """Payload protocol identifier as the peer set it."""
    unordered: bool
    """Whether the message was sent outside the order of its stream."""
    end_of_record: bool
    """Whether ``data`` ends the message; false: more of it can be read."""
    aborted: bool
    """Whether the message ends here, incomplete, because the peer abandoned it after parts of it were read."""

@final
class Arrival:
    """A peer that has proved its address and requests an association."""

    id: int
    """Number of the arrival, which ``accept`` and ``refuse`` take."""
    peer_addresses: list[IPv4Address | IPv6Address]
    """Addresses of the peer: first the source of its packet, then those that it listed."""
    peer_port: int
    """SCTP port of the peer."""
    udp_port: int
    """UDP port of the peer; 0: its packets are not encapsulated."""
    local_address: IPv4Address | IPv6Address
    """Address of the endpoint to which the peer sent its packet."""
    outbound_streams: int
    """Streams that the endpoint may use."""
    inbound_streams: int
    """Streams that the peer may use."""

@final
class Path:
    """The state of a path and its counters: windows in bytes, times in seconds."""

    id: int
    """Number of the path, which ``send`` takes as ``path``; it stays the same as long as the association exists."""
    remote: IPv4Address | IPv6Address
    """Address of the peer."""
    local: IPv4Address | IPv6Address
    """Address of the endpoint."""
    udp_port: int
    """UDP port of the peer at ``remote``; 0: packets are not encapsulated."""
    state: Literal["unconfirmed", "active", "potentially-failed", "inactive"]
    """State of the path."""
    silent: bool
    """True if the path did not answer in time: new data avoids it while another path is usable."""
    primary: bool
    """Whether it is the primary path."""
    cwnd: int
    """Congestion window."""
    ssthresh: int | None
    """Slow start threshold; None before it is set."""
    in_flight: int
    """Flight size: bytes in flight."""
    srtt: float | None
    """Smoothed round-trip time; None before the first measurement."""
    rto: float
    """Retransmission timeout."""
    errors: int
    """Consecutive errors."""
    mtu: int
    """Path MTU, with the IP header."""
    data_packets: int
    """Packets sent with user data."""
    user_bytes: int
    """User bytes sent, with retransmissions."""
    packet_bytes: int
    """Bytes of all packets sent, without IP and UDP headers."""
    received_bytes: int
    """Bytes of packets received on this path, without IP and UDP headers."""
    ack_bytes: int
    """Bytes of packets sent with a SACK and without user data, with the IP header."""
    fast_retransmissions: int
    """Chunks retransmitted before an expiry of T3-rtx."""
    needless_retransmissions: int
    """Chunks that fast retransmission took for lost although they had arrived; counted only with
    `loss_detection="rack"`."""
    timer_retransmissions: int
    """Chunks retransmitted after an expiry of T3-rtx."""
    rescheduled: int
    """Chunks sent again on this path, before they counted as lost, to free a buffer."""
    copies: int
    """Chunks in flight on another path of which this path sent a copy."""
    fast_recoveries: int
    """Fast recoveries."""
    undone_recoveries: int
    """Fast recoveries undone because all their retransmissions were needless."""
    ecn_reductions: int
    """Reductions of the congestion window because the peer reported marks of congestion (ECN)."""
    reported_drops: int
    """Chunks that the peer reported as dropped for a wrong checksum."""
    timeouts: int
    """Expiries of T3-rtx."""
    limited_by: dict[str, float]
    """Times for which each reason (such as cwnd) kept the sender from sending more on this path."""
    blocks: float
    """Time for which the sender was limited by head-of-line blocking because of a chunk last sent on this path."""

@final
class Stats:
    """Counters of an association, and its state now."""

    packets_sent: int
    """Packets sent."""
    packets_received: int
    """Packets received."""
    data_packets_received: int
    """Packets received with user data."""
    chunks_received: int
    """DATA chunks received, duplicates included."""
    user_bytes_received: int
    """User bytes received and kept."""
    sacks_sent: int
    """SACK chunks sent."""
    duplicates: int
    """DATA chunks received more than once."""
    dropped: int
    """DATA chunks dropped because the receive buffer was full."""
    reneged: int
    """DATA chunks acknowledged by a gap ack block and dropped later (reneged on)."""
    marked_packets: int
    """Packets received with user data and the mark "congestion experienced" (ECN)."""
    buffered: int
    """Bytes that wait for their first transmission, and sent ones that the peer may still renege on."""
    unsent_messages: int
    """Messages that wait for their first transmission."""
    outstanding_chunks: int
    """Chunks sent and not cumulatively acknowledged."""
    peer_rwnd: int
    """The peer's receive window as the sender knows it, in bytes."""
    errors: int
    """Consecutive errors."""
    unauthenticated: int
    """Chunks discarded because no valid AUTH chunk authenticated them."""
    reset_requests: int
    """Requests sent to reset or add streams, retransmissions included."""
    resets: int
    """Resets performed, of streams of either direction or of the association."""
    limited_by: dict[str, float]
    """Times for which each reason (such as cwnd) kept the sender from sending more, since its first message."""

@final
class EndpointStats:
    """Counters of an endpoint, over all its associations, and the number of associations now."""

    associations: int
    """Associations that have not ended."""
    packets_received: int
    """Packets given to ``handle``, including those that were discarded."""
    bytes_received: int
    """Bytes of the packets received, without IP and UDP headers."""
    packets_sent: int
    """Packets that ``poll_transmit`` returned."""
    bytes_sent: int
    """Bytes of the packets sent, without IP and UDP headers."""

@final
class Discarded:
    """Packets that an endpoint discarded, whole or in part, by cause."""

    too_short: int
    """Packets shorter than the common header."""
    bad_checksum: int
    """Packets with a wrong CRC32c."""
    wrong_port: int
    """Packets for another SCTP port, or from port 0."""
    wrong_address: int
    """Packets from or to an address that is not unicast, or of a family in which the endpoint has no address."""
    encapsulated: int
    """Packets in UDP although the endpoint has no ``encapsulation``."""
    wrong_tag: int
    """Packets from a peer's address and ports with another verification tag than the peer's packets have."""
    wrong_channel: int
    """Packets with the tag of an association, but from another peer, as the keys of the encryption show."""
    out_of_the_blue: int
    """Packets out of the blue: they belong to no association."""
    malformed: int
    """Packets with a malformed chunk; the endpoint ignored it and the chunks after it."""
    refused: int
    """INIT and COOKIE ECHO chunks that were answered with ABORT, or not answered."""
    bad_cookie: int
    """COOKIE ECHO chunks with a cookie that the endpoint did not sign, or from an address that the cookie does not
    name."""
    stale_cookie: int
    """COOKIE ECHO chunks with a cookie past its lifetime."""
    unanswered: int
    """Packets left unanswered because too many answers were waiting to be sent."""

@final
class Event:
    """An event of an association. ``kind`` says what happened. Fields that do not belong to that kind are None."""

    association: int
    """Number of the association."""
    kind: Literal[
        "connected",
        "restarted",
        "readable",
        "writable",
        "path-changed",
        "heartbeat-answered",
        "primary-changed",
        "mtu-changed",
        "delivered",
        "send-failed",
        "peer-address-added",
        "peer-address-removed",
        "address-change",
        "auth-key-unused",
        "streams-reset",
        "streams-added",
        "peer-error",
        "shutdown-received",
        "closed",
    ]
    """Kind of the event."""
    outbound_streams: int | None
    """connected: streams that the endpoint may use."""
    inbound_streams: int | None
    """connected: streams that the peer may use."""
    peer_addresses: list[IPv4Address | IPv6Address] | None
    """connected: addresses of the peer, in the order of the paths."""
    peer_port: int | None
    """connected: SCTP port of the peer."""
    rtt: float | None
    """heartbeat-answered: round-trip time in seconds."""
    address: IPv4Address | IPv6Address | None
    """path-changed, primary-changed, mtu-changed, heartbeat-answered, peer-address-added, peer-address-removed:
    address of the peer. address-change: local address."""
    change: Literal["add", "delete", "set-primary"] | None
    """address-change: change of the address that was requested from the peer."""
    accepted: bool | None
    """address-change: whether the peer made the change."""
    key: int | None
    """auth-key-unused: identifier of the key."""
    state: Literal["unconfirmed", "active", "potentially-failed", "inactive"] | None
    """path-changed: state of the path now."""
    incoming: bool | None
    """streams-reset: whether streams on which the peer sends were reset."""
    outgoing: bool | None
    """streams-reset: whether streams on which the endpoint sends were reset. If ``incoming`` is true, too, all
    streams and the TSNs were reset."""
    streams: list[int] | None
    """streams-reset: the streams; an empty list means all."""
    more_incoming: int | None
    """streams-added: number of additional streams that the peer may use."""
    more_outgoing: int | None
    """streams-added: number of additional streams that the endpoint may use."""
    result: Literal["performed", "denied", "wrong-stream", "failed", "given-up"] | None
    """streams-reset, streams-added: performed, denied, wrong-stream, failed or given-up."""
    stream: int | None
    """send-failed: stream of the message."""
    tsn: int | None
    """send-failed: TSN of the chunk; None if it was never sent."""
    length: int | None
    """send-failed: number of bytes that the peer did not acknowledge."""
    data: bytes | None
    """send-failed: the bytes that the peer did not acknowledge."""
    ppid: int | None
    """send-failed: payload protocol identifier of the message."""
    unordered: bool | None
    """send-failed: whether the message was unordered."""
    context: int | None
    """send-failed: the number given with the message."""
    sent: bool | None
    """send-failed: whether a part of the message was sent, so that the peer may have it."""
    abandoned: bool | None
    """send-failed: whether the message was abandoned because of its reliability; the association continues."""
    message: int | None
    """delivered: number of the first of the tracked messages. send-failed: number of the message if it is tracked."""
    last_message: int | None
    """delivered: number of the last of the tracked messages."""
    path: int | None
    """primary-changed, mtu-changed: number of the path."""
    mtu: int | None
    """mtu-changed: path MTU in bytes, IP header included."""
    causes: bytes | None
    """peer-error, and closed by an ABORT of the peer: the error causes as received."""
    reason: (
        Literal[
            "graceful",
            "local-abort",
            "peer-abort",
            "connect-timeout",
            "unreachable",
            "duplicate",
            "too-many-errors",
            "protocol-violation",
        ]
        | None
    )
    """closed: how the association ended."""
    detail: str | None
    """closed with ``protocol-violation``: what the peer did."""
    duplicate_of: int | None
    """closed with ``duplicate``: the association with the same peer that remains."""

class Endpoint:
    """An SCTP endpoint without sockets, threads or a clock."""

    addresses: list[IPv4Address | IPv6Address]
    """Addresses of the endpoint."""
    port: int
    """SCTP port of the endpoint."""

    def __new__(
        cls,
        addresses: Iterable[_Address],
        port: int,
        seed: int | _Bytes | None,
        checksum: bool,
        max_associations: int,
        encapsulation: int | None,
        options: str,
    ) -> Self: ...
    def listen(self, who: Literal["off", "accept", "ask"] | bool = "accept", *, waiting: int = 64) -> None:
        """Sets who may begin associations with this endpoint.

        ``"accept"`` or True: every peer. ``"off"`` or False: no peer; an INIT is answered with ABORT. ``"ask"``:
        each peer for which ``accept`` is called after ``poll_arrival`` returned it. At most ``waiting`` arrivals
        wait for that decision; further ones are not answered, and the peer asks again.
        """

    def _connect(self, now: int, port: int, addresses: Iterable[_Address], options: str) -> int: ...
    def poll_arrival(self) -> Arrival | None:
        """The next peer that requests an association, or None.

        Each peer is returned once, and only after ``listen("ask")``.
        """

    def _accept(self, now: int, arrival: int, options: str) -> int: ...
    def refuse(self, arrival: int, reason: _Bytes = b"") -> bool:
        """Refuses an arrival: the peer gets an ABORT with ``reason``. False if the arrival is gone."""

    def handle(
        self, now: int, source: _Address, destination: _Address, packet: _Bytes, *, udp_port: int = 0, ecn: int = 0
    ) -> None:
        """Processes a packet from the network; ignores and counts an invalid one.

        ``source`` and ``destination`` are the addresses of its IP header, ``ecn`` is the ECN field there (0 to 3).
        ``udp_port`` is the source port of the UDP header that encapsulated it; 0: none. ``packet`` begins with the
        SCTP common header.
        """

    def on_icmp(
        self,
        now: int,
        source: _Address | None,
        destination: _Address,
        quoted: _Bytes,
        what: Literal["packet-too-big", "port-unreachable", "protocol-unreachable", "unreachable"],
        *,
        mtu: int | None = None,
        udp_port: int = 0,
    ) -> bool:
        """Processes an ICMP message about a packet that the endpoint sent. False if the message had no effect.

        ``source`` and ``destination`` are the addresses of that packet (``source`` None: unknown), ``udp_port`` is
        the destination port of its UDP header; 0: none. ``quoted`` is the part of that packet that the message
        quotes, from the SCTP common header on: at least 8 bytes with the verification tag of an association, or 20
        bytes of an INIT. Anything else is ignored, since anybody can send such messages.

        ``what``: ``"packet-too-big"`` (with ``mtu``, that of the next link with the IP header; a hint with the
        option ``pmtud``), ``"port-unreachable"``, ``"protocol-unreachable"``, or ``"unreachable"`` for all else. If
        a UDP port or protocol is unreachable while the association waits for the INIT ACK, the address counts as
        refused. Later, and if anything else is unreachable, the message counts as an error of the path.
        """

    def poll_transmit(self, now: int) -> Transmit | None:
        """The next packet to send now, or None. Any later call that changes the endpoint may produce more packets."""

    def poll_timeout(self) -> int | None:
        """The time at which to call ``handle_timeout`` if nothing happens before; None for never."""

    def handle_timeout(self, now: int) -> None:
        """Runs the expired timers; does nothing if no timer has expired."""

    def poll_event(self) -> Event | None:
        """The next event, or None."""

    def send(
        self,
        now: int,
        association: int,
        data: _Bytes,
        *,
        stream: int = 0,
        ppid: int = 0,
        unordered: bool = False,
        immediate_sack: bool = False,
        end_of_record: bool = True,
        path: int | None = None,
        urgent: bool = False,
        tracked: bool = False,
        reliability: dict[str, float] | None = None,
        context: int = 0,
    ) -> int | None:
        """Queues a message, or with ``end_of_record`` false the next part of one.

        Returns the number of a ``tracked`` message, counted from 0. One event ``delivered`` or ``send-failed`` will
        name it.

        ``stream``: number of the stream. ``ppid``: payload protocol identifier. ``unordered``: the peer may deliver
        it before earlier messages of the stream. ``immediate_sack``: asks the peer to acknowledge the message
        without delay. ``path``: the ``Path.id`` of the path for the first transmission; with None the endpoint
        chooses. ``urgent``: a user waits for the message, so that neither pacing nor Nagle's rule delays it.
        ``reliability``: when the message is abandoned, a dict with one of ``lifetime`` (in seconds),
        ``retransmissions`` and ``priority``; both ends need ``pr_sctp``. ``context``: a number that the event
        ``send-failed`` reports.

        Raises ``WouldBlockError`` when the send buffer is full, ``AssociationClosedError``, or ``ValueError`` for a
        message that can never be sent.
        """

    def receive(self, now: int, association: int, limit: int | None = None) -> Received | None:
        """The next message, or at most ``limit`` bytes of it; None if there is none.

        Messages that arrived before the association ended can be read after the closed event.
        """

    def next_message_length(self, association: int) -> int | None:
        """Bytes of the next message, or of what has arrived of a large one; None if there is nothing to read."""

    def options(self, association: int) -> dict[str, str | int | bool] | None:
        """The options that can change while the association exists, by name; None when it is closed."""

    def _set_options(self, now: int, association: int, options: str) -> bool: ...
    @overload
    def stats(self, association: None = None, *, now: int | None = None) -> EndpointStats: ...
    @overload
    def stats(self, association: int, *, now: int | None = None) -> Stats | None:
        """The counters of an association, or without ``association`` those of the endpoint.

        The times in ``limited_by`` end at ``now``, or without it at the latest time that was passed to a call. None
        when the association is closed and everything was read.
        """

    def discarded(self) -> Discarded:
        """The packets discarded so far, by cause."""

    def peer_port(self, association: int) -> int | None:
        """The SCTP port of the peer; None when the association is closed."""

    def shutdown(self, now: int, association: int) -> None:
        """Ends the association once everything is delivered."""

    def abort(self, now: int, association: int, reason: _Bytes = b"") -> None:
        """Ends the association at once, and tells the peer ``reason``.

        Received messages that were not read are lost.
        """

    def state(
        self, association: int
    ) -> (
        Literal[
            "cookie-wait",
            "cookie-echoed",
            "established",
            "shutdown-pending",
            "shutdown-sent",
            "shutdown-received",
            "shutdown-ack-sent",
        ]
        | None
    ):
        """The state of the association; None when it is closed."""

    def associations(self) -> list[int]:
        """The numbers of all associations that have not ended."""

    def paths(self, association: int, *, now: int | None = None) -> list[Path]:
        """The paths of an association in the order of their numbers; empty when it is closed.

        Times end at ``now``, or without it at the latest time that was passed to a call.
        """

    def set_primary(self, association: int, address: _Address) -> bool:
        """Makes the path to ``address`` the primary path. False if there is no such path, or it is not confirmed."""

    def set_stream_value(self, association: int, stream: int, value: int) -> bool:
        """Sets the value of a stream for the stream scheduler.

        The value is the priority for the scheduler ``priority`` and the weight for ``wfq``. False if there is no
        such stream, or the weight is 0.
        """

    def heartbeat(self, now: int, association: int, address: _Address) -> bool:
        """Sends a HEARTBEAT on the path to ``address``; an event reports the answer. False if there is no such path."""

    def reset_streams(
        self,
        now: int,
        association: int,
        direction: Literal["outgoing", "incoming", "both"] = "outgoing",
        streams: Sequence[int] | None = None,
    ) -> None:
        """Begins to reset streams: all, or those listed. ``direction`` is ``outgoing``, ``incoming`` or ``both``.

        An event ``streams-reset`` reports the result for each direction. Messages queued meanwhile are sent after
        the reset. Raises ValueError, with an explanation, if nothing was begun.
        """

    def add_streams(self, now: int, association: int, outgoing: int, incoming: int) -> None:
        """Begins to add streams: ``outgoing`` on which the endpoint sends, ``incoming`` on which the peer sends.

        An event ``streams-added`` reports the result for each direction. Raises ValueError if nothing was begun.
        """

    def reset_association(self, now: int, association: int) -> None:
        """Begins to reset all streams of both directions, and the TSNs.

        An event ``streams-reset`` reports the result. Raises ValueError if nothing was begun.
        """

    def set_path_mtu(self, now: int, association: int, address: _Address, mtu: int) -> bool:
        """Sets the path MTU towards ``address``, in bytes with the IP header.

        False if there is no such path, or ``mtu`` is not 576 to 65535.
        """

    def set_remote_port(self, association: int, address: _Address, udp_port: int) -> bool:
        """Sets the UDP port to which packets for ``address`` of the peer are sent; 0: packets are not encapsulated.

        The port is used until a packet from the address has another source port. False if there is no such path, or
        the endpoint has no ``encapsulation``.
        """

    def add_local_address(self, now: int, association: int, address: _Address) -> bool:
        """Asks the peer by ASCONF to add a local address to an association, for example when an interface comes up.

        An event reports the answer; then heartbeats confirm the new paths. False if the association has the address
        already, has 16 addresses, is not established, or its peer has no ASCONF.
        """

    def set_peer_primary(self, now: int, association: int, address: _Address) -> bool:
        """Asks the peer by ASCONF to use a local address as its primary path.

        An event reports the answer. False if the association does not have the address, is not established, or its
        peer has no ASCONF.
        """

    def set_auth_key(self, association: int, key: int, secret: _Bytes) -> bool:
        """Adds or replaces a key for AUTH. False if the association has ended or has 64 keys."""

    def activate_auth_key(self, association: int, key: int) -> bool:
        """Authenticates packets with this key from now on. False if there is no such key."""

    def deactivate_auth_key(self, association: int, key: int) -> bool:
        """Declares that this key, which must not be active, will not be activated again.

        An event reports when no outstanding data needs the key.

        False if there is no such key, or it is active.
        """

    def remove_auth_key(self, association: int, key: int) -> bool:
        """Removes a key. False if there is no such key, or it is active."""

    def remove_local_address(self, now: int, association: int, address: _Address) -> bool:
        """Ends the use of a local address by an association, for example when its interface goes down.

        The paths from the address use another local address or end; their chunks in flight are retransmitted on
        other paths. If the peer supports ASCONF, the endpoint asks it to delete the address; otherwise the peer is
        not informed. False, and nothing changes, if the association has ended, does not use the address, or would
        have no path left.
        """

    def restore_local_address(self, now: int, association: int, address: _Address) -> bool:
        """Uses a local address again that ``remove_local_address`` removed.

        The address is used once a peer with ASCONF has added it again. False if it was not removed before.
        """

@final
class Message:
    """A message that arrived, or a part of one."""

    data: bytes
    """The bytes."""
    stream: int
    """Number of the stream."""
    ppid: int
    """Payload protocol identifier as the peer set it."""
    unordered: bool
    """Whether the message was sent outside the order of its stream."""
    end_of_record: bool
    """Whether ``data`` ends the message; false: more of it follows."""
    aborted: bool
    """Whether the message ends here, incomplete, because the peer abandoned it after parts of it were read."""

    def __len__(self) -> int: ...

@final
class SocketStats:
    """Counters of a UDP socket."""

    address: IPv4Address | IPv6Address
    """Address to which the socket is bound; the unspecified address for all addresses of a family."""
    packets_sent: int
    """Packets sent."""
    bytes_sent: int
    """UDP payload bytes sent."""
    sends: int
    """System calls that sent packets."""
    packets_received: int
    """Packets received."""
    bytes_received: int
    """UDP payload bytes received."""
    receives: int
    """System calls that received packets."""
    receive_overflow: int
    """Packets that the system dropped because the receive buffer was full; Linux only."""
    send_errors: int
    """Packets that the system refused to send."""
    last_error: int
    """The ``errno`` of the last send error; 0: none."""

@final
class Wakeups:
    """Tells an event loop which operations can continue.

    ``fileno()`` is readable while ``take()`` would return some.
    """

    def __new__(cls) -> Self: ...
    def fileno(self) -> int:
        """The descriptor to wait for."""

    def take(self) -> list[int]:
        """The slots of the operations that can be polled again."""

@final
class Operation(Generic[_T]):
    """A call that takes time. It begins with the first ``poll`` or ``wait``; ``drop`` gives it up."""

    def poll(self, wakeups: Wakeups) -> int | None:
        """Continues the call.

        Returns None if the call is done, otherwise the slot that ``Wakeups.take`` returns later.
        """

    def wait(self, timeout: float | None) -> bool:
        """Waits without the GIL for at most ``timeout`` seconds; None: no limit.

        Returns False if the timeout has passed; then the operation was dropped.
        """

    def result(self) -> _T:
        """Returns the result of an operation that is done, or raises its exception; only once."""

    def drop(self) -> None:
        """Drops the operation before it is done."""

@final
class NetEndpoint:
    """An SCTP port on UDP sockets, driven by a thread of its own."""

    def __new__(
        cls,
        local: _Address | Iterable[_Address],
        port: int,
        udp_port: int,
        remote_udp_port: int,
        max_associations: int,
        watch_addresses: bool,
        key: str | PathLike[str] | None,
        peers: list[str],
        accept_any: bool,
        psk: str | None,
        options: str,
    ) -> Self: ...
    def connect(
        self,
        addresses: _Address | Iterable[_Address],
        port: int,
        udp_port: int | None,
        key: str | None,
        options: str | None,
    ) -> Operation[NetConnection]:
        """Connects to a peer, which must own the public key ``key`` if there is one.

        Options that are left out keep the values of the endpoint.
        """

    def listen(self, backlog: int) -> NetListener:
        """Lets peers connect; at most ``backlog`` of them wait to be accepted."""

    def add_local_address(self, address: _Address, device: str | None) -> Operation[None]:
        """Adds a local address to the endpoint and its connections."""

    def remove_local_address(self, address: _Address) -> Operation[None]:
        """Removes a local address from the endpoint and its connections."""

    @property
    def local_addresses(self) -> list[IPv4Address | IPv6Address]:
        """Local addresses as they are now."""

    @property
    def port(self) -> int:
        """SCTP port."""

    @property
    def udp_port(self) -> int:
        """UDP port."""

    @property
    def identity(self) -> str | None:
        """Public key of this end as 64 hexadecimal digits; None without encryption."""

    def sockets(self) -> list[SocketStats]:
        """Counters of each UDP socket."""

    def saved_paths(self) -> Operation[str]:
        """Returns what the paths of this endpoint carried in a round trip, and their RTTs, as text."""

    def restore_paths(self, saved: str) -> Operation[None]:
        """Restores the paths from the text that ``saved_paths`` returned earlier."""

    def close(self) -> Operation[None]:
        """Shuts all connections down and waits until they have ended."""

@final
class NetListener:
    """Connections that peers begin."""

    def accept(self) -> Operation[NetConnection | None]:
        """The next connection; None once the listener or its endpoint was closed."""

    def close(self) -> None:
        """Ends listening. Each ``accept`` that waits returns None."""

    def closed(self) -> bool:
        """Whether the listener was closed."""

@final
class NetConnection:
    """An association on UDP sockets."""

    def send(
        self,
        data: _Bytes,
        stream: int,
        ppid: int,
        unordered: bool,
        immediate_sack: bool,
        reliability: dict[str, float] | None,
        context: int,
        urgent: bool,
        path: int | None,
    ) -> Operation[None]:
        """Sends a message once there is room."""

    def send_tracked(
        self,
        data: _Bytes,
        stream: int,
        ppid: int,
        unordered: bool,
        immediate_sack: bool,
        reliability: dict[str, float] | None,
        context: int,
        urgent: bool,
        path: int | None,
    ) -> Operation[NetDelivery]:
        """Sends a message once there is room, and returns an object that reports when the peer has the message."""

    def writer(self, stream: int, ppid: int, unordered: bool) -> NetWriter:
        """A message that is written piece by piece."""

    def try_send(
        self,
        data: _Bytes,
        stream: int,
        ppid: int,
        unordered: bool,
        immediate_sack: bool,
        reliability: dict[str, float] | None,
        context: int,
        urgent: bool,
        path: int | None,
    ) -> bool:
        """Sends a message if there is room."""

    def recv(self) -> Operation[Message | None]:
        """The next message; None once the connection was shut down and everything was read."""

    def unread(self, stream: int) -> int:
        """Number of unread messages of a stream."""

    def flush(self) -> Operation[None]:
        """Waits until the peer has acknowledged everything."""

    def events(self) -> NetEvents:
        """Events from now on."""

    def paths(self) -> Operation[list[Path]]:
        """The paths as they are now; none once the connection has ended."""

    def stats(self) -> Operation[Stats | None]:
        """Counters and state; None once the connection has ended."""

    def set_primary(self, address: _Address) -> Operation[None]:
        """Makes the path to an address of the peer the primary path."""

    def set_stream_value(self, stream: int, value: int) -> Operation[None]:
        """Sets the priority or the weight of a stream."""

    def reset_streams(self, direction: str, streams: list[int] | None) -> Operation[None]:
        """Begins to reset streams: all, or those listed."""

    def add_streams(self, outgoing: int, incoming: int) -> Operation[None]:
        """Begins to add streams."""

    def reset_association(self) -> Operation[None]:
        """Begins to reset all streams of both directions, and the TSNs."""

    def add_local_address(self, address: _Address) -> Operation[None]:
        """Asks the peer to add a local address of the endpoint to the connection."""

    def remove_local_address(self, address: _Address) -> Operation[None]:
        """Ends the use of a local address by the connection."""

    def set_peer_primary(self, address: _Address) -> Operation[None]:
        """Asks the peer to use a local address as its primary path."""

    def set_auth_key(self, key: int, secret: _Bytes) -> Operation[None]:
        """Adds or replaces a key for AUTH."""

    def activate_auth_key(self, key: int) -> Operation[None]:
        """Authenticates packets with this key from now on."""

    def deactivate_auth_key(self, key: int) -> Operation[None]:
        """Declares that this key, which must not be active, will not be activated again."""

    def remove_auth_key(self, key: int) -> Operation[None]:
        """Removes a key that is not active."""

    def heartbeat(self, address: _Address) -> Operation[float]:
        """Measures the round-trip time to an address of the peer, in seconds."""

    def shutdown(self) -> Operation[None]:
        """Shuts the connection down and waits for the end."""

    def abort(self, reason: _Bytes) -> None:
        """Ends the connection at once."""

    def closed(self) -> Operation[Event]:
        """Waits for the end of the connection and returns the event ``closed``."""

    def end(self) -> Event | None:
        """The event ``closed``; None while the connection exists."""

    @property
    def peer(self) -> tuple[list[IPv4Address | IPv6Address], int] | None:
        """Addresses and SCTP port of the peer."""

    @property
    def peer_identity(self) -> str | None:
        """Public key that the peer has proved to own, as 64 hexadecimal digits; None without encryption."""

    @property
    def outbound_streams(self) -> int | None:
        """Streams that messages can be sent on; None once the connection has ended."""

@final
class NetEvents:
    """Events of a connection since this object was made; one reader at a time."""

    def next(self) -> Operation[tuple[Event | None, int] | None]:
        """The next event and 0, or None and the number of events lost before the next one.

        Returns None once the connection has ended.
        """

@final
class NetDelivery:
    """A message on its way to the peer."""

    def wait(self) -> Operation[None]:
        """Waits until the peer has the message."""

@final
class NetWriter:
    """A message of any length that is written piece by piece."""

    def write(self, data: _Bytes) -> Operation[None]:
        """Adds bytes to the message."""

    def finish(self) -> Operation[None]:
        """Ends the message."""

    def drop(self) -> None:
        """Gives the message up. This aborts the connection, unless no part of the message was queued yet."""
