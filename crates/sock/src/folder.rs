//! The folder for the sockets of a user.

use nix::unistd::getuid;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

/// A path at which a host process can listen, in a folder that only this user can enter.
///
/// # Errors
/// A sentence that names the folder.
pub fn private_path(name: &str) -> Result<PathBuf, String> {
    let folder = match std::env::var_os("XDG_RUNTIME_DIR").filter(|folder| !folder.is_empty()) {
        Some(folder) => PathBuf::from(folder).join("anabranch"),
        None => std::env::temp_dir().join(format!("anabranch-{}", getuid())),
    };
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    made.map_err(|error| format!("{}: {error}", folder.display()))?;
    if !is_private(&folder) {
        return Err(format!(
            "{}: expected a folder of this user that no other user can enter",
            folder.display()
        ));
    }
    Ok(folder.join(name))
}

fn is_private(folder: &Path) -> bool {
    let data = std::fs::symlink_metadata(folder);
    data.is_ok_and(|data| data.is_dir() && data.uid() == getuid().as_raw() && data.mode() & 0o077 == 0)
}
