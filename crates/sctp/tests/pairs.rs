//! Paths that are pairs of a local and a remote address, and path MTUs that change.

use anabranch_sctp::{
    AddressError, AddressPair, Channel, Cmt, Config, ConnectError, Encapsulation, EndpointConfig, Event,
    PairFault, PathError, PathInfo, PathSet, PathState,
};
use std::net::IpAddr;
use testkit::*;
use units::{ByteCount, Span};
use wire::Chunk;

/// A client with two uplinks and a server with one address.
fn two_uplinks(paths: PathSet) -> Pair {
    let cmt = Cmt { enabled: true, ..Cmt::default() };
    let config = Config { paths, cmt, path_max_retrans: 1, hb_interval: Some(ms(1000)), ..Config::default() };
    Pair::of(endpoint_config(Side::Client, 2, &config), endpoint_config(Side::Server, 1, &config))
}

fn paths(pair: &mut Pair, side: Side) -> Vec<PathInfo> {
    let id = pair.only(side);
    pair.endpoint(side).paths(id).unwrap().collect()
}

/// Local address, remote address and state of each path.
fn ends(pair: &mut Pair, side: Side) -> Vec<(IpAddr, IpAddr, PathState)> {
    paths(pair, side).iter().map(|path| (path.local, path.remote, path.state)).collect()
}

fn from_uplink_2(sent: &Sent) -> bool {
    [sent.src, sent.dst].contains(&Side::Client.address(2))
}

#[test]
fn two_uplinks_to_one_address_are_one_path_by_address_and_two_by_pair() {
    let (a, b, server) = (Side::Client.address(1), Side::Client.address(2), Side::Server.address(1));
    let mut pair = two_uplinks(PathSet::Addresses);
    pair.establish();
    assert_eq!(ends(&mut pair, Side::Client), [(a, server, PathState::Active)]);
    let mut pair = two_uplinks(PathSet::Pairs);
    pair.connect(Side::Client, 1);
    pair.run_for(ms(25));
    let expected = [(a, server, PathState::Active), (b, server, PathState::Unconfirmed)];
    assert_eq!(
        ends(&mut pair, Side::Client),
        expected,
        "no heartbeat has shown that the second uplink works"
    );
    pair.run_for(ms(2000));
    assert!(ends(&mut pair, Side::Client).iter().all(|(.., state)| *state == PathState::Active));
    assert_eq!(ends(&mut pair, Side::Server).len(), 2, "the client has two addresses");
}

// rfc9260#section-7.2.5.2
#[test]
fn a_path_that_gets_another_source_address_begins_with_its_initial_window() {
    let mut pair = two_uplinks(PathSet::Addresses);
    let (id, _) = pair.establish();
    let initial = paths(&mut pair, Side::Client)[0].cwnd;
    transfer(&mut pair, 200_000);
    assert!(paths(&mut pair, Side::Client)[0].cwnd > initial * 4);
    let now = pair.now;
    assert!(pair.endpoint(Side::Client).remove_local_address(now, id, Side::Client.address(2)).is_ok());
    assert!(paths(&mut pair, Side::Client)[0].cwnd > initial * 4, "the other one changes nothing");
    assert!(pair.endpoint(Side::Client).restore_local_address(now, id, Side::Client.address(2)).is_ok());
    assert!(pair.endpoint(Side::Client).remove_local_address(now, id, Side::Client.address(1)).is_ok());
    let path = paths(&mut pair, Side::Client)[0];
    assert_eq!((path.cwnd, path.ssthresh), (initial, None));
    transfer(&mut pair, 200_000);
}

#[test]
fn data_travels_on_both_uplinks_and_acknowledgements_go_back_where_it_came_from() {
    let mut pair = two_uplinks(PathSet::Pairs);
    pair.establish();
    pair.run_for(ms(2000));
    let before = pair.sent.len();
    pair.send(Side::Client, 400_000);
    pair.run_for(ms(1000));
    let packets = |pair: &Pair, side, src: u8, what: &str| {
        let client = Side::Client.address(src);
        let of = |sent: &&Sent| sent.from == side && [sent.src, sent.dst].contains(&client);
        pair.sent[before..].iter().filter(of).filter(|sent| sent.chunks().contains(what)).count()
    };
    for uplink in [1, 2] {
        assert!(packets(&pair, Side::Client, uplink, "DATA") > 50, "uplink {uplink}");
        assert!(packets(&pair, Side::Server, uplink, "SACK") > 20, "uplink {uplink}");
    }
    let read: usize = pair.read_all(Side::Server).iter().map(|received| received.payload.len()).sum();
    assert_eq!(read, 400_000);
    let sampled = paths(&mut pair, Side::Client).iter().filter(|path| path.srtt.is_some()).count();
    assert_eq!(sampled, 2, "each pair has a round-trip time of its own");
}

