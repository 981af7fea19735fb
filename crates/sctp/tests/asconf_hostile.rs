//! ASCONF chunks that a test writes and signs (`rfc5061#section-5.2`): refusals, repetitions and attacks.
//!
//! The tests derive the keys independently from the parameters on the wire (`rfc4895#section-6.1`).

use anabranch_sctp::{AssocId, CloseReason, Config, Event, PathState, State};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use std::net::IpAddr;
use testkit::{Fate, Pair, Sent, Side, causes, endpoint_config, header, ms, parse};
use transport::{Checksum, PacketBuf};
use units::Span;
use wire::asconf::{AddressChange, Request, Requests, Response, Responses};
use wire::{
    Abort, Asconf, AsconfAck, Auth, Cause, Causes, Chunk, CommonHeader, Encode, Init, PacketWriter,
    Parameters,
};

fn config() -> Config {
    Config { auth: true, asconf: true, ..Config::default() }
}

fn is_answer(sent: &Sent) -> bool {
    sent.chunks().contains("ASCONF_ACK")
}

/// Writes packets as if the client had sent them.
struct Forger {
    pair: Pair,
    server: AssocId,
    key: Vec<u8>,
    header: CommonHeader,
    serial: u32,
}

/// The key vector of a side, from its INIT or INIT ACK.
fn vector(init: &Init<'_>) -> Vec<u8> {
    let parameters: Parameters<'_> = init.parameters;
    let mut rest = parameters.as_bytes();
    let mut found: [Vec<u8>; 3] = Default::default();
    while rest.len() >= 4 {
        let length = usize::from(u16::from_be_bytes([rest[2], rest[3]]));
        if let [0x80, n @ 2..=4] = rest[..2] {
            found[usize::from(n) - 2] = rest[..length].to_vec();
        }
        rest = &rest[length.next_multiple_of(4).min(rest.len())..];
    }
    assert!(found.iter().all(|parameter| !parameter.is_empty()));
    found.concat()
}

impl Forger {
    /// An established association between a client with `addresses` addresses and a server with two.
    fn new(addresses: u8) -> Forger {
        let client = endpoint_config(Side::Client, addresses, &config());
        let mut pair = Pair::of(client, endpoint_config(Side::Server, 2, &config()));
        let (_, server) = pair.establish();
        pair.run_for(ms(3000));
        pair.events(Side::Server);
        // No answer may reach the client, which never sent an ASCONF: the client would abort the association.
        pair.on_wire(|sent| if is_answer(sent) { Fate::Lost } else { Fate::Arrives });
        let first = |n: usize| parse(&pair.sent[n].bytes).chunks().next().unwrap().unwrap();
        let (Chunk::Init(init), Chunk::InitAck(ack)) = (first(0), first(1)) else { panic!("a handshake") };
        // All key vectors have the same length here, so comparing bytes is the same as comparing numbers.
        let mut vectors = [vector(&init), vector(&ack.0)];
        vectors.sort();
        let (key, serial) = (vectors.concat(), init.initial_tsn.0);
        let header = header(&pair.sent[2].bytes);
        Forger { pair, server, key, header, serial }
    }

    fn sign(&self, packet: &mut [u8]) {
        packet[12..20].copy_from_slice(&[0x0f, 0, 0, 40, 0, 0, 0, 3]);
        let mut mac = <Hmac<Sha256> as Mac>::new_from_slice(&self.key).unwrap();
        mac.update(&packet[12..]);
        packet[20..52].copy_from_slice(&mac.finalize().into_bytes());
    }

