use super::*;
use crate::sequence::ORIGIN;
use units::{ByteCount, Span};

const NEXT: u64 = ORIGIN + 1;

fn receiver(dsack: bool) -> Receiver {
    let config = Config { receive_buffer: ByteCount::new(50_000).into(), dsack, ..Config::qualnet() };
    Receiver::new(NEXT, &config, 0, true, &Arc::default())
}

/// Delivers segment number `n` of 100 bytes.
fn arrive(rx: &mut Receiver, n: u64) {
    rx.on_data(Instant::ZERO, NEXT + 100 * n, Octets::new(&[], 100), false);
}

/// The SACK blocks in segment numbers.
fn blocks(rx: &mut Receiver) -> Vec<(u64, u64)> {
    rx.sack(4).into_iter().map(|(l, r)| ((l - NEXT) / 100, (r - NEXT) / 100)).collect()
}

/// The example of `rfc2018#section-5`, cases 2 and 3: each second segment is lost; the newest block is first.
#[test]
fn the_block_that_changed_last_comes_first() {
    let mut rx = receiver(false);
    assert_eq!(blocks(&mut rx), []);
    for n in [1, 3, 5] {
        arrive(&mut rx, n);
    }
    assert_eq!(blocks(&mut rx), [(5, 6), (3, 4), (1, 2)]);
    arrive(&mut rx, 7);
    arrive(&mut rx, 9);
    assert_eq!(blocks(&mut rx), [(9, 10), (7, 8), (5, 6), (3, 4)], "four fit");
    arrive(&mut rx, 4);
    assert_eq!(blocks(&mut rx), [(3, 6), (9, 10), (7, 8)]);
    arrive(&mut rx, 0);
    assert_eq!((rx.next(), blocks(&mut rx)), (NEXT + 200, vec![(3, 6), (9, 10), (7, 8)]));
    for n in [2, 6, 8] {
        arrive(&mut rx, n);
    }
    assert_eq!((rx.next(), blocks(&mut rx)), (NEXT + 1000, vec![]));
}

/// `rfc2883#section-4.1` and section 4.2: a duplicate below and one above the cumulative acknowledgement.
#[test]
fn duplicates_are_reported_first_and_once() {
    let mut rx = receiver(true);
    arrive(&mut rx, 0);
    arrive(&mut rx, 0);
    assert_eq!(blocks(&mut rx), [(0, 1)]);
    assert_eq!(blocks(&mut rx), []);
    arrive(&mut rx, 3);
    arrive(&mut rx, 5);
    arrive(&mut rx, 3);
    assert_eq!(blocks(&mut rx), [(3, 4), (3, 4), (5, 6)]);
    assert_eq!(blocks(&mut rx), [(3, 4), (5, 6)]);
}

/// Tests overlapping segments, a FIN out of order, and data beyond the FIN.
#[test]
fn the_end_is_where_the_fin_stands() {
    let mut rx = receiver(false);
    rx.on_data(Instant::ZERO, NEXT + 200, Octets::new(&[], 100), true);
    assert!(!rx.is_finished() && rx.readable() == 0);
    rx.on_data(Instant::ZERO, NEXT + 250, Octets::new(&[], 500), false);
    rx.on_data(Instant::ZERO, NEXT, Octets::new(&[], 150), false);
    assert_eq!(rx.readable(), 150);
    rx.on_data(Instant::ZERO, NEXT + 100, Octets::new(&[], 150), true);
    assert!(rx.is_finished());
    assert_eq!((rx.next(), rx.readable()), (NEXT + 301, 300), "a FIN in the midst of the data is none");
    let read: usize = std::iter::from_fn(|| rx.take(1000)).map(|payload| payload.len()).sum();
    assert_eq!(read, 300);
    assert_eq!((rx.take(1000), rx.readable()), (None, 0));
}

#[test]
fn nothing_is_kept_beyond_the_window() {
    let mut rx = receiver(false);
    rx.on_data(Instant::ZERO, NEXT + 100, Octets::new(&[], 60_000), true);
    rx.on_data(Instant::ZERO, NEXT, Octets::new(&[], 100), false);
    assert_eq!((rx.readable(), rx.is_finished()), (50_000, false));
    assert_eq!(rx.advertise(Instant::ZERO, None), 0);
    assert!(rx.acks.is_due());
}

#[test]
fn the_timer_of_a_delayed_acknowledgement_starts_with_the_first_segment() {
    let mut rx = receiver(false);
    let at = |ms| Instant::ZERO + Span::from_millis(ms);
    rx.on_data(at(5), NEXT, Octets::new(&[], 100), false);
    assert_eq!((rx.acks.is_due(), rx.acks.deadline()), (false, Some(at(205))));
    rx.on_data(at(7), NEXT + 100, Octets::new(&[], 100), false);
    assert!(rx.acks.is_due());
    rx.acks.sent();
    assert_eq!(rx.acks.deadline(), None);
    rx.on_data(at(9), NEXT + 200, Octets::new(&[], 100), false);
    rx.acks.on_timeout(at(208));
    assert!(!rx.acks.is_due());
    rx.acks.on_timeout(at(209));
    assert!(rx.acks.is_due());
}
