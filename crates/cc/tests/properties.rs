//! Properties that hold after any sequence of events on a path.

use crate::common;

use anabranch_cc::{
    Algorithm, CongestionWindow, GrowthRule, LossKind, OneWayDelay, RateSample, Setup, TcpRules,
};
use common::{Bench, bytes, setup};
use proptest::prelude::*;
use units::Span;

#[derive(Clone, Copy, Debug)]
enum Event {
    Sack {
        acked: u64,
        full: bool,
        advanced: bool,
        emptied: bool,
        rtt: Option<u64>,
        owd: Option<i64>,
    },
    Loss(LossKind),
    Recovery(bool),
    Idle,
    /// A SACK of `acked` bytes. Its rate sample reports `lost` bytes lost and `prior` bytes delivered before.
    Sample {
        acked: u64,
        lost: u64,
        prior: u64,
        rate: u64,
        rtt: u64,
        app_limited: bool,
    },
    Sent(u64),
    Later(u64),
    Srtt(u64),
}

fn event() -> impl Strategy<Value = Event> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let delays = (prop::option::of(0..2_000_000_000u64), prop::option::of(-1_000_000_000..1_000_000_000i64));
    let sack = (1..60_000u64, flags, delays).prop_map(|(acked, (full, advanced, emptied), (rtt, owd))| {
        Event::Sack { acked, full, advanced, emptied: emptied && !full, rtt, owd }
    });
    let sample =
        (1..60_000u64, 0..30_000u64, 0..10_000_000u64, any::<u64>(), 1..2_000_000_000u64, any::<bool>())
            .prop_map(|(acked, lost, prior, rate, rtt, app_limited)| Event::Sample {
                acked,
                lost,
                prior,
                rate,
                rtt,
                app_limited,
            });
    prop_oneof![
        20 => sack,
        1 => Just(Event::Loss(LossKind::FastRetransmit)),
        1 => Just(Event::Loss(LossKind::Mark)),
        1 => Just(Event::Loss(LossKind::Timeout)),
        1 => any::<bool>().prop_map(Event::Recovery),
        1 => Just(Event::Idle),
        10 => sample,
        2 => (1..60_000u64).prop_map(Event::Sent),
        4 => (0..100_000_000_000u64).prop_map(Event::Later),
        2 => (0..2_000_000_000u64).prop_map(Event::Srtt),
    ]
}

fn sctp(paths: usize) -> impl Strategy<Value = Setup> {
    let growth = prop::sample::select(GrowthRule::ALL);
    (growth, 0..u64::from(u32::MAX))
        .prop_map(move |(growth, rwnd)| Setup { initial_ssthresh: bytes(rwnd), ..setup(growth, paths) })
}

fn tcp() -> impl Strategy<Value = Setup> {
    let abc = prop::option::of(1..4u32);
    (20..100u64, 0..20_000u64, abc, any::<bool>(), 0..u64::from(u32::MAX)).prop_map(
        |(headers, initial, abc_limit, grow_full_only, ssthresh)| {
            let (headers, initial_window) = (bytes(headers), bytes(initial));
            let rules = TcpRules { headers, initial_window, abc_limit, grow_full_only };
            Setup::tcp(rules, bytes(ssthresh))
        },
    )
}

fn happen(bench: &mut Bench, p: usize, event: Event) {
    match event {
        Event::Sack { acked, full, advanced, emptied, rtt, owd } => {
            let mut ack = bench.ack_of(p, acked, full);
            ack.advanced = advanced;
            ack.rtt = rtt.map(Span::from_nanos);
            ack.owd = owd.map(OneWayDelay::from_nanos);
            ack.flight_after = if emptied { bytes(0) } else { bytes(acked / 2 + 1) };
            bench.sack(&[ack]);
        }
        Event::Sample { acked, lost, prior, rate, rtt, app_limited } => {
            let mut ack = bench.ack_of(p, acked, false);
            ack.lost = bytes(lost);
            ack.rate = Some(RateSample {
                delivered: bytes(acked),
                interval: Span::from_nanos(rtt),
                rate: Some(units::BitRate::from_bps(rate)),
                prior_delivered: bytes(prior),
                prior_at: bench.now,
                app_limited,
                rtt: Some(Span::from_nanos(rtt)),
                tx_in_flight: bytes(acked + lost),
                lost: bytes(lost),
            });
            bench.sack(&[ack]);
        }
        Event::Sent(sent) => {
            let now = bench.now;
            bench.changing(|control, all, _| control.on_sent(now, all, p, bytes(sent), sent % 2 == 0));
        }
        Event::Loss(kind) => {
            bench.paths[p].flight = bytes(bench.cwnd(p) / 2);
            bench.loss(p, kind);
        }
        Event::Recovery(on) => bench.paths[p].in_recovery = on,
        Event::Idle => bench.idle(p),
        Event::Later(ns) => bench.now += Span::from_nanos(ns),
        Event::Srtt(ns) => bench.paths[p].srtt = Some(Span::from_nanos(ns)),
    }
}

