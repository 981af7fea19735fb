mod ends;
mod seen;

use super::*;
use transport::PacketBuf;
use units::{Instant, Span};
use wire::{CommonHeader, Data, DataFlags, GapBlock, PacketWriter, Ppid, Ssn, StreamId, Tsn};

/// A classic pcap file of raw IP packets, for tests.
struct File(Vec<u8>);

const A: [u8; 4] = [10, 0, 0, 1];
const B: [u8; 4] = [10, 0, 0, 2];

impl File {
    fn new() -> Self {
        let words = [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 65_535, 101];
        File(words.into_iter().flat_map(u32::to_le_bytes).collect())
    }

    /// Appends an SCTP packet from A to B, or back, at a time in milliseconds.
    fn packet(&mut self, millis: u32, back: bool, write: impl FnOnce(&mut PacketWriter<'_>)) {
        let mut buf = PacketBuf::default();
        let (source_port, destination_port, tag) = if back { (2, 1, 22) } else { (1, 2, 11) };
        let header = CommonHeader { source_port, destination_port, verification_tag: tag };
        let mut w = PacketWriter::new(&mut buf, header, 1480);
        write(&mut w);
        w.finish(Checksum::Computed);
        let payload = buf.as_octets().to_vec();
        let length = 20 + payload.len();
        let mut ip = vec![0x45, 0, (length >> 8) as u8, length as u8, 0, 0, 0, 0, 64, 132, 0, 0];
        let (src, dst) = if back { (B, A) } else { (A, B) };
        ip.extend(src.into_iter().chain(dst).chain(payload));
        let words = [millis / 1000, millis % 1000 * 1000, ip.len() as u32, ip.len() as u32];
        self.0.extend(words.into_iter().flat_map(u32::to_le_bytes));
        self.0.extend(ip);
    }

    fn data(&mut self, millis: u32, tsns: &[u32]) {
        self.packet(millis, false, |w| {
            for &tsn in tsns {
                let flags = DataFlags { beginning: true, ending: true, ..DataFlags::default() };
                let payload = Octets::new(&[], 100);
                let (stream, ssn, ppid) = (StreamId(0), Ssn(0), Ppid(0));
                assert!(w.push(&Data { flags, tsn: Tsn(tsn), stream, ssn, ppid, payload }));
            }
        });
    }

    fn sack(&mut self, millis: u32, cumulative: u32, a_rwnd: u32, gaps: &[(u16, u16)], duplicates: &[u32]) {
        let duplicates: Vec<Tsn> = duplicates.iter().map(|&tsn| Tsn(tsn)).collect();
        let gaps = gaps.iter().map(|&(start, end)| GapBlock { start, end });
        self.packet(millis, true, |w| assert!(w.sack(Tsn(cumulative), a_rwnd, 0, gaps, &duplicates)));
    }

    fn only(&self) -> DirectionReport {
        let report = read_capture(self.0.as_slice()).expect("a capture");
        assert_eq!(report.directions.len(), 1);
        report.directions.into_iter().next().expect("one")
    }
}

#[test]
fn data_and_acknowledgements_are_counted() {
    let mut file = File::new();
    file.data(0, &[1, 2]);
    file.sack(30, 2, 10_000, &[], &[]);
    file.data(100, &[3]);
    file.sack(150, 3, 10_000, &[], &[]);
    let found = file.only();
    assert_eq!((found.ports, found.user_bytes, found.time), ((1, 2), 300, Span::from_millis(100)));
    let path = &found.paths[0];
    assert_eq!((path.packets, path.chunks, path.user_bytes, path.retransmissions), (2, 3, 300, 0));
    // Each packet has 32 bytes of IP header and common header, each chunk 16 bytes of header and 100 of data.
    assert_eq!((path.bytes, path.sacks, path.sack_bytes), (32 + 232 + 32 + 116, 2, 2 * (20 + 12 + 16)));
    let times = [30, 40, 50].map(Span::from_millis);
    assert_eq!(path.rtt, Some(Rtt { least: times[0], mean: times[1], greatest: times[2] }));
}

#[test]
fn a_retransmission_is_needless_if_the_receiver_had_the_chunk() {
    let mut file = File::new();
    file.data(0, &[1]);
    file.data(1, &[2]);
    file.data(2, &[3]);
    file.data(3, &[4]);
    file.sack(30, 0, 10_000, &[(2, 4)], &[]);
    file.data(40, &[1]); // lost
    file.data(41, &[3]); // acknowledged by a gap ack block
    file.sack(60, 4, 10_000, &[], &[3]);
    file.data(70, &[2]); // acknowledged cumulatively
    let path = file.only().paths[0].clone();
    assert_eq!((path.retransmissions, path.needless), (3, 2));
    // Karn's rule: only chunk 4 gives a sample.
    assert_eq!(
        path.rtt.map(|rtt| (rtt.least, rtt.greatest)),
        Some((Span::from_millis(27), Span::from_millis(27)))
    );
}

#[test]
fn a_duplicate_makes_a_retransmission_needless_that_was_sent_before_its_acknowledgement() {
    let mut file = File::new();
    file.data(0, &[1]);
    file.data(10, &[1]);
    file.sack(30, 1, 10_000, &[], &[]);
    file.sack(40, 1, 10_000, &[], &[1]);
    file.sack(50, 1, 10_000, &[], &[1]); // duplicated by the network
    let path = file.only().paths[0].clone();
    assert_eq!((path.retransmissions, path.needless), (1, 1));
}

#[test]
fn packets_that_stand_behind_later_ones_count_at_their_time() {
    let mut file = File::new();
    file.data(0, &[1]);
    file.sack(31, 1, 10_000, &[], &[]);
    file.sack(35, 2, 10_000, &[], &[]);
    file.data(2, &[2]); // from another interface, written later by dumpcap
    file.data(40, &[2]);
    let path = file.only().paths[0].clone();
    assert_eq!((path.chunks, path.retransmissions, path.needless), (3, 1, 1));
    let rtt = path.rtt.expect("samples");
    assert_eq!((rtt.least, rtt.greatest), (Span::from_millis(31), Span::from_millis(33)));
}

#[test]
fn a_sack_that_was_not_captured_whole_is_reported() {
    let mut file = File::new();
    file.data(0, &[1, 2, 3]);
    let sack = file.0.len();
    file.sack(30, 0, 10_000, &[(2, 3)], &[]);
    // The last four bytes, which are the gap ack block, are not captured.
    let captured = (file.0.len() - sack - 16 - 4) as u32;
    file.0[sack + 8..][..4].copy_from_slice(&captured.to_le_bytes());
    file.0.truncate(file.0.len() - 4);
    let report = read_capture(file.0.as_slice()).expect("a capture");
    assert_eq!(
        (report.sctp_packets, report.not_decoded.count(Missed::CutSack), report.truncated),
        (2, 1, false)
    );
    assert_eq!(report.directions[0].paths[0].sacks, 0);
}

#[test]
fn packets_wait_a_second_for_earlier_ones() {
    let mut file = File::new();
    file.data(0, &[1]);
    file.sack(30, 1, 10_000, &[], &[]);
    file.data(2000, &[2]);
    // This packet stands too late in the file to be sorted before the SACK.
    file.data(1, &[1]);
    let path = file.only().paths[0].clone();
    assert_eq!((path.chunks, path.retransmissions, path.needless), (3, 1, 1));
}

#[test]
fn the_window_is_closed_while_it_has_no_room_for_a_chunk() {
    let mut file = File::new();
    file.data(0, &[1]);
    file.sack(20, 1, 250, &[], &[]);
    file.data(30, &[2]);
    file.data(40, &[3]); // 200 of 250 bytes are outstanding
    file.sack(70, 3, 250, &[], &[]);
    file.data(100, &[4]);
    assert_eq!(file.only().closed, Span::from_millis(30));
}

#[test]
fn tsns_that_wrap_stay_in_order() {
    let mut file = File::new();
    file.data(0, &[u32::MAX]);
    file.data(1, &[0]);
    file.data(2, &[1]);
    file.sack(30, 0, 10_000, &[], &[]);
    file.data(40, &[1]);
    file.sack(60, 1, 10_000, &[], &[]);
    let found = file.only();
    assert_eq!((found.user_bytes, found.paths[0].retransmissions, found.paths[0].needless), (300, 1, 0));
}

#[test]
fn packets_of_other_addresses_belong_to_the_association_of_their_tag() {
    let mut file = File::new();
    file.data(0, &[1]);
    file.data(1, &[2]);
    let second = file.0.len();
    file.data(2, &[3]);
    // The last packet comes from another address.
    file.0[second + 16 + 12] = 11;
    let found = file.only();
    assert_eq!((found.paths.len(), found.paths[0].packets, found.paths[1].packets), (2, 2, 1));
}

#[test]
fn an_init_that_was_cut_does_not_divide_its_association() {
    let mut file = File::new();
    // Side A sends packets with the verification tag 0, as in an INIT, then with the tag of side B.
    file.data(0, &[1]);
    file.0[24 + 16 + 20 + 4..][..4].copy_from_slice(&[0; 4]);
    file.sack(1, 0, 10_000, &[], &[]);
    file.data(2, &[1]);
    file.sack(30, 1, 10_000, &[], &[]);
    assert_eq!(file.only().paths[0].sacks, 2);
}

#[test]
fn sctp_in_udp_at_any_port_is_found_by_its_checksum() {
    let mut raw = File::new();
    raw.data(0, &[1]);
    raw.data(5, &[2]);
    let mut file = File::new().0;
    let mut rest = &raw.0[24..];
    while !rest.is_empty() {
        let length = u32::from_le_bytes([rest[8], rest[9], rest[10], rest[11]]) as usize;
        let (packet, after) = rest.split_at(16 + length);
        let mut ip = packet[16..36].to_vec();
        ip[2..4].copy_from_slice(&(length as u16 + 8).to_be_bytes());
        ip[9] = 17;
        ip.extend([0x30, 0x39, 0x30, 0x3a]);
        ip.extend(((length - 20 + 8) as u16).to_be_bytes());
        ip.extend([0, 0]);
        ip.extend_from_slice(&packet[36..]);
        file.extend_from_slice(&packet[..8]);
        file.extend([ip.len() as u32; 2].into_iter().flat_map(u32::to_le_bytes));
        file.extend(ip);
        rest = after;
    }
    let report = read_capture(file.as_slice()).expect("a capture");
    assert_eq!((report.frames, report.sctp_packets, report.directions[0].paths[0].packets), (2, 2, 2));
    // Without a valid checksum the datagrams are plain UDP.
    let damaged = file.len() - 1;
    file[damaged] ^= 1;
    let first_only = read_capture(file.as_slice()).expect("a capture");
    assert_eq!(first_only.sctp_packets, 2, "its flow is known by then");
    let first = 24 + 16 + 20 + 8 + 8;
    file[first] ^= 1;
    assert_eq!(read_capture(file.as_slice()).expect("a capture").sctp_packets, 0);
}

#[test]
fn a_hostile_capture_costs_no_more_than_its_size() {
    let mut file = File::new();
    for n in 0..5000u32 {
        // Random TSNs, and gap ack blocks over everything.
        file.data(n, &[n.wrapping_mul(0x9e37_79b9)]);
        file.sack(n, n.wrapping_mul(0x7f4a_7c15), 0, &[(1, u16::MAX), (u16::MAX, 1), (0, 0)], &[n, n, n]);
    }
    let found = read_capture(file.0.as_slice()).expect("a capture");
    assert_eq!(found.directions[0].paths[0].packets, 5000);
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(500))]

    #[test]
    fn damaged_captures_are_read_without_panic(
        changes in proptest::collection::vec((0usize..4000, proptest::prelude::any::<u8>()), 0..40),
    ) {
        let mut file = File::new();
        for n in 0..20 {
            file.data(10 * n, &[2 * n, 2 * n + 1]);
            file.sack(10 * n + 5, 2 * n, 5000, &[(1, 1)], &[n]);
        }
        for (place, byte) in changes {
            let place = place % file.0.len();
            file.0[place] = byte;
        }
        let _ = read_capture(file.0.as_slice());
        let _ = Instant::ZERO;
    }
}
