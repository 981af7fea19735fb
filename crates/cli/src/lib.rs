//! The command `anabranch` as a function, so that the Python package can offer it, too.
#![forbid(unsafe_code)]

mod arguments;
mod interrupt;
mod python;
mod run;
mod scenario;
mod show;
mod statistics;
mod sweep;
mod validate;

use std::io::Write;

/// Exit codes.
mod code {
    pub const OK: i32 = 0;
    /// A run failed, or results could not be written.
    pub const FAILED: i32 = 1;
    /// Arguments or a scenario that make no sense.
    pub const USAGE: i32 = 2;
    /// Stopped by Ctrl-C.
    pub const STOPPED: i32 = 130;
}

/// A command that came to no good end: what to say on standard error, and the exit code.
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

/// Does what the arguments, without the name of the command, say, and returns the exit code: 0 fine, 1 a run failed, 2
/// arguments or a scenario are wrong, 3 `reproduce` missed a number, 130 stopped by Ctrl-C.
pub fn main(arguments: Vec<String>) -> i32 {
    let command = std::iter::once("anabranch".to_owned()).chain(arguments);
    let matches = match arguments::command().try_get_matches_from(command) {
        Ok(matches) => matches,
        Err(error) => {
            // Nothing is left to do if even that cannot be said.
            let _ = error.print();
            return error.exit_code();
        }
    };
    let result = match matches.subcommand() {
        Some(("run", chosen)) => run::run(chosen),
        Some(("sweep", chosen)) => sweep::sweep(chosen),
        Some(("validate", chosen)) => validate::validate(chosen),
        Some(("schema", _)) => {
            say(&lab::scenario::schema());
            Ok(code::OK)
        }
        Some((name, chosen)) => python::hand_over(name, chosen),
        None => Ok(code::USAGE),
    };
    result.unwrap_or_else(|Failure { code, message }| {
        complain(&message);
        code
    })
}

/// Prints to standard output; a reader that went away is no error.
fn say(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Prints to standard error.
fn complain(message: &str) {
    let _ = writeln!(std::io::stderr(), "anabranch: {}", message.trim_end());
}
