//! `anabranch explain`: why is it slow, and what would help?

mod capture;
mod folder;
mod report;
mod scenario;
mod words;

use crate::{Failure, arguments};
use clap::ArgMatches;
use std::path::Path;

/// `anabranch explain`.
pub fn explain(chosen: &ArgMatches) -> Result<i32, Failure> {
    let file = arguments::text(chosen, "file");
    if Path::new(file).is_dir() {
        folder::explain(chosen, Path::new(file))
    } else if capture::is_capture(file) {
        capture::explain(chosen, file)
    } else {
        scenario::explain(chosen)
    }
}
