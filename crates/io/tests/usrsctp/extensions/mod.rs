//! Extensions between our stack and usrsctp, in both roles: each row of the table of `docs/interop.md` is a cell here.

mod endpoint;
mod exchange;
mod scripted;

use std::path::Path;

/// What a cell shows: a row of the table.
pub struct Row {
    pub extension: &'static str,
    pub role: &'static str,
    pub shown: String,
}

/// Runs all cells and prints their table.
pub fn run_all(program: &Path) {
    let rows = exchange::run(program);
    for Row { extension, role, shown } in rows {
        eprintln!("| {extension} | {role} | {shown} |");
    }
}
