//! Tests the sender with results calculated by hand, and with random histories.

mod abandonment;
mod asking;
mod cost;
mod delays;
mod ecn;
mod pacing;
mod packet_drop;
mod probe;
mod rack;
mod random;
mod recovery;
mod reinjection;
mod retransmission;
mod samples;
mod schedulers;
mod send_buffer;
mod stall;
mod vectors;

use super::{SackDelta, SackOutcome, Sender};
use crate::chunks::{ChunkState, Mark};
use crate::config::{Accounting, Cmt, Config};
use crate::message::{Message, MessageId, Payload, SendError};
use crate::path::Life;
use crate::path::{NIL, Path, PathId, PathState, Paths};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use transport::{Checksum, PacketBuf};
use units::{ByteCount, Instant, Span};
use wire::{Chunk, CommonHeader, GapBlock, Packet, PacketWriter, Tsn};

pub(super) const P1: PathId = PathId(0);
pub(super) const P2: PathId = PathId(1);
pub(super) const CHUNK: u64 = 1452;

fn ms(n: u64) -> Span {
    Span::from_millis(n)
}

/// A sender with established paths. The test acts as the network and the peer.
pub(super) struct Rig {
    pub(super) sender: Sender,
    pub(super) paths: Paths,
    /// The changes of the last SACK.
    delta: SackDelta,
    pub(super) now: Instant,
    buf: PacketBuf,
}

pub(super) fn cmt(cmt: Cmt) -> Config {
    Config {
        cmt: Cmt { enabled: true, ..cmt },
        accounting: Accounting::Payload,
        growth: cc::GrowthRule::Rfc4960,
        send_buffer: ByteCount::new(1 << 30).into(),
        ..Config::default()
    }
}

impl Rig {
    /// Creates `n` active paths. The first chunk gets TSN `first`.
    pub(super) fn new(config: &Config, n: u8, first: u32) -> Rig {
        let mut paths = Paths::default();
        for k in 1..=n {
            let address = |host| IpAddr::V4(Ipv4Addr::new(10, k, 0, host));
            let mut path = Path::new(address(2), address(1), config);
            path.state = PathState::Active;
            paths.add(path);
        }
        let mut sender = Sender::new(Arc::new(config.clone()), 7, Tsn(first));
        sender.establish(Instant::ZERO, 1 << 30, 1, 0, &mut paths);
        let now = Instant::ZERO + Span::from_secs(1);
        Rig { sender, paths, delta: SackDelta::default(), now, buf: PacketBuf::default() }
    }

    pub(super) fn push(&mut self, message: Message) -> Result<Option<MessageId>, SendError> {
        self.sender.push(self.now, message, &mut self.paths)
    }

    /// Advances the time and wakes the sender.
    pub(super) fn pass(&mut self, span: Span) {
        self.now += span;
        self.sender.wake(self.now, &mut self.paths);
    }

    /// Sends one new full chunk on path `p`, even if cwnd is full.
    fn transmit(&mut self, p: PathId) {
        self.push(Message { unordered: true, ..Message::new(Payload::Filler(CHUNK as u32)) }).unwrap();
        let header = CommonHeader { source_port: 1, destination_port: 2, verification_tag: 3 };
        let limit = self.paths[p].packet_limit();
        let mut w = PacketWriter::new(&mut self.buf, header, limit);
        assert_eq!(self.sender.write_new(self.now, p, &mut self.paths, &mut w), 1);
        let rto = self.paths[p].rto.current();
        self.paths[p].t3.get_or_insert(self.now + rto);
        self.paths[p].last_data = Some(self.now);
    }

    /// Sends the next planned packet. Returns its path and TSNs.
    pub(super) fn poll(&mut self) -> Option<(PathId, Vec<u32>)> {
        let plan = self.sender.next_packet(&mut self.paths, None)?;
        let header = CommonHeader { source_port: 1, destination_port: 2, verification_tag: 3 };
        let limit = self.paths[plan.path].packet_limit();
        let mut w = PacketWriter::new(&mut self.buf, header, limit);
        self.sender.write(self.now, &plan, &mut self.paths, &mut w);
        w.finish(Checksum::Offloaded);
        let packet = Packet::parse(self.buf.as_octets(), Checksum::Offloaded).unwrap();
        let tsns = packet.chunks().map(|chunk| match chunk {
            Ok(Chunk::Data(data)) => data.tsn.0,
            other => panic!("not data: {other:?}"),
        });
        let tsns: Vec<u32> = tsns.collect();
        // rfc9260#section-6.10
        let ascend = tsns.windows(2).all(|pair| Tsn(pair[0]).precedes(Tsn(pair[1])));
        assert!(ascend, "TSNs ascend within a packet: {tsns:?}");
        Some((plan.path, tsns))
    }

