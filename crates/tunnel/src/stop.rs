//! The end of a running tunnel, by a request or because a thread failed, and requests to change its peers.

use crate::error::TunnelError;
use crate::peers::TunnelPeer;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Ends a running tunnel, or changes its peers; clones belong to the same tunnel.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    decided: Condvar,
}

#[derive(Debug, Default)]
struct State {
    is_over: bool,
    /// Result of the tunnel, until [`Stop::wait`] takes it. The first result counts.
    outcome: Option<Result<(), TunnelError>>,
    /// A new list of peers, until [`Stop::new_peers`] takes it.
    peers: Option<Vec<TunnelPeer>>,
}

impl Stop {
    /// Ends the tunnel without an error, after notifying the other end.
    pub fn stop(&self) {
        self.end(Ok(()));
    }

    /// Replaces the list of peers of an end that waits for several. Peers that are not on the new list lose
    /// their associations within about a second and can make no others. New peers on it may connect.
    pub fn replace_peers(&self, peers: Vec<TunnelPeer>) {
        self.state().peers = Some(peers);
    }

    /// The latest list of peers that was not taken yet.
    pub(crate) fn new_peers(&self) -> Option<Vec<TunnelPeer>> {
        self.state().peers.take()
    }

    pub(crate) fn end(&self, outcome: Result<(), TunnelError>) {
        let mut state = self.state();
        if !std::mem::replace(&mut state.is_over, true) {
            state.outcome = Some(outcome);
        }
        self.0.decided.notify_all();
    }

    pub(crate) fn is_over(&self) -> bool {
        self.state().is_over
    }

    /// Waits for `time`, or until the tunnel must end; true if it must end.
    pub(crate) fn sleep(&self, time: Duration) -> bool {
        let runs = |state: &mut State| !state.is_over;
        let waited = self.0.decided.wait_timeout_while(self.state(), time, runs);
        waited.unwrap_or_else(PoisonError::into_inner).0.is_over
    }

    /// Waits until the tunnel must end, and returns its result.
    pub(crate) fn wait(&self) -> Result<(), TunnelError> {
        let waited = self.0.decided.wait_while(self.state(), |state| !state.is_over);
        waited.unwrap_or_else(PoisonError::into_inner).outcome.take().unwrap_or(Ok(()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a thread whose error or panic ends the tunnel.
    pub(crate) fn spawn(
        &self,
        name: &'static str,
        run: impl FnOnce() -> Result<(), TunnelError> + Send + 'static,
    ) -> io::Result<()> {
        let thread = Thread { name, stop: self.clone() };
        let run = move || {
            if let Err(error) = run() {
                thread.stop.end(Err(error));
            }
        };
        thread::Builder::new().name(name.to_owned()).spawn(run).map(drop)
    }
}

/// Ends the tunnel if its thread panics.
struct Thread {
    name: &'static str,
    stop: Stop,
}

impl Drop for Thread {
    fn drop(&mut self) {
        if thread::panicking() {
            self.stop.end(Err(TunnelError::Thread(self.name)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_of_a_thread_ends_the_tunnel_and_a_thread_that_is_done_does_not() {
        let stop = Stop::default();
        stop.spawn("done", || Ok(())).expect("starts");
        stop.spawn("broken", || panic!("as if there were a mistake")).expect("starts");
        assert!(matches!(stop.wait(), Err(TunnelError::Thread("broken"))));
        let stop = Stop::default();
        stop.spawn("failed", || Err(TunnelError::Closed)).expect("starts");
        assert!(matches!(stop.wait(), Err(TunnelError::Closed)));
    }
}
