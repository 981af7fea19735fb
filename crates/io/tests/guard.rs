//! A guard between endpoint and sockets.
#![cfg(target_os = "linux")] // Other systems have one loopback address only.

#[path = "common/mod.rs"]
mod common;

use anabranch_io::blocking::Endpoint;
use anabranch_io::transport::{Datagram, Octets, Transmit};
use anabranch_io::units::{Instant, Span};
use anabranch_io::{Builder, Config, Guard};
use common::{CLIENT, SERVER, SOON};
use std::thread;
use std::time::Duration;

/// Adds a byte in front, inverts all others, and keeps the first packet until its timer runs.
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

    fn open(&mut self, _: Instant, datagram: &Datagram<'_>, out: &mut Vec<u8>) -> bool {
        let [7, packet @ ..] = datagram.bytes.head else { return false };
        out.extend(packet.iter().map(|byte| !byte));
        true
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

fn builder(remote: u16) -> Builder {
    Endpoint::builder().udp_port(0).remote_udp_port(remote).config(common::quick(Config::recommended()))
}

#[test]
fn guarded_endpoints_exchange_messages_and_others_are_not_heard() {
    let server = Endpoint::from(builder(1).locals(SERVER).bind_guarded(Inverter::default()).expect("binds"));
    let listener = server.listen(1);
    let client = builder(server.udp_port()).locals(CLIENT).bind_guarded(Inverter::default()).expect("binds");
    let client = Endpoint::from(client);
    let connection =
        client.connect_timeout((SERVER, server.port()), SOON).expect("connects").expect("in time");
    let accepted = listener.accept_timeout(SOON).expect("is open").expect("in time");
    // The thread returns the connection, since dropping it would end the association.
    let reading = thread::spawn(move || {
        let in_order = (0..200_u8).all(|n| accepted.recv().is_some_and(|m| m.data[0] == n));
        (in_order, accepted)
    });
    for n in 0..200_u8 {
        connection.send(vec![n; 10_000]).expect("is taken");
    }
    let (in_order, _accepted) = reading.join().expect("no panic");
    assert!(in_order, "all messages in order");

    let mtu = connection.paths().expect("is open").iter().map(|path| path.mtu.get()).max();
    assert_eq!(mtu, Some(1499), "an MTU without the byte that the guard adds");

    let stranger = builder(server.udp_port()).locals(CLIENT).bind_blocking().expect("binds");
    let waited = stranger.connect_timeout((SERVER, server.port()), Duration::from_millis(200));
    assert!(matches!(waited, Ok(None)), "no answer");
}
