mod export;

use crate::{Cluster, Failure, arguments, check_folder, code, complain, interrupt, say, scenario, show};
use clap::ArgMatches;
use lab::metrics::quantity::{ALL_FLOWS, ECHO_ADDED, THROUGHPUT};
use lab::results::{Column, Table, TableError, read_parquet, scalars_of, sweep_table};
use lab::results::{Kind, RunKey};
use lab::scenario::{Capture, Sweep, Variant};
use lab::statistics;
use lab::sweep::{
    CAPTURE_LIMIT, Part, Progress, RunRecord, SweepError, SweepOptions, SweepReport, Until, Wide,
};
use lab::sweep::{run_part, run_sweep, run_sweep_elsewhere};
use serde_json::{Map, Value as Json, json};
use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

/// `anabranch sweep`.
pub fn sweep(chosen: &ArgMatches, cluster: Option<&mut dyn Cluster>) -> Result<i32, Failure> {
    let mut sweep = scenario::read(chosen)?;
    if !chosen.get_flag("captures") && sweep.drop_captures() {
        complain("captures are written only with --captures; each run writes its own");
    }
    let options = options(chosen)?;
    check_folder("--out", &options.out)?;
    if let Some(warning) = capture_sizes(&sweep, &options) {
        complain(&warning);
    }
    if chosen.get_one::<String>("export").is_some() {
        return export::slurm(chosen, &sweep, &options);
    }
    let quiet = chosen.get_flag("quiet");
    let mut line = Line { shown: !quiet && std::io::stderr().is_terminal(), last: String::new() };
    if let Some(part) = chosen.get_one::<String>("part") {
        let part = Part::parse(part).map_err(|message| Failure::usage(format!("--part {message}")))?;
        let runs = run_part(&sweep, &options, part, &mut |progress| line.show(progress));
        line.clear();
        let runs = runs.map_err(|error| failure(&error, &options.out))?;
        told(&runs, quiet);
        if !quiet {
            let reused = runs.iter().filter(|run| run.reused).count();
            say(&format!(
                "{} runs, {reused} of them reused, in {}. The same command without --part writes the tables.\n",
                runs.len(),
                options.out.join("runs").display()
            ))?;
        }
        return failures(&runs);
    }
    let result = match (chosen.get_one::<String>("cluster"), cluster) {
        (Some(address), Some(cluster)) => {
            cluster.connect(address).map_err(Failure::usage)?;
            run_sweep_elsewhere(cluster, &sweep, &options, &mut |progress| line.show(progress))
        }
        _ => run_sweep(&sweep, &options, &mut |progress| line.show(progress)),
    };
    line.clear();
    let report = result.map_err(|error| failure(&error, &options.out))?;
    told(&report.runs, quiet);
    for wide in report.wide.iter().take(MOST_LINES) {
        complain(&too_wide(&sweep, wide));
    }
    let means = means(&sweep, &report).map_err(|error| Failure::failed(error.to_string()))?;
    if chosen.get_flag("json") {
        let [throughput, latency] = means.map(|of| of.iter().map(|mean| mean.as_json(&sweep)).collect());
        let mut all = json!({ "out": options.out, "manifest": report.manifest, "throughput": throughput });
        if latency != json!([]) {
            all["latency"] = latency;
        }
        say(&format!("{all:#}\n"))?;
    } else if !quiet {
        say(&readable(&sweep, &options, &report, &means))?;
    }
    failures(&report.runs)
}

fn options(chosen: &ArgMatches) -> Result<SweepOptions, Failure> {
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let until = until(chosen)?;
    let default = if until.is_some() { FEW } else { MANY };
    Ok(SweepOptions {
        replicas: chosen.get_one::<u32>("replicas").copied().unwrap_or(default),
        until,
        jobs: chosen.get_one::<u32>("jobs").map_or(all, |jobs| *jobs as usize),
        out: chosen
            .get_one::<String>("out")
            .map_or_else(|| default_out(arguments::text(chosen, "file")), PathBuf::from),
        csv: chosen.get_flag("csv"),
        cancel: interrupt::flag(),
    })
}

