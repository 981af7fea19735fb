mod buffer;
mod cost;
mod delivery;
mod hostile;
mod interleaving;
mod lean;
mod nr_sack;
mod rules;
mod skipping;

use super::*;
use crate::config::{Cmt, Timestamps};
use transport::{Checksum, Octets, PacketBuf};
use units::Span;
use wire::{Chunk, CommonHeader, DataFlags, Mid, Packet, Ppid, StreamId};

struct Fixture {
    rx: Receiver,
    now: Instant,
}

/// The fields of a SACK.
#[derive(Debug, PartialEq, Eq)]
struct Report {
    cumulative: u32,
    a_rwnd: u32,
    packets: u8,
    gaps: Vec<(u16, u16)>,
    duplicates: Vec<u32>,
}

const STREAMS: u16 = 4;

fn budget() -> Arc<BufferBudget> {
    Arc::default()
}

impl Fixture {
    fn new(config: &Config, initial: u32) -> Self {
        Fixture {
            rx: Receiver::new(
                config,
                Tsn(initial),
                STREAMS,
                config.nr_sack,
                config.timestamps != Timestamps::Off,
                config.interleaving,
                &budget(),
            ),
            now: Instant::ZERO,
        }
    }

    /// Creates a receiver that has got the first DATA (TSN `initial`) and has sent the SACK.
    fn started(config: &Config, initial: u32) -> Self {
        let mut f = Fixture::new(config, initial);
        f.packet(&[message(initial, 10)]);
        f.report();
        f.drain();
        f
    }

    /// Processes a packet of chunks that arrives on path 0.
    fn packet(&mut self, chunks: &[Data<'_>]) -> Vec<DataVerdict> {
        let verdicts = chunks.iter().map(|data| self.rx.on_data(data, PathId(0))).collect();
        self.rx.packet_done(self.now);
        verdicts
    }

    /// Processes a packet of one chunk.
    fn take(&mut self, data: Data<'_>) -> DataVerdict {
        self.packet(&[data])[0]
    }

    /// Lets `ms` milliseconds pass.
    fn pass(&mut self, ms: u64) {
        self.now += Span::from_millis(ms);
        if self.rx.sack_deadline().is_some_and(|deadline| deadline <= self.now) {
            self.rx.on_sack_timeout(self.now);
        }
    }

    /// Writes a SACK and parses it.
    fn report(&mut self) -> Report {
        let header = CommonHeader { source_port: 1, destination_port: 2, verification_tag: 3 };
        let mut buf = PacketBuf::default();
        let mut writer = PacketWriter::new(&mut buf, header, 1480);
        assert!(self.rx.write_sack(self.now, PathId(0), &mut writer));
        writer.finish(Checksum::Offloaded);
        let packet = Packet::parse(buf.as_octets(), Checksum::Offloaded).expect("a packet");
        let Some(Ok(Chunk::Sack(sack))) = packet.chunks().next() else { panic!("no SACK") };
        Report {
            cumulative: sack.cumulative_tsn_ack.0,
            a_rwnd: sack.a_rwnd,
            packets: sack.packets_since_last,
            gaps: sack.gap_blocks().map(|block| (block.start, block.end)).collect(),
            duplicates: sack.duplicates().map(|tsn| tsn.0).collect(),
        }
    }

    /// Reads all messages. Returns their lengths.
    fn drain(&mut self) -> Vec<usize> {
        std::iter::from_fn(|| self.rx.read(usize::MAX)).map(|received| received.payload.len()).collect()
    }
}

/// A chunk of filler. `flags` has letters of U, B, E and I.
fn chunk(flags: &str, tsn: u32, stream: u16, ssn: u16, length: usize) -> Data<'static> {
    Data {
        flags: DataFlags {
            unordered: flags.contains('U'),
            beginning: flags.contains('B'),
            ending: flags.contains('E'),
            immediate: flags.contains('I'),
        },
        tsn: Tsn(tsn),
        stream: StreamId(stream),
        ssn: Ssn(ssn),
        ppid: Ppid(0),
        payload: Octets::new(&[], length),
    }
}

/// An unordered message in one chunk.
fn message(tsn: u32, length: usize) -> Data<'static> {
    chunk("UBE", tsn, 0, 0, length)
}

fn with_dac() -> Config {
    Config { cmt: Cmt { enabled: true, dac: true, ..Cmt::default() }, ..Config::default() }
}

fn with_buffer(bytes: u64) -> Config {
    Config {
        receive_buffer: ByteCount::new(bytes).into(),
        sws_limit: ByteCount::new(1500),
        ..Config::default()
    }
}
