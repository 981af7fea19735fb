//! Addition and deletion of addresses of an association (`rfc5061`); AUTH protects its chunks (`rfc4895`).

use anabranch_sctp::{
    AddressChange, AddressError, AssocId, CloseReason, Cmt, Config, Event, PathInfo, PathSet, PathState,
    RtxPolicy, State,
};
use std::net::IpAddr;
use testkit::{Fate, Pair, Sent, Side, endpoint_config, header, ms, packet};
use units::{ByteCount, Span};
use wire::{Cause, CauseList, Chunk, OperationError};

fn config() -> Config {
    Config { auth: true, asconf: true, ..Config::default() }
}

fn cmt() -> Config {
    Config { cmt: Cmt { enabled: true, ..Cmt::default() }, paths: PathSet::SameSubnet, ..config() }
}

/// A connected pair: a client with `mine` addresses and a server with `theirs`.
fn connected(config: &Config, mine: u8, theirs: u8) -> (Pair, AssocId, AssocId) {
    let mut pair =
        Pair::of(endpoint_config(Side::Client, mine, config), endpoint_config(Side::Server, theirs, config));
    let (client, server) = pair.establish();
    pair.run_for(ms(2000));
    pair.events(Side::Client);
    pair.events(Side::Server);
    (pair, client, server)
}

fn paths(pair: &mut Pair, side: Side) -> Vec<PathInfo> {
    let id = pair.only(side);
    pair.endpoint(side).paths(id).unwrap().collect()
}

/// The peer's addresses and their states as one side sees them.
fn remotes(pair: &mut Pair, side: Side) -> Vec<(IpAddr, PathState)> {
    let mut remotes: Vec<_> = paths(pair, side).iter().map(|path| (path.remote, path.state)).collect();
    remotes.dedup_by_key(|(remote, _)| *remote);
    remotes
}

fn add(pair: &mut Pair, side: Side, address: IpAddr) -> bool {
    let (id, now) = (pair.only(side), pair.now);
    let added = pair.endpoint(side).add_local_address(now, id, address).is_ok();
    pair.drain();
    added
}

fn remove(pair: &mut Pair, side: Side, address: IpAddr) -> bool {
    let (id, now) = (pair.only(side), pair.now);
    let removed = pair.endpoint(side).remove_local_address(now, id, address).is_ok();
    pair.drain();
    removed
}

fn read(pair: &mut Pair, side: Side) -> usize {
    pair.read_all(side).iter().map(|received| received.payload.len()).sum()
}

fn change(change: AddressChange, address: IpAddr, accepted: bool) -> Event {
    Event::AddressChange { change, address, accepted }
}

/// The packets of one side that contain this chunk.
fn with<'a>(sent: &'a [Sent], from: Side, chunk: &str) -> Vec<&'a Sent> {
    sent.iter()
        .filter(|sent| sent.from == from && sent.chunks().split(' ').any(|name| name == chunk))
        .collect()
}

fn bytes(sent: &Sent) -> Vec<u8> {
    sent.bytes.as_octets().to_vec()
}

// rfc5061#section-5.1, rfc5061#section-5.2
#[test]
fn an_added_address_becomes_a_path_that_a_heartbeat_confirms() {
    let (mut pair, ..) = connected(&cmt(), 1, 2);
    let (one, two) = (Side::Client.address(1), Side::Client.address(2));
    assert_eq!(remotes(&mut pair, Side::Server), [(one, PathState::Active)]);
    let before = pair.sent.len();
    assert!(add(&mut pair, Side::Client, two));
    assert!(!add(&mut pair, Side::Client, two), "it is being added");
    pair.run_for(ms(25));
    let asconf = with(&pair.sent[before..], Side::Client, "ASCONF");
    assert_eq!(
        asconf.iter().map(|sent| (sent.chunks(), sent.src)).collect::<Vec<_>>(),
        [("AUTH ASCONF".into(), one)]
    );
    let answer = with(&pair.sent[before..], Side::Server, "ASCONF_ACK");
    assert_eq!(answer[0].chunks(), "AUTH ASCONF_ACK");
    assert_eq!((answer[0].bytes.len(), answer[0].dst), (12 + 40 + 8, one));
    pair.run_for(ms(100));
    let both = [(one, PathState::Active), (two, PathState::Active)];
    assert_eq!(remotes(&mut pair, Side::Server), both);
    assert_eq!(pair.events(Side::Server)[0], Event::PeerAddressAdded { address: two });
    assert_eq!(pair.events(Side::Client)[0], change(AddressChange::Add, two, true));
    assert!(!add(&mut pair, Side::Client, two), "it is there");
    pair.send(Side::Server, 400_000);
    pair.run_for(ms(2000));
    assert_eq!(read(&mut pair, Side::Client), 400_000);
    assert!(pair.sent.iter().any(|sent| sent.dst == two && sent.chunks() == "DATA"));
    let unauthenticated = |pair: &mut Pair, side| {
        let id = pair.only(side);
        pair.endpoint(side).stats(id).unwrap().unauthenticated
    };
    assert_eq!([Side::Client, Side::Server].map(|side| unauthenticated(&mut pair, side)), [0, 0]);
}

