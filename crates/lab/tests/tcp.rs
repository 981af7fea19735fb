//! TCP flows in the simulated network: NetPerfMeter over a byte stream, and competing flows on one link.

use crate::common;

use anabranch_lab as lab;
use common::*;
use lab::output::{RunControl, RunOutput};
use lab::scenario::{
    Distribution, Every, Hertz, IpVersion, Outage, Pace, Probe, ProbeQuantity, ProbeTarget, Scenario, Traffic,
};
use units::{BitRate, ByteCount, Probability, Span};

/// A saturated flow over 10 Mbit/s.
fn saturated(config: &tcp::Config) -> Scenario {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 1);
    over_tcp(&mut scenario.flows[0], config);
    scenario
}

fn traffic(scenario: &mut Scenario) -> &mut Traffic {
    scenario.flows[0].forward.as_mut().expect("a direction forth")
}

fn clean(scenario: &Scenario) -> RunOutput {
    let output = run(scenario);
    assert_eq!(output.warnings, Vec::<String>::new());
    assert_eq!(scalar(&output, "flow", "undelivered_messages"), 0.0);
    output
}

#[test]
fn a_saturated_sender_with_a_finite_queue_fills_the_link() {
    // 1448 of the 1507 bytes of a packet with IP and PPP are payload, which gives 9.608 Mbit/s.
    for config in [tcp::Config::modern(), tcp::Config { mss: 1460, ..tcp::Config::qualnet() }] {
        let output = clean(&saturated(&config));
        let throughput = scalar(&output, "flow", "throughput_bps");
        assert!((throughput / 9.608e6 - 1.0).abs() < 5e-3, "{throughput}");
        let waiting = scalar(&output, "flow", "offered_bytes") - scalar(&output, "flow", "received_bytes");
        assert!(waiting.abs() <= 1_048_576.0, "{waiting}");
    }
}

#[test]
fn tcp_has_the_overhead_that_paper_003_measures() {
    let mut scenario = saturated(&tcp::Config::qualnet());
    impair(&mut scenario.links[1], |direction| direction.delay = Span::from_millis(45).into());
    (scenario.flows[0].reset_time, scenario.flows[0].stop_time) = (Span::from_secs(60), Span::from_secs(260));
    let output = clean(&scenario);
    // 1200 of 1232 bytes are payload, and an acknowledgement of 32 bytes covers two packets: table 2 of paper
    // 003 prints .961.
    let utilisation = scalar(&output, "flows:all", "system_utilisation");
    assert!((utilisation - 1200.0 / 1248.0).abs() < 1e-3, "{utilisation}");
}

#[test]
fn message_boundaries_in_a_byte_stream_are_found_by_byte_counts() {
    // Frames of random size, cut into messages, both ways, over a link that loses one packet in a hundred.
    let mut scenario = saturated(&tcp::Config::modern());
    impair(&mut scenario.links[1], |direction| {
        direction.impairments.loss = Probability::new(0.01).expect("a probability")
    });
    let traffic = traffic(&mut scenario);
    traffic.pace = Pace::Frames(Distribution::Exponential(Hertz::new(50.0).expect("a frequency")));
    traffic.frame_size = Distribution::Uniform(ByteCount::new(1), ByteCount::new(8000));
    scenario.flows[0].back = scenario.flows[0].forward.clone();
    let output = clean(&scenario);
    assert_eq!(scalar(&output, "flow", "back_undelivered_messages"), 0.0);
    for quantity in ["messages", "back_messages"] {
        // 1250 frames of 3.27 messages on average: one message for a size of up to 1452 bytes, two for up to
        // 2904 bytes, and so on.
        let messages = scalar(&output, "flow", quantity);
        assert!((messages / (1250.0 * 3.27) - 1.0).abs() < 0.15, "{quantity} {messages}");
    }
}

#[test]
fn a_paced_sender_drops_whole_messages_and_delivers_the_others_whole() {
    // The source offers 20 Mbit/s to a link of 10 Mbit/s.
    let mut scenario =
        saturated(&tcp::Config { send_buffer: ByteCount::new(20_000).into(), ..tcp::Config::modern() });
    traffic(&mut scenario).pace =
        Pace::Frames(Distribution::Constant(Hertz::new(1722.0).expect("a frequency")));
    let output = clean(&scenario);
    let [offered, dropped, messages, bytes] =
        ["offered_messages", "dropped_messages", "messages", "received_bytes"]
            .map(|quantity| scalar(&output, "flow", quantity));
    assert!((offered + dropped - 25.0 * 1722.0).abs() <= 2.0);
    assert!((0.4..0.5).contains(&(offered / 43_050.0)), "{offered}");
    assert!((bytes - messages * 1452.0).abs() < 1452.0);
}

