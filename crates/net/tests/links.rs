//! Links: times to the nanosecond, drops and impairments.

use crate::common;

use anabranch_net as net;
use common::{Pair, STEADY, World, nanos, numbers, pair, pair_of};
use net::{ChannelSpec, DelaySeries, DelaySpec, DropCause, Impairments, Limit, LinkSpec, Model, NetEvent};
use net::{NetworkBuilder, NodeKind, RateModelKind};
use net::{QueueSpec, RedQuirk, RedSpec, RedUnit};
use std::sync::Arc;
use units::{BitRate, ByteCount, Instant, Probability, Span};

/// A channel of 100 Mbit/s, 1 ms and PPP framing: a packet of 1500 bytes takes 120.56 us.
fn fast() -> ChannelSpec {
    ChannelSpec {
        transmitter: BitRate::from_mbps(100).into(),
        delay: Span::from_millis(1).into(),
        framing: ByteCount::new(7),
        ..ChannelSpec::default()
    }
}

fn impaired(impairments: Impairments) -> ChannelSpec {
    ChannelSpec { impairments, queue: QueueSpec::DropTail(Limit::NONE), ..fast() }
}

fn probability(p: f64) -> Probability {
    Probability::new(p).unwrap()
}

#[test]
fn a_packet_arrives_after_waiting_transmission_and_propagation() {
    let Pair { mut world, client, server, link } = pair(fast());
    for number in 0..3 {
        world.send(client, server, number, 1500);
    }
    let times: Vec<u64> = world.run_all().iter().map(|packet| packet.at.as_nanos()).collect();
    assert_eq!(times, [1_120_560, 1_241_120, 1_361_680]);
    let counters = world.network.counters(link.forward());
    assert_eq!((counters.delivered, counters.delivered_bytes), (3, ByteCount::new(3 * 1507)));
    assert_eq!(counters.queue_max, 2);
}

#[test]
fn rounding_errors_of_transmission_times_do_not_add_up() {
    // 1500 bytes at 7 Mbit/s take 1714285 and 5/7 ns.
    let transmitter = BitRate::from_mbps(7).into();
    let Pair { mut world, client, server, .. } =
        pair(ChannelSpec { transmitter, queue: QueueSpec::DropTail(Limit::NONE), ..ChannelSpec::default() });
    for number in 0..7000 {
        world.send(client, server, number, 1500);
    }
    assert_eq!(world.run_all().last().unwrap().at, Instant::ZERO + Span::from_secs(12));
}

#[test]
fn the_remainder_of_a_transmission_time_is_not_carried_over_idle_time() {
    let transmitter = BitRate::from_mbps(7).into();
    let Pair { mut world, client, server, link } =
        pair(ChannelSpec { transmitter, ..ChannelSpec::default() });
    for number in 0..3 {
        world.send(client, server, number, 1500);
        let at = world.kernel.now();
        // Each transmission starts at a whole nanosecond. If the remainder of 5/7 ns were carried over, the
        // second transmission would take 1 ns longer.
        assert_eq!(world.run_all()[0].at - at, Span::from_nanos(1_714_285));
        world.kernel.schedule(world.kernel.now() + Span::from_nanos(1), NetEvent::repair(link));
        world.run_all();
    }
}

/// The average of RED (Floyd and Jacobson 1993, section 4) follows the queue length at each arrival and
/// decays with the time since the queue emptied.
#[test]
fn the_average_of_red_follows_arrivals_and_idle_time() {
    let red = RedSpec {
        weight: 0.1,
        min: 50.0,
        max: 60.0,
        max_p: Probability::ZERO,
        limit: 100.0,
        unit: RedUnit::Packets,
        mean_packet: ByteCount::new(1500),
        packet_rate: Some(10_000.0),
        gentle: false,
        ecn: false,
        quirk: RedQuirk::None,
    };
    let Pair { mut world, client, server, link } = pair(ChannelSpec { queue: QueueSpec::Red(red), ..fast() });
    for number in 0..5 {
        world.send(client, server, number, 1500);
    }
    // The five packets find 0, 0, 1, 2 and 3 packets waiting.
    let mut average = 0.0;
    for length in [1.0, 2.0, 3.0] {
        average += 0.1 * (length - average);
    }
    let measured = |world: &World| world.network.red_average(link.forward()).unwrap();
    assert!((measured(&world) - average).abs() < 1e-12);
    // The queue emptied at 482.24 us. The next packet arrives 10 ms later, the time of 100 packets.
    let next = nanos(4 * 120_560) + Span::from_millis(10);
    world.kernel.schedule(next, NetEvent::repair(link));
    world.run_all();
    assert_eq!(world.kernel.now(), next);
    world.send(client, server, 5, 1500);
    average *= 0.9_f64.powi(100);
    assert!((measured(&world) / average - 1.0).abs() < 1e-9, "{} is not {average}", measured(&world));
}

