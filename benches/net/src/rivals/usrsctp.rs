//! usrsctp: a program in C that this bench compiles, since no crate provides bindings of that library.

use super::Result;
use std::path::PathBuf;
use std::process::Command;

/// The error if this program is asked to run an end of this rival.
pub const ELSEWHERE: &str = "usrsctp runs in a program of its own";

/// Compiles the program, unless it exists.
pub fn program() -> Result<PathBuf> {
    let folder = std::env::current_exe()?.parent().ok_or("no folder")?.to_owned();
    let (program, source) = (folder.join("usrsctp"), folder.join("usrsctp.c"));
    if !program.exists() {
        std::fs::write(&source, include_str!("../../usrsctp.c"))?;
        let mut compiler = Command::new("cc");
        compiler.args(["-O2", "-o"]).arg(&program).arg(&source).args(["-lusrsctp", "-lpthread"]);
        if !compiler.status().is_ok_and(|status| status.success()) {
            return Err("cannot compile usrsctp.c: install cc and libusrsctp-dev".into());
        }
    }
    Ok(program)
}
