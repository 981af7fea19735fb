use crate::{Failure, check_folder, code, complain, interrupt, reason, say, scenario, show};
use clap::ArgMatches;
use lab::metrics::quantity as q;
use lab::output::{FlowPaths, RunControl, RunError, RunOutput, Scalar};
use lab::scenario::{Scenario, Sweep, Window};
use lab::statistics::grade;
use lab::sweep::{RunReport, run_single};
use serde_json::json;
use std::path::{Path, PathBuf};

/// `anabranch run`.
pub fn run(chosen: &ArgMatches) -> Result<i32, Failure> {
    let sweep = scenario::read(chosen)?;
    if sweep.variants().len() > 1 {
        return Err(Failure::usage(varies(&sweep)));
    }
    let replica = chosen.get_one::<u32>("replica").copied().unwrap_or(0);
    let out = chosen.get_one::<String>("out").map(PathBuf::from);
    let scenario = &sweep.variants()[0].scenario;
    prepare_out(out.as_deref(), scenario)?;
    let qlog = chosen.get_one::<String>("qlog").map(PathBuf::from);
    if let Some(folder) = &qlog {
        check_folder("--qlog", folder)?;
    }
    let cancel = interrupt::flag();
    let control = RunControl { cancel, captures: out.clone(), qlog, ..RunControl::default() };
    let report = match run_single(&sweep, replica, &control) {
        Ok(report) => report,
        Err(RunError::Cancelled) => {
            return Err(Failure { code: code::STOPPED, message: "stopped".to_owned() });
        }
        Err(error) => return Err(Failure::failed(error.to_string())),
    };
    if let Some(out) = &out {
        report.write(out, chosen.get_flag("csv")).map_err(|error| Failure::failed(error.to_string()))?;
    }
    if chosen.get_flag("json") {
        say(&format!("{:#}\n", as_json(scenario, replica, &report)))?;
    } else if !chosen.get_flag("quiet") {
        say(&readable(&sweep, replica, &report))?;
    }
    if report.output.failures.is_empty() {
        return Ok(code::OK);
    }
    Err(Failure::failed(format!("the run failed: {}", report.output.failures.join("; "))))
}

/// Creates the folder of results. Without a folder, prints that captures are not written.
pub fn prepare_out(out: Option<&Path>, scenario: &Scenario) -> Result<(), Failure> {
    if let Some(out) = out {
        check_folder("--out", out)?;
        std::fs::create_dir_all(out).map_err(|error| {
            Failure::failed(format!("cannot create the folder {}: {}", out.display(), reason(&error)))
        })?;
    } else if !scenario.captures.is_empty() {
        complain("captures are written only with --out");
    }
    Ok(())
}

/// The error for a scenario with variations: names the axes, and says how to choose a value.
pub fn varies(sweep: &Sweep) -> String {
    let mut text =
        format!("this scenario stands for {} combinations of variations:\n", sweep.variants().len());
    for axis in sweep.axes() {
        let values: Vec<_> = axis.values.iter().map(ToString::to_string).collect();
        text += &format!("  {}: {}\n", axis.name, values.join(", "));
    }
    let choice: Vec<_> =
        sweep.axes().iter().map(|axis| format!("--set '{}={}'", axis.name, axis.values[0])).collect();
    text + &format!("Run them all with `anabranch sweep`, or choose one: {}", choice.join(" "))
}

/// The run as JSON; the version of the format is in the manifest.
fn as_json(scenario: &Scenario, replica: u32, report: &RunReport) -> serde_json::Value {
    let scalars: Vec<_> = report
        .output
        .scalars
        .iter()
        .map(|s| json!({ "window": s.window, "flow": s.flow, "path": s.path, "quantity": s.quantity, "value": s.value }))
        .collect();
    json!({
        "title": scenario.title,
        "seed": scenario.seed,
        "replica": replica,
        "manifest": report.manifest,
        "warnings": report.output.warnings,
        "failures": report.output.failures,
        "scalars": scalars,
    })
}

fn readable(sweep: &Sweep, replica: u32, report: &RunReport) -> String {
    let variant = &sweep.variants()[0];
    let output = &report.output;
    let mut text = String::new();
    if !sweep.title().is_empty() {
        text += &format!("{}\n", sweep.title());
    }
    let parameters: Vec<_> =
        variant.parameters.iter().map(|(axis, value)| format!(", {axis} = {value}")).collect();
    let wall = report.manifest["wall_s"].as_f64().unwrap_or_default();
    text += &format!(
        "replica {replica}, seed {}{}: {} simulated in {}, {} packet-hops\n\n",
        variant.scenario.seed,
        parameters.concat(),
        show::time(output.simulated.as_secs_f64()),
        show::time(wall),
        output.packet_hops
    );
    text += &flows(&variant.scenario, output);
    text += &latency(&output.scalars);
    text += &links(&output.scalars);
    for warning in &output.warnings {
        text += &format!("\nNote: {warning}\n");
    }
    text
}

