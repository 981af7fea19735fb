//! UDP flows: the datagrams that they send. Each datagram either arrives or is dropped.

use crate::common;

use anabranch_lab as lab;
use common::*;
use lab::scenario::{
    Distribution, Every, Hertz, OnOff, Pace, Probe, ProbeQuantity, ProbeTarget, Protocol, Scenario,
};
use units::{BitRate, ByteCount, Probability, Span};

/// `rate` datagrams of 1452 bytes per second over 10 Mbit/s.
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
fn all_datagrams_below_the_rate_of_the_link_arrive() {
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
    // 1000 datagrams per second of 1487 bytes with IP and PPP are 11.9 Mbit/s; a link of 10 Mbit/s carries
    // 840.6 per second.
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
    // 1 % of the datagrams are lost, and bit errors damage 1.2 % of them (a datagram has about 11,900 bits).
    assert!((goodput / (840.6 * 0.99 * 0.988) - 1.0).abs() < 0.01, "{goodput}");
    // Over the whole run, each undelivered datagram was dropped by a link or had a wrong checksum.
    let undelivered = scalar(&output, "flow", "undelivered_messages");
    assert!(undelivered > dropped, "{undelivered}");
}

#[test]
fn an_on_off_source_sends_only_in_its_active_times() {
    let mut scenario = scenario(100.0);
    let on_off = OnOff {
        on: Distribution::Constant(Span::from_millis(200)),
        off: Distribution::Constant(Span::from_millis(300)),
    };
    scenario.flows[0].forward.as_mut().expect("a direction forth").on_off = Some(on_off);
    let output = run(&scenario);
    // In each half second 20 datagrams are sent: 0, 10, ..., 190 ms after the start of an active time.
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
    // The source is active for a quarter of the time. Over 1000 periods the standard deviation is about 3 %
    // of this share. Each active time begins with a frame.
    assert!((share / 0.25 - 1.0).abs() < 0.1, "{share}");
}

#[test]
fn the_server_sends_too_and_two_protocols_share_a_port_number() {
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
fn bursts_are_counted_at_the_link_where_they_arrive() {
    // Ten frames of five messages are sent per second, over a link of 1 Gbit/s
    // to a router. There, the messages of a frame arrive 11.896 us apart.
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
    // Bursts are counted from 10 s to 20 s. At the first link those of 10 s and of 20 s count; at the router
    // the last one arrives too late.
    for (link, bursts) in [("client-west1", 101.0), ("west1-east1", 100.0)] {
        let count = |quantity| scalar(&output, &format!("flow@link:{link}"), quantity);
        assert_eq!((count("bursts"), count("bursts_of_5"), count("bursts_of_4")), (bursts, bursts, 0.0));
        assert_eq!((count("burst_packets_mean"), count("burst_packets_max")), (5.0, 5.0));
    }
    // The bottleneck has spread the messages of a burst.
    assert_eq!(scalar(&output, "flow@link:east1-server", "bursts_of_1"), 500.0);
    let mut unwatched = scenario.clone();
    unwatched.probes.clear();
    assert_eq!(run(&unwatched).digest, output.digest);
}

/// Round-trip times of 64 bytes, 20 times a second, in the windows `idle`, 5 to 10 s, and `loaded`, 15 to
/// 30 s, through a drop-tail queue of 100 ms that a TCP flow fills from 10 s on.
#[test]
fn a_flow_with_echo_measures_the_round_trip_times_that_a_load_adds() {
    let text = r#"
        title = "Latency"
        seed = 1
        node = [{ name = "a" }, { name = "b" }]
        window = [
            { name = "idle", from = "5 s", to = "10 s" },
            { name = "loaded", from = "15 s", to = "30 s" },
        ]
        [[link]]
        name = "line"
        between = ["a", "b"]
        rate = "10 Mbit/s"
        delay = "10 ms"
        queue = { kind = "drop-tail", bytes = "125 kB" }
        [[flow]]
        name = "load"
        client = "a"
        server = "b"
        protocol = "TCP"
        start_time = "10 s"
        stop_time = "25 s"
        frame_rate = "0 Hz"
        [[flow]]
        name = "latency"
        client = "a"
        server = "b"
        protocol = "UDP"
        echo = true
        start_time = "0 s"
        stop_time = "31 s"
        frame_rate = "20 Hz"
        frame_size = "64 B"
    "#;
    let sweep = lab::parse(text, "latency.toml").expect("a scenario");
    let output = run(&sweep.variants()[0].scenario);
    let value = |window: &str, quantity: &str| {
        let mut rows = output.scalars.iter().filter(|row| row.flow == "latency" && row.window == window);
        rows.find(|row| row.quantity == quantity).expect("a quantity").value
    };
    let idle = value("idle", "echo_rtt_p50_s");
    assert!((0.02..0.0205).contains(&idle), "{idle} s");
    assert_eq!((value("idle", "offered_messages"), value("idle", "echoes_lost")), (100.0, 0.0));
    assert_eq!(value("idle", "echo_rtt_added_s"), value("idle", "echo_rtt_p95_s") - idle);
    let [p50, p95, p99] = ["echo_rtt_p50_s", "echo_rtt_p95_s", "echo_rtt_p99_s"].map(|q| value("loaded", q));
    assert!(idle < p50 && p50 < p95 && p95 <= p99 && p99 <= idle + 0.101, "{p50}, {p95}, {p99} s");
    let added = value("loaded", "echo_rtt_added_s");
    assert!((0.07..0.101).contains(&added) && added == p95 - idle, "{added} s");
}