fn state(bench: &Bench) -> Vec<(CongestionWindow, u64)> {
    bench.paths.iter().enumerate().map(|(p, path)| (path.window, bench.pba(p))).collect()
}

proptest! {
    #[test]
    fn on_one_path_every_algorithm_equals_its_parent(
        setup in prop_oneof![sctp(1), tcp()],
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
    fn paths_in_separate_groups_are_not_coupled(
        setup in sctp(3),
        events in prop::collection::vec((0..3usize, event()), 1..200),
    ) {
        let end = |algorithm| {
            let mut bench = Bench::in_groups(algorithm, &setup, common::M, &[0, 1, 2]);
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
    fn events_in_another_group_change_nothing(
        setup in sctp(3),
        events in prop::collection::vec((0..3usize, event()), 1..200),
    ) {
        let end = |algorithm, both: bool| {
            let mut bench = Bench::in_groups(algorithm, &setup, common::M, &[0, 0, 7]);
            for &(p, event) in &events {
                if both || p < 2 || matches!(event, Event::Later(_)) {
                    happen(&mut bench, p, event);
                }
            }
            state(&bench)[..2].to_vec()
        };
        for &algorithm in Algorithm::ALL {
            prop_assert_eq!(end(algorithm, true), end(algorithm, false), "{}", algorithm);
        }
    }

    #[test]
    fn order_of_paths_in_a_sack_does_not_matter(
        setup in sctp(3),
        history in prop::collection::vec((0..3usize, event()), 0..60),
        acked in prop::collection::vec((1..60_000u64, any::<bool>(), prop::option::of(0..2_000_000_000u64)), 3),
    ) {
        for &algorithm in Algorithm::ALL {
            let results = [[0, 1, 2], [2, 1, 0], [1, 0, 2]].map(|order| {
                let mut bench = Bench::new(algorithm, &setup);
                for &(p, event) in &history {
                    happen(&mut bench, p, event);
                }
                let acks = order.map(|p| {
                    let (bytes, full, rtt) = acked[p];
                    let mut ack = bench.ack_of(p, bytes, full);
                    ack.rtt = rtt.map(Span::from_nanos);
                    ack
                });
                bench.sack(&acks);
                state(&bench)
            });
            prop_assert_eq!(&results[0], &results[1], "{}", algorithm);
            prop_assert_eq!(&results[0], &results[2], "{}", algorithm);
        }
    }

    #[test]
    fn window_is_at_least_a_segment_and_bounded(
        setup in prop_oneof![sctp(3), tcp()],
        mtu in 576..9000u64,
        groups in prop::collection::vec(0..2u8, 3),
        events in prop::collection::vec((0..3usize, event()), 1..300),
    ) {
        let segment = setup.segment(bytes(mtu));
        for &algorithm in Algorithm::ALL {
            let mut bench = Bench::in_groups(algorithm, &setup, mtu, &groups[..setup.paths]);
            for &(p, event) in &events {
                let p = p % bench.paths.len();
                happen(&mut bench, p, event);
                for path in &bench.paths {
                    let cwnd = path.window.cwnd;
                    prop_assert!(cwnd >= segment && cwnd < bytes(1 << 41), "{}: {}", algorithm, cwnd);
                }
            }
        }
    }

    #[test]
    fn coupled_paths_together_grow_no_faster_than_one(
        setup in sctp(4),
        thresholds in prop::collection::vec(prop::option::of(1500..1_000_000u64), 4),
    ) {
        for algorithm in [Algorithm::CmtRpV1, Algorithm::CmtRpV2] {
            let mut bench = Bench::new(algorithm, &setup);
            for (p, s) in thresholds.iter().enumerate() {
                bench = bench.put(p, 6000, s.unwrap_or(0));
            }
            let acks: Vec<_> = (0..4).map(|p| bench.ack_of(p, 6000, true)).collect();
            bench.sack(&acks);
            let total: u64 = (0..4).map(|p| bench.cwnd(p) - 6000).sum();
            let segment = setup.segment(bytes(common::M)).get();
            // Each of four shares is rounded up by less than a byte. Paths in slow start and in avoidance all
            // grow, because each SACK acknowledges 6000 bytes, a whole window.
            prop_assert!((segment..segment + 4).contains(&total), "{}: {} of {}", algorithm, total, segment);
        }
    }
}
