//! Logs of associations in the format qlog.

use crate::common;

use anabranch_lab as lab;
use common::*;
use foreign_qlog::VantagePointType;
use foreign_qlog::reader::{Event, QlogSeqReader};
use lab::output::{RunControl, RunOutput};
use lab::scenario::{Every, Outage, Probe, ProbeQuantity, ProbeTarget, Scenario};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use units::{BitRate, Instant, Span};

/// Ten seconds over paths of 10 Mbit/s with losses. With two paths, CMT is on and the first path fails for a
/// second. A probe records cwnd.
fn scenario(paths: u8) -> Scenario {
    let mut scenario = disjoint_paths(BitRate::from_mbps(10), paths);
    if paths > 1 {
        enable_cmt(&mut scenario.flows[0]);
        scenario.links[1].down.push(Outage { from: at(5), to: at(6) });
    }
    (scenario.flows[0].reset_time, scenario.flows[0].stop_time) = (Span::ZERO, Span::from_secs(10));
    scenario.probes.push(Probe {
        quantity: ProbeQuantity::Cwnd,
        target: ProbeTarget::Flow(0),
        from: at(1),
        to: Some(at(9)),
        every: Every::Change,
        gap: Span::ZERO,
    });
    scenario
}

/// The output of a run, and the contents of the logs of client and server.
fn logged(scenario: &Scenario, name: &str) -> (RunOutput, [Vec<u8>; 2]) {
    let folder = folder(name);
    let control = RunControl { qlog: Some(folder.clone()), ..RunControl::default() };
    let output = lab::world::run(scenario, 0, &control).expect("the scenario can be simulated");
    let files = ["flow-client.sqlog", "flow-server.sqlog"];
    let logs = files.map(|file| std::fs::read(folder.join(file)).expect("the log exists"));
    std::fs::remove_dir_all(folder).expect("the folder can be removed");
    (output, logs)
}

fn folder(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("anabranch-lab-qlog-{name}-{}", std::process::id()))
}

/// The records up to the last line feed.
fn records(log: &[u8]) -> Vec<Value> {
    let whole = log.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    let lines = log[..whole].split_inclusive(|&byte| byte == b'\n');
    let parse = |line: &[u8]| {
        let (&first, object) = line.split_first().expect("no line is empty");
        assert_eq!(first, 0x1e);
        serde_json::from_slice(object).expect("each record is JSON")
    };
    lines.map(parse).collect()
}

fn named<'v>(records: &'v [Value], name: &str) -> impl Iterator<Item = &'v Value> {
    records.iter().filter(move |record| record["name"] == name)
}

fn path(record: &Value) -> u8 {
    record["tuple"].as_str().map_or(0, |tuple| tuple.parse().expect("a number"))
}

/// The values of cwnd with their times in microseconds: the last
/// value of each time, without values that equal the one before.
fn course(values: impl Iterator<Item = (u64, f64)>) -> Vec<(u64, f64)> {
    let last_of_each_time: BTreeMap<u64, f64> = values.collect();
    let mut course: Vec<_> = last_of_each_time.into_iter().collect();
    course.dedup_by_key(|point| point.1);
    course
}

#[test]
fn every_cwnd_in_a_log_is_that_of_the_probe_and_a_log_changes_nothing() {
    let scenario = scenario(2);
    let (output, [client, server]) = logged(&scenario, "cwnd");
    assert_eq!(output.digest, run(&scenario).digest);
    let records = records(&client);
    for series in &output.series {
        let number = series.path.expect("a series of a path");
        let micros = |at: Instant| (at.since(Instant::ZERO).as_nanos() + 500) / 1000;
        let probed = course(series.points.iter().map(|&(at, value)| (micros(at), value)));
        let logged = named(&records, "sctp:recovery_metrics_updated").filter(|record| path(record) == number);
        let logged = logged.filter_map(|record| {
            let time = record["time"].as_f64().expect("a time");
            Some(((time * 1000.0).round() as u64, record["data"]["congestion_window"].as_f64()?))
        });
        let logged = course(logged);
        let first = logged.partition_point(|&(at, _)| at <= 1_000_000) - 1;
        let last = logged.partition_point(|&(at, _)| at <= 9_000_000);
        assert!(probed.len() > 100, "{}", probed.len());
        assert_eq!(probed[0].1, logged[first].1);
        assert_eq!(probed[1..], logged[first + 1..last]);
    }
    assert!(named(&records, "sctp:packet_lost").any(|record| record["data"]["trigger"] == "t3"));
    let markers: Vec<_> =
        named(&records, "simulation:marker").map(|record| &record["data"]["type"]).collect();
    assert_eq!(markers, ["link west1-east1 fails", "link west1-east1 is repaired"]);
    let mut states = named(&records, "sctp:association_state_updated").map(|record| &record["data"]["new"]);
    assert!(states.any(|state| state == "ESTABLISHED"));
    assert_eq!(records.last().expect("a record")["data"]["trigger"], "graceful");
    let times: Vec<f64> =
        records[1..].iter().map(|record| record["time"].as_f64().expect("a time")).collect();
    assert!(times.is_sorted());
    assert!(self::records(&server).len() > 1000);
}

