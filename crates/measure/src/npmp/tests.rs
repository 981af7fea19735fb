//! Tests of the offset of each field of each message, and of bytes that are no message.

use super::*;
use proptest::prelude::*;

const ID: FlowId = FlowId { measurement: 0x1122_3344_5566_7788, flow: 0x0a0b_0c0d, stream: 0x0e0f };

/// Flow, measurement and stream as they are on the wire.
const ID_BYTES: [u8; 14] =
    [0x0a, 0x0b, 0x0c, 0x0d, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x0e, 0x0f];

/// Checks that the message encodes to these bytes, and that these bytes decode to the message.
fn is(message: &Message<'_>, bytes: &[u8]) {
    assert_eq!(message.encode(EventSize::Padded), bytes);
    assert_eq!(Message::decode(bytes).as_ref(), Ok(message));
}

fn with_id(head: [u8; 4], rest: &[u8]) -> Vec<u8> {
    [&head[..], &ID_BYTES, rest].concat()
}

#[test]
fn acknowledge_has_24_bytes_and_ends_with_the_status() {
    let message = Message::Acknowledge(Acknowledge { id: ID, status: 0x0102_0304 });
    is(&message, &with_id([1, 0, 0, 24], &[0, 0, 1, 2, 3, 4]));
}

#[test]
fn remove_flow_has_18_bytes() {
    is(&Message::RemoveFlow(ID), &with_id([3, 0, 0, 18], &[]));
}

#[test]
fn identify_flow_has_the_magic_number_between_flow_and_measurement() {
    let message = Message::Identify(Identify { id: ID, compress_vector: true, no_vector: true });
    let magic = [0x4b, 0xcd, 0xf3, 0xaa, 0x30, 0x3c, 0x67, 0x74];
    let bytes = [&[4, 3, 0, 26][..], &ID_BYTES[..4], &magic, &ID_BYTES[4..]].concat();
    is(&message, &bytes);
    let mut wrong = bytes;
    wrong[8] ^= 1;
    assert_eq!(Message::decode(&wrong), Err(Malformed::Magic));
}

#[test]
fn data_has_48_bytes_before_its_payload() {
    let data = Data { id: ID, begin: true, end: false, frame: 1, sequence: 2, position: 3, time: 4 };
    let fields = [
        &[0, 0][..],
        &1_u32.to_be_bytes(),
        &2_u64.to_be_bytes(),
        &3_u64.to_be_bytes(),
        &4_u64.to_be_bytes(),
        &[30, 31],
    ]
    .concat();
    let bytes = with_id([5, 1, 0, 50], &fields);
    is(&Message::Data(data, &[30, 31]), &bytes);
    let mut written = vec![0; 50];
    written[48..].copy_from_slice(&[30, 31]);
    data.write(&mut written);
    assert_eq!(written, bytes, "the header in place is the same");
    let end = Message::Data(Data { begin: false, end: true, ..data }, &[]);
    assert_eq!(end.encode(EventSize::Padded)[..4], [5, 2, 0, 48]);
}

#[test]
fn start_tells_by_its_flags_which_files_are_wanted() {
    let start = Start { measurement: ID.measurement, ..Start::default() };
    let bytes = |flags| [&[6, flags, 0, 16, 0, 0, 0, 0][..], &ID_BYTES[4..12]].concat();
    is(&Message::Start(start), &bytes(0));
    is(&Message::Start(Start { compress_vectors: true, ..start }), &bytes(1));
    is(&Message::Start(Start { compress_scalars: true, ..start }), &bytes(2));
    is(&Message::Start(Start { no_vectors: true, ..start }), &bytes(4));
    is(&Message::Start(Start { no_scalars: true, ..start }), &bytes(8));
    is(&Message::Start(Start { latency: true, ..start }), &bytes(32));
}

#[test]
fn start_asks_for_paths_by_a_flag_and_a_time_and_the_time_alone_means_nothing() {
    let start = Start { measurement: ID.measurement, paths_every: Some(0x0102_0304), ..Start::default() };
    let bytes = |flags| [&[6, flags, 0, 16, 1, 2, 3, 4][..], &ID_BYTES[4..12]].concat();
    is(&Message::Start(start), &bytes(16));
    // NetPerfMeter 1.9 leaves old bytes in the field of the report
    // interval. Without the flag for this field, its value has no meaning.
    let unasked = Message::Start(Start { paths_every: None, ..start });
    assert_eq!(Message::decode(&bytes(0)), Ok(unasked));
}

#[test]
fn stop_has_16_bytes() {
    let bytes = [&[7, 0, 0, 16, 0, 0, 0, 0][..], &ID_BYTES[4..12]].concat();
    is(&Message::Stop { measurement: ID.measurement }, &bytes);
}

#[test]
fn the_last_piece_of_a_file_is_flagged_and_may_be_empty() {
    is(&Message::Results { last: false, piece: b"abc" }, &[8, 0, 0, 7, b'a', b'b', b'c']);
    is(&Message::Results { last: true, piece: b"" }, &[8, 1, 0, 4]);
}