#[test]
fn with_same_subnet_both_ends_send_on_both_uplinks_of_a_peer_with_one_address() {
    let mut pair = two_uplinks(PathSet::SameSubnet);
    pair.establish();
    pair.run_for(ms(2000));
    for side in [Side::Client, Side::Server] {
        let before = pair.sent.len();
        pair.send(side, 400_000);
        pair.run_for(ms(1000));
        let read: usize = pair.read_all(side.other()).iter().map(|received| received.payload.len()).sum();
        assert_eq!(read, 400_000);
        let data =
            pair.sent[before..].iter().filter(|sent| sent.from == side && sent.chunks().contains("DATA"));
        let (two, one): (Vec<_>, Vec<_>) = data.partition(|sent| from_uplink_2(sent));
        assert!(one.len() > 50 && two.len() > 50, "{side:?}: {} and {}", one.len(), two.len());
    }
}

#[test]
fn with_same_subnet_addresses_of_one_subnet_are_pairs_and_each_address_has_a_path() {
    let config = Config { paths: PathSet::SameSubnet, ..Config::default() };
    let ends_of = |client: &[&str], server: &[&str]| {
        let of = |side, list: &[&str]| EndpointConfig {
            addresses: list.iter().map(|address| address.parse().unwrap()).collect(),
            ..endpoint_config(side, 1, &config)
        };
        let mut pair = Pair::of(of(Side::Client, client), of(Side::Server, server));
        let (now, called) = (pair.now, server[0].parse().unwrap());
        pair.endpoint(Side::Client).connect(now, Side::Server.port(), &[called]).unwrap();
        pair.drain();
        pair.run_for(ms(50));
        let ends = ends(&mut pair, Side::Client).into_iter();
        ends.map(|(local, remote, _)| format!("{local} {remote}")).collect::<Vec<_>>()
    };
    assert_eq!(
        ends_of(&["10.1.0.1", "10.2.0.1"], &["10.1.0.2", "10.2.0.2", "10.2.0.3"]),
        ["10.1.0.1 10.1.0.2", "10.2.0.1 10.2.0.2", "10.2.0.1 10.2.0.3"]
    );
    assert_eq!(
        ends_of(&["10.1.0.1", "10.1.0.4"], &["10.1.0.2", "10.2.0.2"]),
        ["10.1.0.1 10.1.0.2", "10.1.0.1 10.2.0.2", "10.1.0.4 10.1.0.2"]
    );
    assert_eq!(
        ends_of(&["10.1.0.1", "10.2.0.1"], &["192.0.2.1", "198.51.100.1"]),
        ["10.1.0.1 192.0.2.1", "10.2.0.1 198.51.100.1"]
    );
    // Each side has addresses of both families.
    assert_eq!(
        ends_of(&["10.1.0.1", "10.2.0.1", "fd00:1::1", "fd00:2::1"], &["192.0.2.1", "fd00:9::1"]),
        ["10.1.0.1 192.0.2.1", "fd00:1::1 fd00:9::1", "10.2.0.1 192.0.2.1", "fd00:2::1 fd00:9::1"]
    );
}

/// Connects the client over exactly these paths. A path is a pair of the numbers of its two addresses.
fn connect_pairs(pair: &mut Pair, pairs: &[(u8, u8)]) -> Result<(), ConnectError> {
    let of = |&(local, remote): &(u8, u8)| AddressPair {
        local: Side::Client.address(local),
        remote: Side::Server.address(remote),
    };
    let (now, pairs): (_, Vec<_>) = (pair.now, pairs.iter().map(of).collect());
    let config = Config { cmt: Cmt { enabled: true, ..Cmt::default() }, ..Config::default() };
    let connected = pair.endpoint(Side::Client).connect_pairs(
        now,
        Side::Server.port(),
        &pairs,
        config.into(),
        Channel::NONE,
    );
    pair.drain();
    connected.map(|_| ())
}

