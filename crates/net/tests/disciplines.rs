//! Queue disciplines of both kinds that are implemented outside the crate.

use crate::common;

use anabranch_net as net;
use common::disciplines::{Chance, Fifo, MarkWaiting, RoundRobin};
use common::{Arrived, Pair, STEADY, World, nanos, numbers, pair};
use net::{ChannelSpec, DropCause, Ecn, Impairments, LinkSpec, NetEvent, NetworkBuilder, NodeKind};
use net::{Discipline, Drops, Limit, Queue, QueueSpec, Queued, Server, Site, SpecFault};
use net::{Trace, TransmitterSpec};
use proptest::prelude::*;
use std::sync::Arc;
use units::{BitRate, Instant, Probability, Span};

/// A channel of 100 Mbit/s and 1 ms: a packet of 1500 bytes takes 120 us.
fn channel(discipline: impl Discipline + 'static) -> ChannelSpec {
    ChannelSpec {
        transmitter: BitRate::from_mbps(100).into(),
        delay: Span::from_millis(1).into(),
        queue: QueueSpec::custom(discipline),
        ..ChannelSpec::default()
    }
}

fn trace(text: &str) -> TransmitterSpec {
    TransmitterSpec::Trace(Arc::new(Trace::parse(text).unwrap()))
}

fn micros(arrived: &[Arrived]) -> Vec<u64> {
    arrived.iter().map(|packet| packet.at.as_nanos() / 1000).collect()
}

#[test]
fn a_server_chooses_the_next_packet_when_a_transmission_ends() {
    let mut builder = NetworkBuilder::new();
    let [a, b, server] = ["a", "b", "server"].map(|name| builder.add_node(name, STEADY));
    let router = builder.add_node("router", NodeKind::Router);
    for host in [a, b] {
        builder.add_link(LinkSpec::symmetric(host, router, 0, ChannelSpec::default()));
    }
    let link = builder.add_link(LinkSpec::symmetric(router, server, 0, channel(RoundRobin)));
    let mut world = World::new(builder);
    // Five packets of host a and three of host b arrive together. The server alternates between the flows
    // while packets of both wait.
    (0..5).for_each(|number| world.send(a, server, number, 1500));
    (10..13).for_each(|number| world.send(b, server, number, 1500));
    world.run(nanos(1));
    assert_eq!(world.network.backlog(link.forward(), nanos(1)).packets, 7);
    let arrived = world.run_all();
    assert_eq!(numbers(&arrived), [0, 10, 1, 11, 2, 12, 3, 4]);
    assert_eq!(micros(&arrived), (1..=8).map(|n| 1000 + 120 * n).collect::<Vec<_>>());
    let counters = world.network.counters(link.forward());
    assert_eq!((counters.offered, counters.delivered, counters.queue_max), (8, 8, 7));
}

#[test]
fn packets_of_one_flow_have_one_hash_and_other_ports_another() {
    // The ports are the first bytes of the payload, which are the number of the packet. So packets of equal
    // number are one flow.
    let Pair { mut world, client, server, .. } = pair(channel(RoundRobin));
    for number in [1, 1, 1, 1, 2, 2] {
        world.send(client, server, number, 1500);
    }
    assert_eq!(numbers(&world.run_all()), [1, 1, 2, 1, 2, 1]);
}

#[test]
fn a_packet_costs_an_event_more_only_if_it_waits() {
    let Pair { mut world, client, server, .. } = pair(channel(Fifo(100)));
    for number in 0..10 {
        world.send(client, server, number, 1500);
    }
    assert_eq!(world.run_all().len(), 10);
    assert_eq!(world.kernel.events_processed(), 10 + 9);
    for number in 0..10 {
        world.send(client, server, number, 1500);
        assert_eq!(world.run_all().len(), 1);
    }
    assert_eq!(world.kernel.events_processed(), 19 + 10);
}

#[test]
fn a_link_without_transmission_time_never_lets_a_packet_wait_in_a_server() {
    let Pair { mut world, client, server, link } =
        pair(ChannelSpec { transmitter: TransmitterSpec::Unlimited, ..channel(Fifo(1)) });
    (0..5).for_each(|number| world.send(client, server, number, 1500));
    assert_eq!(micros(&world.run_all()), [1000; 5]);
    assert_eq!(world.network.counters(link.forward()).queue_max, 0);
}

#[test]
fn a_failure_drops_the_packets_that_a_server_holds() {
    let Pair { mut world, client, server, link } = pair(channel(RoundRobin));
    world.kernel.schedule(nanos(300_000), NetEvent::fail(link));
    world.kernel.schedule(nanos(900_000), NetEvent::repair(link));
    (0..10).for_each(|number| world.send(client, server, number, 1500));
    world.run(nanos(300_000));
    assert_eq!(world.network.packets_in_use(), 0);
    assert_eq!(world.network.counters(link.forward()).dropped(DropCause::LinkDown), 10);
    world.run(nanos(900_000));
    (10..13).for_each(|number| world.send(client, server, number, 1500));
    // The transmitter's event planned for 360 us and the arrivals of the lost packets have no effect.
    let arrived = world.run_all();
    assert_eq!((numbers(&arrived), micros(&arrived)), (vec![10, 11, 12], vec![2020, 2140, 2260]));
}

