//! Tests the cookies of two peers of different channels (two authenticated peers) whose random tags
//! happen to be equal.

use super::*;
use crate::Seed;
use crate::assoc::{Cookie, Peer};
use transport::Channel;
use wire::{CommonHeader, PacketWriter, Tsn};

const US: [u8; 4] = [10, 0, 0, 1];
const PEER: [u8; 4] = [10, 0, 0, 2];

/// Our endpoint, and the cookie that its INIT ACK gave to the peer: our tag is 7, the peer's is 8.
fn endpoint() -> (Endpoint, Cookie) {
    let mut endpoint = Endpoint::new(EndpointConfig {
        checksum: Checksum::Offloaded,
        ..EndpointConfig::new(5000, vec![US.into()], Seed::for_simulation(1))
    })
    .unwrap();
    endpoint.listen(true);
    let cookie = Cookie {
        expires: Instant::from_nanos(1000),
        local_port: 5000,
        local_tag: 7,
        local_tsn: Tsn(1),
        ties: Default::default(),
        channel: Channel(1),
        peer: Peer {
            port: 6000,
            tag: 8,
            a_rwnd: 65_536,
            outbound_streams: 1,
            inbound_streams: 1,
            initial_tsn: Tsn(1),
            source: PEER.into(),
            addresses: Vec::new(),
            extensions: Default::default(),
            auth: None,
            adaptation: None,
        },
    };
    (endpoint, cookie)
}

/// Delivers a COOKIE ECHO, and returns the number of answers.
fn echo(endpoint: &mut Endpoint, cookie: &Cookie) -> usize {
    let mut buf = PacketBuf::default();
    let header = CommonHeader { source_port: 6000, destination_port: 5000, verification_tag: 7 };
    let mut w = PacketWriter::new(&mut buf, header, 1000);
    w.push(&CookieEcho { cookie: &cookie.seal(&endpoint.secrets.key) });
    w.finish(Checksum::Offloaded);
    let datagram = Datagram::new(PEER.into(), US.into(), buf.as_octets());
    endpoint.handle(Instant::ZERO, Datagram { channel: cookie.channel, ..datagram });
    std::iter::from_fn(|| endpoint.poll_transmit(Instant::ZERO, &mut buf)).count()
}

// rfc9260#section-5.2.4 action D
#[test]
fn a_cookie_with_the_tags_of_an_association_of_another_channel_is_not_for_it() {
    let (mut endpoint, cookie) = endpoint();
    assert_eq!(echo(&mut endpoint, &cookie), 1, "COOKIE ACK");
    let copy = Cookie { channel: Channel(2), ..cookie.clone() };
    assert_eq!((echo(&mut endpoint, &copy), endpoint.discarded().refused), (0, 1));
    assert_eq!(echo(&mut endpoint, &cookie), 1, "COOKIE ACK again");
    assert_eq!(endpoint.associations().count(), 1);
}
