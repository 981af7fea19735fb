//! Finished runs on disk, each in a folder named after the hash of what it depends on. A folder appears whole or not at
//! all, so that a sweep can be killed at any instant.

use super::manifest::simulator;
use super::stopwatch::Stopwatch;
use super::{Simulate, SweepError, manifest};
use crate::output::{RunControl, RunOutput};
use crate::results::{Table, TableError, read_parquet, scalars_of, series_of, to_parquet_bytes};
use crate::scenario::{Scenario, hexadecimal};
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use units::Span;

/// What is remembered of a finished run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// Number of the run in the sweep.
    pub run: u32,
    /// Replica, from 0.
    pub replica: u32,
    /// Hash of everything it depends on.
    pub hash: String,
    /// [`RunOutput::digest`].
    pub digest: u64,
    /// [`RunOutput::packet_hops`].
    pub packet_hops: u64,
    /// [`RunOutput::events`].
    pub events: u64,
    /// [`RunOutput::simulated`].
    pub simulated: Span,
    /// [`RunOutput::warnings`].
    pub warnings: Vec<String>,
    /// Wall time it took.
    pub wall: Span,
    /// Whether it was there before.
    pub reused: bool,
}

impl RunRecord {
    pub(super) fn new(run: u32, replica: u32, hash: String, output: &RunOutput, wall: Span) -> Self {
        RunRecord {
            run,
            replica,
            hash,
            digest: output.digest,
            packet_hops: output.packet_hops,
            events: output.events,
            simulated: output.simulated,
            warnings: output.warnings.clone(),
            wall,
            reused: false,
        }
    }
}

/// Hash of everything a run depends on: the scenario without its title, the replica, and the simulator.
pub(super) fn hash(scenario: &Scenario, replica: u32) -> String {
    // The derived form names every field and writes floats so that they read back as they were.
    let untitled = Scenario { title: String::new(), ..scenario.clone() };
    let text = format!("{}\nreplica {replica}\n{untitled:?}\n", simulator());
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
        Ok(Store { runs })
    }

    /// The record of a run, from disk or else by simulating it.
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
        let part = self.runs.join(format!(".part-{hash}-{}", std::process::id()));
        fs::create_dir_all(&part).map_err(|error| refused(&part, error))?;
        let captures = (!scenario.captures.is_empty()).then(|| part.clone());
        let control = RunControl { cancel: cancel.clone(), captures };
        let watch = Stopwatch::start();
        let output = simulate(scenario, replica, &control).map_err(|source| {
            // A run that failed leaves nothing worth keeping.
            let _ = fs::remove_dir_all(&part);
            SweepError::Run { run: String::new(), source }
        })?;
        let record = RunRecord::new(run, replica, hash, &output, watch.elapsed());
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
            fs::write(part.join("scalars.parquet"), to_parquet_bytes(&scalars_of(&output.scalars))?)?;
            fs::write(part.join("series.parquet"), to_parquet_bytes(&series_of(&output.series))?)?;
            let manifest = manifest::of_run(scenario.seed, record);
            fs::write(part.join("manifest.json"), format!("{manifest:#}\n"))?;
            // What a crash left unreadable makes room.
            if folder.exists() && self.load(record.run, record.replica, &record.hash).is_none() {
                fs::remove_dir_all(&folder)?;
            }
            Ok(fs::rename(part, &folder)?)
        };
        match write() {
            // Another process may have finished the same run meanwhile.
            Err(_) if self.load(record.run, record.replica, &record.hash).is_some() => {
                let _ = fs::remove_dir_all(part);
                Ok(())
            }
            written => written.map_err(|source| SweepError::Store { path: folder.clone(), source }),
        }
    }

    /// The record of a finished run, if it is there and whole.
    fn load(&self, run: u32, replica: u32, hash: &str) -> Option<RunRecord> {
        let folder = self.runs.join(hash);
        let manifest: Json =
            serde_json::from_str(&fs::read_to_string(folder.join("manifest.json")).ok()?).ok()?;
        let tables = ["scalars.parquet", "series.parquet"].map(|name| folder.join(name));
        let number = |key: &str| manifest[key].as_u64();
        let whole = tables.iter().all(|table| fs::metadata(table).is_ok_and(|file| file.len() > 0));
        whole.then_some(())?;
        Some(RunRecord {
            run,
            replica,
            hash: hash.to_owned(),
            digest: u64::from_str_radix(manifest["digest"].as_str()?, 16).ok()?,
            packet_hops: number("packet_hops")?,
            events: number("events")?,
            simulated: Span::from_nanos(number("simulated_ns")?),
            warnings: manifest["warnings"]
                .as_array()?
                .iter()
                .filter_map(|w| Some(w.as_str()?.to_owned()))
                .collect(),
            wall: Span::from_nanos(number("wall_ns")?),
            reused: true,
        })
    }

    /// A table of a finished run, of the shape of `like`.
    pub fn table(&self, hash: &str, name: &str, like: &Table) -> Result<Table, SweepError> {
        let path = self.runs.join(hash).join(name);
        let read = || read_parquet(File::open(&path)?, &like.shape());
        read().map_err(|source| SweepError::Store { path: path.clone(), source })
    }

    /// Removes what killed processes left of runs that are finished now.
    pub fn clear_parts(&self, runs: &[RunRecord]) {
        for entry in fs::read_dir(&self.runs).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let hash = name.strip_prefix(".part-").and_then(|rest| rest.split('-').next());
            if hash.is_some_and(|hash| runs.iter().any(|run| run.hash == hash)) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// Where a file is written before it takes its place.
pub(super) fn part_of(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".part-{name}-{}", std::process::id()))
}

/// Writes a file that is there whole or not at all.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> Result<(), SweepError> {
    let part = part_of(path);
    fs::write(&part, bytes).and_then(|()| fs::rename(&part, path)).map_err(|error| refused(path, error))
}

fn refused(path: &Path, error: std::io::Error) -> SweepError {
    SweepError::Store { path: path.to_owned(), source: error.into() }
}
