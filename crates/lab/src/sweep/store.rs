//! Finished runs on disk, each in a folder named after the hash of all inputs. Folders are created
//! atomically, so that a sweep can be killed at any time.

use super::manifest::{RESULTS_VERSION, paths_of};
use super::record::RunRecord;
use super::stopwatch::Stopwatch;
use super::{Simulate, SweepError, manifest, parts};
use crate::output::{RunControl, RunOutput};
use crate::results::{
    MANIFEST, OUTPUTS, Table, TableError, read_parquet, scalars_of, sealed, series_of, to_parquet_bytes,
    unsealed,
};
use crate::scenario::{Scenario, hexadecimal};
use bytes::Bytes;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use units::{ByteCount, Span};

/// Name of the file with the scalars of a run.
pub(super) const SCALARS: &str = "scalars.parquet";
const SERIES: &str = "series.parquet";

/// Largest size of a capture of a sweep, unless the scenario sets a limit: a sweep has many captures.
pub const CAPTURE_LIMIT: ByteCount = ByteCount::new(100_000_000);

/// Hash of all inputs of a run: the scenario without its title, the replica, and [`RESULTS_VERSION`].
pub(super) fn hash(scenario: &Scenario, replica: u32) -> String {
    // The derived `Debug` text contains every field, and its floating-point numbers parse back to the same
    // values.
    let untitled = Scenario { title: String::new(), ..scenario.clone() };
    let text = format!("results {RESULTS_VERSION}\nreplica {replica}\n{untitled:?}\n");
    hexadecimal(&Sha256::digest(text))[..32].to_owned()
}

/// The folder of finished runs.
pub(super) struct Store {
    runs: PathBuf,
}

impl Store {
    pub fn open(out: &Path) -> Result<Self, SweepError> {
        let runs = out.join("runs");
        fs::create_dir_all(&runs).map_err(|error| refused(&runs, error))?;
        parts::clear(out);
        parts::clear(&runs);
        Ok(Store { runs })
    }

    /// The folder of finished runs.
    pub fn runs(&self) -> &Path {
        &self.runs
    }

    /// True if the folder of a run exists; [`Store::run`] also checks it.
    pub fn has(&self, hash: &str) -> bool {
        self.runs.join(hash).join(MANIFEST).exists()
    }

    /// The record of a run, loaded from disk or simulated.
    pub fn run(
        &self,
        run: u32,
        scenario: &Scenario,
        replica: u32,
        cancel: &Arc<AtomicBool>,
        simulate: Simulate<'_>,
    ) -> Result<RunRecord, SweepError> {
        let hash = hash(scenario, replica);
        if let Some(record) = self.load(run, replica, &hash) {
            return Ok(record);
        }
        let redone = self.runs.join(&hash).exists();
        let part = parts::of(&self.runs.join(&hash));
        fs::create_dir_all(&part).map_err(|error| refused(&part, error))?;
        let captures = (!scenario.captures.is_empty()).then(|| part.clone());
        let capture_limit = Some(CAPTURE_LIMIT);
        let control = RunControl { cancel: cancel.clone(), captures, capture_limit, ..RunControl::default() };
        let watch = Stopwatch::start();
        let output = simulate(scenario, replica, &control).map_err(|source| {
            // The files of a failed run are useless.
            let _ = fs::remove_dir_all(&part);
            SweepError::Run { run: String::new(), source }
        })?;
        let record = RunRecord { redone, ..RunRecord::new(run, replica, hash, &output, watch.elapsed()) };
        self.keep(&part, scenario, &record, &output)?;
        Ok(record)
    }

