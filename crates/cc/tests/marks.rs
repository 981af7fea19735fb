//! Marks of congestion (ECN) in place of losses (`rfc3168#section-5`).

use crate::common;

use anabranch_cc::{Algorithm, CongestionWindow, GrowthRule, LossKind, WindowRule};
use common::{Bench, bytes, setup};

fn after(algorithm: Algorithm, kind: LossKind, cwnd: u64) -> u64 {
    let mut bench = Bench::new(algorithm, &setup(GrowthRule::Rfc9260, 1)).put(0, cwnd, 0);
    bench.paths[0].flight = bytes(cwnd);
    bench.loss(0, kind);
    bench.cwnd(0)
}

#[test]
fn a_mark_reduces_a_window_as_a_fast_retransmission_does_and_never_raises_it() {
    // BBR learns of losses from the acknowledgements, and a mark changes only its bounds.
    for &algorithm in Algorithm::ALL.iter().filter(|algorithm| algorithm.alone() != Algorithm::Bbr) {
        let reduced = after(algorithm, LossKind::Mark, 200_000);
        assert_eq!(reduced, after(algorithm, LossKind::FastRetransmit, 200_000), "{algorithm}");
        assert!(reduced < 200_000, "{algorithm}");
        assert!(after(algorithm, LossKind::Mark, 3000) <= 3000, "{algorithm}");
    }
}

#[test]
fn a_window_that_is_replaced_is_what_the_transport_says() {
    for &algorithm in Algorithm::ALL {
        let mut bench =
            Bench::new(algorithm, &setup(GrowthRule::Rfc9260, 2)).put(0, 90_000, 8000).put(1, 50_000, 9000);
        let window = CongestionWindow { cwnd: bytes(4404), ssthresh: None };
        let (views, mut windows) = (bench.paths.clone(), [bench.paths[0].window, bench.paths[1].window]);
        bench.control.on_rule(&views, 0, WindowRule::Replace(window), &mut windows);
        assert_eq!(windows, [window, bench.paths[1].window], "{algorithm}");
    }
}

// rfc9260#section-7.2.2
#[test]
fn a_window_that_is_replaced_begins_to_count_anew() {
    let mut bench = Bench::new(Algorithm::Standard, &setup(GrowthRule::Rfc9260, 1)).put(0, 20_000, 10_000);
    bench.full_ack(0, 5000);
    assert!(bench.control.partial_bytes_acked(0) > bytes(0));
    let window = CongestionWindow { cwnd: bytes(4404), ssthresh: None };
    let (views, mut windows) = (bench.paths.clone(), [bench.paths[0].window]);
    bench.control.on_rule(&views, 0, WindowRule::Replace(window), &mut windows);
    assert_eq!(bench.control.partial_bytes_acked(0), bytes(0));
}
