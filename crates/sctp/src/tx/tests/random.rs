//! Tests random histories: the sender's lists and sums of chunks stay right, and all data arrives.

use super::pacing::Paced;
use super::*;
use crate::config::{BufferSide, Cuc, LossDetection, PathSelection, Reinjection, RtxPolicy, SplitBy};
use crate::tx::Outstanding;
use proptest::prelude::*;
use std::collections::BTreeSet;
use units::BitRate;

#[derive(Clone, Copy, Debug)]
enum Step {
    Push(u8),
    /// The packet at this position in the list of packets in flight arrives.
    Arrive(u8),
    Lose(u8),
    Sack,
    /// The peer makes its lowest renegable TSN non-renegable, and sends an NR-SACK.
    Promise,
    /// The peer reneges on its highest renegable TSN.
    Renege,
    /// The sender abandons one of its outstanding chunks.
    Abandon(u8),
    Timeout(u8),
    Fail(u8),
    Recover(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (1u8..20).prop_map(Step::Push),
        20 => any::<u8>().prop_map(Step::Arrive),
        4 => any::<u8>().prop_map(Step::Lose),
        10 => Just(Step::Sack),
        3 => Just(Step::Promise),
        1 => Just(Step::Renege),
        1 => any::<u8>().prop_map(Step::Abandon),
        1 => (0u8..3).prop_map(Step::Timeout),
        1 => (0u8..3).prop_map(Step::Fail),
        2 => (0u8..3).prop_map(Step::Recover),
    ];
    proptest::collection::vec(step, 1..300)
}

fn configs() -> impl Strategy<Value = Config> {
    let options = proptest::array::uniform12(any::<bool>());
    let sides = (proptest::sample::select(BufferSide::ALL), proptest::sample::select(BufferSide::ALL));
    let split = (sides, proptest::sample::select(SplitBy::ALL), prop_oneof![Just(20_000u64), Just(1 << 30)]);
    let reinjection = proptest::sample::select(Reinjection::ALL);
    let (cuc, rtx) = (proptest::sample::select(Cuc::ALL), proptest::sample::select(RtxPolicy::ALL));
    let selection = proptest::sample::select(PathSelection::ALL);
    let rule = proptest::sample::select(cc::GrowthRule::ALL);
    let algorithm = proptest::sample::select(cc::Algorithm::ALL);
    (options, cuc, rtx, selection, rule, algorithm, split, reinjection).prop_map(
        |(o, cuc, rtx, path_selection, rule, a, split, reinjection)| {
            let ((buffer_split, rescheduling), split_by, buffer) = split;
            let options = Cmt {
                enabled: o[0],
                sfr: o[1],
                dac: o[2],
                cuc,
                rtx,
                path_selection,
                smart_t3: o[3],
                smart_fast_rtx: o[4],
                rtt_heuristic: o[5],
                recovery_by_cuc: o[6],
                groups: if o[7] { vec![0, 1] } else { Vec::new() },
                buffer_split,
                split_by,
                rescheduling,
                reinjection,
                detect_bottlenecks: o[11],
                keep_room: o[8],
            };
            let mut config = cmt(options.clone());
            config.cmt.enabled = options.enabled;
            config.send_buffer = ByteCount::new(buffer).into();
            config.loss_detection = if o[9] { LossDetection::Rack } else { LossDetection::MissingReports };
            config.lean_sacks = o[10];
            (config.growth, config.congestion_control) = (rule, a.into());
            config
        },
    )
}

/// A peer, and the packets in flight to it.
#[derive(Default)]
pub(super) struct World {
    pub(super) flying: Vec<Vec<u32>>,
    held: BTreeSet<u32>,
    /// TSNs among `held` that are non-renegable.
    promised: BTreeSet<u32>,
    /// Abandoned chunks. The peer skips them as after a FORWARD TSN.
    abandoned: BTreeSet<u32>,
    received: u32,
    packets: u8,
}

impl World {
    pub(super) fn arrive(&mut self, packet: &[u32]) {
        self.packets = self.packets.saturating_add(1);
        for &tsn in packet {
            let ahead = tsn.wrapping_sub(FIRST);
            if ahead >= self.received {
                self.held.insert(ahead);
            }
        }
        self.advance();
    }

    /// Advances the cumulative TSN over arrived and abandoned chunks.
    fn advance(&mut self) {
        while self.held.remove(&self.received) || self.abandoned.contains(&self.received) {
            self.promised.remove(&self.received);
            self.received += 1;
        }
    }

    fn abandon(&mut self, rig: &mut Rig, which: u8) {
        let outstanding = rig.sender.out.len();
        if outstanding > 0 {
            let i = rig.sender.out.first_index() + (usize::from(which) % outstanding) as u64;
            let tsn = Outstanding::tsn(i).0;
            rig.abandon(tsn);
            self.abandoned.insert(tsn.wrapping_sub(FIRST));
        }
    }

