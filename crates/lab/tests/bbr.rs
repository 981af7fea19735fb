//! BBR over SCTP and TCP in the simulated network.

use crate::common;

use anabranch_lab as lab;
use cc::Algorithm;
use common::*;
use lab::output::RunOutput;
use lab::scenario::{Distribution, Protocol, Scenario};
use net::{Limit, QueueSpec};
use units::{BitRate, ByteCount, Probability, Span};

/// Bandwidth-delay product of the link (10 Mbit/s, 42 ms) in bytes.
const BDP: f64 = 52_500.0;

/// Saturated flows over 10 Mbit/s and 42 ms with a queue of `queue` bandwidth-delay products, measured for 40
/// s.
fn scenario(queue: f64, flows: &[(Protocol, Algorithm)]) -> Scenario {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 1);
    impair(&mut scenario.links[1], |direction| {
        direction.delay = Span::from_millis(21).into();
        direction.queue = QueueSpec::DropTail(Limit::Bytes(ByteCount::round_f64(queue * BDP)));
    });
    scenario.flows.clear();
    for (n, &(protocol, control)) in (0..).zip(flows) {
        let mut flow = saturated_flow(&format!("flow-{n}"));
        (flow.protocol, flow.local_port, flow.remote_port) = (protocol, 9000 + n, 9000 + n);
        (flow.reset_time, flow.stop_time) = (Span::from_secs(10), Span::from_secs(50));
        flow.client_options.congestion_control = control.into();
        flow.client_tcp.control = control;
        flow.forward.as_mut().expect("a direction forth").unordered = Probability::ZERO;
        scenario.flows.push(flow);
    }
    scenario
}

fn mbps(output: &RunOutput, flow: usize) -> f64 {
    scalar(output, &format!("flow-{flow}"), "throughput_bps") / 1e6
}

#[test]
fn alone_bbr_uses_the_link_with_any_queue_and_loses_little() {
    for protocol in [Protocol::Sctp, Protocol::Tcp] {
        for queue in [0.25, 1.0, 8.0] {
            let output = run(&scenario(queue, &[(protocol, Algorithm::Bbr)]));
            let rate = mbps(&output, 0);
            // At most 9.6 of 10 Mbit/s are payload, and ProbeRTT costs 2 % of the throughput.
            assert!(rate > 9.1, "{protocol:?}, {queue} BDP: {rate}");
            let lost = scalar(&output, "link:west1-east1", "drops_queue_full");
            assert!(lost < 400.0, "{protocol:?}, {queue} BDP: {lost} of 33000 packets lost");
        }
    }
}

#[test]
fn beside_cubic_both_have_a_share() {
    for protocol in [Protocol::Sctp, Protocol::Tcp] {
        for queue in [0.5, 2.0, 8.0] {
            let flows = [(protocol, Algorithm::Bbr), (Protocol::Tcp, Algorithm::Cubic)];
            let output = run(&scenario(queue, &flows));
            let (bbr, cubic) = (mbps(&output, 0), mbps(&output, 1));
            assert!(bbr > 2.0 && cubic > 2.0, "{protocol:?}, {queue} BDP: BBR {bbr}, CUBIC {cubic}");
            assert!(bbr + cubic > 9.2, "{protocol:?}, {queue} BDP: BBR {bbr}, CUBIC {cubic}");
        }
    }
}

#[test]
fn random_losses_of_1_percent_cost_bbr_less_than_cubic() {
    for protocol in [Protocol::Sctp, Protocol::Tcp] {
        let rate = |control| {
            let mut scenario = scenario(1.0, &[(protocol, control)]);
            scenario.links[1].forward.impairments.loss = Probability::new(0.01).expect("a probability");
            mbps(&run(&scenario), 0)
        };
        let (bbr, cubic) = (rate(Algorithm::Bbr), rate(Algorithm::Cubic));
        assert!(bbr > 7.0 && bbr > 1.5 * cubic, "{protocol:?}: BBR {bbr}, CUBIC {cubic}");
    }
}

#[test]
fn over_two_paths_each_has_its_own_model() {
    for control in [Algorithm::Bbr, Algorithm::BbrCoupled] {
        let rate = over_two_paths(control);
        assert!(rate > 12.5, "{control}: {rate} of 13.4 Mbit/s");
    }
}

/// Throughput in Mbit/s over disjoint paths of 10 Mbit/s and 20 ms, and 4 Mbit/s and 60 ms.
fn over_two_paths(control: Algorithm) -> f64 {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 2);
    impair(&mut scenario.links[1], |direction| direction.delay = Span::from_millis(10).into());
    impair(&mut scenario.links[4], |direction| {
        direction.delay = Span::from_millis(30).into();
        direction.transmitter = BitRate::from_mbps(4).into();
    });
    let flow = &mut scenario.flows[0];
    enable_cmt(flow);
    flow.client_options.congestion_control = control.into();
    scalar(&run(&scenario), "flow", "throughput_bps") / 1e6
}

/// An association over two paths through one bottleneck of 10 Mbit/s and 40 ms, beside three TCP flows with
/// BBR.
fn shared_bottleneck(control: Algorithm) -> Scenario {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 1);
    let nodes = &scenario.nodes;
    let fast =
        |between, net_id| link(nodes, between, net_id, BitRate::from_mbps(100), Span::from_millis(1), 1000);
    // A bottleneck with net_id 0 belongs to both networks.
    let tight = link(nodes, [2, 3], 0, BitRate::from_mbps(10), Span::from_millis(18), 125);
    scenario.links = vec![fast([0, 2], 1), fast([0, 2], 2), tight, fast([3, 1], 1), fast([3, 1], 2)];
    scenario.links[1].name += "-2";
    scenario.links[4].name += "-2";
    let contender = &mut scenario.flows[0];
    enable_cmt(contender);
    contender.client_options.congestion_control = control.into();
    for n in 1..=3 {
        let mut rival = saturated_flow(&format!("rival-{n}"));
        rival.protocol = Protocol::Tcp;
        rival.client_tcp.control = Algorithm::Bbr;
        rival.networks = Some(vec![1]);
        (rival.local_port, rival.remote_port) = (9000 + n, 9000 + n);
        rival.start_time = Distribution::Constant(Span::from_millis(1000 + 300 * u64::from(n)));
        rival.forward.as_mut().expect("a direction forth").unordered = Probability::ZERO;
        scenario.flows.push(rival);
    }
    for flow in &mut scenario.flows {
        (flow.reset_time, flow.stop_time) = (Span::from_secs(20), Span::from_secs(80));
    }
    scenario
}

#[test]
fn coupled_paths_over_one_bottleneck_take_what_one_flow_takes() {
    let ratio = |control| {
        let output = run(&shared_bottleneck(control));
        let rate = |flow: &str| scalar(&output, flow, "throughput_bps");
        let rivals = (1..=3).map(|n| rate(&format!("rival-{n}"))).sum::<f64>() / 3.0;
        rate("flow") / rivals
    };
    let (alone, coupled) = (ratio(Algorithm::Bbr), ratio(Algorithm::BbrCoupled));
    assert!(alone > 1.7, "two flows of BBR take {alone} times what one takes");
    assert!((0.7..1.35).contains(&coupled), "{coupled}");
}

#[test]
fn a_run_with_bbr_and_pacing_is_the_same_each_time() {
    let flows = [(Protocol::Sctp, Algorithm::Bbr), (Protocol::Tcp, Algorithm::Cubic)];
    let mut scenario = scenario(1.0, &flows);
    scenario.flows[1].client_tcp.pacing = true;
    assert_eq!(run(&scenario).digest, run(&scenario).digest);
}
