//! The socket calls of sockets.c and notifications.c by the preloaded library, each check in a network
//! namespace of its own.
#![cfg(target_os = "linux")]

#[path = "../../io/tests/common/namespace.rs"]
mod namespace;
mod preloaded;

use namespace::{in_new_namespace, skip};
use preloaded::{build_library, root, which};
use std::path::PathBuf;
use std::process::Command;

#[test]
fn sockets_behave_as_those_of_linux() {
    check("sockets");
}

#[test]
fn programs_see_the_notifications_that_they_subscribe_to() {
    check("notifications");
}

#[test]
fn a_capture_has_the_packets_of_the_program() {
    if which("python3").is_none() || in_new_namespace().is_none() {
        return skip("captures of programs", "python3 or network namespaces");
    }
    build_library();
    let folder = scratch("capture");
    let file = folder.join("all.pcapng");
    let code = "import socket
listener = socket.socket(2, 1, 132); listener.bind(('127.0.0.1', 5001)); listener.listen()
client = socket.socket(2, 1, 132); client.connect(('127.0.0.1', 5001))
accepted = listener.accept()[0]; client.send(b'x' * 5000); assert accepted.recv(9000) == b'x' * 5000";
    let mut bash = in_new_namespace().expect("checked before");
    let script = "ip link set lo up; timeout 60 $A preload --capture $0 -- python3 -c \"$1\"; $A explain $0";
    bash.args(["bash", "-c", script]).arg(&file).arg(code).env_remove("ANABRANCH_SOCKET");
    let output = bash.env("A", env!("CARGO_BIN_EXE_anabranch")).output().expect("bash runs");
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{told}{}", String::from_utf8_lossy(&output.stderr));
    assert!(told.contains("5001"), "{told}");
    let _ = std::fs::remove_dir_all(&folder);
}

#[test]
fn options_of_the_environment_hold_unless_the_command_line_has_others() {
    if which("python3").is_none() || in_new_namespace().is_none() {
        return skip("options of the environment", "python3 or network namespaces");
    }
    build_library();
    let run = |options: &str, more: &str| {
        let code = "import socket, struct
print(struct.unpack('iII', socket.socket(2, 1, 132).getsockopt(132, 16, 12))[1:])";
        let mut bash = in_new_namespace().expect("checked before");
        let script = "ip link set lo up; timeout 60 $A preload $0 -- python3 -c \"$1\" 2>&1";
        bash.args(["bash", "-c", script, more, code]).env_remove("ANABRANCH_SOCKET");
        bash.env("A", env!("CARGO_BIN_EXE_anabranch")).env("ANABRANCH_OPTIONS", options);
        String::from_utf8(bash.output().expect("bash runs").stdout).expect("text")
    };
    let options = "sack_delay = '40 ms'; sack_frequency = 3";
    assert_eq!(run(options, "--profile=rfc9260").trim(), "(40, 3)");
    assert_eq!(run(options, "--set=sack_frequency=5").trim(), "(40, 5)");
    let told = run("sack_delai = '40 ms'", "--profile=rfc9260");
    assert!(told.contains("ANABRANCH_OPTIONS") && told.contains("sack_delay"), "{told}");
}

fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("anabranch-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Compiles a program of checks, and runs each of them.
fn check(name: &str) {
    if which("gcc").is_none() || in_new_namespace().is_none() {
        return skip("socket calls", "gcc or network namespaces");
    }
    build_library();
    let folder = scratch(name);
    let program = folder.join(name);
    let source = root().join("crates/cli/tests").join(name).with_extension("c");
    let arguments = ["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-o"];
    let built = Command::new("gcc").args(arguments).args([&program, &source]).status().expect("gcc runs");
    assert!(built.success(), "{name}.c is compiled");
    let names = Command::new(&program).output().expect("it runs").stdout;
    let names = String::from_utf8(names).expect("names");
    let failed: Vec<String> = names
        .lines()
        .filter_map(|check| {
            let mut bash = in_new_namespace().expect("checked before");
            let script = "ip link set lo up; timeout 60 $A preload -- $0 $1";
            bash.args(["bash", "-c", script]).arg(&program).arg(check).env_remove("ANABRANCH_SOCKET");
            let output = bash.env("A", env!("CARGO_BIN_EXE_anabranch")).output().expect("bash runs");
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            (!output.status.success()).then(|| format!("{check}: {}\n{told}", output.status))
        })
        .collect();
    // A folder that stays does no harm.
    let _ = std::fs::remove_dir_all(&folder);
    assert!(!names.is_empty() && failed.is_empty(), "{}", failed.join("\n"));
}
