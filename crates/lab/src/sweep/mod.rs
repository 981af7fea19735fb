//! Sweeps: all combinations of a scenario's variations, with replicas, on all cores. Each run is stored on
//! disk.
//!
//! The name of a stored run is the hash of all its inputs. So a stopped sweep can be resumed, and sweeps
//! share results of common runs. The files do not depend on the number of threads or on earlier runs, except
//! for the wall times in manifests.

mod elsewhere;
mod job;
mod manifest;
mod merge;
mod order;
mod parts;
mod pool;
mod record;
mod stopwatch;
mod store;
mod tables;
mod until;

pub use elsewhere::{Elsewhere, Part, places, run_part, run_stored};
pub use job::Task;
pub use manifest::{RESULTS_VERSION, paths_of};
pub use merge::{MergeError, Merged, merge};
pub use record::RunRecord;
pub use store::CAPTURE_LIMIT;
pub use until::{Until, Wide};

use crate::output::{RunControl, RunError, RunOutput};
use crate::results::{MANIFEST, OUTPUTS, RunKey, Table, TableError};
use crate::results::{scalars_of, sealed, series_of, sums, sweep_table};
use crate::scenario::{Scenario, Sweep, Variant};
use crate::world;
use job::Job;
use serde_json::{Map, Value as Json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use stopwatch::Stopwatch;
use store::Store;
use units::Span;
use until::Values;

/// Options of a sweep.
#[derive(Clone, Debug)]
pub struct SweepOptions {
    /// Runs of each combination, each with its own random streams.
    pub replicas: u32,
    /// Adds replicas to combinations until a confidence interval is narrow enough; `None`: all have
    /// `replicas`.
    pub until: Option<Until>,
    /// Number of threads; results do not depend on it.
    pub jobs: usize,
    /// Folder of results and finished runs.
    pub out: PathBuf,
    /// True to write the tables also as CSV.
    pub csv: bool,
    /// Set this to true to stop the sweep.
    pub cancel: Arc<AtomicBool>,
}

/// Progress of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Finished runs, including reused ones.
    pub done: usize,
    /// Runs that an earlier sweep had stored.
    pub reused: usize,
    /// All runs.
    pub total: usize,
    /// Wall time so far.
    pub elapsed: Span,
}

impl Progress {
    /// Estimated remaining wall time; `None` before the first run is finished.
    pub fn left(&self) -> Option<Span> {
        let fresh = self.done - self.reused;
        (fresh > 0).then(|| self.elapsed.mul_f64((self.total - self.done) as f64 / fresh as f64))
    }
}

/// The results of a complete sweep.
#[derive(Clone, Debug)]
pub struct SweepReport {
    /// All runs, with the replica varying fastest.
    pub runs: Vec<RunRecord>,
    /// The number of replicas of each combination.
    pub replicas: Vec<u32>,
    /// For each combination whose confidence interval is still too wide with the largest allowed number of
    /// replicas: its widest interval.
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

/// Error: why a sweep is not complete. Finished runs are kept.
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
    /// A run failed; the first one in the order of runs.
    #[error("{run} failed: {source}")]
    Run {
        /// Description of the run.
        run: String,
        /// The error of the run.
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
    /// The runs in other processes failed.
    #[error("{0}")]
    Elsewhere(String),
    /// Another process requested a combination that the sweep does not have.
    #[error("the sweep has no combination {number}: other processes have another version of the scenario")]
    NoVariant {
        /// Number of the combination.
        number: usize,
    },
    /// A stored table changed during the sweep.
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
        /// The error.
        source: TableError,
    },
}

/// Largest number of runs of a sweep.
const MOST_RUNS: u64 = 1_000_000;

/// A function that simulates a run: the simulator, or a stand-in of a test.
type Simulate<'s> = &'s (dyn Fn(&Scenario, u32, &RunControl) -> Result<RunOutput, RunError> + Sync);

