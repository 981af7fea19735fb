//! Results as long tables, in Parquet and CSV.
//!
//! *Scalars* have the columns `run`, `replica`, one for each axis of the sweep, `window`, `flow`, `path`,
//! `quantity` and `value`. *Series* have `run`, `replica`, one for each axis, `flow`, `path`, `quantity`,
//! `time` (seconds) and `value`. `window` is empty for a flow's own measurement; `path` is null for a whole
//! flow or a link. The column of an axis holds numbers or booleans if all its values are of that type,
//! otherwise the text of the scenario. If all values are quantities of one kind, such as rates, a second
//! column has their numbers in the base unit, and its name ends with this unit (`rate_bps`).

mod csv;
mod folder;
mod frames;
mod parquet;
mod table;

pub use csv::CsvWriter;
pub(crate) use folder::unsealed;
pub use folder::{FolderError, MANIFEST, OUTPUTS, ResultFolder, sealed, sums};
pub use frames::{RunKey, number_column, scalars_of, series_of, sweep_table};
pub use parquet::{ParquetWriter, read_parquet, to_parquet_bytes};
pub use table::{Column, Kind, Table};

/// Error: why a table could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// An error of the file system.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// An error of the Parquet library.
    #[error(transparent)]
    Parquet(#[from] ::parquet::errors::ParquetError),
    /// The file contains another table than expected.
    #[error("expected a table with the columns {0}")]
    Shape(String),
}
