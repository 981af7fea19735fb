//! `anabranch tunnel` and `anabranch key`.

use crate::arguments::text;
use crate::{Failure, code, complain, say};
use clap::ArgMatches;
use std::path::Path;
use tunnel::{PrivateKey, TunnelConfig};

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
