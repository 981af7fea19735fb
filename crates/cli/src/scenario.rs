//! Reads the scenario of a command: a file, or a scenario that is shipped with the Python package.

use crate::{Failure, arguments, reason};
use clap::ArgMatches;
use lab::scenario::{Sweep, nearest};
use std::path::{Path, PathBuf};
use transport::utf8;

/// Reads a scenario for simulation, and applies `--seed` and `--set`.
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

/// As [`read`], but accepts scenarios with real hosts, too.
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

/// Returns whether a setting chooses a value of an axis. A setting of the key of an axis without a `name` is
/// no choice if the axis does not have the value: it then sets the key itself.
fn is_choice(sweep: &Sweep, key: &str, value: &str) -> bool {
    let Some(axis) = sweep.axes().iter().find(|axis| axis.name == key) else { return false };
    !key.contains('.') || axis.values.iter().any(|known| known.to_string() == value)
}

/// Reads and parses a scenario. The outer error means that the file cannot be read, and the inner error that
/// its text is wrong.
pub fn parse(file: &str) -> Result<Result<Sweep, lab::scenario::ScenarioError>, Failure> {
    Ok(Text::read(file)?.parse())
}

/// The text of a scenario.
struct Text<'f> {
    /// The name that the user gave.
    file: &'f str,
    path: String,
    text: String,
}

impl<'f> Text<'f> {
    fn read(file: &'f str) -> Result<Self, Failure> {
        let shipped = Shipped::new();
        let path = shipped.find(file).unwrap_or_else(|| PathBuf::from(file));
        let bytes = std::fs::read(&path).map_err(|error| {
            Failure::usage(format!("cannot read {file}: {}{}", reason(&error), shipped.hint(file)))
        })?;
        let text = utf8(bytes).map_err(|error| Failure::usage(format!("{file}:{error}")))?;
        Ok(Text { file, path: path.display().to_string(), text })
    }

    fn parse(&self) -> Result<Sweep, lab::scenario::ScenarioError> {
        lab::parse(&self.text, &self.path)
    }

    fn usable(&self) -> Result<Sweep, Failure> {
        self.parse()
            .map_err(|error| Failure::usage(format!("{} cannot be used\n{}", self.file, error.render())))
    }

    /// Returns the scenario with the values of `settings`; `before` is the scenario without them.
    fn with(&self, settings: &[(&str, &str)], before: &Sweep) -> Result<Sweep, Failure> {
        let text = lab::scenario::with_values(&self.text, settings.iter().copied())
            .map_err(|message| Failure::usage(format!("--set {message}")))?;
        lab::parse(&text, &self.path).map_err(|error| {
            // The file is valid without the settings, so all faults come from them, and their lines are not
            // in the file.
            let faults: Vec<_> = error.diagnostics.iter().map(|fault| fault.message.as_str()).collect();
            let mut message = format!("{}: {}", self.blamed(settings), faults.join("\n"));
            if !before.axes().is_empty() {
                let names: Vec<_> = before.axes().iter().map(|axis| format!("`{}`", axis.name)).collect();
                message += &format!("\nAxes of variation of {}: {}", self.file, names.join(", "));
            }
            Failure::usage(message)
        })
    }

    /// The first setting that is wrong by itself; otherwise all settings.
    fn blamed(&self, settings: &[(&str, &str)]) -> String {
        let is_wrong = |setting: &&(&str, &str)| {
            lab::scenario::with_values(&self.text, [**setting])
                .is_ok_and(|text| lab::parse(&text, &self.path).is_err())
        };
        let blamed = settings.iter().find(is_wrong).map_or(settings, std::slice::from_ref);
        let set: Vec<_> = blamed.iter().map(|(key, value)| format!("--set {key}={value}")).collect();
        set.join(" ")
    }
}

/// The folder of shipped scenarios; `None` if the environment variable `ANABRANCH_SCENARIOS` is not set.
struct Shipped(Option<PathBuf>);

impl Shipped {
    fn new() -> Self {
        Shipped(std::env::var_os("ANABRANCH_SCENARIOS").filter(|name| !name.is_empty()).map(PathBuf::from))
    }

    /// The file of a shipped scenario. A file with this name in the current folder takes precedence.
    fn find(&self, name: &str) -> Option<PathBuf> {
        let path = self.0.as_ref()?.join(name).with_extension("toml");
        (is_name(name) && !Path::new(name).exists() && path.is_file()).then_some(path)
    }

    /// Suggests the file or shipped scenario that was probably meant. If `name` could be a shipped scenario,
    /// also lists all of them.
    fn hint(&self, name: &str) -> String {
        if Path::new(name).exists() {
            return String::new();
        }
        let list = |folder: &Path| {
            let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
            let mut files: Vec<PathBuf> =
                files.filter(|path| path.extension().is_some_and(|extension| extension == "toml")).collect();
            files.sort();
            files
        };
        let of_path = |path: &PathBuf| path.to_string_lossy().into_owned();
        let Some(folder) = self.0.as_ref().filter(|_| is_name(name)) else {
            let folder = Path::new(name).parent().unwrap_or(Path::new(""));
            let files = list(if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
            let files: Vec<String> = files
                .iter()
                .map(|file| of_path(&folder.join(file.file_name().unwrap_or_default())))
                .collect();
            return nearest(name, files.iter().map(String::as_str)).map_or(String::new(), did_you_mean);
        };
        let names: Vec<String> = list(folder).iter().map(|path| of_path(&path.with_extension(""))).collect();
        let names: Vec<&str> =
            names.iter().filter_map(|path| Path::new(path).file_name()?.to_str()).collect();
        let similar = nearest(name, names.iter().copied()).map_or(String::new(), did_you_mean);
        format!("{similar}\nShipped scenarios: {}", names.join(", "))
    }
}

fn did_you_mean(name: &str) -> String {
    format!("; did you mean `{name}`?")
}

/// True if the argument is a name and not a path.
fn is_name(file: &str) -> bool {
    !file.contains(['/', '\\', '.'])
}