#[test]
fn a_server_is_asked_at_each_delivery_opportunity_of_a_trace() {
    // The opportunities are at 5, 10, 10 and 20 ms; small packets share an opportunity.
    let transmitter = trace("5\n10\n10\n20\n");
    let Pair { mut world, client, server, .. } =
        pair(ChannelSpec { transmitter, delay: Span::ZERO.into(), ..channel(RoundRobin) });
    for (number, size) in [(1, 1500), (1, 500), (1, 1500), (2, 1500), (3, 700), (3, 700), (3, 700)] {
        world.send(client, server, number, size);
    }
    // Flows and bytes at each opportunity. 5 ms: 1 (1500). 10 ms: 2 (1500), then 3 (700), 1 (500) and the
    // first 300 of 3. 20 ms: the other 400 of 3, and 1100 of 1. 25 ms: the other 400 of 1, and 3 (700).
    let arrived = world.run_all();
    assert_eq!(numbers(&arrived), [1, 2, 3, 1, 3, 1, 3]);
    assert_eq!(micros(&arrived), [5000, 10_000, 10_000, 10_000, 20_000, 25_000, 25_000]);
}

#[test]
fn an_admission_on_a_trace_has_the_times_of_the_trace() {
    let transmitter = trace("5\n10\n10\n20\n");
    let queue = QueueSpec::DropTail(Limit::Packets(3));
    let Pair { mut world, client, server, link } =
        pair(ChannelSpec { transmitter, queue, ..ChannelSpec::default() });
    for number in 0..4 {
        world.send(client, server, number, 1500);
    }
    // All four packets wait for the first opportunity. The queue has room for three.
    let arrived = world.run_all();
    assert_eq!((numbers(&arrived), micros(&arrived)), (vec![0, 1, 2], vec![5000, 10_000, 10_000]));
    assert_eq!(world.network.counters(link.forward()).dropped(DropCause::QueueFull), 1);
    assert_eq!(world.kernel.events_processed(), 3);
}

#[test]
fn an_admission_marks_ecn_capable_packets_and_drops_others() {
    let Pair { mut world, client, server, link } = pair(channel(MarkWaiting));
    for ecn in [Ecn::NotCapable, Ecn::NotCapable, Ecn::Capable0, Ecn::Capable1, Ecn::NotCapable] {
        world.ecn = ecn;
        world.send(client, server, 0, 1500);
    }
    let fields: Vec<Ecn> = world.run_all().iter().map(|packet| packet.ecn).collect();
    let marked = Ecn::CongestionExperienced;
    assert_eq!(fields, [Ecn::NotCapable, Ecn::NotCapable, marked, marked]);
    let counters = world.network.counters(link.forward());
    assert_eq!((counters.marked, counters.dropped(DropCause::RedEarly)), (2, 1));
}

#[test]
fn a_server_marks_ecn_capable_packets_only() {
    for (ecn, capable) in [(Ecn::NotCapable, false), (Ecn::Capable0, true)] {
        let Pair { mut world, client, server, link } = pair(channel(Chance(1000)));
        world.ecn = ecn;
        (0..500).for_each(|number| world.send(client, server, number, 1500));
        let arrived = world.run_all();
        let marked = arrived.iter().filter(|packet| packet.ecn == Ecn::CongestionExperienced).count() as u64;
        assert_eq!(world.network.counters(link.forward()).marked, marked);
        assert_eq!(marked > 0, capable);
    }
}

#[test]
#[should_panic(expected = "a server must return a packet while it holds one")]
fn a_server_that_keeps_its_packets_panics() {
    #[derive(Debug)]
    struct Keep(Vec<Queued>);
    impl Discipline for Keep {
        fn build(&self, _site: &Site<'_>) -> Queue {
            Queue::server(Keep(Vec::new()))
        }
    }
    impl Server for Keep {
        fn enqueue(&mut self, _now: Instant, packet: Queued, _drops: &mut Drops) {
            self.0.push(packet);
        }
        fn dequeue(&mut self, _now: Instant, _drops: &mut Drops) -> Option<Queued> {
            None
        }
        fn drain(&mut self) -> Vec<Queued> {
            std::mem::take(&mut self.0)
        }
    }
    let Pair { mut world, client, server, .. } = pair(channel(Keep(Vec::new())));
    world.send(client, server, 0, 1500);
}