#[test]
fn an_address_added_to_a_saturated_association_carries_data_within_2_rtt_of_its_confirmation() {
    let (mut pair, ..) = connected(&cmt(), 2, 3);
    for _ in 0..4 {
        pair.send(Side::Client, 250_000);
    }
    pair.run_for(ms(25));
    let three = Side::Client.address(3);
    assert!(add(&mut pair, Side::Client, three));
    let before = pair.sent.len();
    let mut confirmed = None;
    for _ in 0..200 {
        pair.run_for(ms(1));
        let state =
            paths(&mut pair, Side::Client).iter().find(|path| path.local == three).map(|path| path.state);
        if confirmed.is_none() && state == Some(PathState::Active) {
            confirmed = Some(pair.now);
        }
    }
    let first = pair.sent[before..].iter().find(|sent| sent.src == three && sent.chunks().contains("DATA"));
    assert!(first.unwrap().at <= confirmed.unwrap() + ms(40));
    pair.run_for(ms(3000));
    assert_eq!(read(&mut pair, Side::Server), 1_000_000);
}

#[test]
fn data_in_flight_to_a_deleted_address_is_delivered_without_a_timeout_elsewhere() {
    let (mut pair, ..) = connected(&cmt(), 2, 2);
    pair.send(Side::Server, 200_000);
    pair.run_for(ms(60));
    let two = Side::Client.address(2);
    pair.on_wire(move |sent| if sent.dst == two || sent.src == two { Fate::Lost } else { Fate::Arrives });
    pair.send(Side::Server, 100_000);
    pair.run_for(ms(5));
    assert!(!paths(&mut pair, Side::Server)[1].flight.is_zero());
    assert!(remove(&mut pair, Side::Client, two));
    pair.run_for(ms(900));
    assert_eq!(read(&mut pair, Side::Client), 300_000, "before T3 could have expired");
    let left = paths(&mut pair, Side::Server);
    assert_eq!(
        left.iter().map(|path| (path.remote, path.stats.timeouts)).collect::<Vec<_>>(),
        [(Side::Client.address(1), 0)]
    );
    assert!(pair.events(Side::Server).contains(&Event::PeerAddressRemoved { address: two }));
    assert!(pair.events(Side::Client).contains(&change(AddressChange::Delete, two, true)));
}

// rfc5061#section-5.1, rule B
#[test]
fn a_lost_asconf_or_asconf_ack_is_repeated_and_has_one_effect() {
    for lost in ["ASCONF", "ASCONF_ACK"] {
        let (mut pair, ..) = connected(&config(), 1, 2);
        let mut once = true;
        pair.on_wire(move |sent| {
            let hit = sent.chunks().ends_with(lost) && std::mem::take(&mut once);
            if hit { Fate::Lost } else { Fate::Arrives }
        });
        let (before, two) = (pair.sent.len(), Side::Client.address(2));
        assert!(add(&mut pair, Side::Client, two));
        pair.run_for(ms(3000));
        let requests = with(&pair.sent[before..], Side::Client, "ASCONF");
        assert_eq!(requests.len(), 2, "{lost}");
        assert_eq!(bytes(requests[0]), bytes(requests[1]));
        let answers = with(&pair.sent[before..], Side::Server, "ASCONF_ACK");
        assert_eq!(answers.len(), if lost == "ASCONF" { 1 } else { 2 });
        assert!(answers.iter().all(|answer| bytes(answer) == bytes(answers[0])));
        let added = |event: &Event| matches!(event, Event::PeerAddressAdded { .. });
        assert_eq!(pair.events(Side::Server).into_iter().filter(added).count(), 1);
        assert_eq!(remotes(&mut pair, Side::Server).len(), 2);
    }
}

