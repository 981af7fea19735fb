//! The command `anabranch` as a function, which the Python package calls, too.
#![forbid(unsafe_code)]

mod arguments;
#[cfg(target_os = "linux")]
mod emulate;
mod explain;
mod interrupt;
mod key;
mod log;
mod manual;
pub mod measure;
mod merge;
mod new;
#[cfg(target_os = "linux")]
mod preload;
mod python;
mod run;
mod scenario;
mod show;
mod sweep;
#[cfg(target_os = "linux")]
mod tunnel;
mod usage;
mod validate;

pub use manual::Declared;
use std::io::{ErrorKind, Write};
use std::path::Path;
use transport::printable;

/// Exit codes.
mod code {
    pub const OK: i32 = 0;
    /// A run failed, or results could not be written.
    pub const FAILED: i32 = 1;
    /// Arguments or a scenario are wrong.
    pub const USAGE: i32 = 2;
    /// Ctrl-C stopped the command.
    pub const STOPPED: i32 = 130;
}

/// Why a command failed: the message for standard error, and the exit code.
struct Failure {
    code: i32,
    message: String,
}

impl Failure {
    fn usage(message: impl Into<String>) -> Self {
        Failure { code: code::USAGE, message: message.into() }
    }

    fn failed(message: impl Into<String>) -> Self {
        Failure { code: code::FAILED, message: message.into() }
    }
}

/// A cluster that performs the runs of `sweep --cluster`.
pub trait Cluster: lab::sweep::Elsewhere {
    /// Connects to the cluster at this address.
    ///
    /// # Errors
    /// The reason why the connection is not possible, and a remedy.
    fn connect(&mut self, address: &str) -> Result<(), String>;
}

/// Runs the command with its arguments, without the name of the command, and returns the exit code. If
/// `cluster` is `None`, the Python package performs sweeps on clusters. `declared` are the arguments of the
/// subcommands that the Python package runs, for completions and manual pages.
///
/// The codes: 0 success; 1 a run failed, or results could not be written; 2 arguments or a scenario are
/// wrong; 3 `reproduce` missed a number or, except with `--demo`, left one OPEN without a reason; 130 stopped
/// by Ctrl-C.
pub fn main(arguments: Vec<String>, cluster: Option<&mut dyn Cluster>, declared: &[Declared]) -> i32 {
    let arguments = match &arguments[..] {
        // The Python package prints the help of its own subcommands.
        [help, name] if help == "help" => vec![name.clone(), "--help".to_owned()],
        _ => arguments,
    };
    let command = std::iter::once("anabranch".to_owned()).chain(arguments.iter().cloned());
    let matches = match arguments::command().try_get_matches_from(command) {
        Ok(matches) => matches,
        Err(error) => return usage::report(&error, &arguments),
    };
    let result = match matches.subcommand() {
        Some(("run", chosen)) => run::run(chosen),
        Some(("sweep", chosen)) if cluster.is_none() && chosen.contains_id("cluster") => {
            python::hand_over("sweep", arguments.iter().skip(1))
        }
        Some(("sweep", chosen)) => sweep::sweep(chosen, cluster),
        Some(("merge", chosen)) => merge::merge(chosen),
        Some(("explain", chosen)) => explain::explain(chosen),
        Some(("measure", chosen)) => measure::measure(chosen),
        Some(("key", chosen)) => key::key(chosen),
        Some(("validate", chosen)) => validate::validate(chosen),
        Some(("new", chosen)) => new::new(chosen),
        Some(("completions", chosen)) => manual::completions(chosen, declared),
        Some(("man", chosen)) => manual::man(chosen, declared),
        #[cfg(target_os = "linux")]
        Some(("emulate", chosen)) => emulate::emulate(chosen),
        #[cfg(target_os = "linux")]
        Some(("tunnel", chosen)) => tunnel::tunnel(chosen),
        #[cfg(target_os = "linux")]
        Some(("preload", chosen)) => preload::preload(chosen),
        #[cfg(target_os = "linux")]
        Some(("sctpd", chosen)) => preload::sctpd(chosen),
        Some(("schema", _)) => say(&lab::scenario::schema()).map(|()| code::OK),
        Some((name, chosen)) => {
            python::hand_over(name, chosen.get_many::<String>("arguments").into_iter().flatten())
        }
        None => Ok(code::USAGE),
    };
    result.unwrap_or_else(|Failure { code, message }| {
        complain(&message);
        code
    })
}

/// Returns an error if the folder for output is a file, or would be inside a file. `argument` is the text
/// before the folder on the command line.
fn check_folder(argument: &str, folder: &Path) -> Result<(), Failure> {
    match folder.ancestors().find(|path| path.exists()) {
        Some(file) if file.is_file() => Err(Failure::usage(format!(
            "{argument} {}: {} is a file; expected a folder, which is made if it does not exist",
            folder.display(),
            file.display()
        ))),
        _ => Ok(()),
    }
}

/// The reason why the system cannot use a file: in our words for common errors, otherwise in those of the
/// system.
fn reason(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "there is no such file or folder".to_owned(),
        ErrorKind::PermissionDenied => "this user has no permission".to_owned(),
        ErrorKind::IsADirectory => "it is a folder".to_owned(),
        ErrorKind::NotADirectory => "a part of its path is a file, not a folder".to_owned(),
        _ => error.to_string(),
    }
}

/// Prints to standard output, with control characters escaped as in JSON. A closed pipe is not an error: the
/// reader does not want more output.
fn say(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout();
    match out.write_all(printable(text).as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::failed(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Prints to standard error, with control characters escaped.
fn complain(message: &str) {
    complain_as("anabranch: ", message);
}

/// As [`complain`], with another word before the message.
fn complain_as(before: &str, message: &str) {
    // If standard error cannot be written, there is no other place for the message.
    let _ = writeln!(std::io::stderr(), "{before}{}", printable(message.trim_end()));
}
