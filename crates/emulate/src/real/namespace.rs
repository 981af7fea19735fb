//! Network namespaces, as `ip netns` names them.

use nix::sched::{CloneFlags, setns};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::thread;

/// A named network namespace, which is removed when it is dropped if it was made here.
#[derive(Debug)]
pub(super) struct Namespace {
    name: String,
    made: bool,
}

impl Namespace {
    /// The namespace of that name, which is made if there is none.
    ///
    /// # Errors
    /// The system's, with the words of `ip`.
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

    /// Runs `work` inside; what it opens stays there.
    ///
    /// # Errors
    /// The system's, and those of `work`.
    pub(super) fn inside<T: Send>(&self, work: impl FnOnce() -> io::Result<T> + Send) -> io::Result<T> {
        let file = File::open(self.path())?;
        // A thread of its own: a thread that entered a namespace stays there.
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
