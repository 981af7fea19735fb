//! Tests that one line in `TABLE` of `ext/mod.rs` suffices to announce, negotiate and store an extension.

use super::*;
use crate::ext::{Ext, dummy};
use crate::{Config, Seed};
use wire::Parameter;

const CLIENT: u8 = 1;
const SERVER: u8 = 2;

fn endpoint(host: u8, seed: u64) -> Endpoint {
    let mut endpoint = Endpoint::new(EndpointConfig {
        port: 5000 + u16::from(host),
        addresses: vec![[10, 0, 0, host].into()],
        seed: Seed::for_simulation(seed),
        checksum: Checksum::Computed,
        max_associations: 4,
        encapsulation: None,
        config: Config::default().into(),
    })
    .unwrap();
    endpoint.listen(true);
    endpoint
}

/// Runs a handshake from the client, and returns the extensions that INIT and INIT ACK announce.
/// `announcing` says which of client and server announces the dummy extension.
fn handshake(client: &mut Endpoint, server: &mut Endpoint, announcing: [bool; 2]) -> [Vec<u8>; 2] {
    let now = Instant::ZERO;
    client.connect(now, server.port, &[[10, 0, 0, SERVER].into()]).unwrap();
    let mut announced = [Vec::new(), Vec::new()];
    let mut buf = PacketBuf::default();
    for _ in 0..3 {
        for turn in [0, 1] {
            dummy::announce(announcing[turn]);
            let (from, to) =
                if turn == 0 { (&mut *client, &mut *server) } else { (&mut *server, &mut *client) };
            while let Some(Transmit { src, dst, .. }) = from.poll_transmit(now, &mut buf) {
                let packet = Packet::parse(buf.as_octets(), Checksum::Computed).unwrap();
                let parameters = match packet.chunks().next() {
                    Some(Ok(Chunk::Init(init))) => init.parameters,
                    Some(Ok(Chunk::InitAck(ack))) => ack.0.parameters,
                    _ => Default::default(),
                };
                announced[turn].extend(parameters.iter().flat_map(|parameter| match parameter {
                    Ok(Parameter::SupportedExtensions(types)) => types.to_vec(),
                    _ => Vec::new(),
                }));
                dummy::announce(announcing[1 - turn]);
                to.handle(now, Datagram::new(src, dst, buf.as_octets()));
                dummy::announce(announcing[turn]);
            }
        }
    }
    dummy::announce(false);
    while client.poll_event().is_some() || server.poll_event().is_some() {}
    announced
}

fn has_dummy(endpoint: &Endpoint) -> Vec<bool> {
    endpoint.associations.iter().map(|association| association.extensions().has(Ext::Dummy)).collect()
}

// rfc5061#section-4.2.7
#[test]
fn an_extension_is_announced_negotiated_and_kept_in_the_cookie() {
    for (announcing, expected) in [
        ([true, true], [&[0xbf][..], &[0xbf]]),
        ([true, false], [&[0xbf], &[]]),
        ([false, true], [&[], &[]]),
        ([false, false], [&[], &[]]),
    ] {
        let (mut client, mut server) = (endpoint(CLIENT, 1), endpoint(SERVER, 2));
        assert_eq!(handshake(&mut client, &mut server, announcing), expected, "{announcing:?}");
        // The server knows the extensions of the INIT only from the cookie.
        let both = announcing == [true, true];
        assert_eq!((has_dummy(&client), has_dummy(&server)), (vec![both], vec![both]), "{announcing:?}");
    }
}

// rfc9260#section-5.2.4
#[test]
fn a_restart_negotiates_the_extensions_again() {
    let (mut client, mut server) = (endpoint(CLIENT, 1), endpoint(SERVER, 2));
    handshake(&mut client, &mut server, [true, true]);
    for (seed, announcing) in [(3, [true, true]), (4, [false, true]), (5, [true, true])] {
        let mut again = endpoint(CLIENT, seed);
        handshake(&mut again, &mut server, announcing);
        assert_eq!(has_dummy(&server), [announcing[0]], "seed {seed}");
        assert_eq!(has_dummy(&again), [announcing[0]], "seed {seed}");
    }
}
