//! Changes of the allowed peers while a guard (the encryption layer of an endpoint) runs.

use crate::keys::{KeyError, PrivateKey, PublicKey, Secret};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// Allows and revokes peers of an endpoint with encryption, from any thread. Clones belong to one endpoint.
#[derive(Clone, Debug)]
pub struct Control(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    private: PrivateKey,
    /// True if there are changes, so that the check for each packet needs no lock.
    has_changes: AtomicBool,
    changes: Mutex<Vec<Change>>,
    /// Wakes the thread that drives the sockets, which makes the changes.
    waker: Mutex<Option<Waker>>,
}

/// A change that was asked for and is not made yet.
#[derive(Debug)]
pub(crate) enum Change {
    /// Allows a peer. The secret is shared with this peer alone; with `None`
    /// the secret for all peers applies.
    Allow(PublicKey, Option<Secret>),
    Revoke(PublicKey),
}

impl Control {
    pub(crate) fn new(private: PrivateKey) -> Control {
        let (has_changes, changes) = (AtomicBool::new(false), Mutex::default());
        Control(Arc::new(Shared { private, has_changes, changes, waker: Mutex::default() }))
    }

    /// Adds a peer to the list. `psk` is a secret shared with this peer alone; without one, the secret for
    /// all peers applies. A peer that is already on the list uses `psk` from its next handshake on.
    ///
    /// # Errors
    /// [`KeyError::Weak`].
    pub fn allow(&self, key: PublicKey, psk: Option<Secret>) -> Result<(), KeyError> {
        self.0.private.agree(&key)?;
        self.add(Change::Allow(key, psk));
        Ok(())
    }

    /// Ends the sessions of a peer and refuses it from now on, even if peers that are not listed are
    /// accepted: after this call no packet of the peer is opened, and none is sealed for it. Its
    /// connections end at once with [`io::ConnectionError::Revoked`]. The peer is not told of this:
    /// to tell it, abort its connections first.
    pub fn revoke(&self, key: PublicKey) {
        self.add(Change::Revoke(key));
    }

    fn add(&self, change: Change) {
        self.changes().push(change);
        self.0.has_changes.store(true, Ordering::Release);
        let waker = self.0.waker.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(crate) fn set_waker(&self, waker: Waker) {
        *self.0.waker.lock().unwrap_or_else(PoisonError::into_inner) = Some(waker);
    }

    /// The changes since the last call.
    pub(crate) fn take(&self) -> Vec<Change> {
        match self.0.has_changes.load(Ordering::Acquire) {
            false => Vec::new(),
            true => {
                let mut changes = self.changes();
                self.0.has_changes.store(false, Ordering::Relaxed);
                std::mem::take(&mut changes)
            }
        }
    }

    fn changes(&self) -> MutexGuard<'_, Vec<Change>> {
        self.0.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
