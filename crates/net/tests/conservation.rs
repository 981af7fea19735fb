//! Properties of random networks with random traffic.

use crate::common;

use anabranch_net as net;
use common::disciplines::Chance;
use common::{Arrived, World, nanos, numbers};
use net::{
    ChannelSpec, CodelSpec, Impairments, LinkDir, LinkId, LinkSpec, LossBursts, NetEvent, NetworkBuilder,
    NodeId, NodeKind,
};
use net::{
    Limit, QueueSpec, RateModel, RateModelKind, RedQuirk, RedSpec, RedUnit, TokenBucket, Trace,
    TransmitterSpec,
};
use proptest::prelude::*;
use std::sync::Arc;
use units::{BitRate, ByteCount, Probability, Span};

/// Two dual-homed hosts with a direct link and a path over two routers. The link between the routers has the
/// queue of a [`Core`].
struct Plant {
    world: World,
    hosts: [NodeId; 2],
    links: Vec<LinkId>,
}

/// The queue, and perhaps the transmitter, of the link between the routers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Core {
    Red,
    Server,
    ServerOnTrace,
    DropTailOnTrace,
    /// Drop-tail, behind a policer and before a shaper, on a random rate with pauses.
    Buckets,
    /// As `Buckets`, with CoDel instead of drop-tail.
    CodelInBuckets,
}

fn core() -> impl Strategy<Value = Core> {
    use Core::{Buckets, CodelInBuckets, DropTailOnTrace, Red, Server, ServerOnTrace};
    prop::sample::select(vec![Red, Server, ServerOnTrace, DropTailOnTrace, Buckets, CodelInBuckets])
}

fn plant(core: Core, impairments: Impairments, mbps: u64, limit: u64, seed: u64) -> Plant {
    let mut builder = NetworkBuilder::new();
    let kind = NodeKind::Host { jitter: Span::from_micros(30) };
    let hosts = [builder.add_node("a", kind), builder.add_node("b", kind)];
    let routers = [builder.add_node("left", NodeKind::Router), builder.add_node("right", NodeKind::Router)];
    let transmitter = BitRate::from_mbps(mbps).into();
    let tail = ChannelSpec {
        transmitter,
        delay: Span::from_micros(200).into(),
        queue: QueueSpec::DropTail(Limit::Packets(limit)),
        impairments,
        ..ChannelSpec::default()
    };
    let red = RedSpec {
        weight: 0.1,
        min: 2.0,
        max: 6.0,
        max_p: Probability::new(0.2).unwrap(),
        limit: 8.0,
        unit: RedUnit::Packets,
        mean_packet: ByteCount::new(800),
        packet_rate: None,
        gentle: false,
        ecn: false,
        quirk: RedQuirk::None,
    };
    let mut middle = tail.clone();
    match core {
        Core::Red => middle.queue = QueueSpec::Red(red),
        Core::Server | Core::ServerOnTrace => middle.queue = QueueSpec::custom(Chance(limit as usize)),
        Core::CodelInBuckets => middle.queue = QueueSpec::Codel(CodelSpec::default()),
        Core::DropTailOnTrace | Core::Buckets => {}
    }
    if matches!(core, Core::ServerOnTrace | Core::DropTailOnTrace) {
        // Times in ms. Packets of up to 1600 bytes may need two opportunities.
        let trace = Trace::parse("0\n1\n1\n2\n5\n").unwrap();
        middle.transmitter = TransmitterSpec::Trace(Arc::new(trace));
    }
    if matches!(core, Core::Buckets | Core::CodelInBuckets) {
        let bucket = |mbps| TokenBucket { rate: BitRate::from_mbps(mbps), burst: ByteCount::new(3000) };
        (middle.policer, middle.shaper) = (Some(bucket(2 * mbps)), Some(bucket(mbps)));
        let model = RateModel::new(RateModelKind::Satellite, BitRate::from_mbps(mbps));
        middle.transmitter = TransmitterSpec::Model(RateModel { time_scale: Span::from_millis(1), ..model });
    }
    let links = vec![
        builder.add_link(LinkSpec::symmetric(hosts[0], hosts[1], 1, tail.clone())),
        builder.add_link(LinkSpec::symmetric(hosts[0], routers[0], 2, tail.clone())),
        builder.add_link(LinkSpec::symmetric(routers[0], routers[1], 2, middle)),
        builder.add_link(LinkSpec::symmetric(routers[1], hosts[1], 2, tail)),
    ];
    Plant { world: World::seeded(builder, seed), hosts, links }
}

