//! The scenario of a command: a file, or one that is shipped with the Python package.

use crate::{Failure, arguments};
use clap::ArgMatches;
use lab::scenario::Sweep;
use std::path::{Path, PathBuf};

/// Reads the file of a scenario that can be simulated, with `--seed` and `--set` applied.
pub fn read(chosen: &ArgMatches) -> Result<Sweep, Failure> {
    let sweep = read_with_real_hosts(chosen)?;
    if let Some(variant) = sweep.variants().iter().find(|variant| !variant.scenario.real.is_empty()) {
        let host = &variant.scenario.nodes[variant.scenario.real[0].node].name;
        return Err(Failure::usage(format!(
            "\"{host}\" is a real host, which cannot be simulated; use `anabranch emulate`, or remove its [[host]]"
        )));
    }
    Ok(sweep)
}

/// As [`read`], for scenarios with real hosts as well.
pub fn read_with_real_hosts(chosen: &ArgMatches) -> Result<Sweep, Failure> {
    let file = Text::read(arguments::text(chosen, "file"))?;
    let mut sweep = file.usable()?;
    let mut settings = Vec::new();
    let mut choices = Vec::new();
    for setting in chosen.get_many::<String>("set").into_iter().flatten() {
        let Some((key, value)) = setting.split_once('=') else {
            return Err(Failure::usage(format!("--set {setting}: expected KEY=VALUE")));
        };
        let (key, value) = (key.trim(), value.trim());
        let which = if is_choice(&sweep, key, value) { &mut choices } else { &mut settings };
        which.push((key, value));
    }
    if !settings.is_empty() {
        sweep = file.with(&settings, &sweep)?;
    }
    for (axis, value) in choices {
        sweep
            .restrict(axis, value)
            .map_err(|message| Failure::usage(format!("--set {axis}={value}: {message}")))?;
    }
    if let Some(seed) = chosen.get_one::<u64>("seed") {
        sweep.set_seed(*seed);
    }
    Ok(sweep)
}

/// Whether a setting chooses a value of an axis of variation. An axis without a name of its own is called as its key, which
/// may get another value instead.
fn is_choice(sweep: &Sweep, key: &str, value: &str) -> bool {
    let Some(axis) = sweep.axes().iter().find(|axis| axis.name == key) else { return false };
    !key.contains('.') || axis.values.iter().any(|known| known.to_string() == value)
}

/// Reads and parses a scenario. Only a file that cannot be read is a [`Failure`].
pub fn parse(file: &str) -> Result<Result<Sweep, lab::scenario::ScenarioError>, Failure> {
    Ok(Text::read(file)?.parse())
}

/// The text of a scenario.
struct Text<'f> {
    /// What the user calls it.
    file: &'f str,
    path: String,
    text: String,
}

impl<'f> Text<'f> {
    fn read(file: &'f str) -> Result<Self, Failure> {
        let shipped = Shipped::new();
        let path = shipped.find(file).unwrap_or_else(|| PathBuf::from(file));
        let text = std::fs::read_to_string(&path)
            .map_err(|error| Failure::usage(format!("cannot read {file}: {error}{}", shipped.hint(file))))?;
        Ok(Text { file, path: path.display().to_string(), text })
    }

    fn parse(&self) -> Result<Sweep, lab::scenario::ScenarioError> {
        lab::parse(&self.text, &self.path)
    }

    fn usable(&self) -> Result<Sweep, Failure> {
        self.parse()
            .map_err(|error| Failure::usage(format!("{} cannot be used\n{}", self.file, error.render())))
    }

    /// The scenario with other values; `before` is the one without them.
    fn with(&self, settings: &[(&str, &str)], before: &Sweep) -> Result<Sweep, Failure> {
        let text = lab::scenario::with_values(&self.text, settings.iter().copied())
            .map_err(|message| Failure::usage(format!("--set {message}")))?;
        lab::parse(&text, &self.path).map_err(|error| {
            let set: Vec<_> = settings.iter().map(|(key, value)| format!("--set {key}={value}")).collect();
            let mut message =
                format!("{} cannot be used with {}\n{}", self.file, set.join(" "), error.render());
            if !before.axes().is_empty() {
                let names: Vec<_> = before.axes().iter().map(|axis| format!("`{}`", axis.name)).collect();
                message += &format!("Its axes of variation: {}", names.join(", "));
            }
            Failure::usage(message)
        })
    }
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
