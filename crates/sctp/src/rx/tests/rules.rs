use super::*;

// rfc9260#section-5.1, rfc9260#section-6.2
#[test]
fn the_first_data_of_the_association_is_acknowledged_at_once() {
    for config in [Config::default(), with_dac()] {
        let mut f = Fixture::new(&config, 100);
        assert!(!f.rx.sack_due() && !f.rx.sack_pending());
        assert_eq!(f.take(message(100, 10)), DataVerdict::Accepted);
        assert!(f.rx.sack_due());
        assert_eq!(f.report().cumulative, 100);
        assert!(!f.rx.sack_due() && !f.rx.sack_pending());
    }
}

// rfc9260#section-6.2: the receiver counts packets, not chunks
#[test]
fn several_chunks_in_a_packet_count_once() {
    let mut f = Fixture::started(&Config::default(), 100);
    f.packet(&[message(101, 10), message(102, 10), message(103, 10)]);
    assert!(!f.rx.sack_due() && f.rx.sack_pending());
    f.packet(&[message(104, 10)]);
    assert!(f.rx.sack_due());
    assert_eq!(f.report().cumulative, 104);
    assert_eq!(f.rx.stats().data_packets, 3);
}

// rfc9260#section-6.2
#[test]
fn a_single_packet_is_acknowledged_after_the_delay() {
    let mut f = Fixture::started(&Config::default(), 100);
    f.take(message(101, 10));
    f.pass(199);
    assert!(!f.rx.sack_due());
    f.pass(1);
    assert!(f.rx.sack_due());
    f.report();
    assert_eq!(f.rx.sack_deadline(), None);
}

// rfc9260#section-6.2: the list of duplicates starts again with each SACK
#[test]
fn duplicates_are_answered_at_once_and_reported_once() {
    let mut f = Fixture::started(&Config::default(), 100);
    assert_eq!(f.packet(&[message(100, 10), message(100, 10)]), [DataVerdict::Duplicate; 2]);
    assert!(f.rx.sack_due());
    assert_eq!(f.report().duplicates, [100, 100]);
    assert_eq!(f.report().duplicates, []);
    assert!(f.drain().is_empty());
    assert_eq!(f.rx.stats().duplicates, 2);
}

// rfc9260#section-6.7
#[test]
fn a_gap_is_reported_at_once_until_it_is_closed() {
    let mut f = Fixture::started(&Config::default(), 100);
    f.take(message(102, 10));
    assert!(f.rx.sack_due());
    assert_eq!(f.report().gaps, [(2, 2)]);
    f.take(message(103, 10));
    assert!(f.rx.sack_due());
    assert_eq!(f.report().gaps, [(2, 3)]);
    f.take(message(101, 10));
    assert!(f.rx.sack_due(), "the sender waits for this");
    assert_eq!((f.report().cumulative, f.rx.cumulative_tsn()), (103, Tsn(103)));
    f.take(message(104, 10));
    assert!(!f.rx.sack_due());
}

// rfc7053#section-5.2
#[test]
fn the_i_bit_is_answered_at_once() {
    let mut f = Fixture::started(&Config::default(), 100);
    f.take(chunk("UBEI", 101, 0, 0, 10));
    assert!(f.rx.sack_due());
}

// rfc9260#section-9.2: in SHUTDOWN-SENT, the receiver answers each DATA with a SHUTDOWN and a SACK
#[test]
fn a_sack_can_be_asked_for() {
    let mut f = Fixture::started(&Config::default(), 100);
    f.rx.sack_now();
    assert!(f.rx.sack_due());
}

// rfc9260#section-6.4
#[test]
fn a_sack_goes_where_the_latest_data_came_from() {
    let mut f = Fixture::started(&Config::default(), 100);
    for (tsn, path) in [(101, 2), (102, 1)] {
        f.rx.on_data(&message(tsn, 10), PathId(path));
        f.rx.packet_done(f.now);
        assert_eq!(f.rx.sack_path(), PathId(path));
    }
}

