"""An endpoint and its network: UDP ports, arrivals, discarded packets, path MTU, addresses that are removed."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Any

import pytest
from pair import PORT_A, PORT_B, A, B, Pair

from anabranch import ConfigError, ConnectError, Endpoint
from anabranch.endpoint import UDP_PORT


def in_udp() -> Pair:
    """A pair with packets in UDP: the server's UDP port is ``PORT_B``, and a NAT maps that of the client to 40000."""
    pair = Pair(encapsulation=PORT_B)
    pair.udp_port_of_client = 40_000
    return pair


# rfc6951#section-5.4
def test_packets_in_udp_go_to_the_port_from_which_the_peer_was_heard() -> None:
    pair = in_udp()
    _, theirs = pair.connect()
    pair.run(3.0)
    assert {sent.udp_port for sent in pair.transmits[pair.client]} == {PORT_B}
    assert {sent.udp_port for sent in pair.transmits[pair.server]} == {40_000}
    assert [path.udp_port for path in pair.server.paths(theirs)] == [40_000, 40_000]
    pair.udp_port_of_client = 41_000
    pair.client.heartbeat(pair.now, pair.client.associations()[0], B[1])
    pair.run(1.0)
    assert pair.transmits[pair.server][-1].udp_port == 41_000


# rfc6951#section-6.1
def test_the_udp_port_of_an_address_can_be_set() -> None:
    pair = in_udp()
    mine, _ = pair.connect()
    assert pair.client.set_remote_port(mine, B[1], 7000)
    assert {str(path.remote): path.udp_port for path in pair.client.paths(mine)} == {B[0]: PORT_B, B[1]: 7000}
    pair.client.heartbeat(pair.now, mine, B[1])
    assert pair.client.poll_transmit(pair.now).udp_port == 7000  # pyright: ignore[reportOptionalMemberAccess]
    assert not pair.client.set_remote_port(mine, "192.0.2.1", 7000)
    native = Pair()
    mine, _ = native.connect()
    assert not native.client.set_remote_port(mine, B[0], 7000)
    assert {sent.udp_port for sent in native.transmits[native.client]} == {0}


def test_ecn_field_is_0_to_3() -> None:
    pair = Pair()
    for ecn in range(4):
        pair.client.handle(0, B[0], A[0], b"short", ecn=ecn)
    with pytest.raises(ValueError, match="ecn 4 is out of range: expected 0 to 3"):
        pair.client.handle(0, B[0], A[0], b"short", ecn=4)
    mine, _ = pair.connect()
    assert pair.client.state(mine) == "established"
    assert {(sent.ecn, sent.may_fragment) for sent in pair.transmits[pair.client]} == {(0, False)}


def test_an_arrival_waits_until_it_is_accepted() -> None:
    pair = Pair()
    pair.server.listen("ask")
    mine = pair.client.connect(0, PORT_B, B)
    pair.run(1.0)
    assert pair.client.state(mine) == "cookie-echoed"
    assert pair.server.associations() == []
    arrival = pair.server.poll_arrival()
    assert arrival is not None
    assert [str(address) for address in arrival.peer_addresses] == list(A)
    assert (arrival.peer_port, arrival.udp_port, str(arrival.local_address)) == (PORT_A, 0, B[0])
    assert (arrival.outbound_streams, arrival.inbound_streams) == (10, 10)
    assert repr(arrival) == f"<Arrival {arrival.id} from 10.1.0.1, 10.2.0.1 port 5001 at 10.1.0.2>"
    assert pair.server.poll_arrival() is None
    with pytest.raises(ConfigError, match="receive_buffer"):
        pair.server.accept(pair.now, arrival.id, receive_buffer="10 kB")
    theirs = pair.server.accept(pair.now, arrival.id, rto_min="300 ms")
    pair.run(1.0)
    assert pair.client.state(mine) == pair.server.state(theirs) == "established"
    assert (pair.server.options(theirs) or {})["rto_min"] == "300 ms"
    with pytest.raises(ConnectError, match="arrival is gone"):
        pair.server.accept(pair.now, arrival.id)
    assert not pair.server.refuse(arrival.id)


