//! Packets of unknown hosts, of dishonest peers and of faulty networks, in every state of an association.

use anabranch_sctp::{AssocId, Config, Message, Payload, State};
use proptest::prelude::*;
use std::net::IpAddr;
use testkit::*;
use transport::{Octets, PacketBuf};
use units::Span;
use wire::*;

/// States of the association in which the tests attack the client.
const SCENES: [State; 7] = [
    State::CookieWait,
    State::CookieEchoed,
    State::Established,
    State::ShutdownPending,
    State::ShutdownSent,
    State::ShutdownReceived,
    State::ShutdownAckSent,
];

/// From now on loses all packets of `from`, and all packets whose list of chunks begins with one of `words`.
fn lose(pair: &mut Pair, from: Option<Side>, words: &'static [&'static str]) {
    pair.on_wire(move |sent| {
        let chunks = sent.chunks();
        let hit = words.iter().any(|word| chunks.starts_with(word)) || Some(sent.from) == from;
        if hit { Fate::Lost } else { Fate::Arrives }
    });
}

/// A pair whose client remains in the given state until the network delivers packets again, and the client's
/// association. The client has sent 1000 bytes, or sends them as soon as the state allows.
fn scene(state: State) -> (Pair, AssocId) {
    let mut pair = Pair::new(2, &Config::default());
    match state {
        State::CookieWait => lose(&mut pair, Some(Side::Server), &[]),
        State::CookieEchoed => lose(&mut pair, None, &["COOKIE_ACK", "COOKIE_ECHO"]),
        _ => {}
    }
    let id = pair.connect(Side::Client, 2);
    pair.run_for(ms(500));
    match state {
        State::ShutdownPending => {
            lose(&mut pair, Some(Side::Client), &[]);
            pair.send(Side::Client, 1000);
            pair.shutdown(Side::Client);
        }
        State::ShutdownSent => {
            lose(&mut pair, None, &["SHUTDOWN"]);
            pair.send(Side::Client, 1000);
            pair.shutdown(Side::Client);
        }
        State::ShutdownReceived => {
            lose(&mut pair, None, &["DATA", "SACK"]);
            pair.send(Side::Client, 1000);
            pair.shutdown(Side::Server);
        }
        State::ShutdownAckSent => {
            pair.send(Side::Client, 1000);
            pair.run_for(ms(300));
            lose(&mut pair, None, &["SHUTDOWN_ACK", "SHUTDOWN_COMPLETE"]);
            pair.shutdown(Side::Server);
        }
        _ => pair.send(Side::Client, 1000),
    }
    pair.run_for(ms(300));
    assert_eq!(pair.endpoint(Side::Client).state(id), Some(state));
    (pair, id)
}

#[test]
fn every_state_is_reached_and_left_again() {
    for state in SCENES {
        let (mut pair, id) = scene(state);
        pair.heal();
        pair.run_for(Span::from_secs(20));
        let ended = pair.endpoint(Side::Client).state(id);
        let ending = !matches!(state, State::CookieWait | State::CookieEchoed | State::Established);
        assert_eq!(ended, if ending { None } else { Some(State::Established) }, "{state}");
    }
}

/// A modification of a packet that was sent before.
#[derive(Clone, Debug)]
enum Spoil {
    /// These bits are flipped.
    Bits(Vec<u16>),
    /// The packet is truncated to this length.
    Cut(u16),
    /// These bytes are appended.
    Append(Vec<u8>),
    /// One byte is replaced.
    Byte(u16, u8),
    /// The chunks of another packet are appended.
    Join(u8),
}

fn spoil() -> impl Strategy<Value = Spoil> {
    prop_oneof![
        prop::collection::vec(any::<u16>(), 1..6).prop_map(Spoil::Bits),
        any::<u16>().prop_map(Spoil::Cut),
        prop::collection::vec(any::<u8>(), 1..40).prop_map(Spoil::Append),
        (any::<u16>(), any::<u8>()).prop_map(|(at, byte)| Spoil::Byte(at, byte)),
        any::<u8>().prop_map(Spoil::Join),
    ]
}

