//! A server in a thread of the program whose sockets it runs.

use crate::folder::private_path;
use crate::rounds::Rounds;
use crate::server::{Server, ServerError, ServerOptions, Stopper, remove_stale};
use io::HostOptions;
use sctp::Config;
use socket2::SockAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;

/// Beginning of the name of a file; the number of the process follows.
const NAME: &str = "library-";

/// A running server of this process.
#[derive(Debug)]
pub struct LocalServer {
    path: PathBuf,
    stopper: Stopper,
    waker: Arc<mio::Waker>,
    rounds: Rounds,
    thread: JoinHandle<std::io::Result<()>>,
}

impl LocalServer {
    /// Starts a server. Only this user can connect to it.
    ///
    /// # Errors
    /// [`ServerError`], whose text is a sentence.
    pub fn start(host: HostOptions, config: Config) -> Result<LocalServer, ServerError> {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let name = format!("{NAME}{}-{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        let path = private_path(&name).map_err(ServerError::Other)?;
        path.parent().into_iter().for_each(remove_files_of_dead);
        let server = Server::bind(ServerOptions { path: path.clone(), host, config })?;
        let (stopper, waker, rounds) = (server.stopper(), server.waker(), server.rounds());
        let thread = std::thread::Builder::new().name("anabranch".to_owned()).spawn(move || server.run());
        let thread = thread.map_err(|error| ServerError::Other(error.to_string()))?;
        Ok(LocalServer { path, stopper, waker, rounds, thread })
    }

    /// The path that the program's sockets connect to.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Wakes the server, for example when a packet arrived on a [link](io::Link).
    pub fn wake(&self) {
        // The call fails if the server has ended.
        let _ = self.waker.wake();
    }

    /// Waits for the server.
    pub fn rounds(&self) -> Rounds {
        self.rounds.clone()
    }

    /// Waits until the associations of closed sockets have ended, 10 s at most, and ends the thread.
    ///
    /// # Errors
    /// The error with which the server ended.
    pub fn stop(self) -> std::io::Result<()> {
        self.stopper.stop_when_idle();
        self.thread.join().unwrap_or_else(|_| Err(std::io::Error::other("the server panicked")))
    }
}

/// Removes the files of processes that were killed.
fn remove_files_of_dead(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(NAME)?.split('-').next());
        if process.is_some_and(|process| !Path::new("/proc").join(process).exists())
            && let Ok(address) = SockAddr::unix(entry.path())
        {
            // A process of another container, which is not in this `/proc`, still serves its file.
            let _ = remove_stale(&entry.path(), &address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::pair_socket;

    #[test]
    fn only_files_of_dead_processes_that_nobody_serves_are_removed() -> std::io::Result<()> {
        // Larger than the number of any process.
        const DEAD: u32 = 1 << 23;
        let folder = std::env::temp_dir().join(format!("anabranch-dead-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let paths = [
            format!("{NAME}{DEAD}-0"),
            format!("{NAME}{DEAD}-1"),
            format!("{NAME}{}-0", std::process::id()),
            format!("host-{DEAD}"),
        ]
        .map(|name| folder.join(name));
        let mut served = Vec::new();
        for path in &paths {
            let socket = pair_socket()?;
            socket.bind(&SockAddr::unix(path)?)?;
            if path == &paths[1] {
                socket.listen(1)?;
                served.push(socket);
            }
        }
        remove_files_of_dead(&folder);
        assert_eq!(paths.map(|path| path.exists()), [false, true, true, true]);
        std::fs::remove_dir_all(folder)
    }
}
