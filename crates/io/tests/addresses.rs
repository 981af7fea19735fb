//! Tests of local addresses that are added and removed (`rfc5061`), over loopback.
#![cfg(target_os = "linux")] // Other systems have one loopback address only.
#![allow(clippy::disallowed_types, reason = "sockets work in real time")]

use crate::common;

use anabranch_io::sctp::{self, PathSet};
use anabranch_io::{
    AddressChange, AddressError, Config, Connection, Endpoint, Event, Events, KeyError, PathState, Peer,
};
use common::{SOON, poll_times, quick, run};
use std::net::{IpAddr, Ipv4Addr};
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

const fn local(last: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(127, 0, 1, last))
}

const SERVER: IpAddr = local(1);
const FIRST: IpAddr = local(2);
const SECOND: IpAddr = local(3);

fn with_asconf() -> Config {
    Config { auth: true, asconf: true, paths: PathSet::Pairs, ..quick(Config::recommended()) }
}

fn bind(address: IpAddr, config: &Config) -> Endpoint {
    Endpoint::builder().local(address).udp_port(0).config(config.clone()).bind().expect("binds")
}

struct Pair {
    client: Endpoint,
    server: Endpoint,
    one: Connection,
    other: Connection,
}

fn peer(of: &Endpoint) -> Peer {
    Peer::from((of.local_addresses(), of.port())).udp_port(of.udp_port())
}

fn pair(config: &Config) -> Pair {
    let (client, server) = (bind(FIRST, config), bind(SERVER, config));
    let listener = server.listen(8);
    let one = run(client.connect(peer(&server))).expect("connects");
    let other = run(listener.accept()).expect("is open");
    Pair { client, server, one, other }
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + SOON;
    while !done() {
        assert!(Instant::now() < end, "{what}: not in time");
        thread::sleep(Duration::from_millis(2));
    }
}

/// Waits for the peer's answer to a change of an address. Returns true if the peer accepted the change.
fn answer(events: &mut Events, change: AddressChange, address: IpAddr) -> bool {
    loop {
        match run(events.next()).expect("is open").expect("none is lost") {
            Event::AddressChange { change: of, address: at, accepted } if (of, at) == (change, address) => {
                return accepted;
            }
            _ => {}
        }
    }
}

/// The local addresses of the active paths.
fn active(connection: &Connection) -> Vec<IpAddr> {
    let paths = run(connection.paths()).expect("is open").into_iter();
    paths.filter(|path| path.state == PathState::Active).map(|path| path.local).collect()
}

#[test]
fn a_transfer_moves_to_an_address_that_comes_and_off_one_that_goes() {
    let Pair { client, one, other, .. } = pair(&with_asconf());
    let mut events = one.events();
    const MESSAGES: u8 = 200;
    let reader = other.clone();
    let reading = thread::spawn(move || {
        let first = std::iter::from_fn(|| run(reader.recv()).expect("ends gracefully"))
            .map(|message| message.data[0]);
        first.take(MESSAGES.into()).collect::<Vec<_>>()
    });
    for n in 0..MESSAGES {
        run(one.send(vec![n; 20_000])).expect("is taken");
        if n == 50 {
            run(client.add_local_address(SECOND)).expect("is free");
            assert!(answer(&mut events, AddressChange::Add, SECOND));
            wait_until("a second path", || active(&one) == [FIRST, SECOND]);
            assert_eq!(client.local_addresses(), [FIRST, SECOND]);
            assert_eq!(client.stats().sockets.len(), 2);
            wait_until("the peer's knowledge", || other.peer().expect("is open").0 == [FIRST, SECOND]);
        }
        if n == 100 {
            run(client.remove_local_address(FIRST)).expect("there is another");
            assert_eq!(active(&one), [SECOND]);
            assert!(answer(&mut events, AddressChange::Delete, FIRST));
            wait_until("the peer's knowledge", || other.peer().expect("is open").0 == [SECOND]);
        }
    }
    assert_eq!(reading.join().expect("reads"), (0..MESSAGES).collect::<Vec<_>>());
    // The socket stays open for RTO.Max, which is 200 ms.
    wait_until("a closed socket", || client.stats().sockets.len() == 1);
    assert!(Endpoint::builder().local(FIRST).udp_port(client.udp_port()).bind().is_ok(), "the port is free");
    assert_eq!(client.local_addresses(), [SECOND]);
}

