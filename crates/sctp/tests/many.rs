//! Many associations on one endpoint, and their limits.

use anabranch_sctp::*;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::net::IpAddr;
use testkit::*;
use transport::{Checksum, PacketBuf};
use units::{Instant, Span};
use wire::*;

/// An endpoint at address 10.0.x.y, where x and y are the bytes of `n`, and port 9.
fn endpoint(n: u16, max_associations: usize) -> Endpoint {
    let [high, low] = n.to_be_bytes();
    let config = EndpointConfig {
        port: 9,
        addresses: vec![[10, 0, high, low].into()],
        seed: Seed::for_simulation(u64::from(n)),
        checksum: Checksum::Offloaded,
        max_associations,
        encapsulation: None,
        config: Config::default().into(),
    };
    Endpoint::new(config).unwrap()
}

/// Carries packets between one server and its clients until no endpoint has a packet to send.
fn talk(now: Instant, server: &mut Endpoint, clients: &mut [Endpoint]) {
    let mut buf = PacketBuf::default();
    loop {
        let mut quiet = true;
        for n in 0..clients.len() {
            while let Some(Transmit { src, dst, .. }) = clients[n].poll_transmit(now, &mut buf) {
                quiet = false;
                server.handle(now, Datagram::new(src, dst, buf.as_octets()));
                while let Some(Transmit { src, dst, .. }) = server.poll_transmit(now, &mut buf) {
                    let IpAddr::V4(address) = dst else { unreachable!() };
                    let [_, _, high, low] = address.octets();
                    let client = &mut clients[usize::from(u16::from_be_bytes([high, low])) - 1];
                    client.handle(now, Datagram::new(src, dst, buf.as_octets()));
                }
            }
        }
        if quiet {
            return;
        }
    }
}

#[test]
fn five_hundred_associations_do_not_mix_up_their_data() {
    let now = Instant::ZERO + Span::from_secs(1);
    let mut server = endpoint(0, 500);
    server.listen(true);
    let mut clients: Vec<Endpoint> = (1..=500).map(|n| endpoint(n, 1)).collect();
    let mut ids = Vec::new();
    for client in &mut clients {
        ids.push(client.connect(now, 9, &[[10, 0, 0, 0].into()]).unwrap());
    }
    talk(now, &mut server, &mut clients);
    assert_eq!(server.associations().count(), 500);
    for ((n, client), id) in (1u16..).zip(&mut clients).zip(&ids) {
        client.send(now, *id, Message::new(Payload::Bytes(n.to_be_bytes().to_vec().into()))).unwrap();
    }
    talk(now, &mut server, &mut clients);
    let mut heard = BTreeSet::new();
    for id in server.associations().collect::<Vec<_>>() {
        let remote = server.paths(id).unwrap().next().unwrap().remote;
        let received = server.receive(id, 100).expect("its message");
        let IpAddr::V4(address) = remote else { unreachable!() };
        assert_eq!(received.payload.to_bytes()[..], address.octets()[2..]);
        heard.insert(remote);
    }
    assert_eq!(heard.len(), 500);
    for (client, id) in clients.iter_mut().zip(&ids) {
        client.shutdown(now, *id);
    }
    let later = now + Span::from_millis(500);
    server.handle_timeout(later);
    clients.iter_mut().for_each(|client| client.handle_timeout(later));
    talk(later, &mut server, &mut clients);
    while server.poll_event().is_some() {}
    assert_eq!(server.associations().count(), 0);
}

#[test]
fn a_place_is_used_again_but_never_its_name() {
    let now = Instant::ZERO + Span::from_secs(1);
    let mut server = endpoint(0, 1);
    server.listen(true);
    let mut clients = [endpoint(1, 3)];
    let mut seen = BTreeSet::new();
    for _ in 0..50 {
        let id = clients[0].connect(now, 9, &[[10, 0, 0, 0].into()]).unwrap();
        talk(now, &mut server, &mut clients);
        assert!(seen.insert(id), "{id:?} was another one's");
        let theirs = server.associations().next().unwrap();
        clients[0].abort(id, b"");
        talk(now, &mut server, &mut clients);
        while server.poll_event().is_some() {}
        while clients[0].poll_event().is_some() {}
        assert_eq!((server.state(theirs), clients[0].state(id)), (None, None));
    }
}