// rfc5061#section-5.1, rules B1 to B5
#[test]
fn an_asconf_that_is_never_answered_takes_turns_on_the_paths_and_ends_the_association() {
    let config = Config { hb_interval: None, association_max_retrans: 4, ..config() };
    let (mut pair, ..) = connected(&config, 2, 2);
    pair.on_wire(|sent| if sent.chunks().contains("ASCONF_ACK") { Fate::Lost } else { Fate::Arrives });
    let (before, begun) = (pair.sent.len(), pair.now);
    assert!(add(&mut pair, Side::Client, Side::Client.address(3)));
    pair.run_for(Span::from_secs(60));
    let requests = with(&pair.sent[before..], Side::Client, "ASCONF");
    let seen: Vec<_> =
        requests.iter().map(|sent| (sent.net(), sent.at.since(begun).as_nanos() / 1_000_000_000)).collect();
    assert_eq!(seen, [(1, 0), (2, 1), (1, 2), (2, 4), (1, 6)], "the RTO of each path doubles");
    assert!(requests.iter().all(|sent| bytes(sent) == bytes(requests[0])));
    assert_eq!(pair.state(Side::Client), None);
    let reason = CloseReason::TooManyErrors;
    assert_eq!(pair.events(Side::Client).last(), Some(&Event::Closed { reason }));
}

// rfc5061#section-5.1, rule A9
#[test]
fn a_peer_that_reports_asconf_as_unknown_is_asked_nothing_more() {
    let (mut pair, ..) = connected(&config(), 1, 2);
    pair.on_wire(|sent| if sent.chunks().contains("ASCONF") { Fate::Lost } else { Fate::Arrives });
    let two = Side::Client.address(2);
    assert!(add(&mut pair, Side::Client, two));
    let before = pair.sent.len();
    let mut list = CauseList::new();
    list.push(&Cause::UnrecognizedChunk([0xc1, 0, 0, 4][..].into()));
    let tag = header(&pair.sent[1].bytes);
    assert_eq!(pair.sent[1].from, Side::Server, "it has the client's tag");
    let error = Chunk::Error(OperationError { causes: list.as_causes() });
    let error = packet(Side::Server.port(), Side::Client.port(), tag.verification_tag, &[error]);
    pair.inject(Side::Client, Side::Server.address(1), Side::Client.address(1), &error);
    assert!(pair.events(Side::Client).contains(&change(AddressChange::Add, two, false)));
    pair.run_for(Span::from_secs(10));
    assert!(!add(&mut pair, Side::Client, two));
    assert!(with(&pair.sent[before..], Side::Client, "ASCONF").is_empty(), "T4 is stopped");
    assert_eq!(pair.state(Side::Client), Some(State::Established));
}

// rfc5061#section-5.2
#[test]
fn a_duplicate_asconf_has_one_effect_and_two_equal_answers() {
    let (mut pair, ..) = connected(&config(), 1, 2);
    pair.on_wire(|sent| if sent.chunks() == "AUTH ASCONF" { Fate::Twice(ms(1)) } else { Fate::Arrives });
    let before = pair.sent.len();
    assert!(add(&mut pair, Side::Client, Side::Client.address(2)));
    pair.run_for(ms(500));
    let answers = with(&pair.sent[before..], Side::Server, "ASCONF_ACK");
    assert_eq!(answers.len(), 2);
    assert_eq!(bytes(answers[0]), bytes(answers[1]));
    assert_eq!(pair.events(Side::Client)[0], change(AddressChange::Add, Side::Client.address(2), true));
    assert_eq!(pair.state(Side::Client), Some(State::Established), "the second answer is dropped");
}

