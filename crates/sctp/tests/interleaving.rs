//! User message interleaving and stream schedulers between two endpoints (rfc8260).

use anabranch_sctp::{CloseReason, Config, Event, Message, Payload, SendError, StreamError, StreamScheduler};
use std::collections::BTreeMap;
use testkit::*;
use units::{ByteCount, Span};
use wire::*;

fn interleaving() -> Config {
    Config { interleaving: true, ..Config::default() }
}

fn on(stream: u16, length: u32) -> Message {
    Message { stream: StreamId(stream), ..Message::new(Payload::Filler(length)) }
}

fn established(client: Config, server: Config) -> Pair {
    let [client, server] = [(Side::Client, client), (Side::Server, server)]
        .map(|(side, config)| endpoint_config(side, 1, &config));
    let mut pair = Pair::of(client, server);
    pair.establish();
    pair
}

fn send(pair: &mut Pair, message: Message) -> Result<(), SendError> {
    let (now, id) = (pair.now, pair.only(Side::Client));
    let sent = pair.endpoint(Side::Client).send(now, id, message);
    pair.drain();
    sent.map(drop)
}

/// Names of all chunks with user data on the wire.
fn kinds(pair: &Pair) -> Vec<&'static str> {
    let chunks = pair.sent.iter().flat_map(|sent| parse(&sent.bytes).chunks());
    let mut kinds: Vec<_> = chunks
        .filter_map(|chunk| match chunk {
            Ok(Chunk::Data(_)) => Some("DATA"),
            Ok(Chunk::IData(_)) => Some("I-DATA"),
            _ => None,
        })
        .collect();
    kinds.dedup();
    kinds
}

// rfc8260#section-2.2.1
#[test]
fn i_data_is_used_for_everything_if_both_announce_it_and_for_nothing_else() {
    let both = [
        (interleaving(), interleaving(), "I-DATA"),
        (interleaving(), Config::default(), "DATA"),
        (Config::default(), interleaving(), "DATA"),
    ];
    for (client, server, expected) in both {
        let mut pair = established(client, server);
        for (stream, length) in [(0, 10), (1, 5000), (0, 2000)] {
            send(&mut pair, on(stream, length)).expect("there is room");
        }
        pair.send(Side::Server, 3000);
        pair.run_for(Span::from_secs(3));
        assert_eq!(kinds(&pair), [expected]);
        let lengths: Vec<_> = pair.read_all(Side::Server).iter().map(|read| read.payload.len()).collect();
        assert_eq!(lengths, [10, 5000, 2000]);
        assert_eq!(pair.read_all(Side::Client)[0].payload.len(), 3000);
    }
}

// rfc8260#section-2.2.1: the I-DATA header is 4 bytes longer than the DATA header
#[test]
fn a_full_i_data_chunk_has_1448_bytes_of_payload() {
    let mut pair = established(interleaving(), interleaving());
    send(&mut pair, on(1, 3000)).expect("there is room");
    pair.run_for(Span::from_secs(1));
    let chunks = pair.sent.iter().flat_map(|sent| parse(&sent.bytes).chunks());
    let parts: Vec<_> = chunks
        .filter_map(|chunk| match chunk {
            Ok(Chunk::IData(data)) => Some((data.payload.len(), data.mid.0, data.fsn)),
            _ => None,
        })
        .collect();
    assert_eq!(parts, [(1448, 0, 0), (1448, 0, 1), (104, 0, 2)]);
    assert!(pair.sent.iter().all(|sent| sent.bytes.len() <= 1480));
}

/// Injects a chunk into an association of the server. Returns the answer, the close reason, and the error
/// causes.
fn answer(
    config: &Config,
    chunk: impl Fn(Tsn) -> Vec<u8>,
) -> (Vec<String>, Option<CloseReason>, Vec<String>) {
    let mut pair = established(config.clone(), config.clone());
    let Some(Ok(Chunk::Init(init))) = parse(&pair.sent[0].bytes).chunks().next() else { unreachable!() };
    let tsn = init.initial_tsn;
    let Some(Ok(Chunk::InitAck(InitAck(ack)))) = parse(&pair.sent[1].bytes).chunks().next() else {
        unreachable!()
    };
    let tag = ack.initiate_tag;
    let bytes = chunk(tsn);
    let chunk = Chunk::Unknown(UnknownChunk { chunk_type: bytes[0], bytes: bytes.as_slice().into() });
    let before = pair.sent.len();
    let packet = packet(5001, 5002, tag, &[chunk]);
    pair.inject(Side::Server, Side::Client.address(1), Side::Server.address(1), &packet);
    let said = pair.said(Side::Server, before);
    let causes = pair.sent[before..].first().map(|sent| causes(&sent.bytes)).unwrap_or_default();
    let reason = pair.events(Side::Server).into_iter().find_map(|event| match event {
        Event::Closed { reason } => Some(reason),
        _ => None,
    });
    (said, reason, causes)
}

