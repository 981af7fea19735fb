//! Tests that run again in a network namespace of their own.

use std::io::Write;
use std::process::Command;

/// A command in a new network namespace; for a user without privileges, in a new user namespace as well.
/// `None` if the system allows neither.
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

/// Reports that a test is skipped, and what is missing for it.
///
/// # Panics
/// If `ANABRANCH_REQUIRE_TOOLS` is set.
pub fn skip(test: &str, missing: &str) {
    assert!(std::env::var_os("ANABRANCH_REQUIRE_TOOLS").is_none(), "required and missing: {missing}");
    // A macro would print to the captured output, which is not shown for a test that passes.
    let note = format!("SKIPPED: {test}, because this is missing: {missing}\n");
    std::io::stderr().write_all(note.as_bytes()).expect("standard error is open");
}
