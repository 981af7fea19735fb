//! Policers and shapers of links.

use crate::common;

use anabranch_net as net;
use common::{Pair, nanos, numbers, pair};
use net::{
    ChannelSpec, CodelSpec, DropCause, Limit, NetEvent, QueueSpec, RedQuirk, RedSpec, RedUnit, TokenBucket,
};
use units::{BitRate, ByteCount, Probability, Span};

/// A channel of 100 Mbit/s and 1 ms: a packet of 1500 bytes takes 120 us.
fn channel(queue: QueueSpec) -> ChannelSpec {
    let transmitter = BitRate::from_mbps(100).into();
    ChannelSpec { transmitter, delay: Span::from_millis(1).into(), queue, ..ChannelSpec::default() }
}

/// A bucket of 10 Mbit/s: the tokens of a packet of 1500 bytes take 1.2 ms.
fn bucket(packets: u64) -> TokenBucket {
    TokenBucket { rate: BitRate::from_mbps(10), burst: ByteCount::new(1500 * packets) }
}

fn red() -> RedSpec {
    RedSpec {
        weight: 1.0,
        min: 100.0,
        max: 200.0,
        max_p: Probability::ONE,
        limit: 200.0,
        unit: RedUnit::Packets,
        mean_packet: ByteCount::new(1500),
        packet_rate: None,
        gentle: false,
        ecn: false,
        quirk: RedQuirk::None,
    }
}

#[test]
fn a_policer_drops_what_exceeds_burst_and_rate_before_every_kind_of_queue() {
    let queues = [
        QueueSpec::DropTail(Limit::Packets(50)),
        QueueSpec::Red(red()),
        QueueSpec::Codel(CodelSpec::default()),
    ];
    for queue in queues {
        let policed = ChannelSpec { policer: Some(bucket(4)), ..channel(queue.clone()) };
        let Pair { mut world, client, server, link } = pair(policed);
        // These events change nothing; they stop the clock at their times.
        [3_600_000, 3_700_000]
            .into_iter()
            .for_each(|at| world.kernel.schedule(nanos(at), NetEvent::repair(link)));
        (0..10).for_each(|number| world.send(client, server, number, 1500));
        let mut arrived = world.run(nanos(3_600_000));
        // By 3.6 ms the bucket has gained the tokens of three packets.
        (10..20).for_each(|number| world.send(client, server, number, 1500));
        arrived.extend(world.run(nanos(3_700_000)));
        (20..22).for_each(|number| world.send(client, server, number, 100));
        arrived.extend(world.run_all());
        assert_eq!(numbers(&arrived), [0, 1, 2, 3, 10, 11, 12, 20], "{queue:?}");
        let counters = world.network.counters(link.forward());
        assert_eq!(counters.dropped(DropCause::Policed), 14);
        assert_eq!((counters.dropped_in_all(), counters.offered), (14, 22));
    }
}

#[test]
fn a_shaper_delays_what_exceeds_burst_and_rate_behind_every_kind_of_queue() {
    let expected = |number: u64| {
        // Two packets of the burst leave at the rate of the transmitter. Each
        // later packet waits until the bucket has gained the tokens for it.
        let leaves = if number < 2 { 120 * (number + 1) } else { 1200 * (number - 1) + 120 };
        nanos(1000 * (1000 + leaves))
    };
    for queue in [
        QueueSpec::DropTail(Limit::Packets(5)),
        QueueSpec::Codel(CodelSpec { limit: 5, ..CodelSpec::default() }),
    ] {
        let shaped = ChannelSpec { shaper: Some(bucket(2)), ..channel(queue.clone()) };
        let Pair { mut world, client, server, link } = pair(shaped);
        (0..10).for_each(|number| world.send(client, server, number, 1500));
        let arrived = world.run_all();
        // One packet is in transmission and five wait.
        assert_eq!(numbers(&arrived), (0..6).collect::<Vec<_>>(), "{queue:?}");
        for packet in &arrived {
            assert_eq!(packet.at, expected(packet.number.into()), "{queue:?}: {}", packet.number);
        }
        assert_eq!(world.network.counters(link.forward()).dropped(DropCause::QueueFull), 4);
    }
}

#[test]
fn the_mean_rate_of_a_shaped_channel_is_that_of_its_tokens() {
    let line = channel(QueueSpec::default());
    assert_eq!(line.mean_rate(), Some(BitRate::from_mbps(100)));
    assert_eq!(ChannelSpec { shaper: Some(bucket(2)), ..line }.mean_rate(), Some(BitRate::from_mbps(10)));
    let shaper = Some(bucket(2));
    assert_eq!(
        ChannelSpec { shaper, ..ChannelSpec::default() }.mean_rate(),
        shaper.map(|shaper| shaper.rate)
    );
}

#[test]
fn a_bucket_that_never_has_the_tokens_of_a_full_packet_is_refused() {
    let small = Some(TokenBucket { burst: ByteCount::new(1506), ..bucket(1) });
    let framed = ChannelSpec { framing: ByteCount::new(7), ..channel(QueueSpec::default()) };
    let wrong = |spec: ChannelSpec| spec.check().map_err(|(part, fault)| (part, fault.field));
    assert_eq!(wrong(ChannelSpec { policer: small, ..framed.clone() }), Err(("policer", "burst")));
    assert_eq!(wrong(ChannelSpec { shaper: small, ..framed.clone() }), Err(("shaper", "burst")));
    assert_eq!(wrong(ChannelSpec { shaper: small, framing: ByteCount::new(6), ..framed }), Ok(()));
}
