"""SCTP on real networks, for programs that wait: calls block, with timeouts, and release the GIL meanwhile.

>>> from anabranch import net
>>> with net.Listener(["127.0.0.1"], udp_port=0) as listener:
...     remote = listener.udp_port
...     with net.connect(["127.0.0.1"], listener.port, local=["127.0.0.1"], remote_udp_port=remote) as connection:
...         connection.send(b"hello", stream=1)
...         listener.accept().recv(timeout=1.0)
<Message: 5 bytes on stream 1>

A call that has a ``timeout`` (in seconds; None, as by default, waits for ever) raises :class:`TimeoutError` when it has
passed, and nothing is lost then: a message was sent whole or not at all, and what arrives later can be read later.
Signals such as Ctrl-C end every wait. Threads can share a connection; a forked child cannot use what its parent made
(:class:`anabranch.EndpointClosedError`), but can make endpoints of its own. :mod:`anabranch.aio` has the same for
asyncio.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Literal, Protocol, Self, TypeVar, Unpack

from . import _core
from ._core import UDP_PORT, Event, Message, Path, SocketStats, Stats
from ._network import (
    Addresses,
    BaseConnection,
    BaseEndpoint,
    BaseListener,
    Buffer,
    EndpointArguments,
    File,
    Owned,
    Peer,
    Peers,
    known,
    place,
)
from .endpoint import Address
from .options import Options

__all__ = [
    "Connection",
    "Delivery",
    "Endpoint",
    "Event",
    "Events",
    "Listener",
    "Message",
    "Path",
    "Peer",
    "SocketStats",
    "Stats",
    "Writer",
    "connect",
]

T = TypeVar("T")


def _wait(operation: _core.Operation[T], timeout: float | None, call: str, of: object) -> T:
    if not operation.wait(timeout):
        raise TimeoutError(f"{call}: not done within {timeout} s on {of!r}")
    return operation.result()


class _Closeable(Protocol):
    """As a context manager, it is closed at the end of the block; after an exception without waiting."""

    def close(self) -> None: ...
    def _begin_to_close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            self.close()
        else:
            self._begin_to_close()


class Endpoint(BaseEndpoint, _Closeable):
    """An SCTP port on one or several local addresses, in UDP (RFC 6951). A thread without the GIL drives it.

    As a context manager, it is closed at the end of the block; after an exception without waiting.
    """

    def connect(
        self,
        addresses: Addresses,
        port: int,
        *,
        udp_port: int | None = None,
        peer: str | None = None,
        timeout: float | None = None,
        **options: Unpack[Options],
    ) -> Connection:
        """Connects to an SCTP port of a peer at one or several addresses.

        The next address is tried after 250 ms without an answer, and at once if one refuses. Data begins on the path
        that answered. ``udp_port``: the UDP port of the peer, if it is not ``remote_udp_port``. ``peer``: with
        encryption, the public key of the peer; needed unless exactly one peer is known. ``options`` that are left out
        have the values of the endpoint.

        Raises :class:`ConnectionRefusedError` if all addresses refuse or the key ``peer`` is not known, and
        :class:`TimeoutError` if none answers. A peer that does not know the key of this end does not answer. The
        attempt is given up when ``timeout`` has passed.
        """
        operation = self._connecting(addresses, port, udp_port, peer, options)
        return Connection(_wait(operation, timeout, f"connect to {place(addresses, port)}", self))

    def listen(self, backlog: int = 128) -> Listener:
        """Lets peers connect. At most ``backlog`` of them wait to be accepted; more are refused."""
        listener = Listener.__new__(Listener)
        BaseListener.__init__(listener, self, backlog, owner=False)
        return listener

    def add_local_address(self, address: Address, *, device: str | None = None, timeout: float | None = None) -> None:
        """Adds a local address, as when an uplink comes up: a UDP socket is bound to it.

        The peers of connections with ``asconf`` are asked to add the address; events ``address-change`` report their
        answers. Later connections have the address from the beginning. ``device``: the interface that its packets must
        use (Linux only).

        Raises :class:`OSError` if the address cannot be bound, and :class:`ValueError` if the endpoint has this address
        or 16 addresses.
        """
        _wait(self._handle.add_local_address(address, device), timeout, "add_local_address", self)

    def remove_local_address(self, address: Address, *, timeout: float | None = None) -> None:
        """Removes a local address, as when an uplink goes down: data in flight from it is sent again on other paths.

        The peers of connections with ``asconf`` are asked to delete the address. A connection that has no other path
        keeps the address.

        Raises :class:`ValueError` if the endpoint does not have the address, or has no other address.
        """
        _wait(self._handle.remove_local_address(address), timeout, "remove_local_address", self)

    def saved_paths(self, timeout: float | None = None) -> str:
        """What the paths of this endpoint carried, as text for a file; :meth:`restore_paths` takes it in a later run.

        Paths are saved with the option ``resume`` only, those of ended and of present connections, and for an hour.
        """
        return _wait(self._handle.saved_paths(), timeout, "saved_paths", self)

    def restore_paths(self, saved: str, *, timeout: float | None = None) -> None:
        """Takes what :meth:`saved_paths` returned earlier: paths between the same addresses then begin with a jump.

        Connections need ``resume="full"``. What was saved more than an hour ago is left out. Raises :class:`ValueError`
        for a damaged text, and nothing changes then.
        """
        _wait(self._handle.restore_paths(saved), timeout, "restore_paths", self)

    def close(self, timeout: float | None = None) -> None:
        """Shuts all connections down, and waits until they have ended."""
        _wait(self._closing(), timeout, "close", self)


class Listener(BaseListener, _Closeable):
    """Connections that peers begin, on an endpoint of its own. :meth:`Endpoint.listen` makes one on another endpoint.

    Takes the arguments of :class:`Endpoint`. At most ``backlog`` peers wait to be accepted; more are refused. Iterating
    gives connections until the listener is closed.
    """

    def __init__(self, local: Addresses = (), *, backlog: int = 128, **arguments: Unpack[EndpointArguments]) -> None:
        super().__init__(Endpoint(local, **arguments), backlog, owner=True)

    def accept(self, timeout: float | None = None) -> Connection:
        """The next connection. Raises :class:`anabranch.EndpointClosedError` once the listener is closed."""
        handle = _wait(self._handle.accept(), timeout, "accept", self)
        if handle is None:
            raise self._end()
        return Connection(handle)

    def close(self, timeout: float | None = None) -> None:
        """Ends listening; waiting connections are shut down. If the listener has its own endpoint, closes it, too."""
        self._handle.close()
        if self._owner:
            _wait(self._endpoint._closing(), timeout, "close", self)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Connection:
        handle = _wait(self._handle.accept(), None, "accept", self)
        if handle is None:
            raise StopIteration
        return Connection(handle)


class Connection(BaseConnection):
    """A connection: an association of SCTP, which carries messages on several streams over all its paths.

    Iterating gives messages until the peer has shut the connection down. As a context manager, the connection is shut
    down at the end of the block, and aborted after an exception. When no reference to the connection is left, it is
    shut down in the background.
    """

    def send(
        self,
        data: Buffer,
        *,
        stream: int = 0,
        ppid: int = 0,
        unordered: bool = False,
        immediate_sack: bool = False,
        reliability: dict[str, float] | None = None,
        context: int = 0,
        urgent: bool = False,
        path: int | None = None,
        timeout: float | None = None,
    ) -> None:
        """Sends a message, once there is room for it. It is sent whole or, if this call raises, not at all.

        Messages of one ``stream`` arrive in order, except ``unordered`` messages. ``ppid`` (payload protocol
        identifier) is passed to the peer. ``immediate_sack`` asks the peer not to delay the acknowledgement.
        ``reliability`` says when the message is abandoned: a dict with one of ``lifetime`` (in seconds),
        ``retransmissions``, ``priority``. Both ends need the option ``pr_sctp``. The event ``send-failed`` reports
        ``context``. An ``urgent`` message overtakes messages that wait for room, and neither pacing nor Nagle's rule
        delays it. ``path``: the ``Path.id`` of the path for its first transmission, as long as that path is active;
        messages behind it wait while the window of that path is full.

        Raises a :class:`ConnectionError` once the connection has ended, and :class:`ValueError` for a message that can
        never be sent: an empty one, one longer than ``send_buffer``, or one on a stream that does not exist.
        """
        operation = self._handle.send(data, stream, ppid, unordered, immediate_sack, reliability, context, urgent, path)
        _wait(operation, timeout, "send", self)

    def send_tracked(
        self,
        data: Buffer,
        *,
        stream: int = 0,
        ppid: int = 0,
        unordered: bool = False,
        immediate_sack: bool = False,
        reliability: dict[str, float] | None = None,
        context: int = 0,
        urgent: bool = False,
        path: int | None = None,
        timeout: float | None = None,
    ) -> Delivery:
        """As :meth:`send`, and returns an object that reports when the peer has the message."""
        operation = self._handle.send_tracked(
            data, stream, ppid, unordered, immediate_sack, reliability, context, urgent, path
        )
        return Delivery(_wait(operation, timeout, "send_tracked", self))

    def writer(self, stream: int = 0, *, ppid: int = 0, unordered: bool = False) -> Writer:
        """A message that is written piece by piece, for one that is longer than the send buffer."""
        return Writer(self._handle.writer(stream, ppid, unordered))

    def recv(self, timeout: float | None = None) -> Message | None:
        """The next message of any stream; None once the peer has shut the connection down and everything was read.

        Raises a :class:`ConnectionError` if the connection ended in another way, after everything was read.
        """
        return _wait(self._handle.recv(), timeout, "recv", self)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Message:
        message = self.recv()
        if message is None:
            raise StopIteration
        return message

    def events(self) -> Events:
        """Events from now on: paths that fail or return, reports of the peer. There is one reader at a time."""
        return Events(self._handle.events())

    def flush(self, timeout: float | None = None) -> None:
        """Waits until the peer has acknowledged everything that was sent so far."""
        _wait(self._handle.flush(), timeout, "flush", self)

    def paths(self) -> list[Path]:
        """The paths as they are now; none once the connection has ended."""
        return _wait(self._handle.paths(), None, "paths", self)

    def stats(self) -> Stats | None:
        """The counters of the connection and its state; None once it has ended."""
        return _wait(self._handle.stats(), None, "stats", self)

    def set_primary(self, address: Address) -> None:
        """Makes an address of the peer the primary one: without CMT, new data goes there as long as it works.

        Raises :class:`ValueError` if there is no confirmed path to the address.
        """
        _wait(self._handle.set_primary(address), None, "set_primary", self)

    def heartbeat(self, address: Address, timeout: float | None = None) -> float:
        """Sends a HEARTBEAT to an address of the peer and waits for the answer: the round-trip time in seconds.

        Raises :class:`TimeoutError` if the path fails before the answer, and :class:`ValueError` if there is no path to
        the address.
        """
        return _wait(self._handle.heartbeat(address), timeout, "heartbeat", self)

    def set_stream_value(self, stream: int, value: int) -> None:
        """Sets the value of a stream for the stream scheduler: a priority for ``priority``, a weight for ``wfq``.

        Raises :class:`ValueError` if there is no such stream, or the weight is 0.
        """
        _wait(self._handle.set_stream_value(stream, value), None, "set_stream_value", self)

    def reset_streams(
        self,
        direction: Literal["outgoing", "incoming", "both"] = "outgoing",
        streams: Sequence[int] = (),
        timeout: float | None = None,
    ) -> None:
        """Begins to reset streams: all, or those listed. Messages sent before are delivered before the reset.

        An event ``streams-reset`` reports the result for each direction. A reset by the peer is reported once all
        earlier messages on these streams have been received; later messages can be received after that.

        Raises :class:`ValueError`, which says why, if nothing was begun. Both ends need the option ``stream_reset``.
        """
        _wait(self._handle.reset_streams(direction, list(streams)), timeout, "reset_streams", self)

    def add_streams(self, outgoing: int = 0, incoming: int = 0) -> None:
        """Begins to add streams: ``outgoing`` to send on, ``incoming`` on which the peer sends.

        An event ``streams-added`` reports the result for each direction. Raises :class:`ValueError` if nothing was
        begun.
        """
        _wait(self._handle.add_streams(outgoing, incoming), None, "add_streams", self)

    def reset_association(self, *, timeout: float | None = None) -> None:
        """Begins to reset all streams of both directions, and the TSNs. Otherwise as :meth:`reset_streams`."""
        _wait(self._handle.reset_association(), timeout, "reset_association", self)

    def add_local_address(self, address: Address) -> None:
        """Asks the peer to add a local address of the endpoint to this connection.

        An event ``address-change`` reports the answer of the peer. Raises :class:`ValueError` if the endpoint does not
        have the address, or the connection has it, or its peer has no ASCONF.
        """
        _wait(self._handle.add_local_address(address), None, "add_local_address", self)

    def remove_local_address(self, address: Address) -> None:
        """Ends the use of a local address by this connection. A peer with ASCONF is asked to delete it.

        Raises :class:`ValueError` if the connection does not use the address, or would have no path left.
        """
        _wait(self._handle.remove_local_address(address), None, "remove_local_address", self)

    def set_peer_primary(self, address: Address) -> None:
        """Asks the peer to use this local address as its primary path.

        An event ``address-change`` reports the answer of the peer. Raises :class:`ValueError` if the connection does
        not use the address, or its peer has no ASCONF.
        """
        _wait(self._handle.set_peer_primary(address), None, "set_peer_primary", self)

    def set_auth_key(self, key: int, secret: Buffer) -> None:
        """Adds or replaces a key for AUTH. Both sides must have it before either activates it.

        Raises :class:`ValueError` if the connection has 64 keys.
        """
        _wait(self._handle.set_auth_key(key, secret), None, "set_auth_key", self)

    def activate_auth_key(self, key: int) -> None:
        """Authenticates packets with this key from now on. Raises :class:`ValueError` if the key was not set."""
        _wait(self._handle.activate_auth_key(key), None, "activate_auth_key", self)

    def deactivate_auth_key(self, key: int) -> None:
        """Declares that this key, which must not be active, will not be activated again.

        An event ``auth-key-unused`` reports when no outstanding data needs the key. Raises :class:`ValueError` if the
        key was not set, or is active.
        """
        _wait(self._handle.deactivate_auth_key(key), None, "deactivate_auth_key", self)

    def remove_auth_key(self, key: int) -> None:
        """Removes a key that is not active. Raises :class:`ValueError` if the key was not set, or is active."""
        _wait(self._handle.remove_auth_key(key), None, "remove_auth_key", self)

    def shutdown(self, timeout: float | None = None) -> None:
        """Delivers all sent messages, ends the connection and waits for the end. A timeout does not prevent the end.

        Raises a :class:`ConnectionError` if the connection ended in another way.
        """
        _wait(self._shutting(), timeout, "shutdown", self)

    def closed(self, timeout: float | None = None) -> Event:
        """Waits for the end of the connection, and returns the event with the reason."""
        return _wait(self._handle.closed(), timeout, "closed", self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            self.shutdown()
        elif not self._inherited:
            self.abort()


class Delivery(Owned[_core.NetDelivery]):
    """The delivery of a message of :meth:`Connection.send_tracked`. Dropping it does not stop the message."""

    def wait(self, timeout: float | None = None) -> None:
        """Waits until the peer has the message; whether its application has received it is not known.

        Raises :class:`anabranch.NotDeliveredError` if the message was abandoned or lost, and another
        :class:`ConnectionError` if the connection ended before.
        """
        _wait(self._handle.wait(), timeout, "wait", self)


class Writer(Owned[_core.NetWriter]):
    """A message of any length that is written piece by piece, and that the peer receives as one.

    While it is incomplete, no other message of the connection is sent. As a context manager, the message is finished at
    the end of the block. A part of a message cannot be withdrawn: after an exception, and if the writer is dropped
    unfinished, the connection is **aborted**, unless nothing was sent yet. The same happens after a ``timeout``, unless
    the message is finished later.
    """

    def write(self, data: Buffer, timeout: float | None = None) -> None:
        """Adds bytes to the message, once there is room. After a timeout a part of the bytes may have been added."""
        _wait(self._handle.write(data), timeout, "write", self)

    def finish(self, timeout: float | None = None) -> None:
        """Ends the message. Raises :class:`ValueError` if nothing was written."""
        _wait(self._handle.finish(), timeout, "finish", self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            self.finish()
        elif not self._inherited:
            self._handle.drop()


class Events(Owned[_core.NetEvents]):
    """The events of a connection. At most 256 wait to be read; then the oldest are lost, and ``lost`` counts them."""

    def __init__(self, handle: _core.NetEvents) -> None:
        super().__init__(handle)
        self.lost = 0

    def next(self, timeout: float | None = None) -> Event | None:
        """The next event; None once the connection has ended."""
        while (found := _wait(self._handle.next(), timeout, "next", self)) is not None:
            event, lost = found
            self.lost += lost
            if event is not None:
                return event
        return None

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Event:
        event = self.next()
        if event is None:
            raise StopIteration
        return event


def connect(
    addresses: Addresses,
    port: int,
    *,
    local: Addresses = (),
    udp_port: int = 0,
    remote_udp_port: int = UDP_PORT,
    key: File | None = None,
    peers: Peers = (),
    psk: str | None = None,
    peer: str | None = None,
    timeout: float | None = None,
    **options: Unpack[Options],
) -> Connection:
    """Connects to a peer from an endpoint of its own, which ends with the connection: see :class:`Endpoint`.

    With ``key``, the public key of the peer in ``peer`` is enough; ``peers`` can name a file that lists it instead.
    """
    endpoint = Endpoint(
        local,
        udp_port=udp_port,
        remote_udp_port=remote_udp_port,
        key=key,
        peers=known(peers, peer, key),
        psk=psk,
        **options,
    )
    return endpoint.connect(addresses, port, peer=peer, timeout=timeout)
