//! Partial reliability (`rfc3758`, `rfc7496`) between two endpoints, packet by packet.

use anabranch_sctp::*;
use testkit::*;
use transport::PacketBuf;
use units::{ByteCount, Span};
use wire::{Chunk, Parameter, StreamId, Tsn};

fn config() -> Config {
    Config { pr_sctp: true, ..Config::default() }
}

fn message(reliability: Reliability, stream: u16, length: u32) -> Message {
    Message { reliability, stream: StreamId(stream), ..Message::new(Payload::Filler(length)) }
}

fn send(pair: &mut Pair, message: Message) {
    let (id, now) = (pair.only(Side::Client), pair.now);
    pair.endpoint(Side::Client).send(now, id, message).expect("there is room");
    pair.drain();
}

/// The FORWARD TSNs of a packet: new cumulative TSN and skipped streams of each.
fn forwards(bytes: &PacketBuf) -> Vec<(Tsn, Vec<(u16, u16)>)> {
    let chunks = parse(bytes).chunks();
    chunks
        .filter_map(|chunk| match chunk.expect("a chunk") {
            Chunk::ForwardTsn(forward) => {
                let skips = forward.skips().map(|(stream, ssn)| (stream.0, ssn.0)).collect();
                Some((forward.new_cumulative_tsn, skips))
            }
            _ => None,
        })
        .collect()
}

fn all_forwards(pair: &Pair) -> Vec<(Tsn, Vec<(u16, u16)>)> {
    pair.sent.iter().flat_map(|sent| forwards(&sent.bytes)).collect()
}

/// The first TSN of the client.
fn initial_tsn(pair: &Pair) -> Tsn {
    let Some(Ok(Chunk::Init(init))) = parse(&pair.sent[0].bytes).chunks().next() else { panic!("no INIT") };
    init.initial_tsn
}

/// Loses all transmissions of the client's chunks with these numbers, counted from 1.
fn lose(pair: &mut Pair, numbers: &'static [u32]) {
    let first = initial_tsn(pair);
    pair.on_wire(move |sent| {
        let lost = parse(&sent.bytes).chunks().any(|chunk| match chunk {
            Ok(Chunk::Data(data)) => numbers.contains(&(data.tsn.distance_from(first) + 1)),
            _ => false,
        });
        if lost && sent.from == Side::Client { Fate::Lost } else { Fate::Arrives }
    });
}

fn numbers(received: &[Received]) -> Vec<(u16, u16)> {
    received.iter().map(|message| (message.stream.0, message.ssn.0)).collect()
}

// rfc3758#section-3.5, rfc3758#section-3.6
#[test]
fn a_lost_message_without_retransmissions_is_skipped_and_the_next_ones_are_delivered() {
    let mut pair = Pair::new(1, &config());
    pair.establish();
    lose(&mut pair, &[2]);
    for _ in 0..3 {
        send(&mut pair, message(Reliability::Retransmissions(0), 0, 1000));
    }
    pair.run_for(Span::from_secs(5));
    assert_eq!(numbers(&pair.read_all(Side::Server)), [(0, 0), (0, 2)]);
    assert_eq!(all_forwards(&pair), [(initial_tsn(&pair).add(1), vec![(0, 1)])]);
    let events = pair.events(Side::Client);
    let failed = events.iter().filter(|event| matches!(event, Event::SendFailed { abandoned: true, .. }));
    assert_eq!(failed.count(), 1, "{events:?}");
    let id = pair.only(Side::Client);
    let stats = pair.endpoint(Side::Client).stats(id).unwrap();
    assert_eq!((stats.buffered, stats.outstanding_chunks), (ByteCount::ZERO, 0));
    assert_eq!(stats.abandoned, Abandoned { unsent: 0, sent: 1 });
}

