//! Options of single paths: the cost and the heartbeat interval, which the peer learns by PATH-STATUS.

use anabranch_sctp::{
    AssocId, Config, Encapsulation, EndpointConfig, Message, PathOptions, PathSelection, PathState, Payload,
    Reliability, RtxPolicy,
};
use testkit::*;
use units::Span;

const METERED: PathOptions = PathOptions { cost: 1, heartbeat_interval: Some(Span::from_secs(60)) };

/// Bytes of the Ethernet, IP and UDP headers, and of the encryption of the tunnel.
const AROUND: usize = 14 + 20 + 8 + 32;

/// Two endpoints over UDP with these options. The client's path in network 2 is metered (has a higher cost).
fn metered(nets: u8, config: &Config) -> (Pair, AssocId) {
    let endpoint = |side| EndpointConfig {
        encapsulation: Some(Encapsulation::default()),
        ..endpoint_config(side, nets, config)
    };
    let mut pair = Pair::of(endpoint(Side::Client), endpoint(Side::Server));
    let id = pair.connect(Side::Client, nets);
    set(&mut pair, id, METERED);
    pair.run_for(Span::from_secs(3));
    (pair, id)
}

fn set(pair: &mut Pair, id: AssocId, options: PathOptions) {
    let now = pair.now;
    assert!(pair.endpoint(Side::Client).set_path_options(now, id, Side::Client.address(2), options).is_ok());
    pair.drain();
}

/// Number of packets with DATA that a side has sent since packet `number`, in network 1 and in network 2.
fn data(pair: &Pair, from: Side, number: usize) -> [usize; 2] {
    [1, 2].map(|net| {
        let sent = pair.sent[number..].iter().filter(|sent| sent.from == from && sent.net() == net);
        sent.filter(|sent| sent.chunks().contains("DATA")).count()
    })
}

/// Sends 50 short messages, one every 100 ms, so that cwnd is never full.
fn send_little(pair: &mut Pair, from: Side) {
    for _ in 0..50 {
        pair.send(from, 500);
        pair.run_for(Span::from_millis(100));
    }
}

fn every_policy() -> Vec<Config> {
    let mut configs = vec![Config::recommended()];
    for path_selection in [
        PathSelection::SmallestLastTransmission,
        PathSelection::LowestRtt,
        PathSelection::RoundRobin,
        PathSelection::Redundant,
        PathSelection::Ecf,
    ] {
        let mut config = Config::recommended();
        config.cmt.path_selection = path_selection;
        configs.push(config);
    }
    for rtx in [RtxPolicy::Alternate, RtxPolicy::Asap, RtxPolicy::Cwnd] {
        let mut config = Config::recommended();
        config.cmt.rtx = rtx;
        configs.push(config);
    }
    configs
}

#[test]
fn an_idle_metered_path_in_udp_costs_30_kb_an_hour_at_most_in_both_directions() {
    let config = Config { pmtud: true, ..Config::recommended() };
    let (mut pair, _) = metered(2, &config);
    let at_first: usize =
        pair.sent.iter().filter(|sent| sent.net() == 2).map(|sent| sent.bytes.len() + AROUND).sum();
    let before = pair.sent.len();
    pair.run_for(Span::from_secs(3600));
    let bytes = |net| -> usize {
        let sent = pair.sent[before..].iter().filter(|sent| sent.net() == net);
        sent.map(|sent| sent.bytes.len() + AROUND).sum()
    };
    println!("{} and {} bytes an hour, {} at the beginning", bytes(1), bytes(2), at_first);
    assert!(bytes(2) <= 30_000, "{}", bytes(2));
    assert!(bytes(1) > 200_000, "the other path keeps its interval: {}", bytes(1));
}

#[test]
fn a_costly_path_carries_nothing_while_a_cheaper_one_has_room_in_either_direction() {
    for config in every_policy() {
        let (mut pair, _) = metered(2, &config);
        for from in [Side::Client, Side::Server] {
            let before = pair.sent.len();
            send_little(&mut pair, from);
            let [cheap, costly] = data(&pair, from, before);
            assert!(cheap >= 50 && costly == 0, "{from:?}: {cheap} and {costly}");
            let others = pair.sent[before..].iter().filter(|sent| sent.net() == 2);
            assert!(others.clone().all(|sent| sent.chunks().starts_with("HEARTBEAT")), "{from:?}");
        }
    }
}

#[test]
fn losses_are_repaired_or_given_up_on_the_cheaper_path_while_that_works() {
    for reliability in [Reliability::Reliable, Reliability::Retransmissions(0)] {
        let (mut pair, id) = metered(2, &Config::recommended());
        let before = pair.sent.len();
        // The first packet of every eighth burst is lost.
        let (mut last, mut bursts) = (pair.now, 0);
        pair.on_wire(move |sent| {
            let is_data = sent.from == Side::Client && sent.chunks().contains("DATA");
            let begins = is_data && sent.at.since(last) > Span::from_millis(50);
            bursts += usize::from(begins);
            last = if is_data { sent.at } else { last };
            if begins && bursts % 8 == 1 { Fate::Lost } else { Fate::Arrives }
        });
        for _ in 0..40 {
            for _ in 0..5 {
                let (now, message) = (pair.now, Message::new(Payload::Filler(500)));
                let message = Message { reliability, ..message };
                pair.endpoint(Side::Client).send(now, id, message).expect("there is room");
                pair.drain();
            }
            pair.run_for(Span::from_millis(100));
        }
        pair.run_for(Span::from_secs(2));
        let given_up = if reliability == Reliability::Reliable { 0 } else { 5 };
        assert_eq!(pair.read_all(Side::Server).len(), 200 - given_up);
        let costly = pair.sent[before..].iter().filter(|sent| sent.net() == 2).map(Sent::chunks);
        assert_eq!(costly.filter(|chunks| !chunks.starts_with("HEARTBEAT")).collect::<Vec<_>>(), [""; 0]);
    }
}

