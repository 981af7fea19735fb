//! Tests that run programs with the preloaded library.

use std::path::{Path, PathBuf};
use std::process::Command;

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Builds the library into the folder of the command.
pub fn build_library() {
    let built = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--offline", "-p", "anabranch-preload"])
        .current_dir(root())
        .status();
    assert!(built.is_ok_and(|status| status.success()), "the library is built");
}

pub fn which(name: &str) -> Option<PathBuf> {
    // The examples of libusrsctp are in a folder of their own.
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders)
        .chain([PathBuf::from("/usr/lib/usrsctp")])
        .map(|folder| folder.join(name))
        .find(|path| path.is_file())
}