/// A flow whose fields all have different values.
fn flow() -> AddFlow {
    AddFlow {
        id: ID,
        protocol: 132,
        description: Text::new("Alpha"),
        ordered: 0xffff_ffff,
        reliable: 0x8000_0000,
        retransmissions: 0x8000_0064,
        rate: Random { generator: 2, values: [1.0, 2.0, 3.0, 4.0] },
        size: Random { generator: 1, values: [5.0, 6.0, 7.0, 8.0] },
        receive_buffer: 0x0003_8e38,
        send_buffer: 0x0003_8e39,
        max_message: 16_000,
        cmt: 2,
        ccid: 3,
        path_manager: Text::new("fullmesh"),
        congestion_control: Text::new("cubic"),
        scheduler: Text::new("default"),
        events: Vec::new(),
        repeat: true,
        debug: false,
        no_delay: true,
    }
}

#[test]
fn add_flow_has_each_field_at_its_offset() {
    let flow = flow();
    let bytes = Message::AddFlow(Box::new(flow.clone())).encode(EventSize::Padded);
    assert_eq!(bytes.len(), 194);
    assert_eq!(bytes[..4], [2, 2 | 4, 0, 194]);
    assert_eq!(bytes[4..18], ID_BYTES);
    assert_eq!(bytes[18..20], [132, 0]);
    assert_eq!(bytes[20..26], *b"Alpha\0");
    assert_eq!(bytes[52..56], [0xff; 4]);
    assert_eq!(bytes[56..60], [0x80, 0, 0, 0]);
    assert_eq!(bytes[60..64], [0x80, 0, 0, 100]);
    assert_eq!(bytes[64..72], 1.0_f64.to_be_bytes());
    assert_eq!(bytes[88..96], 4.0_f64.to_be_bytes());
    assert_eq!(bytes[96..104], 5.0_f64.to_be_bytes());
    assert_eq!(bytes[128..130], [2, 1]);
    assert_eq!(bytes[130..134], 233_016_u32.to_be_bytes());
    assert_eq!(bytes[134..138], 233_017_u32.to_be_bytes());
    assert_eq!(bytes[138..144], [0x3e, 0x80, 2, 3, 0, 0]);
    assert_eq!(bytes[144..153], *b"fullmesh\0");
    assert_eq!(bytes[160..166], *b"cubic\0");
    assert_eq!(bytes[176..184], *b"default\0");
    assert_eq!(bytes[192..194], [0, 0]);
    assert_eq!(Message::decode(&bytes), Ok(Message::AddFlow(Box::new(flow))));
}

#[test]
fn protocols_beyond_255_are_little_endian() {
    let flow = AddFlow { protocol: 0x0106, ..flow() };
    let bytes = Message::AddFlow(Box::new(flow)).encode(EventSize::Padded);
    assert_eq!(bytes[18..20], [6, 1]);
}

#[test]
fn both_sizes_of_events_are_told_apart_by_the_length() {
    let event = |seconds, relative| OnOffEvent {
        time: Random { generator: 2, values: [seconds, 0.0, 0.0, 0.5] },
        relative,
    };
    let flow = AddFlow { events: vec![event(1.0, false), event(2.0, true)], ..flow() };
    let message = Message::AddFlow(Box::new(flow));
    let (padded, packed) = (message.encode(EventSize::Padded), message.encode(EventSize::Packed));
    assert_eq!((padded.len(), packed.len()), (194 + 80, 194 + 72));
    // The number of events and, for each event, its generator, flags, padding and four numbers.
    let numbers = |seconds: f64| [seconds, 0.0, 0.0, 0.5].map(f64::to_be_bytes).concat();
    let events = |padding: usize| {
        let event = |flags, seconds| [&[2, flags], &vec![0; padding][..], &numbers(seconds)].concat();
        [vec![0, 2], event(0, 1.0), event(1, 2.0)].concat()
    };
    assert_eq!(padded[192..], events(6), "as 1.x and 2.x before 2.0.3 have them");
    assert_eq!(packed[192..], events(2), "as 2.0.3 and later have them");
    assert_eq!((&padded[2..4], &packed[2..4]), (&[1, 18][..], &[1, 10][..]));
    for bytes in [padded, packed] {
        assert_eq!(Message::decode(&bytes).as_ref(), Ok(&message));
    }
}

#[test]
fn a_count_of_events_without_their_bytes_is_refused() {
    let mut bytes = Message::AddFlow(Box::new(flow())).encode(EventSize::Padded);
    bytes[192..194].copy_from_slice(&[0xff, 0xff]);
    assert_eq!(Message::decode(&bytes), Err(Malformed::Length { kind: 2 }));
}

