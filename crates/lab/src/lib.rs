//! The laboratory: [`parse`] reads a scenario, [`world`] simulates it, and [`watch`] shows its state
//! meanwhile. [`output`] is the output of a run, [`metrics`] defines its quantities, and [`traffic`] the data
//! that its flows send. [`sweep`] runs all combinations and replicas of a scenario, [`results`] writes their
//! tables, and [`explain`] derives from them why a flow is not faster.
#![forbid(unsafe_code)]

mod app;
#[cfg(feature = "store")]
pub mod explain;
mod host;
pub mod metrics;
pub mod output;
mod probe;
#[cfg(feature = "store")]
pub mod results;
pub mod statistics;
#[cfg(feature = "store")]
pub mod sweep;
pub mod traffic;
pub mod watch;
pub mod world;

pub use scenario;
pub use world::parse;
