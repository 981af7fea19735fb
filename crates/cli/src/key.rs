//! `anabranch key`.

use crate::arguments::text;
use crate::{Failure, code, complain, say};
use clap::ArgMatches;
use noise::{PrivateKey, Secret};
use std::path::Path;

/// Creates a key or a secret. Standard output has nothing but the public key or the secret, so that scripts
/// can read it.
pub fn key(chosen: &ArgMatches) -> Result<i32, Failure> {
    if chosen.get_flag("psk") {
        let secret = Secret::generate().map_err(|error| Failure::failed(error.to_string()))?;
        say(&format!("{}\n", secret.to_hex()))?;
        return Ok(code::OK);
    }
    let file = text(chosen, "file");
    if let Some(folder) =
        Path::new(file).parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir())
    {
        let shown = folder.display();
        let what = match folder.exists() {
            true => format!("{shown} is not a folder"),
            false => format!("there is no folder {shown}; make it first: mkdir -p {shown}"),
        };
        return Err(Failure::usage(format!("{file}: {what}")));
    }
    let key =
        PrivateKey::read_or_create(Path::new(file)).map_err(|error| Failure::failed(error.to_string()))?;
    complain(&format!("the private key is in {file}; its public key, for the other end, is:"));
    say(&format!("{}\n", key.public()))?;
    Ok(code::OK)
}
