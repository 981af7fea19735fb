use super::*;

/// A receiver with a buffer of 6000 bytes. It holds TSNs 103 to 105 (4500 bytes); 101 and 102 are missing.
fn nearly_full() -> Fixture {
    let mut f = Fixture::started(&with_buffer(6000), 100);
    for tsn in 103..=105 {
        assert_eq!(f.take(chunk("BE", tsn, 1, tsn as u16 - 101, 1500)), DataVerdict::Accepted);
    }
    assert_eq!(f.report().a_rwnd, 1500);
    f
}

// rfc9260#section-6.2.1
#[test]
fn the_window_is_the_buffer_less_what_is_not_read() {
    let mut f = Fixture::started(&with_buffer(10_000), 100);
    assert_eq!(f.rx.a_rwnd(), 10_000);
    f.take(message(101, 1452));
    f.take(message(103, 1000));
    assert_eq!(f.rx.a_rwnd(), 10_000 - 2452);
    f.rx.read(452);
    assert_eq!(f.rx.a_rwnd(), 10_000 - 2000);
    f.drain();
    assert_eq!(f.rx.a_rwnd(), 10_000);
}

// rfc9260#section-6.2
#[test]
fn with_a_full_buffer_data_above_everything_is_dropped_and_answered_at_once() {
    let mut f = nearly_full();
    assert_eq!(f.take(chunk("BE", 106, 1, 5, 1500)), DataVerdict::Accepted);
    assert_eq!(f.report().a_rwnd, 0);
    assert_eq!(f.take(chunk("BE", 107, 1, 6, 1500)), DataVerdict::NoRoom);
    assert!(f.rx.sack_due());
    assert_eq!(f.report().gaps, [(3, 6)]);
    assert_eq!(f.rx.stats().dropped, 1);
}

// rfc9260#section-6.2: the receiver reneges on the highest TSN
#[test]
fn with_a_full_buffer_data_that_fills_a_gap_displaces_the_highest() {
    let mut f = nearly_full();
    f.take(chunk("BE", 106, 1, 5, 1500));
    assert_eq!(f.take(chunk("BE", 102, 1, 1, 1500)), DataVerdict::Accepted);
    assert_eq!(f.report().gaps, [(2, 5)]);
    assert_eq!(f.take(chunk("BE", 101, 1, 0, 1500)), DataVerdict::Accepted);
    let report = f.report();
    assert_eq!((report.cumulative, report.gaps), (104, vec![]));
    assert_eq!(f.drain(), [1500; 4]);
    assert_eq!((f.rx.stats().reneged, f.rx.window.held()), (2, 0));
    f.take(chunk("BE", 105, 1, 4, 1500));
    f.take(chunk("BE", 106, 1, 5, 1500));
    assert_eq!(f.drain(), [1500; 2]);
}

// rfc9260#section-6.2: the receiver reneges on no more than is needed
#[test]
fn the_highest_tsn_of_messages_and_fragments_is_reneged_first() {
    let mut f = Fixture::started(&with_buffer(6000), 100);
    f.take(chunk("B", 102, 0, 0, 1500));
    f.take(chunk("BE", 104, 1, 1, 1500));
    f.take(chunk("", 106, 0, 1, 1500));
    f.take(chunk("BE", 108, 1, 3, 1500));
    assert_eq!(f.take(message(101, 1500)), DataVerdict::Accepted);
    let report = f.report();
    assert_eq!((report.cumulative, report.gaps), (102, vec![(2, 2), (4, 4)]), "without message 108");
    assert_eq!(f.take(chunk("E", 103, 0, 0, 1500)), DataVerdict::Accepted);
    let report = f.report();
    assert_eq!((report.cumulative, report.gaps), (104, vec![]), "without fragment 106");
    assert_eq!(f.drain(), [1500, 3000]);
}

