"""Two endpoints exchange packets over a simulated wire. The test advances the time."""

from __future__ import annotations

import ast
import importlib.util
import random
from collections import deque
from pathlib import Path
from typing import Any

import pytest
from pair import DELAY, PORT_A, PORT_B, A, B, Pair

from anabranch import AssociationClosedError, ConfigError, Endpoint, WouldBlockError, nanoseconds
from anabranch.endpoint import Received
from anabranch.options import AssociationOptions


def test_seconds_become_whole_nanoseconds() -> None:
    assert nanoseconds(0.1) == 100_000_000
    assert nanoseconds(1e-9) == 1


def test_an_association_of_two_paths_is_established_and_both_are_verified() -> None:
    pair = Pair()
    mine, theirs = pair.connect()
    pair.run(5.0)
    assert pair.server.state(theirs) == "established"
    assert "connected" in pair.kinds(pair.client)
    assert "connected" in pair.kinds(pair.server)
    paths = pair.client.paths(mine)
    assert sorted(str(path.remote) for path in paths) == sorted(B)
    assert [path.state for path in paths] == ["active", "active"]
    assert [path.primary for path in paths].count(True) == 1


def test_a_message_arrives_as_it_was_sent() -> None:
    pair = Pair()
    mine, theirs = pair.connect()
    pair.client.send(pair.now, mine, b"hello", stream=3, ppid=51, immediate_sack=True)
    pair.client.send(pair.now, mine, b"world", stream=3, ppid=52)
    pair.client.send(pair.now, mine, b"now", unordered=True)
    pair.run(1.0)
    first, second, third = sorted(pair.read(pair.server, theirs), key=lambda m: m.tsn)
    assert (first.data, first.stream, first.ssn, first.ppid) == (b"hello", 3, 0, 51)
    assert (second.data, second.ssn, second.tsn) == (b"world", 1, first.tsn + 1)
    assert (third.data, third.unordered) == (b"now", True)
    assert first.end_of_record


def test_a_large_message_can_be_read_in_parts() -> None:
    pair = Pair()
    mine, theirs = pair.connect()
    text = bytes(i % 251 for i in range(20_000))
    pair.client.send(pair.now, mine, text)
    pair.run(2.0)
    parts: list[Received] = []
    while (part := pair.server.receive(pair.now, theirs, 700)) is not None:
        parts.append(part)
    assert b"".join(part.data for part in parts) == text
    assert max(len(part.data) for part in parts) <= 700
    assert [part.end_of_record for part in parts] == [False] * (len(parts) - 1) + [True]


def test_a_message_can_be_sent_in_parts() -> None:
    pair = Pair()
    mine, theirs = pair.connect()
    pair.client.send(pair.now, mine, b"one ", end_of_record=False)
    pair.client.send(pair.now, mine, b"message")
    pair.run(1.0)
    received = pair.read(pair.server, theirs)
    assert b"".join(part.data for part in received) == b"one message"
    assert [part.end_of_record for part in received][-1]


@pytest.mark.parametrize("cmt", [False, True])
def test_all_messages_arrive_in_order_over_a_lossy_network(cmt: bool) -> None:
    pair = Pair(loss=0.1, seed=7, rto_min="100 ms", cmt={"enabled": cmt})
    mine, theirs = pair.connect()
    sent = [b"%d " % n * (1 + n % 400) for n in range(300)]
    waiting, received = deque(sent), list[bytes]()
    end = pair.now + nanoseconds(300)
    while len(received) < len(sent) and pair.now < end:
        try:
            while waiting:
                pair.client.send(pair.now, mine, waiting[0])
                waiting.popleft()
        except WouldBlockError:
            pass
        if not pair.step(end):
            break
        received += [message.data for message in pair.read(pair.server, theirs)]
    assert received == sent


def test_with_cmt_data_travels_on_both_paths() -> None:
    def used(cmt: bool) -> set[str]:
        pair = Pair(cmt={"enabled": cmt})
        mine, _ = pair.connect()
        pair.run(5.0)
        pair.packets.clear()
        pair.client.send(pair.now, mine, bytes(100_000))
        pair.run(0.1)
        return {destination for _, _, destination, packet in pair.packets if packet[12] == 0}

    assert len(used(cmt=False)) == 1
    assert used(cmt=True) == set(B)


