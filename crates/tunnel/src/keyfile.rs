//! Files that hold a private key.

use crate::config::ConfigError;
use crate::keys::PrivateKey;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

impl PrivateKey {
    /// Reads a file.
    ///
    /// # Errors
    /// The file cannot be read, holds no key, or is readable by other users.
    pub fn read(file: &Path) -> Result<PrivateKey, ConfigError> {
        let fail = |what: String| ConfigError(format!("{}: {what}", file.display()));
        let mode = fs::metadata(file).map_err(|error| fail(error.to_string()))?.mode();
        if mode & 0o077 != 0 {
            return Err(fail("other users may read this private key: chmod 600".into()));
        }
        let text = fs::read_to_string(file).map_err(|error| fail(error.to_string()))?;
        text.parse().map_err(|error| fail(format!("{error}")))
    }

    /// Reads a file, or creates it with a new key if it does not exist.
    ///
    /// # Errors
    /// As [`Self::read`]; or the file cannot be written.
    pub fn read_or_create(file: &Path) -> Result<PrivateKey, ConfigError> {
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(file) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => PrivateKey::read(file),
            opened => opened
                .and_then(write_new)
                .map_err(|error: io::Error| ConfigError(format!("{}: {error}", file.display()))),
        }
    }
}

fn write_new(mut file: fs::File) -> io::Result<PrivateKey> {
    let key = PrivateKey::generate()?;
    writeln!(file, "{}", key.to_hex())?;
    file.sync_all()?;
    Ok(key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn a_key_file_is_made_once_and_read_only_if_nobody_else_may() {
        let folder = std::env::temp_dir().join(format!("anabranch-key-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("can be made");
        let file = folder.join("key");
        let made = PrivateKey::read_or_create(&file).expect("is written");
        assert_eq!(fs::metadata(&file).expect("exists").mode() & 0o777, 0o600);
        assert!(PrivateKey::read_or_create(&file) == Ok(made));
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).expect("is ours");
        assert!(PrivateKey::read(&file).expect_err("others may read").to_string().contains("chmod 600"));
        fs::remove_dir_all(&folder).expect("is ours");
    }
}
