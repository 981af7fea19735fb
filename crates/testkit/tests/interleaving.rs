//! Stream schedulers and user message interleaving over networks (rfc8260): no message is lost, and long
//! messages do not delay an urgent one.

use anabranch_testkit::{Dialogue, Ours, Script, Speaker, World};
use net::{ChannelSpec, Impairments, Limit, QueueSpec};
use sctp::{Cmt, Config, EndpointConfig, Event, Message, Payload, Reinjection, Seed, StreamScheduler};
use std::collections::VecDeque;
use transport::Checksum;
use units::{BitRate, ByteCount, Instant, Probability, Span};
use wire::StreamId;

fn endpoint(world: &World, host: usize, seed: u64, config: &Config) -> Ours {
    let config = EndpointConfig {
        port: 9,
        addresses: world.addresses(host),
        seed: Seed::for_simulation(2 * seed + host as u64),
        checksum: Checksum::Computed,
        max_associations: 1,
        encapsulation: None,
        config: config.clone().into(),
    };
    Ours::new(config, world.addresses(1 - host))
}

/// A path that loses, duplicates and reorders packets.
fn lossy(mbps: u64, delay: u64) -> ChannelSpec {
    let probability = |p| Probability::new(p).expect("a probability");
    ChannelSpec {
        transmitter: BitRate::from_mbps(mbps).into(),
        delay: Span::from_millis(delay).into(),
        queue: QueueSpec::DropTail(Limit::Packets(40)),
        impairments: Impairments {
            loss: probability(0.03),
            duplication: probability(0.02),
            reordering: probability(0.1),
            reordering_delay: Span::from_millis(15),
            ..Impairments::default()
        },
        ..ChannelSpec::default()
    }
}

// rfc8260#section-2.2, rfc8260#section-3
#[test]
fn many_streams_deliver_everything_in_order_with_every_scheduler_over_two_lossy_paths() {
    const STREAMS: u16 = 300;
    for (n, &scheduler) in StreamScheduler::ALL.iter().enumerate() {
        for interleaving in [false, true] {
            let seed = 2 * n as u64 + u64::from(interleaving);
            let config = Config {
                stream_scheduler: scheduler,
                stream_values: vec![3, 1, 2],
                interleaving,
                nr_sack: n % 2 == 0,
                outbound_streams: STREAMS,
                receive_buffer: ByteCount::new(60_000).into(),
                send_buffer: ByteCount::new(200_000).into(),
                cmt: Cmt { enabled: true, reinjection: Reinjection::Both, ..Cmt::default() },
                ..Config::default()
            };
            let mut world = World::new(seed, &[lossy(20, 10), lossy(5, 30)]);
            let [mut a, mut b] = [0, 1].map(|host| endpoint(&world, host, seed, &config));
            let scripts = [1, 2].map(|voice| Script::random(10 * seed + voice, 250, STREAMS, 40_000));
            let dialogue = Dialogue {
                scripts: [&scripts[0], &scripts[1]],
                closer: n % 2,
                hasty: false,
                limit: Span::from_secs(600),
            };
            let ended = dialogue.run(&mut world, &mut [&mut a, &mut b]);
            assert!(ended.is_ok(), "{scheduler:?}, interleaving {interleaving}: {}", ended.unwrap_err());
        }
    }
}

/// Mean and maximum delay, in milliseconds, of messages of 100 bytes on stream 0, one each 100 ms. Stream 1
/// always has a message of 1 MB to send. The path has 10 Mbit/s and 20 ms.
fn urgent_delays(stream_scheduler: StreamScheduler, interleaving: bool) -> (f64, f64) {
    let config = Config {
        stream_scheduler,
        stream_values: vec![0, 1],
        interleaving,
        send_buffer: ByteCount::new(4_000_000).into(),
        receive_buffer: ByteCount::new(4_000_000).into(),
        ..Config::default()
    };
    let channel = ChannelSpec {
        transmitter: BitRate::from_mbps(10).into(),
        delay: Span::from_millis(20).into(),
        queue: QueueSpec::DropTail(Limit::Packets(30)),
        ..ChannelSpec::default()
    };
    let mut world = World::new(1, &[channel]);
    let [mut a, mut b] = [0, 1].map(|host| endpoint(&world, host, 1, &config));
    a.connect(world.now());
    world.flush(0, &mut a);
    let (mut sent, mut delays) = (VecDeque::<Instant>::new(), Vec::new());
    let end = world.now() + Span::from_secs(12);
    let mut next_urgent = world.now() + Span::from_secs(2);
    let mut waiting = 0;
    while next_urgent < end {
        let stepped = world.step(&mut [&mut a, &mut b], next_urgent);
        let now = world.now();
        while let Some((stream, _)) = b.receive(now) {
            if stream == 0 {
                let since = sent.pop_front().expect("it was sent");
                delays.push(now.since(since).as_nanos() as f64 / 1e6);
            } else {
                waiting -= 1;
            }
        }
        world.flush(1, &mut b);
        let Some(id) = a.association().filter(|_| a.is_connected()) else { continue };
        let say = |stream, length| Message {
            stream: StreamId(stream),
            ppid: Ours::PPID,
            ..Message::new(Payload::Filler(length))
        };
        while waiting < 2 {
            a.endpoint().send(now, id, say(1, 1_000_000)).expect("there is room");
            waiting += 1;
        }
        if stepped.is_none() {
            next_urgent += Span::from_millis(100);
            a.endpoint().send(now, id, say(0, 100)).expect("there is room");
            sent.push_back(now);
        }
        while let Some(event) = a.poll_event() {
            assert!(!matches!(event, Event::Closed { .. }), "{event:?}");
        }
        world.flush(0, &mut a);
    }
    assert!(delays.len() > 60, "{} urgent messages arrived", delays.len());
    let longest = delays.iter().copied().fold(0.0, f64::max);
    (delays.iter().sum::<f64>() / delays.len() as f64, longest)
}

// rfc8260#section-1, rfc8260#section-3.4: measures the numbers of docs/interleaving.md
#[test]
fn an_urgent_message_under_long_ones_is_not_held_up_if_messages_are_interleaved() {
    let (in_order, longest_in_order) = urgent_delays(StreamScheduler::Fcfs, false);
    let (priority, longest_priority) = urgent_delays(StreamScheduler::Priority, false);
    let (both, longest_both) = urgent_delays(StreamScheduler::Priority, true);
    let numbers = format!(
        "fcfs {in_order:.0} and {longest_in_order:.0} ms, priority {priority:.0} and {longest_priority:.0} ms, \
         with interleaving {both:.0} and {longest_both:.0} ms"
    );
    println!("{numbers}");
    // At 10 Mbit/s a message of 1 MB takes 0.85 s.
    assert!(in_order > 800.0 && longest_priority > 600.0, "{numbers}");
    assert!(priority < 0.8 * in_order && both < 0.25 * priority, "{numbers}");
    assert!(longest_both < 150.0, "{numbers}");
}