#[test]
fn the_paths_are_the_pairs_that_the_user_named_in_their_order() {
    let mut pair = Pair::new(3, &Config::default());
    connect_pairs(&mut pair, &[(2, 1), (1, 1), (1, 3)]).unwrap();
    assert_eq!((pair.sent[0].src, pair.sent[0].dst), (Side::Client.address(2), Side::Server.address(1)));
    pair.run_for(ms(50));
    let (a, b) = (Side::Client.address(1), Side::Client.address(2));
    let (one, three) = (Side::Server.address(1), Side::Server.address(3));
    let states =
        [(b, one, PathState::Active), (a, one, PathState::Unconfirmed), (a, three, PathState::Active)];
    assert_eq!(
        ends(&mut pair, Side::Client),
        states,
        "a heartbeat has to confirm the second pair of an address"
    );
    let connected = pair.events(Side::Client).into_iter().next();
    let Some(Event::Connected { peer_addresses, .. }) = connected else { panic!("{connected:?}") };
    assert_eq!(peer_addresses, [one, three], "each address once");
    pair.run_for(Span::from_secs(2));
    let before = pair.sent.len();
    transfer(&mut pair, 400_000);
    let data = |src, dst| {
        let on = |sent: &&Sent| (sent.src, sent.dst) == (src, dst) && sent.chunks().contains("DATA");
        pair.sent[before..].iter().filter(on).count()
    };
    assert!([(b, one), (a, one), (a, three)].into_iter().all(|(src, dst)| data(src, dst) > 30));
    assert!(pair.sent.iter().filter(|sent| sent.from == Side::Client).all(|sent| sent.net() != 2));
}

#[test]
fn packets_from_an_address_of_the_peer_that_no_pair_names_are_taken() {
    let mut pair = Pair::of(
        endpoint_config(Side::Client, 2, &Config::default()),
        endpoint_config(
            Side::Server,
            2,
            &Config { cmt: Cmt { enabled: true, ..Cmt::default() }, ..Config::default() },
        ),
    );
    connect_pairs(&mut pair, &[(1, 1)]).unwrap();
    pair.run_for(Span::from_secs(2));
    let before = pair.sent.len();
    pair.send(Side::Server, 400_000);
    pair.run_for(Span::from_secs(2));
    let read: usize = pair.read_all(Side::Client).iter().map(|received| received.payload.len()).sum();
    assert_eq!(read, 400_000);
    let on_2 = |sent: &&Sent| sent.net() == 2 && sent.chunks().contains("DATA");
    assert!(pair.sent[before..].iter().filter(on_2).count() > 50);
    assert!(pair.sent.iter().filter(|sent| sent.from == Side::Client).all(|sent| sent.net() == 1));
}

#[test]
fn packets_from_an_address_whose_only_pair_vanished_are_taken() {
    let config = Config {
        paths: PathSet::SameSubnet,
        cmt: Cmt { enabled: true, ..Cmt::default() },
        ..Config::default()
    };
    let mut pair = Pair::new(2, &config);
    let (id, _) = pair.establish();
    pair.run_for(ms(2000));
    let (now, uplink) = (pair.now, Side::Client.address(2));
    assert!(pair.endpoint(Side::Client).remove_local_address(now, id, uplink).is_ok());
    let before = pair.sent.len();
    pair.send(Side::Server, 400_000);
    pair.run_for(ms(2000));
    let read: usize = pair.read_all(Side::Client).iter().map(|received| received.payload.len()).sum();
    assert_eq!(read, 400_000);
    let sent = &pair.sent[before..];
    assert!(sent.iter().any(|sent| from_uplink_2(sent) && sent.chunks() == "DATA"));
    assert!(sent.iter().filter(|sent| sent.from == Side::Client).all(|sent| !from_uplink_2(sent)));
}

#[test]
fn a_pair_with_an_address_that_the_peer_does_not_name_is_left_out() {
    let mut pair = Pair::of(
        endpoint_config(Side::Client, 2, &Config::default()),
        endpoint_config(Side::Server, 2, &Config::default()),
    );
    connect_pairs(&mut pair, &[(1, 1), (2, 3), (2, 2)]).unwrap();
    pair.run_for(ms(50));
    let remotes: Vec<_> = ends(&mut pair, Side::Client).into_iter().map(|(_, remote, _)| remote).collect();
    assert_eq!(remotes, [1, 2].map(|net| Side::Server.address(net)));
}

