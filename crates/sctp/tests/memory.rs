//! Memory that a hostile peer makes an endpoint allocate.

use anabranch_sctp::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use testkit::*;
use transport::{Checksum, Octets, PacketBuf};
use wire::*;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: each call is passed on to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.set(HELD.get() + layout.size() as isize);
        // SAFETY: the caller guarantees the preconditions of this call.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.set(HELD.get() - layout.size() as isize);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const BUFFER: isize = 1 << 20;

/// A server with the maximum number of streams, whose client is scripted by the test.
struct Victim {
    pair: Pair,
    id: AssocId,
    tag: u32,
    first: Tsn,
    buf: PacketBuf,
    held: isize,
}

impl Victim {
    fn new() -> Victim {
        Victim::with(&Config::default())
    }

    fn with(config: &Config) -> Victim {
        let config = Config {
            outbound_streams: u16::MAX,
            max_inbound_streams: u16::MAX,
            receive_buffer: units::ByteCount::new(BUFFER as u64).into(),
            ..config.clone()
        };
        let mut pair = Pair::new(1, &config);
        let (_, id) = pair.establish();
        let Some(Ok(Chunk::Init(init))) = parse(&pair.sent[0].bytes).chunks().next() else { unreachable!() };
        let first = init.initial_tsn;
        let Some(Ok(Chunk::InitAck(ack))) = parse(&pair.sent[1].bytes).chunks().next() else {
            unreachable!()
        };
        let tag = ack.0.initiate_tag;
        let mut victim = Victim { pair, id, tag, first, buf: PacketBuf::default(), held: 0 };
        match config.interleaving {
            true => victim.interleave("BE", std::iter::once((0, 0, 0, 0))),
            false => victim.flood(std::iter::once((0, 0, 0, 100))),
        }
        assert_eq!(victim.read_all(), 1);
        victim.held = HELD.get();
        victim
    }

    /// Delivers whole ordered messages to the server: chunk number, stream, SSN, and length of each message.
    fn flood(&mut self, messages: impl Iterator<Item = (u32, u16, u16, usize)>) {
        self.take("BE", messages);
    }

    /// Delivers chunks with these flags to the server.
    fn take(&mut self, flags: &str, messages: impl Iterator<Item = (u32, u16, u16, usize)>) {
        let (first, flags) = (self.first, data_flags(flags));
        let bytes = [1; 1452];
        self.take_all(messages.map(|(n, stream, ssn, length)| {
            Chunk::Data(Data {
                flags,
                tsn: first.add(n),
                stream: StreamId(stream),
                ssn: Ssn(ssn),
                ppid: Ppid(0),
                payload: Octets::from(&bytes[..length]),
            })
        }));
    }

    /// Delivers I-DATA chunks of one byte to the server: chunk number, stream, message identifier and
    /// fragment sequence number of each chunk.
    fn interleave(&mut self, flags: &str, fragments: impl Iterator<Item = (u32, u16, u32, u32)>) {
        let (first, flags) = (self.first, data_flags(flags));
        self.take_all(fragments.map(|(n, stream, mid, fsn)| {
            Chunk::IData(IData {
                flags,
                tsn: first.add(n),
                stream: StreamId(stream),
                mid: Mid(mid),
                ppid: Ppid(0),
                fsn,
                payload: Octets::from(&[1][..]),
            })
        }));
    }

    fn take_all<'a>(&mut self, chunks: impl Iterator<Item = Chunk<'a>>) {
        let header = CommonHeader { source_port: 5001, destination_port: 5002, verification_tag: self.tag };
        let mut chunks = chunks.peekable();
        let mut packet = PacketBuf::default();
        while chunks.peek().is_some() {
            let mut w = PacketWriter::new(&mut packet, header, 1480);
            while chunks.next_if(|chunk| w.push(chunk)).is_some() {}
            w.finish(Checksum::Computed);
            let now = self.pair.now;
            let (src, dst) = (Side::Client.address(1), Side::Server.address(1));
            let server = self.pair.endpoint(Side::Server);
            server.handle(now, Datagram::new(src, dst, packet.as_octets()));
            while server.poll_transmit(now, &mut self.buf).is_some() {}
            while server.poll_event().is_some() {}
        }
    }

    fn read_all(&mut self) -> usize {
        let (now, id) = (self.pair.now, self.id);
        let server = self.pair.endpoint(Side::Server);
        let read = std::iter::from_fn(|| server.receive(id, usize::MAX)).count();
        while server.poll_transmit(now, &mut self.buf).is_some() {}
        while server.poll_event().is_some() {}
        read
    }

    fn more(&self) -> isize {
        HELD.get() - self.held
    }
}

fn data_flags(flags: &str) -> DataFlags {
    DataFlags {
        beginning: flags.contains('B'),
        ending: flags.contains('E'),
        unordered: flags.contains('U'),
        ..DataFlags::default()
    }
}

/// Memory that is independent of the number of streams or messages: a few lists with spare capacity.
const CONSTANT: isize = 48 << 10;

#[test]
fn a_packet_on_the_last_stream_takes_what_one_on_the_first_takes() {
    let mut victim = Victim::new();
    victim.flood(std::iter::once((1, u16::MAX - 1, 0, 100)));
    assert_eq!(victim.read_all(), 1);
    assert!(victim.more() < 4096, "{} bytes", victim.more());
}

