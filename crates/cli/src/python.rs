//! Subcommands that the Python package runs.

use crate::{Failure, code};
use std::path::PathBuf;
use std::process::Command;

/// Runs `python -m anabranch NAME ARGUMENTS...` and returns its exit code.
pub fn hand_over<'a>(name: &str, arguments: impl Iterator<Item = &'a String>) -> Result<i32, Failure> {
    let python = interpreter();
    let probe = "import importlib.util, sys; sys.exit(importlib.util.find_spec('anabranch') is None)";
    let missing = |why: String| {
        Failure::failed(format!(
            "`{name}` needs the Python package `anabranch`: {why}\n\
             Install it (pip install anabranch), or name an interpreter that has it in ANABRANCH_PYTHON."
        ))
    };
    match Command::new(&python).args(["-c", probe]).status() {
        Err(error) => return Err(missing(format!("{} cannot be started: {error}", python.display()))),
        Ok(status) if !status.success() => {
            return Err(missing(format!("{} does not have it", python.display())));
        }
        Ok(_) => {}
    }
    let status = Command::new(&python)
        .args(["-m", "anabranch", name])
        .args(arguments)
        .status()
        .map_err(|error| Failure::failed(format!("{}: {error}", python.display())))?;
    Ok(status.code().unwrap_or(code::STOPPED))
}

/// The Python interpreter: named by `ANABRANCH_PYTHON`, or in the folder of this program, or the first in
/// `PATH`.
fn interpreter() -> PathBuf {
    let named = std::env::var_os("ANABRANCH_PYTHON").filter(|name| !name.is_empty()).map(PathBuf::from);
    let beside = || {
        let program = std::env::current_exe().ok()?;
        let names = ["python3", "python", "python.exe"];
        names.iter().map(|name| program.with_file_name(name)).find(|python| python.is_file())
    };
    named.or_else(beside).unwrap_or_else(|| PathBuf::from("python3"))
}
