//! Tests that run again in a network namespace of their own.

use std::io::Write;
use std::process::Command;

/// A command in a new network namespace; as a plain user, in a new user namespace as well. None if neither is
/// allowed.
pub fn in_new_namespace() -> Option<Command> {
    let ways: [&[&str]; 2] = [&["--net"], &["--user", "--map-root-user", "--net"]];
    let allowed = |way: &&&[&str]| {
        let tried = Command::new("unshare").args(**way).arg("true").output();
        tried.is_ok_and(|output| output.status.success())
    };
    ways.iter().find(allowed).map(|way| {
        let mut command = Command::new("unshare");
        command.args(*way);
        command
    })
}

/// Says which test is left out and what is missing for it.
///
/// # Panics
/// If `ANABRANCH_REQUIRE_TOOLS` is set.
pub fn skip(test: &str, missing: &str) {
    assert!(std::env::var_os("ANABRANCH_REQUIRE_TOOLS").is_none(), "required and missing: {missing}");
    // Not by a macro: the output of a test that passes is not shown.
    let note = format!("SKIPPED: {test}, because this is missing: {missing}\n");
    std::io::stderr().write_all(note.as_bytes()).expect("standard error is open");
}
