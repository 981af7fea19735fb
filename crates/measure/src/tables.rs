//! The tables of a measurement, with the columns and the names of quantities of a simulated run.

use crate::paths::{Association, Limits, PathSample};
use crate::report::{FlowReport, Interval, Report};
use lab::metrics::quantity::{self, Quantity};
use lab::output::{Scalar, Series};
use lab::results::{
    MANIFEST, OUTPUTS, RunKey, Table, TableError, scalars_of, sealed, series_of, sums, sweep_table,
    to_parquet_bytes,
};
use scenario::ProbeQuantity;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use units::{Instant, Span};

/// Version of the layout of tables and manifest; the same as that of a simulated run.
const FORMAT: u32 = 1;

impl Report {
    /// Writes `scalars.parquet`, `series.parquet` and `manifest.json` to a folder, which is created.
    ///
    /// # Errors
    /// Errors of the file system.
    pub fn write(&self, folder: &Path) -> Result<(), TableError> {
        fs::create_dir_all(folder)?;
        let [scalars, series] = self.tables();
        let mut written = Vec::new();
        for (name, table) in [("scalars", scalars), ("series", series)] {
            let path = folder.join(name).with_extension("parquet");
            fs::write(&path, to_parquet_bytes(&table)?)?;
            written.push(path);
        }
        let mut manifest = self.manifest();
        manifest[OUTPUTS] = sums(&written)?.into();
        Ok(fs::write(folder.join(MANIFEST), sealed(&manifest))?)
    }

    /// The tables of scalars and of series.
    pub fn tables(&self) -> [Table; 2] {
        let key = RunKey { run: 0, replica: 0, parameters: &[] };
        let (mut scalars, mut series) = (self.scalars(), self.series());
        if let Some(latency) = &self.latency {
            scalars.extend(latency.scalars());
            series.extend(latency.series());
        }
        [scalars_of(&scalars), series_of(&series)].map(|table| sweep_table(&key, &[], &table))
    }

    /// The manifest of the tables: the report as JSON.
    pub fn manifest(&self) -> Value {
        let mut manifest = self.to_json();
        manifest["format"] = json!(FORMAT);
        manifest
    }

    fn scalars(&self) -> Vec<Scalar> {
        let mut rows = Vec::new();
        for flow in &self.total.flows {
            let name = name(flow);
            let mut row = |quantity: &'static str, value: f64| {
                let window = String::new();
                rows.push(Scalar { flow: name.clone(), window, path: None, quantity, value });
            };
            let sent = &flow.sent;
            row(quantity::OFFERED_BYTES.forward, sent.amount.bytes as f64);
            row(quantity::OFFERED_MESSAGES.forward, sent.amount.packets as f64);
            row(quantity::RECEIVED_BYTES.back, flow.received.amount.bytes as f64);
            row(quantity::RECEIVED_MESSAGES.back, flow.received.amount.packets as f64);
            row(quantity::THROUGHPUT.back, flow.received.per_second(flow.received.amount.bytes * 8));
            if let Some(peer) = &flow.peer {
                row(quantity::RECEIVED_BYTES.forward, peer.received.bytes as f64);
                row(quantity::RECEIVED_MESSAGES.forward, peer.received.packets as f64);
                row(quantity::THROUGHPUT.forward, peer.received_bit_rate);
                row(quantity::OFFERED_BYTES.back, peer.sent.bytes as f64);
                row(quantity::OFFERED_MESSAGES.back, peer.sent.packets as f64);
                let limits = peer.limits.as_ref().filter(|_| peer.sent.bytes > 0);
                limited(limits, |quantity| quantity.back, &mut row);
            }
            let limits = flow.limits.as_ref().filter(|_| sent.amount.bytes > 0);
            limited(limits, |quantity| quantity.forward, &mut row);
        }
        for side in sides(&self.total) {
            let name = |quantity: &Quantity| if side.back { quantity.back } else { quantity.forward };
            for (flow, path) in side.paths() {
                let mut row = |quantity: &'static str, value: f64| {
                    let (flow, window) = (flow.clone(), String::new());
                    rows.push(Scalar { flow, window, path: Some(path.id), quantity, value });
                };
                row(name(&quantity::SENT_BYTES), path.user_bytes as f64);
                row(name(&quantity::SENT_THROUGHPUT), rate(path.user_bytes, side.time));
                row(name(&quantity::DATA_PACKETS), path.data_packets as f64);
                row(name(&quantity::RETRANSMISSIONS), path.retransmissions as f64);
                row(name(&quantity::TIMEOUTS), path.timeouts as f64);
                if let Some(srtt) = path.srtt {
                    row(name(&quantity::SRTT), srtt);
                }
                limited(Some(&path.limits).filter(|_| path.user_bytes > 0), name, &mut row);
            }
        }
        rows
    }

    /// The series: the values of each interval, at the end of the interval.
    fn series(&self) -> Vec<Series> {
        let mut all: Vec<Series> = Vec::new();
        let mut push = |flow: &str, path: Option<u8>, quantity: &'static str, at: f64, value: f64| {
            let point = (Instant::ZERO + Span::from_secs_f64(at), value);
            let same = |one: &&mut Series| one.flow == flow && one.path == path && one.quantity == quantity;
            match all.iter_mut().find(same) {
                Some(series) => series.points.push(point),
                None => all.push(Series { flow: flow.to_owned(), path, quantity, points: vec![point] }),
            }
        };
        for interval in &self.intervals {
            for flow in &interval.flows {
                let (sent, received) = (flow.sent.amount.bytes, flow.received.amount.bytes);
                let (name, at) = (name(flow), interval.to);
                let time = (interval.from, interval.to);
                push(&name, None, ProbeQuantity::SentThroughput.name(), at, rate(sent, time));
                push(&name, None, ProbeQuantity::Throughput.name(), at, rate(received, time));
            }
            for side in sides(interval) {
                let names = if side.back { BACK } else { SERIES.map(ProbeQuantity::name) };
                for (flow, path) in side.paths() {
                    let values = [Some(rate(path.user_bytes, side.time)), Some(path.cwnd as f64), path.srtt];
                    for (name, value) in names.into_iter().zip(values) {
                        if let Some(value) = value {
                            push(&flow, Some(path.id), name, side.time.1, value);
                        }
                    }
                }
            }
        }
        all
    }
}

