//! Sweeps: all combinations of a scenario's variations, with replicas, on all cores, each run stored on disk.
//!
//! A run is stored under the hash of everything it depends on, so that a stopped sweep can be resumed, and sweeps that
//! share runs share their results. The files do not depend on the number of threads or on earlier runs, except for the
//! wall times in manifests.

mod manifest;
mod pool;
mod stopwatch;
mod store;
mod until;

pub use manifest::RESULTS_VERSION;
pub use store::RunRecord;
pub use until::{Until, Wide};

use crate::output::{RunControl, RunError, RunOutput};
use crate::results::{CsvWriter, ParquetWriter, RunKey, Table, TableError};
use crate::results::{scalars_of, scalars_table, series_of, series_table};
use crate::scenario::{Axis, Scenario, Sweep, Variant};
use crate::world;
use pool::Job;
use serde_json::Value as Json;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use stopwatch::Stopwatch;
use store::Store;
use units::Span;

/// How to run a sweep.
#[derive(Clone, Debug)]
pub struct SweepOptions {
    /// Runs of each combination, each with its own random streams.
    pub replicas: u32,
    /// Gives combinations more replicas until an interval is narrow enough; none: all have `replicas`.
    pub until: Option<Until>,
    /// Threads; results do not depend on them.
    pub jobs: usize,
    /// Folder of results and finished runs.
    pub out: PathBuf,
    /// Writes the tables as CSV, too.
    pub csv: bool,
    /// Set this to true to stop the sweep.
    pub cancel: Arc<AtomicBool>,
}

/// Progress of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Finished runs, reused ones included.
    pub done: usize,
    /// Runs that an earlier sweep had stored.
    pub reused: usize,
    /// All runs.
    pub total: usize,
    /// Wall time so far.
    pub elapsed: Span,
}

impl Progress {
    /// Estimated wall time left; none before the first run is finished.
    pub fn left(&self) -> Option<Span> {
        let fresh = self.done - self.reused;
        (fresh > 0).then(|| self.elapsed.mul_f64((self.total - self.done) as f64 / fresh as f64))
    }
}

/// The results of a complete sweep.
#[derive(Clone, Debug)]
pub struct SweepReport {
    /// Every run; the replica varies fastest.
    pub runs: Vec<RunRecord>,
    /// The runs of each combination.
    pub replicas: Vec<u32>,
    /// The widest interval of each combination that has as many replicas as it may, and is too wide.
    pub wide: Vec<Wide>,
    /// The contents of `manifest.json`.
    pub manifest: Json,
    /// Path of `scalars.parquet`.
    pub scalars: PathBuf,
    /// Path of `series.parquet`.
    pub series: PathBuf,
}

/// A single run, in memory.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// The output of the simulation.
    pub output: RunOutput,
    /// The scalars as a sweep writes them.
    pub scalars: Table,
    /// The series as a sweep writes them.
    pub series: Table,
    /// The contents of the manifest.
    pub manifest: Json,
}

/// Why a sweep is not complete. Finished runs are kept.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// Stopped through [`SweepOptions::cancel`].
    #[error("stopped after {done} of {total} runs")]
    Cancelled {
        /// Runs that are finished.
        done: usize,
        /// All runs.
        total: usize,
    },
    /// A run failed; of several, the first in the order of runs.
    #[error("{run} failed: {source}")]
    Run {
        /// Which run.
        run: String,
        /// Why.
        source: RunError,
    },
    /// The sweep has more than a million runs.
    #[error("the sweep has {runs} runs; expected at most {MOST_RUNS}: choose fewer replicas or combinations")]
    TooManyRuns {
        /// Combinations times replicas.
        runs: u64,
    },
    /// The quantity of [`SweepOptions::until`] is not measured.
    #[error("{0}")]
    NotMeasured(String),
    /// A stored table changed while the sweep ran.
    #[error(
        "{} was changed by something else while the sweep ran: the same command simulates the run again",
        path.display()
    )]
    Damaged {
        /// The table.
        path: PathBuf,
    },
    /// A result could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Store {
        /// File or folder.
        path: PathBuf,
        /// Why.
        source: TableError,
    },
}

/// Largest number of runs of a sweep.
const MOST_RUNS: u64 = 1_000_000;

/// A function that simulates a run: the simulator, or a stand-in of a test.
type Simulate<'s> = &'s (dyn Fn(&Scenario, u32, &RunControl) -> Result<RunOutput, RunError> + Sync);

