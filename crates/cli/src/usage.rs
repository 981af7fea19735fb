//! Messages about wrong command lines.

use crate::{code, complain_as, say};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use lab::scenario::nearest;
use std::path::Path;

/// Prints the message of clap: help to standard output, errors to standard error. Returns the exit code.
pub fn report(error: &clap::Error, arguments: &[String]) -> i32 {
    if !error.use_stderr() {
        return say(&error.to_string()).map_or_else(|failure| failure.code, |()| code::OK);
    }
    let text = message(error, arguments);
    complain_as("", &text);
    code::USAGE
}

/// The message: the error, a suggestion, and where the help is.
fn message(error: &clap::Error, arguments: &[String]) -> String {
    let text = error.to_string();
    if error.kind() == ErrorKind::InvalidSubcommand {
        return unknown_command(error);
    }
    let Some(tip) = spaces(arguments) else { return text };
    match text.split_once("\n\n") {
        Some((first, rest)) => format!("{first}\n\n  tip: {tip}\n\n{rest}"),
        None => text,
    }
}

fn unknown_command(error: &clap::Error) -> String {
    let given = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(name)) => name.as_str(),
        _ => "",
    };
    let command = crate::arguments::command();
    let names: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).chain(["help"]).collect();
    let tip = nearest(given, names.iter().copied())
        .map_or(String::new(), |name| format!("; did you mean `{name}`?"));
    format!(
        "error: unknown command `{given}`{tip}\n\nCommands: {}\n\nFor more information, try 'anabranch --help'.",
        names.join(", ")
    )
}

/// A remedy if the shell split a value or a path at a space.
fn spaces(arguments: &[String]) -> Option<String> {
    let pairs = || arguments.windows(2).filter(|pair| !pair[1].starts_with('-'));
    let amount = pairs().find(|pair| {
        let is_number = pair[0].replace(',', ".").parse::<f64>().is_ok();
        is_number && UNITS.contains(&pair[1].as_str())
    });
    if let Some(pair) = amount {
        return Some(format!("a value with a space needs quotes: '{} {}'", pair[0], pair[1]));
    }
    let longer = |at: usize| (at + 2..=arguments.len()).map(move |end| arguments[at..end].join(" "));
    let path = (0..arguments.len()).flat_map(longer).find(|path| Path::new(path).exists())?;
    Some(format!("a path with spaces needs quotes: '{path}'"))
}

/// Units that may follow a number on a command line.
const UNITS: [&str; 17] = [
    "bit/s", "kbit/s", "Mbit/s", "Gbit/s", "bps", "kbps", "Mbps", "Gbps", "ns", "us", "ms", "s", "min", "B",
    "kB", "MB", "%",
];