#[test]
fn directions_are_independent_and_may_differ() {
    let mut builder = NetworkBuilder::new();
    let (a, b) = (builder.add_node("a", STEADY), builder.add_node("b", STEADY));
    let slow = ChannelSpec {
        transmitter: BitRate::from_mbps(1).into(),
        delay: Span::from_millis(5).into(),
        ..fast()
    };
    builder.add_link(LinkSpec { backward: slow, ..LinkSpec::symmetric(a, b, 1, fast()) });
    let mut world = World::new(builder);
    world.send(a, b, 1, 1500);
    world.send(b, a, 2, 1500);
    let arrived = world.run_all();
    assert_eq!(numbers(&arrived), [1, 2]);
    assert_eq!((arrived[0].at, arrived[1].at), (nanos(1_120_560), nanos(5_000_000 + 12_056_000)));
}

#[test]
fn a_full_queue_drops_and_has_room_again_when_a_transmission_starts() {
    let Pair { mut world, client, server, link } =
        pair(ChannelSpec { queue: QueueSpec::DropTail(Limit::Packets(2)), ..fast() });
    for number in 0..5 {
        world.send(client, server, number, 1500);
    }
    let waiting = |world: &mut World| world.network.backlog(link.forward(), world.kernel.now()).packets;
    assert_eq!(waiting(&mut world), 2);
    // At 120.56 us the second transmission starts. A repair event, which changes nothing, stops the clock at
    // that time.
    world.kernel.schedule(nanos(120_560), NetEvent::repair(link));
    assert!(world.run(nanos(120_560)).is_empty());
    assert_eq!(waiting(&mut world), 1);
    world.send(client, server, 5, 1500);
    world.send(client, server, 6, 1500);
    assert_eq!(numbers(&world.run_all()), [0, 1, 2, 5]);
    assert_eq!(world.network.counters(link.forward()).dropped(DropCause::QueueFull), 3);
}

#[test]
fn a_byte_limit_counts_ip_packets_without_framing() {
    let Pair { mut world, client, server, link } =
        pair(ChannelSpec { queue: QueueSpec::DropTail(Limit::Bytes(ByteCount::new(2000))), ..fast() });
    for (number, size) in [1500, 1500, 600, 500, 100].into_iter().enumerate() {
        world.send(client, server, number as u32, size);
    }
    assert_eq!(numbers(&world.run_all()), [0, 1, 3]);
    assert_eq!(world.network.counters(link.forward()).dropped_in_all(), 2);
}

#[test]
fn the_mtu_holds_for_the_ip_packet_of_either_family() {
    let Pair { mut world, client, server, link } = pair(fast());
    let v6 = |world: &World, node| world.network.addresses(node)[0].ipv6.into();
    world.send(client, server, 0, 1500);
    world.send(client, server, 1, 1501);
    let (src, dst) = (v6(&world, client), v6(&world, server));
    world.send_to(client, src, dst, 2, 1500);
    world.send_to(client, src, dst, 3, 1501);
    let arrived = world.run_all();
    assert_eq!(numbers(&arrived), [0, 2]);
    assert_eq!((arrived[0].bytes.len(), arrived[1].bytes.len()), (1480, 1460));
    assert_eq!(world.network.counters(link.forward()).dropped(DropCause::TooBig), 2);
}

#[test]
fn a_packet_hop_costs_one_event() {
    let mut builder = NetworkBuilder::new();
    let nodes = [
        builder.add_node("client", NodeKind::Host { jitter: Span::from_micros(50) }),
        builder.add_node("left", NodeKind::Router),
        builder.add_node("right", NodeKind::Router),
        builder.add_node("server", NodeKind::Host { jitter: Span::from_micros(50) }),
    ];
    for ends in nodes.windows(2) {
        builder.add_link(LinkSpec::symmetric(ends[0], ends[1], 0, fast()));
    }
    let mut world = World::new(builder);
    for number in 0..60 {
        world.send(nodes[0], nodes[3], number, 1500);
    }
    assert_eq!(numbers(&world.run_all()), (0..60).collect::<Vec<_>>());
    assert_eq!((world.network.packet_hops(), world.kernel.events_processed()), (180, 180));
}

