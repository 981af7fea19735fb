//! Sweeps whose runs are performed by other processes, on a cluster that Python provides.

use crate::error::failed;
use crate::scenario::read;
use lab::scenario::{Recipe, Sweep};
use lab::sweep::{Elsewhere, Task, run_stored};
use pyo3::prelude::*;
use std::path::{Path, PathBuf};

/// A scenario with its variations. A worker of a cluster performs single runs of it.
#[pyclass(frozen, module = "anabranch._core")]
pub struct Plan {
    sweep: Sweep,
}

#[pymethods]
impl Plan {
    #[new]
    fn new(text: &str, name: &str, seed: Option<u64>, captures: bool) -> PyResult<Self> {
        let mut sweep = read(text, name, seed)?;
        if !captures {
            sweep.drop_captures();
        }
        Ok(Plan { sweep })
    }

    /// Simulates one replica of a combination, stores the run below the folder ``out``, and returns its hash.
    fn run(&self, py: Python<'_>, combination: usize, replica: u32, out: PathBuf) -> PyResult<String> {
        py.detach(|| run_stored(&self.sweep, combination, replica, &out)).map_err(failed)
    }
}

/// Merges folders of sweeps into one.
///
/// Returns the numbers of runs that were copied, were in the folder already, were damaged, and are in the
/// tables, and the reason if there are no tables.
#[pyfunction]
pub fn merge(
    py: Python<'_>,
    into: PathBuf,
    others: Vec<PathBuf>,
) -> PyResult<(usize, usize, usize, usize, Option<String>)> {
    let merged = py.detach(|| lab::sweep::merge(&into, &others)).map_err(failed)?;
    Ok((merged.added, merged.shared, merged.damaged, merged.listed, merged.without_tables))
}

/// A cluster: a Python function that performs runs, or one that connects to an address and returns a function
/// that performs runs.
pub struct Cluster {
    connect: Option<Py<PyAny>>,
    work: Option<Py<PyAny>>,
    raised: Option<PyErr>,
}

impl Cluster {
    /// Creates a cluster that is already connected.
    pub fn new(work: Py<PyAny>) -> Self {
        Cluster { connect: None, work: Some(work), raised: None }
    }

    /// Creates a cluster to which [`cli::Cluster::connect`] connects.
    pub fn from_address(connect: Py<PyAny>) -> Self {
        Cluster { connect: Some(connect), work: None, raised: None }
    }

    /// Returns the exception that a Python function of the cluster raised, if any.
    pub fn raised(self) -> Option<PyErr> {
        self.raised
    }
}

impl cli::Cluster for Cluster {
    fn connect(&mut self, address: &str) -> Result<(), String> {
        let Some(connect) = &self.connect else { return Ok(()) };
        self.work =
            Some(Python::attach(|py| connect.call1(py, (address,)).map_err(|error| message(py, &error)))?);
        Ok(())
    }
}

impl Elsewhere for Cluster {
    fn work(
        &mut self,
        recipe: &Recipe,
        tasks: &[Task],
        runs: &Path,
        done: &mut dyn FnMut(usize) -> bool,
    ) -> Result<(), String> {
        let Some(work) = &self.work else { return Err("no cluster is connected".to_owned()) };
        let worked = Python::attach(|py| -> PyResult<()> {
            let Recipe { text, file, seed, captures } = recipe;
            let runs_of: Vec<_> = tasks.iter().map(|task| (task.variant, task.replica, &task.hash)).collect();
            let finished = work.bind(py).call1(((text, file, seed, captures), runs_of, runs))?;
            for count in finished.try_iter()? {
                if !done(count?.extract()?) {
                    // The sweep was stopped: the generator discards its unfinished runs.
                    return finished.call_method0("close").map(drop);
                }
            }
            Ok(())
        });
        worked.map_err(|error| {
            let message = Python::attach(|py| message(py, &error));
            self.raised = Some(error);
            message
        })
    }
}

/// The text of an exception without its type.
fn message(py: Python<'_>, error: &PyErr) -> String {
    error.value(py).to_string()
}
