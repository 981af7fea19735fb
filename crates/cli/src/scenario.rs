//! The scenario a command is about.

use crate::{Failure, arguments};
use clap::ArgMatches;
use lab::scenario::Sweep;

/// Reads the file, with `--seed` and `--set` applied.
pub fn read(chosen: &ArgMatches) -> Result<Sweep, Failure> {
    let file = arguments::text(chosen, "file");
    let mut sweep =
        parse(file)?.map_err(|error| Failure::usage(format!("{file} cannot be used\n{}", error.render())))?;
    for choice in chosen.get_many::<String>("set").into_iter().flatten() {
        let Some((axis, value)) = choice.split_once('=') else {
            return Err(Failure::usage(format!("--set {choice}: expected AXIS=VALUE")));
        };
        sweep
            .restrict(axis, value)
            .map_err(|message| Failure::usage(format!("--set {choice}: {message}")))?;
    }
    if let Some(seed) = chosen.get_one::<u64>("seed") {
        sweep.set_seed(*seed);
    }
    Ok(sweep)
}

/// Reads and parses a file; only the file that is not there is a failure.
pub fn parse(file: &str) -> Result<Result<Sweep, lab::scenario::ScenarioError>, Failure> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Failure::usage(format!("cannot read {file}: {error}")))?;
    Ok(Sweep::parse(&text, file))
}
