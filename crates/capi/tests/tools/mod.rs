//! Compilers and other programs that tests of C need.
#![allow(dead_code, reason = "each test uses a part")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the crate.
pub fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// True if there is a program. Without it a test is left out, unless `ANABRANCH_REQUIRE_TOOLS` is set.
pub fn has(program: &str) -> bool {
    let found = Command::new(program).arg("--version").output().is_ok_and(|done| done.status.success());
    if !found {
        let required = std::env::var_os("ANABRANCH_REQUIRE_TOOLS").is_some();
        assert!(!required, "{program} is required and not installed");
        eprintln!("left out: {program} is not installed");
    }
    found
}

/// The folder in which cargo has put the libraries of this crate for its tests.
pub fn built() -> PathBuf {
    let test = std::env::current_exe().expect("the path of the test");
    test.parent().expect("a folder").to_owned()
}

/// A new folder for the files of a test.
pub fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

/// Runs a command for at most two minutes, and returns what it printed.
pub fn run(command: &mut Command) -> String {
    let mut bounded = Command::new("timeout");
    bounded.arg("120").arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        bounded.env(name, value.unwrap_or_default());
    }
    let done = bounded.output().expect("timeout runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        done.status.success(),
        "{command:?}: {}\n{}{}",
        done.status,
        text(&done.stdout),
        text(&done.stderr)
    );
    text(&done.stdout)
}
