//! Named network namespaces, which `ip netns` shows, too.

use nix::sched::{CloneFlags, setns};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::thread;

/// A named network namespace. If this program made the namespace, dropping this value removes it.
#[derive(Debug)]
pub(super) struct Namespace {
    name: String,
    made: bool,
}

impl Namespace {
    /// The namespace with this name. Makes the namespace if it does not exist.
    ///
    /// # Errors
    /// The error of the system, with the message of `ip`.
    pub(super) fn named(name: &str) -> io::Result<Namespace> {
        let mut namespace = Namespace { name: name.to_owned(), made: false };
        if !namespace.path().exists() {
            ip(&["netns", "add", name])?;
            namespace.made = true;
            ip(&["-n", name, "link", "set", "lo", "up"])?;
        }
        Ok(namespace)
    }

    fn path(&self) -> PathBuf {
        PathBuf::from("/run/netns").join(&self.name)
    }

    /// Runs `work` inside the namespace. A socket or device that `work` opens stays in the namespace.
    ///
    /// # Errors
    /// The error of the system, or of `work`.
    pub(super) fn inside<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        let file = File::open(self.path())?;
        // A separate thread, because a thread cannot easily leave a namespace that it entered.
        thread::scope(|scope| {
            let inside = scope.spawn(|| {
                setns(&file, CloneFlags::CLONE_NEWNET)?;
                work()
            });
            inside.join().unwrap_or_else(|_| Err(io::Error::other("the thread in the namespace panicked")))
        })
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        if self.made {
            // The call fails if another process removed the namespace.
            let _ = ip(&["netns", "delete", &self.name]);
        }
    }
}

fn ip(arguments: &[&str]) -> io::Result<()> {
    let output = Command::new("ip").args(arguments).output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(io::Error::other(format!("`ip {}`: {said}", arguments.join(" "))))
}