// rfc5061#section-4.2.4, rfc5061#section-5.4
#[test]
fn the_peer_sends_to_the_address_that_it_is_asked_to_prefer_once_it_is_confirmed() {
    let (mut pair, client, _) = connected(&config(), 1, 2);
    let two = Side::Client.address(2);
    assert!(add(&mut pair, Side::Client, two));
    let now = pair.now;
    assert!(pair.endpoint(Side::Client).set_peer_primary(now, client, two).is_ok());
    let address = Side::Client.address(3);
    let unknown = pair.endpoint(Side::Client).set_peer_primary(now, client, address);
    assert_eq!(unknown, Err(AddressError::Unknown { address }));
    pair.drain();
    pair.run_for(ms(1500));
    let primary = paths(&mut pair, Side::Server).into_iter().find(|path| path.is_primary).unwrap();
    assert_eq!((primary.remote, primary.state), (two, PathState::Active));
    let before = pair.sent.len();
    pair.send(Side::Server, 100_000);
    pair.run_for(ms(1000));
    assert!(with(&pair.sent[before..], Side::Server, "DATA").iter().all(|sent| sent.dst == two));
    assert_eq!(read(&mut pair, Side::Client), 100_000);
}

#[test]
fn an_uplink_behind_a_nat_joins_and_replaces_the_first_one() {
    let config = Config { nat_friendly: true, paths: PathSet::Pairs, ..cmt() };
    let (mut pair, ..) = connected(&config, 1, 1);
    for _ in 0..4 {
        pair.send(Side::Client, 250_000);
    }
    let (one, two) = (Side::Client.address(1), Side::Client.address(2));
    let before = pair.sent.len();
    assert!(add(&mut pair, Side::Client, two));
    pair.run_for(ms(100));
    let asconf = with(&pair.sent[before..], Side::Client, "ASCONF");
    assert_eq!(asconf.iter().map(|sent| sent.src).collect::<Vec<_>>(), [two]);
    assert!(!asconf[0].bytes.head.windows(4).any(|bytes| bytes == [10, 2, 0, 1]), "it names no address");
    assert_eq!(with(&pair.sent[before..], Side::Server, "ASCONF_ACK")[0].dst, two);
    let both = [(one, PathState::Active), (two, PathState::Active)];
    assert_eq!(remotes(&mut pair, Side::Server), both);
    // The first uplink fails.
    pair.on_wire(move |sent| if sent.src == one || sent.dst == one { Fate::Lost } else { Fate::Arrives });
    assert!(remove(&mut pair, Side::Client, one));
    pair.run_for(ms(3000));
    assert_eq!(remotes(&mut pair, Side::Server), [(two, PathState::Active)]);
    assert_eq!(read(&mut pair, Side::Server), 1_000_000);
}

#[test]
fn an_uplink_behind_a_nat_that_does_not_work_is_given_up_and_does_no_harm() {
    let config = Config { nat_friendly: true, paths: PathSet::Pairs, ..cmt() };
    let (mut pair, ..) = connected(&config, 1, 1);
    let two = Side::Client.address(2);
    pair.on_wire(move |sent| if sent.src == two { Fate::Lost } else { Fate::Arrives });
    assert!(add(&mut pair, Side::Client, two));
    pair.run_for(Span::from_secs(300));
    assert!(pair.events(Side::Client).contains(&change(AddressChange::Add, two, false)));
    assert_eq!(paths(&mut pair, Side::Client)[0].errors, 0);
    // The next ASCONF must have the serial number that the server expects after the lost ASCONF.
    pair.heal();
    assert!(add(&mut pair, Side::Client, two));
    pair.run_for(ms(2000));
    assert!(pair.events(Side::Client).contains(&change(AddressChange::Add, two, true)));
}

#[test]
fn a_peer_without_asconf_is_asked_nothing() {
    for server in [Config::default(), Config { auth: true, ..Config::default() }] {
        let mut pair =
            Pair::of(endpoint_config(Side::Client, 2, &config()), endpoint_config(Side::Server, 2, &server));
        pair.establish();
        let three = Side::Client.address(3);
        assert!(!add(&mut pair, Side::Client, three));
        assert!(remove(&mut pair, Side::Client, Side::Client.address(2)));
        pair.run_for(ms(2000));
        pair.send(Side::Client, 50_000);
        pair.run_for(ms(2000));
        assert_eq!(read(&mut pair, Side::Server), 50_000);
        assert!(!pair.sent.iter().any(|sent| sent.chunks().contains("ASCONF")));
    }
}

