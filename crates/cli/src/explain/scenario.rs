//! Runs a scenario, and changed copies of it that may be faster.

use super::report;
use super::words::{Facts, Subject, Tried, WORTH};
use crate::{Failure, code, complain, interrupt, run, say};
use clap::ArgMatches;
use lab::explain::{Alternative, Diagnosis, Kind, alternatives};
use lab::output::{FlowPaths, RunControl, RunError};
use lab::scenario::{Link, Scenario, expected_one_of};
use serde_json::json;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use transport::Limit;

/// If the application limits a flow for more than this share of the time, no change of the network or the
/// options can help much.
const IDLE: f64 = 0.9;

/// Explains the run of a scenario.
pub(super) fn explain(chosen: &ArgMatches) -> Result<i32, Failure> {
    let sweep = crate::scenario::read(chosen)?;
    if sweep.variants().len() > 1 {
        return Err(Failure::usage(run::varies(&sweep)));
    }
    let scenario = &sweep.variants()[0].scenario;
    let number = choose(scenario, chosen.get_one::<String>("flow").map(String::as_str))?;
    let flow = &scenario.flows[number];
    let back = flow.forward.is_none();
    let replica = chosen.get_one::<u32>("replica").copied().unwrap_or(0);
    let control = RunControl { cancel: interrupt::flag(), ..RunControl::default() };
    let base = Scenario { probes: Vec::new(), captures: Vec::new(), ..scenario.clone() };
    let output = lab::world::run(&base, replica, &control).map_err(failed)?;
    if !output.failures.is_empty() {
        return Err(Failure::failed(format!("the run failed: {}", output.failures.join("; "))));
    }
    let found = Diagnosis::of(&output.scalars, &flow.name, back);
    if found.main_limit().is_none() {
        let what = format!(
            "flow `{}` sent nothing while it was measured, or is of UDP, which has no limits",
            flow.name
        );
        return Err(Failure::failed(what));
    }
    let quick = chosen.get_flag("quick");
    let mut list = if quick { Vec::new() } else { alternatives(scenario, number, back) };
    if found.share(Limit::Application) > IDLE {
        list.retain(|alternative| alternative.kind == Kind::Traffic);
    }
    if found.share(Limit::Pacing) < WORTH {
        list.retain(|alternative| alternative.kind != Kind::Bursts);
    }
    let quiet = chosen.get_flag("quiet");
    let runs = Runs { flow: &flow.name, back, paths: &output.paths, replica, control: &control };
    let tried = runs.all(&list, !quiet && std::io::stderr().is_terminal())?;
    let facts = Some(Facts::of(flow, back));
    let subject =
        Subject { name: &flow.name, back, facts, found: &found, paths: &output.paths, tried: &tried };
    if chosen.get_flag("json") {
        let mut json = report::as_json(&subject);
        json["title"] = json!(scenario.title);
        json["seed"] = json!(scenario.seed);
        json["replica"] = json!(replica);
        say(&format!("{json:#}\n"))?;
    } else if !quiet {
        say(&report::readable(&subject))?;
        output.warnings.iter().for_each(|warning| complain(warning));
    }
    Ok(code::OK)
}

/// Returns the flow with this name, or the first flow if there is no name.
fn choose(scenario: &Scenario, name: Option<&str>) -> Result<usize, Failure> {
    let names = || scenario.flows.iter().map(|flow| flow.name.as_str());
    match name {
        None if scenario.flows.is_empty() => {
            Err(Failure::usage("the scenario has short transfers only, and no [[flow]]"))
        }
        None => Ok(0),
        Some(name) => names().position(|one| one == name).ok_or_else(|| {
            let known: Vec<&str> = names().take(20).collect();
            Failure::usage(format!("--flow {name}: no such flow; {}", expected_one_of(name, known)))
        }),
    }
}

fn failed(error: RunError) -> Failure {
    match error {
        RunError::Cancelled => Failure { code: code::STOPPED, message: "stopped".to_owned() },
        error => Failure::failed(error.to_string()),
    }
}

/// The common settings of the runs of all changed scenarios.
struct Runs<'a> {
    flow: &'a str,
    back: bool,
    /// Names of the paths in the scenario without a change.
    paths: &'a [FlowPaths],
    replica: u32,
    control: &'a RunControl,
}

impl Runs<'_> {
    /// Runs all alternatives on all cores. The results have the order of `list`.
    fn all(&self, list: &[Alternative], shown: bool) -> Result<Vec<Tried>, Failure> {
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(list.len());
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let results: Vec<Mutex<Option<Tried>>> = list.iter().map(|_| Mutex::new(None)).collect();
        std::thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(|| {
                    loop {
                        let place = next.fetch_add(1, Ordering::Relaxed);
                        let Some(one) = list.get(place) else { return };
                        *results[place].lock().unwrap_or_else(PoisonError::into_inner) = Some(self.one(one));
                        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                        if shown {
                            let _ =
                                write!(std::io::stderr(), "\r\x1b[K{done} of {} changes tried", list.len());
                        }
                    }
                });
            }
        });
        if shown {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
        if self.control.is_cancelled() {
            return Err(failed(RunError::Cancelled));
        }
        let results =
            results.into_iter().filter_map(|one| one.into_inner().unwrap_or_else(PoisonError::into_inner));
        Ok(results.collect())
    }

    fn one(&self, alternative: &Alternative) -> Tried {
        let run = lab::world::run(&alternative.scenario, self.replica, self.control);
        let throughput = match run {
            Ok(output) if output.failures.is_empty() => {
                Ok(Diagnosis::of(&output.scalars, self.flow, self.back).throughput)
            }
            Ok(output) => Err(output.failures.join("; ")),
            Err(error) => Err(error.to_string()),
        };
        let Alternative { kind, change, without, .. } = alternative;
        let path = self.path_alone(alternative);
        Tried { kind: *kind, change: change.clone(), without: without.clone(), path, throughput }
    }

    /// The name of the only path that a change leaves; `None` if the change leaves several, or the path has
    /// no name.
    fn path_alone(&self, alternative: &Alternative) -> Option<String> {
        let Alternative { kind: Kind::Path, scenario, .. } = alternative else { return None };
        let flow = scenario.flows.iter().find(|flow| flow.name == self.flow)?;
        let [network] = flow.networks.as_deref()? else { return None };
        let names = FlowPaths::names(self.paths, self.flow, self.back);
        let is_named = |link: &&Link| {
            u16::from(link.net_id) == *network && names.iter().flatten().any(|name| *name == link.name)
        };
        scenario.links.iter().find(is_named).map(|link| link.name.clone())
    }
}
