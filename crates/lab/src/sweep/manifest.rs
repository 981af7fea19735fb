//! `manifest.json`: the inputs of a result.

use super::record::RunRecord;
use crate::output::FlowPaths;
use crate::results::{OUTPUTS, number_column};
use crate::scenario::{Axis, AxisValue, Sweep};
use serde_json::{Map, Value as Json, json};
use std::sync::OnceLock;
use units::Span;

/// Version of the layout of manifests and tables.
const FORMAT: u32 = 1;

/// Version of the results of the simulator. It is part of the hash of a stored run, so that a sweep never
/// reuses a run with other results. Raise it in each change that changes a digest of
/// `crates/lab/tests/digests.txt`.
pub const RESULTS_VERSION: u32 = 50;

/// The version of the program and [`RESULTS_VERSION`].
fn simulator() -> String {
    format!("anabranch {} (results {RESULTS_VERSION})", env!("CARGO_PKG_VERSION"))
}

/// The commit of a release build from a checkout, or the value of the environment variable `ANABRANCH_COMMIT`
/// at build time.
const COMMIT: Option<&str> = option_env!("ANABRANCH_COMMIT");

/// Description of the machine. Wall times depend on it, results do not.
fn machine() -> Json {
    static FOUND: OnceLock<Json> = OnceLock::new();
    FOUND.get_or_init(find_machine).clone()
}

fn find_machine() -> Json {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    json!({
        "os": std::env::consts::OS,
        "arch": std::env::consts::ARCH,
        "cpu": cpu,
        "threads": std::thread::available_parallelism().map_or(1, usize::from),
    })
}

/// The manifest of one run, with the SHA-256 of its tables.
pub(super) fn of_run(seed: u64, record: &RunRecord, tables: &[(&str, String)]) -> Json {
    let tables: Map<String, Json> =
        tables.iter().map(|(name, sum)| ((*name).to_owned(), json!(sum))).collect();
    json!({
        "format": FORMAT,
        "simulator": simulator(),
        "commit": COMMIT,
        "machine": machine(),
        "hash": record.hash,
        "seed": seed,
        "replica": record.replica,
        "digest": format!("{:016x}", record.digest),
        "packet_hops": record.packet_hops,
        "events": record.events,
        "simulated_ns": record.simulated.as_nanos(),
        PATHS: paths(&record.paths),
        "warnings": record.warnings,
        "failures": record.failures,
        "wall_ns": record.wall.as_nanos(),
        OUTPUTS: tables,
    })
}

/// Keys of a run's manifest that depend on the place, time and version of the simulation, not on the inputs.
pub(super) const CIRCUMSTANCES: [&str; 5] = ["simulator", "commit", "machine", "wall_ns", PATHS];

/// The key of the names of paths.
const PATHS: &str = "paths";

/// The names of paths, by flow.
fn paths(flows: &[FlowPaths]) -> Json {
    let names = |one: &FlowPaths| (one.flow.clone(), json!({ "forward": one.forward, "back": one.back }));
    Json::Object(flows.iter().map(names).collect())
}

/// The names of paths in a run's manifest, or in a run's entry in a sweep's manifest; empty if there are
/// none.
pub fn paths_of(run: &Json) -> Vec<FlowPaths> {
    let names = |listed: &Json| -> Vec<Option<String>> {
        listed.as_array().into_iter().flatten().map(|name| name.as_str().map(str::to_owned)).collect()
    };
    let flows = run[PATHS].as_object().into_iter().flatten();
    flows
        .map(|(flow, ends)| FlowPaths {
            flow: flow.clone(),
            forward: names(&ends["forward"]),
            back: names(&ends["back"]),
        })
        .collect()
}

/// The manifest of a sweep, with the SHA-256 of its tables.
pub(super) fn of_sweep(
    sweep: &Sweep,
    runs: &[RunRecord],
    replicas: &[u32],
    wall: Span,
    outputs: Map<String, Json>,
) -> Json {
    let of_runs = sweep
        .variants()
        .iter()
        .zip(replicas)
        .flat_map(|(variant, &count)| std::iter::repeat_n(variant.parameters.as_slice(), count as usize));
    json!({
        "format": FORMAT,
        "simulator": simulator(),
        "commit": COMMIT,
        "machine": machine(),
        "title": sweep.title(),
        "scenario": sweep.text(),
        "scenario_sha256": sweep.hash(),
        "seed": sweep.variants().first().map(|variant| variant.scenario.seed),
        // The number of replicas of the combination with the fewest replicas.
        "replicas": replicas.iter().min(),
        "axes": axes(sweep.axes()),
        OUTPUTS: outputs,
        "wall_s": wall.as_secs_f64(),
        "runs": runs.iter().zip(of_runs).map(|(record, key)| listed(record, key)).collect::<Vec<_>>(),
    })
}

pub(super) fn axes(axes: &[Axis]) -> Json {
    let axis = |axis: &Axis| {
        let values: Vec<Json> = axis.values.iter().map(plain).collect();
        json!({ "name": axis.name, "values": values, "number_column": number_column(axis, axes) })
    };
    axes.iter().map(axis).collect()
}

/// The entry of a run in the manifest of its sweep.
pub(super) fn listed(record: &RunRecord, parameters: &[(String, AxisValue)]) -> Json {
    let parameters: Map<String, Json> =
        parameters.iter().map(|(axis, value)| (axis.clone(), plain(value))).collect();
    json!({
        "run": record.run,
        "replica": record.replica,
        "hash": record.hash,
        "parameters": parameters,
        "digest": format!("{:016x}", record.digest),
        "packet_hops": record.packet_hops,
        "simulated_s": record.simulated.as_secs_f64(),
        "wall_s": record.wall.as_secs_f64(),
        PATHS: paths(&record.paths),
        "warnings": record.warnings,
        "failures": record.failures,
    })
}

/// Parses the value of an axis from a manifest.
pub(super) fn value(written: &Json) -> Option<AxisValue> {
    match written {
        Json::Bool(flag) => Some(AxisValue::Flag(*flag)),
        Json::Number(number) => number.as_f64().map(AxisValue::Number),
        Json::String(text) => Some(AxisValue::Text(text.clone())),
        _ => None,
    }
}

fn plain(value: &AxisValue) -> Json {
    match value {
        AxisValue::Flag(flag) => json!(flag),
        AxisValue::Number(number) => json!(number),
        AxisValue::Text(text) => json!(text),
    }
}
