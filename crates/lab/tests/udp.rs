//! UDP flows: what they send, when, and that nothing else becomes of a datagram than to arrive or to be dropped.

mod common;

use anabranch_lab as lab;
use common::*;
use lab::scenario::{
    Distribution, Every, Hertz, OnOff, Pace, Probe, ProbeQuantity, ProbeTarget, Protocol, Scenario,
};
use units::{BitRate, ByteCount, Probability, Span};

/// Datagrams of 1452 bytes over 10 Mbit/s, so many a second.
fn scenario(rate: f64) -> Scenario {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 1);
    let flow = &mut scenario.flows[0];
    flow.protocol = Protocol::Udp;
    let traffic = flow.forward.as_mut().expect("a direction forth");
    traffic.pace = Pace::Frames(Distribution::Constant(Hertz::new(rate).expect("a frequency")));
    traffic.unordered = Probability::ZERO;
    scenario
}

#[test]
fn a_constant_rate_arrives_whole_where_there_is_room() {
    let output = run(&scenario(500.0));
    assert_eq!(output.warnings, Vec::<String>::new());
    assert_eq!(scalar(&output, "flow", "messages"), 500.0 * 25.0);
    assert_eq!(scalar(&output, "flow", "throughput_bps"), 500.0 * 1452.0 * 8.0);
    assert_eq!(scalar(&output, "flow", "sent_transport_bytes"), 12_500.0 * 1460.0);
    assert_eq!(scalar(&output, "flow", "undelivered_messages"), 0.0);
    assert_eq!(scalar(&output, "flow", "handshake_s"), 0.0);
}

#[test]
fn every_datagram_arrives_or_is_dropped_once() {
    // 1000 datagrams a second of 1487 bytes with IP and PPP want 11.9 Mbit/s; a link of 10 Mbit/s carries 840.6.
    let mut scenario = scenario(1000.0);
    impair(&mut scenario.links[1], |direction| {
        direction.impairments.loss = Probability::new(0.01).expect("a probability");
        direction.impairments.bit_errors = Probability::new(1e-6).expect("a probability");
    });
    let output = run(&scenario);
    let dropped: f64 =
        output.scalars.iter().filter(|s| s.quantity.starts_with("drops_")).map(|s| s.value).sum();
    assert!(dropped > 25.0 * 150.0, "{dropped}");
    let goodput = scalar(&output, "flow", "messages") / 25.0;
    // Less 1 % lost, and 1.2 % damaged by about 11,900 bits.
    assert!((goodput / (840.6 * 0.99 * 0.988) - 1.0).abs() < 0.01, "{goodput}");
    // Over the whole run the datagrams that are missing are those that were dropped by a link or found damaged.
    let undelivered = scalar(&output, "flow", "undelivered_messages");
    assert!(undelivered > dropped, "{undelivered}");
}

#[test]
fn an_on_off_source_pauses_as_long_as_it_should() {
    let mut scenario = scenario(100.0);
    let on_off = OnOff {
        on: Distribution::Constant(Span::from_millis(200)),
        off: Distribution::Constant(Span::from_millis(300)),
    };
    scenario.flows[0].forward.as_mut().expect("a direction forth").on_off = Some(on_off);
    let output = run(&scenario);
    // Twice a second 20 datagrams, at 0, 10, ..., 190 ms.
    assert_eq!(scalar(&output, "flow", "messages"), 25.0 * 2.0 * 20.0);
}

#[test]
fn random_active_times_and_pauses_have_their_means() {
    let mut scenario = scenario(1000.0);
    let flow = &mut scenario.flows[0];
    (flow.reset_time, flow.stop_time) = (Span::ZERO, Span::from_secs(400));
    let traffic = flow.forward.as_mut().expect("a direction forth");
    traffic.frame_size = Distribution::Constant(ByteCount::new(100));
    traffic.on_off = Some(OnOff {
        on: Distribution::Exponential(Span::from_millis(100)),
        off: Distribution::Pareto(Span::from_millis(300), 3.0),
    });
    let output = run(&scenario);
    let share = scalar(&output, "flow", "messages") / 400_000.0;
    // A quarter; 1000 periods: a standard deviation of 3 % of it and a bit. A first frame comes with every active time.
    assert!((share / 0.25 - 1.0).abs() < 0.1, "{share}");
}

#[test]
fn the_server_sends_as_well_and_two_protocols_share_a_port() {
    let mut scenario = scenario(100.0);
    scenario.flows[0].back = scenario.flows[0].forward.clone();
    let mut sctp = saturated_flow("sctp");
    sctp.stop_time = Span::from_secs(20);
    scenario.flows.push(sctp);
    let output = run(&scenario);
    assert_eq!(output.warnings, Vec::<String>::new());
    assert_eq!(scalar(&output, "flow", "back_messages"), 2500.0);
    let udp = scalar(&output, "flow", "messages");
    assert!(udp > 2400.0, "{udp}");
    let sctp = scalar(&output, "sctp", "throughput_bps");
    assert!(sctp > 8.2e6, "{sctp}");
}

#[test]
fn bursts_are_counted_where_they_come() {
    // Ten frames a second of five messages each, over 1 Gbit/s to a router: there they come 11.896 us apart.
    let mut scenario = scenario(10.0);
    scenario.flows[0].forward.as_mut().expect("a direction forth").frame_size =
        Distribution::Constant(ByteCount::new(5 * 1452));
    for (link, gap) in [(0, Span::ZERO), (1, Span::from_micros(12)), (2, Span::from_micros(11))] {
        scenario.probes.push(Probe {
            quantity: ProbeQuantity::Bursts,
            target: ProbeTarget::Link { link, back: false },
            from: at(10),
            to: Some(at(20)),
            every: Every::Change,
            gap,
        });
    }
    let output = run(&scenario);
    // A frame at 10 s and one at 20 s; they are under way to the router a little later.
    for (link, bursts) in [("client-west1", 101.0), ("west1-east1", 100.0)] {
        let count = |quantity| scalar(&output, &format!("flow@link:{link}"), quantity);
        assert_eq!((count("bursts"), count("bursts_of_5"), count("bursts_of_4")), (bursts, bursts, 0.0));
        assert_eq!((count("burst_packets_mean"), count("burst_packets_max")), (5.0, 5.0));
    }
    // The bottleneck has spaced them out.
    assert_eq!(scalar(&output, "flow@link:east1-server", "bursts_of_1"), 500.0);
    let mut unwatched = scenario.clone();
    unwatched.probes.clear();
    assert_eq!(run(&unwatched).digest, output.digest);
}
