"""SCTP on real networks, for asyncio.

::

    async with aio.Endpoint(local=["192.0.2.1", "198.51.100.1"], port=5000) as endpoint:
        connection = await endpoint.connect(["203.0.113.1", "203.0.113.2"], 5001)
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
from types import TracebackType
from typing import Protocol, Self, TypeVar, Unpack
from weakref import WeakKeyDictionary

from . import _core
from ._core import UDP_PORT, Event, Message, Path, SocketStats, Stats
from ._network import Addresses, BaseConnection, BaseEndpoint, BaseListener, Buffer, EndpointArguments, Peer
from .endpoint import Address
from .options import Options

__all__ = [
    "Connection",
    "Endpoint",
    "Event",
    "Events",
    "Listener",
    "Message",
    "Path",
    "Peer",
    "SocketStats",
    "Stats",
    "connect",
]

T = TypeVar("T")


class _Loop:
    """Runs the operations of one event loop.

    The task polls its operation itself, and is only woken from outside: no result is under way that a cancelled task
    would lose.
    """

    STREAK = 64
    """Operations that may be ready at once, one after the other, before other tasks get their turn."""

    def __init__(self) -> None:
        self._wakeups = _core.Wakeups()
        self._waiting: dict[int, asyncio.Future[None]] = {}
        self._streak = 0
        asyncio.get_running_loop().add_reader(self._wakeups.fileno(), self._wake)

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


# A loop holds its _Loop through the descriptor; the other way round there is no reference.
_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Loop] = WeakKeyDictionary()


async def _run(operation: _core.Operation[T]) -> T:
    loop = asyncio.get_running_loop()
    runs = _loops.get(loop)
    if runs is None:
        runs = _loops[loop] = _Loop()
    return await runs.run(operation)


class _Closeable(Protocol):
    """As a context, it is closed at the end. After an exception it does not wait for that."""

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

    As a context, it is closed at the end. After an exception it does not wait for that.
    """

    async def connect(
        self, addresses: Addresses, port: int, *, udp_port: int | None = None, **options: Unpack[Options]
    ) -> Connection:
        """Connects to an SCTP port of a peer at one or several addresses.

        ``udp_port``: its UDP port, if it is not ``remote_udp_port``. ``options`` that are left out are those of the
        endpoint.

        Raises :class:`ConnectionRefusedError` if the peer refuses, and :class:`TimeoutError` if it does not answer.
        """
        return Connection(await _run(self._connecting(addresses, port, udp_port, options)))

    def listen(self, backlog: int = 128) -> Listener:
        """Lets peers connect. At most ``backlog`` of them wait to be accepted; more are refused."""
        listener = Listener.__new__(Listener)
        BaseListener.__init__(listener, self, backlog, owner=False)
        return listener

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
        """Ends listening; peers that wait are shut down. If the endpoint is its own, closes that, too."""
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

    Iterating gives messages until the peer has shut the connection down. As a context, it is shut down at the end, and
    aborted if the end is an exception. When nobody holds it any more, it is shut down in the background.
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
    ) -> None:
        """Sends a message, once there is room for it. It is sent whole or, if this call raises, not at all.

        Messages of one ``stream`` arrive in order but for ``unordered`` ones. ``ppid`` (payload protocol identifier) is
        passed to the peer. ``immediate_sack`` asks the peer not to delay the acknowledgement. ``reliability`` says when
        the message is given up: a dict with one of ``lifetime`` (in seconds), ``retransmissions``, ``priority``. Both
        ends need the option ``pr_sctp``.

        Raises a :class:`ConnectionError` once the connection has ended, and :class:`ValueError` for a message that can
        never be sent: an empty one, one longer than ``send_buffer``, or one on a stream that does not exist.
        """
        await _run(self._handle.send(data, stream, ppid, unordered, immediate_sack, reliability))

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
        """The paths as they are now; none once the connection has ended. Times are in nanoseconds."""
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

        Raises :class:`TimeoutError` if the path fails before, and :class:`ValueError` if there is none.
        """
        return await _run(self._handle.heartbeat(address))

    async def shutdown(self) -> None:
        """Delivers what was sent, ends the connection and waits for the end, which cancelling does not prevent.

        Raises a :class:`ConnectionError` if it ended in another way.
        """
        await _run(self._shutting())

    async def closed(self) -> Event:
        """Waits for the end, and returns its event, which has the reason."""
        return await _run(self._handle.closed())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        if kind is None:
            await self.shutdown()
        else:
            self.abort()


class Events:
    """The events of a connection. At most 256 wait to be read; then the oldest are lost, and ``lost`` counts them."""

    def __init__(self, handle: _core.NetEvents) -> None:
        self._handle = handle
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


async def connect(
    addresses: Addresses,
    port: int,
    *,
    local: Addresses = (),
    udp_port: int = 0,
    remote_udp_port: int = UDP_PORT,
    **options: Unpack[Options],
) -> Connection:
    """Connects to a peer from an endpoint of its own, which ends with the connection: see :class:`Endpoint`."""
    endpoint = Endpoint(local, udp_port=udp_port, remote_udp_port=remote_udp_port, **options)
    return await endpoint.connect(addresses, port)