/// Runs every combination with every replica, and writes `scalars.parquet`, `series.parquet` and
/// `manifest.json` to the folder of the options. Calls `progress` in the caller's thread after each run, and
/// several times a second.
///
/// # Errors
/// [`SweepError`]; another call reuses the finished runs.
pub fn run_sweep(
    sweep: &Sweep,
    options: &SweepOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<SweepReport, SweepError> {
    sweep_with(&world::run, None, sweep, options, progress)
}

/// As [`run_sweep`], but `elsewhere` performs all missing runs.
///
/// # Errors
/// [`SweepError`]; another call reuses the finished runs.
pub fn run_sweep_elsewhere(
    elsewhere: &mut dyn Elsewhere,
    sweep: &Sweep,
    options: &SweepOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<SweepReport, SweepError> {
    sweep_with(&world::run, Some(elsewhere), sweep, options, progress)
}

/// Runs one replica of the first combination.
///
/// # Errors
/// Errors of [`world::run`].
pub fn run_single(sweep: &Sweep, replica: u32, control: &RunControl) -> Result<RunReport, RunError> {
    let scenario = &sweep.variants()[0].scenario;
    let watch = Stopwatch::start();
    let output = world::run(scenario, replica, control)?;
    Ok(RunReport::new(sweep, replica, output, watch.elapsed()))
}

impl RunReport {
    /// The report of one replica of the first combination, with the wall time `wall`.
    pub fn new(sweep: &Sweep, replica: u32, output: RunOutput, wall: Span) -> RunReport {
        let Variant { parameters, scenario, .. } = &sweep.variants()[0];
        let record = RunRecord::new(0, replica, store::hash(scenario, replica), &output, wall);
        let key = RunKey { run: 0, replica, parameters };
        let scalars = sweep_table(&key, sweep.axes(), &scalars_of(&output.scalars));
        let series = sweep_table(&key, sweep.axes(), &series_of(&output.series));
        let manifest = manifest::of_sweep(sweep, &[record], &[1], wall, Map::new());
        RunReport { output, scalars, series, manifest }
    }

    /// Writes `scalars.parquet`, `series.parquet` and `manifest.json` to an existing folder; with `csv` also
    /// the tables as CSV.
    ///
    /// # Errors
    /// [`SweepError::Store`] names the file that could not be written.
    pub fn write(&self, out: &Path, csv: bool) -> Result<(), SweepError> {
        let mut written = Vec::new();
        for (name, table) in [("scalars", &self.scalars), ("series", &self.series)] {
            for extension in ["parquet", "csv"].iter().take(1 + usize::from(csv)) {
                let path = out.join(name).with_extension(extension);
                tables::write_one(&path, *extension == "csv", table)?;
                written.push(path);
            }
        }
        let mut manifest = self.manifest.clone();
        manifest[OUTPUTS] = sums(&written).map_err(|error| store::refused(out, error))?.into();
        store::replace(&out.join(MANIFEST), sealed(&manifest).as_bytes())
    }
}

fn sweep_with(
    simulate: Simulate<'_>,
    elsewhere: Option<&mut dyn Elsewhere>,
    sweep: &Sweep,
    options: &SweepOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<SweepReport, SweepError> {
    let watch = Stopwatch::start();
    let mut replicas = vec![options.replicas; sweep.variants().len()];
    let most = options.until.as_ref().map_or(options.replicas, |until| until.most.max(options.replicas));
    refuse_too_many(replicas.len(), most)?;
    let store = Store::open(&options.out)?;
    let mut done: Vec<Vec<RunRecord>> = vec![Vec::new(); replicas.len()];
    let mut values: Vec<Vec<Values>> = vec![Vec::new(); replicas.len()];
    let mut round = Round { simulate, elsewhere, sweep, store: &store, options, watch };
    let wide = loop {
        round.work(&replicas, &mut done, progress)?;
        let Some(until) = &options.until else { break Vec::new() };
        read_values(until, &done, &mut values, &store, options.jobs)?;
        let too_wide = |(variant, runs): (usize, &Vec<Values>)| until.too_wide(variant, runs);
        let wide: Vec<Wide> = values.iter().enumerate().filter_map(too_wide).collect();
        let before = replicas.clone();
        wide.iter().for_each(|wide| replicas[wide.variant] = until.next(wide).max(wide.replicas));
        if replicas == before {
            break wide;
        }
    };
    let mut runs: Vec<RunRecord> = done.into_iter().flatten().collect();
    (0..).zip(&mut runs).for_each(|(number, record)| record.run = number);
    let jobs = all_jobs(sweep, &replicas)?;
    let keys: Vec<RunKey<'_>> = jobs.iter().map(Job::key).collect();
    let target = tables::Target { out: &options.out, csv: options.csv, jobs: options.jobs };
    let tables = tables::write(&target, sweep.axes(), &keys, &runs, &store)?;
    store.clear_parts(&runs);
    let sums = sums(&tables).map_err(|error| store::refused(&options.out, error))?;
    let manifest = manifest::of_sweep(sweep, &runs, &replicas, watch.elapsed(), sums);
    store::replace(&options.out.join(MANIFEST), sealed(&manifest).as_bytes())?;
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
fn all_jobs<'s>(sweep: &'s Sweep, replicas: &[u32]) -> Result<Vec<Job<'s>>, SweepError> {
    refuse_too_many(replicas.len(), replicas.iter().copied().max().unwrap_or(0))?;
    let variants = sweep.variants().iter().zip(replicas);
    let pairs = variants.flat_map(|(variant, &count)| (0..count).map(move |replica| (variant, replica)));
    let job = |(run, (variant, replica))| Job { run, variant, replica };
    Ok((0..).zip(pairs).map(job).collect())
}

fn refuse_too_many(variants: usize, replicas: u32) -> Result<(), SweepError> {
    let runs = variants as u64 * u64::from(replicas);
    if runs > MOST_RUNS { Err(SweepError::TooManyRuns { runs }) } else { Ok(()) }
}

/// The inputs of one round of a sweep. A round performs the runs that are missing.
/// With [`SweepOptions::until`] a sweep has several rounds, each with more replicas.
struct Round<'r, 'e> {
    simulate: Simulate<'r>,
    elsewhere: Option<&'e mut (dyn Elsewhere + 'e)>,
    sweep: &'r Sweep,
    store: &'r Store,
    options: &'r SweepOptions,
    watch: Stopwatch,
}

impl Round<'_, '_> {
    /// Performs the missing runs, and adds their records to `done`. Both lists have one entry for each
    /// combination.
    fn work(
        &mut self,
        replicas: &[u32],
        done: &mut [Vec<RunRecord>],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<(), SweepError> {
        let had: Vec<u32> = done.iter().map(|records| records.len() as u32).collect();
        let before = done.iter().map(Vec::len).sum::<usize>();
        let reused = done.iter().flatten().filter(|record| record.reused).count();
        let mut missing = all_jobs(self.sweep, replicas)?;
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
        let fetched = self.fetch(&missing, &mut total)?;
        let work = pool::work(self.simulate, &missing, self.store, self.options, &self.watch, &mut total);
        let records = work.map_err(|error| match error {
            SweepError::Cancelled { done, total } => {
                SweepError::Cancelled { done: done + before, total: total + before }
            }
            error => error,
        })?;
        for (job, mut record) in missing.iter().zip(records) {
            record.reused &= !fetched.contains(&record.hash);
            done[place[job.run as usize]].push(record);
        }
        Ok(())
    }

    /// Performs the missing runs in other processes, and returns their hashes.
    fn fetch(
        &mut self,
        jobs: &[Job<'_>],
        progress: &mut dyn FnMut(Progress),
    ) -> Result<BTreeSet<String>, SweepError> {
        let Some(elsewhere) = &mut self.elsewhere else { return Ok(BTreeSet::new()) };
        let mut tasks: Vec<Task> = jobs.iter().map(Job::task).collect();
        tasks.retain(|task| !self.store.has(&task.hash));
        let stored = jobs.len() - tasks.len();
        let mut done = |finished: usize| {
            progress(Progress {
                done: stored + finished,
                reused: stored,
                total: jobs.len(),
                elapsed: self.watch.elapsed(),
            });
            !self.options.cancel.load(Ordering::Relaxed)
        };
        elsewhere
            .work(self.sweep.recipe(), &tasks, self.store.runs(), &mut done)
            .map_err(SweepError::Elsewhere)?;
        Ok(tasks.into_iter().map(|task| task.hash).collect())
    }
}

/// Reads the measured values of the runs that are new in `done`, and
/// adds them to `known`. Both lists have one entry for each combination.
fn read_values(
    until: &Until,
    done: &[Vec<RunRecord>],
    known: &mut [Vec<Values>],
    store: &Store,
    jobs: usize,
) -> Result<(), SweepError> {
    let new = |(variant, records): (usize, &Vec<RunRecord>)| -> Vec<(usize, String)> {
        records.iter().skip(known[variant].len()).map(|run| (variant, run.hash.clone())).collect()
    };
    let new: Vec<(usize, String)> = done.iter().enumerate().flat_map(new).collect();
    let read = |number: usize| {
        let table = store.table(&new[number].1, store::SCALARS, &scalars_of(&[]))?;
        until.values(&table).map_err(SweepError::NotMeasured)
    };
    let mut variants = new.iter().map(|(variant, _)| *variant);
    tables::in_order(jobs, new.len(), read, |values| {
        let values = values?;
        known[variants.next().unwrap_or_default()].push(values);
        Ok(())
    })
}

#[cfg(test)]
mod tests;
