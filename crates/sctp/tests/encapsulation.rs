//! SCTP over UDP (rfc6951): how an endpoint learns the peer's UDP port, and hosts behind one NAT.

use anabranch_sctp::{AssocId, Config, Encapsulation, EndpointConfig, Event, Listen, PathError, State};
use std::net::IpAddr;
use testkit::*;
use transport::PacketBuf;
use units::Span;
use wire::*;

fn natted(clients: u16) -> Natted {
    Natted::new(clients, &Config::default())
}

/// The associations of the server, in the order of their creation.
fn of_server(nat: &Natted) -> Vec<AssocId> {
    nat.server.associations().collect()
}

/// The UDP port of the only path of an association of the server.
fn port_of(nat: &Natted, id: AssocId) -> u16 {
    nat.server.paths(id).unwrap().next().unwrap().udp_port
}

fn init_from(port: u16, tag: u32, listed: &[[u8; 4]]) -> PacketBuf {
    let mut parameters = ParameterList::new();
    listed.iter().for_each(|&address| assert!(parameters.push(&Parameter::Ipv4(address.into()))));
    let init = Init {
        initiate_tag: tag,
        a_rwnd: 65_536,
        outbound_streams: 10,
        inbound_streams: 10,
        initial_tsn: Tsn(1),
        parameters: parameters.as_parameters(),
    };
    packet(port, Natted::SERVER_PORT, 0, &[Chunk::Init(init)])
}

fn heartbeat(tag: u32) -> PacketBuf {
    packet(Natted::CLIENT_PORT, Natted::SERVER_PORT, tag, &[Chunk::Heartbeat(Heartbeat { info: b"who" })])
}

/// The verification tag of packets from the client to the server.
fn tag_at_server(nat: &Natted) -> u32 {
    let cookie = nat.sent.iter().find(|sent| sent.chunks().contains("COOKIE_ECHO")).expect("a handshake");
    header(&cookie.bytes).verification_tag
}

// rfc6951#section-5.3
#[test]
fn clients_behind_one_nat_with_one_sctp_port_are_different_peers() {
    let mut nat = natted(2);
    nat.connect(0);
    nat.connect(1);
    let ids = of_server(&nat);
    assert_eq!(ids.len(), 2);
    assert_eq!(ids.iter().map(|&id| port_of(&nat, id)).collect::<Vec<_>>(), [40_000, 40_001]);
    nat.send_from(0, 1000);
    nat.send_from(1, 2000);
    nat.run_for(ms(500));
    assert_eq!([nat.read(ids[0]), nat.read(ids[1])], [1000, 2000]);
    let state = |nat: &Natted, n: usize| nat.clients[n].state(nat.clients[n].associations().next().unwrap());
    assert_eq!([state(&nat, 0), state(&nat, 1)], [Some(State::Established); 2]);
}

// rfc6951#section-5.4
#[test]
fn packets_go_to_the_port_that_the_newest_packet_with_the_right_tag_came_from() {
    let mut nat = natted(1);
    nat.connect(0);
    let id = of_server(&nat)[0];
    let send = |nat: &mut Natted, messages: u32| {
        for _ in 0..messages {
            nat.send_from(0, 1000);
            nat.run_for(ms(5));
        }
    };
    send(&mut nat, 50);
    let before = nat.sent.len();
    nat.ports[0] = 50_000;
    send(&mut nat, 50);
    nat.run_for(ms(500));
    assert_eq!(nat.server_wrote_to(before).last(), Some(&50_000));
    // After the first packet from the new port, a due SACK is sent to this port.
    let first = nat.sent[before..].iter().find(|sent| sent.port == 50_000 && sent.to_server).unwrap().at;
    let sack = nat.sent[before..].iter().find(|sent| sent.port == 50_000 && !sent.to_server).unwrap();
    assert_eq!(sack.chunks(), "SACK");
    assert!(sack.at <= first + ms(15), "at the latest with the packet after it");
    assert_eq!(nat.read(id), 100_000);
    assert_eq!(nat.server.stats(id).unwrap().received.duplicates, 0);
    assert_eq!(nat.clients[0].paths(id).unwrap().next().unwrap().stats.timeouts, 0);
}

// rfc6951#section-5.4
#[test]
fn a_packet_with_a_wrong_tag_moves_no_port() {
    let mut nat = natted(1);
    nat.connect(0);
    let (id, tag) = (of_server(&nat)[0], tag_at_server(&nat));
    for forged in [tag ^ 1, 0, !tag] {
        nat.inject(Natted::PUBLIC, 6666, &heartbeat(forged));
        assert_eq!(port_of(&nat, id), 40_000);
    }
    let before = nat.sent.len();
    nat.send_to(id, 100);
    assert_eq!(nat.server_wrote_to(before), [40_000]);
    nat.inject(Natted::PUBLIC, 6666, &heartbeat(tag));
    assert_eq!(port_of(&nat, id), 6666);
}

