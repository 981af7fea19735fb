//! Tests when fast recovery of a busy path ends (`rfc9260#section-7.2.4`; paper 001, section 3.2).

use super::random::{FIRST, World, drain};
use super::*;
use crate::config::{Cuc, RtxPolicy};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Odd TSNs are on path 1; TSN 5 is lost. Even TSNs are on path 2, which is slow: none of them is
/// acknowledged. New chunks keep path 1 busy.
#[test]
fn fast_recovery_of_a_busy_path_ends_when_its_pseudo_cumulative_tsn_passes_the_exit() {
    for &cuc in Cuc::ALL {
        let mut rig = Rig::new(&cmt(Cmt { cuc, ..Cmt::default() }), 2, 5);
        rig.paths[P1].window.cwnd = ByteCount::new(40_000);
        for tsn in 5..=15 {
            rig.transmit(if tsn % 2 == 1 { P1 } else { P2 });
        }
        for last in [7, 9, 11] {
            let gaps: Vec<_> = (7..=last).step_by(2).map(|tsn| (tsn, tsn)).collect();
            rig.sack(4, &gaps, 1);
        }
        assert_eq!(rig.paths[P1].recovery, Some(rig.index(15)), "{cuc}");
        assert_eq!(rig.poll(), Some((P1, vec![5])), "{cuc}: the lost chunk");
        // 16 to 20 are new data on path 1: the path stays busy.
        (16..=20).for_each(|_| rig.transmit(P1));

        rig.sack(4, &[(7, 7), (9, 9), (11, 11), (13, 13), (15, 15)], 2);
        assert!(rig.paths[P1].recovery.is_some(), "{cuc}: 5 is still outstanding");
        rig.sack(5, &[(7, 7), (9, 9), (11, 11), (13, 13), (15, 15)], 1);
        assert!(rig.paths[P1].recovery.is_none(), "{cuc}: 5 to 15 are acknowledged on path 1");
        assert!(!rig.paths[P1].flight.is_zero(), "{cuc}: and the path is busy");
    }
}

/// Without CUC, too, cwnd grows again although the slow path holds back the cumulative TSN.
#[test]
fn the_window_grows_again_before_the_cumulative_tsn_passes_the_exit() {
    let grows = |recovery_by_cuc| {
        let config = Config {
            growth: cc::GrowthRule::Rfc9260,
            ..cmt(Cmt { recovery_by_cuc, cuc: Cuc::Normal, ..Cmt::default() })
        };
        let mut rig = Rig::new(&config, 2, 1);
        rig.transmit(P2);
        (2..=30).for_each(|_| rig.transmit(P1));
        rig.sack(0, &[(3, 3)], 1);
        rig.sack(0, &[(3, 4)], 1);
        rig.sack(0, &[(3, 5)], 1);
        assert_eq!(rig.poll(), Some((P1, vec![2])), "the lost chunk");
        rig.sack(0, &[(2, 30)], 3);
        rig.paths[P1].window.ssthresh = None;
        let before = rig.paths[P1].window.cwnd;
        (31..=60).for_each(|_| rig.transmit(P1));
        rig.sack(0, &[(2, 60)], 3);
        rig.paths[P1].window.cwnd > before
    };
    assert!(grows(true));
    assert!(
        !grows(false),
        "TSN 1 of the slow path is missing, so the recovery of the association's rule goes on"
    );
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Transmit(u8),
    Arrive(u8),
    Lose(u8),
    Sack,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        10 => (0u8..2).prop_map(Step::Transmit),
        9 => any::<u8>().prop_map(Step::Arrive),
        1 => any::<u8>().prop_map(Step::Lose),
        6 => Just(Step::Sack),
    ];
    proptest::collection::vec(step, 20..400)
}

/// For each path: indices of the chunks that were outstanding when its fast recovery began.
#[derive(Default)]
struct Begins([Option<BTreeSet<u64>>; 2]);

impl Begins {
    /// Checks after a SACK that a path is in fast recovery exactly while one of these chunks is outstanding.
    fn check(&mut self, rig: &Rig) -> Result<(), TestCaseError> {
        for (p, begin) in [P1, P2].into_iter().zip(&mut self.0) {
            let out = &rig.sender.out;
            let outstanding = |i: &u64| *i >= out.first_index() && !out[*i].is_acked();
            let open = begin.as_ref().map(|begin| begin.iter().any(outstanding));
            match (rig.paths[p].recovery.is_some(), open) {
                (true, Some(false)) | (false, Some(true)) => {
                    return Err(TestCaseError::fail(format!("{p:?}: {begin:?}, {open:?}")));
                }
                (false, _) => *begin = None,
                (true, Some(true)) => {}
                (true, None) => {
                    let own = out.indices().filter(|&i| out[i].path == p && !out[i].is_acked());
                    *begin = Some(own.collect());
                }
            }
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    /// Recovery of a path ends exactly at the first SACK after which all chunks are acknowledged that were
    /// outstanding on the path when recovery began. Chunks sent later do not matter.
    #[test]
    fn recovery_ends_when_chunks_outstanding_at_its_begin_are_acknowledged(
        steps in steps(),
        cuc in proptest::sample::select(Cuc::ALL),
        sfr in any::<bool>(),
    ) {
        // Retransmissions stay on their path, so that a path waits for a fixed set of chunks.
        let config = cmt(Cmt { cuc, sfr, rtx: RtxPolicy::Same, ..Cmt::default() });
        let mut rig = Rig::new(&config, 2, FIRST);
        let (mut world, mut begins) = (World::default(), Begins::default());
        for step in steps {
            rig.pass(Span::from_millis(1));
            match step {
                Step::Transmit(p) => {
                    world.flying.push(vec![rig.sender.out.next_index() as u32]);
                    rig.transmit(PathId(p));
                }
                Step::Arrive(k) | Step::Lose(k) if !world.flying.is_empty() => {
                    let packet = world.flying.remove(usize::from(k) % world.flying.len());
                    if matches!(step, Step::Arrive(_)) {
                        world.arrive(&packet);
                    }
                }
                Step::Arrive(_) | Step::Lose(_) => {}
                Step::Sack => {
                    let before = [P1, P2].map(|p| rig.paths[p].stats.fast_recoveries);
                    world.sack(&mut rig);
                    for (n, p) in [P1, P2].into_iter().enumerate() {
                        if rig.paths[p].stats.fast_recoveries != before[n] {
                            begins.0[n] = None; // one recovery ended and the next began with this SACK
                        }
                    }
                    begins.check(&rig)?;
                    drain(&mut rig, &mut world);
                }
            }
        }
    }
}
