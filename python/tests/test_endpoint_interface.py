"""How the sans-IO interface looks to its user: representations, documentation, errors, kinds of bytes."""

from __future__ import annotations

import inspect
from array import array
from typing import Any

import pytest
from pair import PORT_A, PORT_B, A, B, Pair

from anabranch import Endpoint
from anabranch import endpoint as module


def test_representations_tell_state_and_addresses() -> None:
    pair = Pair()
    assert repr(pair.client) == "<Endpoint at 10.1.0.1, 10.2.0.1 port 5001: does not listen, 0 associations>"
    mine, theirs = pair.connect()
    assert repr(pair.server) == "<Endpoint at 10.1.0.2, 10.2.0.2 port 5002: accepts associations, 1 association>"
    first, second = pair.client.paths(mine)
    assert repr(first) == "<Path 0 from 10.1.0.1 to 10.1.0.2: active, primary>"
    assert repr(second).startswith("<Path 1 from 10.2.0.1 to 10.2.0.2: ")
    assert repr(pair.transmits[pair.client][0]).startswith("<Transmit from 10.1.0.1 to 10.1.0.2: ")
    connected = next(event for event in pair.events[pair.client] if event.kind == "connected")
    assert repr(connected) == (
        f"<Event connected of association {mine}, outbound_streams 10, inbound_streams 10, "
        "peer_addresses [10.1.0.2, 10.2.0.2], peer_port 5002>"
    )
    pair.client.send(pair.now, mine, b"hello", stream=2)
    pair.run(1.0)
    assert repr(pair.server.receive(pair.now, theirs)) == "<Received on stream 2: 5 bytes>"
    assert repr(pair.server.stats(theirs)).startswith("Stats(packets_sent=")
    pair.client.abort(pair.now, mine, b"enough")
    pair.run(1.0)
    assert "causes b'" in repr(pair.events[pair.server][-1])


def test_an_event_names_the_association_that_a_duplicate_repeats() -> None:
    pair = Pair()
    # The client connects to two addresses of one peer as if they were two peers: the second association is a duplicate.
    first = pair.client.connect(0, PORT_B, B[:1])
    second = pair.client.connect(0, PORT_B, B[1:])
    pair.run(10.0)
    closed = [event for event in pair.events[pair.client] if event.kind == "closed"]
    assert [event.reason for event in closed] == ["duplicate"]
    assert {closed[0].association, closed[0].duplicate_of} == {first, second}


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, lambda data: array("B", data)])
def test_bytes_may_be_of_any_kind(kind: Any) -> None:
    pair = Pair()
    mine, theirs = pair.connect()
    pair.client.send(pair.now, mine, kind(b"hello"))
    packet = pair.client.poll_transmit(pair.now)
    assert packet is not None
    pair.server.handle(pair.now, packet.source, packet.destination, kind(packet.data))
    assert [message.data for message in pair.read(pair.server, theirs)] == [b"hello"]
    pair.client.abort(pair.now, mine, kind(b"enough"))
    pair.run(1.0)
    assert b"enough" in (pair.events[pair.server][-1].causes or b"")
    seed = kind(bytes(32))
    assert Endpoint(A, port=1, seed=seed).port == 1


def test_every_second_byte_of_a_view_is_sent() -> None:
    pair = Pair()
    mine, theirs = pair.connect()
    pair.client.send(pair.now, mine, memoryview(b"h-e-l-l-o")[::2])
    pair.run(1.0)
    assert [message.data for message in pair.read(pair.server, theirs)] == [b"hello"]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda e: Endpoint(A, port=99999), ValueError, "port 99999 is out of range: expected 0 to 65535"),
        (lambda e: Endpoint(A, port=-1), ValueError, "port -1 is out of range"),
        (lambda e: e.connect(0, "5000", B), TypeError, "port must be a whole number, not `str`"),
        (lambda e: Endpoint(A, port=1, encapsulation=True), TypeError, "port must be a whole number, not `bool`"),
        (lambda e: Endpoint(A, port=1, encapsulation=0), ValueError, "encapsulation = 0: expected a UDP port"),
        (lambda e: Endpoint("10.1.0.1", port=1), TypeError, "expected a list of addresses, not `str`"),
        (lambda e: Endpoint(["10.1.0.1", "10.1.0"], port=1), ValueError, "'10.1.0' is not an IP address"),
        (lambda e: e.connect(0, 1, ["10.1.0.1", 7]), ValueError, "7 is not an IP address"),
        (lambda e: Endpoint(["10.1.0.1", "224.0.0.1"], port=1), ValueError, "addresses = 224.0.0.1: expected unicast"),
        (lambda e: Endpoint(A, port=1, seed=b"short"), ValueError, "seed has 5 bytes: expected 32 bytes"),
        (lambda e: Endpoint(A, port=1, seed=-1), ValueError, "seed -1 is out of range"),
        (lambda e: e.connect(0, B, PORT_B), TypeError, "port must be a whole number, not `tuple`"),
        (lambda e: e.connect(0.5, PORT_B, B), TypeError, "now must be a whole number, not `float`"),
        (lambda e: e.connect(0, 0, B), ValueError, "the remote port is 0"),
        (lambda e: e.send(0, 1, "text"), TypeError, "expected bytes, a bytearray or a memoryview of bytes, not `str`"),
        (lambda e: e.send(0, 1, b"x", stream=65536), ValueError, "stream 65536 is out of range: expected 0 to 65535"),
        (lambda e: e.send(0, 1, b"x", ppid=1 << 32), ValueError, "ppid 4294967296 is out of range"),
        (lambda e: e.send(0, 1, b"x", path=256), ValueError, "path 256 is out of range: expected 0 to 255"),
        (lambda e: e.state(-1), ValueError, "association -1 is out of range"),
        (lambda e: e.handle(0, "a", A[0], b""), ValueError, "'a' is not an IP address"),
        (lambda e: e.handle(0, B[0], A[0], b"", udp_port=70000), ValueError, "port 70000 is out of range"),
        (lambda e: e.heartbeat(0, 1, b"10.1.0.1"), ValueError, "b'10.1.0.1' is not an IP address"),
    ],
)
def test_errors_name_the_wrong_value(call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        call(Endpoint(A, port=PORT_A, seed=1))
    assert message in str(caught.value)


def test_everything_public_is_documented_at_run_time() -> None:
    classes = [value for name, value in vars(module).items() if name in module.__all__ and inspect.isclass(value)]
    assert len(classes) == 9
    for one in classes:
        names = [name for name in dir(one) if not name.startswith("_")]
        assert names
        missing = [name for name in names if not (getattr(one, name).__doc__ or "").strip()]
        assert not missing, f"{one.__name__}: {missing}"
        assert one.__module__ == "anabranch.endpoint"
        assert getattr(module, one.__name__) is one


def test_signatures_at_run_time_show_names_and_defaults() -> None:
    signatures = {
        name: str(inspect.signature(getattr(Endpoint, name))) for name in ("send", "listen", "abort", "handle")
    }
    assert signatures == {
        "send": "(self, /, now, association, data, *, stream=0, ppid=0, unordered=False, immediate_sack=False, "
        "end_of_record=True, path=None, urgent=False, tracked=False, reliability=None, context=0)",
        "listen": "(self, /, who='accept', *, waiting=64)",
        "abort": "(self, /, now, association, reason=b'')",
        "handle": "(self, /, now, source, destination, packet, *, udp_port=0, ecn=0)",
    }
