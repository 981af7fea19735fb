use super::*;
use crate::ext::{Ext, Extensions};
use transport::{Checksum, PacketBuf};
use wire::{Asconf, AsconfAck, Chunk, CommonHeader, Packet, PacketWriter};

fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

fn terms(first: u8, algorithms: &[u8]) -> Terms {
    let random = std::array::from_fn(|n| first + n as u8);
    Terms { random, chunks: Some(vec![Asconf::TYPE, AsconfAck::TYPE]), algorithms: algorithms.to_vec() }
}

/// The AUTH parameters of two ends, A and B, both with SHA-1 only.
fn both_sides() -> [Terms; 2] {
    [terms(0, &[0, 1]), terms(0x20, &[0, 1])]
}

const ASCONF: &str = "c1000020 00000007 000500080a000001 c001001000000001 000500080a010001";

/// An ASCONF packet from A to B, authenticated with this algorithm.
fn signed(algorithm: Algorithm, shared: &SharedKeys) -> PacketBuf {
    let [a, b] = both_sides();
    let authentication = Authentication { algorithm, ..Authentication::new(&a, &b) };
    let mut buf = PacketBuf::default();
    let header = CommonHeader { source_port: 5000, destination_port: 5001, verification_tag: 0x0102_0304 };
    let mut w = PacketWriter::new(&mut buf, header, 1480);
    let place = w.reserve(authentication.chunk_len()).unwrap();
    let asconf = hex(ASCONF);
    let bytes = [&[0; 12][..], &asconf].concat();
    let packet = Packet::parse(bytes.as_slice().into(), Checksum::Offloaded).unwrap();
    let chunk = packet.chunks().next().unwrap().unwrap();
    assert!(w.push(&chunk));
    w.finish_with(Checksum::Computed, |packet| authentication.sign(shared, &mut packet[place.start..]));
    buf
}

/// What B finds when it verifies a packet from A; `None` if the packet does not begin with AUTH.
fn verified(bytes: &[u8], shared: &SharedKeys) -> Option<Result<(), AuthFault>> {
    let [a, b] = both_sides();
    let receiver = Authentication { offered: Algorithm::ALL.to_vec(), ..Authentication::new(&b, &a) };
    let packet = Packet::parse(bytes.into(), Checksum::Offloaded).ok()?;
    let mut chunks = packet.chunks();
    let Some(Ok(Chunk::Auth(auth))) = chunks.next() else { return None };
    Some(receiver.verify(shared, &auth, chunks.rest()))
}

// rfc4895#section-6.1
#[test]
fn association_key_is_the_smaller_vector_before_the_larger_one() {
    let [a, b] = both_sides();
    let (first, second) = (a.vector(), b.vector());
    assert_eq!((first.len(), second.len()), (48, 48));
    assert_eq!(first[..4], [0x80, 2, 0, 36]);
    assert_eq!(first[36..], [0x80, 3, 0, 6, 0xc1, 0x80, 0x80, 4, 0, 6, 0, 1]);
    let key = [&first[..], &second].concat();
    assert_eq!(Authentication::new(&a, &b).key(), key);
    assert_eq!(Authentication::new(&b, &a).key(), key);
    assert_eq!(association_key(b"secret", &second, &first), [b"secret", &key[..]].concat());
}

// rfc4895#section-6.1
#[test]
fn vectors_are_compared_as_numbers_and_of_equal_numbers_the_shorter_comes_first() {
    let [a, _] = both_sides();
    let without = Terms { chunks: None, ..a.clone() };
    let (long, short) = (a.vector(), without.vector());
    assert_eq!((long.len(), short.len()), (48, 42));
    // The shorter vector, padded with zeros in front, is the smaller number.
    for (one, other) in [(&long, &short), (&short, &long)] {
        assert_eq!(association_key(&[], one, other), [&short[..], &long].concat());
    }
    assert_eq!(association_key(&[], &[0, 2], &[1]), [1, 0, 2]);
    assert_eq!(association_key(&[], &[0, 1], &[1]), [1, 0, 1]);
    assert_eq!(association_key(&[], &[1], &[0, 1]), [1, 0, 1]);
    assert_eq!(association_key(&[], &[0, 1, 1], &[2, 0]), [0, 1, 1, 2, 0]);
}

