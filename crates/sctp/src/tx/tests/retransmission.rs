//! Tests on which paths a chunk is retransmitted after timeouts, for each retransmission policy.

use super::*;
use crate::config::RtxPolicy;

/// Two active paths (RTT 20 ms, 100 ms). A chunk is in flight on the first; the second has timed out.
fn rig(rtx: RtxPolicy) -> Rig {
    let config = cmt(Cmt { rtx, ..Cmt::default() });
    let mut rig = Rig::new(&config, 2, 1);
    for (p, rtt) in [(P1, 20), (P2, 100)] {
        rig.paths[p].rto.sample(Instant::ZERO, Span::from_millis(rtt), &config);
    }
    rig.transmit(P2);
    rig.pass(Span::from_secs(1));
    rig.t3(P2);
    rig.sack(1, &[], 1);
    rig.transmit(P1);
    rig
}

/// The path of the chunk after each of `n` timeouts.
fn after_timeouts(rtx: RtxPolicy, n: usize) -> Vec<PathId> {
    let mut rig = rig(rtx);
    let mut found = Vec::new();
    for _ in 0..n {
        let at = rig.sender.out[rig.index(2)].path;
        rig.pass(rig.paths[at].rto.current());
        rig.t3(at);
        found.push(rig.poll().expect("the lost chunk leaves").0);
    }
    found
}

// rfc9260#section-6.4
#[test]
fn after_each_timeout_a_chunk_goes_to_another_active_path() {
    for rtx in [RtxPolicy::Alternate, RtxPolicy::Fastest] {
        assert_eq!(after_timeouts(rtx, 6), [P2, P1, P2, P1, P2, P1], "{rtx}");
    }
}

#[test]
fn every_policy_but_same_tries_another_path_within_five_timeouts() {
    for &rtx in RtxPolicy::ALL {
        let elsewhere = after_timeouts(rtx, 5).contains(&P2);
        assert_eq!(elsewhere, rtx != RtxPolicy::Same, "{rtx}");
    }
}

/// rfc9260#section-6.3.3, rule E3: the cause of the losses and the path do not change the order.
#[test]
fn the_earliest_lost_chunks_leave_first() {
    let mut rig = Rig::new(&cmt(Cmt { rtx: RtxPolicy::Same, ..Cmt::default() }), 2, 1);
    for p in [P2, P1, P1, P1, P1, P1] {
        rig.transmit(p);
    }
    rig.pass(Span::from_millis(100));
    for last in 4..=6 {
        rig.sack(0, &[(3, 3), (4, last)], 1); // 2 is missing
    }
    assert!(rig.is_lost(2));
    rig.t3(P2);
    assert!(rig.is_lost(1));
    for p in [P1, P1] {
        rig.transmit(p);
    }
    rig.pass(Span::from_secs(1));
    rig.t3(P1);
    let sent: Vec<_> = std::iter::from_fn(|| rig.poll()).take(3).collect();
    assert_eq!(
        sent,
        [(P2, vec![1]), (P1, vec![2])],
        "7 and 8 were lost with a timeout, 2 by missing reports"
    );
}
