//! `anabranch tunnel`.

use crate::arguments::text;
use crate::{Failure, code, complain, interrupt, log, say};
use clap::ArgMatches;
use nix::sys::signal::{SigSet, Signal};
use std::path::Path;
use transport::printable;
use tunnel::{ConfigError, Stop, TunnelConfig};

/// Runs one end of a tunnel, checks its file, or shows the status of a running one.
pub fn tunnel(chosen: &ArgMatches) -> Result<i32, Failure> {
    let file = Path::new(text(chosen, "file"));
    let refused = |error: ConfigError| {
        if is_scenario(text(chosen, "file")) {
            let (file, configuration) =
                (file.display(), "a tunnel is described by another file (docs/tunnel.md)");
            return Failure::usage(format!(
                "{file} is a scenario: `anabranch run {file}` simulates it; {configuration}"
            ));
        }
        Failure::usage(error.to_string())
    };
    if chosen.get_flag("status") {
        let socket = TunnelConfig::read_status(file).map_err(refused)?;
        let status = tunnel::ask(&socket).map_err(|error| {
            let socket = socket.display();
            Failure::failed(format!("no tunnel answers at {socket}: {error}"))
        })?;
        say(&if chosen.get_flag("json") { format!("{status:#}\n") } else { tunnel::render(&status) })?;
        return Ok(code::OK);
    }
    let config = TunnelConfig::read(file).map_err(refused)?;
    if config.key.is_none() {
        complain("WITHOUT ENCRYPTION: anyone on the way can read, change and enter this tunnel");
    }
    if chosen.get_flag("check") {
        say(&format!("fine: {}\n", summary(&config)))?;
        return Ok(code::OK);
    }
    let stop = Stop::default();
    let hangups = config.peers.iter().any(|peer| !peer.name.is_empty()).then(hangups).flatten();
    let asked = stop.clone();
    interrupt::call(move || asked.stop());
    let print: fn(&str) = match log::start(chosen) {
        true => |line| tracing::info!(target: "anabranch_tunnel", "{}", printable(line)),
        false => complain,
    };
    if let Some(hangups) = hangups {
        let (file, stop) = (file.to_owned(), stop.clone());
        std::thread::spawn(move || {
            while hangups.wait().is_ok() {
                match TunnelConfig::read(&file) {
                    Ok(config) => stop.replace_peers(config.peers),
                    Err(error) => print(&format!("the peers stay as they are: {error}")),
                }
            }
        });
    }
    tunnel::run(&config, &stop, print).map_err(|error| Failure::failed(error.to_string()))?;
    Ok(code::OK)
}

/// Blocks SIGHUP, so that one thread can wait for it. Must be called before there are other threads, so that
/// none of them gets the signal.
fn hangups() -> Option<SigSet> {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGHUP);
    signals.thread_block().is_ok().then_some(signals)
}

/// A short description of what this end does.
fn summary(config: &TunnelConfig) -> String {
    let listed = |items: Vec<String>| items.join(", ");
    let does = match config.connect.is_empty() {
        true => {
            let peers = config.peers.len();
            format!("waits for {peers} peer{} at UDP port {}", if peers == 1 { "" } else { "s" }, config.port)
        }
        false => format!("connects to {}", listed(config.connect.iter().map(ToString::to_string).collect())),
    };
    let uplinks = match config.uplinks.is_empty() {
        true => "all addresses of this host".to_owned(),
        false => listed(config.uplinks.iter().map(ToString::to_string).collect()),
    };
    format!("{} {does}, over {uplinks}", config.interface)
}

/// True if a file contains tables of a scenario.
fn is_scenario(file: &str) -> bool {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    text.lines().any(|line| matches!(line.trim(), "[[node]]" | "[[link]]" | "[[flow]]"))
}