// rfc4895#section-6.2
#[test]
fn packet_with_hmac_sha_1_is_that_of_the_vector() {
    let packet = signed(Algorithm::Sha1, &SharedKeys::default()).as_octets().to_vec();
    assert_eq!(packet.len(), 72);
    assert_eq!(packet[8..12], hex("b0872f00"));
    let auth = hex("0f00001c00000001 57fcfd7d1f4f86005661ba5e3e8138cb738c22f0");
    assert_eq!(packet[12..], [auth, hex(ASCONF)].concat());
    assert_eq!(verified(&packet, &SharedKeys::default()), Some(Ok(())));
}

// rfc4895#section-6.2
#[test]
fn packet_with_hmac_sha_256_is_that_of_the_vector() {
    let packet = signed(Algorithm::Sha256, &SharedKeys::default()).as_octets().to_vec();
    assert_eq!(packet[8..12], hex("950d1cb1"));
    let auth = hex("0f00002800000003 05affc6df0d82d4e4e2713e66e280002ae0ba3b2504c629f33b356b35535c09a");
    assert_eq!(packet[12..], [auth, hex(ASCONF)].concat());
    assert_eq!(verified(&packet, &SharedKeys::default()), Some(Ok(())));
}

// rfc4895#section-6.3
#[test]
fn any_changed_bit_from_the_auth_chunk_on_makes_it_invalid() {
    for algorithm in Algorithm::ALL {
        let packet = signed(algorithm, &SharedKeys::default()).as_octets().to_vec();
        for bit in 12 * 8..packet.len() * 8 {
            let mut forged = packet.clone();
            forged[bit / 8] ^= 1 << (bit % 8);
            assert!(!matches!(verified(&forged, &SharedKeys::default()), Some(Ok(()))), "bit {bit}");
        }
        let longer = [&packet[..], &[0; 4]].concat();
        assert_eq!(verified(&longer, &SharedKeys::default()), Some(Err(AuthFault::Forged)));
        assert_eq!(
            verified(&packet[..40], &SharedKeys::default()),
            Some(Err(AuthFault::Forged)).filter(|_| algorithm == Algorithm::Sha1)
        );
    }
}

// rfc4895#section-4.1, rfc4895#section-6.3
#[test]
fn an_unknown_key_or_algorithm_is_refused() {
    let mut ours = SharedKeys::default();
    assert!(ours.set(7, b"password").is_ok() && ours.activate(7).is_ok());
    let packet = signed(Algorithm::Sha1, &ours).as_octets().to_vec();
    assert_eq!(packet[16..18], [0, 7]);
    assert_eq!(verified(&packet, &ours), Some(Ok(())));
    assert_eq!(verified(&packet, &SharedKeys::default()), Some(Err(AuthFault::Forged)));
    let mut other = SharedKeys::default();
    other.set(7, b"passwort").expect("there is room");
    assert_eq!(verified(&packet, &other), Some(Err(AuthFault::Forged)));
    for id in [0, 2, 4] {
        let mut packet = packet.clone();
        packet[19] = id;
        assert_eq!(verified(&packet, &ours), Some(Err(AuthFault::Algorithm)), "{id}");
    }
}

#[test]
fn a_key_is_unused_once_nothing_that_was_sent_with_it_is_outstanding() {
    let mut keys = SharedKeys::default();
    assert!(keys.activate(1).is_err() && keys.deactivate(0, 10).is_err(), "no such key, or the active one");
    assert!(keys.set(1, b"one").is_ok() && keys.activate(1).is_ok() && keys.remove(1).is_err());
    assert!(keys.deactivate(0, 10).is_ok() && keys.deactivate(0, 20).is_ok());
    assert_eq!((keys.next_unused(9), keys.next_unused(10), keys.next_unused(10)), (None, Some(0), None));
    assert!(keys.activate(0).is_ok() && keys.deactivate(1, 10).is_ok() && keys.activate(1).is_ok());
    assert_eq!(keys.next_unused(10), None, "it is in use again");
    assert!(keys.activate(0).is_ok() && keys.remove(1).is_ok() && keys.activate(1).is_err());
    for id in 1..=64 {
        assert!(keys.set(id, b"key").is_ok());
    }
    assert!(keys.set(65, b"key").is_err() && keys.set(64, b"other").is_ok());
}

fn on() -> Config {
    Config { auth: true, asconf: true, ..Config::default() }
}

