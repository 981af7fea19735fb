//! Laws that hold after any history of a path.

mod common;

use anabranch_cc::{Algorithm, GrowthRule, LossKind, Setup, UnsetShare, Window};
use common::{Bench, bytes, setup};
use proptest::prelude::*;

/// Something that happens to a path.
#[derive(Clone, Copy, Debug)]
enum Event {
    Sack { acked: u64, full: bool, advanced: bool, emptied: bool },
    Loss(LossKind),
    Recovery(bool),
    Idle,
}

fn event() -> impl Strategy<Value = Event> {
    let sack = (1..60_000u64, any::<bool>(), any::<bool>(), any::<bool>()).prop_map(
        |(acked, full, advanced, emptied)| Event::Sack { acked, full, advanced, emptied: emptied && !full },
    );
    prop_oneof![
        20 => sack,
        1 => Just(Event::Loss(LossKind::FastRetransmit)),
        1 => Just(Event::Loss(LossKind::Timeout)),
        1 => any::<bool>().prop_map(Event::Recovery),
        1 => Just(Event::Idle),
    ]
}

fn any_setup(paths: usize) -> impl Strategy<Value = Setup> {
    let growth = prop::sample::select(GrowthRule::ALL);
    let share = prop::sample::select(UnsetShare::ALL);
    (growth, share, 0..u64::from(u32::MAX)).prop_map(move |(growth, unset_share, rwnd)| Setup {
        initial_ssthresh: bytes(rwnd),
        unset_share,
        ..setup(growth, paths)
    })
}

fn happen(bench: &mut Bench, p: usize, event: Event) {
    match event {
        Event::Sack { acked, full, advanced, emptied } => {
            let mut ack = bench.ack_of(p, acked, full);
            ack.advanced = advanced;
            if emptied {
                ack.flight_after = bytes(0);
            }
            bench.sack(&[ack]);
        }
        Event::Loss(kind) => bench.loss(p, kind),
        Event::Recovery(on) => bench.paths[p].in_recovery = on,
        Event::Idle => bench.idle(p),
    }
}

fn state(bench: &Bench) -> Vec<(Window, u64)> {
    bench.paths.iter().enumerate().map(|(p, path)| (path.window, bench.pba(p))).collect()
}

proptest! {
    #[test]
    fn with_one_path_every_algorithm_is_its_parent(
        setup in any_setup(1),
        mtu in 576..9000u64,
        events in prop::collection::vec(event(), 1..200),
    ) {
        let history = |algorithm| {
            let mut bench = Bench::with_mtu(algorithm, &setup, mtu);
            let mut states = vec![state(&bench)];
            for &event in &events {
                happen(&mut bench, 0, event);
                states.push(state(&bench));
            }
            states
        };
        for &algorithm in Algorithm::ALL {
            prop_assert_eq!(history(algorithm), history(algorithm.alone()), "{}", algorithm);
        }
    }

    #[test]
    fn in_groups_of_their_own_paths_are_single_paths(
        setup in any_setup(3),
        events in prop::collection::vec((0..3usize, event()), 1..200),
    ) {
        let end = |algorithm| {
            let mut bench = Bench::new(algorithm, &setup);
            for p in 0..3 {
                bench.paths[p].group = p as u8;
                bench = bench.put(p, 6000, 0);
            }
            for &(p, event) in &events {
                happen(&mut bench, p, event);
            }
            state(&bench)
        };
        for &algorithm in Algorithm::ALL {
            prop_assert_eq!(end(algorithm), end(algorithm.alone()), "{}", algorithm);
        }
    }

    #[test]
    fn the_order_of_paths_in_a_sack_does_not_matter(
        setup in any_setup(3),
        history in prop::collection::vec((0..3usize, event()), 0..60),
        acked in prop::collection::vec((1..60_000u64, any::<bool>()), 3),
    ) {
        for &algorithm in Algorithm::ALL {
            let results = [[0, 1, 2], [2, 1, 0], [1, 0, 2]].map(|order| {
                let mut bench = Bench::new(algorithm, &setup);
                for &(p, event) in &history {
                    happen(&mut bench, p, event);
                }
                let acks = order.map(|p| bench.ack_of(p, acked[p].0, acked[p].1));
                bench.sack(&acks);
                state(&bench)
            });
            prop_assert_eq!(&results[0], &results[1]);
            prop_assert_eq!(&results[0], &results[2]);
        }
    }

    #[test]
    fn coupled_paths_together_grow_no_faster_than_one(
        setup in any_setup(4),
        thresholds in prop::collection::vec(prop::option::of(1500..1_000_000u64), 4),
    ) {
        let mut bench = Bench::new(Algorithm::CmtRpV1, &setup);
        for (p, s) in thresholds.into_iter().enumerate() {
            bench = bench.put(p, 6000, s.unwrap_or(0));
        }
        let acks: Vec<_> = (0..4).map(|p| bench.ack_of(p, 6000, true)).collect();
        bench.sack(&acks);
        let total: u64 = (0..4).map(|p| bench.cwnd(p) - 6000).sum();
        let segment = setup.segment(bytes(common::M)).get();
        // Each of four shares is rounded up by less than a byte.
        prop_assert!((segment..segment + 4).contains(&total), "{} of {}", total, segment);
    }
}
