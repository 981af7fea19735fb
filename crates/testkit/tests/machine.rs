//! Tests of the state machine of an endpoint with random commands, with all stored cases of the fuzzer, and
//! with its initial corpus, which contains an example of each chunk.

use anabranch_testkit::machine::{Tape, any_config, play};
use proptest::prelude::*;
use std::path::{Path, PathBuf};
use transport::{Checksum, PacketBuf};
use wire::asconf::{AddressChange, Request, Requests, Response, Responses};
use wire::*;

/// Folder with the initial corpus of the fuzz target: examples, and cases that once failed.
fn cases(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/cases").join(target)
}

#[test]
fn stored_cases_of_fuzzing_break_no_invariant() {
    let mut played = 0;
    for entry in std::fs::read_dir(cases("machine")).expect("the folder of cases") {
        play(&std::fs::read(entry.expect("a file").path()).expect("readable"));
        played += 1;
    }
    assert!(played > 16);
}

/// `ANABRANCH_UPDATE=1 cargo test -p anabranch-testkit machine` writes the examples.
#[test]
fn the_fuzz_corpus_has_an_example_of_each_chunk() {
    let packets = packets().into_iter().map(|(name, bytes)| (cases("packet").join(name), bytes));
    let to_two = (0..16u8).map(|kind| (cases("machine").join(format!("forged-{kind:02}")), forged(0, kind)));
    let to_one =
        (0..16u8).map(|kind| (cases("machine").join(format!("alone-{kind:02}")), forged(0x80, kind)));
    for (path, bytes) in packets.chain(to_two).chain(to_one) {
        if std::env::var_os("ANABRANCH_UPDATE").is_some() {
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
            std::fs::write(&path, &bytes).expect("writable");
        }
        assert_eq!(std::fs::read(&path).ok(), Some(bytes), "{}", path.display());
    }
}

