//! Digests of the first seconds of every scenario in the repository. A change that must not change results
//! must not change `digests.txt`. If results change on purpose, raise `RESULTS_VERSION`
//! (`crates/lab/src/sweep/manifest.rs`), rewrite the file with `ANABRANCH_UPDATE=1 cargo test -p
//! anabranch-lab --test digests`, and give the reason in the commit. The first line of the file is the
//! version of its digests.
//!
//! Of each sweep, only those combinations run in which a value of an axis appears for the first time. The
//! flows of all scenarios are shortened.

use anabranch_lab as lab;
use lab::output::RunControl;
use lab::scenario::{Distribution, Scenario, Sweep, Variant};
use lab::sweep::RESULTS_VERSION;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use units::{Instant, Span};

/// All flows connect within this time.
const CONNECT: Span = Span::from_millis(500);
/// Each flow sends for at most this time after it has connected.
const STOP: Span = Span::from_secs(6);

#[test]
fn digests_of_all_scenarios_equal_the_recorded_ones() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut points = Vec::new();
    for file in scenario_files(&root) {
        let name = file.strip_prefix(&root).expect("a file below the root").display().to_string();
        let text = std::fs::read_to_string(&file).expect("a scenario file");
        let sweep = anabranch_lab::parse(&text, &file.display().to_string())
            .unwrap_or_else(|error| panic!("{error}"));
        points.extend(covering(&sweep).into_iter().map(|variant| (name.clone(), variant.clone())));
    }
    let lines = in_parallel(&points, |(name, variant)| line(name, variant));
    let mut table = format!("{HEAD}{RESULTS_VERSION}\n");
    lines.iter().for_each(|line| writeln!(table, "{line}").expect("a string takes all"));
    let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/digests.txt");
    let mut expected = std::fs::read_to_string(&record).expect("digests.txt");
    if std::env::var_os("ANABRANCH_UPDATE").is_some() {
        may_replace(&expected, &table).unwrap_or_else(|why| panic!("{why}"));
        std::fs::write(&record, &table).expect("the record can be written");
        expected.clone_from(&table);
    }
    let moved = moved(&expected, &table);
    assert!(moved.is_empty(), "{} of {} digests moved: {moved:#?}", moved.len(), points.len());
    let (here, recorded) = (only_in(&table, &expected), only_in(&expected, &table));
    assert!(expected == table, "not on record: {here:#?}, on record only: {recorded:#?}");
}

/// The lines of one digest file that the other one does not contain.
fn only_in<'r>(record: &'r str, other: &str) -> Vec<&'r str> {
    let other: BTreeSet<&str> = other.lines().collect();
    record.lines().filter(|line| !other.contains(line)).collect()
}

/// The text before the version in the first line of a digest file.
const HEAD: &str = "# RESULTS_VERSION ";

/// The digest of each scenario and combination in the text of a digest file.
fn digests(record: &str) -> BTreeMap<&str, &str> {
    let lines = record.lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let (digest, rest) = line.split_once(' ').expect("a digest, packet-hops, and what ran");
            (rest.split_once(' ').expect("packet-hops, and what ran").1, digest)
        })
        .collect()
}

/// The scenarios and combinations with different digests in the two digest files.
fn moved<'r>(before: &'r str, after: &str) -> Vec<&'r str> {
    let after = digests(after);
    let mut before: Vec<_> = digests(before).into_iter().collect();
    before.retain(|(what, digest)| after.get(what).is_some_and(|now| now != digest));
    before.into_iter().map(|(what, _)| what).collect()
}

/// Checks that a new file of digests may replace the old one: if
/// digests differ, the versions in the first lines must differ, too.
fn may_replace(before: &str, after: &str) -> Result<(), String> {
    let moved = moved(before, after);
    if moved.is_empty() || before.lines().next() != after.lines().next() {
        return Ok(());
    }
    Err(format!(
        "{} digests moved, and `RESULTS_VERSION` is still {RESULTS_VERSION}: raise it in \
         crates/lab/src/sweep/manifest.rs, so that no sweep reuses stored runs with the old results: {moved:#?}",
        moved.len()
    ))
}