    /// A packet of signed chunks.
    fn signed(&self, chunks: &[&dyn Encode]) -> PacketBuf {
        let mut buf = PacketBuf::default();
        let mut w = PacketWriter::new(&mut buf, self.header, 1480);
        w.reserve(40).unwrap();
        struct Any<'a>(&'a dyn Encode);
        impl Encode for Any<'_> {
            fn encoded_len(&self) -> usize {
                self.0.encoded_len()
            }
            fn encode(&self, out: &mut PacketBuf) {
                self.0.encode(out);
            }
        }
        chunks.iter().for_each(|&chunk| assert!(w.push(&Any(chunk))));
        w.finish_with(Checksum::Computed, |packet| self.sign(packet));
        buf
    }

    /// Injects a packet from an address into the server. Returns the immediate answers of the server.
    fn inject(&mut self, src: IpAddr, packet: &PacketBuf) -> Vec<Sent> {
        let before = self.pair.sent.len();
        self.pair.inject(Side::Server, src, Side::Server.address(1), packet);
        self.pair.sent[before..].to_vec()
    }

    /// Sends an ASCONF with these requests from an address of the client. Returns the error causes.
    fn ask(&mut self, from: u8, requests: &[(AddressChange, &str)]) -> Vec<String> {
        let bytes = requests_of(requests);
        let (serial, lookup) = (self.serial, Side::Client.address(from));
        self.serial = self.serial.wrapping_add(1);
        let packet = self.signed(&[&Asconf { serial, lookup, requests: Requests::from_bytes(&bytes) }]);
        let sent = self.inject(lookup, &packet);
        let answers: Vec<&Sent> = sent.iter().filter(|sent| sent.chunks().contains("ASCONF_ACK")).collect();
        assert_eq!(answers.len(), 1, "{:?}", sent.iter().map(Sent::chunks).collect::<Vec<_>>());
        errors(answers[0])
    }

    fn remotes(&mut self) -> Vec<(String, PathState)> {
        let paths = self.pair.endpoint(Side::Server).paths(self.server).unwrap();
        paths.map(|path| (path.remote.to_string(), path.state)).collect()
    }
}

