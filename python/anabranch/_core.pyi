"""The compiled part of Anabranch."""

from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address
from typing import Generic, Literal, Self, TypeAlias, TypeVar, final

__version__: str

_Address: TypeAlias = str | IPv4Address | IPv6Address
_T = TypeVar("_T")

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

class ConnectionLostError(ConnectionError):
    """The peer no longer answers on any path, or it broke the protocol."""

class EndpointClosedError(ConnectionError):
    """The endpoint or the listener was closed."""

def run(text: str, name: str, seed: int | None, replica: int) -> tuple[bytes, bytes, str]:
    """Runs a scenario once: scalars and series as Parquet, the manifest as JSON."""

def sweep(
    text: str,
    name: str,
    replicas: int,
    jobs: int | None,
    seed: int | None,
    out: str,
    progress: Callable[[int, int, float | None], object] | None,
) -> None:
    """Runs a sweep and writes its tables and its manifest to ``out``."""

def student_t(degrees: int, confidence: float) -> float:
    """The t for which ``confidence`` of Student's distribution lies within -t and t."""

def scenario_schema() -> str:
    """JSON Schema of scenario files."""

def cli(arguments: Sequence[str]) -> int:
    """Runs the command with its arguments, the name left out, and returns the exit code."""

@final
class Transmit:
    """A packet to send, and the addresses of its IP header."""

    source: IPv4Address | IPv6Address
    destination: IPv4Address | IPv6Address
    data: bytes

@final
class Received:
    """A message that arrived, or the next part of one: ``end_of_record`` is false while more of it can be read."""

    data: bytes
    stream: int
    ssn: int
    tsn: int
    ppid: int
    unordered: bool
    end_of_record: bool

@final
class Path:
    """The state of a path: windows in bytes, times in nanoseconds; ``ssthresh`` and ``srtt`` are None until set.

    From ``data_packets`` on the fields count: packets with data, bytes, retransmitted chunks, fast recoveries, T3-rtx
    expiries.
    """

    remote: IPv4Address | IPv6Address
    local: IPv4Address | IPv6Address
    state: Literal["unconfirmed", "active", "potentially-failed", "inactive"]
    primary: bool
    cwnd: int
    ssthresh: int | None
    in_flight: int
    srtt: int | None
    rto: int
    errors: int
    mtu: int
    data_packets: int
    user_bytes: int
    packet_bytes: int
    fast_retransmissions: int
    timer_retransmissions: int
    rescheduled: int
    copies: int
    fast_recoveries: int
    timeouts: int

@final
class Stats:
    """Counters of an association (packets, chunks, bytes), and its state (bytes buffered, chunks outstanding).

    ``buffered``: bytes that wait for their first transmission, and sent ones that the peer may still discard.
    ``peer_rwnd``: the peer's receive window as the sender knows it, in bytes. ``errors``: consecutive errors.
    """

    packets_sent: int
    packets_received: int
    data_packets_received: int
    chunks_received: int
    user_bytes_received: int
    sacks_sent: int
    duplicates: int
    dropped: int
    reneged: int
    buffered: int
    unsent_messages: int
    outstanding_chunks: int
    peer_rwnd: int
    errors: int

