"""SCTP on real networks, for asyncio.

::

    async with aio.Endpoint(local=["192.0.2.1", "198.51.100.1"], port=5000) as endpoint:
        async with endpoint.connect(["203.0.113.1", "203.0.113.2"], 5001) as connection:
            await connection.send(b"hello", stream=1, unordered=True)
            async for message in connection:
                print(message.stream, message.data)

    async for connection in aio.Listener(port=5001):
        asyncio.create_task(serve(connection))

Every call can be cancelled, also by :func:`asyncio.timeout`, and nothing is lost then: a message was sent whole or not
at all, a message that arrives can be received by the next call, and an attempt to connect is given up. All endpoints of
an event loop wake it through one descriptor. :mod:`anabranch.net` has the same for programs without an event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Generator, Sequence
from types import TracebackType
from typing import Any, Literal, Protocol, Self, TypeVar, Unpack
from weakref import WeakKeyDictionary

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
)
from .endpoint import Address
from .options import Options

__all__ = [
    "Connecting",
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


class _Loop:
    """Runs the operations of one event loop.

    The thread of an endpoint only wakes the task; the task itself then polls its operation and takes the result. So a
    task that is cancelled loses no result.
    """

    STREAK = 64
    """Number of operations in a row that may complete without waiting before other tasks can run."""

    def __init__(self) -> None:
        self._wakeups = _core.Wakeups()
        self._waiting: dict[int, asyncio.Future[None]] = {}
        self._streak = 0
        loop = asyncio.get_running_loop()
        try:
            loop.add_reader(self._wakeups.fileno(), self._wake)
        except NotImplementedError:
            raise RuntimeError(
                f"anabranch.aio: expected an event loop with add_reader, found {type(loop).__name__}; the default loop "
                "of Windows has none. Run the program with "
                "`with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner: runner.run(main())`, or use "
                "anabranch.net in threads"
            ) from None

    def _wake(self) -> None:
        for slot in self._wakeups.take():
            future = self._waiting.pop(slot, None)
            if future is not None and not future.done():
                future.set_result(None)

    async def run(self, operation: _core.Operation[T]) -> T:
        slot = None
        try:
            self._streak += 1
            if self._streak > self.STREAK:
                self._streak = 0
                await asyncio.sleep(0)
            while (slot := operation.poll(self._wakeups)) is not None:
                self._streak = 0
                self._waiting[slot] = future = asyncio.get_running_loop().create_future()
                await future
            return operation.result()
        finally:
            if slot is not None:
                self._waiting.pop(slot, None)
                operation.drop()


# A loop references its _Loop through the descriptor. The _Loop has no reference to the loop.
_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Loop] = WeakKeyDictionary()


async def _run(operation: _core.Operation[T]) -> T:
    loop = asyncio.get_running_loop()
    runs = _loops.get(loop)
    if runs is None:
        runs = _loops[loop] = _Loop()
    return await runs.run(operation)


class _Closeable(Protocol):
    """As a context manager, it is closed at the end of the block; after an exception without waiting."""

    async def close(self) -> None: ...
    def _begin_to_close(self) -> None: ...

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if kind is None:
            await self.close()
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
        **options: Unpack[Options],
    ) -> Connecting:
        """Connects to an SCTP port of a peer at one or several addresses: ``await`` it, or use it in ``async with``.

        ``udp_port``: the UDP port of the peer, if it is not ``remote_udp_port``. ``peer``: with encryption, the public
        key of the peer; needed unless exactly one peer is known. ``options`` that are left out have the values of the
        endpoint.

        Raises :class:`ConnectionRefusedError` if all addresses refuse or the key ``peer`` is not known, and
        :class:`TimeoutError` if none answers. A peer that does not know the key of this end does not answer.
        """

        async def connected() -> Connection:
            return Connection(await _run(self._connecting(addresses, port, udp_port, peer, options)))

        return Connecting(connected())

    def listen(self, backlog: int = 128) -> Listener:
        """Lets peers connect. At most ``backlog`` of them wait to be accepted; more are refused."""
        listener = Listener.__new__(Listener)
        BaseListener.__init__(listener, self, backlog, owner=False)
        return listener

    async def add_local_address(self, address: Address, *, device: str | None = None) -> None:
        """Adds a local address, as when an uplink comes up: a UDP socket is bound to it.

        The peers of connections with ``asconf`` are asked to add the address; events ``address-change`` report their
        answers. Later connections have the address from the beginning. ``device``: the interface that its packets must
        use (Linux only).

        Raises :class:`OSError` if the address cannot be bound, and :class:`ValueError` if the endpoint has this address
        or 16 addresses.
        """
        await _run(self._handle.add_local_address(address, device))

    async def remove_local_address(self, address: Address) -> None:
        """Removes a local address, as when an uplink goes down: data in flight from it is sent again on other paths.

        The peers of connections with ``asconf`` are asked to delete the address. A connection that has no other path
        keeps the address.

        Raises :class:`ValueError` if the endpoint does not have the address, or has no other address.
        """
        await _run(self._handle.remove_local_address(address))

    async def saved_paths(self) -> str:
        """What the paths of this endpoint carried, as text for a file; :meth:`restore_paths` takes it in a later run.

        Paths are saved with the option ``resume`` only, those of ended and of present connections, and for an hour.
        """
        return await _run(self._handle.saved_paths())

    async def restore_paths(self, saved: str) -> None:
        """Takes what :meth:`saved_paths` returned earlier: paths between the same addresses then begin with a jump.

        Connections need ``resume="full"``. What was saved more than an hour ago is left out. Raises :class:`ValueError`
        for a damaged text, and nothing changes then.
        """
        await _run(self._handle.restore_paths(saved))

    async def close(self) -> None:
        """Shuts all connections down, and waits until they have ended."""
        await _run(self._closing())


class Listener(BaseListener, _Closeable):
    """Connections that peers begin, on an endpoint of its own. :meth:`Endpoint.listen` makes one on another endpoint.

    Takes the arguments of :class:`Endpoint`. At most ``backlog`` peers wait to be accepted; more are refused. Iterating
    gives connections until the listener is closed.
    """

    def __init__(self, local: Addresses = (), *, backlog: int = 128, **arguments: Unpack[EndpointArguments]) -> None:
        super().__init__(Endpoint(local, **arguments), backlog, owner=True)

    async def accept(self) -> Connection:
        """The next connection. Raises :class:`anabranch.EndpointClosedError` once the listener is closed."""
        handle = await _run(self._handle.accept())
        if handle is None:
            raise self._end()
        return Connection(handle)

    async def close(self) -> None:
        """Ends listening; waiting connections are shut down. If the listener has its own endpoint, closes it, too."""
        self._handle.close()
        if self._owner:
            await _run(self._endpoint._closing())

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Connection:
        handle = await _run(self._handle.accept())
        if handle is None:
            raise StopAsyncIteration
        return Connection(handle)


class Connection(BaseConnection):
    """A connection: an association of SCTP, which carries messages on several streams over all its paths.

    Iterating gives messages until the peer has shut the connection down. As a context manager, the connection is shut
    down at the end of the block, and aborted after an exception. When no reference to the connection is left, it is
    shut down in the background.
    """

    async def send(
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
        await _run(operation)

    async def send_tracked(
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
    ) -> Delivery:
        """As :meth:`send`, and returns an object that reports when the peer has the message."""
        operation = self._handle.send_tracked(
            data, stream, ppid, unordered, immediate_sack, reliability, context, urgent, path
        )
        return Delivery(await _run(operation))

    def writer(self, stream: int = 0, *, ppid: int = 0, unordered: bool = False) -> Writer:
        """A message that is written piece by piece, for one that is longer than the send buffer."""
        return Writer(self._handle.writer(stream, ppid, unordered))

    async def recv(self) -> Message | None:
        """The next message of any stream; None once the peer has shut the connection down and everything was read.

        Raises a :class:`ConnectionError` if the connection ended in another way, after everything was read.
        """
        return await _run(self._handle.recv())

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Message:
        message = await self.recv()
        if message is None:
            raise StopAsyncIteration
        return message

    def events(self) -> Events:
        """Events from now on: paths that fail or return, reports of the peer. There is one reader at a time."""
        return Events(self._handle.events())

    async def flush(self) -> None:
        """Waits until the peer has acknowledged everything that was sent so far."""
        await _run(self._handle.flush())

    async def paths(self) -> list[Path]:
        """The paths as they are now; none once the connection has ended."""
        return await _run(self._handle.paths())

    async def stats(self) -> Stats | None:
        """The counters of the connection and its state; None once it has ended."""
        return await _run(self._handle.stats())

    async def set_primary(self, address: Address) -> None:
        """Makes an address of the peer the primary one: without CMT, new data goes there as long as it works.

        Raises :class:`ValueError` if there is no confirmed path to the address.
        """
        await _run(self._handle.set_primary(address))

    async def heartbeat(self, address: Address) -> float:
        """Sends a HEARTBEAT to an address of the peer and waits for the answer: the round-trip time in seconds.

        Raises :class:`TimeoutError` if the path fails before the answer, and :class:`ValueError` if there is no path to
        the address.
        """
        return await _run(self._handle.heartbeat(address))

    async def set_stream_value(self, stream: int, value: int) -> None:
        """Sets the value of a stream for the stream scheduler: a priority for ``priority``, a weight for ``wfq``.

        Raises :class:`ValueError` if there is no such stream, or the weight is 0.
        """
        await _run(self._handle.set_stream_value(stream, value))

    async def reset_streams(
        self,
        direction: Literal["outgoing", "incoming", "both"] = "outgoing",
        streams: Sequence[int] = (),
    ) -> None:
        """Begins to reset streams: all, or those listed. Messages sent before are delivered before the reset.

        An event ``streams-reset`` reports the result for each direction. A reset by the peer is reported once all
        earlier messages on these streams have been received; later messages can be received after that.

        Raises :class:`ValueError`, which says why, if nothing was begun. Both ends need the option ``stream_reset``.
        """
        await _run(self._handle.reset_streams(direction, list(streams)))

    async def add_streams(self, outgoing: int = 0, incoming: int = 0) -> None:
        """Begins to add streams: ``outgoing`` to send on, ``incoming`` on which the peer sends.

        An event ``streams-added`` reports the result for each direction. Raises :class:`ValueError` if nothing was
        begun.
        """
        await _run(self._handle.add_streams(outgoing, incoming))

    async def reset_association(self) -> None:
        """Begins to reset all streams of both directions, and the TSNs. Otherwise as :meth:`reset_streams`."""
        await _run(self._handle.reset_association())

    async def add_local_address(self, address: Address) -> None:
        """Asks the peer to add a local address of the endpoint to this connection.

        An event ``address-change`` reports the answer of the peer. Raises :class:`ValueError` if the endpoint does not
        have the address, or the connection has it, or its peer has no ASCONF.
        """
        await _run(self._handle.add_local_address(address))

    async def remove_local_address(self, address: Address) -> None:
        """Ends the use of a local address by this connection. A peer with ASCONF is asked to delete it.

        Raises :class:`ValueError` if the connection does not use the address, or would have no path left.
        """
        await _run(self._handle.remove_local_address(address))

    async def set_peer_primary(self, address: Address) -> None:
        """Asks the peer to use this local address as its primary path.

        An event ``address-change`` reports the answer of the peer. Raises :class:`ValueError` if the connection does
        not use the address, or its peer has no ASCONF.
        """
        await _run(self._handle.set_peer_primary(address))

    async def set_auth_key(self, key: int, secret: Buffer) -> None:
        """Adds or replaces a key for AUTH. Both sides must have it before either activates it.

        Raises :class:`ValueError` if the connection has 64 keys.
        """
        await _run(self._handle.set_auth_key(key, secret))

    async def activate_auth_key(self, key: int) -> None:
        """Authenticates packets with this key from now on. Raises :class:`ValueError` if the key was not set."""
        await _run(self._handle.activate_auth_key(key))

    async def deactivate_auth_key(self, key: int) -> None:
        """Declares that this key, which must not be active, will not be activated again.

        An event ``auth-key-unused`` reports when no outstanding data needs the key. Raises :class:`ValueError` if the
        key was not set, or is active.
        """
        await _run(self._handle.deactivate_auth_key(key))

    async def remove_auth_key(self, key: int) -> None:
        """Removes a key that is not active. Raises :class:`ValueError` if the key was not set, or is active."""
        await _run(self._handle.remove_auth_key(key))

    async def shutdown(self) -> None:
        """Delivers all sent messages, ends the connection and waits for the end. Cancelling does not prevent the end.

        Raises a :class:`ConnectionError` if the connection ended in another way.
        """
        await _run(self._shutting())

    async def closed(self) -> Event:
        """Waits for the end of the connection, and returns the event with the reason."""
        return await _run(self._handle.closed())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if kind is None:
            await self.shutdown()
        elif not self._inherited:
            self.abort()


class Connecting(Coroutine[Any, Any, Connection]):
    """An attempt to connect: ``await`` returns the connection; ``async with`` also ends it, as for a connection."""

    def __init__(self, beginning: Coroutine[Any, Any, Connection]) -> None:
        self._beginning = beginning
        self._connection: Connection | None = None

    def __await__(self) -> Generator[Any, Any, Connection]:
        return self._beginning.__await__()

    def send(self, value: Any) -> Any:
        """See :class:`collections.abc.Coroutine`."""
        return self._beginning.send(value)

    def throw(self, *error: Any) -> Any:
        """See :class:`collections.abc.Coroutine`."""
        return self._beginning.throw(*error)

    def close(self) -> None:
        """See :class:`collections.abc.Coroutine`."""
        self._beginning.close()

    async def __aenter__(self) -> Connection:
        self._connection = await self
        return self._connection

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if self._connection is not None:
            await self._connection.__aexit__(kind, error, at)


class Delivery(Owned[_core.NetDelivery]):
    """The delivery of a message of :meth:`Connection.send_tracked`: await it. The message is sent even without that."""

    async def wait(self) -> None:
        """Waits until the peer has the message; whether its application has received it is not known.

        Raises :class:`anabranch.NotDeliveredError` if the message was abandoned or lost, and another
        :class:`ConnectionError` if the connection ended before.
        """
        await _run(self._handle.wait())

    def __await__(self) -> Generator[Any, None, None]:
        return self.wait().__await__()


class Writer(Owned[_core.NetWriter]):
    """A message of any length that is written piece by piece, and that the peer receives as one.

    While it is incomplete, no other message of the connection is sent. As a context manager, the message is finished at
    the end of the block. A part of a message cannot be withdrawn: after an exception or a cancellation, and if the
    writer is dropped unfinished, the connection is **aborted**, unless nothing was sent yet.
    """

    async def write(self, data: Buffer) -> None:
        """Adds bytes to the message, once there is room. If the call is cancelled, a part may have been added."""
        await _run(self._handle.write(data))

    async def finish(self) -> None:
        """Ends the message. Raises :class:`ValueError` if nothing was written."""
        await _run(self._handle.finish())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if kind is None:
            await self.finish()
        elif not self._inherited:
            self._handle.drop()


class Events(Owned[_core.NetEvents]):
    """The events of a connection. At most 256 wait to be read; then the oldest are lost, and ``lost`` counts them."""

    def __init__(self, handle: _core.NetEvents) -> None:
        super().__init__(handle)
        self.lost = 0

    async def next(self) -> Event | None:
        """The next event; None once the connection has ended."""
        while (found := await _run(self._handle.next())) is not None:
            event, lost = found
            self.lost += lost
            if event is not None:
                return event
        return None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        event = await self.next()
        if event is None:
            raise StopAsyncIteration
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
    **options: Unpack[Options],
) -> Connecting:
    """Connects to a peer from an endpoint of its own, which ends with the connection: see :meth:`Endpoint.connect`.

    With ``key``, the public key of the peer in ``peer`` is enough; ``peers`` can name a file that lists it instead.
    """

    async def connected() -> Connection:
        endpoint = Endpoint(
            local,
            udp_port=udp_port,
            remote_udp_port=remote_udp_port,
            key=key,
            peers=known(peers, peer, key),
            psk=psk,
            **options,
        )
        return await endpoint.connect(addresses, port, peer=peer)

    return Connecting(connected())
