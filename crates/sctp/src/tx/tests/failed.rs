//! T3 expires on a path that failed: what its slow start comes back to.

use super::*;
use crate::config::{PathSelection, Reinjection};

const WINDOW: u64 = 20 * CHUNK;

fn ms(n: u64) -> Span {
    Span::from_millis(n)
}

/// ssthresh of a path in congestion avoidance, and of one in slow start, after T3 has expired `times` times, first after 1000 ms. `silent`: whether the path
/// is silent. A heartbeat left there `asked` ms after the data, and a SACK came on the other path `heard` ms after the data.
fn ssthresh(silent: bool, asked: Option<u64>, heard: Option<u64>, times: usize) -> [u64; 2] {
    [CHUNK, 2 * WINDOW].map(|ssthresh| {
        let config = cmt(Cmt {
            path_selection: PathSelection::LowestRtt,
            reinjection: Reinjection::Silent,
            ..Cmt::default()
        });
        let mut rig = Rig::new(&config, 2, 1);
        for p in [P1, P2] {
            rig.paths[p].rto.sample(Instant::ZERO, ms(100), &config);
            rig.paths[p].window.cwnd = ByteCount::new(WINDOW);
        }
        rig.paths[P1].window.ssthresh = Some(ByteCount::new(ssthresh));
        for _ in 1..=4 {
            rig.transmit(P1);
        }
        let begin = rig.now;
        rig.paths[P1].liveness.set(if silent { Life::Silent } else { Life::Proven });
        if let Some(asked) = asked {
            rig.paths[P1].heartbeat.sent(begin + ms(asked), 7, ms(1000));
        }
        if let Some(heard) = heard {
            rig.sender.hear(begin + ms(heard), &mut rig.paths);
        }
        rig.pass(ms(1000));
        for _ in 0..times {
            rig.t3(P1);
            rig.pass(ms(2000));
        }
        assert!(rig.paths[P1].window.cwnd.get() <= 1500);
        rig.paths[P1].window.ssthresh.unwrap().get()
    })
}

// By hand: half of 20 chunks (rfc9260#section-7.2.3).
#[test]
fn a_timeout_cuts_ssthresh() {
    let half = [WINDOW / 2; 2];
    assert_eq!(ssthresh(true, None, Some(500), 1), half, "no heartbeat was sent");
    assert_eq!(ssthresh(false, Some(200), Some(500), 1), half, "it is not silent");
    assert_eq!(
        ssthresh(true, Some(200), Some(150), 1),
        half,
        "nothing came on any path: it may be all of them"
    );
    assert_eq!(ssthresh(true, Some(900), Some(950), 1), half, "the heartbeat may still be answered");
}

#[test]
fn a_path_that_failed_comes_back_to_its_window() {
    for times in [1, 3] {
        assert_eq!(ssthresh(true, Some(200), Some(500), times), [WINDOW, 2 * WINDOW], "{times} timeouts");
    }
}
