//! The laboratory around the protocol: [`scenario`] describes an experiment, [`world`] simulates it, and [`output`] is
//! what a run of it yields, [`metrics`] saying what each number is. [`sweep`] does many runs, and [`results`] are their
//! tables.
#![forbid(unsafe_code)]

mod app;
mod host;
pub mod metrics;
pub mod output;
mod probe;
pub mod results;
pub mod scenario;
pub mod sweep;
pub mod world;
