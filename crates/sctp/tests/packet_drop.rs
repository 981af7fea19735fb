//! Packet drop reports (draft-stewart-sctp-pktdrprep-16), as visible on the wire.

use anabranch_sctp::{Config, Message, PathInfo, Payload, Reliability, ResetDirection};
use testkit::*;
use units::Span;
use wire::{Chunk, PacketDrop, StreamId};

const FULL: u32 = Played::FULL;

/// Offset of a byte in a packet with one DATA chunk. The byte is in the payload, far from its beginning.
const PAYLOAD: usize = 200;

fn on() -> Config {
    Config { packet_drop_reports: true, ..Config::default() }
}

fn path(pair: &mut Pair, side: Side) -> PathInfo {
    let id = pair.only(side);
    pair.endpoint(side).paths(id).unwrap().next().unwrap()
}

/// An established association. Byte `at` of the next packet with exactly `chunks` arrives damaged.
fn damaging(config: &Config, chunks: &'static str, at: usize) -> Pair {
    let mut pair = Pair::new(1, config);
    pair.establish();
    let mut damaged = false;
    pair.on_wire(move |sent| {
        if damaged || sent.chunks() != chunks {
            return Fate::Arrives;
        }
        damaged = true;
        Fate::Damaged(at)
    });
    pair
}

// rfc9260#section-6.8: the receiver discards a packet with a wrong checksum.
#[test]
fn damaged_data_is_reported_and_retransmitted_after_one_round_trip_without_a_reduction() {
    let mut pair = damaging(&on(), "DATA", PAYLOAD);
    let (begin, before) = (pair.now, pair.sent.len());
    let window = path(&mut pair, Side::Client).cwnd;
    pair.send(Side::Client, FULL);
    pair.run_for(Span::from_millis(35));
    let sent: Vec<_> = pair.sent[before..].iter().map(|sent| (sent.at.since(begin), sent.chunks())).collect();
    let ms = Span::from_millis;
    let expected = [(ms(0), "DATA"), (ms(10), "PKTDROP"), (ms(20), "DATA"), (ms(30), "SACK")];
    assert_eq!(sent, expected.map(|(at, chunks)| (at, chunks.to_owned())));
    assert_eq!(pair.read_all(Side::Server).len(), 1);
    let path = path(&mut pair, Side::Client);
    assert_eq!((path.cwnd, path.ssthresh), (window, None));
    let stats = path.stats;
    assert_eq!((stats.reported_drops, stats.fast_recoveries, stats.timeouts), (1, 0, 0));
}

/// The last report of the server, and the number of bytes of its packet.
fn last_report(pair: &Pair) -> (PacketDrop<'_>, usize) {
    let sent = pair.sent.iter().rfind(|sent| sent.from == Side::Server).unwrap();
    let Some(Ok(Chunk::PacketDrop(report))) = parse(&sent.bytes).chunks().next() else { panic!("no report") };
    (report, sent.bytes.len())
}

#[test]
fn a_report_is_no_longer_than_the_packet_that_it_reports_unless_that_is_short() {
    let report = |payload: u32| {
        let mut pair = damaging(&on(), "DATA", 12 + 16 + 3);
        pair.send(Side::Client, payload);
        pair.run_for(Span::from_millis(15));
        let (report, length) = last_report(&pair);
        assert!(report.bad_checksum && !report.from_middlebox);
        assert_eq!((report.max_rate, report.on_queue), (1 << 20, 0), "the receive buffer");
        assert_eq!(report.packet[12 + 16 + 3], 0xff, "the packet as it arrived");
        let truncated = report.truncated.then_some(report.truncated_length);
        assert_eq!(report.truncated, report.truncated_length != 0);
        (report.packet.len(), truncated, length)
    };
    assert_eq!(report(4), (32, None, 60), "the packet of the specification's example");
    assert_eq!(report(32), (60, None, 88));
    assert_eq!(report(60), (60, Some(88), 88));
    assert_eq!(report(500), (500, Some(528), 528));
    assert_eq!(report(FULL), (1436, Some(1480), 1464), "and leaves room for a SACK");
}

