//! Tests of our stack with usrsctp over UDP, over two paths between network namespaces.
//!
//! Each test compiles a C program and runs itself again in a network namespace. The namespace ends with its
//! processes. If a program, the library or the permission is missing, the test says so and passes; if
//! `ANABRANCH_REQUIRE_TOOLS` is set, it fails.

mod capture;
mod extensions;
#[path = "../common/namespace.rs"]
mod namespace;
mod network;
mod ours;
mod peer;
mod process;
mod program;
mod transfers;

use std::path::{Path, PathBuf};
use std::process::Command;

/// Environment variable with the compiled program, for the test that runs in a namespace.
const PROGRAM: &str = "ANABRANCH_USRSCTP_PEER";

/// Finds all tools of a test and compiles its C program, whose source path is relative
/// to the root of the tree.
fn prepare(source: &str) -> Result<PathBuf, String> {
    if namespace::in_new_namespace().is_none() {
        return Err("the permission to make network namespaces, or unshare".into());
    }
    for (program, version) in
        [("ip", "-V"), ("tc", "-V"), ("nsenter", "-V"), ("tshark", "-v"), ("dumpcap", "-v")]
    {
        if Command::new(program).arg(version).output().is_err() {
            return Err(format!("the program {program}"));
        }
    }
    let name = source.replace(['/', '.'], "-");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    program::compile(source, &folder).inspect_err(|_| std::fs::remove_dir_all(&folder).expect("it was there"))
}

/// Runs the test of this name, with its compiled program, in a new namespace.
fn in_a_namespace(test: &str, source: &str, body: fn(&Path)) {
    if let Some(program) = std::env::var_os(PROGRAM) {
        return body(Path::new(&program));
    }
    let program = match prepare(source) {
        Ok(program) => program,
        Err(missing) => return namespace::skip(test, &missing),
    };
    let mut again = namespace::in_new_namespace().expect("it was allowed before");
    again.arg(std::env::current_exe().expect("the test has a name"));
    again.args(["--exact", test, "--nocapture"]);
    let status = again.env(PROGRAM, &program).status().expect("unshare runs");
    assert!(status.success(), "the test failed in its namespace; captures are beside {}", program.display());
    let folder = program.parent().expect("it is in a folder");
    std::fs::remove_dir_all(folder).expect("it was there");
}

#[test]
fn ours_and_usrsctp_transfer_all_data_over_two_paths_with_and_without_cmt() {
    let test = "ours_and_usrsctp_transfer_all_data_over_two_paths_with_and_without_cmt";
    in_a_namespace(test, "suites/overlay/usrsctp.c", transfers::run_all);
}

#[test]
fn ours_and_usrsctp_use_extensions_with_each_other() {
    let test = "ours_and_usrsctp_use_extensions_with_each_other";
    in_a_namespace(test, "crates/io/tests/usrsctp/extensions/scripted.c", extensions::run_all);
}