fn data(tsn: Tsn) -> Vec<u8> {
    [&[0, 3, 0, 18][..], &tsn.0.to_be_bytes(), &[0, 1, 0, 0, 0, 0, 0, 0, b'a', b'b', 0, 0]].concat()
}

fn i_data(tsn: Tsn) -> Vec<u8> {
    let tail = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, b'a', b'b', 0, 0];
    [&[0x40, 3, 0, 22][..], &tsn.0.to_be_bytes(), &tail].concat()
}

// rfc8260#section-2.2.1, rfc8260#section-2.2.3
#[test]
fn data_and_i_data_in_one_association_are_a_protocol_violation() {
    let (none, reason, _) = answer(&Config::default(), data);
    assert_eq!((none.join(" ").as_str(), reason), ("SACK", None), "the first DATA is acknowledged at once");
    let (none, reason, _) = answer(&interleaving(), i_data);
    assert_eq!((none.join(" ").as_str(), reason), ("SACK", None));
    for (config, chunk) in [(interleaving(), data as fn(Tsn) -> Vec<u8>), (Config::default(), i_data)] {
        let (said, reason, causes) = answer(&config, chunk);
        assert_eq!(said, ["ABORT"]);
        assert!(matches!(reason, Some(CloseReason::ProtocolViolation { .. })), "{reason:?}");
        assert!(causes[0].starts_with("ProtocolViolation"), "{causes:?}");
    }
}

// rfc8260#section-2.3.1, rfc9260#section-3.2
#[test]
fn an_i_forward_tsn_nobody_agreed_upon_is_reported_as_unknown() {
    for config in [Config::default(), interleaving()] {
        let (said, reason, causes) =
            answer(&config, |tsn| [&[0xc2, 0, 0, 8][..], &tsn.0.to_be_bytes()].concat());
        assert_eq!((said.join(" ").as_str(), reason), ("ERROR", None));
        assert!(causes[0].starts_with("UnrecognizedChunk"), "{causes:?}");
    }
}

// rfc8260#section-2.3.1
#[test]
fn a_forward_tsn_where_i_data_was_agreed_upon_is_a_protocol_violation() {
    let config = Config { pr_sctp: true, ..interleaving() };
    let (said, reason, _) = answer(&config, |tsn| [&[0xc0, 0, 0, 8][..], &tsn.0.to_be_bytes()].concat());
    assert_eq!(said, ["ABORT"]);
    assert!(matches!(reason, Some(CloseReason::ProtocolViolation { .. })), "{reason:?}");
}

/// The client sends a message of 1 MB on stream 1 and, after its first chunks, a message of one chunk on
/// stream 0. Returns the streams of the later chunks in order, and the number of parts that the server reads
/// before the short message.
fn urgent_under_bulk(interleaving: bool) -> (Vec<u16>, usize) {
    let config = Config {
        interleaving,
        stream_scheduler: StreamScheduler::Priority,
        stream_values: vec![0, 1],
        send_buffer: ByteCount::new(4 << 20).into(),
        receive_buffer: ByteCount::new(4 << 20).into(),
        ..Config::default()
    };
    let mut pair = established(config.clone(), config);
    send(&mut pair, on(1, 1_000_000)).expect("there is room");
    let before = pair.sent.len();
    send(&mut pair, on(0, 100)).expect("there is room");
    pair.run_for(Span::from_secs(20));
    let chunks = pair.sent[before..].iter().flat_map(|sent| parse(&sent.bytes).chunks());
    let streams = chunks.filter_map(|chunk| match chunk {
        Ok(Chunk::Data(data)) => Some(data.stream.0),
        Ok(Chunk::IData(data)) => Some(data.stream.0),
        _ => None,
    });
    let streams: Vec<u16> = streams.collect();
    let read = pair.read_all(Side::Server);
    assert_eq!(read.iter().map(|part| part.payload.len()).sum::<usize>(), 1_000_100);
    let first = read.iter().position(|part| part.stream == StreamId(0)).expect("it arrived");
    (streams, first)
}

// rfc8260#section-3.4: an urgent message of one chunk during a message of 1 MB
#[test]
fn an_urgent_message_leaves_at_once_with_interleaving_and_after_the_other_without() {
    let (streams, read) = urgent_under_bulk(true);
    assert_eq!(streams.iter().position(|&stream| stream == 0), Some(0), "within one chunk");
    assert_eq!(read, 0);
    let (streams, read) = urgent_under_bulk(false);
    assert_eq!(streams.iter().position(|&stream| stream == 0), Some(streams.len() - 1), "after all of it");
    assert_eq!(read, 1);
}