def test_a_refused_arrival_is_told_the_reason() -> None:
    pair = Pair()
    pair.server.listen("ask", waiting=1)
    pair.client.connect(0, PORT_B, B)
    pair.run(0.1)
    arrival = pair.server.poll_arrival()
    assert arrival is not None
    assert pair.server.refuse(arrival.id, b"not today")
    pair.run(0.1)
    closed = pair.events[pair.client][-1]
    assert (closed.kind, closed.reason) == ("closed", "peer-abort")
    assert b"not today" in (closed.causes or b"")
    assert pair.server.discarded().refused == 1


def test_no_more_arrivals_wait_than_allowed() -> None:
    pair = Pair()
    pair.server.listen("ask", waiting=0)
    pair.client.connect(0, PORT_B, B)
    pair.run(0.1)
    assert pair.server.poll_arrival() is None
    assert pair.server.discarded().refused == 1


@pytest.mark.parametrize(
    ("who", "reason"), [("off", "peer-abort"), (False, "peer-abort"), (True, None), ("accept", None)]
)
def test_listen_says_who_may_begin_associations(who: object, reason: str | None) -> None:
    pair = Pair()
    pair.server.listen(who)  # pyright: ignore[reportArgumentType]
    pair.client.connect(0, PORT_B, B)
    pair.run(1.0)
    assert [event.reason for event in pair.events[pair.client] if event.kind == "closed"] == [reason] * bool(reason)
    with pytest.raises(ValueError, match='"off", "accept" or "ask"'):
        pair.server.listen("yes")  # pyright: ignore[reportArgumentType]


def test_an_association_can_have_options_of_its_own() -> None:
    pair = Pair(cmt={"enabled": True}, rto_initial="2 s")
    own = pair.client.connect(0, PORT_B, B, rto_initial="3 s", cmt={"cuc": "v1"})
    assert (pair.client.options(own) or {})["rto_initial"] == "3 s"
    other = pair.client.connect(0, 7, ["10.1.0.9"])
    assert (pair.client.options(other) or {})["rto_initial"] == "2 s"
    pair.run(5.0)
    pair.packets.clear()
    pair.client.send(pair.now, own, bytes(100_000))
    pair.run(0.1)
    assert {to for _, _, to, packet in pair.packets if packet[12] == 0} == set(B), "CMT of the endpoint stays on"
    with pytest.raises(ConfigError, match="did you mean `rto_min`"):
        pair.client.connect(0, 8, B, rto_mn="1 s")  # pyright: ignore[reportCallIssue]


def test_connect_says_which_address_is_wrong() -> None:
    client = Endpoint(A, port=PORT_A, seed=1)
    for addresses, message in [
        (["224.0.0.1", "fd00::1"], "224.0.0.1 is not a unicast address; fd00::1: the endpoint has no IPv6 address"),
        (["10.1.0.2", "10.1.0.300"], "'10.1.0.300' is not an IP address"),
        ([], "expected at least one"),
    ]:
        with pytest.raises(ValueError, match=message):
            client.connect(0, PORT_B, addresses)
    pair = Pair()
    pair.connect()
    with pytest.raises(ConnectError, match=r"an association with 10\.1\.0\.2"):
        pair.client.connect(pair.now, PORT_B, B)


# rfc6458#section-8.1.12
def test_a_smaller_path_mtu_bounds_packets_and_longer_chunks_may_be_fragmented() -> None:
    pair = Pair()
    mine, _ = pair.connect()
    pair.run(3.0)
    pair.dead = {*B}
    pair.client.send(pair.now, mine, bytes(1400))
    pair.drain()
    assert pair.client.set_path_mtu(pair.now, mine, B[0], 1000)
    assert [path.mtu for path in pair.client.paths(mine) if str(path.remote) == B[0]] == [1000]
    pair.transmits[pair.client].clear()
    pair.dead = {B[1], A[1]}
    pair.client.send(pair.now, mine, bytes(3000))
    pair.run(10.0)
    to_first = [sent for sent in pair.transmits[pair.client] if str(sent.destination) == B[0]]
    assert any(sent.may_fragment for sent in to_first)
    assert max(len(sent.data) for sent in to_first if not sent.may_fragment) <= 980
    assert not pair.client.set_path_mtu(pair.now, mine, B[0], 100)
    assert not pair.client.set_path_mtu(pair.now, mine, "192.0.2.1", 1000)