    pub(super) fn try_sack(
        &mut self,
        cum: u32,
        gaps: &[(u32, u32)],
        packets: u8,
        a_rwnd: u32,
    ) -> Result<SackOutcome, &'static str> {
        let header = CommonHeader { source_port: 2, destination_port: 1, verification_tag: 4 };
        let mut buf = PacketBuf::default();
        let mut w = PacketWriter::new(&mut buf, header, 1480);
        let offset = |tsn: u32| tsn.wrapping_sub(cum) as u16;
        let blocks = gaps.iter().map(|&(a, b)| GapBlock { start: offset(a), end: offset(b) });
        assert!(w.sack(Tsn(cum), a_rwnd, packets, blocks, &[]));
        w.finish(Checksum::Offloaded);
        let packet = Packet::parse(buf.as_octets(), Checksum::Offloaded).unwrap();
        let Some(Ok(Chunk::Sack(sack))) = packet.chunks().next() else { panic!("no SACK") };
        let outcome = self.sender.take_sack(self.now, &sack, &mut self.paths, &mut self.delta);
        self.sender.wake(self.now, &mut self.paths);
        self.audit();
        outcome
    }

    /// Processes a SACK without gaps that reports duplicates.
    fn duplicates(&mut self, cum: u32, duplicates: &[u32]) {
        let header = CommonHeader { source_port: 2, destination_port: 1, verification_tag: 4 };
        let mut buf = PacketBuf::default();
        let mut w = PacketWriter::new(&mut buf, header, 1480);
        let duplicates: Vec<Tsn> = duplicates.iter().map(|&tsn| Tsn(tsn)).collect();
        assert!(w.sack(Tsn(cum), 1 << 30, 1, [].into_iter(), &duplicates));
        w.finish(Checksum::Offloaded);
        let packet = Packet::parse(buf.as_octets(), Checksum::Offloaded).unwrap();
        let Some(Ok(Chunk::Sack(sack))) = packet.chunks().next() else { panic!("no SACK") };
        self.sender.on_sack(self.now, &sack, &mut self.paths).unwrap();
        self.sender.wake(self.now, &mut self.paths);
        self.audit();
    }

    /// Processes an NR-SACK with renegable `gaps` and non-renegable `nr_gaps`.
    pub(super) fn nr_sack(&mut self, cum: u32, gaps: &[(u32, u32)], nr_gaps: &[(u32, u32)]) -> SackOutcome {
        self.nr_sack_with(cum, gaps, nr_gaps, 1 << 30)
    }

    pub(super) fn nr_sack_with(
        &mut self,
        cum: u32,
        gaps: &[(u32, u32)],
        nr_gaps: &[(u32, u32)],
        a_rwnd: u32,
    ) -> SackOutcome {
        let header = CommonHeader { source_port: 2, destination_port: 1, verification_tag: 4 };
        let mut buf = PacketBuf::default();
        let mut w = PacketWriter::new(&mut buf, header, 1480);
        let offset = |tsn: u32| tsn.wrapping_sub(cum) as u16;
        let blocks = |gaps: &[(u32, u32)]| -> Vec<GapBlock> {
            gaps.iter().map(|&(a, b)| GapBlock { start: offset(a), end: offset(b) }).collect()
        };
        assert!(w.nr_sack(Tsn(cum), a_rwnd, 0, &blocks(gaps), &blocks(nr_gaps), &[]));
        w.finish(Checksum::Offloaded);
        let packet = Packet::parse(buf.as_octets(), Checksum::Offloaded).unwrap();
        let Some(Ok(Chunk::NrSack(sack))) = packet.chunks().next() else { panic!("no NR-SACK") };
        let outcome = self.sender.take_nr_sack(self.now, &sack, &mut self.paths, &mut self.delta).unwrap();
        self.sender.wake(self.now, &mut self.paths);
        self.audit();
        outcome
    }

    fn state(&self, tsn: u32) -> ChunkState {
        self.sender.out[self.index(tsn)].state
    }

    pub(super) fn sack(&mut self, cum: u32, gaps: &[(u32, u32)], packets: u8) -> SackOutcome {
        self.try_sack(cum, gaps, packets, 1 << 30).unwrap()
    }

    pub(super) fn t3(&mut self, p: PathId) {
        self.sender.on_t3(self.now, p, &mut self.paths);
        self.sender.wake(self.now, &mut self.paths);
        self.audit();
    }

    fn abandon(&mut self, tsn: u32) {
        self.sender.abandon(self.index(tsn), &mut self.paths);
        self.audit();
    }

    pub(super) fn index(&self, tsn: u32) -> u64 {
        self.sender.out.index_of(Tsn(tsn))
    }

    fn missing(&self, tsn: u32) -> u8 {
        self.sender.out[self.index(tsn)].missing
    }

    pub(super) fn is_lost(&self, tsn: u32) -> bool {
        matches!(self.sender.out[self.index(tsn)].state, ChunkState::Lost(_))
    }

    /// Checks that each chunk is on the list of its state, and that all sums are right.
    pub(super) fn audit(&self) {
        let out = &self.sender.out;
        let mut flight = vec![0u64; self.paths.len()];
        let mut queued = vec![0u64; self.paths.len()];
        let (mut lost, mut lost_bytes, mut retained, mut withdrawn, mut extent) = (0, 0, 0, 0, 0);
        for i in out.indices() {
            let chunk = &out[i];
            retained += chunk.len() as u64;
            extent += if chunk.is_delivered() { 0 } else { u64::from(chunk.flight_size) };
            if chunk.state != ChunkState::Freed {
                queued[chunk.path.index()] += u64::from(chunk.flight_size);
            }
            withdrawn += u32::from(chunk.is(Mark::Credited) && !chunk.is_acked());
            match chunk.state {
                ChunkState::InFlight => flight[chunk.path.index()] += u64::from(chunk.flight_size),
                ChunkState::Lost(_) => {
                    lost += 1;
                    lost_bytes += u64::from(chunk.flight_size);
                }
                ChunkState::Acked | ChunkState::Freed => {}
                ChunkState::Abandoned => assert!(chunk.is(Mark::Abandoned)),
            }
        }
        assert_eq!(self.sender.peer.extent().get(), extent, "bytes above the cumulative TSN");
        for (path, queued) in self.paths.iter().zip(&queued) {
            assert_eq!(path.queued.get(), *queued, "bytes queued");
        }
        for (path, flight) in self.paths.iter().zip(&flight) {
            assert_eq!(path.flight.get(), *flight, "bytes in flight");
            let listed = [(path.fresh, true), (path.resent, false)].map(|(list, once)| {
                let (mut i, mut last, mut bytes) = (list.head, 0, 0);
                while i != NIL {
                    assert!(i > last, "lists are sorted");
                    assert_eq!(out[i].is_fresh(), once, "on the right list");
                    bytes += u64::from(out[i].flight_size);
                    (last, i) = (i, out.following(i));
                }
                assert!(list.tail == NIL || list.tail == last);
                bytes
            });
            assert_eq!(listed[0] + listed[1], *flight, "listed bytes");
            assert!(path.flight.is_zero() || path.t3.is_some(), "data in flight has a timer");
        }
        let lists = self.paths.iter().flat_map(|path| [path.lost_fast, path.lost_timer]);
        let waiting: usize = lists.map(|list| out.along(list).count()).sum();
        assert_eq!((waiting, self.sender.peer.lost_chunks()), (lost, lost), "lost chunks");
        assert_eq!(self.sender.peer.lost_bytes().get(), lost_bytes, "lost bytes");
        assert_eq!(self.sender.retained.get(), retained, "retained bytes");
        assert_eq!(self.sender.limits.withdrawn(), withdrawn, "withdrawn chunks");
    }
}
