"""The interface for asyncio on loopback addresses: real sockets, no loss."""

from __future__ import annotations

import asyncio
import gc
import socket
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import anabranch
from anabranch import aio

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address only")

PATHS = ["127.0.0.1", "127.0.0.2"]


@dataclass
class Pair:
    """Two endpoints and the two ends of a connection between them."""

    server: aio.Endpoint
    client: aio.Endpoint
    near: aio.Connection
    far: aio.Connection


@asynccontextmanager
async def connected() -> AsyncIterator[Pair]:
    """Two endpoints with a connection, aborted at the end."""
    async with (
        aio.Endpoint(PATHS, udp_port=0) as server,
        aio.Endpoint(PATHS, udp_port=0, remote_udp_port=server.udp_port) as client,
    ):
        listener = server.listen()
        near = await client.connect(PATHS, server.port)
        far = await listener.accept()
        try:
            yield Pair(server, client, near, far)
        finally:
            near.abort()
            far.abort()


def run(test: Coroutine[Any, Any, None], limit: float = 60) -> None:
    """Runs a test in a loop of its own, for a limited time."""

    async def limited() -> None:
        async with asyncio.timeout(limit):
            await test

    asyncio.run(limited())


def with_pair(test: Callable[[Pair], Awaitable[None]]) -> None:
    async def body() -> None:
        async with connected() as pair:
            await test(pair)

    run(body())


async def received(connection: aio.Connection) -> bytes:
    message = await connection.recv()
    assert message is not None
    return message.data


def watched_descriptors() -> int:
    # asyncio has no public way to ask for the descriptors that a loop watches.
    loop: Any = asyncio.get_running_loop()
    return len(loop._selector.get_map())


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_a_server_echoes_to_many_clients_until_they_end() -> None:
    async def serve(connection: aio.Connection) -> None:
        async with connection:
            async for message in connection:
                await connection.send(message.data, stream=message.stream, unordered=message.unordered)

    async def client(n: int, listener: aio.Listener) -> None:
        remote = listener.udp_port
        async with aio.connect(PATHS, listener.port, local=PATHS, remote_udp_port=remote) as connection:
            assert str(connection.peer) == f"127.0.0.1, 127.0.0.2 port {listener.port}"
            for stream in range(3):
                await connection.send(bytearray([n, stream]), stream=stream, unordered=stream == 2)
            messages = [await anext(connection) for _ in range(3)]
            assert {(m.stream, m.data, m.unordered) for m in messages} == {
                (stream, bytes([n, stream]), stream == 2) for stream in range(3)
            }

    async def body() -> None:
        async with aio.Listener(PATHS, udp_port=0) as listener, asyncio.TaskGroup() as group:

            async def accept() -> None:
                async for connection in listener:
                    group.create_task(serve(connection))

            accepting = group.create_task(accept())
            await asyncio.gather(*(client(n, listener) for n in range(5)))
            accepting.cancel()

    run(body())


def test_ten_megabytes_arrive_in_order_over_two_addresses() -> None:
    count, length = 1000, 10_000

    async def read(connection: aio.Connection) -> int:
        n = 0
        async for message in connection:
            assert message.data == bytes([n % 256]) * length
            n += 1
        return n

    async def body(pair: Pair) -> None:
        reader = asyncio.create_task(read(pair.far))
        for n in range(count):
            await pair.near.send(bytes([n % 256]) * length)
        await pair.near.flush()
        paths = await pair.near.paths()
        assert {str(path.remote) for path in paths} == set(PATHS)
        # The number of packets on each path depends on the load of the machine.
        assert all(path.data_packets > 0 for path in paths)
        stats = await pair.near.stats()
        assert stats is not None
        assert stats.buffered == 0
        await pair.near.shutdown()
        assert await reader == count

    with_pair(body)


async def fill(connection: aio.Connection) -> int:
    """Sends until there has been no room for a while."""
    sent = 0
    while True:
        try:
            async with asyncio.timeout(0.3):
                await connection.send(bytes(60_000))
        except TimeoutError:
            return sent
        sent += 1
        assert sent < 2000, "120 MB were taken though nobody reads"


def test_what_nobody_reads_stops_the_sender() -> None:
    async def body(pair: Pair) -> None:
        sent = await fill(pair.near)
        assert not pair.near.try_send(bytes(60_000))
        waiting = asyncio.create_task(pair.near.send(b"the last"))
        for _ in range(sent):
            assert await received(pair.far) == bytes(60_000)
        await waiting
        assert await received(pair.far) == b"the last"

    with_pair(body)


def test_a_send_that_is_cancelled_sends_nothing_and_lets_the_next_one_pass() -> None:
    async def body(pair: Pair) -> None:
        sent = await fill(pair.near)
        senders = [asyncio.create_task(pair.near.send(bytes([n]) * 60_000)) for n in (1, 2, 3)]
        await asyncio.sleep(0.05)
        senders[0].cancel()
        senders[2].cancel()
        for _ in range(sent):
            assert await received(pair.far) == bytes(60_000)
        assert await received(pair.far) == b"\2" * 60_000
        await senders[1]
        await pair.near.send(b"the last")
        assert await received(pair.far) == b"the last"
        assert senders[0].cancelled()

    with_pair(body)