#[test]
fn a_removed_address_comes_back_by_asconf() {
    let (mut pair, client, _) = connected(&cmt(), 2, 2);
    let two = Side::Client.address(2);
    pair.send(Side::Client, 100_000);
    pair.run_for(ms(500));
    let sent = |pair: &mut Pair| paths(pair, Side::Client).iter().map(|path| path.stats.user_bytes).max();
    let before = paths(&mut pair, Side::Client)[1].stats.user_bytes;
    assert!(
        before > ByteCount::ZERO && sent(&mut pair) < Some(ByteCount::new(100_000)),
        "both paths carry data"
    );
    assert!(remove(&mut pair, Side::Client, two));
    pair.run_for(ms(500));
    assert_eq!(remotes(&mut pair, Side::Server).len(), 1);
    let now = pair.now;
    assert!(pair.endpoint(Side::Client).restore_local_address(now, client, two).is_ok());
    pair.drain();
    pair.run_for(ms(500));
    assert_eq!(remotes(&mut pair, Side::Server)[1], (two, PathState::Active));
    let ids: Vec<_> = paths(&mut pair, Side::Client).iter().map(|path| (path.id.0, path.local)).collect();
    assert_eq!(ids, [(0, Side::Client.address(1)), (1, two)]);
    assert_eq!(paths(&mut pair, Side::Client)[1].stats.user_bytes, before, "what it sent is counted on");
    // The ASCONF that adds the third address is lost. Until it is answered, the removal and the addition of
    // the second address wait, and they cancel each other.
    let before = pair.sent.len();
    pair.on_wire(|_| Fate::Lost);
    assert!(add(&mut pair, Side::Client, Side::Client.address(3)));
    assert!(remove(&mut pair, Side::Client, two) && add(&mut pair, Side::Client, two));
    pair.heal();
    pair.run_for(ms(3000));
    let requests = with(&pair.sent[before..], Side::Client, "ASCONF");
    assert!(
        requests.iter().all(|sent| bytes(sent) == bytes(requests[0])),
        "those of one address cancel each other"
    );
}

#[test]
fn hundred_addresses_come_and_go_one_after_another() {
    let config = Config { paths: PathSet::Pairs, ..cmt() };
    let (mut pair, ..) = connected(&config, 1, 1);
    let (mut sent, mut got) = (0, 0);
    for net in 2..=101 {
        assert_eq!(
            pair.state(Side::Client),
            Some(State::Established),
            "{net} {:?}",
            pair.events(Side::Client)
        );
        let (old, new) = (Side::Client.address(net - 1), Side::Client.address(net));
        pair.send(Side::Client, 20_000);
        sent += 20_000;
        assert!(add(&mut pair, Side::Client, new), "{net}");
        // HB.Max.Burst allows one heartbeat in each RTO.
        pair.run_for(ms(1200));
        assert!(remove(&mut pair, Side::Client, old), "{net}");
        pair.run_for(ms(200));
        assert_eq!(remotes(&mut pair, Side::Server), [(new, PathState::Active)]);
        got += read(&mut pair, Side::Server);
    }
    pair.run_for(ms(2000));
    assert_eq!(got + read(&mut pair, Side::Server), sent);
}

#[test]
fn retransmissions_stay_on_the_paths_that_are_left() {
    let config = Config {
        cmt: Cmt { enabled: true, rtx: RtxPolicy::Same, ..Cmt::default() },
        paths: PathSet::SameSubnet,
        ..config()
    };
    let (mut pair, ..) = connected(&config, 3, 3);
    for net in [3, 2] {
        pair.send(Side::Server, 300_000);
        pair.run_for(ms(60));
        assert!(remove(&mut pair, Side::Client, Side::Client.address(net)));
        pair.run_for(ms(20));
        let before = pair.sent.len();
        pair.run_for(ms(3000));
        assert!(!pair.sent[before..].iter().any(|sent| sent.dst == Side::Client.address(net)));
        assert_eq!(read(&mut pair, Side::Client), 300_000);
    }
}
