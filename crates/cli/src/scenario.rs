//! The scenario of a command: a file, or one that is shipped with the Python package.

use crate::{Failure, arguments};
use clap::ArgMatches;
use lab::scenario::Sweep;
use std::path::{Path, PathBuf};

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

/// Reads and parses a scenario. Only a file that cannot be read is a [`Failure`].
pub fn parse(file: &str) -> Result<Result<Sweep, lab::scenario::ScenarioError>, Failure> {
    let shipped = Shipped::new();
    let path = shipped.find(file).unwrap_or_else(|| PathBuf::from(file));
    let text = std::fs::read_to_string(&path)
        .map_err(|error| Failure::usage(format!("cannot read {file}: {error}{}", shipped.hint(file))))?;
    Ok(lab::parse(&text, &path.display().to_string()))
}

/// The folder of shipped scenarios, if the environment variable `ANABRANCH_SCENARIOS` names one.
struct Shipped(Option<PathBuf>);

impl Shipped {
    fn new() -> Self {
        Shipped(std::env::var_os("ANABRANCH_SCENARIOS").filter(|name| !name.is_empty()).map(PathBuf::from))
    }

    /// The file of a shipped scenario. A file of that name in the current folder has precedence.
    fn find(&self, name: &str) -> Option<PathBuf> {
        let path = self.0.as_ref()?.join(name).with_extension("toml");
        (is_name(name) && !Path::new(name).exists() && path.is_file()).then_some(path)
    }

    /// The names of all shipped scenarios, if `name` could have been meant as one.
    fn hint(&self, name: &str) -> String {
        let Some(folder) = self.0.as_ref().filter(|_| is_name(name)) else { return String::new() };
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut names: Vec<String> = files
            .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
            .filter_map(|path| Some(path.file_stem()?.to_string_lossy().into_owned()))
            .collect();
        names.sort();
        format!("; shipped scenarios: {}", names.join(", "))
    }
}

/// Whether this is a name rather than a path.
fn is_name(file: &str) -> bool {
    !file.contains(['/', '\\', '.'])
}