// rfc8260#section-2.2.2
#[test]
fn with_interleaving_a_message_can_be_given_in_pieces_on_each_stream() {
    let piece = |stream, length| Message { end_of_record: false, ..on(stream, length) };
    let mut pair = established(Config::default(), interleaving());
    send(&mut pair, piece(1, 10)).expect("there is room");
    let refused = Err(SendError::UnfinishedMessage { stream: StreamId(1) });
    assert_eq!(send(&mut pair, on(2, 10)), refused, "not agreed upon");

    let mut pair = established(interleaving(), interleaving());
    for stream in [1, 2, 1, 2] {
        send(&mut pair, piece(stream, 1000)).expect("there is room");
    }
    assert_eq!(send(&mut pair, Message { unordered: true, ..on(1, 10) }), refused);
    send(&mut pair, on(3, 77)).expect("another stream");
    pair.run_for(Span::from_secs(1));
    let lengths = |pair: &mut Pair| -> Vec<_> {
        pair.read_all(Side::Server).iter().map(|part| (part.stream.0, part.payload.len())).collect()
    };
    assert_eq!(lengths(&mut pair), [(3, 77)], "whole messages");
    send(&mut pair, on(2, 1)).expect("the end");
    send(&mut pair, on(1, 2)).expect("the end");
    pair.run_for(Span::from_secs(1));
    assert_eq!(lengths(&mut pair), [(2, 2001), (1, 2002)]);
}

// rfc8260#section-2.2.3, rfc9260#section-6.9
#[test]
fn messages_that_fill_the_receive_buffer_together_are_read_in_parts_that_tell_their_message() {
    let buffers = |config: Config| Config {
        receive_buffer: ByteCount::new(20_000).into(),
        send_buffer: ByteCount::new(1 << 20).into(),
        stream_scheduler: StreamScheduler::Rr,
        ..config
    };
    let mut pair = established(buffers(interleaving()), buffers(interleaving()));
    let streams = 5;
    for stream in 0..streams {
        send(&mut pair, Message { unordered: stream == 3, ..on(stream, 60_000) }).expect("there is room");
        send(&mut pair, on(stream, 10)).expect("there is room");
    }
    let mut parts = BTreeMap::<(u16, bool, u32), usize>::new();
    let (mut ended, mut partial) = (Vec::new(), 0);
    for _ in 0..3000 {
        pair.run_for(Span::from_millis(50));
        for part in pair.read_all(Side::Server) {
            let key = (part.stream.0, part.unordered, part.mid.0);
            *parts.entry(key).or_default() += part.payload.len();
            partial += usize::from(!part.end_of_record);
            if part.end_of_record {
                ended.push((key, parts[&key]));
            }
        }
    }
    assert_eq!(ended.len(), 2 * usize::from(streams));
    assert!(partial > 0, "together they never fit");
    for stream in 0..streams {
        let of_stream: Vec<_> = ended.iter().filter(|((other, ..), _)| *other == stream).collect();
        let long = if stream == 3 { (3, true, 0) } else { (stream, false, 0) };
        let short = if stream == 3 { (3, false, 0) } else { (stream, false, 1) };
        assert_eq!(of_stream, [&(long, 60_000), &(short, 10)]);
    }
}

// rfc8260#section-4.3.3
#[test]
fn the_priority_of_a_stream_can_be_changed_and_a_weight_of_0_cannot() {
    let config = |stream_scheduler| Config { stream_scheduler, ..Config::default() };
    for scheduler in StreamScheduler::ALL {
        let mut pair = established(config(*scheduler), Config::default());
        let id = pair.only(Side::Client);
        let mut set =
            |stream, value| pair.endpoint(Side::Client).set_stream_value(id, StreamId(stream), value);
        assert_eq!(set(9, 5), Ok(()));
        let no_such_stream = StreamError::NoSuchStream { stream: StreamId(10), streams: 10 };
        assert_eq!(set(10, 5), Err(no_such_stream));
        let zero_weight = Err(StreamError::ZeroWeight { stream: StreamId(0) });
        assert_eq!(set(0, 0), if *scheduler == StreamScheduler::Wfq { zero_weight } else { Ok(()) });
        let values = [0, 9, 10].map(|stream| pair.endpoint(Side::Client).stream_value(id, StreamId(stream)));
        let expected = match scheduler {
            StreamScheduler::Priority => [0, 5],
            StreamScheduler::Wfq => [1, 5],
            _ => [0, 0],
        };
        assert_eq!(values, [Some(expected[0]), Some(expected[1]), None]);
    }
}
