"""The compiled part of Anabranch."""

from collections.abc import Callable, Sequence
from ipaddress import IPv4Address, IPv6Address
from typing import Literal, Self, TypeAlias, final

__version__: str

_Address: TypeAlias = str | IPv4Address | IPv6Address

class ScenarioError(ValueError):
    """A scenario does not read: file, line, column, what was expected, the nearest right word."""

class SimulationError(RuntimeError):
    """A run or a sweep failed."""

class ConfigError(ValueError):
    """An option that does not exist or cannot work."""

class WouldBlockError(BlockingIOError):
    """The send buffer is full; a ``writable`` event tells when it is not."""

class AssociationClosedError(ConnectionError):
    """There is no such association, or it is closing."""

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
    """Runs a sweep, and leaves its tables and its manifest in ``out``."""

def scenario_schema() -> str:
    """JSON Schema of scenario files."""

def cli(arguments: Sequence[str]) -> int:
    """Runs the command line without its name, and returns the exit code."""

@final
class Transmit:
    """A packet to put on the network, and the addresses that its IP header gets."""

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
    """What is known of a path; windows in bytes, times in nanoseconds, ``ssthresh`` and ``srtt`` None until set.

    From ``data_packets`` on: what it did so far, packets with data, bytes, chunks sent again, recoveries, T3 expiries.
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
    """What an association did so far (packets, chunks, bytes), and how it stands (bytes buffered, chunks outstanding).

    ``buffered``: bytes waiting for their first transmission, and those that the peer does not have for good.
    ``peer_rwnd``: bytes that the peer can still take, as far as known. ``errors``: consecutive ones.
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
    send-failed: ``stream``, ``tsn`` if it had been sent, ``length``. peer-error: ``causes`` as they came. closed:
    ``reason``, with ``causes`` of a peer's abort and ``detail`` of a violation.
    """

    association: int
    kind: Literal[
        "connected",
        "restarted",
        "readable",
        "writable",
        "path-changed",
        "heartbeat-answered",
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
        """Accepts associations from now on, or no more."""

    def connect(self, now: int, addresses: Sequence[_Address], port: int) -> int:
        """Begins an association to a peer with one or more addresses, and returns its number."""

    def handle(self, now: int, source: _Address, destination: _Address, packet: bytes) -> None:
        """Takes an SCTP packet from the network, with the addresses of its IP header. Nonsense is ignored."""

    def poll_transmit(self, now: int) -> Transmit | None:
        """The next packet to send now; None after the last. Any change may make new ones."""

    def poll_event(self) -> Event | None:
        """The next thing that happened; None after the last."""

    def poll_timeout(self) -> int | None:
        """When :meth:`handle_timeout` is due, unless something changes before; None for never."""

    def handle_timeout(self, now: int) -> None:
        """Lets the timers run out that are due; too early does nothing."""

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
    ) -> None:
        """Takes a message, or with ``end_of_record`` false the next part of one.

        ``path`` is the number of a path, as in :meth:`paths` from 0 on, for its first transmission; None leaves the
        choice to the endpoint.

        Raises :class:`WouldBlockError` when the buffer is full, :class:`AssociationClosedError`, or ValueError for a
        message that can never be sent.
        """

    def receive(self, now: int, association: int, limit: int | None = None) -> Received | None:
        """The next message, or at most ``limit`` bytes of it; None if there is none."""

    def next_message_length(self, association: int) -> int | None:
        """Bytes of the next message, or of what has arrived of a large one; None if there is nothing to read."""

    def options(self, association: int) -> dict[str, str | int | bool] | None:
        """The options that can change while the association lives; None when it is closed."""

    def _set_options(self, now: int, association: int, options: str) -> bool: ...
    def stats(self, association: int) -> Stats | None:
        """What the association did so far; None when it is closed and read to the end."""

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
        """Where the association is in its life; None when it is closed."""

    def associations(self) -> list[int]:
        """The associations there are."""

    def paths(self, association: int) -> list[Path]:
        """The paths of an association, the first one first; empty when it is closed."""

    def set_primary(self, association: int, address: _Address) -> bool:
        """Makes the path to ``address`` the primary one; false if there is none."""

    def heartbeat(self, now: int, association: int, address: _Address) -> bool:
        """Sends a heartbeat on the path to ``address``, whose answer is an event; false if there is no such path."""
