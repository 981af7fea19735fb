//! A server in a thread of the program whose sockets it runs.

use crate::folder::private_path;
use crate::rounds::Rounds;
use crate::server::{Server, ServerError, ServerOptions, Stopper};
use io::HostOptions;
use sctp::Config;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;

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
        let name = format!("library-{}-{}", std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        let path = private_path(&name).map_err(ServerError::Other)?;
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