#[test]
fn processing_jitter_delays_within_its_bound_and_never_reorders() {
    let jitter = Span::from_micros(500);
    let channel = ChannelSpec { queue: QueueSpec::DropTail(Limit::NONE), ..fast() };
    let Pair { mut world, client, server, .. } = pair_of(NodeKind::Host { jitter }, channel, 3);
    for number in 0..1000 {
        world.send(client, server, number, 1500);
    }
    let arrived = world.run_all();
    assert_eq!(numbers(&arrived), (0..1000).collect::<Vec<_>>());
    let late = |index: usize| arrived[index].at - nanos(1_000_000 + 120_560 * (index as u64 + 1));
    let delays: Vec<Span> = (0..1000).map(late).collect();
    assert!(delays.iter().all(|&delay| delay <= jitter));
    let mean = delays.iter().map(|delay| delay.as_nanos()).sum::<u64>() / 1000;
    // The mean exceeds 250 us, the mean of the random delay,
    // because a packet also waits for slower ones before it.
    assert!((250_000..420_000).contains(&mean), "{mean}");
}

#[test]
fn a_failure_drops_packets_queued_on_the_wire_and_offered_until_the_repair() {
    let Pair { mut world, client, server, link } = pair(fast());
    world.kernel.schedule(nanos(300_000), NetEvent::fail(link));
    world.kernel.schedule(nanos(900_000), NetEvent::repair(link));
    for number in 0..10 {
        world.send(client, server, number, 1500);
    }
    world.send(server, client, 10, 1500);
    world.run(nanos(300_000));
    world.send(client, server, 11, 1500);
    world.run(nanos(900_000));
    world.send(client, server, 12, 1500);
    let arrived = world.run_all();
    // The event planned for the arrival of packet 0 at 1.12 ms must not deliver packet 12.
    assert_eq!((numbers(&arrived), arrived[0].at), (vec![12], nanos(900_000 + 1_120_560)));
    assert_eq!(world.network.counters(link.forward()).dropped(DropCause::LinkDown), 11);
    assert_eq!(world.network.counters(link.backward()).dropped(DropCause::LinkDown), 1);
    assert_eq!(world.network.packets_in_use(), 0);
}

#[test]
fn a_failure_drops_packets_outside_the_order_of_the_wire() {
    let jitter = Span::from_millis(2);
    let Pair { mut world, client, server, link } =
        pair(impaired(Impairments { jitter, jitter_reorders: true, ..Default::default() }));
    world.kernel.schedule(nanos(500_000), NetEvent::fail(link));
    world.kernel.schedule(nanos(600_000), NetEvent::repair(link));
    for number in 0..10 {
        world.send(client, server, number, 1500);
    }
    world.run(nanos(600_000));
    world.send(client, server, 10, 1500);
    assert_eq!(numbers(&world.run_all()), [10]);
    assert_eq!(world.network.counters(link.forward()).dropped(DropCause::LinkDown), 10);
}

#[test]
fn losses_have_their_probability_and_lost_packets_take_transmission_time() {
    let impairments = Impairments { loss: probability(0.1), ..Default::default() };
    let Pair { mut world, client, server, link } = pair(impaired(impairments));
    for number in 0..20_000 {
        world.send(client, server, number, 1500);
    }
    let arrived = world.run_all();
    let counters = world.network.counters(link.forward());
    assert_eq!(counters.dropped(DropCause::Loss) + arrived.len() as u64, 20_000);
    // The standard deviation of the number of losses is 42.
    assert!((1800..2200).contains(&counters.dropped(DropCause::Loss)), "{counters:?}");
    for packet in &arrived {
        assert_eq!(packet.at, nanos(1_000_000 + 120_560 * (u64::from(packet.number) + 1)));
    }
}

#[test]
fn duplicates_arrive_with_their_originals() {
    let impairments = Impairments { duplication: probability(0.2), ..Default::default() };
    let Pair { mut world, client, server, link } = pair(impaired(impairments));
    for number in 0..5000 {
        world.send(client, server, number, 1500);
    }
    let arrived = world.run_all();
    let copies = world.network.counters(link.forward()).duplicated;
    assert!((880..1120).contains(&copies), "{copies}");
    assert_eq!(arrived.len() as u64, 5000 + copies);
    for twice in arrived.windows(2).filter(|two| two[0].number == two[1].number) {
        assert_eq!(twice[0], twice[1]);
    }
    let mut all = numbers(&arrived);
    all.dedup();
    assert_eq!(all, (0..5000).collect::<Vec<_>>());
    assert_eq!(world.network.packets_in_use(), 0);
}

