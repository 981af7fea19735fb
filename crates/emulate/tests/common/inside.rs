//! Runs a test of TUN mode again in separate network and mount namespaces, so that the test leaves nothing
//! behind.

#[path = "../../../io/tests/common/namespace.rs"]
pub mod namespace;

use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::process::Command;

/// Name of the environment variable that holds the role of the process inside the namespaces.
pub const ROLE: &str = "ANABRANCH_TEST_ROLE";

/// Returns the first requirement of [`run_again`] that this machine lacks; `None` if it lacks none.
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

/// Runs a test again with this role, in namespaces without named network namespaces of other programs.
///
/// # Panics
/// If the test fails in the namespaces.
pub fn run_again(test: &str, role: impl AsRef<OsStr>) {
    let mut again = namespace::in_new_namespace().expect("it was allowed before");
    let again = again.args(["--mount", "--kill-child", "--fork", "--"]).args(this_test(test)).env(ROLE, role);
    assert!(again.status().expect("unshare runs").success(), "the test failed in its namespace");
}

/// Hides the names of other network namespaces. This is the first step inside the namespaces.
pub fn hide_names() {
    let status = Command::new("mount").args(["-t", "tmpfs", "none", "/run"]).status().expect("it runs");
    assert!(status.success(), "a file system over /run, where `ip netns` keeps its names");
}

/// The command line that runs one test alone.
pub fn this_test(test: &str) -> Vec<String> {
    let program = std::env::current_exe().expect("the test has a name").display().to_string();
    [&program, "--exact", test, "--nocapture"].map(str::to_owned).into()
}

/// A command that runs in the network namespace `name`.
pub fn in_namespace(name: &str, arguments: &[impl AsRef<OsStr>]) -> Command {
    let mut command = Command::new("nsenter");
    command.arg(format!("--net=/run/netns/{name}")).args(arguments);
    command
}