/// Modifies the bytes after the common header.
fn spoilt(packet: &[u8], others: &[Vec<u8>], how: &[Spoil]) -> Vec<u8> {
    let mut bytes = packet.to_vec();
    for spoil in how {
        let len = bytes.len();
        let place = |at: u16| CommonHeader::LEN + usize::from(at) % (len - CommonHeader::LEN).max(1);
        match spoil {
            Spoil::Bits(bits) => {
                for &bit in bits {
                    if let Some(byte) = bytes.get_mut(place(bit / 8)) {
                        *byte ^= 1 << (bit % 8);
                    }
                }
            }
            Spoil::Cut(at) => bytes.truncate(place(*at)),
            Spoil::Append(more) => bytes.extend(more),
            Spoil::Byte(at, byte) => {
                if let Some(old) = bytes.get_mut(place(*at)) {
                    *old = *byte;
                }
            }
            Spoil::Join(other) => {
                bytes.extend(&others[usize::from(*other) % others.len()][CommonHeader::LEN..])
            }
        }
    }
    bytes
}

/// The verification tag that a forged packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Claim {
    /// The correct tag of the association.
    Right,
    /// The tag of the opposite direction of the association.
    Reflected,
    Zero,
    Other(u32),
}

fn claim() -> impl Strategy<Value = Claim> {
    prop_oneof![
        4 => Just(Claim::Right),
        1 => Just(Claim::Reflected),
        1 => Just(Claim::Zero),
        2 => any::<u32>().prop_map(Claim::Other),
    ]
}

/// Writes a tag and a correct checksum into a packet.
fn sealed(mut bytes: Vec<u8>, tag: u32) -> PacketBuf {
    bytes[4..8].copy_from_slice(&tag.to_be_bytes());
    bytes[8..12].fill(0);
    let checksum = crc32c(Octets::from(&bytes[..]));
    bytes[8..12].copy_from_slice(&checksum.to_le_bytes());
    PacketBuf { head: bytes, zeros: 0 }
}

/// The tag of packets to the client, and that of packets to the server; 0 if a tag is unknown.
fn tags(pair: &Pair) -> (u32, u32) {
    let Some(Ok(Chunk::Init(init))) = parse(&pair.sent[0].bytes).chunks().next() else { panic!("no INIT") };
    let to_server = pair.sent.iter().filter(|sent| sent.from == Side::Client);
    let tag = to_server.map(|sent| header(&sent.bytes).verification_tag).find(|&tag| tag != 0);
    (init.initiate_tag, tag.unwrap_or(0))
}

/// The server's packets of a whole association, which the tests modify and send to the client.
fn specimens() -> Vec<Vec<u8>> {
    let mut pair = Pair::new(2, &Config::default());
    pair.establish();
    pair.on_wire(|sent| if sent.number % 7 == 0 { Fate::Lost } else { Fate::Arrives });
    for side in [Side::Client, Side::Server] {
        for len in [10, 3000, 20_000] {
            pair.send(side, len);
        }
    }
    pair.run_for(Span::from_secs(10));
    let packets = pair.sent.iter().filter(|sent| sent.from == Side::Server);
    let mut all: Vec<Vec<u8>> = packets.map(|sent| sent.bytes.as_octets().to_vec()).collect();
    // Chunks that an ordinary association does not send.
    let mut stale = CauseList::new();
    stale.push(&Cause::StaleCookie { staleness: Span::from_secs(1) });
    for chunk in [
        Chunk::Abort(Abort { reflected_tag: false, causes: Causes::default() }),
        Chunk::Abort(Abort { reflected_tag: true, causes: Causes::default() }),
        Chunk::ShutdownComplete(ShutdownComplete { reflected_tag: false }),
        Chunk::ShutdownComplete(ShutdownComplete { reflected_tag: true }),
        Chunk::ShutdownAck(ShutdownAck),
        Chunk::Shutdown(Shutdown { cumulative_tsn_ack: Tsn(7) }),
        Chunk::Error(OperationError { causes: stale.as_causes() }),
        Chunk::CookieEcho(CookieEcho { cookie: b"baked by somebody else" }),
        Chunk::CookieAck(CookieAck),
    ] {
        all.push(packet(5002, 5001, 0, &[chunk]).head);
    }
    all
}

/// An attack on the client: index of a packet in `specimens`, modifications, tag, and pause in ms after the
/// packet.
type Attack = (u8, Vec<Spoil>, Claim, u64);

fn attacks() -> impl Strategy<Value = Vec<Attack>> {
    let attack = (any::<u8>(), prop::collection::vec(spoil(), 0..4), claim(), 0u64..300);
    prop::collection::vec(attack, 1..30)
}