// rfc3758#section-3.5, rule C2; sctplab/pr-sctp-improved#11
#[test]
fn with_nr_sack_the_forward_tsn_passes_what_the_peer_keeps() {
    let mut pair = Pair::new(1, &Config { nr_sack: true, reneging: false, ..config() });
    pair.establish();
    lose(&mut pair, &[2]);
    for _ in 0..3 {
        send(&mut pair, message(Reliability::Retransmissions(0), 0, 1000));
    }
    pair.run_for(Span::from_secs(5));
    assert_eq!(all_forwards(&pair), [(initial_tsn(&pair).add(2), vec![(0, 1)])]);
    assert_eq!(numbers(&pair.read_all(Side::Server)), [(0, 0), (0, 2)]);
}

// rfc3758#section-3.5; pion/sctp#505
#[test]
fn without_loss_nothing_is_skipped() {
    for cmt in [false, true] {
        let cmt = Cmt { enabled: cmt, ..Cmt::default() };
        let mut pair = Pair::new(2, &Config { cmt, ..config() });
        pair.establish();
        pair.run_for(Span::from_secs(3));
        let mut received = 0;
        for n in 0..1000 {
            send(&mut pair, message(Reliability::Retransmissions(0), n % 3, 1400));
            pair.run_for(ms(7));
            received += pair.read_all(Side::Server).len();
        }
        pair.run_for(Span::from_secs(5));
        received += pair.read_all(Side::Server).len();
        assert_eq!((received, all_forwards(&pair)), (1000, vec![]));
    }
}

// rfc3758#section-3.6; pion/sctp#104, pion/sctp#106
#[test]
fn fragments_of_an_abandoned_unordered_message_leave_the_receive_buffer() {
    let mut pair = Pair::new(1, &config());
    pair.establish();
    lose(&mut pair, &[1]);
    send(&mut pair, Message { unordered: true, ..message(Reliability::Retransmissions(0), 0, 2900) });
    pair.run_for(Span::from_secs(5));
    assert_eq!(all_forwards(&pair), [(initial_tsn(&pair).add(1), vec![])]);
    send(&mut pair, message(Reliability::Reliable, 0, 100));
    pair.run_for(Span::from_secs(5));
    assert_eq!(numbers(&pair.read_all(Side::Server)), [(0, 0)]);
    let id = pair.only(Side::Client);
    let window = pair.endpoint(Side::Client).stats(id).unwrap().peer_rwnd;
    assert!(window + ByteCount::new(200) > ByteCount::new(1 << 20), "{window:?}");
}

// rfc3758#section-4.1; webrtc-rs/rtc#237: in that stack a message arrived 2 s after its lifetime
#[test]
fn nothing_arrives_long_after_its_lifetime() {
    let mut pair = Pair::new(1, &config());
    pair.establish();
    pair.on_wire(|_| Fate::Lost);
    send(&mut pair, message(Reliability::Until(ms(500)), 0, 100));
    send(&mut pair, message(Reliability::Until(ms(5000)), 0, 100));
    pair.run_for(ms(900));
    pair.heal();
    pair.run_for(Span::from_secs(10));
    assert_eq!(numbers(&pair.read_all(Side::Server)), [(0, 1)]);
}

// rfc3758#section-3.5, rule F2
#[test]
fn a_forward_tsn_rides_with_data_if_there_is_room() {
    let mut pair = Pair::new(1, &Config { send_buffer: ByteCount::new(1000).into(), ..config() });
    pair.establish();
    pair.on_wire(|_| Fate::Lost);
    send(&mut pair, message(Reliability::Priority(2), 0, 900));
    pair.heal();
    let from = pair.sent.len();
    send(&mut pair, message(Reliability::Priority(1), 0, 900));
    pair.run_for(ms(300));
    assert_eq!(pair.said(Side::Client, from), ["FORWARD_TSN DATA"]);
    assert_eq!(numbers(&pair.read_all(Side::Server)), [(0, 1)]);
}

// rfc3758#section-3.5: C5, rfc9260#section-8.2
#[test]
fn an_association_on_which_everything_is_abandoned_goes_on() {
    let mut pair = Pair::new(1, &Config { association_max_retrans: 4, ..config() });
    pair.establish();
    pair.on_wire(|sent| if sent.chunks().contains("DATA") { Fate::Lost } else { Fate::Arrives });
    for _ in 0..10 {
        send(&mut pair, message(Reliability::Retransmissions(0), 0, 100));
        pair.run_for(Span::from_secs(20));
    }
    assert_eq!(pair.state(Side::Client), Some(State::Established), "each FORWARD TSN was answered");
    pair.heal();
    send(&mut pair, message(Reliability::Reliable, 0, 100));
    pair.run_for(Span::from_secs(1));
    assert_eq!(numbers(&pair.read_all(Side::Server)), [(0, 10)]);
}