fn name(flow: &FlowReport) -> String {
    flow.description.clone()
}

/// The quantities of the series of each path, and their names for the direction from the server.
const SERIES: [ProbeQuantity; 3] = [ProbeQuantity::SentThroughput, ProbeQuantity::Cwnd, ProbeQuantity::Srtt];
const BACK: [&str; 3] = ["back-sent-throughput", "back-cwnd", "back-srtt"];

/// The rate in bit/s between two times in seconds.
fn rate(bytes: u64, (from, to): (f64, f64)) -> f64 {
    let seconds = to - from;
    if seconds > 0.0 { bytes as f64 * 8.0 / seconds } else { 0.0 }
}

/// The associations of one side in an interval.
struct Side<'i> {
    interval: &'i Interval,
    associations: &'i [Association],
    /// Beginning and end, in seconds.
    time: (f64, f64),
    /// True for the side of the server.
    back: bool,
}

/// Returns this side, and the other side if it reported its associations.
fn sides(interval: &Interval) -> impl Iterator<Item = Side<'_>> {
    let time = (interval.from, interval.to);
    let ours = Side { interval, associations: &interval.associations, time, back: false };
    let theirs = interval.peer.as_ref().map(|peer| Side {
        interval,
        associations: &peer.associations,
        time: (peer.from, peer.to),
        back: true,
    });
    std::iter::once(ours).chain(theirs)
}

impl Side<'_> {
    /// The paths of each association, with the name of the first flow of the association.
    fn paths(&self) -> impl Iterator<Item = (String, &PathSample)> {
        let interval = self.interval;
        self.associations.iter().enumerate().flat_map(move |(place, association)| {
            let first = interval.flows.iter().find(|flow| flow.association == Some(place));
            let name = first.map(name).unwrap_or_default();
            association.paths.iter().map(move |path| (name.clone(), path))
        })
    }
}

/// Adds a row for each reason that held a sender back, with its share of the time; none without `limits`.
fn limited(
    limits: Option<&Limits>,
    side: impl Fn(&Quantity) -> &'static str,
    row: &mut impl FnMut(&'static str, f64),
) {
    for (limit, share) in limits.map(Limits::shares).unwrap_or_default() {
        row(side(&quantity::LIMITED_BY[limit as usize]), share);
    }
}