#[test]
fn later_connections_have_the_addresses_that_the_endpoint_has_then() {
    let client = bind(FIRST, &with_asconf());
    run(client.add_local_address(SECOND)).expect("is free");
    run(client.remove_local_address(FIRST)).expect("there is another");
    run(client.add_local_address(local(4))).expect("is free");
    let elsewhere = bind(local(9), &with_asconf());
    let accepting = elsewhere.listen(1);
    let later = run(client.connect(peer(&elsewhere))).expect("connects");
    let accepted = run(accepting.accept()).expect("is open");
    let mut known = accepted.peer().expect("is open").0;
    known.sort();
    assert_eq!(known, [SECOND, local(4)]);
    wait_until("two paths", || active(&later).len() == 2);
}

#[test]
fn an_address_that_comes_during_a_handshake_is_added_after_it() {
    let client = bind(FIRST, &with_asconf());
    // This socket receives the first INIT and does not answer.
    let silent = std::net::UdpSocket::bind((SERVER, 0)).expect("binds");
    let udp_port = silent.local_addr().expect("is bound").port();
    let mut connecting = pin!(client.connect(Peer::from((SERVER, 5001)).udp_port(udp_port)));
    assert!(matches!(connecting.as_mut().poll(&mut Context::from_waker(Waker::noop())), Poll::Pending));
    silent.recv(&mut [0; 2000]).expect("INIT arrives");
    run(client.add_local_address(SECOND)).expect("is free");
    drop(silent);
    let builder = Endpoint::builder().local(SERVER).port(5001).udp_port(udp_port).config(with_asconf());
    let server = builder.bind().expect("binds");
    let listener = server.listen(1);
    let one = run(connecting).expect("connects");
    let _other = run(listener.accept()).expect("is open");
    wait_until("two paths", || active(&one) == [FIRST, SECOND]);
}

#[test]
fn a_peer_cannot_make_an_endpoint_open_sockets() {
    let Pair { client, server, one, other, .. } = pair(&with_asconf());
    let mut events = other.events();
    for last in 20..35 {
        run(server.add_local_address(local(last))).expect("is free");
        assert!(answer(&mut events, AddressChange::Add, local(last)));
    }
    wait_until("all addresses", || one.peer().expect("is open").0.len() == 16);
    assert_eq!((client.stats().sockets.len(), client.local_addresses()), (1, vec![FIRST]));
    let full = run(server.add_local_address(local(99))).expect_err("it has 16");
    assert!(matches!(full, AddressError::Unsuitable { .. }) && full.to_string().contains("127.0.1.99"));
    assert_eq!(server.stats().sockets.len(), 16);
}

#[test]
fn errors_name_the_address_and_change_nothing() {
    let Pair { client, one, other: _other, .. } = pair(&with_asconf());
    let elsewhere = IpAddr::from([192, 0, 2, 1]);
    let texts = [
        (FIRST, run(client.add_local_address(FIRST)), "already"),
        (elsewhere, run(client.add_local_address(elsewhere)), "no interface"),
        (local(3), run(client.add_local_address_on_device(local(3), "nothing9")), "cannot bind"),
        (IpAddr::from([224, 0, 0, 1]), run(client.add_local_address([224, 0, 0, 1].into())), "unicast"),
        (SECOND, run(client.remove_local_address(SECOND)), "does not have"),
        (FIRST, run(client.remove_local_address(FIRST)), "only address"),
        (SECOND, run(one.add_local_address(SECOND)), "does not have"),
        (FIRST, run(one.add_local_address(FIRST)), "has the address"),
        (FIRST, run(one.remove_local_address(FIRST)), "no path left"),
        (SECOND, run(one.set_peer_primary(SECOND)), "does not have"),
    ];
    for (address, result, expected) in texts {
        let text = result.expect_err(expected).to_string();
        assert!(text.contains(&address.to_string()) && text.contains(expected), "{text}");
    }
    assert_eq!((client.local_addresses(), client.stats().sockets.len()), (vec![FIRST], 1));
    run(one.set_peer_primary(FIRST)).expect("the peer has ASCONF");
}