@final
class Event:
    """Something happened to an association: ``kind`` says what, and the fields that belong to it are not None.

    connected: ``outbound_streams`` and ``inbound_streams`` agreed on, ``peer_addresses`` in the order of the paths,
    ``peer_port``. path-changed: ``address`` and ``state``. heartbeat-answered, for one asked for: ``address``, ``rtt``
    in nanoseconds.
    primary-changed: ``address``, ``path``. delivered: the tracked messages from ``message`` to ``last_message``. send-failed:
    ``stream``, ``tsn`` if all of it had been sent, ``length``, and ``message`` if it is tracked. peer-error: ``causes`` as
    they came. closed: ``reason``, with ``causes`` of a peer's abort and ``detail`` of a violation.
    """

    association: int
    kind: Literal[
        "connected",
        "restarted",
        "readable",
        "writable",
        "path-changed",
        "heartbeat-answered",
        "primary-changed",
        "delivered",
        "send-failed",
        "peer-error",
        "shutdown-received",
        "closed",
    ]
    outbound_streams: int | None
    inbound_streams: int | None
    peer_addresses: list[IPv4Address | IPv6Address] | None
    peer_port: int | None
    rtt: int | None
    address: IPv4Address | IPv6Address | None
    state: Literal["unconfirmed", "active", "potentially-failed", "inactive"] | None
    stream: int | None
    tsn: int | None
    length: int | None
    message: int | None
    last_message: int | None
    path: int | None
    causes: bytes | None
    reason: (
        Literal[
            "graceful",
            "local-abort",
            "peer-abort",
            "connect-timeout",
            "duplicate",
            "too-many-errors",
            "protocol-violation",
        ]
        | None
    )
    detail: str | None

class Endpoint:
    """An SCTP endpoint without sockets, threads or a clock; see :mod:`anabranch.endpoint`."""

    def __new__(
        cls,
        addresses: Sequence[_Address],
        port: int,
        seed: int | bytes | None,
        checksum: bool,
        max_associations: int,
        options: str,
    ) -> Self: ...
    def listen(self, accept: bool = True) -> None:
        """Accepts new associations from now on, or no longer."""

    def connect(self, now: int, addresses: Sequence[_Address], port: int) -> int:
        """Begins an association to a peer with one or more addresses, and returns its number."""

    def handle(self, now: int, source: _Address, destination: _Address, packet: bytes) -> None:
        """Processes an SCTP packet from the network, with the addresses of its IP header; ignores an invalid one."""

    def poll_transmit(self, now: int) -> Transmit | None:
        """The next packet to send now, or None. Any later call that changes the endpoint may produce more packets."""

    def poll_event(self) -> Event | None:
        """The next event, or None."""

    def poll_timeout(self) -> int | None:
        """The time at which to call :meth:`handle_timeout` if nothing happens before; None for never."""

    def handle_timeout(self, now: int) -> None:
        """Runs the timers that are due; none if it is too early."""

    def send(
        self,
        now: int,
        association: int,
        data: bytes,
        *,
        stream: int = 0,
        ppid: int = 0,
        unordered: bool = False,
        immediate_sack: bool = False,
        end_of_record: bool = True,
        path: int | None = None,
        tracked: bool = False,
    ) -> int | None:
        """Queues a message, or with ``end_of_record`` false the next part of one.

        Returns the number of a ``tracked`` message, counted from 0. One event ``delivered`` or ``send-failed`` will name it.
        ``path`` is the index in :meth:`paths` of the path for the first transmission; with None the endpoint chooses.

        Raises :class:`WouldBlockError` when the buffer is full, :class:`AssociationClosedError`, or ValueError for a
        message that can never be sent.
        """

    def receive(self, now: int, association: int, limit: int | None = None) -> Received | None:
        """The next message, or at most ``limit`` bytes of it; None if there is none."""

    def next_message_length(self, association: int) -> int | None:
        """Bytes of the next message, or of what has arrived of a large one; None if there is nothing to read."""

    def options(self, association: int) -> dict[str, str | int | bool] | None:
        """The options that can change while the association exists; None when it is closed."""

    def _set_options(self, now: int, association: int, options: str) -> bool: ...
    def stats(self, association: int) -> Stats | None:
        """The counters of the association; None when it is closed and everything was read."""

    def peer_port(self, association: int) -> int | None:
        """The port of the peer; None when the association is closed."""

    def shutdown(self, now: int, association: int) -> None:
        """Ends the association once everything is delivered."""

    def abort(self, now: int, association: int, reason: bytes = b"") -> None:
        """Ends the association at once."""

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
        """The numbers of all associations."""

    def paths(self, association: int) -> list[Path]:
        """The paths of an association in their order; empty when it is closed."""

    def set_primary(self, association: int, address: _Address) -> bool:
        """Makes the path to ``address`` the primary path; false if there is no such path."""

    def heartbeat(self, now: int, association: int, address: _Address) -> bool:
        """Sends a HEARTBEAT on the path to ``address``; the answer is an event. False if there is no such path."""