#[test]
fn a_payload_of_less_than_31_bytes_and_one_that_is_damaged_there_wait_for_t3() {
    for (payload, at) in [(30, 12 + 16 + 29), (FULL, 12 + 16 + 30)] {
        let mut pair = damaging(&on(), "DATA", at);
        pair.send(Side::Client, payload);
        pair.run_for(Span::from_millis(500));
        assert_eq!(pair.read_all(Side::Server).len(), 0);
        pair.run_for(Span::from_secs(1));
        assert_eq!(pair.read_all(Side::Server).len(), 1);
        assert_eq!(path(&mut pair, Side::Client).stats.reported_drops, 0);
    }
}

// rfc9260#section-6.2: the peer waits for the SACK, so the SACK must be repeated.
#[test]
fn a_damaged_sack_is_repeated() {
    let mut pair = damaging(&on(), "SACK", 13);
    let before = pair.sent.len();
    pair.send(Side::Client, FULL);
    pair.run_for(Span::from_millis(45));
    assert_eq!(pair.said(Side::Client, before), ["DATA", "PKTDROP"]);
    assert_eq!(pair.said(Side::Server, before), ["SACK", "SACK"]);
    let id = pair.only(Side::Client);
    assert_eq!(pair.endpoint(Side::Client).stats(id).unwrap().outstanding_chunks, 0);
}

#[test]
fn a_damaged_request_to_reset_a_stream_is_repeated() {
    let config = Config { stream_reset: true, ..on() };
    let mut pair = damaging(&config, "RE_CONFIG", 13);
    let (id, now, before) = (pair.only(Side::Client), pair.now, pair.sent.len());
    pair.endpoint(Side::Client).reset_streams(now, id, ResetDirection::Outgoing, &[StreamId(1)]).unwrap();
    pair.drain();
    pair.run_for(Span::from_millis(35));
    assert_eq!(pair.said(Side::Client, before), ["RE_CONFIG", "RE_CONFIG"]);
    assert_eq!(pair.said(Side::Server, before), ["PKTDROP", "RE_CONFIG"]);
}

#[test]
fn shutdown_survives_damage_without_a_timeout() {
    for chunks in ["SHUTDOWN", "SHUTDOWN_ACK"] {
        let mut pair = damaging(&on(), chunks, 13);
        pair.shutdown(Side::Client);
        pair.run_for(Span::from_millis(100));
        assert_eq!(pair.state(Side::Client), None, "{chunks}");
    }
}

#[test]
fn ten_reports_a_second_are_sent_on_a_path() {
    let config = Config { initial_window: Some(100), max_burst: 100, ..on() };
    let mut pair = Pair::new(1, &config);
    pair.establish();
    pair.on_wire(|sent| if sent.chunks() == "DATA" { Fate::Damaged(PAYLOAD) } else { Fate::Arrives });
    let before = pair.sent.len();
    for _ in 0..30 {
        pair.send(Side::Client, FULL);
    }
    pair.run_for(Span::from_millis(900));
    let reports =
        |pair: &Pair| pair.said(Side::Server, before).iter().filter(|said| *said == "PKTDROP").count();
    assert_eq!(reports(&pair), 10);
    pair.heal();
    pair.run_for(Span::from_secs(20));
    assert_eq!(pair.read_all(Side::Server).len(), 30);
}

#[test]
fn only_damage_of_an_association_that_agreed_is_reported() {
    let reported = |config: &Config, chunks: &'static str, at: usize| {
        let mut pair = damaging(config, chunks, at);
        let before = pair.sent.len();
        pair.send(Side::Client, FULL);
        pair.run_for(Span::from_millis(15));
        pair.said(Side::Server, before) == ["PKTDROP"]
    };
    assert!(reported(&on(), "DATA", PAYLOAD));
    assert!(!reported(&Config::default(), "DATA", PAYLOAD));
    for (at, what) in [(0, "source port"), (2, "destination port"), (4, "tag"), (7, "tag")] {
        assert!(!reported(&on(), "DATA", at), "another {what}");
    }
}

