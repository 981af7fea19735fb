"""The blocking interface on loopback addresses: real sockets, no loss."""

from __future__ import annotations

import doctest
import errno
import inspect
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import anabranch
from anabranch import EndpointClosedError, aio, net

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems have one loopback address only")

ROOT = Path(__file__).parents[2]
PATHS = ["127.0.0.1", "127.0.0.2"]


@dataclass
class Pair:
    """Two endpoints and the two ends of a connection between them."""

    server: net.Endpoint
    client: net.Endpoint
    listener: net.Listener
    near: net.Connection
    far: net.Connection


@pytest.fixture
def pair(request: pytest.FixtureRequest) -> Iterator[Pair]:
    """Two endpoints with the options that the test names, or the defaults."""
    options = getattr(request, "param", {})
    server = net.Endpoint(PATHS, udp_port=0, **options)
    client = net.Endpoint(PATHS, udp_port=0, remote_udp_port=server.udp_port, **options)
    listener = server.listen()
    near = client.connect(PATHS, server.port, timeout=10)
    far = listener.accept(timeout=10)
    yield Pair(server, client, listener, near, far)
    for connection in near, far:
        connection.abort()
    client.close(timeout=10)
    server.close(timeout=10)


@pytest.fixture
def silent() -> Iterator[int]:
    """A UDP port of 127.0.0.1 where nobody answers."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as deaf:
        deaf.bind(("127.0.0.1", 0))
        yield deaf.getsockname()[1]


@pytest.mark.parametrize(
    "data", [b"hello", bytearray(b"hello"), memoryview(b"hello"), memoryview(b"h-e-l-l-o")[::2]], ids=repr
)
def test_buffers_of_bytes_are_echoed(pair: Pair, data: bytes | bytearray | memoryview) -> None:
    pair.near.send(data, stream=3, ppid=7, timeout=10)
    message = pair.far.recv(timeout=10)
    assert message is not None
    assert (message.data, len(message), message.end_of_record) == (b"hello", 5, True)
    assert (message.stream, message.ppid, message.unordered) == (3, 7, False)
    pair.far.send(message.data, unordered=True, immediate_sack=True, timeout=10)
    echo = pair.near.recv(timeout=10)
    assert echo is not None
    assert (echo.data, echo.unordered) == (b"hello", True)
    assert repr(echo) == "<Message: 5 bytes on stream 0, unordered>"


@pytest.mark.parametrize("pair", [{"profile": "standard"}], indirect=True)
def test_a_message_leaves_on_the_path_that_it_names(pair: Pair) -> None:
    deadline = time.monotonic() + 10
    while pair.near.paths()[1].state != "active":
        assert time.monotonic() < deadline
        time.sleep(0.01)
    pair.near.send(b"hello", path=1)
    pair.near.send_tracked(b"hello", path=1).wait(timeout=10)
    assert pair.near.try_send(b"hello", path=1)
    pair.near.flush(timeout=10)
    assert [path.data_packets > 0 for path in pair.near.paths()] == [False, True]
    with pytest.raises(ValueError, match="path"):
        pair.near.send(b"hello", path=256)


@pytest.mark.parametrize("pair", [{"send_buffer": "20 kB", "receive_buffer": "20 kB"}], indirect=True)
def test_an_urgent_message_has_room_in_a_full_buffer(pair: Pair) -> None:
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline:
        pair.near.try_send(bytes(1000))
    assert not pair.near.try_send(bytes(1000))
    assert pair.near.try_send(bytes(1000), urgent=True)


def test_durations_are_seconds(pair: Pair) -> None:
    pair.near.send(b"hello")
    pair.near.flush(timeout=10)
    first, stats = pair.near.paths()[0], pair.near.stats()
    assert first.srtt is not None
    assert stats is not None
    assert 0 < first.srtt < 1 <= first.rto + 1 < 62
    assert all(isinstance(times, float) for times in [*stats.limited_by.values(), first.blocks])


def test_a_path_that_answers_is_not_silent_and_has_received_packets(pair: Pair) -> None:
    pair.near.send(b"hello")
    pair.near.flush(timeout=10)
    path = pair.near.paths()[0]
    assert (path.silent, path.received_bytes > 0) == (False, True)


def test_text_is_not_bytes(pair: Pair) -> None:
    with pytest.raises(TypeError, match="expected bytes, a bytearray or a memoryview of bytes, not `str`"):
        pair.near.send("hello")  # pyright: ignore[reportArgumentType]


# The transfer is short. A scheduler that compares round-trip times may send all of it on one path.
@pytest.mark.parametrize("pair", [{"cmt": {"path_selection": "round-robin"}}], indirect=True)
def test_ten_megabytes_arrive_in_order_over_two_addresses(pair: Pair) -> None:
    count, length = 1000, 10_000
    right: list[bool] = []

    def read() -> None:
        right.extend(message.data == bytes([n % 256]) * length for n, message in enumerate(pair.far))

    reader = threading.Thread(target=read)
    reader.start()
    for n in range(count):
        pair.near.send(bytes([n % 256]) * length, timeout=30)
    pair.near.flush(timeout=30)
    paths = pair.near.paths()
    assert {str(path.remote) for path in paths} == set(PATHS)
    assert all(path.data_packets > 100 for path in paths)
    assert all(socket.bytes_sent > 100_000 for socket in pair.client.sockets())
    pair.near.shutdown(timeout=30)
    reader.join(timeout=30)
    assert right == [True] * count


def test_what_nobody_reads_stops_the_sender(pair: Pair) -> None:
    sent = 0

    def send() -> None:
        nonlocal sent
        while sent < 2000:
            pair.near.send(bytes(60_000), timeout=0.3)
            sent += 1

    with pytest.raises(TimeoutError, match=r"send: not done within 0\.3 s on <anabranch\.net\.Connection to 127"):
        send()
    assert not pair.near.try_send(bytes(60_000))
    received = 0
    while received < sent:
        assert pair.far.recv(timeout=30) is not None
        received += 1
    with pytest.raises(TimeoutError):
        pair.far.recv(timeout=0.3)
    assert pair.near.try_send(b"there is room again")


def test_a_timeout_names_the_peer_and_loses_nothing(pair: Pair) -> None:
    begin = time.monotonic()
    with pytest.raises(TimeoutError, match=rf"recv: not done within 0.2 s .* port {pair.server.port}: open"):
        pair.near.recv(timeout=0.2)
    assert 0.2 <= time.monotonic() - begin < 5
    pair.far.send(b"later")
    message = pair.near.recv(timeout=10)
    assert message is not None
    assert message.data == b"later"


@pytest.mark.parametrize("timeout", [-1, float("nan")])
def test_a_timeout_that_is_no_time_is_refused(pair: Pair, timeout: float) -> None:
    with pytest.raises(ValueError, match="expected seconds"):
        pair.near.recv(timeout=timeout)


def test_a_peer_that_does_not_answer_lets_connect_time_out(silent: int) -> None:
    with net.Endpoint("127.0.0.1", udp_port=0) as endpoint:
        with pytest.raises(TimeoutError, match=r"connect to 127\.0\.0\.1 port 5001: not done within 0\.2 s"):
            endpoint.connect("127.0.0.1", 5001, udp_port=silent, timeout=0.2)
        with pytest.raises(TimeoutError, match=rf"127\.0\.0\.1 port 5001 \(UDP port {silent}\): no answer"):
            endpoint.connect("127.0.0.1", 5001, udp_port=silent, rto_initial="0.1 s", max_init_retransmits=1)


def test_nobody_listens_so_that_the_peer_refuses() -> None:
    with net.Endpoint(PATHS, udp_port=0) as server:
        refused = (
            rf"cannot connect to 127\.0\.0\.1, 127\.0\.0\.2 port {server.port} \(UDP port {server.udp_port}\): the peer"
        )
        with pytest.raises(ConnectionRefusedError, match=refused):
            net.connect(PATHS, server.port, local=PATHS, remote_udp_port=server.udp_port, timeout=10)


@pytest.mark.parametrize("addresses", [PATHS, PATHS[::-1]])
def test_an_address_that_refuses_does_not_end_the_attempt_at_the_others(addresses: list[str]) -> None:
    with net.Listener([PATHS[0]], udp_port=0) as listener:
        near = net.connect(addresses, listener.port, remote_udp_port=listener.udp_port, timeout=0.9)
        with near, listener.accept(timeout=10) as far:
            near.send(b"hello")
            message = far.recv(timeout=10)
            assert message is not None
            assert message.data == b"hello"


def test_a_full_backlog_refuses_and_says_so() -> None:
    with net.Listener(PATHS, udp_port=0, backlog=1) as listener:
        connect = {"local": PATHS, "remote_udp_port": listener.udp_port, "timeout": 10}
        held = net.connect(PATHS, listener.port, **connect)
        with pytest.raises(ConnectionRefusedError, match='the peer aborted the connection: "backlog full"'):
            net.connect(PATHS, listener.port, **connect)
        assert held.state == "open"


def test_errors_name_the_address_and_the_port() -> None:
    with pytest.raises(ValueError, match="port 99999 is out of range: expected 0 to 65535"):
        net.Endpoint(PATHS, port=99999)
    with pytest.raises(ValueError, match="port -1 is out of range: expected 0 to 65535"):
        net.Endpoint(PATHS, udp_port=-1)
    with pytest.raises(ValueError, match="'localhost' is not an IP address"):
        net.Endpoint("localhost")
    with pytest.raises(OSError, match=r"cannot bind 192\.0\.2\.1:9899: .*no interface of this host") as info:
        net.Endpoint("192.0.2.1")
    assert info.value.errno == errno.EADDRNOTAVAIL
    with net.Endpoint("127.0.0.1", udp_port=0) as endpoint:
        with pytest.raises(OSError, match=rf"cannot bind 127\.0\.0\.1:{endpoint.udp_port}: .*choose another UDP port"):
            net.Endpoint("127.0.0.1", udp_port=endpoint.udp_port)
        with pytest.raises(ValueError, match="port 99999"):
            endpoint.connect("127.0.0.1", 99999)
        with pytest.raises(ValueError, match="remote port is 0: expected 1 to 65535"):
            endpoint.connect("127.0.0.1", 0)
        with pytest.raises(ValueError, match="::1: the endpoint has no IPv6 address"):
            endpoint.connect("::1", 5001)
        with pytest.raises(ValueError, match=r"'192\.0\.2' is not an IP address"):
            endpoint.connect(["192.0.2"], 5001)
    with pytest.raises(anabranch.ConfigError, match="did you mean `rto_min`"):
        net.Endpoint("127.0.0.1", udp_port=0, rto_mni="1 s")  # pyright: ignore[reportCallIssue]


def test_messages_that_can_never_be_sent_are_refused_with_the_reason(pair: Pair) -> None:
    with pytest.raises(ValueError, match="at least one byte"):
        pair.near.send(b"")
    with pytest.raises(ValueError, match="stream 9999 does not exist"):
        pair.near.send(b"x", stream=9999)
    with pytest.raises(ValueError, match="send it in pieces"):
        pair.near.try_send(bytes(100 << 20))


def test_a_connection_that_was_shut_down_reads_to_its_end_and_takes_no_more(pair: Pair) -> None:
    pair.near.send(b"last words")
    pair.near.shutdown(timeout=10)
    assert [message.data for message in pair.far] == [b"last words"]
    assert pair.far.recv() is None
    assert pair.far.closed().reason == "graceful"
    for ended in pair.near, pair.far:
        with pytest.raises(BrokenPipeError, match=r"127\.0\.0\.1, 127\.0\.0\.2 port \d+: .*shut down"):
            ended.send(b"too late")
    assert repr(pair.near).endswith(f"127.0.0.2 port {pair.server.port}: closed (graceful)>")


def test_an_abort_tells_the_peer_its_reason(pair: Pair) -> None:
    pair.far.abort(b"the disk is full")
    with pytest.raises(ConnectionResetError, match='the peer aborted the connection: "the disk is full"'):
        pair.near.recv(timeout=10)
    with pytest.raises(ConnectionResetError):
        pair.near.send(b"x")
    assert pair.far.closed(timeout=10).reason == "local-abort"
    with pytest.raises(ConnectionAbortedError, match="on this side"):
        pair.far.recv(timeout=10)


def test_an_exception_in_the_context_of_a_connection_aborts_it(pair: Pair) -> None:
    def fail() -> None:
        with pair.near as connection:
            connection.send(b"half of it")
            raise EOFError

    with pytest.raises(EOFError):
        fail()
    with pytest.raises(ConnectionResetError):
        list(pair.far)


def test_other_threads_run_while_one_waits(pair: Pair) -> None:
    sender = threading.Timer(0.1, pair.far.send, [b"from another thread"])
    sender.start()
    # If the wait held the GIL, the sender could not run, and the timeout would pass.
    message = pair.near.recv(timeout=10)
    assert message is not None
    assert message.data == b"from another thread"
    sender.join()


@pytest.mark.usefixtures("interrupts")
def test_a_signal_ends_a_wait(pair: Pair) -> None:
    killer = threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT])
    killer.start()
    begin = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        pair.near.recv(timeout=30)
    assert time.monotonic() - begin < 10
    killer.join()
    pair.far.send(b"still there")
    assert pair.near.recv(timeout=10) is not None


def test_a_heartbeat_measures_a_path(pair: Pair) -> None:
    assert 0 < pair.near.heartbeat("127.0.0.2", timeout=10) < 10
    with pytest.raises(ValueError, match=r"no path to 192\.0\.2\.1"):
        pair.near.heartbeat("192.0.2.1")
    pair.near.set_primary("127.0.0.2")
    assert [str(path.remote) for path in pair.near.paths() if path.primary] == ["127.0.0.2"]
    with pytest.raises(ValueError, match=r"no path to 192\.0\.2\.1"):
        pair.near.set_primary("192.0.2.1")


def test_events_are_read_until_the_connection_ends(pair: Pair) -> None:
    events = pair.near.events()
    pair.far.shutdown(timeout=10)
    assert "shutdown-received" in [event.kind for event in events]
    assert (events.next(), events.lost) == (None, 0)


def test_the_oldest_events_are_lost_and_counted(pair: Pair) -> None:
    events = pair.near.events()
    for _ in range(260):
        pair.near.heartbeat("127.0.0.1", timeout=10)
    pair.far.abort()
    pair.near.closed(timeout=10)
    assert len(list(events)) == 256
    assert events.lost >= 4


def test_an_endpoint_that_an_exception_leaves_closes_without_waiting(pair: Pair) -> None:
    def fail() -> None:
        with pair.client:
            raise EOFError

    with pytest.raises(EOFError):
        fail()
    assert repr(pair.client).endswith(": closed>")
    assert pair.near.closed(timeout=10).reason == "graceful"


def test_statistics_count_and_end_with_the_connection(pair: Pair) -> None:
    pair.near.send(bytes(5000))
    pair.near.flush(timeout=10)
    stats = pair.near.stats()
    assert stats is not None
    assert stats.packets_sent > 4
    assert stats.buffered == 0
    assert [str(path.remote) for path in pair.near.paths() if path.primary] == ["127.0.0.1"]
    pair.near.shutdown(timeout=10)
    assert pair.near.stats() is None
    assert pair.near.paths() == []


def test_closing_a_listener_ends_those_who_wait() -> None:
    listener = net.Listener("127.0.0.1", udp_port=0)
    assert repr(listener) == (
        f"<anabranch.net.Listener 127.0.0.1 port {listener.port}, UDP port {listener.udp_port}: listening>"
    )
    with pytest.raises(TimeoutError, match=r"accept: not done within 0\.1 s on <anabranch\.net\.Listener"):
        listener.accept(timeout=0.1)
    closer = threading.Timer(0.1, listener.close)
    closer.start()
    assert list(listener) == []
    closer.join()
    with pytest.raises(anabranch.EndpointClosedError, match="closed"):
        listener.accept()


def test_a_closed_endpoint_says_so() -> None:
    endpoint = net.Endpoint("127.0.0.1", port=5000, udp_port=0)
    assert repr(endpoint) == f"<anabranch.net.Endpoint 127.0.0.1 port 5000, UDP port {endpoint.udp_port}: open>"
    endpoint.close(timeout=10)
    assert repr(endpoint).endswith(": closed>")
    with pytest.raises(anabranch.EndpointClosedError, match=r"cannot connect to 127\.0\.0\.1 port 5001"):
        endpoint.connect("127.0.0.1", 5001)


def test_a_connection_outlives_the_objects_that_made_it() -> None:
    with net.Listener(PATHS, udp_port=0) as listener:
        connection = net.connect(PATHS, listener.port, local=PATHS, remote_udp_port=listener.udp_port, timeout=10)
        accepted = listener.accept(timeout=10)
        connection.send(b"here", timeout=10)
        assert accepted.recv(timeout=10) is not None
        del connection
        assert accepted.recv(timeout=10) is None, "nobody holds it any more: it was shut down"


@pytest.mark.parametrize("module", [net, aio])
def test_every_public_name_is_documented_at_run_time(module: ModuleType) -> None:
    for name in module.__all__:
        thing = getattr(module, name)
        assert inspect.getdoc(thing), name
        for method, value in inspect.getmembers(thing, callable) if inspect.isclass(thing) else []:
            if not method.startswith("_"):
                assert inspect.getdoc(value), f"{name}.{method}"


def test_the_example_of_the_module_works() -> None:
    assert doctest.testmod(net).failed == 0


def run_lines(page: str, heading: str, folder: Path) -> str:
    """Runs the program of at most ten lines below a heading of a page, and returns what it prints."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    found = re.search(r"```python\n(.*?)```", section, re.DOTALL)
    assert found is not None
    program = found[1]
    assert len([line for line in program.splitlines() if line.strip()]) <= 10
    arguments = {"cwd": folder, "capture_output": True, "text": True, "timeout": 60}
    done = subprocess.run([sys.executable, "-c", program], **arguments, check=False)
    for _ in range(20):
        if "choose another UDP port" not in done.stderr:
            break
        time.sleep(1)  # another program of this machine uses the port
        done = subprocess.run([sys.executable, "-c", program], **arguments, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_ten_lines_of_the_page_copy_a_file(tmp_path: Path) -> None:
    content = os.urandom(3_000_000)
    (tmp_path / "file").write_bytes(content)
    run_lines("embed-python.md", "Threads", tmp_path)
    assert (tmp_path / "copy").read_bytes() == content


def test_the_lines_of_the_readme_get_an_answer(capsys: pytest.CaptureFixture[str]) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    for printed, here in (("203.0.113.5", PATHS[0]), ("192.0.2.10", PATHS[0]), ("198.51.100.10", PATHS[1])):
        assert f'"{printed}"' in program
        program = program.replace(printed, here)
    with net.Listener(PATHS, udp_port=0) as listener:

        def answer() -> None:
            connection = listener.accept(timeout=10)
            message = connection.recv(timeout=10)
            assert message is not None
            connection.send(message.data, timeout=10)
            assert connection.recv(timeout=10) is None

        server = threading.Thread(target=answer)
        server.start()
        exec(program.replace("5001,", f"{listener.port}, remote_udp_port={listener.udp_port},"), {})
        server.join()
    assert capsys.readouterr().out == "b'hello'\n"


def in_child(run: Callable[[], str]) -> str:
    """The text that ``run`` returns in a forked child, or the exception that it raises there."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(10)
        try:
            told = run()
        except BaseException as error:
            told = f"{type(error).__name__}: {error}"
        os.write(write, told.encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        told = answer.read()
    _, status = os.waitpid(child, 0)
    assert status == 0, f"{status}: after 10 s the child is killed"
    return told


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_cannot_use_what_its_parent_made_and_ends_nothing(pair: Pair) -> None:
    delivery = pair.near.send_tracked(b"before", timeout=10)
    writer = pair.near.writer(1)
    events = pair.near.events()
    calls: list[Callable[[], object]] = [
        lambda: pair.near.send(b"x", timeout=5),
        lambda: pair.near.try_send(b"x"),
        lambda: pair.near.recv(timeout=5),
        pair.near.stats,
        lambda: pair.near.shutdown(timeout=5),
        pair.near.abort,
        lambda: pair.near.peer,
        lambda: pair.client.connect(PATHS, pair.server.port, timeout=5),
        pair.client.listen,
        lambda: pair.client.port,
        lambda: pair.client.close(timeout=5),
        lambda: pair.listener.accept(timeout=5),
        pair.listener.close,
        lambda: delivery.wait(timeout=5),
        lambda: writer.write(b"x", timeout=5),
        lambda: events.next(timeout=5),
    ]

    def use_all() -> str:
        told: list[str] = []
        for call in calls:
            try:
                told.append(f"no error but {call()!r}")
            except EndpointClosedError as error:
                told.append(str(error))
        return "\n".join(told)

    told = in_child(use_all).splitlines()
    assert len(told) == len(calls)
    for line in told:
        assert re.search(rf"of process {os.getpid()} cannot be used in process \d+, which was forked", line), line
    assert in_child(lambda: repr([pair.near, pair.client, pair.listener])).count(f"of process {os.getpid()}>") == 3

    def leave() -> str:
        with pair.client, pair.listener, pair.near, writer:
            raise SystemExit(3)

    assert in_child(leave) == "SystemExit: 3", "an exception goes through contexts"

    def drop_all() -> str:
        pair.__dict__.clear()
        calls.clear()
        return "dropped"

    assert in_child(drop_all) == "dropped"
    pair.near.send(b"after", timeout=10)
    for expected in b"before", b"after":
        message = pair.far.recv(timeout=10)
        assert message is not None
        assert message.data == expected
    delivery.wait(timeout=10)


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_makes_endpoints_of_its_own(pair: Pair) -> None:
    port, udp_port = pair.server.port, pair.server.udp_port

    def greet() -> str:
        with net.connect(PATHS, port, local=PATHS, remote_udp_port=udp_port, timeout=5) as connection:
            connection.send(b"from the child", timeout=5)
            return "sent"

    assert in_child(greet) == "sent"
    message = pair.listener.accept(timeout=10).recv(timeout=10)
    assert message is not None
    assert message.data == b"from the child"


def a_key(folder: Path, name: str) -> tuple[Path, str]:
    """A new private key: its file, and its public key."""
    file = folder / name
    with net.Endpoint("127.0.0.1", udp_port=0, key=file, accept_any=True) as endpoint:
        assert endpoint.identity is not None
        return file, endpoint.identity


def test_with_keys_an_echo_is_encrypted_and_both_ends_know_who_the_other_one_is(tmp_path: Path) -> None:
    key, public = a_key(tmp_path, "client.key")
    with net.Listener(PATHS, udp_port=0, key=tmp_path / "server.key", accept_any=True) as listener:
        server, remote = listener.identity, listener.udp_port
        assert server is not None
        near = net.connect(
            PATHS, listener.port, local=PATHS, remote_udp_port=remote, key=str(key), peer=server, timeout=10
        )
        with near, listener.accept(timeout=10) as far:
            assert (near.peer_identity, far.peer_identity) == (server, public)
            near.send(b"secret")
            message = far.recv(timeout=10)
            assert message is not None
            assert message.data == b"secret"
    assert key.stat().st_mode & 0o777 == 0o600
    assert len(public) == 64


def test_the_lines_of_the_page_about_keys_send_a_secret(tmp_path: Path) -> None:
    assert re.fullmatch(r"[0-9a-f]{64} b'secret'\n", run_lines("encryption.md", "Python", tmp_path))


def test_a_connection_without_a_key_has_no_identity(pair: Pair) -> None:
    assert (pair.near.peer_identity, pair.far.peer_identity, pair.server.identity) == (None, None, None)


def test_an_unknown_key_gets_no_connection(tmp_path: Path) -> None:
    known = a_key(tmp_path, "known.key")[1]
    with net.Endpoint("127.0.0.1", udp_port=0, key=tmp_path / "server.key", peers=[known]) as server:
        assert server.identity is not None
        listener = server.listen()
        arguments = {"local": "127.0.0.1", "remote_udp_port": server.udp_port, "peer": server.identity}
        with pytest.raises(TimeoutError):
            net.connect("127.0.0.1", server.port, **arguments, key=tmp_path / "other.key", timeout=1)
        with net.connect("127.0.0.1", server.port, **arguments, key=tmp_path / "known.key", timeout=10) as near:
            assert near.peer_identity == server.identity
            assert listener.accept(timeout=10).peer_identity == known


def test_a_file_of_keys_lists_peers_with_secrets(tmp_path: Path) -> None:
    secret, other = "17" * 32, "18" * 32
    key, public = a_key(tmp_path, "client.key")
    clients = tmp_path / "clients.txt"
    clients.write_text(f"# laptops\n{public} ann psk={secret}\n")
    clients.chmod(0o600)
    with net.Listener("127.0.0.1", udp_port=0, key=tmp_path / "server.key", peers=clients) as listener:

        def connect(psk: str, timeout: float) -> net.Connection:
            return net.connect(
                "127.0.0.1",
                listener.port,
                local="127.0.0.1",
                remote_udp_port=listener.udp_port,
                key=key,
                peer=listener.identity,
                psk=psk,
                timeout=timeout,
            )

        with pytest.raises(TimeoutError):
            connect(other, 1)
        with connect(secret, 10) as near:
            assert near.peer_identity == listener.identity


def test_an_endpoint_with_keys_of_several_peers_is_told_which_one_to_connect_to(tmp_path: Path) -> None:
    first, second, third = (a_key(tmp_path, f"{n}.key")[1] for n in range(3))
    with net.Endpoint("127.0.0.1", udp_port=0, key=tmp_path / "key", peers=[first, second]) as endpoint:
        with pytest.raises(ValueError, match=r"2 peers are known; name the one to connect to with peer=KEY"):
            endpoint.connect("127.0.0.1", 5001, timeout=10)
        with pytest.raises(ConnectionRefusedError, match="is not among the peers of the endpoint"):
            endpoint.connect("127.0.0.1", 5001, peer=third, timeout=10)
        with pytest.raises(ValueError, match=r"^peer: 12: a key has 64 hexadecimal digits"):
            endpoint.connect("127.0.0.1", 5001, peer="12", timeout=10)


GOOD_KEY = "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"peers": [GOOD_KEY]}, "peers: has no effect without a key; give key=FILE"),
        ({"accept_any": True}, "accept_any: has no effect without a key"),
        ({"psk": "17" * 32}, "psk: has no effect without a key"),
        ({"key": "k"}, "key: no peer could connect; give peers="),
        (
            {"key": "k", "peers": ["abc"]},
            "peers: abc: a key has 64 hexadecimal digits, or 44 characters of base64, and",
        ),
        ({"key": "k", "peers": "list.txt"}, r"peers: list.txt:2: abc: a key has 64"),
        ({"key": "k", "accept_any": True, "psk": "17"}, "psk: a key has 64"),
        ({"key": "k", "peers": ["0" * 64]}, "peers: this public key is of no use"),
        ({"key": "list.txt", "accept_any": True}, "key: list.txt: "),
    ],
    ids=str,
)
def test_wrong_arguments_about_keys_are_named(
    arguments: dict[str, Any], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("list.txt").write_text("# peers\nabc ann\n")
    with pytest.raises(ValueError, match=message):
        net.Endpoint("127.0.0.1", udp_port=0, **arguments)


def test_a_key_file_that_cannot_be_made_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no/key"):
        net.Endpoint("127.0.0.1", udp_port=0, key=tmp_path / "no" / "key", accept_any=True)


def test_the_key_of_a_peer_is_not_ignored_by_an_endpoint_without_a_key(silent: int) -> None:
    with pytest.raises(ValueError, match="since the endpoint has no key; give it key=FILE"):
        net.connect("127.0.0.1", 5001, local="127.0.0.1", remote_udp_port=silent, peer=GOOD_KEY, timeout=10)