#[test]
fn packets_and_losses_of_a_log_are_those_of_the_run() {
    let (output, [client, server]) = logged(&scenario(2), "packets");
    let (client, server) = (records(&client), records(&server));
    let data = |records: &[Value], name: &str| {
        let packets = named(records, name).filter(|record| {
            let mut chunks = record["data"]["chunks"].as_array().expect("a list").iter();
            chunks.any(|chunk| chunk.get("tsn").is_some())
        });
        packets.count()
    };
    let (sent, received) = (data(&client, "sctp:packet_sent"), data(&server, "sctp:packet_received"));
    assert!(sent > 10_000 && received < sent, "{received} of {sent}");
    let value = |quantity: &str| -> f64 {
        let mut all = output.scalars.iter().filter(|s| s.window.is_empty() && s.path.is_none());
        all.find(|s| s.flow == "flow" && s.quantity == quantity).expect("a quantity").value
    };
    // The flow is measured from 0 s to its end. It retransmits all lost chunks except the last ones.
    let lost: u64 = named(&client, "sctp:packet_lost")
        .flat_map(|record| record["data"]["tsn"].as_array().expect("ranges"))
        .map(|range| range[1].as_u64().unwrap_or(0) - range[0].as_u64().unwrap_or(0) + 1)
        .sum();
    let resent = value("fast_retransmissions") + value("timer_retransmissions");
    assert!((lost as f64 - resent).abs() <= 0.05 * resent, "{lost} lost, {resent} retransmitted");
}

#[test]
fn the_crate_qlog_reads_the_header_and_every_event() {
    let (_, logs) = logged(&scenario(2), "foreign");
    for (log, side) in logs.iter().zip([VantagePointType::Client, VantagePointType::Server]) {
        let reader = QlogSeqReader::new(Box::new(log.as_slice())).expect("the header is of its schema");
        let trace = reader.qlog.trace.clone();
        assert_eq!(trace.vantage_point.expect("a vantage point").ty, side);
        assert_eq!(trace.common_fields.expect("common fields").group_id.as_deref(), Some("flow"));
        let read = reader.map(|event| match event {
            Event::Json(event) => (event.time, event.name),
            Event::Qlog(event) => panic!("an event of QUIC: {event:?}"),
        });
        let ours = records(log).into_iter().skip(1).map(|record| {
            (record["time"].as_f64().expect("a time"), record["name"].as_str().expect("a name").to_owned())
        });
        assert_eq!(read.collect::<Vec<_>>(), ours.collect::<Vec<_>>());
    }
}

#[test]
fn a_truncated_log_is_readable_up_to_the_last_line_feed() {
    let (_, [client, _]) = logged(&scenario(1), "truncated");
    let all = records(&client);
    let half = records(&client[..client.len() / 2]);
    assert!(half.len() > all.len() / 3 && half[..] == all[..half.len()]);
}

#[test]
fn gaps_in_a_log_are_the_chunks_that_arrived_beyond_the_cumulative_tsn() {
    let (_, [_, server]) = logged(&scenario(2), "gaps");
    let (mut arrived, mut blocks) = (BTreeSet::new(), 0);
    for record in records(&server) {
        for chunk in record["data"]["chunks"].as_array().into_iter().flatten() {
            arrived.extend(chunk["tsn"].as_u64().map(|tsn| tsn as u32));
            let Some(cumulative) = chunk["sack"].as_u64().map(|tsn| tsn as u32) else { continue };
            arrived.retain(|tsn| (1..1 << 31).contains(&tsn.wrapping_sub(cumulative)));
            let (mut told, mut next) = (BTreeSet::new(), cumulative.wrapping_add(1));
            for run in chunk["gaps"].as_array().map_or(&[][..], Vec::as_slice).chunks(2) {
                let [missing, there] = [0, 1].map(|n| run[n].as_u64().expect("a length") as u32);
                told.extend((missing..missing + there).map(|offset| next.wrapping_add(offset)));
                (next, blocks) = (next.wrapping_add(missing + there), blocks + 1);
            }
            assert_eq!(told, arrived);
        }
    }
    assert!(blocks > 1000, "{blocks}");
}

#[test]
fn an_event_takes_at_most_120_bytes_on_average() {
    for paths in [1, 2] {
        let (_, logs) = logged(&scenario(paths), "size");
        let bytes: usize = logs.iter().map(Vec::len).sum();
        let events: usize = logs.iter().map(|log| records(log).len()).sum();
        assert!(events > 10_000 && bytes <= 120 * events, "{bytes} bytes in {events} events, {paths} paths");
    }
}
