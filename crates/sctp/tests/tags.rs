//! Packets of no association, packets with a wrong tag (rfc9260#section-8.4, rfc9260#section-8.5), and chunks
//! that were not negotiated (rfc9260#section-3.2).

use crate::scene;

use anabranch_sctp::{CloseReason, Config, Event, State};
use scene::{Scene, complete, data, scene, shutdown, unknown};
use std::net::IpAddr;
use testkit::*;
use transport::{Checksum, PacketBuf};
use units::Span;
use wire::*;

const STRANGER: [u8; 4] = [10, 1, 0, 9];

fn abort(reflected_tag: bool) -> Chunk<'static> {
    Chunk::Abort(Abort { reflected_tag, causes: Causes::default() })
}

// rfc9260#section-8.4
#[test]
fn packets_out_of_the_blue_are_answered_by_the_table() {
    let mut stale = CauseList::new();
    stale.push(&Cause::StaleCookie { staleness: Span::from_secs(1) });
    let table: [(&[Chunk<'_>], &[&str]); 10] = [
        (&[data(Tsn(1), 0, b"x")], &["ABORT/T"]),
        (&[Chunk::Heartbeat(Heartbeat { info: b"x" })], &["ABORT/T"]),
        (&[data(Tsn(1), 0, b"x"), abort(false)], &[]),
        (&[Chunk::ShutdownAck(ShutdownAck)], &["SHUTDOWN_COMPLETE/T"]),
        (&[complete(false)], &[]),
        (&[shutdown(Tsn(0))], &["ABORT/T"]),
        (&[Chunk::CookieAck(CookieAck)], &[]),
        (&[Chunk::Error(OperationError { causes: stale.as_causes() })], &[]),
        (&[Chunk::CookieEcho(CookieEcho { cookie: b"nonsense" })], &[]),
        (&[], &[]),
    ];
    for (chunks, expected) in table {
        let mut pair = Pair::new(1, &Config::default());
        let bytes = packet(77, 5002, 0xabcd, chunks);
        pair.inject(Side::Server, STRANGER.into(), Side::Server.address(1), &bytes);
        assert_eq!(pair.said(Side::Server, 0), expected, "{chunks:?}");
        for answer in &pair.sent {
            let header = header(&answer.bytes);
            assert_eq!((header.verification_tag, header.destination_port), (0xabcd, 77));
            assert_eq!((answer.src, answer.dst), (Side::Server.address(1), STRANGER.into()));
        }
    }
}

// rfc9260#section-8.4, rule 1
#[test]
fn packets_from_or_to_groups_are_not_answered() {
    let bytes = packet(77, 5002, 0xabcd, &[data(Tsn(1), 0, b"x")]);
    let group: IpAddr = [224, 0, 0, 7].into();
    let all: IpAddr = [255, 255, 255, 255].into();
    for (src, dst) in [(group, Side::Server.address(1)), (STRANGER.into(), group), (all, all)] {
        let mut pair = Pair::new(1, &Config::default());
        pair.inject(Side::Server, src, dst, &bytes);
        assert!(pair.sent.is_empty());
    }
}

/// The causes in the last packet.
fn last_causes(scene: &Scene) -> Vec<String> {
    causes(&scene.pair.sent.last().unwrap().bytes)
}

// rfc9260#section-8.5
#[test]
fn a_wrong_tag_is_ignored() {
    let Scene { to_server, tsn, .. } = scene();
    for tag in [0, to_server ^ 1, to_server.swap_bytes()] {
        let mut scene = scene();
        for chunk in [data(tsn, 0, b"x"), shutdown(Tsn(0)), abort(false)] {
            assert!(scene.server_gets(tag, &[chunk]).is_empty(), "{chunk:?}");
        }
        assert_eq!(scene.state(), Some(State::Established));
    }
}

// rfc9260#section-8.5.1, rule B
#[test]
fn the_t_bit_says_whose_tag_an_abort_bears() {
    for (reflected, ends_with_own, ends_with_peers) in [(false, true, false), (true, false, true)] {
        let mut own = scene();
        assert!(own.server_gets(own.to_server, &[abort(reflected)]).is_empty());
        assert_eq!(own.state().is_none(), ends_with_own, "T {reflected}, the server's tag");
        let mut peers = scene();
        assert!(peers.server_gets(peers.to_client, &[abort(reflected)]).is_empty());
        assert_eq!(peers.state().is_none(), ends_with_peers, "T {reflected}, the client's tag");
    }
}

// rfc9260#section-8.4: the tag and the address are correct, but the port is not the peer's.
#[test]
fn a_packet_from_a_foreign_port_is_out_of_the_blue() {
    let mut s = scene();
    let before = s.pair.sent.len();
    let bytes = packet(5003, 5002, s.to_server, &[abort(false)]);
    s.pair.inject(Side::Server, Side::Client.address(1), Side::Server.address(1), &bytes);
    let bytes = packet(5003, 5002, s.to_server, &[data(s.tsn, 0, b"x")]);
    s.pair.inject(Side::Server, Side::Client.address(1), Side::Server.address(1), &bytes);
    assert_eq!(s.pair.said(Side::Server, before), ["ABORT/T"], "to the data, and to nobody we know");
    assert_eq!(header(&s.pair.sent[before].bytes).destination_port, 5003);
    assert_eq!(s.state(), Some(State::Established));
    assert!(s.pair.read_all(Side::Server).is_empty());
}

// rfc9260#section-8.5.1, rule B: the client does not know the peer's tag yet, so no packet can carry it.
#[test]
fn an_abort_without_a_tag_does_not_end_a_handshake() {
    for reflected_tag in [false, true] {
        let mut pair = Pair::new(1, &Config::default());
        pair.on_wire(|_| Fate::Lost);
        pair.connect(Side::Client, 1);
        let bytes = packet(5002, 5001, 0, &[abort(reflected_tag)]);
        pair.inject(Side::Client, Side::Server.address(1), Side::Client.address(1), &bytes);
        assert_eq!(pair.state(Side::Client), Some(State::CookieWait));
    }
}

// rfc9260#section-8.5.1, rule C; rfc9260#section-9.2: SHUTDOWN COMPLETE counts only in SHUTDOWN-ACK-SENT.
#[test]
fn shutdown_complete_counts_only_when_it_is_awaited() {
    for (reflected, own_tag) in [(false, true), (true, false)] {
        let mut scene = scene();
        let tag = if own_tag { scene.to_server } else { scene.to_client };
        assert!(scene.server_gets(tag, &[complete(reflected)]).is_empty());
        assert_eq!(scene.state(), Some(State::Established));
        let shutdown = shutdown(scene.acked);
        assert_eq!(scene.server_gets(scene.to_server, &[shutdown]), ["SHUTDOWN_ACK"]);
        assert_eq!(scene.state(), Some(State::ShutdownAckSent));
        let with_company = [complete(reflected), Chunk::CookieAck(CookieAck)];
        if own_tag {
            scene.server_gets(tag, &with_company);
            assert_eq!(scene.state(), Some(State::ShutdownAckSent), "it is never bundled");
        }
        scene.server_gets(tag, &[complete(reflected)]);
        assert_eq!(scene.state(), None);
    }
}

// rfc9260#section-8.5.1, rule E: a SHUTDOWN ACK before the association exists is out of the blue.
#[test]
fn a_shutdown_ack_during_the_handshake_is_answered_and_forgotten() {
    let mut pair = Pair::new(1, &Config::default());
    pair.on_wire(|_| Fate::Lost);
    pair.connect(Side::Client, 1);
    for tag in [7, 8] {
        let before = pair.sent.len();
        let bytes = packet(5002, 5001, tag, &[Chunk::ShutdownAck(ShutdownAck)]);
        pair.inject(Side::Client, Side::Server.address(1), Side::Client.address(1), &bytes);
        assert_eq!(pair.said(Side::Client, before), ["SHUTDOWN_COMPLETE/T"]);
        assert_eq!(header(&pair.sent[before].bytes).verification_tag, tag);
        assert_eq!(pair.state(Side::Client), Some(State::CookieWait));
    }
}

// rfc9260#section-8.4: the tag is correct, but the address is not the peer's.
#[test]
fn a_packet_from_a_foreign_address_is_out_of_the_blue() {
    let mut scene = scene();
    let chunk = data(scene.tsn, 0, b"x");
    assert_eq!(scene.server_gets_from(STRANGER.into(), scene.to_server, &[chunk]), ["ABORT/T"]);
    assert_eq!(scene.state(), Some(State::Established));
    assert!(scene.pair.read_all(Side::Server).is_empty());
}

// rfc9260#section-3.2
#[test]
fn the_top_bits_of_an_unknown_chunk_are_obeyed() {
    for (kind, reported, data_behind_counts) in
        [(0x3f, false, false), (0x7f, true, false), (0xbf, false, true), (0xff, true, true)]
    {
        let mut scene = scene();
        let (tsn, tag) = (scene.tsn, scene.to_server);
        let bytes = [kind, 0, 0, 5, 0xaa];
        let said = scene.server_gets(tag, &[unknown(&bytes), data(tsn, 0, b"x")]);
        assert_eq!(said.iter().any(|chunks| chunks.contains("ERROR")), reported, "{kind:#x}");
        assert_eq!(scene.pair.read_all(Side::Server).len(), usize::from(data_behind_counts), "{kind:#x}");
        if reported {
            let causes =
                causes(&scene.pair.sent.iter().rfind(|s| s.chunks().contains("ERROR")).unwrap().bytes);
            assert_eq!(causes, [format!("UnrecognizedChunk({kind:02x}000005aa)")]);
        }
    }
}

// rfc9260#section-3.2, rfc9260#section-3.3.10.6: the report of a long chunk is truncated.
#[test]
fn an_unknown_chunk_longer_than_an_answer_is_reported_as_far_as_it_fits() {
    for (length, reported) in [(1460usize, 1460usize), (1464, 1460), (40_000, 1460)] {
        let mut scene = scene();
        let mut bytes = vec![0xff; length];
        bytes[2..4].copy_from_slice(&(length as u16).to_be_bytes());
        let tag = scene.to_server;
        assert_eq!(scene.server_gets(tag, &[unknown(&bytes)]), ["ERROR"], "{length}");
        let answer = &scene.pair.sent.last().unwrap().bytes;
        assert_eq!(answer.len(), 12 + 4 + 4 + reported);
        let Some(Ok(Chunk::Error(error))) = parse(answer).chunks().next() else { panic!("no ERROR") };
        let Some(Ok(Cause::UnrecognizedChunk(chunk))) = error.causes.iter().next() else {
            panic!("no cause")
        };
        assert_eq!(chunk.to_vec(), bytes[..reported]);
    }
}

// rfc9260#section-8.3: the answer must contain the unchanged information, so it cannot be truncated.
#[test]
fn a_heartbeat_longer_than_an_answer_is_not_answered() {
    for (length, answer) in [(1460, &["HEARTBEAT_ACK"][..]), (1461, &[]), (40_000, &[])] {
        let mut scene = scene();
        let (info, tag) = (vec![7; length], scene.to_server);
        assert_eq!(
            scene.server_gets(tag, &[Chunk::Heartbeat(Heartbeat { info: &info })]),
            answer,
            "{length}"
        );
    }
}

// rfc9260#section-3.2: NR-SACK was not negotiated: type 0x10 means discard and stop.
#[test]
fn an_nr_sack_nobody_agreed_upon_is_unknown() {
    let mut scene = scene();
    let mut buf = PacketBuf::default();
    let header =
        CommonHeader { source_port: 5001, destination_port: 5002, verification_tag: scene.to_server };
    let mut w = PacketWriter::new(&mut buf, header, 1000);
    w.nr_sack(scene.acked, 5000, 0, &[], &[], &[]);
    w.push(&data(scene.tsn, 0, b"x"));
    w.finish(Checksum::Computed);
    let before = scene.pair.sent.len();
    scene.pair.inject(Side::Server, Side::Client.address(1), Side::Server.address(1), &buf);
    assert!(scene.pair.said(Side::Server, before).is_empty());
    assert!(scene.pair.read_all(Side::Server).is_empty());
}

// rfc9260#section-3.2: without negotiation types 12 and 13 mean discard and stop, and 0x81 means skip.
#[test]
fn echoes_of_marks_and_packet_drop_reports_nobody_agreed_upon_are_unknown() {
    let report = PacketDrop {
        from_middlebox: true,
        bad_checksum: false,
        truncated: false,
        max_rate: 1,
        on_queue: u32::MAX,
        truncated_length: 0,
        packet: &[],
    };
    let ecne = Ecne { lowest_tsn: Tsn(0), packets: 1 };
    let cwr = Cwr { all_paths: true, same_window: false, tsn: Tsn(0) };
    for (chunk, read) in [(Chunk::Ecne(ecne), 0), (Chunk::Cwr(cwr), 0), (Chunk::PacketDrop(report), 1)] {
        let mut scene = scene();
        let said = scene.server_gets(scene.to_server, &[chunk, data(scene.tsn, 0, b"x")]);
        assert!(said.iter().all(|said| said == "SACK"), "{said:?}");
        assert_eq!(scene.pair.read_all(Side::Server).len(), read, "{chunk:?}");
    }
}

// rfc9260#section-6.5
#[test]
fn data_on_a_stream_that_does_not_exist_is_acknowledged_and_reported() {
    let mut scene = scene();
    let said = scene.server_gets(scene.to_server, &[data(scene.tsn, 999, b"x")]);
    assert_eq!(said, ["ERROR SACK"]);
    assert_eq!(last_causes(&scene), ["InvalidStream { stream: StreamId(999) }"]);
    assert!(scene.pair.read_all(Side::Server).is_empty());
    assert_eq!(scene.state(), Some(State::Established));
}

// rfc9260#section-6.2, rfc9260#section-3.3.10.9
#[test]
fn data_without_user_data_ends_the_association() {
    let mut scene = scene();
    assert_eq!(scene.server_gets(scene.to_server, &[data(scene.tsn, 0, b"")]), ["ABORT"]);
    assert_eq!(last_causes(&scene), [format!("NoUserData {{ tsn: {:?} }}", scene.tsn)]);
    assert_eq!(scene.state(), None);
}

// rfc9260#section-6.2.1
#[test]
fn an_acknowledgement_of_what_was_never_sent_ends_the_association() {
    let mut scene = scene();
    let shutdown = shutdown(scene.acked.add(5));
    assert_eq!(scene.server_gets(scene.to_server, &[shutdown]), ["ABORT"]);
    let events = scene.pair.events(Side::Server);
    assert!(
        matches!(events[..], [Event::Closed { reason: CloseReason::ProtocolViolation { .. } }]),
        "{events:?}"
    );
    assert!(last_causes(&scene)[0].starts_with("ProtocolViolation"));
}

// rfc9260#section-6.10: control chunks may be bundled before DATA, and are processed in order.
#[test]
fn a_bundle_is_taken_chunk_by_chunk() {
    let mut scene = scene();
    let chunks = [
        Chunk::Heartbeat(Heartbeat { info: b"info" }),
        data(scene.tsn, 0, b"x"),
        data(scene.tsn.next(), 0, b""),
    ];
    let said = scene.server_gets(scene.to_server, &chunks);
    assert_eq!(said, ["ABORT"], "the last chunk is the end of all before");
    let mut scene = self::scene();
    let said = scene.server_gets(scene.to_server, &chunks[..2]);
    assert_eq!(said, ["HEARTBEAT_ACK SACK"]);
    assert_eq!(scene.pair.read_all(Side::Server).len(), 1);
}

// rfc9260#section-9.1: chunks after an ABORT are ignored.
#[test]
fn nothing_counts_after_an_abort() {
    let mut scene = scene();
    assert!(scene.server_gets(scene.to_server, &[abort(false), data(scene.tsn, 0, b"x")]).is_empty());
    let events = scene.pair.events(Side::Server);
    assert!(matches!(events[..], [Event::Closed { reason: CloseReason::PeerAbort { .. } }]), "{events:?}");
}

// rfc9260#section-3.3.10: an ERROR becomes an event and changes nothing.
#[test]
fn an_error_of_the_peer_is_told() {
    let mut scene = scene();
    let mut list = CauseList::new();
    list.push(&Cause::InvalidStream { stream: StreamId(3) });
    let error = Chunk::Error(OperationError { causes: list.as_causes() });
    assert!(scene.server_gets(scene.to_server, &[error]).is_empty());
    assert_eq!(
        scene.pair.events(Side::Server),
        [Event::PeerError { causes: vec![0, 1, 0, 8, 0, 3, 0, 0].into() }]
    );
    assert_eq!(scene.state(), Some(State::Established));
}

#[test]
fn packets_for_another_port_are_not_ours() {
    let mut pair = Pair::new(1, &Config::default());
    let bytes = packet(77, 5003, 1, &[data(Tsn(1), 0, b"x")]);
    pair.inject(Side::Server, STRANGER.into(), Side::Server.address(1), &bytes);
    assert!(pair.sent.is_empty());
}

// rfc9260#section-8.4 with rfc9260#section-9.2: the server has sent SHUTDOWN ACK. An ABORT with the T bit
// says that the client has no association any more, so it has finished the shutdown.
#[test]
fn a_peer_that_forgot_the_association_while_we_await_its_end_did_well() {
    let mut scene = scene();
    let shutdown = shutdown(scene.acked);
    scene.server_gets(scene.to_server, &[shutdown]);
    scene.server_gets(scene.to_client, &[abort(true)]);
    let events = scene.pair.events(Side::Server);
    assert_eq!(events.last(), Some(&Event::Closed { reason: CloseReason::Graceful }));
}
