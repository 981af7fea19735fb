//! `anabranch explain`: shows why a flow is slow, and which changes help.

mod association;
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
        return folder::explain(chosen, Path::new(file));
    }
    // If the file cannot be opened, the reader of scenarios reports why: the argument may be a shipped
    // scenario.
    let Ok(opened) = capture::open(file) else { return scenario::explain(chosen) };
    if opened.is_capture() {
        capture::explain(chosen, file, opened)
    } else if looks_like_scenario(file) {
        scenario::explain(chosen)
    } else {
        Err(Failure::usage(format!(
            "{file} is neither a scenario (.toml), nor a folder with results, nor a capture (pcapng or pcap, also with gzip)"
        )))
    }
}

/// True if a file has the name of a scenario, or contains `[[`, which begins a table of a list in TOML.
fn looks_like_scenario(file: &str) -> bool {
    let path = Path::new(file);
    let has_table = || std::fs::read(path).is_ok_and(|text| text.windows(2).any(|pair| pair == b"[["));
    path.extension().is_some_and(|end| end == "toml") || (path.is_file() && has_table())
}
