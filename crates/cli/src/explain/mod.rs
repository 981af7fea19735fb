//! `anabranch explain`: why is it slow, and what would help?

mod scenario;
mod words;

use crate::Failure;
use clap::ArgMatches;

/// `anabranch explain`.
pub fn explain(chosen: &ArgMatches) -> Result<i32, Failure> {
    scenario::explain(chosen)
}
