//! `anabranch tunnel` and `anabranch key`.

use crate::arguments::text;
use crate::{Failure, code, complain, interrupt, say};
use clap::ArgMatches;
use std::path::Path;
use tunnel::{PrivateKey, Stop, TunnelConfig};

/// `anabranch tunnel`.
pub fn tunnel(chosen: &ArgMatches) -> Result<i32, Failure> {
    let file = Path::new(text(chosen, "file"));
    if chosen.get_flag("status") {
        let socket = TunnelConfig::read_status(file).map_err(|error| Failure::usage(error.to_string()))?;
        let status = tunnel::ask(&socket).map_err(|error| {
            let socket = socket.display();
            Failure::failed(format!("no tunnel answers at {socket}: {error}"))
        })?;
        say(&if chosen.get_flag("json") { format!("{status:#}\n") } else { tunnel::render(&status) })?;
        return Ok(code::OK);
    }
    let config = TunnelConfig::read(file).map_err(|error| Failure::usage(error.to_string()))?;
    if config.keys.is_none() {
        complain("WITHOUT ENCRYPTION: anyone on the way can read, change and enter this tunnel");
    }
    let stop = Stop::default();
    let asked = stop.clone();
    interrupt::call(move || asked.stop());
    tunnel::run(&config, &stop, complain).map_err(|error| Failure::failed(error.to_string()))?;
    Ok(code::OK)
}

/// `anabranch key`.
pub fn key(chosen: &ArgMatches) -> Result<i32, Failure> {
    let key = PrivateKey::read_or_create(Path::new(text(chosen, "file")))
        .map_err(|error| Failure::failed(error.to_string()))?;
    say(&format!("{}\n", key.public()))?;
    Ok(code::OK)
}
