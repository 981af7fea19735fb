//! An attacker other than the peer can neither take over nor block an association (rfc9260#section-5.2,
//! rfc9260#section-5.4, rfc5062#section-2).

use anabranch_sctp::{Config, Datagram, Event, PathState, State};
use std::net::IpAddr;
use testkit::*;
use transport::PacketBuf;
use units::Span;
use wire::*;

/// Address of an attacker. The attacker receives only packets to this address.
const X: [u8; 4] = [10, 1, 0, 66];

/// An INIT from the server's port with this tag.
fn init(tag: u32, listed: &[IpAddr]) -> PacketBuf {
    init_from(Side::Server.port(), Side::Client.port(), tag, listed)
}

pub fn init_from(from: u16, to: u16, tag: u32, listed: &[IpAddr]) -> PacketBuf {
    let mut parameters = ParameterList::new();
    for address in listed {
        parameters.push(&match *address {
            IpAddr::V4(address) => Parameter::Ipv4(address),
            IpAddr::V6(address) => Parameter::Ipv6(address),
        });
    }
    let init = Init {
        initiate_tag: tag,
        a_rwnd: 65_536,
        outbound_streams: 10,
        inbound_streams: 10,
        initial_tsn: Tsn(1),
        parameters: parameters.as_parameters(),
    };
    packet(from, to, 0, &[Chunk::Init(init)])
}

/// A COOKIE ECHO with the cookie of an INIT ACK.
pub fn echo(ack: &Sent) -> PacketBuf {
    let header = header(&ack.bytes);
    let Some(Ok(Chunk::InitAck(InitAck(init)))) = parse(&ack.bytes).chunks().next() else {
        panic!("{} is no INIT ACK", ack.chunks())
    };
    let cookie = init.parameters.iter().find_map(|parameter| match parameter {
        Ok(Parameter::StateCookie(cookie)) => Some(cookie),
        _ => None,
    });
    let chunk = Chunk::CookieEcho(CookieEcho { cookie: cookie.expect("a cookie") });
    packet(header.destination_port, header.source_port, init.initiate_tag, &[chunk])
}

/// A client in COOKIE-WAIT or COOKIE-ECHOED that knows the first of the server's two addresses. It does not
/// listen, and receives no further packet from the server.
fn opening(state: State) -> Pair {
    let mut pair = Pair::new(2, &Config::default());
    pair.on_wire(move |sent| match (sent.chunks().as_str(), state) {
        ("INIT_ACK", State::CookieEchoed) => Fate::Arrives,
        _ if sent.from == Side::Server => Fate::Lost,
        _ => Fate::Arrives,
    });
    pair.connect(Side::Client, 1);
    pair.send(Side::Client, 1000);
    pair.run_for(ms(100));
    assert_eq!(pair.state(Side::Client), Some(state));
    pair
}

// rfc9260#section-5.2.1
#[test]
fn our_tag_goes_only_to_addresses_that_the_user_gave() {
    let (first, second) = (Side::Server.address(1), Side::Server.address(2));
    for state in [State::CookieWait, State::CookieEchoed] {
        for (source, listed) in [
            (IpAddr::from(X), vec![first]),
            (X.into(), vec![first, second]),
            (X.into(), vec![second]),
            (second, vec![first]),
            (second, vec![first, X.into()]),
            (first, vec![X.into()]),
        ] {
            let mut pair = opening(state);
            let before = pair.sent.len();
            pair.inject(Side::Client, source, Side::Client.address(1), &init(0xbad, &listed));
            for sent in &pair.sent[before..] {
                let what = format!("{} to {}, {state}, from {source}, {listed:?}", sent.chunks(), sent.dst);
                assert!(sent.chunks() == "ABORT" || sent.dst == first, "{what}");
            }
            pair.heal();
            pair.run_for(Span::from_secs(10));
            let id = pair.only(Side::Client);
            let paths: Vec<_> = pair.endpoint(Side::Client).paths(id).unwrap().collect();
            assert!(paths.iter().all(|path| path.remote != IpAddr::from(X)));
            assert_eq!(pair.read_all(Side::Server).len(), 1, "{state}, from {source}, {listed:?}");
        }
    }
}

