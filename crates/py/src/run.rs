//! Runs and sweeps. They release the GIL, and a signal such as Ctrl-C stops them.

use crate::cluster::Cluster;
use crate::error::{ScenarioError, failed};
use crate::scenario::read;
use lab::output::RunControl;
use lab::results::{Table, to_parquet_bytes};
use lab::sweep::{Progress, SweepOptions, Until, run_single, run_sweep, run_sweep_elsewhere};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::num::NonZeroUsize;
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

/// Runs a scenario once. Returns scalars and series as Parquet, and the manifest as JSON.
///
/// With ``out``, tables, manifest and captures are also written to that folder.
#[pyfunction]
pub fn run(
    py: Python<'_>,
    text: &str,
    name: &str,
    seed: Option<u64>,
    replica: u32,
    out: Option<PathBuf>,
) -> PyResult<Tables> {
    let sweep = read(text, name, seed)?;
    if let Some(axis) = sweep.axes().first() {
        let what = format!("{name} varies {}: a run has no variations, a sweep has", axis.name);
        return Err(ScenarioError::new_err(what));
    }
    if let Some(out) = &out {
        std::fs::create_dir_all(out)?;
    }
    let control = RunControl { captures: out.clone(), ..RunControl::default() };
    let report = py.detach(|| {
        thread::scope(|scope| {
            let (done, waiting) = channel();
            let worker = &control;
            scope.spawn(move || {
                // The send fails after a signal, when nobody waits for the output any more.
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
    if let Some(out) = &out {
        report.write(out, false).map_err(failed)?;
    }
    let bytes = |table: &Table| -> PyResult<Py<PyBytes>> {
        Ok(PyBytes::new(py, &to_parquet_bytes(table).map_err(failed)?).unbind())
    };
    Ok((bytes(&report.scalars)?, bytes(&report.series)?, report.manifest.to_string()))
}

fn stop(cancel: &AtomicBool) {
    cancel.store(true, Ordering::Relaxed);
}

/// Runs a sweep and writes its tables and its manifest to ``out``.
///
/// ``cluster`` performs the runs elsewhere. It is called with the arguments of ``Plan``, the runs as pairs of
/// a combination and a replica with their hash, and the folder of finished runs. It yields the number of
/// finished runs repeatedly until all are finished.
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
    captures: bool,
    until: Option<(String, u32)>,
    cluster: Option<Py<PyAny>>,
    progress: Option<Py<PyAny>>,
) -> PyResult<()> {
    let jobs = match jobs.map(NonZeroUsize::new) {
        Some(Some(jobs)) => jobs,
        Some(None) => return Err(PyValueError::new_err("jobs = 0: expected at least one thread")),
        None => thread::available_parallelism()?,
    };
    if replicas == 0 {
        return Err(PyValueError::new_err("replicas = 0: expected at least one replica"));
    }
    let until = until.map(|(text, most)| Until::parse(&text, most)).transpose();
    let until = until.map_err(|message| PyValueError::new_err(format!("until = {message}")))?;
    let mut sweep = read(text, name, seed)?;
    if !captures {
        sweep.drop_captures();
    }
    let cancel = Arc::<AtomicBool>::default();
    let options = SweepOptions { replicas, until, jobs: jobs.get(), out, csv: false, cancel: cancel.clone() };
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
    let mut cluster = cluster.map(Cluster::new);
    let report = py.detach(|| match &mut cluster {
        Some(cluster) => run_sweep_elsewhere(cluster, &sweep, &options, &mut tell),
        None => run_sweep(&sweep, &options, &mut tell),
    });
    match (raised.or_else(|| cluster.and_then(Cluster::raised)), report) {
        (Some(error), _) => Err(error),
        (None, report) => report.map(drop).map_err(failed),
    }
}
