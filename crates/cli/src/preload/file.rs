//! Finds the program to run, and the reasons why a preloaded library cannot reach it.

use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Finds a program as a shell does.
pub fn find(name: &OsStr) -> Option<PathBuf> {
    if name.as_encoded_bytes().contains(&b'/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_file());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|data| data.is_file() && data.mode() & 0o111 != 0)
}

/// The user of this process.
fn user() -> u32 {
    std::fs::metadata("/proc/self").map_or(0, |data| data.uid())
}

/// Returns the reason as an error if a preloaded library cannot reach a program.
pub fn check(program: &Path) -> Result<(), String> {
    let name = program.display();
    let special = program.metadata().is_ok_and(|data| data.mode() & 0o6000 != 0);
    if special && user() != 0 {
        return Err(format!("{name} runs as another user (setuid): the system loads no library into it"));
    }
    match is_static(program) {
        Some(true) => Err(format!("{name} is statically linked: a preloaded library cannot reach it")),
        _ => Ok(()),
    }
}

/// True if an ELF file of 64 bits names no dynamic linker; `None` if it is another kind of file.
fn is_static(program: &Path) -> Option<bool> {
    const INTERPRETER: u32 = 3;
    let mut bytes = Vec::new();
    std::fs::File::open(program).ok()?.take(65_536).read_to_end(&mut bytes).ok()?;
    if !bytes.starts_with(b"\x7fELF\x02\x01") {
        return None;
    }
    let half = |at: usize| Some(usize::from(u16::from_le_bytes(bytes.get(at..at + 2)?.try_into().ok()?)));
    let begin = usize::try_from(u64::from_le_bytes(bytes.get(32..40)?.try_into().ok()?)).ok()?;
    let (size, count) = (half(54)?, half(56)?);
    let kind = |n: usize| {
        let at = begin.checked_add(n * size)?;
        Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
    };
    Some(!(0..count).any(|n| kind(n) == Some(INTERPRETER)))
}
