use super::{examples, file, flag, verbose};
use clap::Command;

/// The subcommand `anabranch tunnel`.
pub fn command() -> Command {
    Command::new("tunnel")
        .about("Bonds several uplinks: one end of an encrypted IP tunnel over all of them (Linux)")
        .after_help(examples(
            &[
                "sudo anabranch tunnel /etc/anabranch/ana0.toml",
                "sudo anabranch tunnel /etc/anabranch/ana0.toml --check",
                "anabranch tunnel /etc/anabranch/ana0.toml --status",
            ],
            "Needs CAP_NET_ADMIN and /dev/net/tun. docs/tunnel.md has an example of both ends.",
        ))
        .arg(file("CONFIG", "Description of this end (TOML)"))
        .arg(
            flag("check", "Check the file and the keys that it names, and run nothing")
                .conflicts_with("status"),
        )
        .arg(flag(
            "status",
            "Show paths, rates, losses and round-trip times of the running tunnel, and what limits it",
        ))
        .arg(flag("json", "With --status: as JSON").requires("status"))
        .arg(verbose())
}
