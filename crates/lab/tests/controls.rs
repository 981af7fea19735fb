//! Tests of every congestion control, over SCTP and over TCP.

use crate::common;

use anabranch_lab as lab;
use cc::Algorithm;
use common::*;
use lab::output::RunOutput;
use lab::scenario::Protocol;
use net::{Limit, QueueSpec};

use sctp::{SackPath, Timestamps};
use units::{BitRate, Probability, Span};

/// One saturated flow over one link of 10 Mbit/s and 40 ms, with a queue of 50 packets, about the
/// bandwidth-delay product.
fn alone(protocol: Protocol, control: Algorithm) -> RunOutput {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 1);
    impair(&mut scenario.links[1], |direction| direction.delay = Span::from_millis(20).into());
    let flow = &mut scenario.flows[0];
    (flow.protocol, flow.reset_time, flow.stop_time) = (protocol, Span::from_secs(6), Span::from_secs(12));
    flow.client_options.congestion_control = control.into();
    flow.client_tcp.control = control;
    // The default of FAST, 200 packets in the queue, exceeds this queue.
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
            // LEDBAT++ slows down for a tenth of the time. wVegas halves its window when the queue is nearly
            // empty (docs/controls/wvegas.md).
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

/// Throughput of an association over two paths of 10 Mbit/s and 100 ms, whose queues hold 8 packets, a tenth
/// of the bandwidth-delay product.
fn over_long_paths_with_short_queues(control: Algorithm) -> f64 {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 2);
    for bottleneck in [1, 4] {
        impair(&mut scenario.links[bottleneck], |direction| {
            direction.delay = Span::from_millis(50).into();
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

/// Jain's fairness index of two paths with RTTs of 20 and 120 ms over one bottleneck of 5 Mbit/s, from 60 to
/// 150 s. The additional delay of the longer path is before the bottleneck.
fn shares_over_one_bottleneck(sack_path: SackPath) -> f64 {
    let mut scenario = disjoint_paths(BitRate::from_mbps(5), 1);
    let nodes = &scenario.nodes;
    let fast = |between, net_id, ms| {
        link(nodes, between, net_id, BitRate::from_mbps(1000), Span::from_millis(ms), 10_000)
    };
    let tight = link(nodes, [2, 3], 0, BitRate::from_mbps(5), Span::from_millis(10), 1000);
    scenario.links =
        vec![fast([0, 2], 1, 0), fast([0, 2], 2, 50), tight, fast([3, 1], 1, 0), fast([3, 1], 2, 0)];
    scenario.links[1].name += "-2";
    scenario.links[4].name += "-2";
    let flow = &mut scenario.flows[0];
    enable_cmt(flow);
    (flow.reset_time, flow.stop_time) = (Span::from_secs(60), Span::from_secs(150));
    for options in [&mut flow.client_options, &mut flow.server_options] {
        options.congestion_control = Algorithm::MpPlus.into();
        options.timestamps = Timestamps::Metadata;
        options.sack_path = sack_path;
    }
    let output = run(&scenario);
    let share = |p| path_scalar(&output, "flow", Some(p), "sent_share");
    let (a, b) = (share(0), share(1));
    assert!(a + b > 0.9, "{a} and {b}");
    (a + b) * (a + b) / (2.0 * (a * a + b * b))
}

#[test]
fn mpplus_paths_of_unequal_rtts_share_a_bottleneck_equally() {
    for sack_path in [SackPath::Standard, SackPath::SmallestSrtt] {
        let index = shares_over_one_bottleneck(sack_path);
        assert!(index > 0.98, "{index} with {sack_path:?}");
    }
}
