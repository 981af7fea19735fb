//! Tests of extensions between our stack and usrsctp, in both roles.

mod addresses;
mod damage;
mod endpoint;
mod exchange;
mod flow;
mod meeting;
mod partial_reliability;
mod reset;
mod scripted;

use std::path::Path;
use std::process::Command;
use testkit::Interop;

/// Value in the table's column for the side that connects: each test runs twice, so that each side connects
/// once.
const BOTH: &str = "each";

/// The version of the installed usrsctp library.
fn version() -> String {
    let output = Command::new("pkg-config").args(["--modversion", "usrsctp"]).output();
    let known = output.ok().filter(|output| output.status.success());
    known.map_or("unknown".into(), |output| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Runs all tests, and compares the table of their results with the one in `docs/interop.md`.
pub fn run_all(program: &Path) {
    let mut table = Interop::new("usrsctp", version());
    let parts = [exchange::run, partial_reliability::run, addresses::run, reset::run, damage::run];
    parts.iter().for_each(|run| run(program, &mut table));
    table.hole("ECN", "packets are marked", "over UDP it neither sets nor sees the bits of IP");
    table.hole("zero checksum", "usrsctp announces it", "it does not know the parameter");
    table.check();
}