#[test]
fn probes_see_the_path_of_a_connection() {
    let mut scenario = saturated(&tcp::Config::modern());
    for quantity in [ProbeQuantity::Cwnd, ProbeQuantity::Srtt, ProbeQuantity::SentThroughput] {
        scenario.probes.push(Probe {
            quantity,
            target: ProbeTarget::Flow(0),
            from: at(10),
            to: Some(at(20)),
            every: Every::Interval(Span::from_millis(100)),
            gap: units::Span::ZERO,
        });
    }
    let output = clean(&scenario);
    let names: Vec<_> = output.series.iter().map(|series| (series.quantity, series.path)).collect();
    assert_eq!(
        names,
        [("cwnd", Some(0)), ("srtt", Some(0)), ("sent-throughput", None), ("sent-throughput", Some(0))]
    );
    assert!(output.series[0].points.iter().all(|point| (2_000.0..200_000.0).contains(&point.1)));
    assert!(output.series[1].points.iter().all(|point| (0.003..0.07).contains(&point.1)));
}

#[test]
fn a_connection_that_times_out_on_a_failed_link_is_reported() {
    let mut scenario = saturated(&tcp::Config { max_retransmissions: 3, ..tcp::Config::modern() });
    scenario.links[1].down = vec![Outage { from: at(16), to: at(10_000) }];
    let output = run(&scenario);
    assert_eq!(output.warnings, ["flow `flow` ended before its time: TimedOut"]);
}

#[test]
fn two_runs_are_equal_and_the_checksum_detects_bit_errors() {
    let mut scenario = saturated(&tcp::Config { mss: 1440, ..tcp::Config::modern() });
    scenario.flows[0].ip_version = IpVersion::V6;
    let alike = [run(&scenario), run(&scenario)];
    assert_eq!(alike[0], alike[1]);
    scenario.seed = 2;
    assert_ne!(run(&scenario).digest, alike[0].digest);
    impair(&mut scenario.links[1], |direction| {
        direction.impairments.bit_errors = Probability::new(1e-6).expect("a probability");
    });
    let output = clean(&scenario);
    assert!(scalar(&output, "flow", "retransmitted_chunks") > 100.0);
}

#[test]
fn a_connection_uses_the_network_of_its_scenario() {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 2);
    scenario.flows[0].networks = Some(vec![2]);
    over_tcp(&mut scenario.flows[0], &tcp::Config::modern());
    let output = clean(&scenario);
    assert_eq!(scalar(&output, "link:west1-east1", "offered_packets"), 0.0);
    assert_eq!(scalar(&output, "link:west1-east1:back", "offered_packets"), 0.0);
    assert!(scalar(&output, "link:west2-east2", "throughput_utilisation") > 0.94);
}

#[test]
fn a_flow_whose_segments_exceed_the_mtu_of_a_link_is_refused() {
    let mut scenario = saturated(&tcp::Config::modern());
    scenario.flows[0].ip_version = IpVersion::V6;
    let error = lab::world::run(&scenario, 0, &RunControl::default()).expect_err("too large");
    assert_eq!(
        error.to_string(),
        "flow `flow`: mss = 1460 B and 60 B of headers do not fit the link `client-west1`, whose mtu is 1500 B; \
         expected at most 1440 B"
    );
}

#[test]
fn competing_flows_share_a_link_and_sctp_gets_more_than_early_tcp() {
    let mut scenario = saturated(&tcp::Config::qualnet());
    impair(&mut scenario.links[1], |direction| direction.delay = Span::from_millis(45).into());
    let mut sctp = saturated_flow("sctp");
    sctp.forward.as_mut().expect("a direction forth").unordered = Probability::ZERO;
    scenario.flows.push(sctp);
    for flow in &mut scenario.flows {
        (flow.reset_time, flow.stop_time) = (Span::from_secs(60), Span::from_secs(360));
    }
    let output = run(&scenario);
    assert_eq!(output.warnings, Vec::<String>::new());
    let share = |flow| scalar(&output, flow, "sent_share");
    assert!(share("sctp") > share("flow") && share("flow") > 0.1, "{} {}", share("sctp"), share("flow"));
    assert!(scalar(&output, "link:west1-east1", "utilisation") > 0.97);
}
