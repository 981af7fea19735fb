use super::{SCENARIO, choice, events, examples, file, flag, value};
use clap::{Command, value_parser};

/// `anabranch emulate`.
pub fn command() -> Command {
    Command::new("emulate")
        .about("Runs the network of a scenario in real time between real programs (Linux)")
        .after_help(examples(
            &["anabranch emulate mine.toml", "sudo anabranch emulate mine.toml --time 60 --out results"],
            "The [[host]] tables of the scenario say which hosts are real, and whether they are attached by UDP sockets, which needs \
             no privilege, or by TUN devices, which needs root. It ends with Ctrl-C, or after --time. docs/emulate.md has examples.",
        ))
        .arg(file("SCENARIO", SCENARIO))
        .arg(value("time", "SECONDS", "End after this time").value_parser(value_parser!(f64)))
        .arg(value("out", "DIR", "Write tables of the probes, manifest and captures to this folder"))
        .arg(flag("spin", "Poll without sleeping before each event: less lateness, more CPU time"))
        .args(choice())
        .arg(flag("json", "Print the outcome as JSON"))
        .arg(events("Print packets that are lost outside the links to standard error, once a second; -vv: all counts"))
}