/// A line for each direction of a flow that carries data, and for each of its paths.
fn flows(scenario: &Scenario, output: &RunOutput) -> String {
    let scalars = &output.scalars;
    const HEAD: [&str; 8] =
        ["flow", "path", "throughput", "data packets", "fast retrans.", "timer retrans.", "timeouts", "RTT"];
    let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
    for flow in scenario.flows.iter().filter(|flow| !flow.echo) {
        for (on, prefix, arrow) in
            [(flow.forward.is_some(), "", ""), (flow.back.is_some(), "back_", " (back)")]
        {
            let counted = |s: &&Scalar| s.quantity.strip_prefix(prefix) == Some("data_packets");
            let own = scalars.iter().filter(|s| s.flow == flow.name).filter(counted);
            let mut paths: Vec<Option<u8>> = own.map(|s| s.path).collect();
            paths.sort_unstable();
            paths.dedup();
            for path in paths.into_iter().filter(|_| on) {
                let cell = |quantity: &str, show: &dyn Fn(f64) -> String| {
                    let named = |s: &&Scalar| {
                        s.window.is_empty()
                            && s.flow == flow.name
                            && s.path == path
                            && s.quantity.strip_prefix(prefix) == Some(quantity)
                    };
                    scalars.iter().find(named).map_or(String::new(), |s| show(s.value))
                };
                rows.push(vec![
                    if path.is_none() { format!("{}{arrow}", flow.name) } else { String::new() },
                    path.map_or(String::new(), |path| {
                        FlowPaths::numbered(&output.paths, &flow.name, !prefix.is_empty(), path)
                    }),
                    cell("throughput_bps", &show::rate),
                    cell("data_packets", &show::count),
                    cell("fast_retransmissions", &show::count),
                    cell("timer_retransmissions", &show::count),
                    cell("timeouts", &show::count),
                    cell("srtt_s", &show::time),
                ]);
            }
        }
    }
    show::table(&rows)
}

/// A line for each probe of latency in the whole run, and one in each named window except the idle one.
fn latency(scalars: &[Scalar]) -> String {
    const HEAD: [&str; 9] = ["latency", "window", "idle p50", "p50", "p95", "p99", "lost", "added", "grade"];
    let mut rows = vec![HEAD.map(str::to_owned).to_vec()];
    for lost in scalars.iter().filter(|s| s.quantity == q::ECHOES_LOST && s.window != Window::IDLE) {
        let own = |s: &&Scalar| s.flow == lost.flow && s.window == lost.window;
        let cell = |quantity: &str, show: &dyn Fn(f64) -> String| {
            let found = scalars.iter().filter(own).find(|s| s.quantity == quantity);
            found.map_or("-".to_owned(), |s| show(s.value))
        };
        let times = [q::ECHO_IDLE, q::ECHO_P50, q::ECHO_P95, q::ECHO_P99].map(|name| cell(name, &show::time));
        let added =
            [cell(q::ECHO_ADDED, &show::added), cell(q::ECHO_ADDED, &|added| grade(added).to_owned())];
        let row = [lost.flow.clone(), lost.window.clone()].into_iter().chain(times);
        rows.push(row.chain([show::count(lost.value)]).chain(added).collect());
    }
    if rows.len() > 1 { format!("\n{}", show::table(&rows)) } else { String::new() }
}

/// A line for each direction of a link that dropped packets.
fn links(scalars: &[Scalar]) -> String {
    let mut rows = vec![["link", "utilisation", "dropped"].map(str::to_owned).to_vec()];
    let own = || scalars.iter().filter(|s| s.window.is_empty());
    let mut names: Vec<&str> = own().filter_map(|s| s.flow.strip_prefix("link:")).collect();
    names.dedup();
    for name in names {
        let of_link = || own().filter(|s| s.flow.strip_prefix("link:") == Some(name));
        let dropped: f64 = of_link().filter(|s| s.quantity.starts_with("drops_")).map(|s| s.value).sum();
        let used = of_link().find(|s| s.quantity == "utilisation").map_or(0.0, |s| s.value);
        if dropped > 0.0 {
            rows.push(vec![name.to_owned(), format!("{:.1} %", used * 100.0), show::count(dropped)]);
        }
    }
    if rows.len() > 1 { format!("\n{}", show::table(&rows)) } else { String::new() }
}