// rfc9260#section-8.4: these chunks are not reported, since reports about them could cause endless answers.
#[test]
fn init_abort_and_reports_are_never_reported() {
    for chunks in ["INIT", "INIT_ACK"] {
        let mut pair = Pair::new(1, &on());
        pair.on_wire(move |sent| if sent.chunks() == chunks { Fate::Damaged(12 + 9) } else { Fate::Arrives });
        pair.connect(Side::Client, 1);
        pair.run_for(Span::from_millis(500));
        assert!(pair.sent.iter().all(|sent| sent.chunks() != "PKTDROP"), "{chunks}");
    }
    let mut pair = damaging(&on(), "ABORT", 13);
    let (id, before) = (pair.only(Side::Client), pair.sent.len());
    pair.endpoint(Side::Client).abort(id, b"enough");
    pair.drain();
    pair.run_for(Span::from_millis(100));
    assert_eq!(pair.said(Side::Server, before), [""; 0]);
    let mut pair = Pair::new(1, &on());
    pair.establish();
    pair.on_wire(|sent| match sent.chunks().as_str() {
        "DATA" => Fate::Damaged(PAYLOAD),
        "PKTDROP" => Fate::Damaged(40),
        _ => Fate::Arrives,
    });
    let before = pair.sent.len();
    pair.send(Side::Client, FULL);
    pair.run_for(Span::from_millis(100));
    assert_eq!(pair.said(Side::Client, before), ["DATA"]);
}

// With an RTT of 20 ms and a link of 10 MB/s, the bandwidth-delay product is 200,000 bytes.
// rfc9260#section-7.2: reports from others than a middlebox do not change cwnd.
#[test]
fn the_rate_of_a_link_counts_if_a_middlebox_reports_it() {
    let cwnd = |from_middlebox: bool, bad_checksum: bool| {
        let mut pair = Pair::new(1, &on());
        pair.establish();
        let Some(Ok(Chunk::Init(init))) = parse(&pair.sent[0].bytes).chunks().next() else { panic!() };
        let report = PacketDrop {
            from_middlebox,
            bad_checksum,
            truncated: false,
            max_rate: 10_000_000,
            on_queue: 0,
            truncated_length: 0,
            packet: &[],
        };
        let bytes = packet(5002, 5001, init.initiate_tag, &[Chunk::PacketDrop(report)]);
        pair.inject(Side::Client, Side::Server.address(1), Side::Client.address(1), &bytes);
        path(&mut pair, Side::Client).cwnd.get()
    };
    assert_eq!(cwnd(true, false), 4404 + 6000);
    for (from_middlebox, bad_checksum) in [(true, true), (false, true), (false, false)] {
        assert_eq!(cwnd(from_middlebox, bad_checksum), 4404);
    }
}

#[test]
fn a_damaged_forward_tsn_is_repeated() {
    for interleaving in [false, true] {
        let config = Config { pr_sctp: true, interleaving, ..on() };
        let mut pair = Pair::new(1, &config);
        pair.establish();
        let mut damaged = false;
        pair.on_wire(move |sent| {
            let chunks = sent.chunks();
            if chunks.ends_with("DATA") && sent.from == Side::Client {
                return Fate::Lost;
            }
            if chunks.ends_with("FORWARD_TSN") && !std::mem::replace(&mut damaged, true) {
                return Fate::Damaged(13);
            }
            Fate::Arrives
        });
        let (id, now, before) = (pair.only(Side::Client), pair.now, pair.sent.len());
        let message = Message {
            reliability: Reliability::Retransmissions(0),
            ..Message::new(Payload::Filler(FULL - 100))
        };
        pair.endpoint(Side::Client).send(now, id, message).unwrap();
        pair.drain();
        pair.run_for(Span::from_secs(3));
        let forward = if interleaving { "I_FORWARD_TSN" } else { "FORWARD_TSN" };
        let data = if interleaving { "I_DATA" } else { "DATA" };
        assert_eq!(pair.said(Side::Client, before), [data, forward, forward]);
        assert_eq!(pair.said(Side::Server, before)[0], "PKTDROP");
    }
}

#[test]
fn a_damaged_asconf_is_repeated() {
    let config = Config { auth: true, asconf: true, ..on() };
    let mut pair = damaging(&config, "AUTH ASCONF", 60);
    let (id, now, before) = (pair.only(Side::Client), pair.now, pair.sent.len());
    assert!(pair.endpoint(Side::Client).add_local_address(now, id, Side::Client.address(2)).is_ok());
    pair.drain();
    pair.run_for(Span::from_millis(25));
    assert_eq!(pair.said(Side::Client, before), ["AUTH ASCONF", "AUTH ASCONF"]);
    assert_eq!(pair.said(Side::Server, before), ["PKTDROP"]);
}