// The receiver never reneges on a message that the user can read, even above a gap.
#[test]
fn readable_messages_are_never_reneged() {
    let mut f = Fixture::started(&with_buffer(6000), 100);
    for tsn in 102..=105 {
        f.take(message(tsn, 1500));
    }
    assert_eq!(f.take(message(101, 1500)), DataVerdict::NoRoom);
    assert_eq!(f.drain(), [1500; 4]);
    assert_eq!(f.take(message(101, 1500)), DataVerdict::Accepted);
    assert_eq!(f.rx.stats().reneged, 0);
}

// rfc9260#section-6.1, rule A: DATA that probes a closed receive window is answered with a SACK, but not kept
#[test]
fn a_probe_of_a_closed_window_is_dropped_until_the_user_reads() {
    let mut f = Fixture::started(&with_buffer(3000), 100);
    f.take(message(101, 1500));
    f.take(message(102, 1500));
    assert_eq!(f.report().a_rwnd, 0);
    assert_eq!(f.take(message(103, 1500)), DataVerdict::NoRoom);
    assert!(f.rx.sack_due());
    let report = f.report();
    assert_eq!((report.cumulative, report.a_rwnd), (102, 0));
    f.rx.read(usize::MAX);
    assert_eq!(f.take(message(103, 1500)), DataVerdict::Accepted);
}

// rfc9260#section-6.2: window update
#[test]
fn reading_from_a_closed_window_brings_a_sack_as_soon_as_a_packet_fits() {
    for mut config in [with_buffer(6000), Config { sws_limit: ByteCount::ZERO, ..with_buffer(6000) }] {
        config.cmt = with_dac().cmt;
        let mut f = Fixture::started(&config, 100);
        for tsn in 101..=105 {
            f.take(message(tsn, 1000));
        }
        assert!(f.report().a_rwnd < 1500);
        assert!(f.rx.read(400).is_some());
        assert!(!f.rx.sack_due(), "1400 bytes are no packet");
        assert!(f.rx.read(100).is_some());
        assert!(f.rx.sack_due());
        assert_eq!(f.report().a_rwnd, 1500);
        f.drain();
        assert!(!f.rx.sack_due(), "the peer knows that it is open");
    }
}

// rfc9260#section-6.9: partial delivery
#[test]
fn a_message_longer_than_the_buffer_arrives_in_parts() {
    let mut f = Fixture::started(&with_buffer(6000), 100);
    let mut read = Vec::new();
    for (n, tsn) in (0..12).zip(101..) {
        let flags = ["B", "", "E"][usize::from(n > 0) + usize::from(n == 11)];
        assert_eq!(f.take(chunk(flags, tsn, 2, 0, 1000)), DataVerdict::Accepted);
        read.extend(std::iter::from_fn(|| f.rx.read(usize::MAX)));
    }
    assert_eq!(read.iter().map(|part| part.payload.len()).sum::<usize>(), 12_000);
    assert!(read.len() > 1 && read.iter().all(|part| part.tsn == Tsn(101) && part.stream == StreamId(2)));
    let ends: Vec<bool> = read.iter().map(|part| part.end_of_record).collect();
    assert_eq!(ends.iter().position(|&end| end), Some(ends.len() - 1));
    assert_eq!(f.rx.window.held(), 0);
}

// rfc6458#section-8.1.21
#[test]
fn a_message_that_reaches_the_partial_delivery_point_is_read_before_it_is_complete() {
    let point = Some(ByteCount::new(2500));
    let mut f = Fixture::started(&Config { partial_delivery_point: point, ..with_buffer(60_000) }, 100);
    f.take(chunk("B", 101, 2, 0, 1000));
    f.take(chunk("", 102, 2, 0, 1000));
    // The third fragment is missing.
    f.take(chunk("", 104, 2, 0, 1000));
    assert!(!f.rx.readable());
    f.take(chunk("", 103, 2, 0, 1000));
    let part = f.rx.read(usize::MAX).expect("the first part");
    assert_eq!((part.payload.len(), part.end_of_record), (4000, false));
    f.take(chunk("E", 105, 2, 0, 1000));
    let part = f.rx.read(usize::MAX).expect("the rest");
    assert_eq!((part.payload.len(), part.end_of_record), (1000, true));
}