#[derive(Clone, Debug)]
enum Step {
    Send { from: usize, path: usize, size: usize },
    Run { nanos: u64 },
    Fail { link: usize },
    Repair { link: usize },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let send = || {
        (0..2usize, 0..2usize, 60..1600usize).prop_map(|(from, path, size)| Step::Send { from, path, size })
    };
    let step = prop_oneof![
        10 => send(),
        3 => (0..400_000u64).prop_map(|nanos| Step::Run { nanos }),
        1 => (0..4usize).prop_map(|link| Step::Fail { link }),
        1 => (0..4usize).prop_map(|link| Step::Repair { link }),
    ];
    prop::collection::vec(step, 1..400)
}

fn bursts() -> LossBursts {
    let p = |p| Probability::new(p).unwrap();
    LossBursts { to_bad: p(0.1), to_good: p(0.5), good: p(0.0), bad: p(0.5) }
}

fn impairments() -> impl Strategy<Value = Impairments> {
    let p = || prop_oneof![Just(0.0), 0.0..0.3].prop_map(|p| Probability::new(p).unwrap());
    let jitter = prop_oneof![Just(0), 0..300u64].prop_map(Span::from_micros);
    let draws = (jitter, any::<bool>(), p(), any::<bool>(), p(), p());
    draws.prop_map(|(jitter, jitter_reorders, loss, has_bursts, duplication, reordering)| Impairments {
        jitter,
        jitter_reorders,
        loss,
        loss_bursts: has_bursts.then(bursts),
        duplication,
        reordering,
        reordering_delay: Span::from_micros(150),
        bit_errors: Probability::new(1e-5).unwrap(),
    })
}

/// Plays `steps` on the network under test and then runs until
/// nothing is left; `check` sees the network after each step.
fn play(plant: &mut Plant, steps: &[Step], check: impl Fn(&Plant)) -> Vec<Arrived> {
    let mut arrived = Vec::new();
    let mut horizon = 0;
    for (number, step) in steps.iter().enumerate() {
        let Plant { world, hosts, links } = &mut *plant;
        match *step {
            Step::Send { from, path, size } => {
                let (src, dst) = (world.ipv4(hosts[from], path), world.ipv4(hosts[1 - from], path));
                world.send_to(hosts[from], src, dst, number as u32, size);
            }
            Step::Run { nanos: more } => {
                horizon += more;
                arrived.extend(world.run(nanos(horizon)));
            }
            Step::Fail { link } => world.kernel.schedule(nanos(horizon), NetEvent::fail(links[link])),
            Step::Repair { link } => world.kernel.schedule(nanos(horizon), NetEvent::repair(links[link])),
        }
        check(plant);
    }
    arrived.extend(plant.world.run_all());
    arrived
}

fn directions(plant: &Plant) -> impl Iterator<Item = LinkDir> {
    plant.links.iter().flat_map(|link| [link.forward(), link.backward()])
}

