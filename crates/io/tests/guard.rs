//! Tests of a guard and a tap between endpoint and sockets.
#![cfg(target_os = "linux")] // Other systems have one loopback address only.

use crate::common;

use anabranch_io::blocking::{Builder, Endpoint};
use anabranch_io::transport::{Channel, Datagram, Octets, Transmit};
use anabranch_io::units::{Instant, Span};
use anabranch_io::{Config, ConnectError, Guard, GuardError, Identity, Tap};
use common::{CLIENT, SERVER, SOON};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A guard that adds a first byte, inverts all other bytes, and keeps the first packet until its timer runs.
#[derive(Debug, Default)]
struct Inverter {
    kept: Option<(Transmit, Vec<u8>)>,
    release: Option<Instant>,
    ready: Option<(Transmit, Vec<u8>)>,
    started: bool,
}

impl Guard for Inverter {
    fn overhead(&self) -> usize {
        1
    }

    fn seal(&mut self, now: Instant, route: &Transmit, packet: Octets<'_>, out: &mut Vec<u8>) -> bool {
        out.push(7);
        out.extend(packet.iter().map(|byte| !byte));
        if !std::mem::replace(&mut self.started, true) {
            self.kept = Some((*route, std::mem::take(out)));
            self.release = Some(now + Span::from_millis(5));
            return false;
        }
        true
    }

    fn open(&mut self, _: Instant, datagram: &Datagram<'_>, out: &mut Vec<u8>) -> Option<Channel> {
        let [7, packet @ ..] = datagram.bytes.head else { return None };
        out.extend(packet.iter().map(|byte| !byte));
        Some(Channel(1))
    }

    fn channel(&mut self, _: Option<&Identity>) -> Result<Channel, GuardError> {
        Ok(Channel(1))
    }

    fn identity(&self, _: Channel) -> Option<Identity> {
        None
    }

    fn poll_transmit(&mut self, _: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        let (route, datagram) = self.ready.take()?;
        out.extend(datagram);
        Some(route)
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.release
    }

    fn handle_timeout(&mut self, _: Instant) {
        self.release = None;
        self.ready = self.kept.take();
    }
}

/// Source, destination and bytes of a datagram.
type Seen = (SocketAddr, SocketAddr, Vec<u8>);

/// A tap that keeps the datagrams that were sent, and those that were received.
#[derive(Clone, Debug, Default)]
struct Notes(Arc<Mutex<[Vec<Seen>; 2]>>);

impl Tap for Notes {
    fn sent(&mut self, route: &Transmit, udp_port: u16, packet: Octets<'_>) {
        let (from, to) = ((route.src, udp_port).into(), (route.dst, route.udp_port).into());
        self.0.lock().expect("no panic")[0].push((from, to, packet.to_vec()));
    }

    fn received(&mut self, datagram: &Datagram<'_>, udp_port: u16) {
        let (from, to) = ((datagram.src, datagram.udp_port).into(), (datagram.dst, udp_port).into());
        self.0.lock().expect("no panic")[1].push((from, to, datagram.bytes.to_vec()));
    }
}

fn builder(remote: u16) -> Builder {
    Endpoint::builder().udp_port(0).remote_udp_port(remote).config(common::quick(Config::recommended()))
}

#[test]
fn guarded_endpoints_exchange_messages_and_others_are_not_heard() {
    let server = builder(1).locals(SERVER).guard(Inverter::default()).bind().expect("binds");
    let listener = server.listen(1);
    let client = builder(server.udp_port()).locals(CLIENT).guard(Inverter::default()).bind().expect("binds");
    let connection = client.connect_timeout((SERVER, server.port()), SOON).expect("connects in time");
    let accepted = listener.accept_timeout(SOON).expect("accepts in time");
    // The thread returns the connection, because dropping the connection would end the association.
    let reading = thread::spawn(move || {
        let in_order = (0..200_u8).all(|n| accepted.recv().expect("is open").is_some_and(|m| m.data[0] == n));
        (in_order, accepted)
    });
    for n in 0..200_u8 {
        connection.send(vec![n; 10_000]).expect("is taken");
    }
    let (in_order, _accepted) = reading.join().expect("no panic");
    assert!(in_order, "all messages in order");

    let mtu = connection.paths().expect("is open").iter().map(|path| path.mtu.get()).max();
    assert_eq!(mtu, Some(1499), "an MTU without the byte that the guard adds");

    let stranger = builder(server.udp_port()).locals(CLIENT).bind().expect("binds");
    let waited = stranger.connect_timeout((SERVER, server.port()), Duration::from_millis(200));
    assert!(matches!(waited, Err(ConnectError::TimedOut)), "no answer");
}

/// Compares the datagrams seen by taps at both ends of a transfer. `with` completes each builder.
fn taps_see_the_same_packets(with: impl Fn(Builder) -> Builder) {
    let [ours, theirs] = [Notes::default(), Notes::default()];
    let server = with(builder(1).locals(SERVER).tap(theirs.clone())).bind().expect("binds");
    let listener = server.listen(1);
    let client = builder(server.udp_port()).locals(CLIENT).tap(ours.clone());
    let client = with(client).bind().expect("binds");
    let connection = client.connect_timeout((SERVER, server.port()), SOON).expect("connects in time");
    let accepted = listener.accept_timeout(SOON).expect("accepts in time");
    for n in 0..100_u8 {
        connection.send(vec![n; 5_000]).expect("is taken");
        assert_eq!(accepted.recv().expect("is open").map(|message| message.data[0]), Some(n));
    }
    drop((connection, accepted));
    client.close_timeout(SOON).expect("closes in time");
    server.close_timeout(SOON).expect("closes in time");
    let [sent, received] = std::mem::take(&mut *ours.0.lock().expect("no panic"));
    let [sent_back, arrived] = std::mem::take(&mut *theirs.0.lock().expect("no panic"));
    // Each datagram that arrived was sent. At the end of an association, not every sent datagram arrives.
    assert!(arrived.len() > 350 && received.len() > 50, "{} {}", arrived.len(), received.len());
    assert!(arrived.iter().all(|one| sent.contains(one)), "the same bytes and ports at both ends");
    assert!(received.iter().all(|one| sent_back.contains(one)), "the same bytes and ports at both ends");
    assert!(sent.iter().all(|(_, to, _)| to.port() == server.udp_port()));
}

#[test]
fn a_tap_sees_each_packet_in_both_directions_with_its_ports() {
    taps_see_the_same_packets(|builder| builder);
}

#[test]
fn behind_a_guard_a_tap_sees_the_packets_unprotected() {
    taps_see_the_same_packets(|builder| builder.guard(Inverter::default()));
}