#[test]
fn as_long_as_a_message_has_room_it_arrives_whole() {
    let mut f = Fixture::started(&with_buffer(6000), 100);
    f.packet(&[chunk("B", 101, 2, 0, 1500), chunk("", 102, 2, 0, 1500), chunk("", 103, 2, 0, 1500)]);
    assert!(!f.rx.readable());
    f.take(chunk("E", 104, 2, 0, 1500));
    assert_eq!(f.drain(), [6000]);
}

// The receiver reneges on chunks above a gap to make room for the missing chunk. So it needs no partial
// delivery.
#[test]
fn above_a_gap_no_message_is_handed_out_in_parts() {
    let mut f = Fixture::started(&with_buffer(6000), 100);
    f.take(chunk("B", 101, 2, 0, 1500));
    for tsn in 103..=105 {
        f.take(chunk("", tsn, 2, 0, 1500));
    }
    assert!(!f.rx.readable());
    assert_eq!(f.take(chunk("", 102, 2, 0, 1500)), DataVerdict::Accepted);
    assert!(f.rx.readable(), "now there is nothing above");
    assert_eq!(f.drain(), [6000]);
}

// rfc9260#section-6.9: the stream delivers no other message before the end of an incomplete message
#[test]
fn a_message_in_parts_holds_back_its_stream_and_no_other() {
    let mut f = Fixture::started(&with_buffer(6000), 100);
    for (flags, tsn) in ["B", "", "", ""].into_iter().zip(101..) {
        f.take(chunk(flags, tsn, 2, 0, 1400));
    }
    assert_eq!(f.drain(), [5600]);
    f.take(chunk("BE", 106, 2, 1, 100));
    f.take(chunk("BE", 107, 3, 0, 200));
    assert_eq!(f.drain(), [200], "stream 2 waits");
    f.take(chunk("E", 105, 2, 0, 300));
    assert_eq!(f.drain(), [300, 100]);
}

#[test]
fn the_number_of_a_message_in_parts_cannot_be_used_again() {
    let mut f = Fixture::started(&with_buffer(6000), 100);
    for (flags, tsn) in ["B", "", "", ""].into_iter().zip(101..) {
        f.take(chunk(flags, tsn, 2, 0, 1400));
    }
    assert!(f.rx.readable());
    f.drain();
    assert!(matches!(f.take(chunk("BE", 106, 2, 0, 100)), DataVerdict::Violation(_)));
}

#[test]
fn a_message_waiting_for_its_turn_is_not_handed_out_early() {
    let mut f = Fixture::started(&with_buffer(3000), 100);
    f.take(chunk("B", 101, 2, 1, 1500));
    f.take(chunk("", 102, 2, 1, 1500));
    assert!(!f.rx.readable());
}

// If the user can read no message and no chunk can be reneged on, only a partial delivery makes room.
#[test]
fn a_beginning_that_bars_its_own_rest_is_handed_out() {
    let mut f = Fixture::started(&with_buffer(3000), 100);
    f.take(message(103, 10));
    f.drain();
    f.take(chunk("B", 101, 2, 0, 1500));
    assert_eq!(f.take(chunk("E", 102, 2, 0, 1500)), DataVerdict::Accepted);
    f.drain();
    f.take(message(106, 10));
    f.drain();
    f.packet(&[chunk("B", 104, 2, 1, 2900)]);
    assert_eq!(f.take(chunk("E", 105, 2, 1, 500)), DataVerdict::NoRoom);
    assert_eq!(f.drain(), [2900]);
    assert_eq!(f.take(chunk("E", 105, 2, 1, 500)), DataVerdict::Accepted);
    assert_eq!(f.drain(), [500]);
}

