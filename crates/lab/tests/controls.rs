//! Every congestion control by its name, over SCTP and over TCP.

mod common;

use anabranch_lab as lab;
use cc::Algorithm;
use common::*;
use lab::output::RunOutput;
use lab::scenario::Protocol;
use units::{BitRate, Probability, Span};

/// One saturated flow over one link of 10 Mbit/s, 40 ms, with room for 50 packets, that is, for a round trip's.
fn alone(protocol: Protocol, control: Algorithm) -> RunOutput {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 1);
    impair(&mut scenario.links[1], |direction| direction.delay = Span::from_millis(20));
    let flow = &mut scenario.flows[0];
    (flow.protocol, flow.reset_time, flow.stop_time) = (protocol, Span::from_secs(6), Span::from_secs(12));
    flow.client_options.congestion_control = control.into();
    flow.client_tcp.control = control;
    // FAST's 200 packets are more than the queue holds.
    for knobs in [&mut flow.client_options.knobs, &mut flow.client_tcp.knobs] {
        knobs.fast.alpha = 20.0;
    }
    flow.forward.as_mut().expect("a direction forth").unordered = Probability::ZERO;
    run(&scenario)
}

#[test]
fn every_control_fills_a_link_by_itself() {
    for name in Algorithm::NAMES {
        let control = name.parse().expect("a name");
        for protocol in [Protocol::Sctp, Protocol::Tcp] {
            let output = alone(protocol, control);
            let throughput = scalar(&output, "flow", "throughput_bps");
            // LEDBAT++ slows down for a tenth of the time. wVegas halves its window with next to nothing in the queue: docs/controls/wvegas.md.
            let least = if control == Algorithm::WVegas { 1e6 } else { 8e6 };
            assert!(throughput > least, "{name} over {protocol:?}: {throughput}");
            assert_eq!(scalar(&output, "flow", "undelivered_messages"), 0.0, "{name} over {protocol:?}");
        }
    }
}

#[test]
fn on_a_single_path_a_coupled_control_is_what_it_couples() {
    for &control in Algorithm::ALL.iter().filter(|control| control.alone() != **control) {
        for protocol in [Protocol::Sctp, Protocol::Tcp] {
            let parent = alone(protocol, control.alone());
            assert_eq!(alone(protocol, control).digest, parent.digest, "{control} over {protocol:?}");
        }
    }
}