fn offer<'a>(random: &'a [u8], chunks: &'a [u8], algorithms: &'a [u8]) -> AuthOffer<'a> {
    AuthOffer { random: Some(random), chunks: Some(chunks), algorithms: Some(algorithms) }
}

// rfc4895#section-3.1, rfc4895#section-3.3
#[test]
fn auth_needs_a_random_number_of_32_bytes_and_sha_1() {
    let announced = Extensions::of(&on());
    let agree = |offer| Extensions::agree(&on(), announced, &offer);
    let good = offer(&[1; 32], &[0xc1, 0x80], &[0, 9, 0, 1, 0, 3]);
    let (both, terms) = agree(good).unwrap();
    assert!(both.has(Ext::Auth) && both.has(Ext::Asconf));
    let known: Vec<_> = terms.unwrap().known_algorithms().collect();
    assert_eq!(known, [Algorithm::Sha1, Algorithm::Sha256], "those that we have, in the order of the peer");
    assert!(agree(AuthOffer { random: Some(&[1; 31]), ..good }).is_err());
    assert!(agree(AuthOffer { algorithms: Some(&[0, 3]), ..good }).is_err());
    assert!(agree(AuthOffer { algorithms: Some(&[0, 1, 0]), ..good }).is_err());
    assert!(agree(AuthOffer { algorithms: Some(&[]), ..good }).is_err());
    let auth_alone = Extensions::of(&Config { asconf: false, ..on() });
    for (announced, missing) in [
        (auth_alone, AuthOffer { random: None, ..good }),
        (auth_alone, AuthOffer { algorithms: None, ..good }),
        (announced, AuthOffer { chunks: Some(&[0; 257]), ..good }),
        (announced, AuthOffer { algorithms: Some(&[0, 1].repeat(17)), ..good }),
    ] {
        let (both, terms) = Extensions::agree(&on(), announced, &missing).unwrap();
        assert!(!both.has(Ext::Auth) && !both.has(Ext::Asconf) && terms.is_none(), "{missing:?}");
    }
    let off = Extensions::agree(&Config::default(), announced, &AuthOffer { random: Some(&[1]), ..good });
    assert_eq!(off, Ok((Extensions::default(), None)), "parameters that we do not know");
}

// rfc5061#section-6
#[test]
fn asconf_announced_without_auth_is_refused() {
    let good = offer(&[1; 32], &[0xc1, 0x80], &[0, 1]);
    for without in [AuthOffer { random: None, ..good }, AuthOffer { algorithms: None, ..good }] {
        let agree = |config: &Config| Extensions::agree(config, Extensions::of(&on()), &without);
        assert_eq!(agree(&on()), Err("ASCONF without AUTH"));
        assert!(agree(&Config { asconf: false, ..on() }).is_ok(), "no matter if we do not know ASCONF");
    }
}

// rfc5061#section-4.2.7
#[test]
fn asconf_needs_its_chunks_authenticated() {
    let announced = Extensions::of(&on());
    for (chunks, expected) in [(&[0xc1, 0x80][..], true), (&[0xc1], false), (&[0x80, 0], false), (&[], false)]
    {
        let (both, _) = Extensions::agree(&on(), announced, &offer(&[1; 32], chunks, &[0, 1])).unwrap();
        assert_eq!((both.has(Ext::Auth), both.has(Ext::Asconf)), (true, expected), "{chunks:?}");
    }
}

// rfc4895#section-3.2
#[test]
fn types_that_are_never_authenticated_are_ignored_in_a_list() {
    let set = TypeSet::of_list(&[0, 1, 2, 14, 15, 0x80, 0xff]);
    let has: Vec<u8> = (0..=255).filter(|&kind| set.has(kind)).collect();
    assert_eq!(has, [0, 0x80, 0xff]);
}

#[test]
fn terms_in_a_cookie_are_read_as_they_were_written() {
    let [a, _] = both_sides();
    let all: Vec<u8> = (0..=255).collect();
    for chunks in [None, Some(Vec::new()), Some(vec![0xc1]), Some(all)] {
        let terms = Terms { chunks, ..a.clone() };
        let mut bytes = Vec::new();
        terms.write(&mut bytes);
        bytes.push(9);
        assert_eq!(Terms::read(&bytes), Some((terms, &[9][..])));
        for length in 0..bytes.len() - 1 {
            assert_eq!(Terms::read(&bytes[..length]), None, "{length} bytes");
        }
    }
}
