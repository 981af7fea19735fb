//! Tests of every congestion control, over SCTP and over TCP.

mod common;

use anabranch_lab as lab;
use cc::Algorithm;
use common::*;
use lab::output::RunOutput;
use lab::scenario::Protocol;
use net::{Limit, QueueSpec};
use units::{BitRate, Probability, Span};

/// One saturated flow over one link of 10 Mbit/s and 40 ms, with a queue of 50 packets, about the bandwidth-delay
/// product.
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
fn a_single_flow_of_each_control_fills_a_link() {
    for name in Algorithm::NAMES {
        let control = name.parse().expect("a name");
        for protocol in [Protocol::Sctp, Protocol::Tcp] {
            let output = alone(protocol, control);
            let throughput = scalar(&output, "flow", "throughput_bps");
            // LEDBAT++ slows down for a tenth of the time. wVegas halves its window when the queue is nearly empty
            // (docs/controls/wvegas.md).
            let least = if control == Algorithm::WVegas { 1e6 } else { 8e6 };
            assert!(throughput > least, "{name} over {protocol:?}: {throughput}");
            assert_eq!(scalar(&output, "flow", "undelivered_messages"), 0.0, "{name} over {protocol:?}");
        }
    }
}

#[test]
fn on_a_single_path_a_coupled_control_equals_its_uncoupled_form() {
    for &control in Algorithm::ALL.iter().filter(|control| control.alone() != **control) {
        for protocol in [Protocol::Sctp, Protocol::Tcp] {
            let parent = alone(protocol, control.alone());
            assert_eq!(alone(protocol, control).digest, parent.digest, "{control} over {protocol:?}");
        }
    }
}

/// Throughput of an association over two paths of 10 Mbit/s and 100 ms, whose queues hold 8 packets, a tenth of the
/// bandwidth-delay product.
fn over_long_paths_with_short_queues(control: Algorithm) -> f64 {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 2);
    for bottleneck in [1, 4] {
        impair(&mut scenario.links[bottleneck], |direction| {
            direction.delay = Span::from_millis(50);
            direction.queue = QueueSpec::DropTail(Limit::Packets(8));
        });
    }
    let flow = &mut scenario.flows[0];
    (flow.reset_time, flow.stop_time) = (Span::from_secs(5), Span::from_secs(35));
    flow.client_options.congestion_control = control.into();
    enable_cmt(flow);
    scalar(&run(&scenario), "flow", "throughput_bps")
}

#[test]
fn braid_on_long_paths_with_short_queues_equals_lia() {
    let [braid, lia] = [Algorithm::Braid, Algorithm::Lia].map(over_long_paths_with_short_queues);
    assert!(braid > 0.95 * lia, "{braid}, LIA {lia}");
}