fn attack(pair: &mut Pair, specimens: &[Vec<u8>], attack: &Attack, src: IpAddr) {
    let (which, how, claim, _) = attack;
    let specimen = &specimens[usize::from(*which) % specimens.len()];
    let (to_client, to_server) = tags(pair);
    let tag = match *claim {
        Claim::Right => to_client,
        Claim::Reflected => to_server,
        Claim::Zero => 0,
        Claim::Other(tag) => tag,
    };
    let bytes = spoilt(specimen, specimens, how);
    pair.inject(Side::Client, src, Side::Client.address(1), &sealed(bytes, tag));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    // rfc9260#section-8.5: in any state, packets without the correct tag change no state, no relevant timer
    // and no data. (INIT needs no tag, and its answer creates no state.)
    #[test]
    fn without_the_tag_no_packet_harms_an_association(
        state in prop::sample::select(&SCENES[..]),
        attacks in attacks(),
        from_stranger in any::<bool>(),
    ) {
        let specimens = specimens();
        let (mut pair, id) = scene(state);
        let (to_client, to_server) = tags(&pair);
        let knows = |claim: Claim| match claim {
            Claim::Right | Claim::Reflected => true,
            Claim::Zero => false,
            Claim::Other(tag) => tag == to_client || tag == to_server,
        };
        let src: IpAddr = if from_stranger { [10, 1, 0, 99].into() } else { Side::Server.address(1) };
        for one in attacks.iter().filter(|(_, _, claim, _)| !knows(*claim)) {
            let before = pair.sent.len();
            attack(&mut pair, &specimens, one, src);
            prop_assert!(pair.sent.len() - before <= 1, "{:?}", pair.said(Side::Client, before));
            prop_assert_eq!(pair.endpoint(Side::Client).state(id), Some(state));
        }
        pair.heal();
        let mut heard = 0;
        // The test reads data before the association may end.
        for _ in 0..4000 {
            pair.run_for(ms(5));
            let arrived = pair.read_all(Side::Server);
            heard += arrived.iter().map(|received| received.payload.len()).sum::<usize>();
        }
        prop_assert_eq!(heard, 1000);
        let ending = !matches!(state, State::CookieWait | State::CookieEchoed | State::Established);
        let expected = (!ending).then_some(State::Established);
        prop_assert_eq!(pair.endpoint(Side::Client).state(id), expected);
    }

    // With the correct tags, an attacker can end an association, but cannot cause a panic or more than a few
    // packets for each packet.
    #[test]
    fn with_the_tag_a_packet_may_end_an_association_and_no_more(
        state in prop::sample::select(&SCENES[..]),
        attacks in attacks(),
    ) {
        let specimens = specimens();
        let (mut pair, id) = scene(state);
        for one in &attacks {
            let before = pair.sent.len();
            attack(&mut pair, &specimens, one, Side::Server.address(1));
            let answers = pair.sent[before..].iter().filter(|sent| sent.from == Side::Client).count();
            prop_assert!(answers <= 8, "{:?}", pair.said(Side::Client, before));
            let now = pair.now;
            let _ = pair.endpoint(Side::Client).send(now, id, Message::new(Payload::Filler(2000)));
            pair.drain();
            pair.run_for(ms(one.3));
            while pair.endpoint(Side::Client).receive(id, 700).is_some() {}
        }
        pair.heal();
        pair.run_for(Span::from_secs(100));
    }

    // Any bytes arrive at a listening endpoint and at an endpoint with an association.
    // rfc9260#section-3.2, rfc9260#section-8.5
    #[test]
    fn any_bytes_do_no_harm(
        state in prop::sample::select(&SCENES[..]),
        packets in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..100), 1..40),
        sealed_well in any::<bool>(),
    ) {
        let (mut pair, id) = scene(state);
        let (to_client, _) = tags(&pair);
        for mut bytes in packets {
            if sealed_well && bytes.len() > CommonHeader::LEN {
                bytes[..2].copy_from_slice(&Side::Server.port().to_be_bytes());
                bytes[2..4].copy_from_slice(&Side::Client.port().to_be_bytes());
                bytes[12] &= 0x0f;
                bytes = sealed(bytes, to_client).head;
            }
            let bytes = PacketBuf { head: bytes, zeros: 0 };
            pair.inject(Side::Client, Side::Server.address(1), Side::Client.address(1), &bytes);
            if !sealed_well {
                prop_assert_eq!(pair.endpoint(Side::Client).state(id), Some(state));
            }
        }
        pair.run_for(Span::from_secs(10));
    }
}