#[test]
fn without_asconf_a_connection_takes_back_only_what_it_had() {
    let config = Config { asconf: false, ..with_asconf() };
    let server = bind(SERVER, &config);
    let listener = server.listen(1);
    let client =
        Endpoint::builder().locals([FIRST, SECOND]).udp_port(0).config(config).bind().expect("binds");
    let one = run(client.connect(peer(&server))).expect("connects");
    let _other = run(listener.accept()).expect("is open");
    wait_until("two paths", || active(&one).len() == 2);
    run(one.remove_local_address(FIRST)).expect("there is another");
    assert_eq!(active(&one), [SECOND]);
    run(one.add_local_address(FIRST)).expect("it was removed");
    wait_until("two paths", || active(&one).len() == 2);
    run(client.add_local_address(local(4))).expect("is free");
    assert!(!run(one.paths()).expect("is open").iter().any(|path| path.local == local(4)));
    let refused = run(one.add_local_address(local(4))).expect_err("the peer has no ASCONF").to_string();
    assert!(refused.contains("127.0.1.4") && refused.contains("ASCONF"), "{refused}");
    run(client.remove_local_address(FIRST)).expect("there are others");
    run(client.add_local_address(FIRST)).expect("is bound anew");
    wait_until("two paths", || active(&one).len() == 2);
}

#[test]
fn the_socket_of_an_address_stays_open_as_long_as_a_connection_has_no_other_path() {
    let Pair { client, one, other, .. } = pair(&with_asconf());
    run(client.add_local_address(SECOND)).expect("is free");
    wait_until("two paths", || active(&one) == [FIRST, SECOND]);
    run(one.remove_local_address(SECOND)).expect("there is another");
    run(client.remove_local_address(FIRST)).expect("the endpoint has another");
    // 600 ms is three times RTO.Max.
    thread::sleep(Duration::from_millis(600));
    assert_eq!(client.stats().sockets.len(), 2);
    run(one.send("still here")).expect("is taken");
    assert_eq!(run(other.recv()).expect("is open").expect("arrives").data, "still here");
    run(one.add_local_address(SECOND)).expect("the endpoint has it");
    wait_until("a closed socket", || client.stats().sockets.len() == 1);
    assert_eq!(active(&one), [SECOND]);
}

#[test]
fn both_ends_change_to_a_key_of_their_own_and_forget_it() {
    let Pair { one, other, .. } = pair(&with_asconf());
    let mut events = one.events();
    for end in [&one, &other] {
        run(end.set_auth_key(7, "secret")).expect("there is room");
        run(end.activate_auth_key(7)).expect("it was set");
    }
    run(one.send("with key 7")).expect("is taken");
    assert_eq!(run(other.recv()).expect("is open").expect("arrives").data, "with key 7");
    let refused = run(one.remove_auth_key(7)).expect_err("it is active");
    assert_eq!(refused.to_string(), "key 7 is active: activate another one first");
    let unknown = sctp::KeyError::NoSuchKey { key: 8 };
    assert_eq!(run(one.activate_auth_key(8)), Err(KeyError::Refused(unknown)));
    run(one.activate_auth_key(0)).expect("it is empty");
    run(one.deactivate_auth_key(7)).expect("another is active");
    while run(events.next()).expect("is open") != Ok(Event::AuthKeyUnused { id: 7 }) {}
    run(one.remove_auth_key(7)).expect("nobody needs it");
}

#[test]
fn dropping_the_future_does_not_stop_the_change() {
    let Pair { client, one, other: _other, .. } = pair(&with_asconf());
    poll_times(client.add_local_address(SECOND), 0, SOON);
    assert_eq!(client.local_addresses(), [FIRST]);
    poll_times(client.add_local_address(SECOND), 1, SOON);
    wait_until("two paths", || active(&one) == [FIRST, SECOND]);
    poll_times(one.remove_local_address(SECOND), 1, SOON);
    wait_until("one path", || active(&one) == [FIRST]);
    poll_times(one.add_local_address(SECOND), 1, SOON);
    wait_until("two paths", || active(&one) == [FIRST, SECOND]);
    poll_times(client.remove_local_address(FIRST), 1, SOON);
    wait_until("one address", || client.local_addresses() == [SECOND]);
}
