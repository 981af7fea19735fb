"""Streams, local addresses, keys, tracked messages and writers of both interfaces, on loopback addresses."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

import pytest

import anabranch
from anabranch import aio, net
from anabranch.options import Options

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address only")

SERVER, FIRST, SECOND = "127.0.2.1", "127.0.2.2", "127.0.2.3"
EVERYTHING: Options = {
    "auth": True,
    "asconf": True,
    "stream_reset": True,
    "allow_reset": "all",
    "pr_sctp": True,
    "stream_scheduler": "wfq",
    "paths": "pairs",
    "outbound_streams": 10,
    "rto_max": "500 ms",
    "rto_min": "50 ms",
    "rto_initial": "100 ms",
}


@dataclass
class Pair:
    """Two endpoints and the two ends of a connection between them."""

    server: net.Endpoint
    client: net.Endpoint
    near: net.Connection
    far: net.Connection


@pytest.fixture
def pair() -> Iterator[Pair]:
    server = net.Endpoint(SERVER, udp_port=0, **EVERYTHING)
    client = net.Endpoint(FIRST, udp_port=0, remote_udp_port=server.udp_port, **EVERYTHING)
    listener = server.listen()
    near = client.connect(SERVER, server.port, timeout=10)
    far = listener.accept(timeout=10)
    yield Pair(server, client, near, far)
    for connection in near, far:
        connection.abort()
    client.close(timeout=10)
    server.close(timeout=10)


def with_aio(test: Callable[[aio.Endpoint, aio.Connection, aio.Connection], Awaitable[None]]) -> None:
    """Runs a test with an endpoint, its connection and the other end."""

    async def body() -> None:
        server = aio.Endpoint(SERVER, udp_port=0, **EVERYTHING)
        client = aio.Endpoint(FIRST, udp_port=0, remote_udp_port=server.udp_port, **EVERYTHING)
        async with asyncio.timeout(30), server, client:
            listener = server.listen()
            near = await client.connect(SERVER, server.port)
            far = await listener.accept()
            try:
                await test(client, near, far)
            finally:
                near.abort()
                far.abort()

    asyncio.run(body())


def event(events: net.Events, kind: str) -> net.Event:
    """The next event of a kind."""
    while found := events.next(timeout=10):
        if found.kind == kind:
            return found
    raise AssertionError(f"no event {kind}")


async def next_event(events: aio.Events, kind: str) -> aio.Event:
    async for found in events:
        if found.kind == kind:
            return found
    raise AssertionError(f"no event {kind}")


def data(connection: net.Connection) -> bytes:
    message = connection.recv(timeout=10)
    assert message is not None
    return message.data


def test_streams_are_reset_and_added(pair: Pair) -> None:
    ours, theirs = pair.near.events(), pair.far.events()
    pair.near.send(b"before", stream=1)
    pair.near.reset_streams(streams=[1])
    pair.near.send(b"behind", stream=1)
    performed = event(ours, "streams-reset")
    assert (performed.outgoing, performed.streams, performed.result) == (True, [1], "performed")
    assert data(pair.far) == b"before"
    assert event(theirs, "streams-reset").incoming
    assert data(pair.far) == b"behind"
    pair.near.add_streams(outgoing=2)
    assert event(ours, "streams-added").more_outgoing == 2
    pair.near.send(b"there", stream=11)
    assert data(pair.far) == b"there"
    pair.near.reset_association(timeout=10)
    assert event(ours, "streams-reset").incoming
    pair.near.set_stream_value(1, 3)
    with pytest.raises(ValueError, match="weight 0"):
        pair.near.set_stream_value(1, 0)
    with pytest.raises(ValueError, match="stream 99 does not exist"):
        pair.near.reset_streams("both", [99])
    with pytest.raises(ValueError, match="direction"):
        pair.near.reset_streams("up", [1])  # pyright: ignore[reportArgumentType]
    pair.near.abort()
    pair.near.closed(timeout=10)
    with pytest.raises(ConnectionAbortedError):
        pair.near.reset_streams()


def test_addresses_come_and_go(pair: Pair) -> None:
    ours = pair.near.events()
    pair.client.add_local_address(SECOND)
    added = event(ours, "address-change")
    assert (added.change, str(added.address), added.accepted) == ("add", SECOND, True)
    assert len(pair.client.sockets()) == 2
    pair.near.set_peer_primary(SECOND)
    assert event(ours, "address-change").accepted
    # There is no event, because the peer's address was active before its second path existed.
    deadline = time.monotonic() + 10
    while sum(path.state == "active" for path in pair.near.paths()) < 2:
        assert time.monotonic() < deadline, pair.near.paths()
        time.sleep(0.01)
    pair.client.remove_local_address(FIRST)
    assert [str(address) for address in pair.client.local_addresses] == [SECOND]
    assert event(ours, "address-change").change == "delete"
    pair.near.send(b"from the second")
    assert data(pair.far) == b"from the second"
    for call, words in [
        (lambda: pair.client.remove_local_address(SECOND), f"{SECOND} is the only address"),
        (lambda: pair.client.add_local_address(SECOND), f"{SECOND} already"),
        (lambda: pair.near.add_local_address("192.0.2.9"), r"does not have the address 192\.0\.2\.9"),
        (lambda: pair.near.remove_local_address(SECOND), f"without the address {SECOND}"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
    with pytest.raises(OSError, match=r"192\.0\.2\.9"):
        pair.client.add_local_address("192.0.2.9")
    pair.client.close(timeout=10)
    with pytest.raises(anabranch.EndpointClosedError):
        pair.client.add_local_address(FIRST)


def saved_line() -> str:
    """What half an hour ago was saved for the path between the two endpoints."""
    return f"{FIRST} {SERVER} 500000 20000 {int(time.time()) + 1800}\n"


def test_saved_paths_are_a_text_that_a_later_endpoint_takes(pair: Pair) -> None:
    title, line = pair.client.saved_paths(), saved_line()
    pair.client.restore_paths(title + line)
    assert pair.client.saved_paths() == title + line
    with pytest.raises(ValueError, match="saved paths, line 3: expected local and remote address"):
        pair.client.restore_paths(title + line + line[:20])
    pair.client.close(timeout=10)
    for call in pair.client.saved_paths, lambda: pair.client.restore_paths(title):
        with pytest.raises(anabranch.EndpointClosedError):
            call()


def test_aio_saves_and_restores_paths() -> None:
    async def test(client: aio.Endpoint, _near: aio.Connection, _far: aio.Connection) -> None:
        title, line = await client.saved_paths(), saved_line()
        await client.restore_paths(title + line)
        assert await client.saved_paths() == title + line

    with_aio(test)


def test_keys_are_changed(pair: Pair) -> None:
    ours = pair.near.events()
    for end in pair.near, pair.far:
        end.set_auth_key(7, b"secret")
        end.activate_auth_key(7)
    pair.near.send(b"with key 7")
    assert data(pair.far) == b"with key 7"
    with pytest.raises(ValueError, match="key 8"):
        pair.near.activate_auth_key(8)
    pair.near.activate_auth_key(0)
    pair.near.deactivate_auth_key(7)
    assert event(ours, "auth-key-unused").key == 7
    pair.near.remove_auth_key(7)


def test_a_delivery_tells_what_became_of_a_message(pair: Pair) -> None:
    delivery = pair.near.send_tracked(b"hello")
    delivery.wait(timeout=10)
    delivery.wait(timeout=0)
    assert data(pair.far) == b"hello"
    ours = pair.near.events()
    pair.near.send(bytes(1_000_000))  # later messages wait behind this one
    expired = pair.near.send_tracked(b"late", reliability={"lifetime": 0.0}, context=9)
    with pytest.raises(anabranch.NotDeliveredError):
        expired.wait(timeout=10)
    failed = event(ours, "send-failed")
    assert (failed.data, failed.context, failed.abandoned) == (b"late", 9, True)
    lost = pair.near.send_tracked(bytes(5_000_000))
    pair.near.abort()
    with pytest.raises(ConnectionAbortedError):
        lost.wait(timeout=10)


def test_a_message_longer_than_the_buffers_is_written_and_received_as_one(pair: Pair) -> None:
    pieces = [bytes([n]) * 700_000 for n in range(30)]
    parts: list[bytes] = []

    def read() -> None:
        while (message := pair.far.recv(timeout=10)) is not None:
            parts.append(message.data)
            if message.end_of_record:
                break

    reader = threading.Thread(target=read)
    reader.start()
    with pair.near.writer(stream=3, ppid=5) as writer:
        for piece in pieces:
            writer.write(piece, timeout=10)
    reader.join()
    assert b"".join(parts) == b"".join(pieces)
    with pytest.raises(BrokenPipeError):
        writer.write(b"more")
    with pytest.raises(ValueError, match="at least one byte"), pair.near.writer():
        pass


def test_a_writer_that_an_exception_leaves_aborts_the_connection(pair: Pair) -> None:
    def fail() -> None:
        with pair.near.writer() as unfinished:
            unfinished.write(bytes(300_000))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert pair.near.closed(timeout=10).reason == "local-abort"


def test_asyncio_has_the_same() -> None:
    async def test(client: aio.Endpoint, near: aio.Connection, far: aio.Connection) -> None:
        ours = near.events()
        await near.reset_streams("outgoing", [1])
        assert (await next_event(ours, "streams-reset")).result == "performed"
        await near.add_streams(outgoing=1)
        assert (await next_event(ours, "streams-added")).more_outgoing == 1
        await near.set_stream_value(2, 5)
        await near.reset_association()
        await client.add_local_address(SECOND)
        assert (await next_event(ours, "address-change")).accepted
        await near.set_peer_primary(SECOND)
        while sum(path.state == "active" for path in await near.paths()) < 2:
            await asyncio.sleep(0.01)
        await near.remove_local_address(FIRST)
        await near.add_local_address(FIRST)
        await client.remove_local_address(FIRST)
        await near.set_auth_key(3, b"secret")
        await near.activate_auth_key(3)
        await near.activate_auth_key(0)
        await near.deactivate_auth_key(3)
        await near.remove_auth_key(3)
        with pytest.raises(ValueError, match=FIRST):
            await near.remove_local_address(FIRST)

    with_aio(test)


def test_asyncio_deliveries_are_awaited_and_can_be_cancelled() -> None:
    async def test(_client: aio.Endpoint, near: aio.Connection, far: aio.Connection) -> None:
        deliveries = [await near.send_tracked(bytes(20_000)) for _ in range(50)]
        waiting = asyncio.ensure_future(deliveries[-1].wait())
        await asyncio.sleep(0)
        waiting.cancel()
        for _ in deliveries:
            assert await far.recv() is not None
        for delivery in deliveries:
            await delivery
        expired = await near.send_tracked(b"late", reliability={"lifetime": 0.0})
        with pytest.raises(anabranch.NotDeliveredError):
            await expired

    with_aio(test)


def test_an_asyncio_writer_writes_a_long_message_and_aborts_when_it_is_cancelled() -> None:
    async def test(_client: aio.Endpoint, near: aio.Connection, far: aio.Connection) -> None:
        async def write(parts: int) -> None:
            async with near.writer(stream=2) as writer:
                for n in range(parts):
                    await writer.write(bytes([n]) * 700_000)

        task = asyncio.create_task(write(30))
        length = 0
        while (message := await far.recv()) is not None:
            length += len(message.data)
            if message.end_of_record:
                break
        await task
        assert length == 30 * 700_000
        # The peer does not read, so the write waits for room: both buffers hold at most 64 MiB.
        task = asyncio.create_task(write(200))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await near.closed()).reason == "local-abort"

    with_aio(test)


def test_loopback_addresses_stay_while_interfaces_are_watched() -> None:
    with net.Endpoint([FIRST, SECOND], udp_port=0, watch_addresses=True) as endpoint:
        endpoint.add_local_address("127.0.2.4")
        assert [str(address) for address in endpoint.local_addresses] == [FIRST, SECOND, "127.0.2.4"]
