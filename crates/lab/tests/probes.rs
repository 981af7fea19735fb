//! Quantities that probes record over time.

use crate::common;

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
fn on_change_the_first_value_every_change_and_the_last_value_are_recorded() {
    let output = watch(ProbeQuantity::Cwnd, FLOW, Every::Change);
    let cwnd = only(&output);
    assert_eq!((cwnd.flow.as_str(), cwnd.path, cwnd.quantity), ("flow", Some(0), "cwnd"));
    assert_eq!(cwnd.points[0].0, at(10));
    let (last, changes) = cwnd.points.split_last().expect("a value");
    assert!(changes.windows(2).all(|pair| pair[0].1 != pair[1].1));
    assert_eq!(*last, (at(12), changes[changes.len() - 1].1));
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
    // The RTT is 2 ms of propagation, and 1.2 ms of transmission for each packet in a queue of at most 50.
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
        // The flow counts 1452 bytes of payload per packet, the link all 1507. A packet may be in flight at
        // the end of an interval.
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
    // The series has the first value, one value for each drop, and the last value a second time.
    assert_eq!(drops.last(), drops.first().map(|first| first + drops.len() as f64 - 2.0).as_ref());
}

/// Two paths of 10 Mbit/s with losses in drop-tail queues, recorded by a probe of every chunk.
fn chunks(from: Instant, to: Option<Instant>, nr_sack: bool) -> RunOutput {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), 2);
    let flow = &mut scenario.flows[0];
    (flow.reset_time, flow.stop_time) = (Span::ZERO, Span::from_secs(10));
    for options in [&mut flow.client_options, &mut flow.server_options] {
        options.cmt.enabled = true;
        options.nr_sack = nr_sack;
    }
    let (quantity, every) = (ProbeQuantity::Sequence, Every::Change);
    scenario.probes.push(Probe { quantity, target: FLOW, from, to, every, gap: Span::ZERO });
    run(&scenario)
}

/// The chunk numbers in all series of a quantity, in order of time.
fn numbers(output: &RunOutput, quantity: &str) -> Vec<u64> {
    let of = output.series.iter().filter(|series| series.quantity == quantity);
    let mut points: Vec<_> = of.flat_map(|series| series.points.clone()).collect();
    points.sort_by_key(|point| point.0);
    points.into_iter().map(|point| point.1 as u64).collect()
}

#[test]
fn each_chunk_is_sent_first_once_and_retransmissions_have_a_cause() {
    let output = chunks(at(0), None, false);
    let mut sent = numbers(&output, "sent");
    sent.sort_unstable();
    let newest = sent.len() as u64;
    assert!(newest > 10_000, "{newest}");
    assert!(sent.into_iter().eq(1..=newest));
    // The counters end with the flow. Chunks that are in flight at that time may be retransmitted later.
    let mut causes = 0;
    for (quantity, counter) in
        [("resent-fast", "fast_retransmissions"), ("resent-timeout", "timer_retransmissions")]
    {
        let again = numbers(&output, quantity);
        let of_flow =
            |s: &&lab::output::Scalar| s.flow == "flow" && s.path.is_none() && s.quantity == counter;
        let counted = output.scalars.iter().find(of_flow).map_or(0, |scalar| scalar.value as usize);
        assert!(
            again.len() >= counted && again.len() <= counted + 20,
            "{quantity}: {} {counted}",
            again.len()
        );
        assert!(again.iter().all(|&number| number <= newest));
        causes += again.len();
    }
    assert!(causes > 0);
    assert!(numbers(&output, "resent-early").is_empty());
}

#[test]
fn acknowledgements_pass_every_chunk_and_gap_blocks_are_ahead() {
    let output = chunks(at(0), None, false);
    let acked = numbers(&output, "acked");
    assert!(acked.is_sorted());
    assert_eq!(acked.last().copied(), numbers(&output, "sent").into_iter().max());
    let of = |quantity| output.series.iter().find(|series| series.quantity == quantity).expect(quantity);
    let at_time = |quantity, time| {
        let points = &of(quantity).points;
        points[points.partition_point(|point| point.0 <= time) - 1].1
    };
    let mut ahead = 0;
    for &(time, cumulative) in &of("acked").points {
        ahead += u32::from(at_time("gap-acked", time) > cumulative);
        assert!(at_time("gap-acked", time) >= cumulative);
        assert!(at_time("window-edge", time) >= cumulative);
    }
    assert!(ahead > 0);
}

#[test]
fn non_renegable_acknowledgements_are_recorded_of_nr_sacks_only() {
    assert!(numbers(&chunks(at(0), Some(at(5)), false), "non-renegable").is_empty());
    let output = chunks(at(0), Some(at(5)), true);
    let firm = numbers(&output, "non-renegable");
    assert!(!firm.is_empty());
    assert!(firm.iter().max() <= numbers(&output, "gap-acked").iter().max());
}

#[test]
fn chunks_before_the_recording_are_not_new_in_it() {
    let output = chunks(at(5), Some(at(6)), false);
    let within = |series: &Series| series.points.iter().all(|&(time, _)| time >= at(5) && time <= at(6));
    assert!(output.series.iter().all(within));
    let mut sent = numbers(&output, "sent");
    sent.sort_unstable();
    // Each path carries 829 chunks per second.
    assert!(sent[0] > 5_000 && (1_400..1_800).contains(&sent.len()), "{} {}", sent[0], sent.len());
    assert!(sent.windows(2).all(|pair| pair[1] == pair[0] + 1));
}
