//! `anabranch tunnel` and `anabranch key`.

use crate::arguments::text;
use crate::{Failure, code, complain, say};
use clap::{Arg, ArgAction, ArgMatches, Command};
use std::path::Path;
use tunnel::{PrivateKey, TunnelConfig};

/// The commands of this module.
pub fn commands() -> [Command; 2] {
    let file =
        |name: &'static str, help: &'static str| Arg::new("file").value_name(name).help(help).required(true);
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).help(help).action(ArgAction::SetTrue)
    };
    [
        Command::new("tunnel")
            .about("Bonds several uplinks: one end of an encrypted IP tunnel over all of them (Linux)")
            .after_help("Needs CAP_NET_ADMIN and /dev/net/tun. docs/tunnel.md has an example of both ends.")
            .arg(file("CONFIG", "Description of this end (TOML)"))
            .arg(flag(
                "status",
                "Show paths, rates, losses and round-trip times of the running tunnel, and what limits it",
            ))
            .arg(flag("json", "With --status: as JSON").requires("status")),
        Command::new("key")
            .about("Makes a private key for `tunnel`, unless the file exists, and prints its public key")
            .arg(file("FILE", "File of the private key")),
    ]
}

/// `anabranch tunnel`.
pub fn tunnel(chosen: &ArgMatches) -> Result<i32, Failure> {
    let config = TunnelConfig::read(Path::new(text(chosen, "file")))
        .map_err(|error| Failure::usage(error.to_string()))?;
    if chosen.get_flag("status") {
        let status = tunnel::ask(&config.status).map_err(|error| {
            let socket = config.status.display();
            Failure::failed(format!("no tunnel answers at {socket}: {error}"))
        })?;
        say(&if chosen.get_flag("json") { format!("{status:#}\n") } else { tunnel::render(&status) })?;
        return Ok(code::OK);
    }
    if config.keys.is_none() {
        complain("WITHOUT ENCRYPTION: anyone on the way can read, change and enter this tunnel");
    }
    tunnel::run(&config, complain).map_err(|error| Failure::failed(error.to_string()))?;
    Ok(code::OK)
}

/// `anabranch key`.
pub fn key(chosen: &ArgMatches) -> Result<i32, Failure> {
    let key = PrivateKey::read_or_create(Path::new(text(chosen, "file")))
        .map_err(|error| Failure::failed(error.to_string()))?;
    say(&format!("{}\n", key.public()))?;
    Ok(code::OK)
}