fn requests_of(requests: &[(AddressChange, &str)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (correlation, (change, address)) in (1..).zip(requests) {
        let address = address.parse().unwrap();
        Request { change: *change, correlation, address }.append_to(&mut bytes);
    }
    bytes
}

/// The errors in an answer, as `"correlation identifier: cause"`.
fn errors(sent: &Sent) -> Vec<String> {
    let mut errors = Vec::new();
    for chunk in parse(&sent.bytes).chunks() {
        let Ok(Chunk::AsconfAck(ack)) = chunk else { continue };
        for response in ack.responses.iter() {
            let Ok(Response::Failed { correlation, causes }) = response else { continue };
            let names = causes.iter().map(|cause| match cause.unwrap() {
                Cause::DeleteLastAddress(_) => "last".to_string(),
                Cause::DeleteSourceAddress(_) => "source".to_string(),
                Cause::ResourceShortage(_) => "resources".to_string(),
                Cause::NoAuthorization(_) => "authorization".to_string(),
                Cause::InvalidMandatoryParameter => "invalid".to_string(),
                Cause::UnrecognizedParameters(list) => {
                    let header = list.as_bytes()[..4].iter().map(|byte| format!("{byte:02x}"));
                    format!("unrecognized {}", header.collect::<String>())
                }
                _ => "other".to_string(),
            });
            errors.extend(names.map(|name| format!("{correlation}: {name}")));
        }
    }
    errors
}

use AddressChange::{Add, Delete, SetPrimary};

// rfc5061#section-4.3.1, rfc5061#section-4.3.3
#[test]
fn the_source_of_the_packet_and_the_last_address_are_not_deleted() {
    let mut forger = Forger::new(2);
    assert_eq!(forger.ask(1, &[(Delete, "10.1.0.1")]), ["1: source"]);
    assert_eq!(forger.ask(1, &[(Delete, "10.2.0.1")]), [""; 0]);
    assert_eq!(forger.ask(1, &[(Delete, "10.1.0.1")]), ["1: last"]);
    assert_eq!(forger.remotes(), [("10.1.0.1".into(), PathState::Active)]);
    assert_eq!(forger.ask(1, &[(Delete, "10.7.7.7")]), [""; 0], "it is not there");
}

// rfc5061#section-5.2
#[test]
fn requests_before_one_that_fails_are_carried_out_and_those_after_it_are_not() {
    let mut forger = Forger::new(1);
    let requests = [(Add, "10.3.0.1"), (Add, "224.0.0.1"), (Add, "10.4.0.1")];
    assert_eq!(forger.ask(1, &requests), ["2: invalid"]);
    let remotes: Vec<String> = forger.remotes().into_iter().map(|(remote, _)| remote).collect();
    assert_eq!(remotes, ["10.1.0.1", "10.3.0.1"]);
    assert_eq!(forger.ask(1, &[(Add, "10.3.0.1"), (Add, "10.1.0.1")]), [""; 0], "they are there already");
    assert_eq!(forger.ask(1, &[(SetPrimary, "10.9.0.1")]), ["1: authorization"]);
}

// rfc5061#section-5.2, rule V2, and rfc9260#section-3.2.1 for the top bits of the parameter type
#[test]
fn the_top_bits_of_an_unknown_parameter_of_an_asconf_are_obeyed() {
    let add = Request { change: Add, correlation: 9, address: [10, 3, 0, 1].into() };
    for (kind, errors_expected, added) in [
        (0x0abcu16, &[][..], false),
        (0x4abc, &["7: unrecognized 4abc0008"], false),
        (0x8abc, &[], true),
        (0xcabc, &["7: unrecognized cabc0008"], false),
    ] {
        let mut forger = Forger::new(1);
        let mut bytes = [&kind.to_be_bytes()[..], &[0, 8, 0, 0, 0, 7]].concat();
        add.append_to(&mut bytes);
        let (serial, lookup) = (forger.serial, Side::Client.address(1));
        let packet = forger.signed(&[&Asconf { serial, lookup, requests: Requests::from_bytes(&bytes) }]);
        let sent = forger.inject(lookup, &packet);
        let answer = sent.iter().find(|sent| is_answer(sent)).expect("an answer");
        assert_eq!(errors(answer), errors_expected, "{kind:#x}");
        assert_eq!(forger.remotes().len() == 2, added, "{kind:#x}");
    }
}

// rfc5062#section-2.2, rfc9260#section-5.4
#[test]
fn added_addresses_get_one_heartbeat_at_a_time_and_no_data_before_they_answer() {
    let mut forger = Forger::new(1);
    let victims: Vec<String> = (1..=15).map(|n| format!("10.66.0.{n}")).collect();
    let requests: Vec<_> = victims.iter().map(|victim| (Add, victim.as_str())).collect();
    let before = forger.pair.sent.len();
    forger.pair.on_wire(|sent| if sent.net() == 66 || is_answer(sent) { Fate::Lost } else { Fate::Arrives });
    assert_eq!(forger.ask(1, &requests), [""; 0]);
    assert_eq!(forger.ask(1, &[(Add, "10.67.0.1")]), ["1: resources"]);
    forger.pair.send(Side::Server, 100_000);
    forger.pair.run_for(ms(900));
    let sent = &forger.pair.sent[before..];
    let to_victims: Vec<&Sent> = sent.iter().filter(|sent| sent.net() == 66).collect();
    assert_eq!(to_victims.iter().map(|sent| sent.chunks()).collect::<Vec<_>>(), ["HEARTBEAT"]);
    assert!(to_victims[0].bytes.len() < 100);
    forger.pair.run_for(Span::from_secs(60));
    let sent = &forger.pair.sent[before..];
    assert!(sent.iter().filter(|sent| sent.net() == 66).count() < 62, "one an RTO");
    let read: usize = forger.pair.read_all(Side::Client).iter().map(|read| read.payload.len()).sum();
    assert_eq!(read, 100_000);
}

// rfc5062#section-2.1
#[test]
fn an_address_of_another_association_is_refused() {
    let mut forger = Forger::new(1);
    let now = forger.pair.now;
    let other = [10, 1, 0, 77].into();
    let server = forger.pair.endpoint(Side::Server);
    server.connect(now, Side::Client.port(), &[other]).unwrap();
    assert_eq!(forger.ask(1, &[(Add, "10.1.0.77")]), ["1: authorization"]);
    assert_eq!(forger.ask(1, &[(Add, "10.1.0.78")]), [""; 0]);
    // The result is the same if the ASCONF names no address (wildcard, for hosts behind a NAT).
    let bytes = requests_of(&[(Add, "0.0.0.0")]);
    let (serial, lookup) = (forger.serial, [0, 0, 0, 0].into());
    let packet = forger.signed(&[&Asconf { serial, lookup, requests: Requests::from_bytes(&bytes) }]);
    let sent = forger.inject(other, &packet);
    let answer = sent.iter().find(|sent| sent.chunks().contains("ASCONF_ACK")).unwrap();
    assert_eq!(errors(answer), ["1: authorization"]);
    assert_eq!(answer.dst, Side::Client.address(1), "not to the other one");
}

// rfc4895#section-6.3
#[test]
fn an_asconf_without_a_valid_auth_chunk_is_discarded() {
    let mut forger = Forger::new(1);
    let bytes = requests_of(&[(Add, "0.0.0.0"), (Delete, "0.0.0.0")]);
    let (serial, requests) = (forger.serial, Requests::from_bytes(&bytes));
    let asconf = Asconf { serial, lookup: Side::Client.address(1), requests };
    let bare = testkit::packet(
        Side::Client.port(),
        Side::Server.port(),
        forger.header.verification_tag,
        &[Chunk::Asconf(asconf)],
    );
    let hmac = [0; 32];
    let forged = testkit::packet(
        Side::Client.port(),
        Side::Server.port(),
        forger.header.verification_tag,
        &[Chunk::Auth(Auth { flags: 0, key_id: 0, hmac_id: 3, hmac: &hmac }), Chunk::Asconf(asconf)],
    );
    for packet in [&bare, &forged] {
        assert!(forger.inject(Side::Client.address(1), packet).is_empty());
    }
    // The source is not an address of the peer, but the tag is correct: it could be a new address of the
    // peer.
    assert!(forger.inject([10, 66, 0, 1].into(), &forged).is_empty());
    assert_eq!(forger.remotes(), [("10.1.0.1".into(), PathState::Active)]);
    assert_eq!(forger.pair.endpoint(Side::Server).stats(forger.server).unwrap().unauthenticated, 3);
}

// rfc5061#section-5.2
#[test]
fn the_last_asconf_is_answered_again_and_older_or_later_ones_are_not() {
    let mut forger = Forger::new(1);
    let bytes = requests_of(&[(Add, "10.3.0.1"), (Add, "224.0.0.1")]);
    let (first, lookup) = (forger.serial, Side::Client.address(1));
    let requests = Requests::from_bytes(&bytes);
    let answers = |forger: &mut Forger, serial: u32| {
        let packet = forger.signed(&[&Asconf { serial, lookup, requests }]);
        let sent = forger.inject(lookup, &packet);
        sent.iter().filter(|sent| sent.chunks().contains("ASCONF_ACK")).map(errors).collect::<Vec<_>>()
    };
    let failed = vec![vec!["2: invalid".to_string()]];
    assert_eq!(answers(&mut forger, first.wrapping_add(1)), Vec::<Vec<String>>::new());
    assert_eq!(answers(&mut forger, first.wrapping_sub(1)), Vec::<Vec<String>>::new());
    assert_eq!(answers(&mut forger, first), failed);
    assert_eq!(answers(&mut forger, first), failed);
    assert_eq!(answers(&mut forger, first.wrapping_add(1)), failed);
    assert_eq!(answers(&mut forger, first), Vec::<Vec<String>>::new(), "only the last answer is kept");
    // One packet contains the last ASCONF and the next one.
    let empty = Requests::default();
    let second = first.wrapping_add(1);
    let (again, next) = (
        Asconf { serial: second, lookup, requests },
        Asconf { serial: second.wrapping_add(1), lookup, requests: empty },
    );
    let packet = forger.signed(&[&again, &next]);
    let sent = forger.inject(lookup, &packet);
    assert_eq!(sent[0].chunks(), "AUTH ASCONF_ACK ASCONF_ACK");
}

// rfc5061#section-5.2: timers T2 and T4 of a deleted address continue with another address.
#[test]
fn control_chunks_in_flight_to_a_deleted_address_are_sent_to_another_one() {
    for chunk in ["SHUTDOWN", "ASCONF"] {
        let mut forger = Forger::new(2);
        forger.pair.on_wire(|sent| if sent.from == Side::Server { Fate::Lost } else { Fate::Arrives });
        let (now, server, before) = (forger.pair.now, forger.server, forger.pair.sent.len());
        if chunk == "SHUTDOWN" {
            forger.pair.shutdown(Side::Server);
        } else {
            let added = Side::Server.address(3);
            assert!(forger.pair.endpoint(Side::Server).add_local_address(now, server, added).is_ok());
            forger.pair.drain();
        }
        let sent_to = |forger: &Forger, before: usize| {
            let sent = forger.pair.sent[before..].iter();
            let with = sent.filter(|sent| sent.chunks().split(' ').any(|name| name == chunk));
            with.map(Sent::net).collect::<Vec<_>>()
        };
        assert_eq!(sent_to(&forger, before), [1], "{chunk}");
        assert_eq!(forger.ask(2, &[(Delete, "10.1.0.1")]), [""; 0], "{chunk}");
        let before = forger.pair.sent.len();
        forger.pair.run_for(Span::from_secs(8));
        let later = sent_to(&forger, before);
        assert!(later.len() >= 2 && later.iter().all(|&net| net == 2), "{chunk}: {later:?}");
    }
}

// rfc5061#section-4.3.4, rfc5061#section-5.3, rule F0
#[test]
fn an_asconf_ack_for_an_asconf_that_was_never_sent_ends_the_association() {
    for ahead in [0, 1, 1000] {
        let mut forger = Forger::new(1);
        answer_to_unsent(&mut forger, ahead);
    }
}

/// The server never sent an ASCONF. It gets three ASCONF-ACKs: one with the serial number before the server's
/// first one, and two with the first one plus `ahead`, without and with AUTH.
fn answer_to_unsent(forger: &mut Forger, ahead: u32) {
    let first = |n: usize| parse(&forger.pair.sent[n].bytes).chunks().next().unwrap().unwrap();
    let Chunk::InitAck(ack) = first(1) else { panic!("an INIT ACK") };
    let next = ack.0.initial_tsn.0;
    let src = Side::Client.address(1);
    let late = AsconfAck { serial: next.wrapping_sub(1), responses: Responses::default() };
    let packet = forger.signed(&[&late]);
    assert!(forger.inject(src, &packet).is_empty());
    assert_eq!(forger.pair.state(Side::Server), Some(State::Established));
    let unsent = AsconfAck { serial: next.wrapping_add(ahead), responses: Responses::default() };
    let tag = forger.header.verification_tag;
    let bare = testkit::packet(Side::Client.port(), Side::Server.port(), tag, &[Chunk::AsconfAck(unsent)]);
    assert!(forger.inject(src, &bare).is_empty(), "without AUTH it does not count");
    let packet = forger.signed(&[&unsent]);
    let sent = forger.inject(src, &packet);
    assert_eq!(causes(&sent[0].bytes), ["IllegalAsconfAck"]);
    let closed = Event::Closed { reason: CloseReason::ProtocolViolation { what: "illegal ASCONF-ACK" } };
    assert!(forger.pair.events(Side::Server).contains(&closed));
}

#[test]
fn a_wildcard_deletes_all_addresses_but_the_source() {
    let mut forger = Forger::new(2);
    assert_eq!(forger.ask(2, &[(Add, "10.3.0.1"), (SetPrimary, "0.0.0.0"), (Delete, "0.0.0.0")]), [""; 0]);
    assert_eq!(forger.remotes(), [("10.2.0.1".into(), PathState::Active)]);
    // The source is a new address. It must be confirmed first, because it is the only remaining address.
    let bytes = requests_of(&[(Add, "0.0.0.0"), (Delete, "0.0.0.0")]);
    let (serial, new) = (forger.serial, Side::Client.address(4));
    let asconf = Asconf { serial, lookup: [0, 0, 0, 0].into(), requests: Requests::from_bytes(&bytes) };
    let packet = forger.signed(&[&asconf]);
    let sent = forger.inject(new, &packet);
    assert!(sent.iter().all(|sent| sent.dst == new) && !sent.is_empty());
    assert_eq!(forger.remotes(), [("10.4.0.1".into(), PathState::Unconfirmed)]);
    let before = forger.pair.sent.len();
    forger.pair.send(Side::Server, 10_000);
    assert_eq!(forger.pair.sent.len(), before, "no data before that");
    forger.pair.run_for(Span::from_secs(5));
    assert_eq!(forger.remotes(), [("10.4.0.1".into(), PathState::Active)]);
    let read: usize = forger.pair.read_all(Side::Client).iter().map(|read| read.payload.len()).sum();
    assert_eq!(read, 10_000);
}

#[test]
fn a_packet_from_an_address_that_was_just_deleted_does_not_end_the_association() {
    let mut forger = Forger::new(2);
    assert_eq!(forger.ask(1, &[(Delete, "10.2.0.1")]), [""; 0]);
    let late = testkit::packet(
        Side::Client.port(),
        Side::Server.port(),
        forger.header.verification_tag,
        &[Chunk::CookieAck(wire::CookieAck)],
    );
    assert!(forger.inject(Side::Client.address(2), &late).is_empty());
    assert_eq!(forger.pair.state(Side::Server), Some(State::Established));
    // The same packet from any other address is out of the blue, and a COOKIE ACK then gets no answer.
    assert_eq!(forger.inject([10, 66, 0, 1].into(), &late).len(), 0);
}

// rfc9260#section-8.4, rfc9260#section-8.5.1: usrsctp sends such an ABORT in answer to a late packet from
// an address that it has deleted.
#[test]
fn an_abort_with_the_t_bit_at_a_deleted_address_does_not_end_the_association() {
    for dropped in 1..=2 {
        let client = endpoint_config(Side::Client, 2, &config());
        let mut pair = Pair::of(client, endpoint_config(Side::Server, 2, &config()));
        let (id, _) = pair.establish();
        pair.run_for(ms(3000));
        let to_server = pair.sent.iter().rfind(|sent| sent.from == Side::Client).expect("it says something");
        let tag_of_server = header(&to_server.bytes).verification_tag;
        let now = pair.now;
        assert!(
            pair.endpoint(Side::Client).remove_local_address(now, id, Side::Client.address(dropped)).is_ok()
        );
        pair.drain();
        let mut abort = |at: u8| {
            let chunk = Abort { reflected_tag: true, causes: Causes::default() };
            let (from, to) = (Side::Server.port(), Side::Client.port());
            let bytes = testkit::packet(from, to, tag_of_server, &[Chunk::Abort(chunk)]);
            pair.inject(Side::Client, Side::Server.address(at), Side::Client.address(at), &bytes);
            let state = pair.state(Side::Client);
            pair.run_for(ms(500));
            state
        };
        assert_eq!(abort(dropped), Some(State::Established), "before the peer has deleted it");
        assert_eq!(abort(dropped), Some(State::Established), "after that");
        assert_eq!(abort(3 - dropped), None, "the address that is left");
    }
}
