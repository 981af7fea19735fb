//! The tables of a sweep, combined from the tables of its runs.

use super::SweepError;
use super::parts;
use super::record::RunRecord;
use super::store::Store;
use crate::results::{CsvWriter, Kind, ParquetWriter, RunKey, Table, TableError};
use crate::results::{scalars_of, series_of, sweep_table};
use crate::scenario::Axis;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::sync::mpsc;

/// Destination of the tables.
pub(super) struct Target<'t> {
    pub out: &'t Path,
    /// True to write the tables also as CSV.
    pub csv: bool,
    /// Number of threads that read the tables of runs and encode columns.
    pub jobs: usize,
}

/// Writes the tables of all runs in the order of runs, and returns the paths.
pub(super) fn write(
    target: &Target<'_>,
    axes: &[Axis],
    keys: &[RunKey<'_>],
    runs: &[RunRecord],
    store: &Store,
) -> Result<Vec<PathBuf>, SweepError> {
    let mut written = Vec::new();
    for (csv, extension) in [(false, "parquet"), (true, "csv")] {
        if csv && !target.csv {
            continue;
        }
        for (name, like) in [("scalars", scalars_of(&[])), ("series", series_of(&[]))] {
            let stored = format!("{name}.parquet");
            let rows = |number: usize| -> Result<Table, SweepError> {
                let table = store.table(&runs[number].hash, &stored, &like)?;
                Ok(sweep_table(&keys[number], axes, &table))
            };
            let mut file =
                TableFile::create(&target.out.join(name).with_extension(extension), csv, target.jobs)?;
            in_order(target.jobs, runs.len(), rows, |table| file.append(&table?))?;
            written.push(file.finish()?);
        }
    }
    Ok(written)
}

/// Largest number of tables that a thread may read ahead, since they may be large.
const AHEAD: usize = 2;

/// Makes `count` items in `jobs` threads, and calls `take` with them in order. Only a few are in memory at a
/// time.
pub(super) fn in_order<T: Send>(
    jobs: usize,
    count: usize,
    make: impl Fn(usize) -> T + Sync,
    mut take: impl FnMut(T) -> Result<(), SweepError>,
) -> Result<(), SweepError> {
    let (jobs, make) = (jobs.clamp(1, count.max(1)), &make);
    std::thread::scope(|scope| {
        let made: Vec<mpsc::Receiver<T>> = (0..jobs)
            .map(|first| {
                let (sender, receiver) = mpsc::sync_channel(AHEAD);
                scope.spawn(move || {
                    // After an error there is no receiver, and the thread ends.
                    (first..count).step_by(jobs).all(|number| sender.send(make(number)).is_ok())
                });
                receiver
            })
            .collect();
        (0..count).try_for_each(|number| match made[number % jobs].recv() {
            Ok(item) => take(item),
            // The sending thread has panicked; the scope will panic, too.
            Err(_) => Ok(()),
        })
    })
}

/// A file for tables with the same columns. It gets its name only when it is complete.
struct TableFile {
    path: PathBuf,
    part: PathBuf,
    rows: Rows,
    threads: usize,
}

enum Rows {
    Csv(CsvWriter<BufWriter<File>>),
    Parquet(Box<ParquetWriter<BufWriter<File>>>),
    /// No table was written yet: the first one defines the columns. The flag is true for CSV.
    Begun(BufWriter<File>, bool),
    /// A write has failed.
    Broken,
}

impl TableFile {
    fn create(path: &Path, csv: bool, threads: usize) -> Result<Self, SweepError> {
        let part = parts::of(path);
        let file = File::create(&part).map_err(|error| refused(path, error.into()))?;
        Ok(TableFile { path: path.to_owned(), part, rows: Rows::Begun(BufWriter::new(file), csv), threads })
    }

    fn append(&mut self, table: &Table) -> Result<(), SweepError> {
        self.begin(&table.shape())
            .and_then(|()| match &mut self.rows {
                Rows::Csv(writer) => writer.append(table),
                Rows::Parquet(writer) => writer.append(table),
                Rows::Begun(..) | Rows::Broken => Ok(()),
            })
            .map_err(|error| refused(&self.path, error))
    }

    fn begin(&mut self, shape: &[(String, Kind)]) -> Result<(), TableError> {
        self.rows = match std::mem::replace(&mut self.rows, Rows::Broken) {
            Rows::Begun(sink, true) => Rows::Csv(CsvWriter::new(sink)),
            Rows::Begun(sink, false) => {
                Rows::Parquet(Box::new(ParquetWriter::new(sink, shape, self.threads)?))
            }
            begun => begun,
        };
        Ok(())
    }

    fn finish(mut self) -> Result<PathBuf, SweepError> {
        let begun = self.begin(&[]);
        let TableFile { path, part, rows, .. } = self;
        let finish = || -> Result<(), TableError> {
            begun?;
            match rows {
                Rows::Csv(writer) => drop(writer.finish()?),
                Rows::Parquet(writer) => drop(writer.finish()?),
                Rows::Begun(..) | Rows::Broken => {}
            }
            Ok(std::fs::rename(part, &path)?)
        };
        finish().map_err(|error| refused(&path, error))?;
        Ok(path)
    }
}

/// Writes one table to a file atomically.
pub(super) fn write_one(path: &Path, csv: bool, table: &Table) -> Result<(), SweepError> {
    let mut file = TableFile::create(path, csv, 1)?;
    file.append(table)?;
    file.finish().map(drop)
}

fn refused(path: &Path, source: TableError) -> SweepError {
    SweepError::Store { path: path.to_owned(), source }
}