def test_shutdown_delivers_everything_and_ends_both_sides() -> None:
    pair = Pair()
    mine, theirs = pair.connect()
    pair.client.send(pair.now, mine, bytes(50_000))
    pair.client.shutdown(pair.now, mine)
    with pytest.raises(AssociationClosedError):
        pair.client.send(pair.now, mine, b"too late")
    pair.run(2.0)
    pair.read(pair.server, theirs)
    pair.run(5.0)
    assert pair.client.state(mine) is None
    assert pair.server.state(theirs) is None
    for endpoint in (pair.client, pair.server):
        assert pair.events[endpoint][-1].reason == "graceful"


def test_abort_ends_both_sides_at_once_and_carries_its_reason() -> None:
    pair = Pair()
    mine, _ = pair.connect()
    pair.client.abort(pair.now, mine, b"enough")
    pair.run(0.1)
    assert pair.client.associations() == []
    assert pair.server.associations() == []
    last = pair.events[pair.server][-1]
    assert (last.kind, last.reason) == ("closed", "peer-abort")
    assert b"enough" in (last.causes or b"")
    assert pair.events[pair.client][-1].reason == "local-abort"


def test_data_continues_on_the_other_path_after_a_path_failure() -> None:
    pair = Pair(rto_min="100 ms", rto_max="1 s", rto_initial="200 ms", path_max_retrans=1, hb_interval="1 s")
    mine, theirs = pair.connect()
    pair.run(3.0)
    pair.dead = {A[0], B[0]}
    pair.client.send(pair.now, mine, b"around")
    pair.run(20.0)
    assert [message.data for message in pair.read(pair.server, theirs)] == [b"around"]
    assert [p.state for p in pair.client.paths(mine) if str(p.remote) == B[0]] == ["inactive"]
    changed = [e for e in pair.events[pair.client] if e.kind == "path-changed" and e.state == "inactive"]
    assert [str(event.address) for event in changed] == [B[0]]


def test_the_primary_path_can_be_chosen() -> None:
    pair = Pair()
    mine, _ = pair.connect()
    pair.run(5.0)
    assert pair.client.set_primary(mine, B[1])
    assert not pair.client.set_primary(mine, "192.0.2.1")
    assert [str(path.remote) for path in pair.client.paths(mine) if path.primary] == [B[1]]


def test_interleaved_messages_of_two_streams_are_told_apart_and_the_urgent_one_comes_first() -> None:
    pair = Pair(interleaving=True, stream_scheduler="priority", stream_values=[0, 1])
    mine, theirs = pair.connect()
    assert pair.client.set_stream_value(mine, 2, 5)
    assert not pair.client.set_stream_value(mine, 10, 5)
    with pytest.raises(ValueError, match="value 65536 is out of range"):
        pair.client.set_stream_value(mine, 0, 65536)
    for stream in (1, 2):
        pair.client.send(pair.now, mine, bytes(1000), stream=stream, end_of_record=False)
    for stream, length in ((1, 100_000), (2, 3000), (2, 10), (0, 10)):
        pair.client.send(pair.now, mine, bytes(length), stream=stream)
    pair.run(5.0)
    messages = iter(lambda: pair.server.receive(pair.now, theirs), None)
    read = [(message.stream, message.mid, len(message.data)) for message in messages]
    assert read == [(0, 0, 10), (1, 0, 101_000), (2, 0, 4000), (2, 1, 10)]


def test_a_handshake_without_an_answer_ends_with_connect_timeout() -> None:
    pair = Pair(max_init_retransmits=2, rto_initial="100 ms", rto_min="100 ms", rto_max="400 ms")
    pair.dead = {*B}
    mine = pair.client.connect(0, PORT_B, B)
    assert pair.client.state(mine) == "cookie-wait"
    pair.run(10.0)
    assert pair.client.state(mine) is None
    assert pair.events[pair.client][-1].reason == "connect-timeout"


def transcript(seed: int) -> list[tuple[int, str, str, bytes]]:
    pair = Pair(loss=0.05, seed=seed)
    mine, theirs = pair.connect()
    pair.client.send(pair.now, mine, bytes(range(256)) * 100)
    pair.run(5.0)
    pair.read(pair.server, theirs)
    pair.client.shutdown(pair.now, mine)
    pair.run(20.0)
    return pair.packets