// rfc3758#section-3.5, rule A2: an abandoned chunk counts as acknowledged.
#[test]
fn shutdown_follows_the_forward_tsn_and_does_not_wait_for_its_answer() {
    for lost in ["DATA", "DATA FORWARD_TSN"] {
        let mut pair = Pair::new(1, &config());
        pair.establish();
        pair.on_wire(move |sent| {
            let is_lost = lost.split(' ').any(|chunk| sent.chunks() == chunk);
            if is_lost { Fate::Lost } else { Fate::Arrives }
        });
        send(&mut pair, message(Reliability::Until(ms(100)), 0, 100));
        let from = pair.sent.len();
        pair.run_for(ms(50));
        pair.shutdown(Side::Client);
        pair.run_for(Span::from_secs(2));
        let said = pair.said(Side::Client, from);
        assert_eq!(said, ["FORWARD_TSN", "SHUTDOWN", "SHUTDOWN_COMPLETE"], "{lost} lost");
        let times = |chunk| pair.sent.iter().find(|sent| sent.chunks() == chunk).map(|sent| sent.at);
        assert_eq!(times("FORWARD_TSN"), times("SHUTDOWN"), "{lost} lost");
        let closed = Event::Closed { reason: CloseReason::Graceful };
        assert!(pair.events(Side::Client).contains(&closed) && pair.events(Side::Server).contains(&closed));
    }
}

// rfc3758#section-3.5, draft-tuexen-tsvwg-sctp-nr-sack: the peer must first skip the abandoned message.
#[test]
fn shutdown_waits_while_the_peer_holds_non_renegable_messages_behind_what_it_must_skip() {
    let mut pair = Pair::new(1, &Config { nr_sack: true, reneging: false, ..config() });
    pair.establish();
    lose(&mut pair, &[1]);
    for _ in 0..2 {
        send(&mut pair, message(Reliability::Retransmissions(0), 0, 100));
    }
    let mut lost = 0;
    let first = initial_tsn(&pair);
    pair.on_wire(move |sent| {
        let of_first = parse(&sent.bytes)
            .chunks()
            .any(|chunk| matches!(chunk, Ok(Chunk::Data(data)) if data.tsn == first));
        lost += u32::from(sent.chunks().contains("FORWARD_TSN"));
        if of_first || (lost == 1 && sent.chunks().contains("FORWARD_TSN")) {
            Fate::Lost
        } else {
            Fate::Arrives
        }
    });
    let server = pair.only(Side::Server);
    pair.shutdown(Side::Client);
    pair.run_for(Span::from_secs(20));
    let received = pair.endpoint(Side::Server).receive(server, 1000);
    assert_eq!(received.map(|message| message.ssn.0), Some(1));
    assert!(pair.events(Side::Client).contains(&Event::Closed { reason: CloseReason::Graceful }));
}

// rfc3758#section-3.5, rule F2: "waiting a full RTT before sending a duplicate FORWARD TSN"
#[test]
fn one_abandoned_message_costs_one_forward_tsn_in_a_round_trip() {
    for nr_sack in [false, true] {
        let mut pair = Pair::new(1, &Config { nr_sack, reneging: false, ..config() });
        pair.set_delay(ms(50));
        pair.establish();
        lose(&mut pair, &[60]);
        let from = pair.sent.len();
        // A message each millisecond: many SACKs arrive in the round trip of the FORWARD TSN.
        for _ in 0..400 {
            send(&mut pair, message(Reliability::Retransmissions(0), 0, 1000));
            pair.run_for(ms(1));
        }
        pair.run_for(Span::from_secs(5));
        assert_eq!(pair.read_all(Side::Server).len(), 399);
        let sent = pair.sent[from..].iter().filter(|sent| sent.chunks().contains("FORWARD_TSN")).count();
        assert!((1..=2).contains(&sent), "{sent} FORWARD TSNs, NR-SACK {nr_sack}");
    }
}