// Paper 001 section 3.3 and figure 5: TSN 20 is lost.
#[test]
fn with_dac_every_sack_tells_how_many_packets_it_answers() {
    let mut f = Fixture::started(&with_dac(), 18);
    let mut due = Vec::new();
    for tsn in [19, 21, 22, 23] {
        f.take(message(tsn, 10));
        if f.rx.sack_due() {
            let Report { cumulative, packets, gaps, .. } = f.report();
            due.push((tsn, cumulative, packets, gaps));
        }
    }
    assert_eq!(due, [(21, 19, 2, vec![(2, 2)]), (23, 19, 2, vec![(2, 4)])]);

    f.take(message(24, 10));
    assert!(!f.rx.sack_due());
    f.pass(200);
    assert!(f.rx.sack_due());
    assert_eq!(f.report().packets, 1, "a SACK of the timer");

    f.take(message(20, 10));
    f.take(message(25, 10));
    let Report { cumulative, packets, gaps, .. } = f.report();
    assert_eq!((cumulative, packets, gaps), (25, 2, vec![]));
}

#[test]
fn without_dac_the_reserved_bits_stay_zero() {
    let mut f = Fixture::started(&Config::default(), 18);
    for tsn in [19, 20] {
        f.take(message(tsn, 10));
    }
    assert_eq!(f.report().packets, 0);
}

// rfc9260#section-3.3.1, rfc9260#section-6.2
#[test]
fn data_without_bytes_is_an_error() {
    let mut f = Fixture::started(&Config::default(), 100);
    assert_eq!(f.take(message(101, 0)), DataVerdict::NoUserData);
}

// rfc9260#section-6.5
#[test]
fn data_of_a_stream_that_does_not_exist_is_acknowledged_and_not_delivered() {
    let mut f = Fixture::started(&Config::default(), 100);
    assert_eq!(f.take(chunk("BE", 101, STREAMS, 0, 10)), DataVerdict::InvalidStream);
    assert_eq!(f.take(chunk("BE", 102, STREAMS - 1, 0, 10)), DataVerdict::Accepted);
    let fragments = ["B", "", "E"].into_iter().zip(103..).map(|(flags, tsn)| chunk(flags, tsn, 99, 0, 10));
    for fragment in fragments {
        assert_eq!(f.take(fragment), DataVerdict::InvalidStream);
    }
    assert_eq!(f.rx.cumulative_tsn(), Tsn(105));
    assert_eq!(f.drain(), [10]);
    assert_eq!(f.rx.window.held(), 0);
}

// rfc9260#section-6.9
#[test]
fn contradicting_fragments_are_a_violation() {
    let wrong: [&[Data<'_>]; 4] = [
        &[chunk("", 101, 0, 0, 9)],
        &[chunk("B", 101, 0, 0, 9), chunk("B", 102, 0, 0, 9)],
        &[chunk("B", 101, 0, 0, 9), chunk("E", 102, 1, 0, 9)],
        &[chunk("B", 101, 0, 0, 9), chunk("E", 102, 99, 0, 9)],
    ];
    for chunks in wrong {
        let mut f = Fixture::started(&Config::default(), 100);
        let verdicts = f.packet(chunks);
        assert!(matches!(verdicts.last(), Some(DataVerdict::Violation(_))), "{chunks:?}: {verdicts:?}");
    }
}

// rfc9260#section-6.5
#[test]
fn a_stream_sequence_number_used_again_is_a_violation() {
    let mut f = Fixture::started(&Config::default(), 100);
    assert_eq!(f.take(chunk("BE", 101, 1, 0, 10)), DataVerdict::Accepted);
    assert!(matches!(f.take(chunk("BE", 102, 1, 0, 10)), DataVerdict::Violation(_)));
}

#[test]
fn a_message_read_names_its_stream_number_and_tsn() {
    let mut f = Fixture::new(&Config::default(), u32::MAX);
    let bytes = b"abcdef";
    let part = |flags, tsn, from: usize, to: usize| Data {
        ppid: Ppid(46),
        payload: Octets::from(&bytes[from..to]),
        ..chunk(flags, tsn, 3, 0, 0)
    };
    f.packet(&[part("E", 0, 2, 6), part("B", u32::MAX, 0, 2)]);
    assert_eq!(f.rx.read(0), None);
    let mut read = Received {
        stream: StreamId(3),
        ssn: Ssn(0),
        mid: Mid(0),
        tsn: Tsn(u32::MAX),
        ppid: Ppid(46),
        unordered: false,
        payload: Payload::Bytes(bytes::Bytes::from_static(b"abcd")),
        end_of_record: false,
        aborted: false,
    };
    assert_eq!(f.rx.read(4).as_ref(), Some(&read));
    read.payload = Payload::Bytes(bytes::Bytes::from_static(b"ef"));
    read.end_of_record = true;
    assert_eq!(f.rx.read(4).as_ref(), Some(&read));
    assert!(!f.rx.readable());
}