#[test]
fn a_pair_that_cannot_be_a_path_is_refused_with_the_reason() {
    let mut pair = Pair::new(2, &Config::default());
    let fault = |pair: &mut Pair, pairs: &[(u8, u8)]| match connect_pairs(pair, pairs) {
        Err(ConnectError::UnusablePair { fault, .. }) => Some(fault),
        other => panic!("{other:?}"),
    };
    assert_eq!(fault(&mut pair, &[(1, 1), (7, 1)]), Some(PairFault::UnknownLocal));
    assert_eq!(fault(&mut pair, &[(1, 1), (2, 1), (1, 1)]), Some(PairFault::Duplicate));
    let many: Vec<(u8, u8)> = (1..=17).map(|remote| (1, remote)).collect();
    assert_eq!(fault(&mut pair, &many), Some(PairFault::TooMany));
    assert_eq!(connect_pairs(&mut pair, &[]), Err(ConnectError::NoUsableAddress));
    let (now, local) = (pair.now, Side::Client.address(1));
    let mut error = |remote: &str| {
        let pairs = [AddressPair { local, remote: remote.parse().unwrap() }];
        let client = pair.endpoint(Side::Client);
        client.connect_pairs(now, 9, &pairs, Config::default().into(), Channel::NONE).unwrap_err().to_string()
    };
    assert_eq!(
        error("fd00::1"),
        "no path can lead from 10.1.0.1 to fd00::1: one is an IPv4 address and the other an IPv6 address"
    );
    assert_eq!(
        error("224.0.0.1"),
        "no path can lead from 10.1.0.1 to 224.0.0.1: the second is not a unicast address"
    );
}

// rfc9260#section-8.3
#[test]
fn a_heartbeat_confirms_the_pair_that_it_left_on_wherever_its_answer_arrives() {
    let mut pair = two_uplinks(PathSet::Pairs);
    // The HEARTBEAT ACK for the second path is lost. The test then injects it at the first uplink.
    pair.on_wire(|sent| {
        let answer = sent.from == Side::Server && sent.chunks() == "HEARTBEAT_ACK";
        if answer && from_uplink_2(sent) { Fate::Lost } else { Fate::Arrives }
    });
    pair.connect(Side::Client, 1);
    pair.run_for(ms(1500));
    let named = |sent: &Sent| match parse(&sent.bytes).chunks().next() {
        Some(Ok(Chunk::Heartbeat(heartbeat))) => heartbeat.info.first().copied(),
        _ => None,
    };
    let from_client = pair.sent.iter().filter(|sent| sent.from == Side::Client);
    let numbers: Vec<_> = from_client.filter_map(|sent| Some((named(sent)?, from_uplink_2(sent)))).collect();
    assert!(numbers.iter().all(|&(number, second)| number == u8::from(second)) && !numbers.is_empty());
    assert_eq!(ends(&mut pair, Side::Client)[1].2, PathState::Unconfirmed);
    let answer = pair.sent.iter().rfind(|sent| sent.chunks() == "HEARTBEAT_ACK" && from_uplink_2(sent));
    let bytes = answer.expect("an answer").bytes.clone();
    pair.inject(Side::Client, Side::Server.address(1), Side::Client.address(1), &bytes);
    assert_eq!(ends(&mut pair, Side::Client)[1].2, PathState::Active);
}

#[test]
fn an_address_is_down_when_all_its_pairs_are() {
    let mut pair = two_uplinks(PathSet::Pairs);
    pair.establish();
    pair.run_for(ms(2000));
    pair.events(Side::Client);
    pair.on_wire(|sent| if from_uplink_2(sent) { Fate::Lost } else { Fate::Arrives });
    pair.run_for(Span::from_secs(30));
    let states: Vec<_> = ends(&mut pair, Side::Client).into_iter().map(|(.., state)| state).collect();
    assert_eq!(states, [PathState::Active, PathState::Inactive]);
    assert_eq!(pair.events(Side::Client), [], "the address still works");
    pair.on_wire(|_| Fate::Lost);
    pair.run_for(Span::from_secs(30));
    let address = Side::Server.address(1);
    let down = Event::PathChanged { address, state: PathState::Inactive };
    assert_eq!(pair.events(Side::Client), [down]);
    pair.heal();
    pair.run_for(Span::from_secs(60));
    assert!(pair.events(Side::Client).contains(&Event::PathChanged { address, state: PathState::Active }));
}

