//! Goodput of saturated flows in a few networks, as a table in `goodput.txt`, so that a change of behaviour
//! is seen. `ANABRANCH_UPDATE=1 cargo test -p anabranch-lab goodput` rewrites the table; give the reason in
//! the commit.

use crate::common;

use common::*;
use lab::scenario::{Distribution, Hertz, Pace, Protocol, Scenario};
use net::{QueueSpec, RedQuirk, RedSpec, RedUnit};
use sctp::Cuc;
use std::fmt::Write;
use units::{BitRate, ByteCount, Probability, Span};

use anabranch_lab as lab;

type Change = (&'static str, fn(&mut Scenario));

/// Changes of the network, which has two disjoint paths of 10 Mbit/s.
const NETWORKS: [Change; 5] = [
    ("drop-tail, 50 packets", |_| {}),
    ("RED 20/80", |scenario| {
        for link in scenario.links.iter_mut().filter(|link| link.name.starts_with("west")) {
            impair(link, |direction| direction.queue = red());
        }
    }),
    ("1 % loss", |scenario| {
        for link in scenario.links.iter_mut().filter(|link| link.name.starts_with("west")) {
            impair(link, |direction| {
                direction.impairments.loss = Probability::new(0.01).expect("a probability")
            });
        }
    }),
    ("second path 2 Mbit/s", |scenario| {
        impair(&mut scenario.links[4], |direction| direction.transmitter = BitRate::from_mbps(2).into());
    }),
    ("second path 50 ms", |scenario| {
        impair(&mut scenario.links[4], |direction| direction.delay = Span::from_millis(50).into());
    }),
];

/// Changes of the flow.
const FLOWS: [Change; 12] = [
    ("SCTP", |_| {}),
    ("CMT", |scenario| enable_cmt(&mut scenario.flows[0])),
    ("no SFR", |scenario| cmt_with(scenario, |cmt| cmt.sfr = false)),
    ("no DAC", |scenario| cmt_with(scenario, |cmt| cmt.dac = false)),
    ("CUC v1", |scenario| cmt_with(scenario, |cmt| cmt.cuc = Cuc::V1)),
    ("CMT/RP", |scenario| {
        enable_cmt(&mut scenario.flows[0]);
        scenario.flows[0].client_options.congestion_control = cc::Algorithm::CmtRpV1.into();
    }),
    ("TCP", |scenario| tcp_with(scenario, &tcp::Config::modern())),
    ("QualNet", |scenario| tcp_with(scenario, &qualnet(tcp::Variant::Sack))),
    ("Tahoe", |scenario| tcp_with(scenario, &qualnet(tcp::Variant::Tahoe))),
    ("NewReno", |scenario| tcp_with(scenario, &qualnet(tcp::Variant::NewReno))),
    ("CUBIC", |scenario| {
        tcp_with(scenario, &tcp::Config { control: cc::Algorithm::Cubic, ..tcp::Config::modern() });
    }),
    ("UDP 9M", |scenario| {
        let flow = &mut scenario.flows[0];
        flow.protocol = Protocol::Udp;
        let traffic = flow.forward.as_mut().expect("a direction forth");
        traffic.unordered = Probability::ZERO;
        let rate = Hertz::new(9e6 / (8.0 * 1452.0)).expect("a frequency");
        traffic.pace = Pace::Frames(Distribution::Constant(rate));
    }),
];

fn qualnet(variant: tcp::Variant) -> tcp::Config {
    tcp::Config { mss: 1460, variant, ..tcp::Config::qualnet() }
}

fn tcp_with(scenario: &mut Scenario, config: &tcp::Config) {
    let flow = &mut scenario.flows[0];
    flow.protocol = Protocol::Tcp;
    (flow.client_tcp, flow.server_tcp) = (config.clone(), config.clone());
    flow.forward.as_mut().expect("a direction forth").unordered = Probability::ZERO;
}

fn cmt_with(scenario: &mut Scenario, change: fn(&mut sctp::Cmt)) {
    let flow = &mut scenario.flows[0];
    enable_cmt(flow);
    change(&mut flow.client_options.cmt);
    change(&mut flow.server_options.cmt);
}

/// The queues of papers 000 and 001.
fn red() -> QueueSpec {
    QueueSpec::Red(RedSpec {
        min: 20.0,
        max: 80.0,
        max_p: Probability::new(0.02).expect("a probability"),
        weight: 0.002,
        limit: 80.0,
        gentle: false,
        ecn: false,
        quirk: RedQuirk::None,
        unit: RedUnit::Packets,
        mean_packet: ByteCount::new(1500),
        packet_rate: None,
    })
}

fn table() -> String {
    let mut table = format!("{:<24}", "Mbit/s");
    for (flow, _) in FLOWS {
        write!(table, "{flow:>8}").expect("a string takes it");
    }
    table.push('\n');
    for (network, change_network) in NETWORKS {
        write!(table, "{network:<24}").expect("a string takes it");
        for (_, change_flow) in FLOWS {
            let mut scenario = disjoint_paths(BitRate::from_mbps(10), 2);
            change_network(&mut scenario);
            change_flow(&mut scenario);
            let output = run(&scenario);
            if scenario.flows[0].protocol != Protocol::Udp {
                assert_eq!(scalar(&output, "flow", "undelivered_messages"), 0.0);
            }
            write!(table, "{:>8.3}", scalar(&output, "flow", "throughput_bps") * 1e-6)
                .expect("a string takes it");
        }
        table.push('\n');
    }
    table
}

#[test]
fn goodput_equals_the_recorded_table() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/goodput.txt");
    let table = table();
    if std::env::var_os("ANABRANCH_UPDATE").is_some() {
        std::fs::write(file, &table).expect("the table can be written");
    }
    let before = std::fs::read_to_string(file).expect("the table was written once");
    assert!(table == before, "goodput has changed. Before:\n{before}\nNow:\n{table}");
}
