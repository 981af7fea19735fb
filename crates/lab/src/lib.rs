//! The laboratory around the protocol: [`parse`] reads the scenario of an experiment, [`world`] simulates it, and
//! [`output`] is what a run of it yields, [`metrics`] saying what each number is. [`sweep`] does many runs, and [`results`] are their
//! tables.
#![forbid(unsafe_code)]

mod app;
mod host;
pub mod metrics;
pub mod output;
mod probe;
pub mod results;
pub mod sweep;
pub mod world;

pub use scenario;
pub use world::parse;
