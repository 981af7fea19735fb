//! Quantities that probes record over time.

mod common;

use anabranch_lab as lab;
use common::*;
use lab::output::{RunOutput, Series};
use lab::scenario::{Every, Probe, ProbeQuantity, ProbeTarget};
use units::{BitRate, Instant, Span};

/// One flow over one path of 10 Mbit/s, with one probe from 10 s to 12 s.
fn watch(quantity: ProbeQuantity, target: ProbeTarget, every: Every) -> RunOutput {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 1);
    scenario.flows[0].stop_time = Span::from_secs(15);
    scenario.probes.push(Probe {
        quantity,
        target,
        from: at(10),
        to: Some(at(12)),
        every,
        gap: units::Span::ZERO,
    });
    run(&scenario)
}

fn only(output: &RunOutput) -> &Series {
    let [series] = output.series.as_slice() else { panic!("one series, not {}", output.series.len()) };
    assert!(series.points.is_sorted_by_key(|point| point.0));
    assert!(series.points.iter().all(|&(time, _)| time >= at(10) && time <= at(12)));
    series
}

const FLOW: ProbeTarget = ProbeTarget::Flow(0);
const LINK: ProbeTarget = ProbeTarget::Link { link: 1, back: false };

#[test]
fn on_change_the_first_value_and_every_change_are_recorded() {
    let output = watch(ProbeQuantity::Cwnd, FLOW, Every::Change);
    let cwnd = only(&output);
    assert_eq!((cwnd.flow.as_str(), cwnd.path, cwnd.quantity), ("flow", Some(0), "cwnd"));
    assert_eq!(cwnd.points[0].0, at(10));
    assert!(cwnd.points.windows(2).all(|pair| pair[0].1 != pair[1].1));
    // A sawtooth: the window grows by at most one MTU and falls by about half.
    let mut cuts = 0;
    for pair in cwnd.points.windows(2) {
        let (before, after) = (pair[0].1, pair[1].1);
        assert!(after <= before + 1500.0, "{before} to {after}");
        if after < before {
            cuts += 1;
            assert!((0.4..0.6).contains(&(after / before)), "{before} to {after}");
        }
    }
    assert!(cuts > 0);
}

#[test]
fn at_intervals_every_instant_is_recorded() {
    let every = Every::Interval(Span::from_millis(100));
    let output = watch(ProbeQuantity::Srtt, FLOW, every);
    let srtt = only(&output);
    let times: Vec<Instant> = srtt.points.iter().map(|point| point.0).collect();
    let expected: Vec<Instant> = (0..=20).map(|n| at(10) + Span::from_millis(100) * n).collect();
    assert_eq!(times, expected);
    // 2 ms of propagation and 1.2 ms of transmission behind at most 50 packets.
    assert!(srtt.points.iter().all(|point| (0.003..0.07).contains(&point.1)));
}

#[test]
fn throughput_is_recorded_for_the_preceding_interval() {
    let every = Every::Interval(Span::from_millis(500));
    let flow = watch(ProbeQuantity::Throughput, FLOW, every);
    let flow = only(&flow);
    assert_eq!((flow.path, flow.points.len()), (None, 4));
    let link = watch(ProbeQuantity::Throughput, LINK, every);
    let link = only(&link);
    assert_eq!(link.flow, "link:west1-east1");
    for (flow, link) in flow.points.iter().zip(&link.points) {
        // The flow counts 1452 bytes of payload per packet, the link all 1507. A packet may be in flight at the end of
        // an interval.
        assert!((flow.1 - 1e7 * 1452.0 / 1507.0).abs() < 24_000.0, "{flow:?}");
        assert!((link.1 - 1e7).abs() < 25_000.0, "{link:?}");
    }
}

#[test]
fn the_queue_of_a_link_stays_within_its_limit() {
    let output = watch(ProbeQuantity::Queue, LINK, Every::Change);
    let queue = only(&output);
    let most = queue.points.iter().map(|point| point.1).fold(0.0, f64::max);
    assert!((40.0..=50.0).contains(&most), "{most}");
}

#[test]
fn tsns_count_from_the_first_chunk_and_include_retransmissions() {
    let output = watch(ProbeQuantity::Tsn, FLOW, Every::Change);
    let tsn: Vec<f64> = only(&output).points.iter().map(|point| point.1).collect();
    let (mut highest, mut again) = (0.0_f64, 0);
    for &sent in &tsn {
        again += u32::from(sent <= highest);
        highest = highest.max(sent);
    }
    // 829 chunks per second since the start of transmission at 1 s, minus a few losses.
    assert!((8_500.0..9_200.0).contains(&highest), "{highest}");
    assert!((1..50).contains(&again), "{again}");
}

#[test]
fn the_peer_rwnd_is_the_receive_buffer_minus_the_bytes_in_flight() {
    let every = Every::Interval(Span::from_millis(10));
    let room = watch(ProbeQuantity::PeerRwnd, FLOW, every);
    let flight = watch(ProbeQuantity::Flight, FLOW, every);
    let both = only(&room).points.iter().zip(&only(&flight).points);
    // The receive buffer contains data only while there is a gap.
    assert!(both.filter(|(room, flight)| room.1 + flight.1 == 50e6).count() > 150);
}

#[test]
fn recorded_drops_of_a_link_add_up_to_its_counter() {
    let output = watch(ProbeQuantity::Drops, LINK, Every::Change);
    let drops: Vec<f64> = only(&output).points.iter().map(|point| point.1).collect();
    assert!(drops.len() > 1 && drops.is_sorted(), "{drops:?}");
    assert_eq!(drops.last(), drops.first().map(|first| first + drops.len() as f64 - 1.0).as_ref());
}
