//! Tests that a sender with data but nothing in flight sends or runs a timer, since no acknowledgement will
//! come.

use super::*;
use crate::config::{BufferSide, PathSelection, Reinjection, SplitBy};
use proptest::prelude::*;
use proptest::sample::select;

/// State of a path.
#[derive(Clone, Copy, Debug)]
struct Condition {
    state: PathState,
    timed_out: bool,
    silent: bool,
    /// Smoothed RTT in milliseconds; `None` if not measured.
    rtt: Option<u64>,
    /// cwnd in packets.
    cwnd: u64,
    burst_left: u32,
    /// Time in milliseconds until the path may carry data again.
    rests: u64,
}

fn condition() -> impl Strategy<Value = Condition> {
    let states = vec![
        PathState::Active,
        PathState::Active,
        PathState::PotentiallyFailed,
        PathState::Inactive,
        PathState::Unconfirmed,
    ];
    let flags = (any::<bool>(), any::<bool>());
    let rests = prop_oneof![4 => Just(0), 1 => 1u64..500];
    (select(states), flags, prop::option::of(0u64..500), 1u64..20, 0u32..3, rests).prop_map(
        |(state, (timed_out, silent), rtt, cwnd, burst_left, rests)| Condition {
            state,
            timed_out,
            silent,
            rtt,
            cwnd,
            burst_left,
            rests,
        },
    )
}

fn config() -> impl Strategy<Value = Config> {
    let sides = (select(BufferSide::ALL), select(BufferSide::ALL), select(SplitBy::ALL));
    let on = prop::array::uniform3(any::<bool>());
    (select(PathSelection::ALL), sides, select(Reinjection::ALL), on).prop_map(
        |(path_selection, (rescheduling, buffer_split, split_by), reinjection, on)| Config {
            nagle: on[2],
            send_buffer: ByteCount::new(60_000).into(),
            ..cmt(Cmt {
                enabled: on[0],
                keep_room: on[1],
                path_selection,
                rescheduling,
                buffer_split,
                split_by,
                reinjection,
                ..Cmt::default()
            })
        },
    )
}

impl Rig {
    fn set(&mut self, p: PathId, to: Condition) {
        let rests_until = self.now + Span::from_millis(to.rests);
        let path = &mut self.paths[p];
        (path.state, path.timed_out) = (to.state, to.timed_out);
        path.liveness.set(if to.silent { Life::Silent } else { Life::Proven });
        path.window.cwnd = path.mtu * to.cwnd;
        path.burst_left = to.burst_left;
        path.blocked_until = rests_until;
        if let Some(rtt) = to.rtt {
            path.rto.sample(Instant::ZERO, Span::from_millis(rtt), &self.sender.config);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// First, some data is sent and acknowledged, so that schedulers and copies have a history. Then the
    /// states of the paths and the peer's window are drawn at random.
    #[test]
    fn with_nothing_in_flight_an_active_path_is_admitted(
        config in config(),
        before in prop::array::uniform3(condition()),
        then in prop::array::uniform3(condition()),
        messages in 0usize..30,
        a_rwnd in select(vec![0u32, 1, 1500, 100_000]),
        later in 0u64..100,
    ) {
        let mut rig = Rig::new(&config, 3, 1);
        for (p, condition) in rig.paths.ids().zip(before) {
            rig.set(p, Condition { state: PathState::Active, ..condition });
        }
        for _ in 0..messages {
            rig.push(Message::new(Payload::Filler(1000))).unwrap();
        }
        rig.pass(Span::from_millis(500));
        while !rig.sender.is_drained() {
            while rig.poll().is_some() {}
            rig.now += Span::from_millis(later);
            let highest = rig.sender.out.next_index() - 1;
            rig.try_sack(highest as u32, &[], 1, 1 << 30).unwrap();
        }
        rig.now += Span::from_millis(later);
        rig.try_sack((rig.sender.out.next_index() - 1) as u32, &[], 1, a_rwnd).unwrap();
        rig.push(Message::new(Payload::Filler(1000))).unwrap();
        rig.pass(Span::ZERO);
        for (p, condition) in rig.paths.ids().zip(then) {
            rig.set(p, condition);
        }
        let waits = rig.sender.rest_ends(&rig.paths).is_some_and(|at| at > rig.now);
        let active: Vec<PathId> = rig.paths.ids().filter(|&p| rig.paths[p].is_active()).collect();
        match rig.poll() {
            None => prop_assert!(waits, "nothing is sent and no timer runs"),
            Some((p, _)) => prop_assert!(!config.cmt.enabled || active.is_empty() || active.contains(&p)),
        }
    }
}