    fn keep(
        &self,
        part: &Path,
        scenario: &Scenario,
        record: &RunRecord,
        output: &RunOutput,
    ) -> Result<(), SweepError> {
        let folder = self.runs.join(&record.hash);
        let write = || -> Result<(), TableError> {
            let tables = [(SCALARS, scalars_of(&output.scalars)), (SERIES, series_of(&output.series))];
            let mut sums = Vec::with_capacity(tables.len());
            for (name, table) in tables {
                let bytes = to_parquet_bytes(&table)?;
                sums.push((name, hexadecimal(&Sha256::digest(&bytes))));
                fs::write(part.join(name), bytes)?;
            }
            let manifest = manifest::of_run(scenario.seed, record, &sums);
            fs::write(part.join(MANIFEST), sealed(&manifest))?;
            // A damaged run is replaced.
            if folder.exists() && self.load(record.run, record.replica, &record.hash).is_none() {
                fs::remove_dir_all(&folder)?;
            }
            Ok(fs::rename(part, &folder)?)
        };
        match write() {
            // Another process may have finished the same run.
            Err(_) if self.load(record.run, record.replica, &record.hash).is_some() => {
                let _ = fs::remove_dir_all(part);
                Ok(())
            }
            written => written.map_err(|source| SweepError::Store { path: folder.clone(), source }),
        }
    }

    /// The manifest of a finished run; `None` if it is damaged.
    pub fn manifest(&self, hash: &str) -> Option<Json> {
        unsealed(&fs::read_to_string(self.runs.join(hash).join(MANIFEST)).ok()?)
    }

    /// The bytes of a table of a finished run; `None` if they are damaged.
    fn bytes(&self, hash: &str, name: &str, manifest: &Json) -> Option<Vec<u8>> {
        let bytes = fs::read(self.runs.join(hash).join(name)).ok()?;
        (manifest[OUTPUTS][name] == hexadecimal(&Sha256::digest(&bytes))).then_some(bytes)
    }

    /// The record of a finished run; `None` if a file is missing or damaged.
    pub fn load(&self, run: u32, replica: u32, hash: &str) -> Option<RunRecord> {
        let manifest = self.manifest(hash).filter(|manifest| manifest["hash"] == hash)?;
        for name in [SCALARS, SERIES] {
            self.bytes(hash, name, &manifest)?;
        }
        let number = |key: &str| manifest[key].as_u64();
        let lines = |key: &str| -> Option<Vec<String>> {
            manifest[key].as_array()?.iter().map(|line| Some(line.as_str()?.to_owned())).collect()
        };
        Some(RunRecord {
            run,
            replica,
            hash: hash.to_owned(),
            digest: u64::from_str_radix(manifest["digest"].as_str()?, 16).ok()?,
            packet_hops: number("packet_hops")?,
            events: number("events")?,
            simulated: Span::from_nanos(number("simulated_ns")?),
            paths: paths_of(&manifest),
            warnings: lines("warnings")?,
            failures: lines("failures")?,
            wall: Span::from_nanos(number("wall_ns")?),
            reused: true,
            redone: false,
        })
    }

    /// A table of a finished run, with the columns of `like`. The table was checked when the run was loaded.
    pub fn table(&self, hash: &str, name: &str, like: &Table) -> Result<Table, SweepError> {
        let bytes = self.manifest(hash).and_then(|manifest| self.bytes(hash, name, &manifest));
        let table = bytes.and_then(|bytes| read_parquet(Bytes::from(bytes), &like.shape()).ok());
        table.ok_or_else(|| SweepError::Damaged { path: self.runs.join(hash).join(name) })
    }

    /// Removes partial folders that killed processes left behind, if the same run has been finished since.
    pub fn clear_parts(&self, runs: &[RunRecord]) {
        let finished: BTreeSet<&str> = runs.iter().map(|run| run.hash.as_str()).collect();
        parts::clear_of(&self.runs, |hash| finished.contains(hash));
    }
}

/// Writes a file atomically.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), SweepError> {
    let part = parts::of(path);
    fs::write(&part, bytes).and_then(|()| fs::rename(&part, path)).map_err(|error| refused(path, error))
}

pub(super) fn refused(path: &Path, error: std::io::Error) -> SweepError {
    SweepError::Store { path: path.to_owned(), source: error.into() }
}
