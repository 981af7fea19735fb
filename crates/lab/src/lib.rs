//! The laboratory around the protocol: [`scenario`] describes an experiment, and [`output`] is what a run of it
//! yields.
#![forbid(unsafe_code)]

pub mod output;
pub mod scenario;
