//! Decodes any bytes as a TCP segment, encodes it, and decodes it again. Passes it to an endpoint.
//!
//! The first byte of the input is the number of zeros after the segment that are not stored.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::net::IpAddr;
use tcp::segment::{Segment, seal};
use tcp::{Config, Datagram, Ecn, Endpoint, EndpointConfig};
use units::{Instant, Span};
use transport::{Checksum, Octets, PacketBuf};

const SRC: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));
const DST: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 2));

fuzz_target!(|input: &[u8]| {
    let Some((&zeros, bytes)) = input.split_first() else { return };
    let octets = Octets::new(bytes, usize::from(zeros));
    let _ = Segment::parse(octets, SRC, DST, Checksum::Computed);
    if let Ok(segment) = Segment::parse(octets, SRC, DST, Checksum::Offloaded) {
        round_trip(&segment);
    }
    converse(bytes);
});

fn round_trip(segment: &Segment<'_>) {
    let mut buf = PacketBuf::default();
    segment.header.write(&mut buf, &segment.options);
    buf.head.extend_from_slice(segment.data.head);
    buf.zeros = segment.data.zeros;
    seal(&mut buf, SRC, DST, Checksum::Computed);
    let again = Segment::parse(buf.as_octets(), SRC, DST, Checksum::Computed).expect("our own segment");
    assert!(again == *segment, "{segment:?}");
}

/// Passes the input in pieces of 48 bytes as segments to one endpoint that offloads the checksum.
fn converse(bytes: &[u8]) {
    let config = EndpointConfig {
        addresses: vec![DST],
        port: 80,
        seed: 1,
        checksum: Checksum::Offloaded,
        max_connections: 4,
        config: Config { ecn: true, ..Config::modern() },
    };
    let mut endpoint = Endpoint::new(config).expect("it can work");
    endpoint.listen(true);
    let (mut now, mut buf) = (Instant::ZERO, PacketBuf::default());
    for piece in bytes.chunks(48) {
        let mut piece = piece.to_vec();
        if let Some(port) = piece.get_mut(2..4) {
            port.copy_from_slice(&80u16.to_be_bytes());
        }
        let bytes = Octets::new(&piece, 0);
        endpoint.handle(now, Datagram { ecn: Ecn::Capable0, ..Datagram::new(SRC, DST, bytes) });
        while endpoint.poll_event().is_some() | endpoint.poll_transmit(now, &mut buf).is_some() {}
        now += Span::from_millis(50);
        endpoint.handle_timeout(now);
    }
}
