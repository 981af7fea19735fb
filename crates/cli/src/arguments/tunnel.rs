use super::{examples, file, flag, verbose};
use clap::Command;

/// The subcommands `anabranch tunnel` and `anabranch key`.
pub fn commands() -> [Command; 2] {
    [
        Command::new("tunnel")
            .about("Bonds several uplinks: one end of an encrypted IP tunnel over all of them (Linux)")
            .after_help(examples(
                &[
                    "sudo anabranch tunnel /etc/anabranch/ana0.toml",
                    "anabranch tunnel /etc/anabranch/ana0.toml --status",
                ],
                "Needs CAP_NET_ADMIN and /dev/net/tun. docs/tunnel.md has an example of both ends.",
            ))
            .arg(file("CONFIG", "Description of this end (TOML)"))
            .arg(flag(
                "status",
                "Show paths, rates, losses and round-trip times of the running tunnel, and what limits it",
            ))
            .arg(flag("json", "With --status: as JSON").requires("status"))
            .arg(verbose()),
        Command::new("key")
            .about("Makes a private key for `tunnel`, unless the file exists, and prints its public key")
            .after_help(examples(&["sudo anabranch key /etc/anabranch/ana0.key"], ""))
            .arg(file("FILE", "File of the private key")),
    ]
}