/// Runs every combination with every replica, and writes `scalars.parquet`, `series.parquet` and `manifest.json` to the
/// folder of the options. `progress` is called whenever a run is finished, and several times a second, in the thread
/// of the caller.
///
/// # Errors
/// [`SweepError`]; another call reuses the finished runs.
pub fn run_sweep(
    sweep: &Sweep,
    options: &SweepOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<SweepReport, SweepError> {
    sweep_with(&world::run, sweep, options, progress)
}

/// Runs one replica of the first combination.
///
/// # Errors
/// Those of [`world::run`].
pub fn run_single(sweep: &Sweep, replica: u32, control: &RunControl) -> Result<RunReport, RunError> {
    let Variant { parameters, scenario } = &sweep.variants()[0];
    let watch = Stopwatch::start();
    let output = world::run(scenario, replica, control)?;
    let record = RunRecord::new(0, replica, store::hash(scenario, replica), &output, watch.elapsed());
    let key = RunKey { run: 0, replica, parameters };
    let scalars = scalars_table(&key, sweep.axes(), &scalars_of(&output.scalars));
    let series = series_table(&key, &series_of(&output.series));
    let manifest = manifest::of_sweep(sweep, &[record], &[1], watch.elapsed(), &[]);
    Ok(RunReport { output, scalars, series, manifest })
}

impl RunReport {
    /// Writes `scalars.parquet`, `series.parquet` and `manifest.json` to a folder that exists; with `csv` the tables as
    /// CSV, too.
    ///
    /// # Errors
    /// [`SweepError::Store`] names the file that could not be written.
    pub fn write(&self, out: &Path, csv: bool) -> Result<(), SweepError> {
        for (name, table) in [("scalars", &self.scalars), ("series", &self.series)] {
            let rows = || std::iter::once(Ok(table.clone()));
            write_rows(&out.join(name).with_extension("parquet"), false, rows())?;
            if csv {
                write_rows(&out.join(name).with_extension("csv"), true, rows())?;
            }
        }
        store::replace(&out.join("manifest.json"), format!("{:#}\n", self.manifest).as_bytes())
    }
}

fn sweep_with(
    simulate: Simulate<'_>,
    sweep: &Sweep,
    options: &SweepOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<SweepReport, SweepError> {
    let watch = Stopwatch::start();
    let mut replicas = vec![options.replicas; sweep.variants().len()];
    let most = options.until.as_ref().map_or(options.replicas, |until| until.most.max(options.replicas));
    let runs = replicas.len() as u64 * u64::from(most);
    if runs > MOST_RUNS {
        return Err(SweepError::TooManyRuns { runs });
    }
    let store = Store::open(&options.out)?;
    let mut done: Vec<Vec<RunRecord>> = vec![Vec::new(); replicas.len()];
    let wide = loop {
        work(simulate, sweep, &replicas, &mut done, &store, options, &watch, progress)?;
        let Some(until) = &options.until else { break Vec::new() };
        let wide = too_wide(until, &done, &store)?;
        let before = replicas.clone();
        wide.iter().for_each(|wide| replicas[wide.variant] = until.next(wide).max(wide.replicas));
        if replicas == before {
            break wide;
        }
    };
    let mut runs: Vec<RunRecord> = done.into_iter().flatten().collect();
    (0..).zip(&mut runs).for_each(|(number, record)| record.run = number);
    let jobs = jobs(sweep, &replicas);
    let tables = write_tables(sweep.axes(), &jobs, &runs, &store, options)?;
    store.clear_parts(&runs);
    let manifest = manifest::of_sweep(sweep, &runs, &replicas, watch.elapsed(), &tables);
    let path = options.out.join("manifest.json");
    store::replace(&path, format!("{manifest:#}\n").as_bytes())?;
    Ok(SweepReport {
        runs,
        replicas,
        wide,
        manifest,
        scalars: options.out.join("scalars.parquet"),
        series: options.out.join("series.parquet"),
    })
}

/// All runs, in order.
fn jobs<'s>(sweep: &'s Sweep, replicas: &[u32]) -> Vec<Job<'s>> {
    let variants = sweep.variants().iter().zip(replicas);
    let pairs = variants.flat_map(|(variant, &count)| (0..count).map(move |replica| (variant, replica)));
    let job = |(run, (variant, replica))| Job { run, variant, replica };
    (0..).zip(pairs).map(job).collect()
}

