//! What a watched endpoint of SCTP sent and received, for probes that record single chunks.

use std::net::IpAddr;
use transport::{Checksum, Octets};
use wire::{Chunk, GapBlock, Packet, Tsn};

/// The user data and the acknowledgements of an endpoint since they were last taken.
#[derive(Debug, Default)]
pub(crate) struct ChunkLog {
    notes: Vec<Note>,
}

/// A chunk with data that was sent, or an acknowledgement that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Note {
    /// The address of this endpoint.
    pub(crate) local: IpAddr,
    /// The address of the peer.
    pub(crate) remote: IpAddr,
    /// The port of the peer.
    pub(crate) port: u16,
    pub(crate) what: Noted,
}

/// What a [`Note`] is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Noted {
    /// A DATA or I-DATA chunk, with the bytes of its user data.
    Data { tsn: Tsn, bytes: usize },
    /// A SACK or NR-SACK. `gap` and `non_renegable` are the highest TSNs in its gap ack blocks of each kind; without one,
    /// the cumulative TSN. `early` is the number of chunks in all blocks.
    Ack { cumulative: Tsn, gap: Tsn, non_renegable: Option<Tsn>, early: u32, a_rwnd: u32 },
}

impl ChunkLog {
    /// Takes the chunks with data of a packet that the endpoint sends.
    pub(super) fn sent(&mut self, local: IpAddr, remote: IpAddr, bytes: Octets<'_>) {
        let Ok(packet) = Packet::parse(bytes, Checksum::Offloaded) else { return };
        let port = packet.header.destination_port;
        let data = packet.chunks().map_while(Result::ok).filter_map(|chunk| match chunk {
            Chunk::Data(data) => Some(Noted::Data { tsn: data.tsn, bytes: data.payload.len() }),
            Chunk::IData(data) => Some(Noted::Data { tsn: data.tsn, bytes: data.payload.len() }),
            _ => None,
        });
        self.notes.extend(data.map(|what| Note { local, remote, port, what }));
    }

    /// Takes the acknowledgements of a packet that arrived.
    pub(super) fn received(&mut self, local: IpAddr, remote: IpAddr, bytes: Octets<'_>) {
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
        self.notes.extend(acks.map(|what| Note { local, remote, port, what }));
    }

    /// Everything noted since the last call, in order.
    pub(crate) fn take(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }
}

fn highest(cumulative: Tsn, blocks: impl Iterator<Item = GapBlock>) -> Tsn {
    cumulative.add(blocks.map(|block| u32::from(block.end)).max().unwrap_or(0))
}

/// The number of chunks in gap ack blocks.
fn chunks(blocks: impl Iterator<Item = GapBlock>) -> u32 {
    blocks.map(|block| u32::from(block.end.saturating_sub(block.start)) + 1).sum()
}