#[test]
fn tiny_messages_use_up_the_buffer_by_their_number() {
    let mut f = Fixture::started(&with_buffer(6400), 100);
    let taken = (102..).take_while(|&tsn| f.take(message(tsn, 1)) == DataVerdict::Accepted).count();
    assert_eq!(taken, 100);
    assert_eq!(f.drain().len(), 100);
    assert_eq!(f.rx.a_rwnd(), 6400);
}

// Without reneging, chunks above a gap do not occupy the room reserved for missing chunks.
#[test]
fn nothing_is_reneged_where_reneging_is_off() {
    let mut f = Fixture::started(&Config { reneging: false, ..with_buffer(6000) }, 100);
    use DataVerdict::{Accepted, NoRoom};
    for (tsn, verdict) in [(103, Accepted), (104, Accepted), (105, NoRoom)] {
        assert_eq!(f.take(chunk("BE", tsn, 1, tsn as u16 - 101, 1500)), verdict);
    }
    assert_eq!(f.take(chunk("BE", 102, 1, 1, 1500)), DataVerdict::Accepted);
    assert_eq!(f.take(chunk("BE", 105, 1, 4, 1500)), DataVerdict::NoRoom, "101 needs it");
    assert_eq!(f.take(chunk("BE", 101, 1, 0, 1500)), DataVerdict::Accepted);
    assert_eq!((f.report().cumulative, f.drain()), (104, vec![1500; 4]));
    assert_eq!((f.rx.stats().reneged, f.rx.window.held()), (0, 0));
}

// The receiver keeps room for missing chunks, as long as those received above them. If the missing ones are
// longer, the room is too small for all: then only the one with the lowest TSN is accepted beyond the buffer.
#[test]
fn missing_chunks_longer_than_expected_are_taken_one_at_a_time() {
    let mut f = Fixture::started(&Config { reneging: false, ..with_buffer(8000) }, 100);
    for tsn in 104..=116 {
        assert_eq!(f.take(chunk("BE", tsn, 1, tsn as u16 - 101, 500)), DataVerdict::Accepted);
    }
    assert_eq!(f.take(chunk("BE", 117, 1, 16, 500)), DataVerdict::NoRoom, "three are missing");
    assert_eq!(f.take(chunk("BE", 103, 1, 2, 1400)), DataVerdict::Accepted);
    assert_eq!(f.rx.window.held(), 7900);
    assert_eq!(f.take(chunk("BE", 102, 1, 1, 1400)), DataVerdict::NoRoom, "more than 8000 bytes");
    assert_eq!(f.take(chunk("BE", 101, 1, 0, 1400)), DataVerdict::Accepted, "everything waits for it");
    assert_eq!((f.rx.a_rwnd(), f.drain()), (0, vec![1400]));
    assert_eq!(f.take(chunk("BE", 102, 1, 1, 1400)), DataVerdict::Accepted);
    assert_eq!(f.drain().len(), 15);
}

// A message that is longer than the buffer can still be delivered.
#[test]
fn without_reneging_a_message_longer_than_the_buffer_is_handed_out_in_parts() {
    let mut f = Fixture::started(&Config { reneging: false, ..with_buffer(3000) }, 100);
    f.take(chunk("", 103, 0, 0, 1000));
    let mut read = Vec::new();
    for (flags, tsn) in [("B", 101), ("", 102), ("", 104), ("E", 105)] {
        while f.take(chunk(flags, tsn, 0, 0, 1000)) == DataVerdict::NoRoom {
            read.extend(f.drain());
            assert!(f.rx.window.held() <= 4000, "{} bytes", f.rx.window.held());
        }
    }
    read.extend(f.drain());
    assert_eq!((read.iter().sum::<usize>(), f.rx.window.held()), (5000, 0));
}