#[test]
fn a_record_with_other_digests_needs_another_results_version() {
    let record = |version: u32, digests: &[&str]| format!("{HEAD}{version}\n{}\n", digests.join("\n"));
    let old = record(1, &["0a 5 x.toml", "0b 6 y.toml loss=0"]);
    assert!(may_replace(&old, &record(1, &["0a 5 x.toml", "0c 6 y.toml loss=0"])).is_err());
    assert!(may_replace(&old, &record(2, &["0a 5 x.toml", "0c 6 y.toml loss=0"])).is_ok());
    // To add or remove a scenario changes no result of another scenario.
    assert!(may_replace(&old, &record(1, &["0b 6 y.toml loss=0", "0d 1 z.toml"])).is_ok());
}

/// Every scenario file that is shipped, sorted.
fn scenario_files(root: &Path) -> Vec<PathBuf> {
    let mut folders = vec![root.join("scenarios"), root.join("suites"), root.join("papers")];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path())
        {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|e| e == "toml") && is_scenario(&entry) {
                files.push(entry);
            }
        }
    }
    files.sort();
    files
}

/// True for a scenario file. TOML files with the numbers of papers or with suites have no links.
fn is_scenario(file: &Path) -> bool {
    std::fs::read_to_string(file).expect("text").lines().any(|line| line == "[[link]]")
}

/// The combinations in which a value of an axis appears for the first time.
fn covering(sweep: &Sweep) -> Vec<&Variant> {
    let mut seen = BTreeSet::new();
    let mut covers = |variant: &&Variant| {
        let values = variant.parameters.iter().map(|(axis, value)| format!("{axis} = {value}"));
        let new = values.filter(|value| seen.insert(value.clone())).count();
        new > 0 || variant.parameters.is_empty()
    };
    sweep.variants().iter().filter(|variant| covers(variant)).collect()
}

/// The scenario with shortened flows, and without probes and captures.
fn cut_short(mut scenario: Scenario) -> Scenario {
    let flows = scenario.flows.iter_mut().chain(scenario.transfers.iter_mut().map(|t| &mut t.like));
    for flow in flows {
        for time in [&mut flow.connect_time, &mut flow.start_time] {
            *time = match *time {
                Distribution::Constant(time) => Distribution::Constant(time.min(CONNECT)),
                Distribution::Uniform(from, to) => Distribution::Uniform(from.min(CONNECT), to.min(CONNECT)),
                other => other,
            };
        }
        flow.stop_time = flow.stop_time.min(STOP);
        flow.reset_time = flow.reset_time.min(flow.stop_time);
    }
    for transfers in &mut scenario.transfers {
        transfers.from = Instant::ZERO;
        transfers.to = transfers.to.min(Instant::ZERO + STOP);
    }
    scenario.windows.clear();
    scenario.probes.clear();
    scenario.captures.clear();
    scenario
}

fn line(name: &str, variant: &Variant) -> String {
    let output = lab::world::run(&cut_short(variant.scenario.clone()), 0, &RunControl::default());
    let output = output.unwrap_or_else(|error| panic!("{name}: {error}"));
    let values: Vec<_> = variant.parameters.iter().map(|(axis, value)| format!("{axis}={value}")).collect();
    format!("{:016x} {} {name} {}", output.digest, output.packet_hops, values.join(" ")).trim_end().to_owned()
}

/// Maps items in as many threads as there are cores. The results have the order of the items.
fn in_parallel<T: Sync, R: Send>(items: &[T], map: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let take = || next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        std::iter::from_fn(|| Some(take()).filter(|i| *i < items.len()))
            .map(|i| (i, map(&items[i])))
            .collect()
    };
    let mut results: Vec<(usize, R)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .flat_map(|worker| -> Vec<_> { worker.join().expect("a run that panics") })
            .collect()
    });
    results.sort_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result)| result).collect()
}