// rfc9260#section-5.2.1: an INIT is also answered if it comes from an address of the peer that the user did
// not give.
#[test]
fn init_from_another_address_of_the_peer_is_answered_where_the_user_said() {
    let mut pair = opening(State::CookieWait);
    let before = pair.sent.len();
    let (first, second) = (Side::Server.address(1), Side::Server.address(2));
    pair.inject(Side::Client, second, Side::Client.address(2), &init(0x77, &[first, second]));
    assert_eq!(pair.said(Side::Client, before), ["INIT_ACK"]);
    assert_eq!((pair.sent[before].src, pair.sent[before].dst), (Side::Client.address(1), first));
    // The receiver of this answer may send the cookie from any address. Only the address that the user gave
    // is confirmed.
    pair.on_wire(|_| Fate::Lost);
    let echo = echo(&pair.sent[before]);
    let before = pair.sent.len();
    pair.inject(Side::Client, second, Side::Client.address(2), &echo);
    assert_eq!(pair.said(Side::Client, before), ["COOKIE_ACK DATA", "HEARTBEAT"]);
    assert_eq!((pair.sent[before].dst, pair.sent[before + 1].dst), (first, second));
    let id = pair.only(Side::Client);
    let paths = pair.endpoint(Side::Client).paths(id).unwrap();
    let states: Vec<_> = paths.map(|path| (path.remote, path.is_primary, path.state)).collect();
    assert_eq!(states, [(first, true, PathState::Active), (second, false, PathState::Unconfirmed)]);
}

// rfc9260#section-5.2.4 action B
#[test]
fn a_cookie_of_the_handshake_does_not_change_the_tag_of_an_established_association() {
    for state in [State::CookieWait, State::CookieEchoed] {
        let mut pair = opening(state);
        let before = pair.sent.len();
        // An attacker that reads packets to the server obtains a cookie of the client.
        pair.inject(Side::Client, Side::Server.address(1), Side::Client.address(1), &init(0xbad, &[]));
        let echo = echo(&pair.sent[before]);
        pair.heal();
        pair.run_for(Span::from_secs(10));
        assert_eq!(pair.state(Side::Client), Some(State::Established));
        let before = pair.sent.len();
        pair.inject(Side::Client, Side::Server.address(1), Side::Client.address(1), &echo);
        assert_eq!(pair.said(Side::Client, before), [] as [&str; 0], "{state}");
        pair.read_all(Side::Server);
        pair.send(Side::Client, 10);
        pair.run_for(Span::from_secs(1));
        assert_eq!(pair.read_all(Side::Server).len(), 1, "{state}");
    }
}

/// An INIT ACK of a server with `nets` addresses arrives at the client from address X.
fn init_ack_from_elsewhere(nets: u8, bundling: bool) -> Pair {
    let config = Config { bundling, ..Config::default() };
    let mut pair = Pair::of(
        endpoint_config(Side::Client, 1, &config),
        endpoint_config(Side::Server, nets, &Config::default()),
    );
    pair.on_wire(|sent| if sent.from == Side::Server { Fate::Lost } else { Fate::Arrives });
    pair.connect(Side::Client, 1);
    pair.send(Side::Client, 1000);
    pair.run_for(ms(10));
    let ack = pair.sent.last().unwrap().clone();
    pair.inject(Side::Client, X.into(), Side::Client.address(1), &ack.bytes);
    pair
}