/// The warning about captures of a sweep: the number of bytes that they may write.
fn capture_sizes(sweep: &Sweep, options: &SweepOptions) -> Option<String> {
    let limit = |capture: &Capture| capture.limit.unwrap_or(CAPTURE_LIMIT).as_f64();
    let of_variant = |variant: &Variant| variant.scenario.captures.iter().map(limit).sum::<f64>();
    let bytes = sweep.variants().iter().map(of_variant).sum::<f64>() * f64::from(options.replicas);
    let files: usize = sweep.variants().iter().map(|variant| variant.scenario.captures.len()).sum();
    (files > 0).then(|| {
        format!(
            "{} captures of up to {} in total will be written below {}; `limit` of a [[capture]] sets the size of its file",
            files as u64 * u64::from(options.replicas),
            size(bytes),
            options.out.join("runs").display()
        )
    })
}

/// A number of bytes in a suitable unit.
fn size(bytes: f64) -> String {
    if bytes < 1e9 { format!("{:.2} MB", bytes / 1e6) } else { format!("{:.1} GB", bytes / 1e9) }
}

fn failure(error: &SweepError, out: &Path) -> Failure {
    match error {
        SweepError::Cancelled { .. } => Failure {
            code: code::STOPPED,
            message: format!("{error}; they are kept in {}, and the same command reuses them", out.display()),
        },
        SweepError::TooManyRuns { .. } | SweepError::NotMeasured(_) => Failure::usage(error.to_string()),
        error => Failure::failed(error.to_string()),
    }
}

/// Prints the warnings about runs.
fn told(runs: &[RunRecord], quiet: bool) {
    let redone = runs.iter().filter(|run| run.redone).count();
    if redone > 0 {
        let (runs, they) = if redone == 1 { ("run", "it was") } else { ("runs", "they were") };
        complain(&format!("the stored results of {redone} {runs} were damaged: {they} simulated again"));
    }
    let warned = |run: &&RunRecord| !quiet && run.failures.is_empty() && !run.warnings.is_empty();
    let mut told: Vec<(&RunRecord, usize)> = Vec::new();
    for run in runs.iter().filter(warned) {
        let known = told.iter_mut().find(|(first, _)| first.warnings == run.warnings);
        if let Some((_, others)) = known {
            *others += 1;
        } else if told.len() < MOST_LINES {
            told.push((run, 0));
        }
    }
    for (run, others) in told {
        let and = if others > 0 { format!(" and {others} more") } else { String::new() };
        complain(&format!("run {} (replica {}){and}: {}", run.run, run.replica, run.warnings.join("; ")));
    }
}

/// Number of replicas if `--replicas` is not given.
const MANY: u32 = 30;
/// Number of replicas if `--until` is given and `--replicas` is not: the sweep adds more where necessary.
const FEW: u32 = 5;

fn until(chosen: &ArgMatches) -> Result<Option<Until>, Failure> {
    let most = chosen.get_one::<u32>("most").copied().unwrap_or(1000);
    let parse = |text: &String| {
        Until::parse(text, most).map_err(|message| Failure::usage(format!("--until {message}")))
    };
    chosen.get_one::<String>("until").map(parse).transpose()
}

/// The line about a combination whose interval is still too wide at the end.
fn too_wide(sweep: &Sweep, wide: &Wide) -> String {
    let parameters = &sweep.variants()[wide.variant].parameters;
    let which: Vec<_> = parameters.iter().map(|(axis, value)| format!("{axis} = {value}, ")).collect();
    format!(
        "{}flow {}: still ± {:.2} % with {} replicas; --most allows no more",
        which.concat(),
        wide.flow,
        wide.share * 100.0,
        wide.replicas
    )
}

/// Largest number of lines about runs that failed, or that have warnings.
const MOST_LINES: usize = 5;