#[test]
fn a_wrong_parameter_of_a_discipline_is_refused_with_its_link() {
    #[derive(Debug)]
    struct Wrong;
    impl Discipline for Wrong {
        fn check(&self) -> Result<(), SpecFault> {
            Err(SpecFault { field: "target", expected: "more than 0 s" })
        }

        fn build(&self, _site: &Site<'_>) -> Queue {
            unreachable!("a wrong specification is not built")
        }
    }
    let mut builder = NetworkBuilder::new();
    let (a, b) = (builder.add_node("a", STEADY), builder.add_node("b", STEADY));
    builder.add_link(LinkSpec::symmetric(a, b, 0, channel(Wrong)));
    let error = builder.configure(&des::Streams::new(1, 0)).map(|_| ()).unwrap_err();
    assert_eq!(error.to_string(), "the queue of the link a-b has a wrong `target`: expected more than 0 s");
}

/// Sends `traffic` between two hosts over two routers, with this queue and
/// transmitter on all links. Returns the arrivals, and the counters of the links.
fn chain(
    queue: QueueSpec,
    transmitter: &TransmitterSpec,
    impairments: Impairments,
    traffic: &[(u64, usize)],
) -> (Vec<(Instant, u32, bool)>, Vec<net::Counters>) {
    let mut builder = NetworkBuilder::new();
    let kind = NodeKind::Host { jitter: Span::from_micros(30) };
    let (client, server) = (builder.add_node("client", kind), builder.add_node("server", kind));
    let routers = ["left", "right"].map(|name| builder.add_node(name, NodeKind::Router));
    let channel = ChannelSpec {
        transmitter: transmitter.clone(),
        delay: Span::from_micros(100).into(),
        queue,
        impairments,
        ..ChannelSpec::default()
    };
    let ends = [(client, routers[0]), (routers[0], routers[1]), (routers[1], server)];
    let links = ends.map(|(a, b)| builder.add_link(LinkSpec::symmetric(a, b, 0, channel.clone())));
    let mut world = World::new(builder);
    let mut arrived = Vec::new();
    for (number, &(at, size)) in traffic.iter().enumerate() {
        world.kernel.schedule(nanos(at), NetEvent::repair(links[0]));
        arrived.extend(world.run(nanos(at)));
        world.send(client, server, number as u32, size);
    }
    arrived.extend(world.run_all());
    let mut arrived: Vec<_> =
        arrived.iter().map(|packet| (packet.at, packet.number, packet.corrupted)).collect();
    // A duplicate may arrive out of order, at the same instant as another packet.
    arrived.sort_unstable();
    (arrived, links.iter().map(|link| *world.network.counters(link.forward())).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Times, drops, impairments and counters are equal.
    #[test]
    fn a_fifo_server_and_drop_tail_give_the_same_run(
        gaps in prop::collection::vec((0..200_000u64, 60..1500usize), 1..200),
        mbps in 20..200u64, on_trace in any::<bool>(), p in 0.0..0.2f64,
    ) {
        let mut at = 0;
        // About half of the packets arrive together with the previous packet. Arrivals at whole microseconds
        // often coincide with ends of transmissions.
        let traffic: Vec<_> = gaps.iter().map(|&(gap, size)| {
            at += if gap % 2 == 0 { 0 } else { gap / 1000 * 1000 };
            (at, size)
        }).collect();
        let p = Probability::new(p).unwrap();
        let bit_errors = Probability::new(1e-6).unwrap();
        // On a trace, a duplicate may arrive at a router at the same instant as another packet, in any order.
        let duplication = if on_trace { Probability::ZERO } else { p };
        let impairments = Impairments { loss: p, duplication, bit_errors, ..Impairments::default() };
        let transmitter =
            if on_trace { trace("0\n1\n1\n2\n5\n") } else { BitRate::from_mbps(mbps).into() };
        for (drop_tail, fifo) in [(Limit::Packets(5), Fifo(5)), (Limit::NONE, Fifo(usize::MAX))] {
            let admission = chain(QueueSpec::DropTail(drop_tail), &transmitter, impairments, &traffic);
            let server = chain(QueueSpec::custom(fifo), &transmitter, impairments, &traffic);
            prop_assert_eq!(admission, server);
        }
    }
}

#[test]
fn the_draws_of_a_server_depend_on_the_seed_and_not_on_other_links() {
    let run = |seed: u64, extra: bool| {
        let mut builder = NetworkBuilder::new();
        if extra {
            let ends = [builder.add_node("x", STEADY), builder.add_node("y", STEADY)];
            builder.add_link(LinkSpec::symmetric(ends[0], ends[1], 9, channel(Chance(3))));
        }
        let (a, b) = (builder.add_node("a", STEADY), builder.add_node("b", STEADY));
        builder.add_link(LinkSpec::symmetric(a, b, 1, channel(Chance(50))));
        let mut world = World::seeded(builder, seed);
        (0..100).for_each(|number| world.send(a, b, number, 1000));
        numbers(&world.run(Instant::FAR))
    };
    assert_eq!(run(1, false), run(1, true));
    assert_ne!(run(1, false), run(2, false));
}
