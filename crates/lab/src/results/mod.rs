//! Results as long tables, in Parquet and CSV.
//!
//! *Scalars* have the columns `run`, `replica`, one for each axis of the sweep, `window`, `flow`, `path`, `quantity` and
//! `value`;
//! *series* have `run`, `replica`, `flow`, `path`, `quantity`, `time` (seconds) and `value`. `window` is empty for a flow's own measurement, `path` is null for what
//! belongs to a whole flow or a link. Axis columns are numbers or booleans where all values are, else text as in the
//! scenario.

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
    /// The file system refused.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The Parquet library refused.
    #[error(transparent)]
    Parquet(#[from] ::parquet::errors::ParquetError),
    /// The file does not hold the table that was expected.
    #[error("expected a table with the columns {0}")]
    Shape(String),
}