/// Returns an error if a run failed. The results of all runs are written already.
fn failures(runs: &[RunRecord]) -> Result<i32, Failure> {
    let failed: Vec<&RunRecord> = runs.iter().filter(|run| !run.failures.is_empty()).collect();
    if failed.is_empty() {
        return Ok(code::OK);
    }
    let mut text = format!("{} of {} runs failed:", failed.len(), runs.len());
    for run in failed.iter().take(MOST_LINES) {
        text += &format!("\n  run {} (replica {}): {}", run.run, run.replica, run.failures.join("; "));
    }
    if failed.len() > MOST_LINES {
        text += "\n  and more: see `failures` of each run in manifest.json";
    }
    Err(Failure::failed(text))
}

/// The default folder of results: `out/NAME` for a scenario file `NAME.toml`.
fn default_out(file: &str) -> PathBuf {
    Path::new("out").join(Path::new(file).file_stem().unwrap_or_default())
}

/// A line on the terminal that the next line overwrites.
struct Line {
    shown: bool,
    last: String,
}

impl Line {
    fn show(&mut self, progress: Progress) {
        if !self.shown {
            return;
        }
        let left =
            progress.left().map_or(String::new(), |left| format!(", {} left", duration(left.as_secs_f64())));
        let text = format!("{} of {} runs{left}", progress.done, progress.total);
        if text != self.last {
            let _ = write!(std::io::stderr(), "\r\x1b[K{text}").and_then(|()| std::io::stderr().flush());
            self.last = text;
        }
    }

    fn clear(&self) {
        if !self.last.is_empty() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

fn duration(seconds: f64) -> String {
    let s = seconds.ceil() as u64;
    match s {
        0..120 => format!("{s} s"),
        120..7200 => format!("{} min", s.div_ceil(60)),
        _ => format!("{} h {} min", s / 3600, s % 3600 / 60),
    }
}

/// A mean over the replicas of one combination: a flow's throughput, or the latency that load adds to a
/// probe.
struct Mean {
    variant: usize,
    flow: String,
    quantity: String,
    mean: f64,
    half: f64,
}

impl Mean {
    fn as_json(&self, sweep: &Sweep) -> Json {
        let parameters: Map<String, Json> = sweep.variants()[self.variant]
            .parameters
            .iter()
            .map(|(a, v)| (a.clone(), json!(v.to_string())))
            .collect();
        let mut row = json!({
            "parameters": parameters,
            "flow": self.flow,
            "quantity": self.quantity,
            "mean": self.mean,
            "half_width_95": if self.half.is_nan() { Json::Null } else { json!(self.half) },
        });
        if self.quantity == ECHO_ADDED {
            row["grade"] = json!(statistics::grade(self.mean));
        }
        row
    }
}

/// Throughput and added latency over the replicas, by combination, flow and direction.
fn means(sweep: &Sweep, report: &SweepReport) -> Result<[Vec<Mean>; 2], TableError> {
    let key = RunKey { run: 0, replica: 0, parameters: &sweep.variants()[0].parameters };
    let shape: Vec<(String, Kind)> = sweep_table(&key, sweep.axes(), &scalars_of(&[])).shape();
    let table: Table = read_parquet(File::open(&report.scalars)?, &shape)?;
    let column = |name: &str| table.column(name).ok_or_else(|| TableError::Shape(name.to_owned()));
    let (Column::Whole(run), Column::Text(window), Column::Text(flow)) =
        (column("run")?, column("window")?, column("flow")?)
    else {
        return Err(TableError::Shape("run, window, flow".to_owned()));
    };
    let (Column::Text(quantity), Column::Real(value)) = (column("quantity")?, column("value")?) else {
        return Err(TableError::Shape("quantity, value".to_owned()));
    };
    let of_run: Vec<usize> =
        (0..).zip(&report.replicas).flat_map(|(at, &n)| std::iter::repeat_n(at, n as usize)).collect();
    let mut groups: Vec<Group<'_>> = Vec::new();
    let rows = run.iter().zip(window.iter()).zip(flow.iter()).zip(quantity.iter()).zip(value);
    for ((((run, window), flow), quantity), value) in rows {
        let shown = [THROUGHPUT.forward, THROUGHPUT.back, ECHO_ADDED].contains(&quantity);
        if !shown || !window.is_empty() || flow == ALL_FLOWS {
            continue;
        }
        let variant = of_run[*run as usize];
        // The rows of a combination are contiguous, so its groups are the last ones.
        let same = |group: &&mut Group<'_>| group.flow == flow && group.quantity == quantity;
        match groups.iter_mut().rev().take_while(|group| group.variant == variant).find(same) {
            Some(group) => group.values.push(*value),
            None => groups.push(Group { variant, flow, quantity, values: vec![*value] }),
        }
    }
    let (latency, throughput): (Vec<Mean>, Vec<Mean>) =
        groups.iter().map(Group::mean).partition(|mean| mean.quantity == ECHO_ADDED);
    let is_probe = |mean: &Mean| {
        let mut flows = sweep.variants()[mean.variant].scenario.flows.iter();
        flows.any(|flow| flow.echo && flow.name == mean.flow)
    };
    let throughput = throughput.into_iter().filter(|mean| !is_probe(mean)).collect();
    Ok([throughput, latency])
}

/// The values of all replicas of a combination for one flow and quantity.
struct Group<'t> {
    variant: usize,
    flow: &'t str,
    quantity: &'t str,
    values: Vec<f64>,
}

impl Group<'_> {
    fn mean(&self) -> Mean {
        let (mean, half) = statistics::mean_and_half_width(&self.values);
        Mean {
            variant: self.variant,
            flow: self.flow.to_owned(),
            quantity: self.quantity.to_owned(),
            mean,
            half,
        }
    }
}

