use super::*;

fn config() -> Config {
    Config { nr_sack: true, ..with_buffer(6000) }
}

type Blocks = Vec<(u16, u16)>;

/// Writes an NR-SACK in `room` bytes. Returns its cumulative TSN, its renegable and its non-renegable blocks,
/// and the number of its duplicates.
fn report(f: &mut Fixture, room: usize) -> (u32, Blocks, Blocks, usize) {
    let header = CommonHeader { source_port: 1, destination_port: 2, verification_tag: 3 };
    let mut buf = PacketBuf::default();
    assert!(f.rx.write_sack(f.now, PathId(0), &mut PacketWriter::new(&mut buf, header, 12 + room)));
    let packet = Packet::parse(buf.as_octets(), Checksum::Offloaded).expect("a packet");
    let Some(Ok(Chunk::NrSack(sack))) = packet.chunks().next() else { panic!("no NR-SACK") };
    let gaps = sack.gap_blocks().map(|block| (block.start, block.end)).collect();
    let nr_gaps = sack.nr_gap_blocks().map(|block| (block.start, block.end)).collect();
    (sack.cumulative_tsn_ack.0, gaps, nr_gaps, sack.duplicates().len())
}

fn started(config: &Config) -> Fixture {
    let mut f = Fixture::new(config, 100);
    f.take(chunk("BE", 100, 1, 0, 10));
    report(&mut f, 100);
    f.drain();
    f
}

// draft-natarajan-tsvwg-sctp-nrsack: readable messages are non-renegable, waiting ones are renegable
#[test]
fn readable_messages_are_non_renegable() {
    let mut f = started(&config());
    f.take(message(102, 100));
    f.take(chunk("BE", 103, 1, 2, 100));
    f.take(chunk("UB", 104, 0, 0, 100));
    f.take(chunk("BE", 106, 2, 0, 100));
    assert_eq!(report(&mut f, 100), (100, vec![(3, 4)], vec![(2, 2), (6, 6)], 0));
    f.take(chunk("UE", 105, 0, 0, 100));
    assert_eq!(report(&mut f, 100), (100, vec![(3, 3)], vec![(2, 2), (4, 6)], 0));
    f.drain();
    assert_eq!(report(&mut f, 100).2, [(2, 2), (4, 6)], "read or not");
    f.take(chunk("BE", 101, 1, 1, 100));
    assert_eq!(report(&mut f, 100), (106, vec![], vec![], 0));
}

// A waiting message becomes readable above the gap: from then on it is non-renegable.
#[test]
fn a_deliverable_message_above_a_gap_is_non_renegable() {
    let mut f = started(&config());
    f.take(chunk("BE", 104, 2, 1, 100));
    assert_eq!(report(&mut f, 100), (100, vec![(4, 4)], vec![], 0));
    f.take(chunk("BE", 103, 2, 0, 100));
    assert_eq!(report(&mut f, 100), (100, vec![], vec![(3, 4)], 0));
}

// rfc9260#section-6.2: with a full buffer only renegable TSNs may be dropped
#[test]
fn a_full_buffer_reneges_on_renegable_tsns_only() {
    let mut f = started(&config());
    f.take(message(105, 1500));
    for (tsn, ssn) in [(102, 2), (103, 3), (104, 4)] {
        f.take(chunk("BE", tsn, 1, ssn, 1500));
    }
    assert_eq!(report(&mut f, 100), (100, vec![(2, 4)], vec![(5, 5)], 0));
    assert_eq!(f.take(chunk("BE", 101, 1, 1, 1500)), DataVerdict::Accepted);
    assert_eq!(report(&mut f, 100), (103, vec![], vec![(2, 2)], 0), "104 is gone, 105 is not");
}

#[test]
fn without_reneging_every_tsn_is_non_renegable() {
    let mut f = started(&Config { reneging: false, ..config() });
    f.take(chunk("BE", 103, 1, 2, 100));
    f.take(chunk("UB", 105, 0, 0, 100));
    assert_eq!(report(&mut f, 100), (100, vec![], vec![(3, 3), (5, 5)], 0));
}

// The highest blocks are left out, so that no lower TSN seems missing. The list of duplicates is shortened
// first.
#[test]
fn an_nr_sack_in_a_small_packet_reports_the_lowest_gaps() {
    let mut f = started(&config());
    for k in 0..3 {
        f.take(message(102 + 4 * k, 100));
        f.take(chunk("BE", 104 + 4 * k, 1, 2 + k as u16, 100));
    }
    f.take(message(102, 100));
    let whole = (100, vec![(4, 4), (8, 8), (12, 12)], vec![(2, 2), (6, 6), (10, 10)], 1);
    assert_eq!(report(&mut f, 20 + 4 * 7), whole);
    f.take(message(102, 100));
    assert_eq!(report(&mut f, 20 + 4 * 3), (100, vec![(4, 4)], vec![(2, 2), (6, 6)], 0));
}

// rfc3758#section-3.6
#[test]
fn nothing_that_was_skipped_is_reported() {
    let mut f = started(&config());
    f.packet(&[chunk("BE", 103, 0, 1, 100), message(106, 100)]);
    assert_eq!(report(&mut f, 100), (100, vec![(3, 3)], vec![(6, 6)], 0));
    skipping::forward(&mut f, 102, &[(0, 0)]);
    assert_eq!(report(&mut f, 100), (103, vec![], vec![(3, 3)], 0));
}