#[test]
fn an_empty_buffer_holds_64_bytes_at_most_for_each_stream_that_was_used() {
    for step in [1, 7] {
        let mut victim = Victim::new();
        let streams: Vec<u16> = (0..u16::MAX).step_by(step).collect();
        let mut tsn = 0;
        for ssn in 0..2 {
            let used = streams.iter().filter(|&&stream| stream > 0);
            victim.flood(used.zip(tsn + 1..).map(|(&stream, n)| (n, stream, ssn, 10)));
            tsn += streams.len() as u32 - 1;
            victim.read_all();
        }
        let most = 64 * streams.len() as isize + CONSTANT;
        assert!(victim.more() <= most, "{} bytes for {} streams", victim.more(), streams.len());
    }
}

/// On one stream after another, many messages wait for the stream's first message. In the end, one message of
/// each stream still waits.
#[test]
fn memory_of_messages_that_were_read_is_freed() {
    let mut victim = Victim::new();
    let (many, streams) = (8000_u16, 40);
    let mut tsn = 1;
    for stream in 1..=streams {
        let waiting = (1..many).chain([many + 1]);
        victim.flood(waiting.zip(tsn + 1..).map(|(ssn, n)| (n, stream, ssn, 10)));
        victim.flood(std::iter::once((tsn, stream, 0, 10)));
        tsn += u32::from(many) + 1;
        assert_eq!(victim.read_all(), usize::from(many));
    }
    let most = (64 + 1024) * isize::try_from(streams).unwrap() + CONSTANT;
    assert!(victim.more() <= most, "{} bytes", victim.more());
    let all = (1..=streams).zip(tsn..).map(|(stream, n)| (n, stream, many, 10));
    victim.flood(all);
    assert_eq!(victim.read_all(), 2 * usize::from(streams));
    assert!(victim.more() <= 64 * streams as isize + CONSTANT, "{} bytes", victim.more());
}

/// A message of one byte counts as 64 bytes in the buffer, and takes at most 96 bytes of memory.
#[test]
fn a_full_buffer_takes_memory_in_proportion() {
    for (length, times) in [(1, 1.5), (1452, 1.25)] {
        for spread in [1, 16_000] {
            let mut victim = Victim::new();
            let message = |n: u32| (n + 1, (n % spread) as u16, (n / spread) as u16 + 1, length);
            victim.flood((1..40_000).map(message));
            let held = victim.more() - 64 * spread as isize;
            let most = (BUFFER as f64 * times) as isize + CONSTANT;
            assert!(held <= most, "{held} bytes for messages of {length} bytes on {spread} streams");
        }
    }
}

/// After a message of 140 KB the server may reserve memory for another message of this length, but not for
/// each first fragment that arrives. The memory of a long message grows as its fragments arrive.
#[test]
fn fragments_take_memory_in_proportion() {
    for length in [1, 1000, 1452] {
        for (flags, step) in [("B", 2), ("", 2), ("", 1)] {
            let mut victim = Victim::new();
            for (n, flags) in [(1, "B"), (2, ""), (98, "E")] {
                let last = if n == 2 { 98 } else { n + 1 };
                victim.take(flags, (n..last).map(|n| (n, 1, 0, 1452)));
            }
            assert_eq!(victim.read_all(), 1);
            victim.take(flags, (0..2000).map(|n| (100 + n * step, 1, 1, length)));
            let most = if length < 1452 { BUFFER * 3 / 2 } else { BUFFER * 5 / 4 } + CONSTANT;
            assert!(victim.more() <= most, "{} bytes: {flags:?}, {length}, {step}", victim.more());
        }
    }
}

/// Fragments of one byte, each with a record of its own, count as 128 bytes.
#[test]
fn interleaved_fragments_take_memory_in_proportion() {
    let config = Config { interleaving: true, ..Config::default() };
    let count = 40_000;
    type Number = fn(u32) -> (u16, u32, u32);
    let cases: [(&str, &str, Number); 7] = [
        ("beginnings, one on each stream", "B", |n| (n as u16, 1, 0)),
        ("beginnings on one stream", "B", |n| (1, n, 0)),
        ("unordered beginnings on one stream", "BU", |n| (1, n, 0)),
        ("middles of one message", "", |n| (1, 1, 2 * n)),
        ("middles of many messages", "", |n| (1, n, 1)),
        ("every other fragment, in order", "", |n| (1, 1, n)),
        ("whole messages", "BE", |n| (1, n + 1, 0)),
    ];
    for (case, flags, number) in cases {
        for step in [1, 2] {
            let mut victim = Victim::with(&config);
            victim.interleave(
                flags,
                (1..count).map(|n| {
                    let (stream, mid, fsn) = number(n);
                    (1 + n * step, stream, mid, fsn)
                }),
            );
            let held = victim.more() - if case.contains("each stream") { 64 * count as isize } else { 0 };
            assert!(held <= BUFFER * 3 / 2 + CONSTANT, "{held} bytes: {case}, step {step}");
        }
    }
}

#[test]
fn sending_on_the_last_stream_takes_what_one_on_the_first_takes() {
    let mut victim = Victim::new();
    let (now, id) = (victim.pair.now, victim.id);
    let server = victim.pair.endpoint(Side::Server);
    let last = StreamId(u16::MAX - 1);
    server.send(now, id, Message { stream: last, ..Message::new(Payload::Filler(10)) }).unwrap();
    while server.poll_transmit(now, &mut victim.buf).is_some() {}
    assert!(victim.more() < 4096, "{} bytes", victim.more());
}
