//! Tests of TUN mode: they run again in a network and mount namespace of their own, so that nothing remains
//! of them.

#[path = "../../../io/tests/common/namespace.rs"]
pub mod namespace;

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::process::Command;

/// Set in the process that is inside; it tells what to do there.
pub const ROLE: &str = "ANABRANCH_TEST_ROLE";

/// What this machine lacks for [`run_again`].
pub fn missing() -> Option<String> {
    if namespace::in_new_namespace().is_none() {
        return Some("the permission to make network namespaces, or unshare".to_owned());
    }
    for program in ["ip", "nsenter", "mount"] {
        if Command::new(program).arg("-V").output().is_err() {
            return Some(format!("the program {program}"));
        }
    }
    let device = OpenOptions::new().read(true).write(true).open("/dev/net/tun");
    device.is_err().then(|| "/dev/net/tun".to_owned())
}

/// Runs a test again, with this role, in namespaces in which nothing but this test has network namespaces
/// with names.
///
/// # Panics
/// If the test fails there.
pub fn run_again(test: &str, role: impl AsRef<OsStr>) {
    let mut again = namespace::in_new_namespace().expect("it was allowed before");
    let again = again.args(["--mount", "--kill-child", "--fork", "--"]).args(this_test(test)).env(ROLE, role);
    assert!(again.status().expect("unshare runs").success(), "the test failed in its namespace");
}

/// Hides the names of other network namespaces; the first step inside.
pub fn hide_names() {
    let status = Command::new("mount").args(["-t", "tmpfs", "none", "/run"]).status().expect("it runs");
    assert!(status.success(), "a file system over /run, where `ip netns` keeps its names");
}

/// The command line of one test alone.
pub fn this_test(test: &str) -> Vec<String> {
    let program = std::env::current_exe().expect("the test has a name").display().to_string();
    [&program, "--exact", test, "--nocapture"].map(str::to_owned).into()
}

/// A command in a network namespace of that name.
pub fn in_namespace(name: &str, arguments: &[impl AsRef<OsStr>]) -> Command {
    let mut command = Command::new("nsenter");
    command.arg(format!("--net=/run/netns/{name}")).args(arguments);
    command
}
