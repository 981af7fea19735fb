//! A tap between endpoint and sockets.
#![cfg(target_os = "linux")] // Other systems have one loopback address only.

#[path = "common/mod.rs"]
mod common;

use anabranch_io::blocking::Endpoint;
use anabranch_io::transport::{Datagram, Octets, Transmit};
use anabranch_io::{Builder, Config, Tap};
use common::{CLIENT, SERVER, SOON};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

/// Source, destination and bytes of a datagram.
type Seen = (SocketAddr, SocketAddr, Vec<u8>);

/// Keeps what it sees: what was sent, and what was received.
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

#[test]
fn a_tap_sees_each_packet_in_both_directions_with_its_ports() {
    let builder = |remote: u16| -> Builder {
        Endpoint::builder().udp_port(0).remote_udp_port(remote).config(common::quick(Config::recommended()))
    };
    let [ours, theirs] = [Notes::default(), Notes::default()];
    let server = Endpoint::from(builder(1).locals(SERVER).bind_tapped(theirs.clone()).expect("binds"));
    let listener = server.listen(1);
    let client = builder(server.udp_port()).locals(CLIENT).bind_tapped(ours.clone()).expect("binds");
    let client = Endpoint::from(client);
    let connection =
        client.connect_timeout((SERVER, server.port()), SOON).expect("connects").expect("in time");
    let accepted = listener.accept_timeout(SOON).expect("is open").expect("in time");
    for n in 0..100_u8 {
        connection.send(vec![n; 5_000]).expect("is taken");
        assert_eq!(accepted.recv().map(|message| message.data[0]), Some(n));
    }
    drop((connection, accepted));
    client.close_timeout(SOON);
    server.close_timeout(SOON);
    let [sent, received] = std::mem::take(&mut *ours.0.lock().expect("no panic"));
    let [sent_back, arrived] = std::mem::take(&mut *theirs.0.lock().expect("no panic"));
    // What arrives was sent; at the end of an association not all that was sent arrives.
    assert!(arrived.len() > 350 && received.len() > 50, "{} {}", arrived.len(), received.len());
    assert!(arrived.iter().all(|one| sent.contains(one)), "the same bytes and ports at both ends");
    assert!(received.iter().all(|one| sent_back.contains(one)), "the same bytes and ports at both ends");
    assert!(sent.iter().all(|(_, to, _)| to.port() == server.udp_port()));
}