// rfc3758#section-3.3
#[test]
fn both_ends_must_announce_forward_tsn() {
    let sides = |client: bool, server: bool| {
        let of = |side, pr_sctp| endpoint_config(side, 1, &Config { pr_sctp, ..Config::default() });
        let mut pair = Pair::of(of(Side::Client, client), of(Side::Server, server));
        pair.establish();
        pair
    };
    for (client, server) in [(false, false), (false, true), (true, false), (true, true)] {
        let mut pair = sides(client, server);
        lose(&mut pair, &[1]);
        send(&mut pair, message(Reliability::Retransmissions(0), 0, 100));
        pair.run_for(Span::from_secs(5));
        pair.heal();
        pair.run_for(Span::from_secs(60));
        let delivered = pair.read_all(Side::Server).len();
        let both = client && server;
        assert_eq!((delivered, all_forwards(&pair).len()), (usize::from(!both), usize::from(both)));
    }
}

// rfc3758#section-3.3: some peers send the parameter alone, others the list alone
#[test]
fn the_parameter_or_the_listed_type_announces_forward_tsn() {
    for (parameter, listed) in [(true, false), (false, true), (false, false)] {
        let mut list = wire::ParameterList::new();
        if parameter {
            list.push(&Parameter::ForwardTsnSupported);
        }
        if listed {
            list.push(&Parameter::SupportedExtensions(&[0x82, 0xc0, 0x82, 0xff]));
        }
        let mut pair = Pair::new(1, &config());
        pair.on_wire(|_| Fate::Lost);
        let init = Chunk::Init(wire::Init {
            initiate_tag: 7,
            a_rwnd: 5000,
            outbound_streams: 1,
            inbound_streams: 1,
            initial_tsn: Tsn(1),
            parameters: list.as_parameters(),
        });
        let (src, dst) = (Side::Client.address(1), Side::Server.address(1));
        let init = packet(Side::Client.port(), Side::Server.port(), 0, &[init]);
        pair.inject(Side::Server, src, dst, &init);
        let answer = parse(&pair.sent[0].bytes).chunks().next();
        let Some(Ok(Chunk::InitAck(ack))) = answer else { panic!("no INIT ACK") };
        let parameters: Vec<_> = ack.0.parameters.iter().map(|parameter| parameter.unwrap()).collect();
        let announced = [Parameter::ForwardTsnSupported, Parameter::SupportedExtensions(&[0xc0])];
        assert_eq!(announced.map(|one| parameters.contains(&one)), [parameter || listed; 2]);
    }
}

// rfc3758#section-3.3.1, rfc9260#section-3.2
#[test]
fn a_forward_tsn_nobody_agreed_upon_is_skipped_and_reported() {
    let mut pair = Pair::new(1, &Config::default());
    pair.establish();
    let from = pair.sent.len();
    let tag =
        header(&pair.sent.iter().find(|sent| sent.chunks() == "COOKIE_ECHO").unwrap().bytes).verification_tag;
    let mut bytes = packet(Side::Client.port(), Side::Server.port(), tag, &[]);
    bytes.head.extend([0xc0, 0, 0, 12, 0, 0, 0, 9, 0, 1, 0, 2]);
    bytes.head[8..12].fill(0);
    let crc = wire::crc32c(bytes.as_octets());
    bytes.head[8..12].copy_from_slice(&crc.to_le_bytes());
    pair.inject(Side::Server, Side::Client.address(1), Side::Server.address(1), &bytes);
    pair.run_for(ms(50));
    let errors: Vec<String> = pair.sent[from..].iter().flat_map(|sent| causes(&sent.bytes)).collect();
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].contains("UnrecognizedChunk"), "{errors:?}");
    assert_eq!(pair.state(Side::Server), Some(State::Established));
}

