//! Unfinished files and folders. Their names contain the process and the machine, so that files of a killed
//! process can be distinguished from files that another process still writes.

use std::fs;
use std::path::{Path, PathBuf};

/// Prefix of the names of unfinished files and folders.
const PREFIX: &str = ".part-";

/// The path at which this process writes until the result is complete and gets the path `whole`.
pub(super) fn of(whole: &Path) -> PathBuf {
    let name = whole.file_name().unwrap_or_default().to_string_lossy();
    whole.with_file_name(format!("{PREFIX}{name}-{}-{}", machine(), std::process::id()))
}

/// Name of this machine. `_` replaces characters such as `-`, with which [`of`] separates the parts of a
/// name.
fn machine() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = name.or_else(|| std::env::var("COMPUTERNAME").ok()).unwrap_or_else(|| "machine".to_owned());
    name.trim().replace(|letter: char| !letter.is_ascii_alphanumeric(), "_")
}

/// True if a process of this machine exists, or if that is unknown.
fn is_alive(process: &str) -> bool {
    !Path::new("/proc/self").exists() || Path::new("/proc").join(process).exists()
}

/// Removes the files of killed processes of this machine from a folder. Processes of other machines may still
/// run.
pub(super) fn clear(folder: &Path) {
    let own = machine();
    remove(folder, |_, rest| {
        let mut parts = rest.rsplitn(3, '-');
        matches!((parts.next(), parts.next()), (Some(process), Some(machine)) if machine == own && !is_alive(process))
    });
}

/// Removes the partial folders of runs that are finished by now, whichever process left them.
pub(super) fn clear_of(folder: &Path, is_finished: impl Fn(&str) -> bool) {
    remove(folder, |hash, _| is_finished(hash));
}

/// Removes the unfinished files and folders for which `gone` returns true. `gone` gets the first word of the
/// name after the prefix (for a run, its hash), and the whole name after the prefix.
fn remove(folder: &Path, gone: impl Fn(&str, &str) -> bool) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(rest) = name.strip_prefix(PREFIX) else { continue };
        if gone(rest.split('-').next().unwrap_or_default(), rest) {
            // A file that cannot be removed is left.
            let path = entry.path();
            let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}
