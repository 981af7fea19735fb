//! Results as long tables, in Parquet and CSV.
//!
//! *Scalars* have the columns `run`, `replica`, one for each axis of the sweep, `window`, `flow`, `path`, `quantity` and
//! `value`; *series* have `run`, `replica`, `flow`, `path`, `quantity`, `time` (seconds) and `value`. `window` is empty for
//! a flow's own measurement; `path` is null for a whole flow or a link. The column of an axis holds numbers or booleans if
//! all its values are such, otherwise text as in the scenario.

mod csv;
mod frames;
mod parquet;
mod table;

pub use csv::CsvWriter;
pub use frames::{RunKey, scalars_of, scalars_table, series_of, series_table};
pub use parquet::{ParquetWriter, read_parquet, to_parquet_bytes};
pub use table::{Column, Kind, Table};

/// Why a table could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// An error of the file system.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// An error of the Parquet library.
    #[error(transparent)]
    Parquet(#[from] ::parquet::errors::ParquetError),
    /// The file holds another table than expected.
    #[error("expected a table with the columns {0}")]
    Shape(String),
}