# rfc8899#section-4.6.2, rfc9260#section-10
def test_icmp_messages_about_packets_of_the_endpoint_are_processed() -> None:
    pair = Pair(pmtud=True)
    mine, _ = pair.connect()
    pair.run(30.0)
    pair.client.send(pair.now, mine, bytes(1000), path=0)
    pair.run(1.0)
    sent = [sent for sent in pair.transmits[pair.client] if str(sent.destination) == B[0]][-1]
    about = (sent.source, sent.destination, sent.data[:8])

    def mtu() -> int:
        return pair.client.paths(mine)[0].mtu

    assert mtu() == 1500
    forged = bytes([*sent.data[:7], sent.data[7] ^ 1])
    assert not pair.client.on_icmp(pair.now, *about[:2], forged, "packet-too-big", mtu=1300)
    assert not pair.client.on_icmp(pair.now, *about[:2], sent.data[:7], "packet-too-big", mtu=1300)
    assert mtu() == 1500
    assert pair.client.on_icmp(pair.now, *about, "packet-too-big", mtu=1300)
    assert mtu() == 1300
    assert pair.client.on_icmp(pair.now, None, *about[1:], "unreachable")
    assert [path.errors for path in pair.client.paths(mine)] == [1, 0]
    assert not pair.client.on_icmp(pair.now, *about, "port-unreachable"), "the packet was not encapsulated"


# rfc9260#section-10
def test_an_unreachable_protocol_refuses_an_association_that_begins() -> None:
    pair = Pair()
    pair.dead = {*B}
    pair.client.connect(0, PORT_B, B[:1])
    pair.drain()
    (init,) = pair.transmits[pair.client]
    assert pair.client.on_icmp(0, init.source, init.destination, init.data[:20], "protocol-unreachable")
    pair.drain()
    assert [event.reason for event in pair.events[pair.client]] == ["unreachable"]