/// Does the runs that are missing for these numbers of replicas, and adds their records.
#[expect(clippy::too_many_arguments, reason = "all that a sweep is made of")]
fn work(
    simulate: Simulate<'_>,
    sweep: &Sweep,
    replicas: &[u32],
    done: &mut [Vec<RunRecord>],
    store: &Store,
    options: &SweepOptions,
    watch: &Stopwatch,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), SweepError> {
    let had: Vec<u32> = done.iter().map(|records| records.len() as u32).collect();
    let before = done.iter().map(Vec::len).sum::<usize>();
    let reused = done.iter().flatten().filter(|record| record.reused).count();
    let mut missing = jobs(sweep, replicas);
    let place: Vec<usize> = (0..)
        .zip(replicas)
        .flat_map(|(variant, &count)| std::iter::repeat_n(variant, count as usize))
        .collect();
    missing.retain(|job| job.replica >= had[place[job.run as usize]]);
    let mut total = |at: Progress| {
        progress(Progress {
            done: at.done + before,
            reused: at.reused + reused,
            total: at.total + before,
            ..at
        });
    };
    let records =
        pool::work(simulate, &missing, store, options, watch, &mut total).map_err(|error| match error {
            SweepError::Cancelled { done, total } => {
                SweepError::Cancelled { done: done + before, total: total + before }
            }
            error => error,
        })?;
    for (job, record) in missing.iter().zip(records) {
        done[place[job.run as usize]].push(record);
    }
    Ok(())
}

/// The combinations whose interval is too wide, each with its widest one.
fn too_wide(until: &Until, done: &[Vec<RunRecord>], store: &Store) -> Result<Vec<Wide>, SweepError> {
    let mut found = Vec::new();
    for (variant, records) in done.iter().enumerate() {
        let tables: Result<Vec<Table>, SweepError> =
            records.iter().map(|run| store.table(&run.hash, "scalars.parquet", &scalars_of(&[]))).collect();
        found.extend(until.too_wide(variant, &tables?).map_err(SweepError::NotMeasured)?);
    }
    Ok(found)
}

/// Writes the tables of all runs, in the order of the runs, and returns the paths.
fn write_tables(
    axes: &[Axis],
    jobs: &[Job<'_>],
    runs: &[RunRecord],
    store: &Store,
    options: &SweepOptions,
) -> Result<Vec<PathBuf>, SweepError> {
    let scalars = |job: &Job<'_>, run: &RunRecord| {
        Ok(scalars_table(&job.key(), axes, &store.table(&run.hash, "scalars.parquet", &scalars_of(&[]))?))
    };
    let series = |job: &Job<'_>, run: &RunRecord| {
        Ok(series_table(&job.key(), &store.table(&run.hash, "series.parquet", &series_of(&[]))?))
    };
    let mut written = Vec::new();
    for (csv, extension) in [(false, "parquet"), (true, "csv")] {
        if csv && !options.csv {
            continue;
        }
        let tables: [(&str, RowsOf<'_>); 2] = [("scalars", &scalars), ("series", &series)];
        for (name, rows) in tables {
            let path = options.out.join(name).with_extension(extension);
            write_rows(&path, csv, jobs.iter().zip(runs).map(|(job, run)| rows(job, run)))?;
            written.push(path);
        }
    }
    Ok(written)
}

/// The rows of a run.
type RowsOf<'f> = &'f dyn Fn(&Job<'_>, &RunRecord) -> Result<Table, SweepError>;

/// Writes tables of one shape one after the other to a file, which appears complete or not at all.
fn write_rows(
    path: &Path,
    csv: bool,
    tables: impl Iterator<Item = Result<Table, SweepError>>,
) -> Result<(), SweepError> {
    let refused = |source: TableError| SweepError::Store { path: path.to_owned(), source };
    let part = store::part_of(path);
    let sink = BufWriter::new(File::create(&part).map_err(|error| refused(error.into()))?);
    let mut tables = tables.peekable();
    if csv {
        let mut writer = CsvWriter::new(sink);
        for table in tables {
            writer.append(&table?).map_err(refused)?;
        }
        writer.finish().map_err(refused)?;
    } else {
        let shape = match tables.peek() {
            Some(Ok(table)) => table.shape(),
            _ => Vec::new(),
        };
        let mut writer = ParquetWriter::new(sink, &shape).map_err(refused)?;
        for table in tables {
            writer.append(&table?).map_err(refused)?;
        }
        writer.finish().map_err(refused)?;
    }
    std::fs::rename(&part, path).map_err(|error| refused(error.into()))
}

#[cfg(test)]
mod tests;
