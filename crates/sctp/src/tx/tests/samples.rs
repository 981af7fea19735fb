//! Tests how often data gives RTT samples, and how the flight size depends on the path on which SACKs return.

use super::*;
use crate::config::{LossDetection, SackPath};

// rfc9260#section-6.3.1, rules C3 and C4
#[test]
fn each_sack_gives_a_sample_of_the_round_trip_time() {
    let mut rig = Rig::new(&cmt(Cmt::default()), 1, 1);
    for _ in 1..=20 {
        rig.transmit(P1);
        rig.pass(Span::from_millis(1));
    }
    rig.pass(Span::from_millis(80));
    for tsn in 1..=19 {
        rig.sack(tsn, &[], 1);
        rig.pass(Span::from_millis(1));
    }
    assert_eq!(rig.paths[P1].rto.srtt(), Some(Span::from_millis(100)));
    rig.pass(Span::from_millis(100));
    rig.sack(20, &[], 1);
    assert_eq!(rig.paths[P1].rto.srtt(), Some(Span::from_micros(112_500)), "one eighth of 200 ms");
}

/// Chunks sent before the change of route increase no cwnd and give no RTT sample; chunks sent after it do
/// both.
#[test]
fn what_left_before_a_change_of_route_tells_nothing_about_the_new_one() {
    let mut rig = Rig::new(&cmt(Cmt::default()), 1, 1);
    rig.paths[P1].initial_cwnd = ByteCount::new(4 * CHUNK);
    rig.paths[P1].window.cwnd = ByteCount::new(200 * CHUNK);
    for _ in 1..=100 {
        rig.transmit(P1);
    }
    rig.pass(Span::from_millis(10));
    rig.sender.on_route_changed(rig.now, P1, &mut rig.paths);
    for tsn in (2..=100).step_by(2) {
        rig.pass(Span::from_millis(1));
        rig.sack(tsn, &[], 2);
    }
    assert_eq!(rig.paths[P1].window.cwnd, ByteCount::new(4 * CHUNK));
    assert_eq!((rig.paths[P1].rto.base(), rig.paths[P1].flight), (None, ByteCount::ZERO));
    (0..4).for_each(|_| rig.transmit(P1));
    rig.pass(Span::from_millis(80));
    rig.sack(104, &[], 4);
    assert_eq!(rig.paths[P1].window.cwnd, ByteCount::new(4 * CHUNK) + rig.paths[P1].mtu);
    assert_eq!(rig.paths[P1].rto.base(), Some(Span::from_millis(80)));
}

/// A chunk was lost on the old route: later chunks of the old route that arrived show the loss.
#[test]
fn a_loss_before_a_change_of_route_is_found_by_what_left_before_it() {
    let config = Config { loss_detection: LossDetection::Rack, ..cmt(Cmt::default()) };
    let mut rig = Rig::new(&config, 1, 1);
    rig.paths[P1].window.cwnd = ByteCount::new(200 * CHUNK);
    for _ in 1..=20 {
        rig.transmit(P1);
        rig.pass(Span::from_millis(1));
    }
    rig.pass(Span::from_millis(30));
    rig.sack(1, &[], 1);
    rig.sender.on_route_changed(rig.now, P1, &mut rig.paths);
    rig.pass(Span::from_millis(20));
    rig.sack(1, &[(3, 20)], 2);
    assert!(rig.is_lost(2));
}

/// The RTT of P1 is 25 ms if SACKs return on P2, and 40 ms if SACKs return on P1. If all SACKs return on P1,
/// the flight size may be 40/25 = 1.6 cwnd. The first of these SACKs has the weight 1/8, so that the ratio is
/// 1 + 0.6/8 = 1.075. A queue of 40 ms adds to both RTTs: 80/65. With an RTT of 60 ms on P1, the ratio 2.4 is
/// limited to 2.
#[test]
fn a_slower_return_path_keeps_the_rate_of_the_window() {
    let config = Config { sack_path: SackPath::Fastest, ..cmt(Cmt::default()) };
    let back =
        [(P2, 25, 10, 1.0), (P1, 40, 1, 1.075), (P1, 40, 99, 1.6), (P1, 80, 99, 1.23077), (P2, 25, 99, 1.0)];
    for steps in [&back[..], &[(P2, 25, 1, 1.0), (P1, 60, 99, 2.0)]] {
        let mut rig = Rig::new(&config, 2, 1);
        let mut tsn = 0;
        for &(way, rtt, sacks, ratio) in steps {
            for _ in 0..sacks {
                tsn += 1;
                rig.transmit(P1);
                rig.pass(Span::from_millis(rtt));
                rig.sender.note_way_of_sack(way);
                rig.sack(tsn, &[], 1);
            }
            let path = &rig.paths[P1];
            let found = path.space().as_f64() / path.window.cwnd.as_f64();
            assert!((found - ratio).abs() < 0.001, "{found} and not {ratio} windows after SACKs in {rtt} ms");
        }
    }
}