// rfc6951#section-5.4
#[test]
fn a_packet_that_is_not_encapsulated_turns_encapsulation_off() {
    let mut nat = natted(1);
    nat.connect(0);
    let (id, tag) = (of_server(&nat)[0], tag_at_server(&nat));
    nat.inject(Natted::PUBLIC, 0, &heartbeat(tag));
    assert_eq!(port_of(&nat, id), 0);
    assert_eq!(nat.sent.last().map(|sent| (sent.port, sent.chunks())), Some((0, "HEARTBEAT_ACK".into())));
    nat.inject(Natted::PUBLIC, 40_000, &heartbeat(tag));
    assert_eq!(port_of(&nat, id), 40_000, "and on again");
}

// rfc6951#section-5.2
#[test]
fn an_init_with_an_existing_association_of_the_same_port_is_answered_the_way_it_came() {
    let mut nat = natted(1);
    nat.connect(0);
    nat.inject(Natted::PUBLIC, 40_000, &init_from(Natted::CLIENT_PORT, 77, &[]));
    let answer = nat.sent.last().unwrap();
    assert_eq!((answer.port, answer.chunks().as_str()), (40_000, "INIT_ACK"));
    assert_eq!(of_server(&nat).len(), 1);
}

/// Cause 14 of draft-tuexen-tsvwg-sctp-udp-encaps-cons-10.
#[test]
fn an_init_of_an_association_by_another_kind_of_packet_is_refused_and_changes_nothing() {
    let mut nat = natted(1);
    nat.connect(0);
    let id = of_server(&nat)[0];
    nat.inject(Natted::PUBLIC, 0, &init_from(Natted::CLIENT_PORT, 77, &[]));
    let answer = nat.sent.last().unwrap();
    assert_eq!((answer.port, answer.chunks().as_str()), (0, "ABORT"));
    assert_eq!(causes(&answer.bytes), ["RestartWithNewPort { current: 40000, new: 0 }"]);
    assert_eq!(header(&answer.bytes).verification_tag, 77);
    // A host at another address that lists the address of the peer cannot take over the association either.
    let before = nat.sent.len();
    nat.inject([203, 0, 113, 9], 50_000, &init_from(Natted::CLIENT_PORT, 78, &[Natted::PUBLIC]));
    assert_eq!(causes(&nat.sent[before].bytes), ["RestartWithNewPort { current: 40000, new: 50000 }"]);
    assert_eq!((port_of(&nat, id), of_server(&nat).len()), (40_000, 1));
}

#[test]
fn an_init_of_the_very_association_from_another_kind_of_packet_gets_no_abort_that_would_end_it() {
    let mut nat = natted(1);
    nat.connect(0);
    let own = nat.sent.iter().find(|sent| sent.chunks() == "INIT").unwrap().bytes.clone();
    let before = nat.sent.len();
    nat.inject(Natted::PUBLIC, 0, &own);
    assert_eq!((nat.sent.len(), nat.server.discarded().refused), (before, 1));
}

#[test]
fn a_cookie_echo_sent_again_from_a_new_port_is_acknowledged_there() {
    let mut nat = natted(1);
    nat.connect(0);
    let id = of_server(&nat)[0];
    let echo = nat.sent.iter().find(|sent| sent.chunks() == "COOKIE_ECHO").unwrap().bytes.clone();
    nat.inject(Natted::PUBLIC, 50_000, &echo);
    let answer = nat.sent.last().unwrap();
    assert_eq!((answer.port, answer.chunks().as_str()), (50_000, "COOKIE_ACK"));
    assert_eq!((of_server(&nat), port_of(&nat, id)), (vec![id], 50_000));
}

/// A pair in two networks that sends its packets over UDP.
fn encapsulated(client: Encapsulation) -> Pair {
    let of = |side, encapsulation| EndpointConfig {
        encapsulation: Some(encapsulation),
        ..endpoint_config(side, 2, &Config::default())
    };
    Pair::of(of(Side::Client, client), of(Side::Server, Encapsulation::default()))
}

/// Loses every packet in network 2.
fn cut_network_2(pair: &mut Pair) {
    pair.on_wire(|sent| if sent.net() == 2 { Fate::Lost } else { Fate::Arrives });
}

fn ports(pair: &mut Pair, side: Side) -> Vec<u16> {
    let id = pair.only(side);
    pair.endpoint(side).paths(id).unwrap().map(|path| path.udp_port).collect()
}

#[test]
fn all_addresses_of_a_cookie_have_the_port_of_its_packet_until_they_are_heard_from() {
    let mut pair = encapsulated(Encapsulation::default());
    pair.set_udp_port(Side::Client, 2, 7000);
    pair.set_udp_port(Side::Client, 1, 6000);
    cut_network_2(&mut pair);
    pair.establish();
    assert_eq!(ports(&mut pair, Side::Server), [6000, 6000]);
    pair.heal();
    pair.run_for(Span::from_secs(40));
    assert_eq!(ports(&mut pair, Side::Server), [6000, 7000], "the client's heartbeat came from there");
}

