//! Unfinished files and folders. Each has the name of its process and machine, so that what a killed process
//! left behind can be told from what another process still writes.

use std::fs;
use std::path::{Path, PathBuf};

/// Beginning of the name of everything that is unfinished.
const PREFIX: &str = ".part-";

/// The path at which this process writes what gets the path `whole` once it is complete.
pub(super) fn of(whole: &Path) -> PathBuf {
    let name = whole.file_name().unwrap_or_default().to_string_lossy();
    whole.with_file_name(format!("{PREFIX}{name}-{}-{}", machine(), std::process::id()))
}

/// Name of this machine, without the separator of [`of`].
fn machine() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let name = name.or_else(|| std::env::var("COMPUTERNAME").ok()).unwrap_or_else(|| "machine".to_owned());
    name.trim().replace(|letter: char| !letter.is_ascii_alphanumeric(), "_")
}

/// Whether a process of this machine is still there. Where that cannot be known, it is.
fn is_alive(process: &str) -> bool {
    !Path::new("/proc/self").exists() || Path::new("/proc").join(process).exists()
}

/// Removes what killed processes of this machine left behind in a folder. Those of other machines may still
/// be alive.
pub(super) fn clear(folder: &Path) {
    let own = machine();
    remove(folder, |_, rest| {
        let mut parts = rest.rsplitn(3, '-');
        matches!((parts.next(), parts.next()), (Some(process), Some(machine)) if machine == own && !is_alive(process))
    });
}

/// Removes the unfinished folders of runs that are finished, whoever began them.
pub(super) fn clear_of(folder: &Path, is_finished: impl Fn(&str) -> bool) {
    remove(folder, |hash, _| is_finished(hash));
}

/// Removes the parts for which `gone` says so, given the first word of the name, and all of it.
fn remove(folder: &Path, gone: impl Fn(&str, &str) -> bool) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(rest) = name.strip_prefix(PREFIX) else { continue };
        if gone(rest.split('-').next().unwrap_or_default(), rest) {
            // A file that cannot be removed stays, and does no harm.
            let path = entry.path();
            let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
        }
    }
}