#[test]
fn texts_are_cut_between_characters_and_shown_without_control_characters() {
    assert_eq!(Text::<5>::new("aaaaé").0, *b"aaaa\0");
    assert_eq!(Text([b'a', 27, b'"', 0xff, 0, b'b']).text(), "a??\u{fffd}");
}

#[test]
fn messages_of_a_stream_of_bytes_are_cut_wherever_its_pieces_end() {
    let stream = [
        Message::Stop { measurement: 1 }.encode(EventSize::Padded),
        Message::Results { last: true, piece: b"xyz" }.encode(EventSize::Padded),
        Message::RemoveFlow(ID).encode(EventSize::Padded),
    ];
    for size in 1..=stream.concat().len() {
        let mut frames = Frames::new(64, 64);
        let mut found = Vec::new();
        for piece in stream.concat().chunks(size) {
            frames.space()[..piece.len()].copy_from_slice(piece);
            frames.written(piece.len());
            while let Some(length) = frames.complete().expect("whole messages") {
                found.push(frames.take(length).to_vec());
            }
        }
        assert_eq!(found, stream);
    }
}

#[test]
fn a_stream_with_a_message_that_is_too_long_or_too_short_is_refused() {
    for (bytes, kind) in [([8, 0, 0, 65], 8), ([1, 0, 0, 3], 1)] {
        let mut frames = Frames::new(64, 64);
        frames.space()[..4].copy_from_slice(&bytes);
        frames.written(4);
        assert_eq!(frames.complete(), Err(Malformed::Length { kind }));
    }
}

fn random() -> impl Strategy<Value = Random> {
    (any::<u8>(), prop::array::uniform4(-1e9..1e9_f64))
        .prop_map(|(generator, values)| Random { generator, values })
}

fn id() -> impl Strategy<Value = FlowId> {
    any::<(u64, u32, u16)>().prop_map(|(measurement, flow, stream)| FlowId { measurement, flow, stream })
}

prop_compose! {
    fn any_flow()(
        id in id(),
        (protocol, max_message) in any::<(u16, u16)>(),
        (ordered, reliable, retransmissions) in any::<(u32, u32, u32)>(),
        (receive_buffer, send_buffer, cmt, ccid) in any::<(u32, u32, u8, u8)>(),
        (description, path_manager) in any::<([u8; 32], [u8; 16])>(),
        (congestion_control, scheduler) in any::<([u8; 16], [u8; 16])>(),
        (rate, size) in (random(), random()),
        // At most eight events, because nine events of 40 bytes are as long as ten of 36 bytes.
        events in prop::collection::vec((random(), any::<bool>()), 0..9),
        (repeat, debug, no_delay) in any::<(bool, bool, bool)>(),
    ) -> AddFlow {
        let events = events.into_iter().map(|(time, relative)| OnOffEvent { time, relative }).collect();
        AddFlow {
            id, protocol, ordered, reliable, retransmissions, rate, size, receive_buffer, send_buffer, max_message, cmt, ccid,
            events, repeat, debug, no_delay, description: Text(description), path_manager: Text(path_manager),
            congestion_control: Text(congestion_control), scheduler: Text(scheduler),
        }
    }
}

proptest! {
    #[test]
    fn every_flow_is_read_as_it_was_written(flow in any_flow(), packed in any::<bool>()) {
        let size = if packed { EventSize::Packed } else { EventSize::Padded };
        let message = Message::AddFlow(Box::new(flow));
        let bytes = message.encode(size);
        prop_assert_eq!(Message::decode(&bytes), Ok(message));
    }

    #[test]
    fn bytes_that_are_no_message_are_refused_and_never_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..600), kind in 0..9_u8, fits in any::<bool>()) {
        if let Some(first) = bytes.first_mut() {
            *first = kind;
        }
        if fits && bytes.len() >= HEADER {
            let length = (bytes.len() as u16).to_be_bytes();
            bytes[2..4].copy_from_slice(&length);
        }
        if let Ok(message) = Message::decode(&bytes) {
            // Decoding drops unused bytes, so only the lengths are compared.
            let lengths = [EventSize::Padded, EventSize::Packed].map(|size| message.encode(size).len());
            prop_assert!(lengths.contains(&bytes.len()));
        }
    }

    #[test]
    fn a_stream_of_garbage_never_panics(bytes in prop::collection::vec(any::<u8>(), 0..600), size in 1..100_usize) {
        let mut frames = Frames::new(256, 256);
        let mut rest = &bytes[..];
        'stream: while !rest.is_empty() {
            let space = frames.space();
            prop_assert!(!space.is_empty(), "there is always room for the rest of a message");
            let (piece, after) = rest.split_at(size.min(rest.len()).min(space.len()));
            space[..piece.len()].copy_from_slice(piece);
            frames.written(piece.len());
            rest = after;
            loop {
                match frames.complete() {
                    Ok(Some(length)) => drop(Message::decode(frames.take(length)).is_ok()),
                    Ok(None) => break,
                    Err(_) => break 'stream,
                }
            }
        }
    }
}