def test_a_recv_that_is_cancelled_at_any_moment_loses_nothing() -> None:
    async def body(pair: Pair) -> None:
        got: list[int] = []
        cancelled = 0
        for n in range(200):
            task = asyncio.create_task(pair.near.recv())
            await asyncio.sleep(0)
            await pair.far.send(n.to_bytes(2, "big"))
            # The loop does not run here: the message arrives and its wake-up waits before the task is cancelled.
            deadline = time.monotonic() + 10
            while not pair.near.unread() and time.monotonic() < deadline:
                time.sleep(0.0002)
            for _ in range(n % 5):
                await asyncio.sleep(0)
            task.cancel()
            try:
                message = await task
                assert message is not None
                got.append(int.from_bytes(message.data, "big"))
            except asyncio.CancelledError:
                cancelled += 1
                got.append(int.from_bytes(await received(pair.near), "big"))
        assert got == list(range(200))
        assert 0 < cancelled < 200, "both orders are tried"

    with_pair(body)


def test_a_connection_is_a_context_that_ends_it_and_aborts_it_after_an_exception() -> None:
    async def fail(begun: aio.Connecting) -> None:
        async with begun:
            raise KeyError

    async def body() -> None:
        async with aio.Listener(PATHS, udp_port=0) as listener:

            def begin() -> aio.Connecting:
                return aio.connect(PATHS, listener.port, local=PATHS, remote_udp_port=listener.udp_port)

            async with begin() as connection:
                far = await listener.accept()
            assert (connection.state, await far.recv()) == ("closed", None)
            with pytest.raises(KeyError):
                await fail(begin())
            with pytest.raises(ConnectionError):
                await (await listener.accept()).recv()
            task = asyncio.create_task(begin())
            far = await listener.accept()
            assert isinstance(await task, aio.Connection)
            far.abort()

    run(body())


def test_an_attempt_to_connect_that_is_cancelled_is_given_up() -> None:
    async def body() -> None:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as deaf:
            deaf.bind(("127.0.0.1", 0))
            async with aio.Endpoint("127.0.0.1", udp_port=0) as endpoint:
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.2):
                        await endpoint.connect("127.0.0.1", 5001, udp_port=deaf.getsockname()[1])
                # Closing the endpoint does not wait for the attempt to connect.
                async with asyncio.timeout(5):
                    await endpoint.close()

    run(body())


def test_hundreds_of_operations_wait_through_one_descriptor() -> None:
    async def body(pair: Pair) -> None:
        watched = watched_descriptors()
        opened = descriptors()
        readers = [asyncio.create_task(pair.near.recv()) for _ in range(300)]
        watchers = [asyncio.create_task(connection.closed()) for connection in (pair.near, pair.far) for _ in range(50)]
        await asyncio.sleep(0.1)
        assert not any(task.done() for task in readers + watchers)
        assert watched_descriptors() == watched
        assert descriptors() == opened
        for n in range(300):
            await pair.far.send(n.to_bytes(2, "big"))
        messages = await asyncio.gather(*readers)
        assert {m.data for m in messages if m} == {n.to_bytes(2, "big") for n in range(300)}
        await pair.near.shutdown()
        assert {event.reason for event in await asyncio.gather(*watchers)} == {"graceful"}

    with_pair(body)


def test_operations_that_can_go_on_together_wake_the_loop_together(monkeypatch: pytest.MonkeyPatch) -> None:
    wakes: list[int] = []
    wake = aio._Loop._wake
    monkeypatch.setattr(aio._Loop, "_wake", lambda self: (wakes.append(1), wake(self)))

    async def body(pair: Pair) -> None:
        waiting = [asyncio.create_task(pair.near.closed()) for _ in range(100)]
        await asyncio.sleep(0.05)
        wakes.clear()
        pair.near.abort()
        await asyncio.gather(*waiting)
        assert len(wakes) < 10

    with_pair(body)


def test_a_reader_that_never_waits_lets_other_tasks_run() -> None:
    async def body(pair: Pair) -> None:
        count = 2000
        for _ in range(count):
            await pair.far.send(b"x")
        await pair.far.flush()
        while pair.near.unread() < count:
            await asyncio.sleep(0.01)
        turns = 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(other())
        for _ in range(count):
            await received(pair.near)
        task.cancel()
        assert turns >= count // 100

    with_pair(body)


def test_an_abort_ends_iteration_with_its_reason() -> None:
    async def body(pair: Pair) -> None:
        await pair.far.send(b"half of it")
        assert await received(pair.near) == b"half of it"
        pair.far.abort(b"the disk is full")
        with pytest.raises(
            ConnectionResetError, match=r'port \d+: the peer aborted the connection: "the disk is full"'
        ):
            async for _ in pair.near:
                pass
        assert repr(pair.near).startswith("<anabranch.aio.Connection to 127.0.0.1, 127.0.0.2 port ")
        assert repr(pair.near).endswith(": closed (peer-abort)>")

    with_pair(body)


