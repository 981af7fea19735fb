//! Extensions between our stack and usrsctp, in both roles.

mod addresses;
mod endpoint;
mod exchange;
mod flow;
mod meeting;
mod partial_reliability;
mod reset;
mod scripted;

use std::path::Path;

/// What a cell shows.
pub struct Row {
    pub extension: &'static str,
    pub role: &'static str,
    pub shown: String,
}

/// Runs all cells and prints their table.
pub fn run_all(program: &Path) {
    for run in [reset::run] {
        for Row { extension, role, shown } in run(program) {
            eprintln!("| usrsctp | {extension} | {role} | {shown} |");
        }
    }
}