#[test]
fn only_held_back_packets_are_overtaken() {
    let impairments = Impairments {
        reordering: probability(0.05),
        reordering_delay: Span::from_micros(301),
        ..Default::default()
    };
    let Pair { mut world, client, server, .. } = pair(impaired(impairments));
    for number in 0..5000 {
        world.send(client, server, number, 1500);
    }
    let arrived = world.run_all();
    assert_eq!(arrived.len(), 5000);
    let mut held_back = 0;
    for packet in &arrived {
        let extra = packet.at - nanos(1_000_000 + 120_560 * (u64::from(packet.number) + 1));
        assert!(extra == Span::ZERO || extra == Span::from_micros(301), "{extra}");
        held_back += u32::from(!extra.is_zero());
    }
    assert!((190..310).contains(&held_back), "{held_back}");
    let inversions = arrived.windows(2).filter(|two| two[0].number > two[1].number).count();
    assert!(inversions > 150, "each held-back packet is overtaken: {inversions}");
}

#[test]
fn jitter_of_the_wire_delays_within_its_bound_and_keeps_the_order() {
    let jitter = Span::from_micros(400);
    let Pair { mut world, client, server, .. } = pair(impaired(Impairments { jitter, ..Default::default() }));
    for number in 0..2000 {
        world.send(client, server, number, 1500);
    }
    let arrived = world.run_all();
    assert_eq!(numbers(&arrived), (0..2000).collect::<Vec<_>>());
    let extra =
        |packet: &common::Arrived| packet.at - nanos(1_000_000 + 120_560 * (u64::from(packet.number) + 1));
    assert!(arrived.iter().all(|packet| extra(packet) <= jitter));
    let mean = arrived.iter().map(|packet| extra(packet).as_nanos()).sum::<u64>() / 2000;
    // The mean exceeds 200 us, the mean of the random delay,
    // because a packet also waits for slower ones before it.
    assert!((210_000..350_000).contains(&mean), "{mean}");
    // Each packet costs one event, as without jitter.
    assert_eq!(world.kernel.events_processed(), 2000);
}

#[test]
fn a_failure_forgets_the_jitter_of_the_packets_it_drops() {
    let jitter = Span::from_millis(50);
    let Pair { mut world, client, server, link } =
        pair(impaired(Impairments { jitter, ..Default::default() }));
    (0..100).for_each(|number| world.send(client, server, number, 1500));
    world.kernel.schedule(nanos(100_000), NetEvent::fail(link));
    world.kernel.schedule(nanos(200_000), NetEvent::repair(link));
    world.run(nanos(200_000));
    (100..110).for_each(|number| world.send(client, server, number, 1500));
    let arrived = world.run_all();
    assert_eq!(numbers(&arrived), (100..110).collect::<Vec<_>>());
    let earliest = nanos(200_000 + 1_000_000 + 120_560);
    assert!(arrived[0].at < earliest + jitter, "{}", arrived[0].at);
    assert!(arrived[0].at < arrived[9].at);
}

#[test]
fn jitter_of_the_wire_that_may_reorder_does() {
    let jitter = Span::from_micros(400);
    let impairments = Impairments { jitter, jitter_reorders: true, ..Default::default() };
    let Pair { mut world, client, server, .. } = pair(impaired(impairments));
    for number in 0..2000 {
        world.send(client, server, number, 1500);
    }
    let arrived = world.run_all();
    assert_eq!(arrived.len(), 2000);
    let extra =
        |packet: &common::Arrived| packet.at - nanos(1_000_000 + 120_560 * (u64::from(packet.number) + 1));
    assert!(arrived.iter().all(|packet| extra(packet) <= jitter));
    assert!(arrived.windows(2).any(|two| two[0].number > two[1].number));
}

#[test]
fn bit_errors_corrupt_the_payload_or_drop_the_packet() {
    let impairments = Impairments { bit_errors: probability(1e-5), ..Default::default() };
    let Pair { mut world, client, server, link } = pair(impaired(impairments));
    for number in 0..10_000 {
        world.send(client, server, number, 1500);
    }
    let arrived = world.run_all();
    let wrong_bits =
        |packet: &common::Arrived| packet.bytes.iter().map(|byte| byte.count_ones()).sum::<u32>();
    let damaged = world.network.counters(link.forward()).dropped(DropCause::Damaged);
    // 27 bytes of header and framing have an error with probability 1 - (1 - 1e-5)^216 = 0.00216, so in 21.6
    // packets on average. For 1480 bytes of payload the probability is 0.1117.
    assert!((4..44).contains(&damaged), "{damaged}");
    let corrupted = arrived.iter().filter(|packet| packet.corrupted).count();
    assert!((990..1245).contains(&corrupted), "{corrupted}");
    // Packets without an error arrive with their number and with all other bytes zero.
    let mut expected = 0;
    for packet in arrived.iter().filter(|packet| !packet.corrupted) {
        assert!(packet.number >= expected);
        expected = packet.number + 1;
        assert_eq!(wrong_bits(packet), packet.number.count_ones());
        assert_eq!(packet.bytes.len(), 1480);
    }
    let beyond_the_number = |packet: &&common::Arrived| packet.bytes[4..].iter().any(|&byte| byte != 0);
    let among_zeros = arrived.iter().filter(beyond_the_number).count();
    assert!(among_zeros as f64 > 0.98 * corrupted as f64, "{among_zeros} of {corrupted}");
}

