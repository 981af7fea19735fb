//! Properties that hold for any bytes and any chunks.

mod specimen;

use anabranch_wire::{Chunk, ChunkError, CommonHeader, Encode, Packet, PacketError, PacketWriter, Tsn};
use proptest::prelude::*;
use specimen::{Specimen, gap_blocks, specimens};
use transport::{Checksum, Octets, PacketBuf};

const HEADER: CommonHeader = CommonHeader { source_port: 1, destination_port: 2, verification_tag: 3 };

/// Writes the first chunks that fit into a packet of `limit` bytes. Also returns their number.
fn write(specimens: &[Specimen], limit: usize, checksum: Checksum) -> (PacketBuf, usize) {
    let mut buf = PacketBuf::default();
    let mut writer = PacketWriter::new(&mut buf, HEADER, limit);
    let fit = specimens.iter().take_while(|specimen| writer.push(&specimen.chunk())).count();
    writer.finish(checksum);
    (buf, fit)
}

/// Decodes everything in a packet, including the parameters in error causes.
fn read_everything<'a>(packet: &Packet<'a>) -> Vec<Result<Chunk<'a>, ChunkError>> {
    let chunks: Vec<_> = packet.chunks().collect();
    for chunk in chunks.iter().flatten() {
        if let Chunk::ReConfig(chunk) = chunk {
            let _ = chunk.parameters();
        }
    }
    assert!(!format!("{chunks:?}").is_empty(), "printing reads every parameter, cause and gap block");
    chunks
}

/// Chunk headers with short lengths, which form a valid packet more often than random bytes do.
fn plausible() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        (prop_oneof![0u8..16, Just(0x80), Just(0x82), Just(0xc0)], any::<u8>(), 0u8..40)
            .prop_map(|(kind, flags, length)| [kind, flags, 0, length]),
        (0u8..20, 0u8..24).prop_map(|(kind, length)| [0, kind, 0, length]),
        any::<[u8; 4]>(),
    ];
    prop::collection::vec(word, 0..40).prop_map(|words| [&[0; 12], words.as_flattened()].concat())
}

fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![prop::collection::vec(any::<u8>(), 0..300), plausible()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parsing_random_bytes_never_panics(bytes in any_bytes(), zeros in 0usize..70_000) {
        for octets in [Octets::from(bytes.as_slice()), Octets::new(&bytes, zeros % 9), Octets::new(&bytes, zeros)] {
            for checksum in [Checksum::Computed, Checksum::Offloaded] {
                if let Ok(packet) = Packet::parse(octets, checksum) {
                    read_everything(&packet);
                }
            }
        }
    }

    #[test]
    fn parsed_chunks_are_never_longer_than_the_packet(bytes in plausible(), zeros in 0usize..3000) {
        let packet = Packet::parse(Octets::new(&bytes, zeros), Checksum::Offloaded).unwrap();
        let read: usize = packet.chunks().flatten().map(|chunk| chunk.encoded_len()).sum();
        prop_assert!(CommonHeader::LEN + read <= bytes.len() + zeros);
    }

    #[test]
    fn parsed_chunks_encode_and_parse_to_the_same_chunks(bytes in plausible()) {
        let packet = Packet::parse(bytes.as_slice().into(), Checksum::Offloaded).unwrap();
        for chunk in packet.chunks().flatten() {
            let mut buf = PacketBuf::default();
            let mut writer = PacketWriter::new(&mut buf, HEADER, 1 << 16);
            prop_assert!(writer.push(&chunk));
            let again = Packet::parse(buf.as_octets(), Checksum::Offloaded).unwrap();
            prop_assert!(again.chunks().eq([Ok(chunk)]), "{chunk:?}");
        }
    }

    #[test]
    fn unstored_zeros_parse_like_stored_zeros(bytes in plausible(), zeros in 0usize..100) {
        let split = Octets::new(&bytes, zeros);
        let stored = split.to_vec();
        let of_split = Packet::parse(split, Checksum::Offloaded).unwrap();
        let of_stored = Packet::parse(stored.as_slice().into(), Checksum::Offloaded).unwrap();
        for (chunk, stored) in read_everything(&of_split).into_iter().zip(read_everything(&of_stored)) {
            if let Err(ChunkError::ZerosInControl { .. }) = chunk {
                break;
            }
            prop_assert_eq!(chunk, stored);
        }
    }

    #[test]
    fn a_packet_of_random_chunks_parses_to_the_same_chunks(chunks in specimens(), limit in 12usize..4000) {
        let (mut buf, fit) = write(&chunks, limit, Checksum::Computed);
        prop_assert!(buf.len() <= limit);
        prop_assert_eq!(buf.len() % 4, 0);
        let expected: Vec<_> = chunks[..fit].iter().map(|specimen| Ok(specimen.chunk())).collect();
        let packet = Packet::parse(buf.as_octets(), Checksum::Computed).unwrap();
        prop_assert_eq!(packet.header, HEADER);
        prop_assert_eq!(read_everything(&packet), expected.clone());
        buf.materialise();
        let packet = Packet::parse(buf.as_octets(), Checksum::Computed).unwrap();
        prop_assert_eq!(read_everything(&packet), expected);
    }

    #[test]
    fn a_chunk_is_written_if_and_only_if_there_is_room(chunks in specimens(), limit in 12usize..1500) {
        let mut buf = PacketBuf::default();
        let mut writer = PacketWriter::new(&mut buf, HEADER, limit);
        for specimen in &chunks {
            let (chunk, room) = (specimen.chunk(), writer.room());
            let written = writer.push(&chunk);
            prop_assert_eq!(written, chunk.encoded_len() <= room);
            let used = if written { chunk.encoded_len().next_multiple_of(4) } else { 0 };
            prop_assert_eq!(writer.room(), room - used);
        }
    }

    #[test]
    fn a_packet_with_one_inverted_bit_never_passes_the_checksum(chunks in specimens(), at in any::<prop::sample::Index>()) {
        let (mut buf, _) = write(&chunks, 4000, Checksum::Computed);
        buf.materialise();
        let bit = at.index(buf.len() * 8);
        buf.head[bit / 8] ^= 1 << (bit % 8);
        let damaged = Packet::parse(buf.as_octets(), Checksum::Computed);
        prop_assert!(matches!(damaged, Err(PacketError::BadChecksum { .. })), "bit {}", bit);
    }

    #[test]
    fn parsing_a_mutated_packet_never_panics(
        chunks in specimens(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let (mut buf, _) = write(&chunks, 4000, Checksum::Offloaded);
        for (at, byte) in changes {
            let at = at.index(buf.head.len());
            buf.head[at] = byte;
        }
        buf.head.truncate(cut.index(buf.head.len()).max(CommonHeader::LEN));
        let packet = Packet::parse(buf.as_octets(), Checksum::Offloaded).unwrap();
        read_everything(&packet);
    }

    #[test]
    fn a_sack_round_trip_keeps_all_fields(
        cumulative: u32,
        a_rwnd: u32,
        packets in 0u8..4,
        gaps in gap_blocks(),
        nr_gaps in gap_blocks(),
        duplicates in prop::collection::vec(any::<u32>().prop_map(Tsn), 0..9),
        limit in 32usize..160,
    ) {
        let cumulative = Tsn(cumulative);
        let mut buf = PacketBuf::default();
        let mut writer = PacketWriter::new(&mut buf, HEADER, limit);
        prop_assert!(writer.sack(cumulative, a_rwnd, packets, gaps.iter().copied(), &duplicates));
        let packet = Packet::parse(buf.as_octets(), Checksum::Offloaded).unwrap();
        let Some(Ok(Chunk::Sack(sack))) = packet.chunks().next() else { panic!("not SACK") };
        prop_assert_eq!((sack.cumulative_tsn_ack, sack.a_rwnd), (cumulative, a_rwnd));
        prop_assert_eq!(sack.packets_since_last, packets);
        let entries = (limit - 12 - 16) / 4;
        prop_assert!(sack.gap_blocks().eq(gaps.iter().copied().take(entries)));
        let left = entries - sack.gap_blocks().len();
        prop_assert!(sack.duplicates().eq(duplicates.iter().copied().take(left)));

        let mut writer = PacketWriter::new(&mut buf, HEADER, 4000);
        prop_assert!(writer.nr_sack(cumulative, a_rwnd, packets, &gaps, &nr_gaps, &duplicates));
        let packet = Packet::parse(buf.as_octets(), Checksum::Offloaded).unwrap();
        let Some(Ok(Chunk::NrSack(sack))) = packet.chunks().next() else { panic!("not NR-SACK") };
        prop_assert_eq!((sack.cumulative_tsn_ack, sack.a_rwnd), (cumulative, a_rwnd));
        prop_assert!(sack.gap_blocks().eq(gaps) && sack.nr_gap_blocks().eq(nr_gaps));
        prop_assert!(sack.duplicates().eq(duplicates));
    }

    #[test]
    fn serial_numbers_keep_their_distance(start: u32, steps in 1u32..1 << 31) {
        let (first, second) = (Tsn(start), Tsn(start).add(steps));
        prop_assert!(first.precedes(second) && !second.precedes(first));
        prop_assert_eq!(second.distance_from(first), steps);
        prop_assert_eq!(second.next().previous(), second);
    }
}