def test_a_heartbeat_measures_a_path() -> None:
    async def body(pair: Pair) -> None:
        assert 0 < await pair.near.heartbeat("127.0.0.2") < 10
        await pair.near.set_primary("127.0.0.2")
        assert [str(path.remote) for path in await pair.near.paths() if path.primary] == ["127.0.0.2"]

    with_pair(body)


def test_events_are_iterated_until_the_connection_ends() -> None:
    async def body(pair: Pair) -> None:
        events = pair.near.events()
        waiting = asyncio.create_task(anext(events))
        await pair.far.shutdown()
        first = await waiting
        kinds = [first.kind] + [event.kind async for event in events]
        assert "shutdown-received" in kinds
        assert events.lost == 0

    with_pair(body)


def test_closing_a_listener_ends_those_who_wait() -> None:
    async def body() -> None:
        listener = aio.Listener("127.0.0.1", udp_port=0)
        waiting = asyncio.create_task(listener.accept())
        await asyncio.sleep(0.05)
        await listener.close()
        with pytest.raises(anabranch.EndpointClosedError, match=r"<anabranch\.aio\.Listener 127.* port .*closed>"):
            await waiting
        assert [connection async for connection in listener] == []

    run(body())


def test_errors_name_the_address_and_the_port() -> None:
    async def body() -> None:
        with pytest.raises(ValueError, match="port 99999 is out of range: expected 0 to 65535"):
            aio.Listener(PATHS, port=99999)
        with pytest.raises(OSError, match=r"cannot bind 192\.0\.2\.1:9899"):
            aio.Endpoint("192.0.2.1")
        async with aio.Endpoint(PATHS, udp_port=0) as server, aio.Endpoint(PATHS, udp_port=0) as client:
            with pytest.raises(ConnectionRefusedError, match=rf"127\.0\.0\.1, 127\.0\.0\.2 port {server.port} "):
                await client.connect(PATHS, server.port, udp_port=server.udp_port)

    run(body())


def test_a_connection_works_in_a_later_event_loop_and_loops_leave_no_descriptors() -> None:
    kept: list[Any] = []

    async def begin() -> None:
        server = aio.Endpoint(PATHS, udp_port=0)
        client = aio.Endpoint(PATHS, udp_port=0, remote_udp_port=server.udp_port)
        listener = server.listen()
        near = await client.connect(PATHS, server.port)
        kept.extend([server, client, near, await listener.accept()])

    async def echo() -> None:
        _, _, near, far = kept
        waiting = asyncio.create_task(far.recv())
        await asyncio.sleep(0.01)
        await near.send(b"again")
        assert (await waiting).data == b"again"

    async def end() -> None:
        server, client, _, _ = kept
        await client.close()
        await server.close()

    run(begin())
    run(echo())
    gc.collect()
    opened = descriptors()
    for _ in range(5):
        run(echo())
    gc.collect()
    assert descriptors() == opened
    run(end())


def test_an_event_loop_without_add_reader_is_an_error_that_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    async def begin() -> None:
        await aio.Endpoint(PATHS, udp_port=0).connect(PATHS, 5001)

    monkeypatch.setattr(asyncio.SelectorEventLoop, "add_reader", Mock(side_effect=NotImplementedError))
    with pytest.raises(RuntimeError, match=r"expected .* add_reader, found .*loop_factory=asyncio.SelectorEventLoop"):
        run(begin())


def test_with_keys_an_echo_is_encrypted_and_both_ends_know_who_the_other_one_is(tmp_path: Path) -> None:
    async def test() -> None:
        server = aio.Listener(PATHS, udp_port=0, key=tmp_path / "server.key", accept_any=True)
        client = aio.Endpoint(
            PATHS,
            udp_port=0,
            remote_udp_port=server.udp_port,
            key=tmp_path / "client.key",
            peers=[server.identity or ""],
        )
        async with server, client, client.connect(PATHS, server.port) as near:
            far = await server.accept()
            assert (near.peer_identity, far.peer_identity) == (server.identity, client.identity)
            await near.send(b"secret")
            assert await received(far) == b"secret"

    run(test())


def test_an_unknown_key_gets_no_connection(tmp_path: Path) -> None:
    async def test() -> None:
        key, other = tmp_path / "server.key", tmp_path / "other.key"
        async with aio.Endpoint("127.0.0.1", udp_port=0, key=other, accept_any=True) as stranger:
            known = stranger.identity
        assert known is not None
        async with aio.Listener("127.0.0.1", udp_port=0, key=key, peers=[known]) as listener:
            to: dict[str, Any] = {
                "local": "127.0.0.1",
                "remote_udp_port": listener.udp_port,
                "peer": listener.identity,
            }
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(1):
                    await aio.connect("127.0.0.1", listener.port, key=tmp_path / "client.key", **to)
            async with aio.connect("127.0.0.1", listener.port, key=other, **to) as near:
                assert near.peer_identity == listener.identity

    run(test())