// rfc7496#section-4.3, rfc7496#section-4.4
#[test]
fn abandoned_messages_are_counted_by_stream_and_policy() {
    let mut pair = Pair::new(1, &Config { send_buffer: ByteCount::new(20_000).into(), ..config() });
    pair.establish();
    pair.on_wire(|_| Fate::Lost);
    send(&mut pair, message(Reliability::Retransmissions(0), 1, 100));
    send(&mut pair, message(Reliability::Until(ms(10)), 2, 100));
    for _ in 0..2 {
        send(&mut pair, message(Reliability::Priority(5), 3, 9_000));
    }
    send(&mut pair, message(Reliability::Priority(4), 3, 15_000));
    pair.run_for(Span::from_secs(3));
    let id = pair.only(Side::Client);
    let counts = pair.endpoint(Side::Client).abandoned(id).unwrap();
    let of = |stream| counts[&StreamId(stream)];
    let once = Abandoned { unsent: 0, sent: 1 };
    assert_eq!((of(1).retransmissions, of(2).until), (once, once));
    assert_eq!(of(3).priority, Abandoned { unsent: 1, sent: 1 });
    let total = pair.endpoint(Side::Client).stats(id).unwrap().abandoned;
    assert_eq!(total, Abandoned { unsent: 1, sent: 3 });
}

// rfc3758#section-3.5, with one path that works and one path that has failed
#[test]
fn with_cmt_what_a_dead_path_lost_is_skipped_and_the_rest_delivered() {
    let cmt = Cmt { enabled: true, ..Cmt::default() };
    for nr_sack in [false, true] {
        let mut pair = Pair::new(2, &Config { nr_sack, cmt: cmt.clone(), ..config() });
        pair.establish();
        pair.run_for(Span::from_secs(3));
        pair.on_wire(|sent| if sent.net() == 2 { Fate::Lost } else { Fate::Arrives });
        let mut received = Vec::new();
        for _ in 0..200 {
            send(&mut pair, message(Reliability::Retransmissions(0), 0, 1400));
            pair.run_for(ms(20));
            received.extend(pair.read_all(Side::Server));
        }
        pair.run_for(Span::from_secs(30));
        received.extend(pair.read_all(Side::Server));
        let ssns: Vec<u16> = received.iter().map(|message| message.ssn.0).collect();
        assert!(ssns.is_sorted() && ssns.len() > 150 && ssns.len() < 200, "{} messages", ssns.len());
        let id = pair.only(Side::Client);
        let stats = pair.endpoint(Side::Client).stats(id).unwrap();
        assert_eq!((stats.abandoned.sent, stats.outstanding_chunks), (200 - ssns.len() as u64, 0));
    }
}

// rfc6525#section-5.1.2, rfc7496#section-3.1
#[test]
fn a_message_given_during_the_reset_of_its_stream_outlives_neither_lifetime_nor_retransmissions() {
    let mut pair = Pair::new(1, &Config { stream_reset: true, ..config() });
    pair.establish();
    let (id, now) = (pair.only(Side::Client), pair.now);
    pair.on_wire(|_| Fate::Lost);
    let streams = [StreamId(1)];
    pair.endpoint(Side::Client).reset_streams(now, id, ResetDirection::Outgoing, &streams).expect("a reset");
    let until = |ms| Reliability::Until(Span::from_millis(ms));
    for (n, reliability) in
        [until(1), until(60_000), Reliability::Reliable, Reliability::Priority(9)].into_iter().enumerate()
    {
        send(&mut pair, Message { context: n as u32, ..message(reliability, 1, 100 + n as u32) });
    }
    pair.run_for(ms(500));
    pair.heal();
    pair.run_for(Span::from_secs(20));
    let lengths: Vec<_> = pair.read_all(Side::Server).iter().map(|read| read.payload.len()).collect();
    assert_eq!(lengths, [101, 102, 103]);
    let contexts: Vec<_> = pair
        .events(Side::Client)
        .into_iter()
        .filter_map(|event| match event {
            Event::SendFailed { message, abandoned, .. } => Some((message.context, abandoned)),
            _ => None,
        })
        .collect();
    assert_eq!(contexts, [(0, true)]);
}