    fn promise(&mut self, rig: &mut Rig) {
        self.advance();
        self.promised.extend(self.held.difference(&self.promised).next().copied());
        let renegable = self.held.difference(&self.promised).copied().collect();
        let (gaps, nr_gaps) = (ranges(&renegable), ranges(&self.promised));
        rig.nr_sack(FIRST.wrapping_add(self.received).wrapping_sub(1), &gaps, &nr_gaps);
    }

    /// Drops the highest renegable TSN.
    fn renege(&mut self) {
        if let Some(&highest) = self.held.difference(&self.promised).last() {
            self.held.remove(&highest);
        }
    }

    pub(super) fn sack(&mut self, rig: &mut Rig) {
        self.advance();
        let gaps = ranges(&self.held);
        rig.sack(FIRST.wrapping_add(self.received).wrapping_sub(1), &gaps, self.packets.min(3));
        self.packets = 0;
    }
}

/// Ranges of successive TSNs.
fn ranges(held: &BTreeSet<u32>) -> Vec<(u32, u32)> {
    let mut gaps: Vec<(u32, u32)> = Vec::new();
    for &ahead in held {
        let tsn = FIRST.wrapping_add(ahead);
        match gaps.last_mut() {
            Some((_, last)) if last.wrapping_add(1) == tsn => *last = tsn,
            _ => gaps.push((tsn, tsn)),
        }
    }
    gaps
}

/// The first TSN; TSNs wrap after 21 chunks.
pub(super) const FIRST: u32 = u32::MAX - 20;

pub(super) fn drain(rig: &mut Rig, world: &mut World) {
    while let Some((_, tsns)) = rig.poll() {
        for tsn in &tsns {
            let abandoned = world.abandoned.contains(&tsn.wrapping_sub(FIRST));
            assert!(!abandoned, "abandoned chunk {tsn} is sent");
        }
        world.flying.push(tsns);
    }
    rig.audit();
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]
    #[test]
    fn every_chunk_is_accounted_for_and_arrives(
        config in configs(),
        steps in steps(),
        mbps in proptest::option::of(1u64..200),
    ) {
        let mut rig = Rig::new(&config, 3, FIRST);
        let told = mbps.map(|mbps| {
            Paced::install(&mut rig, config.congestion_control.clone(), vec![BitRate::from_mbps(mbps); 3])
        });
        let mut world = World::default();
        for step in steps {
            rig.pass(Span::from_millis(3));
            for p in [0, 1, 2].map(PathId) {
                rig.sender.on_reordering_timeout(rig.now, p, &mut rig.paths);
            }
            match step {
                Step::Push(n) => for _ in 0..n {
                    let payload = Payload::Filler(CHUNK as u32 / u32::from(n));
                    let refused = rig.push(Message::new(payload)).is_err();
                    prop_assert!(!refused || rig.sender.buffered().get() > 20_000 - 2 * CHUNK);
                },
                Step::Arrive(k) | Step::Lose(k) if !world.flying.is_empty() => {
                    let packet = world.flying.remove(usize::from(k) % world.flying.len());
                    if matches!(step, Step::Arrive(_)) {
                        world.arrive(&packet);
                    }
                }
                Step::Arrive(_) | Step::Lose(_) => {}
                Step::Sack => world.sack(&mut rig),
                Step::Promise => world.promise(&mut rig),
                Step::Renege => world.renege(),
                Step::Abandon(k) => world.abandon(&mut rig, k),
                Step::Timeout(p) => if rig.paths[PathId(p)].t3.is_some() { rig.t3(PathId(p)); },
                Step::Fail(p) => rig.paths[PathId(p)].state = PathState::Inactive,
                Step::Recover(p) => rig.paths[PathId(p)].state = PathState::Active,
            }
            drain(&mut rig, &mut world);
        }
        // From here on the network loses nothing: acknowledgements and timers alone must deliver all data.
        for _ in 0..2000 {
            if rig.sender.is_drained() {
                break;
            }
            for packet in std::mem::take(&mut world.flying) {
                world.arrive(&packet);
            }
            world.sack(&mut rig);
            rig.pass(Span::from_millis(20));
            drain(&mut rig, &mut world);
            if world.flying.is_empty() {
                if let Some(at) = rig.sender.rest_ends(&rig.paths) {
                    rig.pass(at.since(rig.now));
                    drain(&mut rig, &mut world);
                    continue;
                }
                let due = rig.paths.ids().filter_map(|p| rig.paths[p].t3.map(|at| (at, p))).min();
                let Some((at, p)) = due else { continue };
                rig.now = rig.now.max(at);
                rig.t3(p);
                drain(&mut rig, &mut world);
            }
        }
        prop_assert!(rig.sender.is_drained(), "{} chunks left", rig.sender.outstanding_chunks());
        prop_assert!(rig.paths.flight().is_zero());
        if let Some(told) = told {
            let sent: Vec<u64> = rig.paths.iter().map(|path| path.stats.user_bytes.get()).collect();
            prop_assert_eq!(&told.lock().unwrap().sent, &sent, "every byte is told once");
        }
    }
}