#[test]
fn addresses_in_an_init_ack_have_the_port_that_the_user_configured() {
    let mut pair = encapsulated(Encapsulation { remote_port: 9000 });
    pair.set_udp_port(Side::Server, 1, 9001);
    cut_network_2(&mut pair);
    pair.establish();
    assert_eq!(pair.sent[0].udp_port, 9000);
    assert_eq!(ports(&mut pair, Side::Client), [9001, 9000]);
}

// rfc6951#section-6.1
#[test]
fn the_user_sets_the_port_of_an_address() {
    let mut pair = encapsulated(Encapsulation::default());
    let (now, remotes) = (pair.now, [1, 2].map(|net| Side::Server.address(net)));
    let client = pair.endpoint(Side::Client);
    let id = client.connect(now, Side::Server.port(), &remotes).unwrap();
    assert!(
        client.set_remote_port(id, remotes[0], 9100).is_ok()
            && client.set_remote_port(id, remotes[1], 9200).is_ok()
    );
    let address = Side::Server.address(3);
    assert_eq!(client.set_remote_port(id, address, 9300), Err(PathError::NoSuchPath { address }));
    pair.set_udp_port(Side::Server, 1, 9100);
    cut_network_2(&mut pair);
    pair.run_for(ms(50));
    assert_eq!(pair.sent[0].udp_port, 9100);
    assert_eq!(ports(&mut pair, Side::Client), [9100, 9200]);
}

#[test]
fn a_restart_begins_with_the_port_of_its_packet() {
    let mut pair = encapsulated(Encapsulation::default());
    pair.set_udp_port(Side::Client, 2, 8000);
    pair.establish();
    assert_eq!(ports(&mut pair, Side::Server), [9899, 8000]);
    let anew = EndpointConfig {
        encapsulation: Some(Encapsulation::default()),
        seed: anabranch_sctp::Seed::for_simulation(99),
        ..endpoint_config(Side::Client, 2, &Config::default())
    };
    pair.replace(Side::Client, anew);
    pair.set_udp_port(Side::Client, 2, 7000);
    cut_network_2(&mut pair);
    pair.connect(Side::Client, 1);
    pair.run_for(ms(50));
    assert!(pair.events(Side::Server).contains(&Event::Restarted));
    assert_eq!(ports(&mut pair, Side::Server), [9899, 9899]);
}

#[test]
fn an_answer_out_of_the_blue_goes_to_address_and_port_and_nothing_is_kept() {
    let mut nat = natted(0);
    nat.inject([203, 0, 113, 9], 4242, &heartbeat(5));
    assert_eq!(nat.sent.last().map(|sent| (sent.port, sent.chunks())), Some((4242, "ABORT/T".into())));
    assert_eq!(of_server(&nat), []);
    nat.server.listen(Listen::Off);
    nat.inject([203, 0, 113, 9], 4243, &init_from(9, 7, &[]));
    assert_eq!(nat.sent.last().map(|sent| (sent.port, sent.chunks())), Some((4243, "ABORT".into())));
}

#[test]
fn an_endpoint_without_encapsulation_discards_packets_in_udp() {
    let mut pair = Pair::new(1, &Config::default());
    pair.set_udp_port(Side::Client, 1, 6000);
    let init = init_from(Side::Client.port(), 1, &[]);
    let (src, dst): (IpAddr, IpAddr) = (Side::Client.address(1), Side::Server.address(1));
    let now = pair.now;
    let datagram = anabranch_sctp::Datagram::new(src, dst, init.as_octets());
    let server = pair.endpoint(Side::Server);
    server.handle(now, anabranch_sctp::Datagram { udp_port: 6000, ..datagram });
    assert_eq!(server.discarded().encapsulated, 1);
    assert!(server.poll_transmit(now, &mut PacketBuf::default()).is_none());
}

// rfc6951#section-5.6
#[test]
fn a_packet_in_udp_is_shorter_by_the_udp_header() {
    let longest = |mut pair: Pair| {
        pair.establish();
        pair.send(Side::Client, 100_000);
        pair.run_for(ms(500));
        pair.sent.iter().map(|sent| sent.bytes.len()).max().unwrap()
    };
    assert_eq!(longest(Pair::new(2, &Config::default())), 1480);
    assert_eq!(longest(encapsulated(Encapsulation::default())), 1472);
}

#[test]
fn an_idle_path_in_udp_is_probed_twice_as_often_so_that_a_nat_keeps_its_port() {
    let mut nat = natted(1);
    nat.connect(0);
    let before = nat.sent.len();
    nat.run_for(Span::from_secs(60));
    let heartbeats = nat.sent[before..].iter().filter(|sent| sent.to_server && sent.chunks() == "HEARTBEAT");
    assert!((3..=4).contains(&heartbeats.count()));
}
