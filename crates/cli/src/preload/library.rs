use crate::Failure;
use std::path::{Path, PathBuf};

/// The library for `LD_PRELOAD`.
pub const SOCKETS: &str = "libanabranch_preload.so";
/// The library that takes the place of libusrsctp, in a folder of its own.
pub const USRSCTP: &str = "usrsctp/libusrsctp.so.2";

/// Finds a library: in the folder of this program, or in `lib` or `lib/anabranch` beside that folder. In
/// the Python package the program is the script `anabranch`.
pub fn find(name: &str) -> Result<PathBuf, Failure> {
    let programs = std::env::current_exe().into_iter().chain(std::env::args_os().take(2).map(PathBuf::from));
    let mut candidates = Vec::new();
    for folder in programs.filter_map(|program| Some(program.parent()?.to_owned())) {
        candidates.push(folder.join(name));
        candidates.push(folder.join("../lib").join(name));
        candidates.push(folder.join("../lib/anabranch").join(name));
        candidates.push(folder.join("..").join(name));
    }
    match candidates.iter().find(|path| path.is_file()).and_then(|path| path.canonicalize().ok()) {
        Some(path) if !has_separator(&path) => Ok(path),
        Some(path) => Err(Failure::failed(format!(
            "{}: the path of a preloaded library cannot have spaces or colons",
            path.display()
        ))),
        None => Err(Failure::failed(format!(
            "{name} is not beside this program: the Debian package has it, a Python wheel has not, and `make build` makes \
             it"
        ))),
    }
}

/// True if a path has a space or a colon, at which the dynamic linker would split it.
fn has_separator(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().iter().any(|byte| matches!(byte, b' ' | b':'))
}
