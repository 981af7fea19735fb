//! Runs in other processes: parts of a sweep, and single runs for a cluster.

use super::job::{Job, Task};
use super::pool;
use super::record::RunRecord;
use super::stopwatch::Stopwatch;
use super::store::Store;
use super::{Progress, SweepError, SweepOptions, all_jobs};
use crate::scenario::{Recipe, Sweep};
use crate::world;
use std::path::Path;
use std::sync::Arc;

/// Performs runs outside the threads of this process, for example on a cluster.
pub trait Elsewhere {
    /// Performs these runs and puts the folder that [`run_stored`] writes for each into `runs`, the folder of
    /// finished runs. Calls `done` several times a second with the number of finished runs, and returns early
    /// if `done` returns false. The caller simulates runs that are missing afterwards.
    ///
    /// # Errors
    /// The reason why the sweep cannot continue.
    fn work(
        &mut self,
        recipe: &Recipe,
        tasks: &[Task],
        runs: &Path,
        done: &mut dyn FnMut(usize) -> bool,
    ) -> Result<(), String>;
}

/// A part of a sweep that is divided into `of` parts. A part contains every `of`-th run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// Number of the part, from 1.
    pub number: u32,
    /// Number of parts.
    pub of: u32,
}

impl Part {
    /// Parses a part such as `3/10`.
    ///
    /// # Errors
    /// A description of the expected text.
    pub fn parse(text: &str) -> Result<Self, String> {
        let numbers = text.split_once('/').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
        match numbers {
            Some((number, of)) if number >= 1 && number <= of => Ok(Part { number, of }),
            _ => Err(format!("\"{text}\": expected a part and the number of parts, such as 1/10 to 10/10")),
        }
    }

    /// The part that contains this run.
    pub fn of_run(run: u32, of: u32) -> Self {
        Part { number: run % of + 1, of }
    }
}

/// Performs the missing runs of one part, and returns the records of all its runs. Writes no tables:
/// [`run_sweep`](super::run_sweep) writes them when the other parts are finished.
///
/// # Errors
/// [`SweepError`]; another call reuses the finished runs.
pub fn run_part(
    sweep: &Sweep,
    options: &SweepOptions,
    part: Part,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<RunRecord>, SweepError> {
    let store = Store::open(&options.out)?;
    let mut jobs = all_jobs(sweep, &vec![options.replicas; sweep.variants().len()])?;
    jobs.retain(|job| Part::of_run(job.run, part.of) == part);
    pool::work(&world::run, &jobs, &store, options, &Stopwatch::start(), progress)
}

/// All runs of a sweep without [`SweepOptions::until`](super::SweepOptions): number, index of the combination
/// in [`Sweep::variants`], replica and hash.
///
/// # Errors
/// [`SweepError::TooManyRuns`].
pub fn places(sweep: &Sweep, replicas: u32) -> Result<Vec<(u32, usize, Task)>, SweepError> {
    let jobs = all_jobs(sweep, &vec![replicas; sweep.variants().len()])?;
    let index = |job: &Job<'_>| (job.run / replicas.max(1)) as usize;
    Ok(jobs.iter().map(|job| (job.run, index(job), job.task())).collect())
}

/// Simulates one run, stores it below `out`, and returns its hash, as a worker of a cluster does. `variant`
/// is [`Variant::number`](crate::scenario::Variant::number).
///
/// # Errors
/// [`SweepError`]; [`SweepError::NoVariant`] if the sweep has no such combination.
pub fn run_stored(sweep: &Sweep, variant: usize, replica: u32, out: &Path) -> Result<String, SweepError> {
    let found = sweep.variants().iter().find(|other| other.number == variant);
    let Some(found) = found else { return Err(SweepError::NoVariant { number: variant }) };
    let job = Job { run: 0, variant: found, replica };
    let store = Store::open(out)?;
    Ok(pool::one(&world::run, &job, &store, &Arc::default())?.hash)
}