#[test]
fn of_many_pairs_those_beyond_the_limit_are_left_out_and_each_address_has_one() {
    let config = Config { paths: PathSet::Pairs, ..Config::default() };
    let mut pair =
        Pair::of(endpoint_config(Side::Client, 6, &config), endpoint_config(Side::Server, 6, &config));
    pair.establish();
    pair.run_for(ms(3000));
    for side in [Side::Client, Side::Server] {
        let ends = ends(&mut pair, side);
        assert_eq!(ends.len(), 16);
        for (n, (local, remote, _)) in (1..=6).zip(ends) {
            assert_eq!((local, remote), (side.address(n), side.other().address(n)));
        }
    }
}

#[test]
fn an_uplink_that_vanishes_takes_its_pairs_along_and_leaves_the_numbers_of_the_others() {
    let mut pair = two_uplinks(PathSet::Pairs);
    let (id, _) = pair.establish();
    pair.run_for(ms(2000));
    pair.events(Side::Client);
    pair.send(Side::Client, 400_000);
    pair.run_for(ms(45));
    // The packets in flight on the uplink are lost.
    pair.on_wire(|sent| if from_uplink_2(sent) { Fate::Lost } else { Fate::Arrives });
    let in_flight = |pair: &mut Pair| paths(pair, Side::Client)[1].flight;
    pair.send(Side::Client, 100_000);
    pair.run_for(ms(15));
    assert!(!in_flight(&mut pair).is_zero());
    let (now, uplink, before) = (pair.now, Side::Client.address(2), pair.sent.len());
    let client = pair.endpoint(Side::Client);
    assert_eq!(client.remove_local_address(now, id, uplink), Ok(()));
    let unknown = Err(AddressError::Unknown { address: uplink });
    assert_eq!(client.remove_local_address(now, id, uplink), unknown);
    let last = Side::Client.address(1);
    assert_eq!(client.remove_local_address(now, id, last), Err(AddressError::LastPath { address: last }));
    pair.drain();
    pair.run_for(ms(900));
    let read: usize = pair.read_all(Side::Server).iter().map(|received| received.payload.len()).sum();
    assert_eq!(read, 500_000, "before T3 could have expired");
    assert!(!pair.sent[before..].iter().any(|sent| sent.src == uplink));
    let left = paths(&mut pair, Side::Client);
    assert_eq!(left.iter().map(|path| (path.id.0, path.stats.timeouts)).collect::<Vec<_>>(), [(0, 0)]);
    assert_eq!(pair.events(Side::Client), [], "the address of the peer still works");
    // The uplink returns.
    pair.heal();
    let now = pair.now;
    assert!(pair.endpoint(Side::Client).restore_local_address(now, id, uplink).is_ok());
    let again = pair.endpoint(Side::Client).restore_local_address(now, id, uplink);
    assert_eq!(again, Err(AddressError::NotRemoved { address: uplink }));
    pair.drain();
    pair.run_for(ms(50));
    let ids: Vec<_> = paths(&mut pair, Side::Client).iter().map(|path| (path.id.0, path.state)).collect();
    assert_eq!(ids, [(0, PathState::Active), (1, PathState::Active)]);
    let before = pair.sent.len();
    transfer(&mut pair, 200_000);
    assert!(pair.sent[before..].iter().any(|sent| sent.src == uplink && sent.chunks() == "DATA"));
}

#[test]
fn the_first_of_two_pairs_vanishes_while_it_acknowledges_and_shuts_down() {
    let mut pair = two_uplinks(PathSet::Pairs);
    let (id, _) = pair.establish();
    pair.run_for(ms(2000));
    let (now, uplink) = (pair.now, Side::Client.address(1));
    // A SACK is due on the path of the data, and the SHUTDOWN on the primary path.
    pair.send(Side::Server, 1000);
    pair.run_for(ms(15));
    pair.shutdown(Side::Client);
    let before = pair.sent.len();
    assert!(pair.endpoint(Side::Client).remove_local_address(now + ms(15), id, uplink).is_ok());
    pair.drain();
    pair.run_for(Span::from_secs(10));
    let from_client: Vec<_> = pair.sent[before..].iter().filter(|sent| sent.from == Side::Client).collect();
    assert!(!from_client.is_empty() && from_client.iter().all(|sent| sent.src == Side::Client.address(2)));
    assert_eq!((pair.state(Side::Client), pair.state(Side::Server)), (None, None));
}

