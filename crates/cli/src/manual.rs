//! `anabranch completions` and `anabranch man`: made from the declaration of the command line.

use crate::{Failure, arguments, code, say};
use clap::ArgMatches;
use clap_complete::Shell;
use std::path::Path;

/// `anabranch completions`: the script for a shell, on standard output.
pub fn completions(chosen: &ArgMatches) -> Result<i32, Failure> {
    let shell = chosen.get_one::<Shell>("shell").copied().unwrap_or(Shell::Bash);
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut arguments::command(), "anabranch", &mut script);
    say(&String::from_utf8_lossy(&script))?;
    Ok(code::OK)
}

/// `anabranch man`: a manual page for the command and for each subcommand, in a folder.
pub fn man(chosen: &ArgMatches) -> Result<i32, Failure> {
    let folder = Path::new(arguments::text(chosen, "dir"));
    let refused =
        |error: std::io::Error| Failure::failed(format!("cannot write {}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(refused)?;
    clap_mangen::generate_to(arguments::command(), folder).map_err(refused)?;
    Ok(code::OK)
}
