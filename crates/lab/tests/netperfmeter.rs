//! NetPerfMeter (paper 001, section 4.4 and table 2): the messages that flows send, and their times.

use crate::common;

use anabranch_lab as lab;
use common::*;
use lab::output::RunOutput;
use lab::scenario::{Distribution, Flow, LocalAddress, Pace, PrimaryPath, Protocol, RemoteAddress, Scenario};
use units::{ByteCount, Probability, Span};

/// A flow, with the keys in `flow`, between two hosts joined by a link of 100 Mbit/s and 1 ms.
fn scenario(flow: &str) -> Scenario {
    let text = format!(
        r#"
        seed = 1
        [[node]]
        name = "client"
        [[node]]
        name = "server"
        [[link]]
        between = ["client", "server"]
        rate = "100 Mbit/s"
        delay = "1 ms"
        [[flow]]
        name = "flow"
        client = "client"
        server = "server"
        {flow}
        "#
    );
    let sweep = anabranch_lab::parse(&text, "test.toml").unwrap_or_else(|error| panic!("{error}"));
    sweep.variants()[0].scenario.clone()
}

fn measure(flow: &str) -> RunOutput {
    let output = run(&scenario(flow));
    assert_eq!(output.warnings, Vec::<String>::new());
    output
}

#[test]
fn defaults_are_those_of_table_2() {
    let flows = scenario("").flows;
    let [flow]: &[Flow; 1] = flows.as_slice().try_into().expect("one flow");
    assert_eq!(flow.connect_time, Distribution::Constant(Span::ZERO));
    assert_eq!(flow.start_time, Distribution::Constant(Span::from_secs(1)));
    assert_eq!(flow.reset_time, Span::from_secs(5));
    assert_eq!(flow.stop_time, Span::from_secs(30));
    assert_eq!(flow.protocol, Protocol::Sctp);
    assert_eq!((flow.local_address, flow.local_port), (LocalAddress::Any, 9000));
    assert_eq!((flow.remote_address, flow.remote_port), (RemoteAddress::Any, 9000));
    assert_eq!(flow.primary_path, PrimaryPath::Any);
    let traffic = flow.forward.as_ref().expect("a direction forth");
    let Pace::Frames(Distribution::Constant(rate)) = traffic.pace else { panic!("{:?}", traffic.pace) };
    assert_eq!(rate.as_f64(), 10.0);
    assert_eq!(traffic.frame_size, Distribution::Constant(ByteCount::new(1452)));
    assert_eq!(traffic.max_msg_size, ByteCount::new(1452));
    assert_eq!(traffic.queue_size, 1000);
    assert_eq!((traffic.unordered, traffic.unreliable), (Probability::ZERO, Probability::ZERO));
    assert_eq!(flow.back, None);
}

#[test]
fn a_paced_flow_sends_its_frames_at_its_rate() {
    let output = measure("");
    // Ten frames per second are measured from 5 s to 30 s after the first one. A frame arrives 1.1 ms after
    // it is sent.
    assert_eq!(scalar(&output, "flow", "offered_messages"), 250.0);
    assert_eq!(scalar(&output, "flow", "messages"), 250.0);
    assert_eq!(scalar(&output, "flow", "throughput_bps"), 8.0 * 1452.0 * 10.0);
}