#[test]
fn a_delay_in_steps_counts_from_the_end_of_the_transmission_and_keeps_the_order() {
    // The delay is 4 ms at first, 1 ms from 1 ms on, and 4 ms from 10 ms on; it repeats every 20 ms. A packet
    // takes 120.56 us.
    let ms = Span::from_millis;
    let steps = vec![(Span::ZERO, ms(4)), (ms(1), ms(1)), (ms(10), ms(4))];
    let series = DelaySeries::new(steps, Some(ms(20))).unwrap();
    let delay = DelaySpec::Series(Arc::new(series));
    let Pair { mut world, client, server, link } = pair(ChannelSpec { delay, ..fast() });
    let mut arrived = Vec::new();
    for (number, at) in [(0, 0), (1, 950_000), (2, 2_000_000), (3, 5_000_000), (4, 21_500_000)] {
        world.kernel.schedule(nanos(at), NetEvent::repair(link));
        arrived.extend(world.run(nanos(at)));
        world.send(client, server, number, 1500);
    }
    arrived.extend(world.run_all());
    let times: Vec<u64> = arrived.iter().map(|packet| packet.at.as_nanos()).collect();
    // Packet 0 has a delay of 4 ms. The transmissions of packets 1 and 2 end at 1.07056 ms and 2.12056 ms,
    // when the delay is 1 ms. They would arrive at 2.07056 ms and 3.12056 ms, before packet 0, so they arrive
    // at the same time as packet 0.
    assert_eq!(numbers(&arrived), [0, 1, 2, 3, 4]);
    assert_eq!(times, [4_120_560, 4_120_560, 4_120_560, 6_120_560, 22_620_560]);
}

#[test]
fn after_an_outage_the_delay_is_that_of_the_time() {
    let ms = Span::from_millis;
    let series = DelaySeries::new(vec![(Span::ZERO, ms(4)), (ms(1), ms(1))], Some(ms(2))).unwrap();
    let delay = DelaySpec::Series(Arc::new(series));
    let Pair { mut world, client, server, link } = pair(ChannelSpec { delay, ..fast() });
    // 20 transmissions are planned until 2.4112 ms. An outage cancels them at 0.1 ms.
    for number in 0..20 {
        world.send(client, server, number, 1500);
    }
    world.kernel.schedule(nanos(100_000), NetEvent::fail(link));
    world.kernel.schedule(nanos(200_000), NetEvent::repair(link));
    world.run(nanos(200_000));
    world.send(client, server, 20, 1500);
    let arrived = world.run_all();
    assert_eq!(numbers(&arrived), [20]);
    assert_eq!(arrived[0].at, nanos(200_000 + 120_560 + 4_000_000));
}

#[test]
fn a_random_delay_depends_on_the_seed_of_its_own_stream() {
    let model = Model::new(RateModelKind::Lte, Span::from_millis(40));
    let delay = DelaySpec::Model(model);
    let Pair { mut world, client, server, link } = pair(ChannelSpec { delay, ..fast() });
    let mut last = Vec::new();
    for number in 0..200 {
        let at = nanos(u64::from(number) * 100_000_000);
        world.kernel.schedule(at, NetEvent::repair(link));
        last.extend(world.run(at));
        world.send(client, server, number, 100);
    }
    last.extend(world.run_all());
    assert_eq!(numbers(&last), (0..200).collect::<Vec<_>>());
    let delays: Vec<f64> = last.iter().map(|p| p.at.as_secs_f64() - f64::from(p.number) * 0.1).collect();
    let mean = delays.iter().sum::<f64>() / 200.0;
    assert!((0.02..0.08).contains(&mean), "{mean}");
    assert!(delays.iter().any(|delay| (delay / delays[0] - 1.0).abs() > 0.2));
}
