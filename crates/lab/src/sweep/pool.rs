//! The threads of a sweep. Each thread performs the next run of the [`Order`]. The output of a run goes to
//! the store, and only a short record stays in memory.

use super::job::Job;
use super::order::Order;
use super::record::RunRecord;
use super::stopwatch::Stopwatch;
use super::store::Store;
use super::{Progress, Simulate, SweepError, SweepOptions};
use crate::output::RunError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Largest number of threads of a sweep.
const MOST_THREADS: usize = 1024;

/// Time between two reports of progress while no run finishes.
const TICK: Duration = Duration::from_millis(100);

/// Runs all jobs and returns their records in order.
pub(super) fn work(
    simulate: Simulate<'_>,
    jobs: &[Job<'_>],
    store: &Store,
    options: &SweepOptions,
    watch: &Stopwatch,
    progress: &mut dyn FnMut(Progress),
) -> Result<Vec<RunRecord>, SweepError> {
    let threads = options.jobs.clamp(1, jobs.len().clamp(1, MOST_THREADS));
    let (order, stop) = (Mutex::new(Order::new(jobs, threads)), AtomicBool::new(false));
    // If a thread panics, the sweep ends in any case, so a poisoned lock may still be used.
    let ordered = || order.lock().unwrap_or_else(PoisonError::into_inner);
    let (sender, results) = mpsc::channel();
    let mut records: Vec<Option<RunRecord>> = jobs.iter().map(|_| None).collect();
    let mut state = Progress { done: 0, reused: 0, total: jobs.len(), elapsed: watch.elapsed() };
    let mut failed: Option<(usize, SweepError)> = None;
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let (sender, ordered, stop) = (sender.clone(), &ordered, &stop);
            scope.spawn(move || {
                loop {
                    if stop.load(Ordering::Relaxed) || options.cancel.load(Ordering::Relaxed) {
                        return;
                    }
                    let Some(number) = ordered().next() else { return };
                    let job = &jobs[number];
                    let done = one(simulate, job, store, &options.cancel);
                    stop.fetch_or(done.is_err(), Ordering::Relaxed);
                    if let Ok(record) = &done {
                        ordered().finished(job.variant.number, record.wall);
                    }
                    if sender.send((number, done)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        loop {
            match results.recv_timeout(TICK) {
                Ok((number, Ok(record))) => {
                    state.done += 1;
                    state.reused += usize::from(record.reused);
                    records[number] = Some(record);
                }
                Ok((_, Err(SweepError::Cancelled { .. }))) | Err(RecvTimeoutError::Timeout) => {}
                Ok((number, Err(error))) => {
                    if failed.as_ref().is_none_or(|(first, _)| number < *first) {
                        failed = Some((number, error));
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
            state.elapsed = watch.elapsed();
            progress(state);
        }
    });
    if let Some((_, error)) = failed {
        return Err(error);
    }
    let (done, total) = (state.done, state.total);
    records.into_iter().collect::<Option<Vec<_>>>().ok_or(SweepError::Cancelled { done, total })
}

/// Loads one run, or performs it.
pub(super) fn one(
    simulate: Simulate<'_>,
    job: &Job<'_>,
    store: &Store,
    cancel: &Arc<AtomicBool>,
) -> Result<RunRecord, SweepError> {
    store.run(job.run, &job.variant.scenario, job.replica, cancel, simulate).map_err(|error| match error {
        SweepError::Run { source: RunError::Cancelled, .. } => SweepError::Cancelled { done: 0, total: 0 },
        SweepError::Run { source, .. } => SweepError::Run { run: job.name(), source },
        other => other,
    })
}
