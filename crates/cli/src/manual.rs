//! `anabranch completions` and `anabranch man`, generated from the declaration of the command line.

use crate::{Failure, arguments, check_folder, code, reason, say};
use clap::{Arg, ArgAction, ArgMatches, Command};
use clap_complete::Shell;
use std::path::Path;

/// An option or argument of a subcommand that the Python package declares and runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// The subcommand.
    pub subcommand: String,
    /// Names of the option, with their dashes; empty for an argument.
    pub flags: Vec<String>,
    /// Placeholder of the value; `None` for an option without a value.
    pub value: Option<String>,
    /// Description for the help text.
    pub help: String,
    /// The valid values of the option; empty if any value is possible.
    pub choices: Vec<String>,
}

/// `anabranch completions`: the script for a shell, on standard output.
pub fn completions(chosen: &ArgMatches, declared: &[Declared]) -> Result<i32, Failure> {
    let shell = chosen.get_one::<Shell>("shell").copied().unwrap_or(Shell::Bash);
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut whole(declared), "anabranch", &mut script);
    say(&String::from_utf8_lossy(&script))?;
    Ok(code::OK)
}

/// `anabranch man`: a manual page for the command and for each subcommand, in a folder.
pub fn man(chosen: &ArgMatches, declared: &[Declared]) -> Result<i32, Failure> {
    let folder = Path::new(arguments::text(chosen, "dir"));
    check_folder("man", folder)?;
    let refused = |error: std::io::Error| {
        Failure::failed(format!("cannot write {}: {}", folder.display(), reason(&error)))
    };
    std::fs::create_dir_all(folder).map_err(refused)?;
    clap_mangen::generate_to(whole(declared), folder).map_err(refused)?;
    Ok(code::OK)
}

/// The command line with the arguments of all subcommands.
fn whole(declared: &[Declared]) -> Command {
    declared.chunk_by(|a, b| a.subcommand == b.subcommand).fold(arguments::command(), |command, of_one| {
        command.mut_subcommand(&of_one[0].subcommand, |known| {
            let about = known.get_about().cloned().unwrap_or_default();
            Command::new(of_one[0].subcommand.clone()).about(about).args(of_one.iter().map(argument))
        })
    })
}

fn argument(declared: &Declared) -> Arg {
    let name = declared.flags.last().or(declared.value.as_ref()).cloned().unwrap_or_default();
    let mut argument = Arg::new(name);
    let mut help = declared.help.clone();
    for flag in &declared.flags {
        match flag.strip_prefix("--") {
            Some(alias) if argument.get_long().is_some() => {
                argument = argument.visible_alias(alias.to_owned());
                // Manual pages do not show an alias otherwise.
                help += &format!("; the same as {flag}");
            }
            Some(long) => argument = argument.long(long.to_owned()),
            None => argument = argument.short(flag.chars().nth(1)),
        }
    }
    argument = argument.help(help);
    argument = match &declared.value {
        Some(value) => argument.value_name(value.clone()),
        None => argument.action(ArgAction::SetTrue),
    };
    if declared.choices.is_empty() { argument } else { argument.value_parser(declared.choices.clone()) }
}