fn readable(
    sweep: &Sweep,
    options: &SweepOptions,
    report: &SweepReport,
    [throughput, latency]: &[Vec<Mean>; 2],
) -> String {
    let reused = report.runs.iter().filter(|run| run.reused).count();
    let seed = sweep.variants()[0].scenario.seed;
    let mut text = String::new();
    if !sweep.title().is_empty() {
        text += &format!("{}\n", sweep.title());
    }
    let most = report.replicas.iter().copied().max().unwrap_or(options.replicas);
    let each = if most > options.replicas {
        format!("{} to {most} replicas", options.replicas)
    } else {
        format!("{most} replicas each")
    };
    text += &format!("{} runs: {each}, seed {seed}", report.runs.len());
    if reused > 0 {
        text += &format!("; {reused} reused");
    }
    text += "\n\n";
    let cells = |mean: &Mean| {
        let back = if mean.quantity.starts_with("back_") { " (back)" } else { "" };
        vec![format!("{}{back}", mean.flow), show::rate_interval(mean.mean, mean.half)]
    };
    text += &table(sweep, throughput, &["flow", "throughput, mean and 95 % interval"], cells);
    if !latency.is_empty() {
        let cells = |mean: &Mean| {
            let added = show::added_interval(mean.mean, mean.half);
            vec![mean.flow.clone(), added, statistics::grade(mean.mean).to_owned()]
        };
        let head = ["probe", "added latency, mean and 95 % interval", "grade"];
        text += &format!("\n{}", table(sweep, latency, &head, cells));
    }
    text + &format!("\n{}\n{}\n", report.scalars.display(), report.series.display())
}

/// A table with a line for each mean: its parameters, and its cells, which `cells` returns.
fn table(sweep: &Sweep, means: &[Mean], head: &[&str], cells: impl Fn(&Mean) -> Vec<String>) -> String {
    let axes = sweep.axes().iter().map(|axis| axis.name.clone());
    let mut rows = vec![axes.chain(head.iter().map(|&name| name.to_owned())).collect()];
    for mean in means {
        let parameters = &sweep.variants()[mean.variant].parameters;
        let values = parameters.iter().map(|(_, value)| value.to_string());
        rows.push(values.chain(cells(mean)).collect());
    }
    show::table(&rows)
}