/// Packets for the parser. The first byte of each input is the number of zeros that follow the packet.
fn packets() -> Vec<(String, Vec<u8>)> {
    let mut parameters = ParameterList::new();
    parameters.push(&Parameter::Ipv4([10, 1, 0, 2].into()));
    parameters.push(&Parameter::StateCookie(b"cookie"));
    parameters.push(&Parameter::SupportedExtensions(&[16]));
    parameters.push(&Parameter::EcnCapable);
    parameters.push(&Parameter::ZeroChecksumAcceptable(1));
    parameters.push(&Parameter::Random(&[7; 32]));
    parameters.push(&Parameter::HmacAlgorithms(&[0, 3, 0, 1]));
    parameters.push(&Parameter::ChunkList(&[0xc1, 0x80]));
    let init = Init {
        initiate_tag: 7,
        a_rwnd: 65_536,
        outbound_streams: 10,
        inbound_streams: 10,
        initial_tsn: Tsn(1),
        parameters: parameters.as_parameters(),
    };
    let mut causes = CauseList::new();
    causes.push(&Cause::ProtocolViolation(b"why"));
    let causes = causes.as_causes();
    let data = Data {
        flags: DataFlags::from_bits(3),
        tsn: Tsn(1),
        stream: StreamId(0),
        ssn: Ssn(0),
        ppid: Ppid(0),
        payload: (b"user data").into(),
    };
    let (mut requests, mut responses) = (Vec::new(), Vec::new());
    for change in [AddressChange::Add, AddressChange::Delete, AddressChange::SetPrimary] {
        Request { change, correlation: 1, address: [10, 2, 0, 1].into() }.append_to(&mut requests);
    }
    Response::Done { correlation: 1 }.append_to(&mut responses);
    Response::Failed { correlation: 2, causes }.append_to(&mut responses);
    let chunks = [
        Chunk::Data(data),
        Chunk::Init(init),
        Chunk::InitAck(InitAck(init)),
        Chunk::Heartbeat(Heartbeat { info: b"nonce" }),
        Chunk::HeartbeatAck(HeartbeatAck { info: b"nonce" }),
        Chunk::Abort(Abort { reflected_tag: false, causes }),
        Chunk::Shutdown(Shutdown { cumulative_tsn_ack: Tsn(1) }),
        Chunk::ShutdownAck(ShutdownAck),
        Chunk::Error(OperationError { causes }),
        Chunk::CookieEcho(CookieEcho { cookie: b"cookie" }),
        Chunk::CookieAck(CookieAck),
        Chunk::ShutdownComplete(ShutdownComplete { reflected_tag: true }),
        Chunk::IData(IData {
            flags: DataFlags::from_bits(2),
            tsn: Tsn(1),
            stream: StreamId(0),
            mid: Mid(3),
            ppid: Ppid(51),
            fsn: 0,
            payload: (b"user data").into(),
        }),
        Chunk::Timestamp(Timestamp { micros: 1 }),
        Chunk::PathStatus(PathStatus { cost: 1, heartbeat_interval: 60 }),
        Chunk::Pad(Pad::of_len(100)),
        Chunk::Ecne(Ecne { lowest_tsn: Tsn(1), packets: 2 }),
        Chunk::Cwr(Cwr { all_paths: true, same_window: false, tsn: Tsn(1) }),
        Chunk::PacketDrop(PacketDrop {
            from_middlebox: false,
            bad_checksum: true,
            truncated: true,
            max_rate: 65_536,
            on_queue: 0,
            truncated_length: 1480,
            packet: b"a common hdr\x00\x03\x00\x24 and a DATA chunk of 36 bytes",
        }),
        Chunk::Auth(Auth { flags: 0, key_id: 0, hmac_id: 3, hmac: &[7; 32] }),
        Chunk::Asconf(Asconf {
            serial: 7,
            lookup: [10, 1, 0, 1].into(),
            requests: Requests::from_bytes(&requests),
        }),
        Chunk::AsconfAck(AsconfAck { serial: 7, responses: Responses::from_bytes(&responses) }),
        Chunk::ReConfig(ReConfig { bytes: &[0, 15, 0, 8, 0, 0, 0, 1] }),
    ];
    let header = CommonHeader { source_port: 1, destination_port: 2, verification_tag: 3 };
    let blocks = [GapBlock { start: 2, end: 3 }, GapBlock { start: 5, end: 5 }];
    let write = |push: &dyn Fn(&mut PacketWriter<'_>) -> bool| {
        let mut buf = PacketBuf::default();
        let mut w = PacketWriter::new(&mut buf, header, 1480);
        assert!(push(&mut w));
        w.finish(Checksum::Computed);
        [&[0], &buf.as_octets().to_vec()[..]].concat()
    };
    let name =
        |chunk: &Chunk<'_>| format!("{chunk:?}").split(['(', ' ']).next().unwrap_or_default().to_lowercase();
    let mut all: Vec<_> = chunks.iter().map(|chunk| (name(chunk), write(&|w| w.push(chunk)))).collect();
    all.push(("sack".into(), write(&|w| w.sack(Tsn(9), 1500, 2, blocks.iter().copied(), &[Tsn(4)]))));
    all.push(("nrsack".into(), write(&|w| w.nr_sack(Tsn(9), 1500, 2, &blocks[..1], &blocks[1..], &[]))));
    let message = SkippedMessage { stream: StreamId(4), unordered: true, mid: Mid(9) };
    all.push(("iforwardtsn".into(), write(&|w| w.i_forward_tsn(Tsn(105), &[message]))));
    let delays = [PacketDelay { tsn: Tsn(3), micros: -5 }];
    all.push(("ledbatcontrol".into(), write(&|w| w.ledbat_control(&delays))));
    all
}

/// Commands that establish an association and then deliver forged packets with a chunk of one type. `mode` is
/// the first byte, which decides whether the peer remains reachable.
fn forged(mode: u8, kind: u8) -> Vec<u8> {
    let zeros = [0; 1000];
    let mut tape = Tape::new(&zeros);
    tape.flag();
    any_config(&mut tape);
    any_config(&mut tape);
    tape.once_in(4);
    let mut bytes = vec![0; zeros.len() - tape.left()];
    bytes[0] = mode;
    for n in 0..6u8 {
        // The bytes choose a side, the command `forge`, the receiver, the network, the correct verification
        // tag and one chunk.
        bytes.extend([0, 20, n, 1, 0, 0, kind]);
        bytes.extend((0..40u8).map(|byte| byte.wrapping_mul(7).wrapping_add(n)));
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, max_shrink_iters: 4000, ..ProptestConfig::default() })]
    #[test]
    fn no_sequence_of_commands_breaks_an_invariant(bytes in prop::collection::vec(any::<u8>(), 0..1200)) {
        play(&bytes);
    }
}
