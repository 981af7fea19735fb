//! Explains a finished run from its results: a folder of `run --out`, one run of a sweep, or a measurement of
//! `measure --out`. No changes are tried, because the results do not contain the scenario.

use super::report;
use super::words::Subject;
use crate::{Failure, code, complain, say};
use clap::ArgMatches;
use lab::explain::Diagnosis;
use lab::results::{Column, FolderError, Kind, MANIFEST, ResultFolder, Table};
use lab::scenario::expected_one_of;
use measure::SCHEMA;
use serde_json::Value as Json;
use std::collections::BTreeSet;
use std::path::Path;

/// Explains the run in a folder.
pub(super) fn explain(chosen: &ArgMatches, folder: &Path) -> Result<i32, Failure> {
    let opened = ResultFolder::open(folder).map_err(|error| match error {
        FolderError::Unreadable { .. } => Failure::usage(format!("no run in {}: {error}", folder.display())),
        _ => Failure::failed(error.to_string()),
    })?;
    let manifest = opened.manifest();
    let damaged =
        || Failure::usage(format!("{} is not that of a run or a sweep", folder.join(MANIFEST).display()));
    let is_measured = manifest["schema"] == SCHEMA;
    let (axes, record) = match manifest["axes"].as_array() {
        Some(axes) => (axes.as_slice(), choose(chosen, manifest)?),
        None if is_measured => (&[][..], &Json::Null),
        None => return Err(damaged()),
    };
    const SCALARS: &str = "scalars.parquet";
    let table = opened.table(SCALARS, &shape(axes)).map_err(|error| Failure::failed(error.to_string()))?;
    let run = record["run"].as_i64().and_then(|run| i32::try_from(run).ok()).unwrap_or(0);
    let rows = Rows::of(&table, run).ok_or_else(damaged)?;
    let name = rows.flow(chosen.get_one::<String>("flow").map(String::as_str))?;
    let of = |back| Diagnosis::of_rows(rows.of_flow(name), back);
    let back = of(false).main_limit().is_none();
    let found = of(back);
    if found.main_limit().is_none() {
        let what = "its results do not say what limited the flow: run it anew with this version";
        return Err(Failure::failed(format!("{}: {what}", folder.display())));
    }
    let paths = lab::sweep::paths_of(record);
    let subject = Subject { name, back, facts: None, found: &found, paths: &paths, tried: &[] };
    if chosen.get_flag("json") {
        say(&format!("{:#}\n", report::as_json(&subject)))?;
    } else if !chosen.get_flag("quiet") {
        say(&report::readable(&subject))?;
        if !is_measured {
            complain("to try changes, explain the scenario instead of its results");
        }
    }
    Ok(code::OK)
}

/// The run that the arguments choose, as the manifest lists it.
fn choose<'m>(chosen: &ArgMatches, manifest: &'m Json) -> Result<&'m Json, Failure> {
    let replica = chosen.get_one::<u32>("replica").copied().unwrap_or(0);
    let mut runs: Vec<&Json> = manifest["runs"].as_array().into_iter().flatten().collect();
    for choice in chosen.get_many::<String>("set").into_iter().flatten() {
        let Some((axis, value)) = choice.split_once('=') else {
            return Err(Failure::usage(format!("--set {choice}: expected AXIS=VALUE")));
        };
        runs.retain(|run| match &run["parameters"][axis] {
            Json::String(text) => text == value,
            Json::Number(number) => value.parse().ok() == number.as_f64(),
            Json::Bool(flag) => value.parse() == Ok(*flag),
            _ => false,
        });
    }
    if runs.len() > 1 {
        runs.retain(|run| run["replica"] == replica);
    }
    if let [run] = runs.as_slice() {
        return Ok(run);
    }
    let axes = manifest["axes"].as_array().into_iter().flatten();
    let axes: Vec<String> = axes.map(|axis| format!("  {}: {}", axis["name"], axis["values"])).collect();
    Err(Failure::usage(format!(
        "{} runs of replica {replica} fit; expected one: choose it with --set\n{}",
        runs.len(),
        axes.join("\n")
    )))
}

/// The columns of the scalars of a sweep with these axes.
fn shape(axes: &[Json]) -> Vec<(String, Kind)> {
    let kind = |axis: &Json| {
        let all =
            |of: fn(&Json) -> bool| axis["values"].as_array().is_some_and(|values| values.iter().all(of));
        match (all(Json::is_number), all(Json::is_boolean)) {
            (true, _) => Kind::Real,
            (_, true) => Kind::Flag,
            _ => Kind::Text,
        }
    };
    let fixed = |columns: &[(&str, Kind)]| -> Vec<(String, Kind)> {
        columns.iter().map(|&(name, kind)| (name.to_owned(), kind)).collect()
    };
    let mut shape = fixed(&[("run", Kind::Whole), ("replica", Kind::Whole)]);
    shape.extend(axes.iter().map(|axis| (axis["name"].as_str().unwrap_or_default().to_owned(), kind(axis))));
    shape.extend(fixed(&[
        ("window", Kind::Text),
        ("flow", Kind::Text),
        ("path", Kind::OptionalWhole),
        ("quantity", Kind::Text),
        ("value", Kind::Real),
    ]));
    shape
}

/// The rows of one run that belong to no named window (part of the run): flow, path, quantity and value.
struct Rows<'t>(Vec<(&'t str, Option<u8>, &'t str, f64)>);

impl<'t> Rows<'t> {
    fn of(table: &'t Table, run: i32) -> Option<Self> {
        let (Column::Whole(runs), Column::Text(windows)) = (table.column("run")?, table.column("window")?)
        else {
            return None;
        };
        let (Column::Text(flows), Column::OptionalWhole(paths)) =
            (table.column("flow")?, table.column("path")?)
        else {
            return None;
        };
        let (Column::Text(quantities), Column::Real(values)) =
            (table.column("quantity")?, table.column("value")?)
        else {
            return None;
        };
        let here = runs.iter().zip(windows.iter()).map(|(&one, window)| one == run && window.is_empty());
        let rows = flows.iter().zip(paths).zip(quantities.iter()).zip(values);
        let rows = rows.zip(here).filter(|(_, here)| *here).map(|((((flow, path), quantity), value), _)| {
            (flow, path.map(|path| path as u8), quantity, *value)
        });
        Some(Rows(rows.collect()))
    }

    /// Returns the flow with this name, or the first flow if there is no name.
    fn flow(&self, name: Option<&str>) -> Result<&'t str, Failure> {
        let group = |flow: &str| ["link:", "nat:", "flows:"].iter().any(|group| flow.starts_with(group));
        let flows = || self.0.iter().map(|row| row.0).filter(|flow| !group(flow));
        let found = flows().find(|flow| name.is_none_or(|name| name == *flow));
        found.ok_or_else(|| match name {
            None => Failure::usage("these results have no flow"),
            Some(name) => {
                let known: BTreeSet<&str> = flows().collect();
                Failure::usage(format!(
                    "--flow {name}: no such flow in these results; {}",
                    expected_one_of(name, known)
                ))
            }
        })
    }

    fn of_flow(&self, name: &str) -> impl Iterator<Item = (Option<u8>, &'t str, f64)> {
        self.0
            .iter()
            .filter(move |row| row.0 == name)
            .map(|&(_, path, quantity, value)| (path, quantity, value))
    }
}