/// Number of packets on all links according to the counters.
fn under_way(plant: &Plant) -> u64 {
    directions(plant)
        .map(|direction| {
            let counters = plant.world.network.counters(direction);
            counters.offered + counters.duplicated - counters.delivered - counters.dropped_in_all()
        })
        .sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// At the end no packet is on a link. Drops are counted by cause.
    #[test]
    fn each_packet_is_delivered_dropped_or_under_way(
        steps in steps(), core in core(), impairments in impairments(),
        mbps in 1..200u64, limit in 1..20u64, seed in any::<u64>()
    ) {
        let mut plant = plant(core, impairments, mbps, limit, seed);
        let arrived = play(&mut plant, &steps, |plant| {
            assert_eq!(under_way(plant), plant.world.network.packets_in_use() as u64);
        });
        prop_assert_eq!(plant.world.network.packets_in_use(), 0);
        let sent = steps.iter().filter(|step| matches!(step, Step::Send { .. })).count() as u64;
        let (mut copies, mut drops) = (0, 0);
        for direction in directions(&plant) {
            let counters = plant.world.network.counters(direction);
            copies += counters.duplicated;
            drops += counters.dropped_in_all();
        }
        prop_assert_eq!(sent + copies, arrived.len() as u64 + drops + plant.world.network.unroutable());
    }

    /// The same seed gives the same run.
    #[test]
    fn a_run_repeats_to_the_nanosecond(
        steps in steps(), core in core(), impairments in impairments(), seed in any::<u64>()
    ) {
        let run = || {
            let mut plant = plant(core, impairments, 20, 10, seed);
            let arrived = play(&mut plant, &steps, |_| {});
            (arrived, plant.world.network.digest(), plant.world.kernel.events_processed())
        };
        prop_assert_eq!(run(), run());
    }

    /// If neither jitter nor the wire reorders, packets of a path arrive in the order they were sent.
    #[test]
    fn first_in_first_out_queues_and_a_wire_without_reordering_keep_the_order(
        steps in steps(), core in core(), jitter in 0..2000u64, seed in any::<u64>()
    ) {
        // These servers choose packets at random, so they do not keep the order.
        prop_assume!(!matches!(core, Core::Server | Core::ServerOnTrace));
        let (loss, jitter) = (Probability::new(0.1).unwrap(), Span::from_micros(jitter));
        let impairments = Impairments { loss, jitter, loss_bursts: Some(bursts()), ..Default::default() };
        let mut plant = plant(core, impairments, 20, 10, seed);
        let arrived = play(&mut plant, &steps, |_| {});
        for (from, path) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let of_path = |packet: &&Arrived| {
                matches!(steps[packet.number as usize], Step::Send { from: f, path: p, .. } if (f, p) == (from, path))
            };
            let order = numbers(&arrived.iter().filter(of_path).cloned().collect::<Vec<_>>());
            prop_assert!(order.is_sorted(), "{:?}", order);
        }
    }
}

#[test]
fn another_seed_gives_another_run() {
    let steps: Vec<Step> = (0..200).map(|_| Step::Send { from: 0, path: 0, size: 1000 }).collect();
    let digest = |seed| {
        let mut plant = plant(Core::Red, Impairments::default(), 20, 300, seed);
        play(&mut plant, &steps, |_| {});
        plant.world.network.digest()
    };
    assert_eq!(digest(1), digest(1));
    assert_ne!(digest(1), digest(2));
}

#[test]
fn a_further_component_leaves_the_draws_of_the_others_unchanged() {
    let run = |extra: bool| {
        let mut builder = NetworkBuilder::new();
        let kind = NodeKind::Host { jitter: Span::from_micros(30) };
        if extra {
            let pair = [builder.add_node("x", kind), builder.add_node("y", kind)];
            builder.add_link(LinkSpec::symmetric(pair[0], pair[1], 9, ChannelSpec::default()));
        }
        let (a, b) = (builder.add_node("a", kind), builder.add_node("b", kind));
        let loss = Probability::new(0.2).unwrap();
        let impairments = Impairments { loss, jitter: Span::from_micros(9), ..Default::default() };
        builder.add_link(LinkSpec::symmetric(a, b, 1, ChannelSpec { impairments, ..Default::default() }));
        let mut world = World::new(builder);
        for number in 0..100 {
            world.send(a, b, number, 1000);
        }
        world.run_all().into_iter().map(|packet| (packet.at, packet.number)).collect::<Vec<_>>()
    };
    assert_eq!(run(false), run(true));
}
