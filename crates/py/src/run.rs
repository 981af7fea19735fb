//! Runs and sweeps. They release the GIL, and a signal such as Ctrl-C stops them.

use crate::error::{ScenarioError, SimulationError};
use lab::output::RunControl;
use lab::results::{Table, to_parquet_bytes};
use lab::scenario::Sweep;
use lab::sweep::{Progress, SweepOptions, run_single, run_sweep};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Time between two checks for signals during a run.
const GLANCE: Duration = Duration::from_millis(50);

/// Scalars and series as Parquet, and the manifest.
type Tables = (Py<PyBytes>, Py<PyBytes>, String);

fn read(text: &str, name: &str, seed: Option<u64>) -> PyResult<Sweep> {
    let mut sweep = lab::parse(text, name).map_err(|error| ScenarioError::new_err(error.to_string()))?;
    if let Some(seed) = seed {
        sweep.set_seed(seed);
    }
    Ok(sweep)
}

fn failed(error: impl ToString) -> PyErr {
    SimulationError::new_err(error.to_string())
}

/// Runs a scenario once: scalars and series as Parquet, the manifest as JSON.
#[pyfunction]
pub fn run(py: Python<'_>, text: &str, name: &str, seed: Option<u64>, replica: u32) -> PyResult<Tables> {
    let sweep = read(text, name, seed)?;
    if let Some(axis) = sweep.axes().first() {
        let what = format!("{name} varies {}: a run has no variations, a sweep has", axis.name);
        return Err(ScenarioError::new_err(what));
    }
    let control = RunControl { cancel: Arc::default(), captures: None };
    let report = py.detach(|| {
        thread::scope(|scope| {
            let (done, waiting) = channel();
            let worker = &control;
            scope.spawn(move || {
                // After a signal the output of the run is not used.
                let _ = done.send(run_single(&sweep, replica, worker));
            });
            loop {
                match waiting.recv_timeout(GLANCE) {
                    Ok(report) => return report.map_err(failed),
                    Err(RecvTimeoutError::Disconnected) => return Err(failed("the run panicked")),
                    Err(RecvTimeoutError::Timeout) => {
                        Python::attach(|py| py.check_signals()).inspect_err(|_| stop(&control.cancel))?;
                    }
                }
            }
        })
    })?;
    let bytes = |table: &Table| -> PyResult<Py<PyBytes>> {
        Ok(PyBytes::new(py, &to_parquet_bytes(table).map_err(failed)?).unbind())
    };
    Ok((bytes(&report.scalars)?, bytes(&report.series)?, report.manifest.to_string()))
}

fn stop(cancel: &AtomicBool) {
    cancel.store(true, Ordering::Relaxed);
}

/// Runs a sweep and writes its tables and its manifest to ``out``.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub fn sweep(
    py: Python<'_>,
    text: &str,
    name: &str,
    replicas: u32,
    jobs: Option<usize>,
    seed: Option<u64>,
    out: PathBuf,
    progress: Option<Py<PyAny>>,
) -> PyResult<()> {
    let sweep = read(text, name, seed)?;
    let jobs = jobs.map_or_else(thread::available_parallelism, |jobs| {
        jobs.try_into().map_err(|_| std::io::Error::other("a sweep needs at least one thread"))
    })?;
    let cancel = Arc::<AtomicBool>::default();
    let options = SweepOptions { replicas, jobs: jobs.get(), out, csv: false, cancel: cancel.clone() };
    let mut raised = None;
    let mut tell = |at: Progress| {
        let told = Python::attach(|py| {
            py.check_signals()?;
            let left = at.left().map(|left| left.as_secs_f64());
            progress.as_ref().map_or(Ok(()), |call| call.call1(py, (at.done, at.total, left)).map(drop))
        });
        if let Err(error) = told {
            stop(&cancel);
            raised.get_or_insert(error);
        }
    };
    let report = py.detach(|| run_sweep(&sweep, &options, &mut tell));
    match (raised, report) {
        (Some(error), _) => Err(error),
        (None, report) => report.map(drop).map_err(failed),
    }
}
