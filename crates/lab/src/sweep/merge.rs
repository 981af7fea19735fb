//! Merges several folders of results: all runs, and common tables if the runs belong to one sweep.

use super::SweepError;
use super::manifest::{self, CIRCUMSTANCES};
use super::parts;
use super::record::RunRecord;
use super::store::{self, Store};
use super::tables;
use crate::results::{MANIFEST, OUTPUTS, ResultFolder, RunKey, sealed, sums, unsealed};
use crate::scenario::{Axis, AxisValue};
use serde_json::Value as Json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Result of [`merge`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Runs that were copied.
    pub added: usize,
    /// Runs that were in several folders.
    pub shared: usize,
    /// Runs that were left out because their files are damaged.
    pub damaged: usize,
    /// Runs in the tables.
    pub listed: usize,
    /// The reason why common tables were not written; `None` if they were.
    pub without_tables: Option<String>,
}

/// Error: why folders were not merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A folder has no runs.
    #[error("{}: expected a folder of `anabranch sweep`, which has a folder `runs`", path.display())]
    NoStore {
        /// The folder.
        path: PathBuf,
    },
    /// Two folders have different results for the same run. Nothing was copied.
    #[error(
        "{} and {} differ, although both are the result of the same inputs: one of them was changed, or simulated by a \
         program that was not finished. Remove the folder of the wrong run; nothing was merged",
        one.display(), other.display()
    )]
    Conflict {
        /// A file of the run.
        one: PathBuf,
        /// The same file in the other folder.
        other: PathBuf,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    Failed(#[from] SweepError),
}

/// Copies the runs of the folders `from` to the folder `into`, which is created if necessary.
///
/// Then writes tables and a manifest of all runs that the manifests of the folders list, if these runs are of
/// one sweep: with the same axes, and at most one run for each replica of each combination.
///
/// # Errors
/// [`MergeError`]. Conflicts are detected before anything is copied.
pub fn merge(into: &Path, from: &[PathBuf]) -> Result<Merged, MergeError> {
    if let Some(path) = from.iter().find(|path| !path.join("runs").is_dir()) {
        return Err(MergeError::NoStore { path: path.clone() });
    }
    let store = Store::open(into)?;
    let mut merged = Merged::default();
    let copies = plan(&store, from, &mut merged)?;
    for (hash, source) in &copies {
        copy(source, &store.runs().join(hash))?;
    }
    merged.added = copies.len();
    let folders: Vec<&Path> = std::iter::once(into).chain(from.iter().map(PathBuf::as_path)).collect();
    match Listing::of(&folders) {
        Ok(listing) => match listing.write(&store, into) {
            Ok(listed) => merged.listed = listed,
            Err(SweepError::Damaged { path }) => {
                merged.without_tables = Some(format!("{} is missing or damaged", path.display()));
            }
            Err(error) => return Err(error.into()),
        },
        Err(why) => merged.without_tables = Some(why),
    }
    Ok(merged)
}

/// The runs that `store` lacks, each with a folder that has it.
fn plan(
    store: &Store,
    from: &[PathBuf],
    merged: &mut Merged,
) -> Result<BTreeMap<String, PathBuf>, MergeError> {
    let mut copies = BTreeMap::<String, PathBuf>::new();
    for folder in from {
        let source = Store::open(folder)?;
        for hash in hashes(source.runs())? {
            if !is_whole(&source, &hash) {
                merged.damaged += 1;
                continue;
            }
            let found = source.runs().join(&hash);
            let known = copies.get(&hash).cloned();
            let known = known.or_else(|| is_whole(store, &hash).then(|| store.runs().join(&hash)));
            match known {
                Some(known) => {
                    refuse_conflict(&known, &found)?;
                    merged.shared += 1;
                }
                None => {
                    copies.insert(hash, found);
                }
            }
        }
    }
    Ok(copies)
}

/// The names of the runs of a store, sorted.
fn hashes(runs: &Path) -> Result<BTreeSet<String>, SweepError> {
    let read = || -> io::Result<BTreeSet<String>> {
        let names = fs::read_dir(runs)?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
        names.filter(|name| !name.as_ref().is_ok_and(|name| name.starts_with('.'))).collect()
    };
    read().map_err(|error| store::refused(runs, error))
}

fn is_whole(store: &Store, hash: &str) -> bool {
    store.load(0, 0, hash).is_some()
}

/// Compares two folders of one run. All files except the manifest must be equal, and the manifest in all keys
/// that do not describe the place and time of the simulation.
fn refuse_conflict(one: &Path, other: &Path) -> Result<(), MergeError> {
    let names = |folder: &Path| -> io::Result<BTreeSet<_>> {
        fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
    };
    let differs = || -> io::Result<Option<std::ffi::OsString>> {
        for name in names(one)?.union(&names(other)?) {
            let (a, b) = (one.join(name), other.join(name));
            let same = if name == MANIFEST {
                inputs_and_outputs(&a)? == inputs_and_outputs(&b)?
            } else {
                a.exists() == b.exists() && is_equal(&a, &b)?
            };
            if !same {
                return Ok(Some(name.clone()));
            }
        }
        Ok(None)
    };
    match differs().map_err(|error| store::refused(other, error))? {
        Some(name) => Err(MergeError::Conflict { one: one.join(&name), other: other.join(&name) }),
        None => Ok(()),
    }
}

fn inputs_and_outputs(path: &Path) -> io::Result<Option<Json>> {
    let mut manifest = unsealed(&fs::read_to_string(path)?);
    if let Some(keys) = manifest.as_mut().and_then(Json::as_object_mut) {
        keys.retain(|key, _| !CIRCUMSTANCES.contains(&key.as_str()));
    }
    Ok(manifest)
}

/// Compares the bytes of two files piece by piece, since captures may be larger than the memory.
fn is_equal(one: &Path, other: &Path) -> io::Result<bool> {
    let (a, b) = (File::open(one)?, File::open(other)?);
    if a.metadata()?.len() != b.metadata()?.len() {
        return Ok(false);
    }
    let (mut a, mut b) = (io::BufReader::new(a).bytes(), io::BufReader::new(b).bytes());
    loop {
        match (a.next().transpose()?, b.next().transpose()?) {
            (None, None) => return Ok(true),
            (x, y) if x == y => {}
            _ => return Ok(false),
        }
    }
}

/// Copies the folder of a run atomically. Replaces a damaged run.
fn copy(source: &Path, target: &Path) -> Result<(), SweepError> {
    let part = parts::of(target);
    let copy = || -> io::Result<()> {
        fs::create_dir_all(&part)?;
        for entry in fs::read_dir(source)? {
            let entry = entry?;
            fs::copy(entry.path(), part.join(entry.file_name()))?;
        }
        if target.exists() {
            fs::remove_dir_all(target)?;
        }
        fs::rename(&part, target)
    };
    copy().map_err(|error| store::refused(target, error))
}

/// The runs of several manifests, listed as one sweep.
struct Listing {
    /// The first manifest, which provides the keys that all manifests share.
    base: Json,
    axes: Vec<Axis>,
    /// The hash of each run. The key is the index of its value on each axis, and its replica.
    runs: BTreeMap<(Vec<usize>, u32), String>,
}

impl Listing {
    /// The runs that the manifests of the folders list. A folder without a manifest has none.
    ///
    /// # Errors
    /// The reason why the runs are not one sweep.
    fn of(folders: &[&Path]) -> Result<Self, String> {
        let mut listing: Option<Listing> = None;
        for folder in folders {
            let path = folder.join(MANIFEST);
            if !path.exists() {
                continue;
            }
            let not_one = |why: &str| format!("{}: {why}", path.display());
            let opened = ResultFolder::open(folder).map_err(|error| error.to_string())?;
            let manifest = opened.manifest();
            let axes = axes(manifest).ok_or_else(|| not_one("is not the manifest of a sweep"))?;
            let listing = listing.get_or_insert_with(|| Listing {
                base: manifest.clone(),
                axes: axes.iter().map(|axis| Axis { name: axis.name.clone(), values: Vec::new() }).collect(),
                runs: BTreeMap::new(),
            });
            listing.add(manifest, &axes).map_err(|why| not_one(&why))?;
        }
        listing.ok_or_else(|| "no folder has a manifest.json that lists its runs".to_owned())
    }

    fn add(&mut self, manifest: &Json, axes: &[Axis]) -> Result<(), String> {
        let names = |axes: &[Axis]| axes.iter().map(|axis| axis.name.clone()).collect::<Vec<_>>();
        if names(&self.axes) != names(axes) {
            let (known, found) = (names(&self.axes).join(", "), names(axes).join(", "));
            return Err(format!("the axes are [{found}], not [{known}] as in the folder before"));
        }
        if self.base["seed"] != manifest["seed"] {
            return Err(format!("the seed is {}, not {}", manifest["seed"], self.base["seed"]));
        }
        for (axis, more) in self.axes.iter_mut().zip(axes) {
            let new = more.values.iter().filter(|value| !axis.values.contains(value)).cloned();
            let new: Vec<_> = new.collect();
            axis.values.extend(new);
        }
        for run in manifest["runs"].as_array().into_iter().flatten() {
            let place = |axis: &Axis| {
                let value = manifest::value(&run["parameters"][&axis.name])?;
                axis.values.iter().position(|known| *known == value)
            };
            let point: Option<Vec<usize>> = self.axes.iter().map(place).collect();
            let replica = run["replica"].as_u64().and_then(|replica| replica.try_into().ok());
            let (Some(point), Some(replica), Some(hash)) = (point, replica, run["hash"].as_str()) else {
                return Err("a run has no place on the axes".to_owned());
            };
            let known = self.runs.entry((point, replica)).or_insert_with(|| hash.to_owned());
            if known != hash {
                return Err(format!(
                    "replica {replica} of {} is another run than in the folder before: the scenarios differ",
                    run["parameters"]
                ));
            }
        }
        Ok(())
    }

    /// Writes tables and manifest, and returns the number of runs in them.
    fn write(self, store: &Store, out: &Path) -> Result<usize, SweepError> {
        let parameters: Vec<Vec<(String, AxisValue)>> = self
            .runs
            .keys()
            .map(|(point, _)| {
                let value = |(axis, &at): (&Axis, &usize)| (axis.name.clone(), axis.values[at].clone());
                self.axes.iter().zip(point).map(value).collect()
            })
            .collect();
        let mut records = Vec::<RunRecord>::with_capacity(self.runs.len());
        let mut keys = Vec::with_capacity(self.runs.len());
        let mut count = BTreeMap::<&[usize], u32>::new();
        for ((run, ((point, replica), hash)), parameters) in (0..).zip(&self.runs).zip(&parameters) {
            let damaged = || SweepError::Damaged { path: store.runs().join(hash) };
            records.push(store.load(run, *replica, hash).ok_or_else(damaged)?);
            keys.push(RunKey { run, replica: *replica, parameters });
            *count.entry(point).or_default() += 1;
        }
        let jobs = std::thread::available_parallelism().map_or(1, usize::from);
        let files =
            tables::write(&tables::Target { out, csv: false, jobs }, &self.axes, &keys, &records, store)?;
        let mut manifest = self.base;
        manifest["axes"] = manifest::axes(&self.axes);
        manifest["replicas"] = count.values().min().copied().into();
        manifest[OUTPUTS] = sums(&files).map_err(|error| store::refused(out, error))?.into();
        manifest["runs"] =
            records.iter().zip(&keys).map(|(record, key)| manifest::listed(record, key.parameters)).collect();
        store::replace(&out.join(MANIFEST), sealed(&manifest).as_bytes())?;
        Ok(records.len())
    }
}

fn axes(manifest: &Json) -> Option<Vec<Axis>> {
    let axis = |axis: &Json| {
        let values = axis["values"].as_array()?.iter().map(manifest::value).collect::<Option<_>>()?;
        Some(Axis { name: axis["name"].as_str()?.to_owned(), values })
    };
    manifest["runs"].as_array()?;
    manifest["axes"].as_array()?.iter().map(axis).collect()
}