// rfc9260#section-5.4, rule 1: only an address that the user gave is confirmed without a heartbeat.
#[test]
fn the_source_of_an_init_ack_is_not_confirmed_by_it() {
    let mut pair = init_ack_from_elsewhere(2, true);
    let last = pair.sent.last().unwrap();
    assert_eq!((last.chunks().as_str(), last.dst), ("COOKIE_ECHO DATA", Side::Server.address(1)));
    let id = pair.only(Side::Client);
    let paths = pair.endpoint(Side::Client).paths(id).unwrap();
    let states: Vec<_> = paths.map(|path| (path.remote, path.state == PathState::Active)).collect();
    let expected = [(Side::Server.address(1), true), (X.into(), false), (Side::Server.address(2), false)];
    assert_eq!(states, expected);
    pair.heal();
    pair.run_for(Span::from_secs(5));
    assert_eq!(pair.read_all(Side::Server).len(), 1);
    let to_x = pair.sent.iter().filter(|sent| sent.dst == IpAddr::from(X));
    assert!(to_x.map(Sent::chunks).all(|chunks| chunks == "HEARTBEAT"));
}

// rfc9260#section-5.4: COOKIE ECHO to an unconfirmed address carries a HEARTBEAT, and no DATA.
#[test]
fn a_cookie_echo_to_an_unconfirmed_address_goes_with_a_heartbeat() {
    let mut pair = init_ack_from_elsewhere(1, true);
    let before = pair.sent.len() - 1;
    pair.run_for(Span::from_secs(2));
    assert_eq!(pair.said(Side::Client, before), ["COOKIE_ECHO HEARTBEAT", "COOKIE_ECHO HEARTBEAT"]);
    let pair = init_ack_from_elsewhere(1, false);
    assert_eq!(pair.said(Side::Client, 0), ["INIT"], "without bundling it does not go at all");
}

// rfc9260#section-5.4, rfc9260#section-5.2.2: an unverified address gets no cookie that could take over
// an association.
#[test]
fn an_init_from_an_unconfirmed_address_of_an_association_is_not_answered() {
    let mut pair = Pair::new(2, &Config::default());
    pair.on_wire(|sent| if sent.net() == 2 { Fate::Lost } else { Fate::Arrives });
    pair.establish();
    let before = pair.sent.len();
    let [first, second] = [1, 2].map(|net| Side::Client.address(net));
    for (source, said) in [(second, vec![]), (first, vec!["INIT_ACK"])] {
        let takeover = init_from(5001, 5002, 0xbad, &[first, second]);
        pair.inject(Side::Server, source, Side::Server.address(1), &takeover);
        assert_eq!(pair.said(Side::Server, before), said);
    }
}

// rfc9260#section-5.2.2: an ABORT in answer would carry the tag of the association and end it.
#[test]
fn an_old_init_of_the_association_itself_is_never_answered_with_an_abort() {
    let mut pair = Pair::new(1, &Config::default());
    pair.establish();
    let Some(Ok(Chunk::Init(old))) = parse(&pair.sent[0].bytes).chunks().next() else { panic!("no INIT") };
    let before = pair.sent.len();
    let bytes = init_from(5001, 5002, old.initiate_tag, &[X.into()]);
    pair.inject(Side::Server, Side::Client.address(1), Side::Server.address(1), &bytes);
    assert_eq!(pair.said(Side::Server, before), [] as [&str; 0]);
}

// rfc9260#section-5.2.2: an address of a family that the server cannot use also counts as new.
#[test]
fn a_restart_that_adds_an_address_of_a_kind_we_lack_is_refused() {
    let (old, new): (IpAddr, IpAddr) = ("fd00::1".parse().unwrap(), "fd00::2".parse().unwrap());
    let mut client = endpoint_config(Side::Client, 1, &Config::default());
    client.addresses.push(old);
    let mut pair = Pair::of(client, endpoint_config(Side::Server, 1, &Config::default()));
    pair.establish();
    for (listed, said) in [(vec![old], "INIT_ACK"), (vec![], "INIT_ACK"), (vec![old, new], "ABORT")] {
        let before = pair.sent.len();
        let restart = init_from(5001, 5002, 0x99, &listed);
        pair.inject(Side::Server, Side::Client.address(1), Side::Server.address(1), &restart);
        assert_eq!(pair.said(Side::Server, before), [said], "{listed:?}");
    }
    assert_eq!(causes(&pair.sent.last().unwrap().bytes), ["RestartWithNewAddresses([Ok(Ipv6(fd00::2))])"]);
}