@final
class Message:
    """A message that arrived on a connection, or a part of one that is larger than the receive buffer.

    ``end_of_record`` is false while more of the message follows.
    """

    data: bytes
    stream: int
    ppid: int
    unordered: bool
    end_of_record: bool

    def __len__(self) -> int: ...

@final
class SocketStats:
    """Counters of a UDP socket: packets, UDP payload bytes, and the system calls (``sends``, ``receives``) for them.

    ``send_errors`` counts packets that the system refused to send; ``last_error`` is the last errno, or 0.
    """

    address: IPv4Address | IPv6Address
    packets_sent: int
    bytes_sent: int
    sends: int
    packets_received: int
    bytes_received: int
    receives: int
    send_errors: int
    last_error: int

@final
class Wakeups:
    """Operations of an event loop that can go on: ``fileno()`` is readable while ``take()`` has some."""

    def __new__(cls) -> Self: ...
    def fileno(self) -> int:
        """The descriptor to wait for."""

    def take(self) -> list[int]:
        """The slots of the operations that can be polled again."""

@final
class Operation(Generic[_T]):
    """A call that takes time. It begins with the first ``poll`` or ``wait``; dropping it gives it up."""

    def poll(self, wakeups: Wakeups) -> int | None:
        """Goes on. None: it is done; otherwise the slot that :meth:`Wakeups.take` names when it can go on."""

    def wait(self, timeout: float | None) -> bool:
        """Waits without the GIL, in seconds. False: the timeout has passed, and the operation is given up."""

    def result(self) -> _T:
        """The result, once, of an operation that is done; raises what it failed with."""

    def drop(self) -> None:
        """Gives the operation up."""

@final
class NetEndpoint:
    """An endpoint on UDP sockets; see :mod:`anabranch.net` and :mod:`anabranch.aio`."""

    def __new__(
        cls,
        local: _Address | Sequence[_Address],
        port: int,
        udp_port: int,
        remote_udp_port: int,
        max_associations: int,
        options: str,
    ) -> Self: ...
    def connect(
        self, addresses: _Address | Sequence[_Address], port: int, udp_port: int | None, options: str | None
    ) -> Operation[NetConnection]: ...
    def listen(self, backlog: int) -> NetListener: ...
    @property
    def local_addresses(self) -> list[IPv4Address | IPv6Address]: ...
    @property
    def port(self) -> int: ...
    @property
    def udp_port(self) -> int: ...
    def sockets(self) -> list[SocketStats]: ...
    def close(self) -> Operation[None]: ...

@final
class NetListener:
    """Connections that peers begin."""

    def accept(self) -> Operation[NetConnection | None]: ...
    def close(self) -> None: ...
    def closed(self) -> bool: ...

@final
class NetConnection:
    """An association on UDP sockets."""

    def send(
        self, data: bytes | bytearray | memoryview, stream: int, ppid: int, unordered: bool, immediate_sack: bool
    ) -> Operation[None]: ...
    def try_send(
        self, data: bytes | bytearray | memoryview, stream: int, ppid: int, unordered: bool, immediate_sack: bool
    ) -> bool: ...
    def recv(self) -> Operation[Message | None]: ...
    def unread(self, stream: int) -> int: ...
    def flush(self) -> Operation[None]: ...
    def events(self) -> NetEvents: ...
    def shutdown(self) -> Operation[None]: ...
    def abort(self, reason: bytes | bytearray | memoryview) -> None: ...
    def closed(self) -> Operation[Event]: ...
    def end(self) -> Event | None: ...
    @property
    def peer(self) -> tuple[list[IPv4Address | IPv6Address], int] | None: ...
    @property
    def outbound_streams(self) -> int | None: ...

@final
class NetEvents:
    """Events of a connection."""

    def next(self) -> Operation[tuple[Event | None, int] | None]: ...
