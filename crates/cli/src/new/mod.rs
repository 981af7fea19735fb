//! `anabranch new`: writes a first scenario.

use crate::{Failure, arguments, code, say};
use clap::ArgMatches;
use std::fs::File;
use std::io::{ErrorKind, Write};

/// A scenario with comments.
const FIRST: &str = include_str!("first.toml");

/// `anabranch new`. Never overwrites an existing file.
pub fn new(chosen: &ArgMatches) -> Result<i32, Failure> {
    let file = arguments::text(chosen, "file");
    let text = FIRST.replace("FILE", file);
    let written = File::create_new(file).and_then(|mut out| out.write_all(text.as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            Failure::usage(format!("{file} exists; expected the name of a file that does not"))
        }
        _ => Failure::failed(format!("cannot write {file}: {error}")),
    })?;
    say(&format!("{file} is written. Next: anabranch run {file}\n"))?;
    Ok(code::OK)
}
