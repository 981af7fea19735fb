//! Records the chunks that a watched endpoint sent and received, for probes of single chunks and for viewers.

use net::Protocol;
use std::net::IpAddr;
use tcp::segment::Segment;
use transport::{Checksum, Octets};
use units::Instant;
use wire::{Chunk, GapBlock, Packet, Tsn};

/// The user data and, for SCTP, the acknowledgements of an endpoint since they were last taken.
#[derive(Debug, Default)]
pub(crate) struct ChunkLog {
    notes: Vec<Note>,
}

/// A chunk with data that was sent, or an acknowledgement that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) at: Instant,
    /// The address of this endpoint.
    pub(crate) local: IpAddr,
    /// The address of the peer.
    pub(crate) remote: IpAddr,
    /// The port of the peer.
    pub(crate) port: u16,
    pub(crate) what: Noted,
}

/// Content of a [`Note`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noted {
    /// A DATA or I-DATA chunk, with the number of user bytes.
    Data { tsn: Tsn, bytes: usize },
    /// A SACK or NR-SACK. `gap` and `non_renegable` are the highest TSNs in gap ack blocks of each kind,
    /// or the cumulative TSN if there are no blocks. `early` is the number of chunks in all blocks.
    Ack { cumulative: Tsn, gap: Tsn, non_renegable: Option<Tsn>, early: u32, a_rwnd: u32 },
}

impl ChunkLog {
    /// Records the data chunks of a packet that the endpoint sends.
    pub(super) fn sent(
        &mut self,
        at: Instant,
        protocol: Protocol,
        [local, remote]: [IpAddr; 2],
        bytes: Octets<'_>,
    ) {
        let Some(port) = bytes.first_chunk::<4>().map(|[_, _, port @ ..]| u16::from_be_bytes(port)) else {
            return;
        };
        let data = pieces(protocol, bytes).map(|(tsn, bytes)| Noted::Data { tsn, bytes });
        self.notes.extend(data.map(|what| Note { at, local, remote, port, what }));
    }

    /// Records the acknowledgements of a packet that arrived.
    pub(super) fn received(&mut self, at: Instant, local: IpAddr, remote: IpAddr, bytes: Octets<'_>) {
        let Ok(packet) = Packet::parse(bytes, Checksum::Offloaded) else { return };
        let port = packet.header.source_port;
        let acks = packet.chunks().map_while(Result::ok).filter_map(|chunk| match chunk {
            Chunk::Sack(sack) => {
                let cumulative = sack.cumulative_tsn_ack;
                let gap = highest(cumulative, sack.gap_blocks());
                let early = chunks(sack.gap_blocks());
                Some(Noted::Ack { cumulative, gap, non_renegable: None, early, a_rwnd: sack.a_rwnd })
            }
            Chunk::NrSack(sack) => {
                let cumulative = sack.cumulative_tsn_ack;
                let non_renegable = highest(cumulative, sack.nr_gap_blocks());
                let gap = highest(cumulative, sack.gap_blocks());
                let gap = if gap.precedes(non_renegable) { non_renegable } else { gap };
                let non_renegable = Some(non_renegable);
                let early = chunks(sack.gap_blocks()) + chunks(sack.nr_gap_blocks());
                Some(Noted::Ack { cumulative, gap, non_renegable, early, a_rwnd: sack.a_rwnd })
            }
            _ => None,
        });
        self.notes.extend(acks.map(|what| Note { at, local, remote, port, what }));
    }

    /// Returns the notes (sent data, received acknowledgements) since the last call, in order.
    pub(crate) fn take(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }
}

/// The TSNs of the DATA and I-DATA chunks of a packet, or the sequence number of a TCP segment with data.
pub(crate) fn numbers(protocol: Protocol, bytes: Octets<'_>) -> impl Iterator<Item = Tsn> {
    pieces(protocol, bytes).map(|(number, _)| number)
}

/// The user data of a packet: TSN and length of each piece. For TCP, the sequence number replaces the TSN.
fn pieces(protocol: Protocol, bytes: Octets<'_>) -> impl Iterator<Item = (Tsn, usize)> {
    let of = |wanted| protocol == wanted;
    let packet = Some(bytes).filter(|_| of(Protocol::Sctp));
    let packet = packet.and_then(|bytes| Packet::parse(bytes, Checksum::Offloaded).ok());
    let chunks = packet.into_iter().flat_map(|packet| packet.chunks().map_while(Result::ok));
    let chunks = chunks.filter_map(|chunk| match chunk {
        Chunk::Data(data) => Some((data.tsn, data.payload.len())),
        Chunk::IData(data) => Some((data.tsn, data.payload.len())),
        _ => None,
    });
    // The addresses are needed only to verify a checksum, which is not done here.
    let any = IpAddr::from([0; 4]);
    let segment = Some(bytes).filter(|_| of(Protocol::Tcp));
    let segment = segment.and_then(|bytes| Segment::parse(bytes, any, any, Checksum::Offloaded).ok());
    let data = segment.filter(|segment| !segment.data.is_empty());
    chunks.chain(data.map(|segment| (Tsn(segment.header.seq.0), segment.data.len())))
}

fn highest(cumulative: Tsn, blocks: impl Iterator<Item = GapBlock>) -> Tsn {
    cumulative.add(blocks.map(|block| u32::from(block.end)).max().unwrap_or(0))
}

/// The number of chunks in gap ack blocks.
fn chunks(blocks: impl Iterator<Item = GapBlock>) -> u32 {
    blocks.map(|block| u32::from(block.end.saturating_sub(block.start)) + 1).sum()
}