def test_equal_seeds_give_equal_packets_and_other_seeds_other_tags_and_tsns() -> None:
    assert transcript(3) == transcript(3)
    # INIT: the initiate tag at bytes 16 to 20, the initial TSN at 28 to 32.
    first, other = transcript(3)[0][3], transcript(4)[0][3]
    assert first[16:20] != other[16:20]
    assert first[28:32] != other[28:32]


def test_invalid_packets_are_ignored() -> None:
    pair = Pair()
    mine, _ = pair.connect()
    chance = random.Random(1)
    for length in range(200):
        pair.server.handle(pair.now, A[0], B[0], chance.randbytes(length))
    pair.run(1.0)
    assert pair.client.state(mine) == "established"


# The parameters of rfc9260#section-16 that have a socket option in rfc6458#section-8.1.
PARAMETERS = {
    "rto_initial": "1 s",
    "rto_min": "1 s",
    "rto_max": "60 s",
    "max_burst": 4,
    "valid_cookie_life": "60 s",
    "association_max_retrans": 10,
    "path_max_retrans": 5,
    "max_init_retransmits": 8,
    "hb_interval": "30 s",
    "sack_delay": "200 ms",
}


@pytest.mark.parametrize(("option", "value"), PARAMETERS.items())
def test_every_parameter_with_a_socket_option_can_be_set(option: str, value: Any) -> None:
    Endpoint(A, port=1, seed=1, **{option: value})


def test_rto_initial_sets_the_initial_rto() -> None:
    endpoint = Endpoint(A, port=1, seed=1, rto_initial="3 s")
    endpoint.connect(0, 2, B[:1])
    while endpoint.poll_transmit(0) is not None:
        pass
    assert endpoint.poll_timeout() == nanoseconds(3)


def test_the_error_for_a_misspelt_option_names_the_nearest_one() -> None:
    with pytest.raises(ConfigError, match="rto_min"):
        Endpoint(A, port=1, seed=1, rto_mni="1 s")  # pyright: ignore[reportCallIssue]
    with pytest.raises(ConfigError, match="enabled"):
        Endpoint(A, port=1, seed=1, cmt={"enable": True})  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sack_delay": "1 s"}, "500 ms"),
        ({"rto_min": "100"}, "unit"),
        ({"cmt": {"cuc": "v3"}}, "v2"),
        ({"mtu": "100 B"}, "mtu"),
    ],
)
def test_a_wrong_option_value_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Endpoint(A, port=1, seed=1, **options)


def test_wrong_addresses_and_messages_are_refused() -> None:
    with pytest.raises(ConfigError, match="address"):
        Endpoint([], port=1, seed=1)
    with pytest.raises(ValueError, match="address"):
        Endpoint(["nonsense"], port=1, seed=1)
    pair = Pair()
    mine, _ = pair.connect()
    with pytest.raises(ValueError, match="byte"):
        pair.client.send(pair.now, mine, b"")
    with pytest.raises(ValueError, match="stream"):
        pair.client.send(pair.now, mine, b"x", stream=60_000)
    with pytest.raises(AssociationClosedError):
        pair.client.send(pair.now, 99, b"x")


@pytest.mark.parametrize("tool", ["write_options", "write_stub_docs"])
def test_written_files_are_those_of_the_module(tool: str) -> None:
    path = Path(__file__).parents[1] / "tools" / f"{tool}.py"
    spec = importlib.util.spec_from_file_location(tool, path)
    assert spec is not None
    assert spec.loader is not None
    writer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(writer)
    written = ast.dump(ast.parse(writer.FILE.read_text()))
    assert written == ast.dump(ast.parse(writer.text())), f"run python/tools/{tool}.py"


def test_endpoints_without_a_seed_have_different_tags() -> None:
    def first_packet(**how: Any) -> bytes:
        endpoint = Endpoint(A, port=PORT_A, **how)
        endpoint.connect(0, PORT_B, B)
        packet = endpoint.poll_transmit(0)
        assert packet is not None
        return packet.data

    assert first_packet() != first_packet()
    assert first_packet(seed=1) == first_packet(seed=1)
    assert first_packet(seed=bytes(32)) == first_packet(seed=bytes(32)) != first_packet(seed=bytes(31) + b"1")
    with pytest.raises((TypeError, ValueError)):
        first_packet(seed=b"short")