#[test]
fn connecting_is_refused_with_a_reason() {
    let now = Instant::ZERO;
    let mut client = endpoint(1, 2);
    let to = |last: u8| -> Vec<IpAddr> { vec![[10, 0, 0, last].into()] };
    assert_eq!(client.connect(now, 0, &to(9)), Err(ConnectError::PortZero));
    assert_eq!(client.connect(now, 9, &[]), Err(ConnectError::NoUsableAddress));
    assert_eq!(client.connect(now, 9, &["fd00::1".parse().unwrap()]), Err(ConnectError::NoUsableAddress));
    assert_eq!(client.connect(now, 9, &[[224, 0, 0, 1].into()]), Err(ConnectError::NoUsableAddress));
    client.connect(now, 9, &to(8)).unwrap();
    assert_eq!(client.connect(now, 9, &to(8)), Err(ConnectError::Exists { address: to(8)[0] }));
    client.connect(now, 9, &to(7)).unwrap();
    assert_eq!(client.connect(now, 9, &to(6)), Err(ConnectError::TooManyAssociations { limit: 2 }));
}

/// A server whose user reads nothing keeps a limited number of answers and events.
#[test]
fn a_flood_is_answered_within_bounds() {
    let now = Instant::ZERO + Span::from_secs(1);
    let mut server = endpoint(0, 1);
    server.listen(true);
    let mut clients = [endpoint(1, 1)];
    let (client, here): (IpAddr, IpAddr) = ([10, 0, 0, 1].into(), [10, 0, 0, 0].into());
    clients[0].connect(now, 9, &[here]).unwrap();
    let mut buf = PacketBuf::default();
    let mut tag = 0;
    for _ in 0..2 {
        clients[0].poll_transmit(now, &mut buf).unwrap();
        server.handle(now, Datagram::new(client, here, buf.as_octets()));
        tag = Packet::parse(buf.as_octets(), Checksum::Offloaded).unwrap().header.verification_tag;
        server.poll_transmit(now, &mut buf).unwrap();
        clients[0].handle(now, Datagram::new(here, client, buf.as_octets()));
    }
    while server.poll_event().is_some() {}
    let mut causes = CauseList::new();
    causes.push(&Cause::OutOfResource);
    for n in 0u32..1000 {
        let chunks = [
            Chunk::Heartbeat(Heartbeat { info: &n.to_be_bytes() }),
            Chunk::Error(OperationError { causes: causes.as_causes() }),
            Chunk::Unknown(UnknownChunk { chunk_type: 0xc1, bytes: (&[0xc1, 0, 0, 4]).into() }),
        ];
        let bytes = packet(9, 9, tag, &chunks);
        server.handle(now, Datagram::new(client, here, bytes.as_octets()));
        let stray = packet(77, 9, n + 1, &chunks[..1]);
        server.handle(now, Datagram::new([10, 0, 9, 9].into(), here, stray.as_octets()));
    }
    let events = std::iter::from_fn(|| server.poll_event()).count();
    let packets = std::iter::from_fn(|| server.poll_transmit(now, &mut buf)).count();
    assert_eq!(events, 8);
    assert!((64..=128).contains(&packets), "{packets} packets");
}

/// Any chunk of an attacker that knows the verification tags.
fn any_chunk() -> impl Strategy<Value = Vec<u8>> {
    let small = prop::collection::vec(any::<u8>(), 0..24);
    (prop::sample::select(vec![0u8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 14, 16, 0x42, 0xc1]), 0u8..16, small)
        .prop_map(|(kind, flags, value)| {
            let mut bytes = vec![kind, flags, 0, 4 + value.len() as u8];
            bytes.extend(value);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
            bytes
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

    // Any packets of a peer with the correct tags cause no panic, and at most a few packets in answer.
    #[test]
    fn nonsense_with_the_right_tag_does_no_harm(
        packets in prop::collection::vec((prop::collection::vec(any_chunk(), 1..5), 0u64..3000, any::<bool>()), 1..25),
        ending in any::<bool>(),
    ) {
        let mut pair = Pair::new(2, &Config::default());
        pair.establish();
        let tag = header(&pair.sent[2].bytes).verification_tag;
        let Some(Ok(Chunk::Init(init))) = parse(&pair.sent[0].bytes).chunks().next() else { unreachable!() };
        let tsn = init.initial_tsn;
        if ending {
            pair.shutdown(Side::Server);
        }
        for (chunks, wait, near) in packets {
            let mut bytes = packet(5001, 5002, tag, &[]);
            for mut chunk in chunks {
                if near && chunk[0] == 0 && chunk.len() >= 8 {
                    // A TSN that the server may expect.
                    let tsn = tsn.add(u32::from(chunk[7] % 8));
                    chunk[4..8].copy_from_slice(&tsn.0.to_be_bytes());
                }
                bytes.head.extend(chunk);
            }
            let crc = wire::crc32c(bytes.as_octets());
            bytes.head[8..12].copy_from_slice(&crc.to_le_bytes());
            let before = pair.sent.len();
            pair.inject(Side::Server, Side::Client.address(1), Side::Server.address(1), &bytes);
            prop_assert!(pair.sent.len() - before <= 4);
            pair.run_for(Span::from_millis(wait));
        }
        pair.run_for(Span::from_secs(100));
    }
}
