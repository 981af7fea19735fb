//! Spurious recoveries and timeouts, with standard congestion control, SACK and an initial window
//! of 10 segments.

use super::super::{Ack, Negotiated, Sender};
use crate::Config;
use crate::sequence::ORIGIN;
use cc::CongestionWindow;
use std::sync::Arc;
use transport::Payload;
use units::{ByteCount, Instant, Span};

const SMSS: u64 = 1000;
const BEFORE: CongestionWindow = CongestionWindow { cwnd: ByteCount::new(10_000), ssthresh: None };

fn at(ms: u64) -> Instant {
    Instant::ZERO + Span::from_millis(ms)
}

/// A sender that sent 10 segments at 1000 ms and has more data.
fn sender(config: &Config) -> Sender {
    let mut sender = Sender::new(&Arc::new(config.clone()), &Arc::default());
    let found = Negotiated { smss: SMSS as u32, headers: 40, sack: true, ecn: false, syn_lost: false };
    sender.establish(at(1000), found);
    sender.take_first_window(ORIGIN, 1 << 30);
    sender.push(Payload::Filler(100_000));
    assert_eq!(send(&mut sender, 1000), 10);
    assert_eq!(sender.window, BEFORE);
    sender
}

fn with_undo() -> Config {
    Config { undo: true, rack_tlp: false, ..Config::modern() }
}

/// Sends all that the window allows, and returns the number of segments.
fn send(sender: &mut Sender, ms: u64) -> usize {
    std::iter::from_fn(|| sender.next(at(ms), SMSS as u32)).count()
}

/// The acknowledgement of `segments` segments at `ms`, with a SACK block of the
/// segments `block`, counted from 0. The acknowledgement echoes the timestamp `echo`.
fn ack(sender: &mut Sender, ms: u64, segments: u64, block: Option<(u64, u64)>, echo: Option<u64>) {
    let place = |segments: u64| ORIGIN + 1 + segments * SMSS;
    let blocks = block.into_iter().map(|(left, right)| (place(left), place(right))).collect();
    let (to, from) = (place(segments), ORIGIN + 1);
    sender.on_ack(at(ms), &Ack { to, from, window: 1 << 30, blocks, echo, bare: true, congestion: false });
}

/// Segments 1 to 3 overtake segment 0: a fast recovery begins at 1040 ms and retransmits segment 0.
fn reordered(config: &Config) -> Sender {
    let mut sender = sender(config);
    for last in 2..=4 {
        ack(&mut sender, 1040, 0, Some((1, last)), Some(1000));
    }
    assert!(sender.recovery.is_some());
    assert_eq!(sender.window, CongestionWindow { cwnd: halved(), ssthresh: Some(halved()) });
    assert!(send(&mut sender, 1040) >= 1);
    sender
}

/// Half of the 10 segments in flight.
fn halved() -> ByteCount {
    ByteCount::new(5000)
}

/// Segment 0 counts as lost at the end of its RTO, at 2000 ms, and is retransmitted.
fn delayed(config: &Config) -> Sender {
    let mut sender = sender(config);
    assert!(sender.on_timeout(at(2000)));
    assert_eq!(sender.window.cwnd, ByteCount::new(SMSS));
    assert_eq!(send(&mut sender, 2000), 1);
    sender
}

#[test]
fn recovery_is_undone_if_the_original_segment_is_acknowledged() {
    let mut sender = reordered(&with_undo());
    ack(&mut sender, 1045, 4, None, Some(1000));
    assert_eq!((sender.window, sender.stats.undone_reductions), (BEFORE, 1));
    assert!(sender.recovery.is_none() && sender.flight.next_lost().is_none());
    // In flight are 6 of the first 10 segments, and the segments that the recovery sent.
    let flight = sender.flight.in_flight();
    assert_eq!(send(&mut sender, 1045) as u64, (10_000 - flight) / SMSS);
}

#[test]
fn recovery_stands_if_the_retransmission_is_acknowledged_or_timestamps_are_missing() {
    for echo in [Some(1040), None] {
        let mut sender = reordered(&with_undo());
        ack(&mut sender, 1080, 4, None, echo);
        assert_eq!((sender.window.cwnd, sender.stats.undone_reductions), (halved(), 0), "{echo:?}");
        // A later acknowledgement of an old timestamp proves nothing.
        ack(&mut sender, 1081, 5, None, Some(1000));
        assert_eq!(sender.stats.undone_reductions, 0);
    }
    let mut sender = reordered(&Config { undo: false, ..with_undo() });
    ack(&mut sender, 1045, 4, None, Some(1000));
    assert_eq!((sender.window.cwnd, sender.stats.undone_reductions), (halved(), 0));
}

#[test]
fn timeout_is_undone_if_the_original_segment_is_acknowledged() {
    let mut sender = delayed(&with_undo());
    ack(&mut sender, 2010, 1, None, Some(1000));
    assert_eq!((sender.window, sender.stats.undone_reductions), (BEFORE, 1));
    // 9 segments are still in flight: none was lost.
    assert_eq!((sender.flight.in_flight(), send(&mut sender, 2010)), (9000, 1));
}

#[test]
fn timeout_stands_if_the_retransmission_is_acknowledged() {
    let mut sender = delayed(&with_undo());
    ack(&mut sender, 2040, 1, None, Some(2000));
    let expected = CongestionWindow { cwnd: ByteCount::new(2000), ssthresh: Some(halved()) };
    assert_eq!((sender.window, sender.stats.undone_reductions), (expected, 0));
}

/// With BBR, losses that proved spurious are no part of the loss rate of later samples.
#[test]
fn undone_losses_are_not_counted_as_lost_bytes() {
    for (echo, lost) in [(Some(1000), 0), (Some(2000), 10_000)] {
        let mut sender = delayed(&Config { control: cc::Algorithm::Bbr, ..with_undo() });
        ack(&mut sender, 2040, 1, None, echo);
        let estimator = &sender.rate.as_ref().unwrap().estimator;
        assert_eq!(estimator.lost(), ByteCount::new(lost), "{echo:?}");
    }
}