#[test]
fn without_pairs_a_path_leaves_from_the_address_that_is_left() {
    let mut pair = two_uplinks(PathSet::Addresses);
    let (id, _) = pair.establish();
    let now = pair.now;
    let [one, two] = [1, 2].map(|net| Side::Client.address(net));
    assert!(pair.endpoint(Side::Client).remove_local_address(now, id, one).is_ok());
    assert!(pair.endpoint(Side::Client).remove_local_address(now, id, two).is_err());
    assert_eq!(paths(&mut pair, Side::Client)[0].local, two);
    transfer(&mut pair, 50_000);
    let now = pair.now;
    assert!(pair.endpoint(Side::Client).restore_local_address(now, id, one).is_ok());
    assert_eq!(paths(&mut pair, Side::Client)[0].local, one);
}

/// Sends from the client, and runs until all data arrived.
fn transfer(pair: &mut Pair, bytes: u32) {
    pair.send(Side::Client, bytes);
    pair.run_for(ms(3000));
    let read: usize = pair.read_all(Side::Server).iter().map(|received| received.payload.len()).sum();
    assert_eq!(read, bytes as usize);
}

// rfc6458#section-8.1.12
#[test]
fn chunks_cut_for_a_larger_mtu_may_be_fragmented_and_new_ones_fit() {
    let mut pair = Pair::new(1, &Config::default());
    let (id, _) = pair.establish();
    let (now, address) = (pair.now, Side::Server.address(1));
    let client = pair.endpoint(Side::Client);
    let mut set = |address, mtu| client.set_path_mtu(now, id, address, ByteCount::new(mtu));
    assert_eq!(set(address, 575), Err(PathError::InvalidMtu { mtu: 575 }));
    let nowhere = Side::Server.address(9);
    assert_eq!(set(nowhere, 1300), Err(PathError::NoSuchPath { address: nowhere }));
    // The packets in flight are lost. So chunks of 1452 bytes are retransmitted after the MTU has changed.
    pair.on_wire(|_| Fate::Lost);
    pair.send(Side::Client, 100_000);
    pair.heal();
    let before = pair.sent.len();
    let now = pair.now;
    assert!(pair.endpoint(Side::Client).set_path_mtu(now, id, address, ByteCount::new(1300)).is_ok());
    pair.drain();
    pair.run_for(Span::from_secs(10));
    let read: usize = pair.read_all(Side::Server).iter().map(|received| received.payload.len()).sum();
    assert_eq!(read, 100_000);
    let sent = pair.sent[before..].iter().filter(|sent| sent.from == Side::Client);
    let (long, short): (Vec<_>, Vec<_>) = sent.partition(|sent| sent.bytes.len() > 1280);
    assert!(!long.is_empty() && long.iter().all(|sent| sent.may_fragment && sent.chunks() == "DATA"));
    assert!(short.iter().all(|sent| !sent.may_fragment));
    assert!(short.iter().any(|sent| sent.bytes.len() > 1270), "new chunks fill the smaller packets");
}

#[test]
fn a_path_that_begins_to_be_encapsulated_carries_the_chunks_that_were_cut_before() {
    let of = |side| EndpointConfig {
        encapsulation: Some(Encapsulation::default()),
        ..endpoint_config(side, 1, &Config::default())
    };
    let mut pair = Pair::of(of(Side::Client), of(Side::Server));
    let (now, address) = (pair.now, Side::Server.address(1));
    let client = pair.endpoint(Side::Client);
    let id = client.connect(now, Side::Server.port(), &[address]).unwrap();
    assert!(client.set_remote_port(id, address, 0).is_ok());
    pair.run_for(ms(50));
    assert!(pair.sent.iter().all(|sent| sent.udp_port == 0));
    pair.on_wire(|_| Fate::Lost);
    pair.send(Side::Client, 100_000);
    pair.heal();
    assert!(pair.endpoint(Side::Client).set_remote_port(id, address, 9899).is_ok());
    pair.run_for(Span::from_secs(10));
    let read: usize = pair.read_all(Side::Server).iter().map(|received| received.payload.len()).sum();
    assert_eq!(read, 100_000);
    let long = |sent: &&Sent| sent.udp_port != 0 && sent.bytes.len() > 1472;
    assert!(pair.sent.iter().filter(long).count() > 0);
    assert!(pair.sent.iter().filter(long).all(|sent| sent.may_fragment));
    transfer(&mut pair, 50_000);
}

#[test]
fn a_handshake_longer_than_a_packet_may_be_fragmented_and_data_may_not() {
    let mut pair = Pair::new(1, &Config::default());
    pair.establish();
    transfer(&mut pair, 50_000);
    assert!(pair.sent.iter().all(|sent| !sent.may_fragment));
}
