//! Measurements on real networks. They release the GIL, and a signal such as Ctrl-C stops them.

use lab::results::{Table, to_parquet_bytes};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Time between two checks for signals.
const GLANCE: Duration = Duration::from_millis(50);

/// Scalars and series as Parquet, and the manifest.
type Tables = (Py<PyBytes>, Py<PyBytes>, String);

/// Measures as ``anabranch measure`` does with these arguments.
///
/// Returns scalars and series as Parquet, and the report as JSON. ``progress`` gets each interval as JSON.
#[pyfunction]
pub fn measure(py: Python<'_>, arguments: Vec<String>, progress: Option<Py<PyAny>>) -> PyResult<Tables> {
    let cancel = AtomicBool::new(false);
    let report = py.detach(|| {
        thread::scope(|scope| {
            let (interval, intervals) = channel();
            let (arguments, flag) = (&arguments, &cancel);
            let thread = scope.spawn(move || {
                // After a signal no thread receives intervals, so that the send fails.
                cli::measure::report(arguments, flag, |one| drop(interval.send(one.to_json().to_string())))
            });
            let watched = watch(&intervals, progress.as_ref());
            if watched.is_err() {
                cancel.store(true, Ordering::Relaxed);
            }
            let report = thread.join().map_err(|_| PyOSError::new_err("the measurement panicked"))?;
            watched?;
            report.map_err(
                |(why, wrong)| if wrong { PyValueError::new_err(why) } else { PyOSError::new_err(why) },
            )
        })
    })?;
    let [scalars, series] = report.tables();
    let bytes = |table: &Table| -> PyResult<Py<PyBytes>> {
        let bytes = to_parquet_bytes(table).map_err(|error| PyOSError::new_err(error.to_string()))?;
        Ok(PyBytes::new(py, &bytes).unbind())
    };
    Ok((bytes(&scalars)?, bytes(&series)?, report.manifest().to_string()))
}

/// Passes intervals on until the measurement has ended.
fn watch(intervals: &Receiver<String>, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    loop {
        match intervals.recv_timeout(GLANCE) {
            Ok(interval) => {
                if let Some(progress) = progress {
                    Python::attach(|py| progress.call1(py, (interval,)).map(drop))?;
                }
            }
            Err(RecvTimeoutError::Timeout) => Python::attach(|py| py.check_signals())?,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}
