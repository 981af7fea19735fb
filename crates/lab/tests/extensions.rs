//! Extensions of SCTP in the simulator: marks of a RED queue, and reports of damaged packets.

use crate::common;

use common::*;
use lab::output::RunOutput;
use lab::scenario::{Protocol, Scenario};
use net::{CodelSpec, QueueSpec, RedQuirk, RedSpec, RedUnit};
use sctp::{Config, EcnMode};
use units::{BitRate, ByteCount, Probability, Span};

use anabranch_lab as lab;

/// A saturated flow over 10 Mbit/s and 10 ms each way with these options at both ends, measured for 20 s.
fn scenario(options: impl Fn(&mut Config)) -> Scenario {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 1);
    impair(&mut scenario.links[1], |direction| direction.delay = Span::from_millis(10).into());
    let flow = &mut scenario.flows[0];
    for config in [&mut flow.client_options, &mut flow.server_options] {
        options(config);
    }
    (flow.reset_time, flow.stop_time) = (Span::from_secs(5), Span::from_secs(25));
    scenario
}

fn throughput(output: &RunOutput) -> f64 {
    assert_eq!(output.warnings, Vec::<String>::new());
    scalar(output, "flow", "throughput_bps")
}

#[test]
fn with_ecn_a_red_queue_marks_data_that_it_would_drop_early_and_nothing_is_retransmitted() {
    let red = RedSpec {
        weight: 0.002,
        min: 10.0,
        max: 40.0,
        max_p: Probability::new(0.05).expect("a probability"),
        limit: 100.0,
        unit: RedUnit::Packets,
        mean_packet: ByteCount::new(1500),
        packet_rate: None,
        gentle: false,
        ecn: true,
        quirk: RedQuirk::None,
    };
    let output = |ecn: EcnMode, seed: u64| {
        let mut scenario = scenario(|config| config.ecn = ecn);
        scenario.links[1].forward.queue = QueueSpec::Red(red.clone());
        run(&Scenario { seed, ..scenario })
    };
    let early = |output: &RunOutput| scalar(output, "link:west1-east1", "drops_red_early");
    let retransmissions = |output: &RunOutput| scalar(output, "flow", "retransmitted_chunks");
    let mut sums = [0.0; 2];
    for seed in 1..=8 {
        let (off, on) = (output(EcnMode::Off, seed), output(EcnMode::On, seed));
        assert!(early(&off) > 5.0 && retransmissions(&off) >= early(&off));
        // A packet without data is not ECN-capable, so a packet of 40 bytes with only a CWR is sometimes
        // dropped.
        assert!(early(&on) < early(&off) / 4.0, "{} {}", early(&on), early(&off));
        assert_eq!(retransmissions(&on), 0.0);
        assert_eq!(scalar(&on, "flow", "timeouts"), 0.0);
        sums = [sums[0] + throughput(&off), sums[1] + throughput(&on)];
    }
    // A single run may have up to 2 % less throughput, since the times of the marks are random.
    assert!(sums[1] >= 0.99 * sums[0], "{sums:?}");
}

#[test]
fn with_ecn_a_codel_queue_marks_tcp_and_bbr_and_nothing_is_retransmitted() {
    let marking = CodelSpec { ecn: true, ..CodelSpec::default() };
    for control in [cc::Algorithm::Standard, cc::Algorithm::Bbr] {
        let output = |ecn: bool| {
            let mut scenario = scenario(|_| {});
            scenario.links[1].forward.queue = QueueSpec::Codel(marking);
            let flow = &mut scenario.flows[0];
            flow.protocol = Protocol::Tcp;
            flow.forward.as_mut().expect("a direction forth").unordered = Probability::ZERO;
            for config in [&mut flow.client_tcp, &mut flow.server_tcp] {
                (config.ecn, config.control) = (ecn, control);
            }
            run(&scenario)
        };
        let (off, on) = (output(false), output(true));
        let again = [&off, &on].map(|output| scalar(output, "flow", "retransmitted_chunks"));
        assert!(again[0] > 0.0 && again[1] == 0.0, "{control}: {again:?}");
        assert!(throughput(&on) > 0.95 * throughput(&off), "{control}");
    }
}

#[test]
fn with_reports_bit_errors_cost_less_throughput() {
    let output = |reports: bool, bit_errors: f64| {
        let mut scenario = scenario(|config| config.packet_drop_reports = reports);
        impair(&mut scenario.links[1], |direction| {
            direction.impairments.bit_errors = Probability::new(bit_errors).expect("a probability");
        });
        throughput(&run(&scenario))
    };
    for bit_errors in [1e-7, 1e-6] {
        let (without, with) = (output(false, bit_errors), output(true, bit_errors));
        println!("bit errors {bit_errors}: {without:.0} bit/s without reports, {with:.0} bit/s with reports");
        assert!(with >= without, "{bit_errors}: {with} {without}");
    }
    assert!(output(true, 1e-6) > 1.2 * output(false, 1e-6));
}