#[test]
fn frames_are_cut_into_messages() {
    let output = measure(r#"frame_size = "4000 B""#);
    assert_eq!(scalar(&output, "flow", "messages"), 750.0);
    assert_eq!(scalar(&output, "flow", "received_bytes"), 250.0 * 4000.0);
}

#[test]
fn transmission_and_measurement_follow_their_times() {
    let output = measure(
        r#"connect_time = "3 s"
           start_time = "2 s"
           reset_time = "1 s"
           stop_time = "4 s""#,
    );
    assert_eq!(scalar(&output, "flow", "messages"), 30.0);
    // The flow connects at 3 s, starts at 5 s and stops at 9 s. The shutdown takes one and a half round
    // trips.
    let end = output.simulated.as_secs_f64();
    assert!((9.0..9.3).contains(&end), "{end}");
}

#[test]
fn a_flow_that_identifies_itself_does_so_when_it_is_connected_and_messages_are_counted_behind() {
    for protocol in ["SCTP", "TCP", "UDP"] {
        let output = measure(&format!(
            r#"protocol = "{protocol}"
               identify = true
               [[window]]
               name = "early"
               from = "0 s"
               to = "0.8 s""#
        ));
        let early = window_scalar(&output, "early", "flow", None, "received_bytes");
        assert_eq!((early, scalar(&output, "flow", "messages")), (26.0, 250.0), "{protocol}");
    }
}

/// The messages of a flow that begins at 1 s are counted from 1 s to 11 s.
fn messages_of(load: &str) -> f64 {
    let times = r#"reset_time = "0 s"
                   stop_time = "10 s""#;
    scalar(&measure(&format!("{times}\n{load}")), "flow", "offered_messages")
}

#[test]
fn a_paced_flow_sends_its_frames_while_it_is_on() {
    // The source is on from 2 s to 5 s and after 9 s. It sends a frame when it is turned on, then one every
    // 0.1 s.
    let changes = r#"on_off = [{ at = "2 s" }, { after = "3 s" }, { at = "9 s" }]"#;
    assert_eq!(messages_of(changes), 40.0);
    // The source is on from 1 s to 2 s, from 3 s to 4 s and so on.
    let repeated = r#"on_off = [{ after = "1 s" }, { after = "1 s" }]
                      on_off_repeat = true"#;
    assert_eq!(messages_of(repeated), 50.0);
    assert_eq!(messages_of(r#"on_off = [{ at = "20 s" }]"#), 0.0);
}

#[test]
fn a_saturated_flow_fills_the_link_while_it_is_on() {
    let rate = |load: &str| messages_of(&format!("frame_rate = \"0 Hz\"\n{load}"));
    let (always, half) = (rate(""), rate(r#"on_off = [{ at = "2 s" }, { at = "7 s" }]"#));
    assert!((0.45..0.52).contains(&(half / always)), "{half} of {always}");
}

#[test]
fn random_changes_are_drawn_anew_each_time() {
    let load = r#"on_off = [{ after = { exponential = "0.1 s" } }, { after = { exponential = "0.1 s" } }]
                  on_off_repeat = true
                  frame_rate = "1 kHz""#;
    let share = messages_of(load) / 10_000.0;
    assert!((0.35..0.65).contains(&share), "{share}");
}

#[test]
fn both_directions_are_independent() {
    let output = measure(
        r#"frame_rate = "0 Hz"
           [flow.back]
           frame_rate = "20 Hz"
           frame_size = "500 B""#,
    );
    assert_eq!(scalar(&output, "flow", "back_throughput_bps"), 8.0 * 500.0 * 20.0);
    assert_eq!(scalar(&output, "flow", "back_undelivered_messages"), 0.0);
    assert!(scalar(&output, "flow", "throughput_bps") > 90e6);
}

#[test]
fn a_bidirectional_saturated_flow_uses_the_link_both_ways_at_once() {
    let output = measure(
        r#"frame_rate = "0 Hz"
           bidirectional = true"#,
    );
    for quantity in ["throughput_bps", "back_throughput_bps"] {
        // The maximum is 96.8 Mbit/s. SACKs queue behind data of the other direction and arrive in bursts
        // (ACK compression), which cause bursts of data that overflow the queue.
        assert!(scalar(&output, "flow", quantity) > 80e6, "{quantity}");
    }
}

#[test]
fn the_given_fraction_of_messages_is_unordered() {
    // Ordered messages wait until a gap is filled; unordered messages do not.
    let mut scenario = scenario(
        r#"frame_rate = "1000 Hz"
           unordered = 0.3"#,
    );
    impair(&mut scenario.links[0], |direction| {
        direction.impairments.loss = Probability::new(0.01).expect("a probability")
    });
    let output = run(&scenario);
    assert_eq!(scalar(&output, "flow", "undelivered_messages"), 0.0);
    let unordered = scalar(&output, "flow", "unordered_messages") / scalar(&output, "flow", "messages");
    // With 25,000 messages, the share of unordered ones has a standard deviation of 0.0029.
    assert!((unordered - 0.3).abs() < 0.012, "{unordered}");
}

#[test]
fn the_given_fraction_of_messages_is_not_retransmitted() {
    let fraction_lost = |unreliable: f64, unordered: f64| {
        let mut scenario = scenario(&format!(
            r#"frame_rate = "500 Hz"
               frame_size = "100 B"
               unordered = {unordered}
               unreliable = {unreliable}
               sctp = "partial"
               [sctp.partial]
               pr_sctp = true"#
        ));
        impair(&mut scenario.links[0], |direction| {
            direction.impairments.loss = Probability::new(0.05).expect("a probability")
        });
        let output = run(&scenario);
        scalar(&output, "flow", "undelivered_messages") / scalar(&output, "flow", "offered_messages")
    };
    for unordered in [0.0, 1.0] {
        assert_eq!(fraction_lost(0.0, unordered), 0.0);
        for unreliable in [0.3, 1.0] {
            // 12,500 messages are offered while the counters run, but 15,000 are sent in all and can be lost.
            let (lost, expected) = (fraction_lost(unreliable, unordered), 0.05 * unreliable * 15.0 / 12.5);
            assert!((lost / expected - 1.0).abs() < 0.2, "{unreliable} {unordered}: {lost}, not {expected}");
        }
    }
}

#[test]
fn messages_that_take_streams_in_turn_are_all_delivered() {
    let undelivered = |streams: u16, interleaving: bool| {
        let mut scenario = scenario(&format!("frame_rate = \"1000 Hz\"\nstreams = {streams}"));
        impair(&mut scenario.links[0], |direction| {
            direction.impairments.loss = Probability::new(0.01).expect("a probability")
        });
        let flow = &mut scenario.flows[0];
        for options in [&mut flow.client_options, &mut flow.server_options] {
            options.interleaving = interleaving;
            options.stream_scheduler = sctp::StreamScheduler::Rr;
        }
        let output = run(&scenario);
        assert!(scalar(&output, "flow", "messages") > 10_000.0);
        scalar(&output, "flow", "undelivered_messages")
    };
    assert_eq!([undelivered(10, false), undelivered(10, true)], [0.0; 2]);
}

#[test]
fn random_frames_have_the_mean_of_their_distribution() {
    let output = measure(
        r#"frame_rate = { exponential = "400 Hz" }
           frame_size = { uniform = ["200 B", "1000 B"] }"#,
    );
    // 10,000 frames with a mean of 600 bytes in 25 s. Standard deviations: 1 % of the
    // number of frames, 231 bytes for the size of one frame, 0.4 % for the mean size.
    let messages = scalar(&output, "flow", "messages");
    assert!((messages / 10_000.0 - 1.0).abs() < 0.04, "{messages}");
    let size = scalar(&output, "flow", "received_bytes") / messages;
    assert!((size / 600.0 - 1.0).abs() < 0.016, "{size}");
}

#[test]
fn a_paced_flow_faster_than_the_network_drops_messages_when_its_queue_is_full() {
    // 20,000 frames of 1452 bytes a second are 232 Mbit/s over a link of 100 Mbit/s.
    let output = measure(
        r#"frame_rate = "20 kHz"
           queue_size = 50"#,
    );
    let [offered, dropped] =
        ["offered_messages", "dropped_messages"].map(|name| scalar(&output, "flow", name));
    assert_eq!(offered + dropped, 500_000.0);
    assert!((offered / 500_000.0 - 96.8 / 232.3).abs() < 0.02, "{offered}");
}

#[test]
fn a_frame_size_of_zero_turns_a_direction_off() {
    let output = measure(
        r#"frame_size = "0 B"
           [flow.back]
           frame_size = "100 B""#,
    );
    assert!(output.scalars.iter().all(|s| s.flow != "flow" || s.quantity != "throughput_bps"));
    assert_eq!(scalar(&output, "flow", "back_messages"), 250.0);
}

#[test]
fn a_flow_with_a_count_has_that_many_associations_with_one_server_port() {
    let output = measure("count = 5");
    for number in 1..=5 {
        assert_eq!(scalar(&output, &format!("flow-{number}"), "messages"), 250.0);
    }
}