#[test]
fn a_costly_path_carries_what_a_full_cheaper_one_cannot_and_nothing_afterwards() {
    for config in every_policy() {
        let (mut pair, _) = metered(2, &config);
        let before = pair.sent.len();
        (0..200).for_each(|_| pair.send(Side::Client, 1400));
        pair.run_for(Span::from_secs(5));
        let [cheap, costly] = data(&pair, Side::Client, before);
        assert!(cheap > 10 && costly > 10, "{cheap} and {costly}");
        assert_eq!(pair.read_all(Side::Server).len(), 200);
        let before = pair.sent.len();
        send_little(&mut pair, Side::Client);
        assert_eq!(data(&pair, Side::Client, before)[1], 0);
    }
}

#[test]
fn a_costly_path_carries_all_when_the_cheaper_one_is_dead_and_nothing_once_it_is_back() {
    let (mut pair, _) = metered(2, &Config::recommended());
    pair.on_wire(|sent| if sent.net() == 1 { Fate::Lost } else { Fate::Arrives });
    for from in [Side::Client, Side::Server] {
        let before = pair.sent.len();
        send_little(&mut pair, from);
        assert!(data(&pair, from, before)[1] >= 45, "{from:?}: {:?}", data(&pair, from, before));
    }
    assert!(pair.read_all(Side::Server).len() >= 50 && pair.read_all(Side::Client).len() >= 50);
    pair.heal();
    pair.run_for(Span::from_secs(10));
    for from in [Side::Client, Side::Server] {
        let before = pair.sent.len();
        send_little(&mut pair, from);
        assert_eq!(data(&pair, from, before)[1], 0, "{from:?}");
    }
}

#[test]
fn an_idle_costly_path_is_asked_as_soon_as_the_cheaper_one_fails() {
    let (mut pair, id) = metered(2, &Config::recommended());
    pair.run_for(Span::from_secs(10));
    pair.on_wire(|sent| if sent.net() == 1 { Fate::Lost } else { Fate::Arrives });
    let state = |pair: &mut Pair| pair.endpoint(Side::Client).paths(id).unwrap().next().unwrap().state;
    while state(&mut pair) == PathState::Active {
        pair.run_for(Span::from_millis(10));
    }
    let failed = pair.now;
    let asked = |sent: &&Sent| {
        (sent.from, sent.net()) == (Side::Client, 2) && sent.chunks().starts_with("HEARTBEAT PATH_STATUS")
    };
    let last = pair.sent.iter().rfind(asked).expect("a heartbeat");
    assert!(failed.since(last.at) <= Span::from_millis(10), "{:?}", failed.since(last.at));
}

#[test]
fn of_several_costs_the_least_that_has_room_carries_the_data() {
    let (mut pair, id) = metered(3, &Config::recommended());
    let now = pair.now;
    let costlier = PathOptions { cost: 7, ..METERED };
    assert!(pair.endpoint(Side::Client).set_path_options(now, id, Side::Client.address(3), costlier).is_ok());
    pair.drain();
    pair.run_for(Span::from_secs(1));
    for (from, id) in [(Side::Client, id), (Side::Server, pair.only(Side::Server))] {
        let costs: Vec<u16> = pair.endpoint(from).paths(id).unwrap().map(|path| path.cost).collect();
        assert_eq!(costs, [0, 1, 7], "{from:?}");
    }
    pair.on_wire(|sent| if sent.net() == 1 { Fate::Lost } else { Fate::Arrives });
    let before = pair.sent.len();
    send_little(&mut pair, Side::Client);
    let costlier = pair.sent[before..].iter().filter(|sent| sent.net() == 3);
    assert_eq!(costlier.filter(|sent| sent.chunks().contains("DATA")).count(), 0);
    assert!(data(&pair, Side::Client, before)[1] >= 45);
}

#[test]
fn a_peer_is_told_that_a_path_costs_nothing_any_more() {
    let (mut pair, id) = metered(2, &Config::recommended());
    set(&mut pair, id, PathOptions::default());
    pair.run_for(Span::from_secs(1));
    let server = pair.only(Side::Server);
    assert!(pair.endpoint(Side::Server).paths(server).unwrap().all(|path| path.cost == 0));
    let before = pair.sent.len();
    send_little(&mut pair, Side::Server);
    pair.run_for(Span::from_secs(20));
    let heartbeats = pair.sent[before..].iter().filter(|sent| sent.net() == 2 && sent.from == Side::Server);
    assert!(
        heartbeats.filter(|sent| sent.chunks().starts_with("HEARTBEAT")).count() >= 3,
        "its own interval"
    );
}

#[test]
fn without_options_no_path_status_is_sent() {
    let mut pair = Pair::new(2, &Config::recommended());
    pair.establish();
    send_little(&mut pair, Side::Client);
    pair.run_for(Span::from_secs(60));
    assert!(pair.sent.iter().all(|sent| !sent.chunks().contains("PATH_STATUS")));
}