def test_options_of_an_existing_association_can_change() -> None:
    pair = Pair()
    mine, _ = pair.connect()
    before = pair.client.options(mine)
    assert before is not None
    assert (before["rto_min"], before["nagle"], before["potentially_failed"]) == ("1 s", False, "none")
    changes: AssociationOptions = {"rto_min": "150 ms", "nagle": True, "hb_interval": "none", "potentially_failed": 2}
    assert pair.client.set_options(pair.now, mine, **changes)
    assert pair.client.options(mine) == {**before, **changes}
    assert pair.client.paths(mine)[0].rto == 0.15
    with pytest.raises(ConfigError, match=r"`rto_mn` in the options that can change .* did you mean `rto_min`"):
        pair.client.set_options(pair.now, mine, rto_mn="1 s")  # pyright: ignore[reportCallIssue]
    with pytest.raises(ConfigError, match="sack_delay"):
        pair.client.set_options(pair.now, mine, sack_delay="2 s")
    assert pair.client.options(mine) == {**before, **changes}, "nothing changed"
    assert not pair.client.set_options(pair.now, 99, nagle=True)


def test_connected_events_and_stats_describe_the_association() -> None:
    pair = Pair()
    mine, theirs = pair.connect()
    connected = next(event for event in pair.events[pair.server] if event.kind == "connected")
    assert connected.peer_addresses is not None
    assert sorted(str(address) for address in connected.peer_addresses) == sorted(A)
    assert connected.peer_port == PORT_A == pair.server.peer_port(theirs)
    pair.client.send(pair.now, mine, bytes(3000))
    pair.run(1.0)
    assert pair.server.next_message_length(theirs) == 3000
    stats = pair.server.stats(theirs)
    assert stats is not None
    assert (stats.user_bytes_received, stats.chunks_received, stats.errors) == (3000, 3, 0)
    assert stats.sacks_sent >= 1
    assert sum(path.user_bytes for path in pair.client.paths(mine)) == 3000
    pair.read(pair.server, theirs)
    assert pair.server.next_message_length(theirs) is None
    assert (pair.server.stats(99), pair.server.peer_port(99), pair.server.options(99)) == (None, None, None)


def test_a_requested_heartbeat_is_answered_with_an_event() -> None:
    pair = Pair()
    mine, _ = pair.connect()
    pair.run(5.0)
    assert pair.client.heartbeat(pair.now, mine, B[1])
    assert not pair.client.heartbeat(pair.now, mine, "192.0.2.1")
    pair.run(1.0)
    answer = next(event for event in pair.events[pair.client] if event.kind == "heartbeat-answered")
    assert (str(answer.address), answer.rtt) == (B[1], 2 * DELAY / 1e9)


def test_a_message_can_be_sent_on_a_chosen_path() -> None:
    pair = Pair()
    mine, theirs = pair.connect()
    pair.run(5.0)
    for number, path in enumerate(pair.client.paths(mine)):
        before = len(pair.packets)
        pair.client.send(pair.now, mine, b"hello", path=number)
        pair.run(1.0)
        assert pair.packets[before][2] == str(path.remote)
    assert len(pair.read(pair.server, theirs)) == 2
    with pytest.raises(ValueError, match="no path 9"):
        pair.client.send(pair.now, mine, b"hello", path=9)


def test_a_message_is_given_up_and_told_with_all_that_was_given() -> None:
    pair = Pair(pr_sctp=True)
    mine, theirs = pair.connect()
    pair.loss = 1.0
    pair.client.send(pair.now, mine, b"late", ppid=7, context=9, reliability={"lifetime": 0.5})
    pair.run(3.0)
    pair.loss = 0.0
    pair.client.send(pair.now, mine, b"next", reliability={"retransmissions": 3})
    pair.run(20.0)
    assert [message.data for message in pair.read(pair.server, theirs)] == [b"next"]
    (failed,) = [event for event in pair.events[pair.client] if event.kind == "send-failed"]
    assert (failed.data, failed.ppid, failed.context) == (b"late", 7, 9)
    assert (failed.sent, failed.abandoned, failed.unordered) == (True, True, False)


@pytest.mark.parametrize("reliability", [{}, {"lifetime": -1}, {"deadline": 1}, {"priority": 1, "lifetime": 1}, "no"])
def test_a_reliability_that_means_nothing_is_refused(reliability: Any) -> None:
    pair = Pair()
    mine, _ = pair.connect()
    with pytest.raises(ValueError, match=r"reliability|lifetime"):
        pair.client.send(pair.now, mine, b"x", reliability=reliability)