@pytest.mark.parametrize(
    ("what", "mtu", "message"),
    [("packet-too-big", None, "needs mtu"), ("unreachable", 1300, "has no mtu"), ("redirect", None, "expected")],
)
def test_icmp_messages_that_cannot_be_are_errors(what: Any, mtu: int | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Endpoint(A, port=PORT_A, seed=1).on_icmp(0, A[0], B[0], bytes(8), what, mtu=mtu)


def test_the_limit_that_holds_now_is_counted_up_to_the_reading() -> None:
    pair = Pair(receive_buffer="8 KiB")
    mine, _ = pair.connect()
    begun = pair.now
    for _ in range(40):
        pair.client.send(pair.now, mine, bytes(1000))
    pair.run(0.9)
    stats = pair.client.stats(mine, now=pair.now)
    assert stats is not None
    assert stats.limited_by["peer-window"] > 0.8, stats
    assert sum(stats.limited_by.values()) == pytest.approx((pair.now - begun) / 1e9)
    path = pair.client.paths(mine, now=pair.now)[0]
    assert sum(path.limited_by.values()) == pytest.approx((pair.now - begun) / 1e9)
    # A method that reads and has no argument of time uses the latest time of any call.
    pair.client.poll_transmit(pair.now)
    assert pair.client.stats(mine) is not None
    assert repr(pair.client.stats(mine)) == repr(stats)
    assert repr(pair.client.paths(mine)[0].limited_by) == repr(path.limited_by)


def test_a_local_address_can_be_removed_and_restored() -> None:
    pair = Pair()
    mine, _ = pair.connect()
    pair.run(3.0)
    assert pair.client.remove_local_address(pair.now, mine, A[0])
    assert {str(path.local) for path in pair.client.paths(mine)} == {A[1]}
    assert not pair.client.remove_local_address(pair.now, mine, A[1]), "no path would be left"
    assert pair.client.restore_local_address(pair.now, mine, A[0])
    assert {str(path.local) for path in pair.client.paths(mine)} == set(A)
    assert not pair.client.restore_local_address(pair.now, mine, A[0])


# rfc5061#section-5.1
def test_a_peer_with_asconf_adds_and_deletes_the_addresses_that_it_is_told() -> None:
    pair = Pair(auth=True, asconf=True)
    mine, theirs = pair.connect()
    pair.run(3.0)
    pair.events[pair.client].clear()
    pair.events[pair.server].clear()
    assert pair.client.remove_local_address(pair.now, mine, A[1])
    pair.run(1.0)
    assert {str(path.remote) for path in pair.server.paths(theirs)} == {A[0]}
    assert pair.client.add_local_address(pair.now, mine, A[1])
    assert pair.client.set_peer_primary(pair.now, mine, A[1])
    pair.run(3.0)
    assert {str(path.remote): path.primary for path in pair.server.paths(theirs)} == {A[0]: False, A[1]: True}
    told = [event for event in pair.events[pair.client] if event.kind == "address-change"]
    assert [(event.change, str(event.address), event.accepted) for event in told] == [
        ("delete", A[1], True),
        ("add", A[1], True),
        ("set-primary", A[1], True),
    ]
    kinds = [event.kind for event in pair.events[pair.server]]
    assert "peer-address-removed" in kinds
    assert "peer-address-added" in kinds
    assert not pair.client.add_local_address(pair.now, mine, A[1]), "it is there"


# rfc4895#section-5.1
def test_packets_are_authenticated_with_the_key_of_the_application() -> None:
    pair = Pair(auth=True, auth_chunks=[0])
    mine, theirs = pair.connect()
    for endpoint, association in ((pair.client, mine), (pair.server, theirs)):
        assert endpoint.set_auth_key(association, 5, b"secret")
        assert endpoint.activate_auth_key(association, 5)
    pair.client.send(pair.now, mine, b"hello")
    pair.run(1.0)
    message = pair.server.receive(pair.now, theirs)
    assert message is not None
    assert message.data == b"hello"
    assert pair.client.activate_auth_key(mine, 0)
    assert pair.client.deactivate_auth_key(mine, 5)
    pair.run(1.0)
    assert [event.key for event in pair.events[pair.client] if event.kind == "auth-key-unused"] == [5]
    assert pair.client.remove_auth_key(mine, 5)
    stats = pair.client.stats(mine)
    assert stats is not None
    assert stats.unauthenticated == 0


def test_discarded_packets_are_counted_by_cause() -> None:
    pair = Pair()
    mine, _ = pair.connect()
    now, server = pair.now, pair.server
    packet = pair.packets[-1][3]
    server.handle(now, A[0], B[0], packet[:8])
    server.handle(now, A[0], B[0], packet[:-1] + bytes([packet[-1] ^ 1]))
    server.handle(now, A[0], B[0], packet, udp_port=UDP_PORT)
    pair.client.abort(now, mine)
    pair.run(1.0)
    server.handle(pair.now, A[0], B[0], next(data for _, source, _, data in pair.packets[1:] if source == A[0]))
    discarded = server.discarded()
    assert (discarded.too_short, discarded.bad_checksum, discarded.encapsulated) == (1, 1, 1)
    assert repr(discarded).startswith("Discarded(too_short=1, bad_checksum=1, wrong_port=0, ")


def test_stats_of_the_endpoint_count_packets_of_all_associations() -> None:
    pair = Pair()
    mine, _ = pair.connect()
    stats = pair.client.stats()
    sent = [data for _, source, _, data in pair.packets if source in A]
    assert (stats.associations, stats.packets_sent, stats.bytes_sent) == (1, len(sent), sum(map(len, sent)))
    received = [data for _, source, _, data in pair.packets if source in B]
    assert (stats.packets_received, stats.bytes_received) == (len(received), sum(map(len, received)))
    pair.client.abort(pair.now, mine)
    pair.run(1.0)
    assert pair.client.stats().associations == 0
    assert repr(pair.client.stats()).startswith("EndpointStats(associations=0, packets_received=")


def test_paths_are_sent_on_by_their_id() -> None:
    pair = Pair(paths="pairs")
    mine, _ = pair.connect()
    pair.run(20.0)
    assert pair.client.remove_local_address(pair.now, mine, A[0])
    ids = [path.id for path in pair.client.paths(mine)]
    assert len(ids) == 2
    assert ids != [0, 1], "the ids of the other pairs stay"
    for path in pair.client.paths(mine):
        pair.packets.clear()
        pair.client.send(pair.now, mine, b"hello", path=path.id)
        pair.run(0.001)
        assert pair.packets[0][1:3] == (str(path.local), str(path.remote))


def test_addresses_may_be_objects_and_any_iterable() -> None:
    endpoint = Endpoint((ip_address(address) for address in A), port=PORT_A, seed=1)
    assert [str(address) for address in endpoint.addresses] == list(A)
    assert endpoint.port == PORT_A
    assert isinstance(endpoint.connect(0, PORT_B, {ip_address(B[0]): None}), int)