/// An association of the server with a client that has listed the address of another host, the victim.
fn camped() -> (Pair, IpAddr) {
    let victim: IpAddr = [10, 2, 0, 1].into();
    let mut pair = Pair::new(2, &Config::default());
    pair.on_wire(|sent| if sent.net() == 2 { Fate::Lost } else { Fate::Arrives });
    let (_, server) = pair.establish();
    let paths: Vec<_> = pair.endpoint(Side::Server).paths(server).unwrap().collect();
    assert!(paths.iter().any(|path| path.remote == victim && path.state == PathState::Unconfirmed));
    (pair, victim)
}

// rfc5062#section-2.1 (rfc9260#section-5.4): address camping
#[test]
fn an_unconfirmed_address_does_not_block_a_connect_to_it() {
    let (mut pair, victim) = camped();
    let now = pair.now;
    let id = pair.endpoint(Side::Server).connect(now, Side::Client.port(), &[victim]);
    assert!(id.is_ok(), "{id:?}");
}

// rfc5062#section-2.1 (rfc9260#section-5.2.2): address camping
#[test]
fn an_unconfirmed_address_does_not_make_its_owners_init_a_restart() {
    let (mut pair, victim) = camped();
    let camper = pair.only(Side::Server);
    pair.events(Side::Server);
    let before = pair.sent.len();
    pair.inject(Side::Server, victim, Side::Server.address(2), &init_from(5001, 5002, 0x1234, &[]));
    assert_eq!(pair.said(Side::Server, before), ["INIT_ACK"]);
    let echo = echo(&pair.sent[before]);
    pair.inject(Side::Server, victim, Side::Server.address(2), &echo);
    let ids: Vec<_> = pair.endpoint(Side::Server).associations().collect();
    assert_eq!(ids.len(), 2, "{ids:?}");
    assert!(ids.contains(&camper) && !pair.events(Side::Server).contains(&Event::Restarted));
    // The next INIT of the victim starts an association of the victim.
    let before = pair.sent.len();
    pair.inject(Side::Server, victim, Side::Server.address(2), &init_from(5001, 5002, 0x1235, &[]));
    let again = self::echo(&pair.sent[before]);
    pair.inject(Side::Server, victim, Side::Server.address(2), &again);
    assert_eq!(pair.endpoint(Side::Server).associations().count(), 2);
    assert!(pair.events(Side::Server).contains(&Event::Restarted));
}

// rfc9260#section-8.4: if a host listed an address, packets out of the blue from the owner of the address are
// still answered.
#[test]
fn packets_out_of_the_blue_from_an_unconfirmed_address_are_answered() {
    let (mut pair, victim) = camped();
    let before = pair.sent.len();
    let bytes = packet(5001, 5002, 0x4444, &[Chunk::Heartbeat(Heartbeat { info: b"x" })]);
    pair.inject(Side::Server, victim, Side::Server.address(2), &bytes);
    assert_eq!(pair.said(Side::Server, before), ["ABORT/T"]);
}

// An endpoint without an address of this family refuses the INIT.
#[test]
fn packets_from_an_address_of_a_kind_we_lack_start_and_change_nothing() {
    let source: IpAddr = "fd00::9".parse().unwrap();
    for state in [State::CookieWait, State::CookieEchoed] {
        let mut pair = opening(state);
        let before = pair.sent.len();
        let bytes = init(0xbad, &[Side::Server.address(1)]);
        let now = pair.now;
        let datagram = Datagram::new(source, "fd00::1".parse().unwrap(), bytes.as_octets());
        pair.endpoint(Side::Client).handle(now, datagram);
        let ack = pair.sent.iter().find(|sent| sent.chunks() == "INIT_ACK").map(|sent| sent.bytes.clone());
        if let (Some(ack), State::CookieWait) = (ack, state) {
            pair.inject(Side::Client, source, "fd00::1".parse().unwrap(), &ack);
        }
        pair.drain();
        assert_eq!(pair.said(Side::Client, before), ["ABORT"]);
        assert_eq!(pair.state(Side::Client), Some(state));
    }
}
