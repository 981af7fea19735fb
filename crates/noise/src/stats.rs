//! Counters that other threads may read.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Counters of the encryption, which other threads may read.
pub type Stats = Arc<NoiseStats>;

/// Counters since the start.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct NoiseStats {
    /// Handshakes that made a session.
    pub sessions: AtomicU64,
    /// Curve computations, at most six for each handshake: the expensive part.
    pub curves: AtomicU64,
    /// Initiations answered with a cookie.
    pub cookies: AtomicU64,
    /// Datagrams dropped because they were not authentic, not new or of no known form.
    pub refused: AtomicU64,
    /// Initiations dropped because there were too many.
    pub limited: AtomicU64,
    /// Initiations with a cipher suite that this end does not use.
    pub wrong_suite: AtomicU64,
    /// Packets dropped because there was no session.
    pub unsent: AtomicU64,
    /// Packets dropped because they were for a peer that no longer exists.
    pub unbound: AtomicU64,
    /// See [`Self::stranger`].
    stranger: Mutex<Option<(IpAddr, u64)>>,
}

impl NoiseStats {
    pub(crate) fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// The source address of the last initiation with wrong keys, and the number of such initiations. Anybody
    /// can forge both.
    pub fn stranger(&self) -> Option<(IpAddr, u64)> {
        *self.stranger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn note_stranger(&self, from: IpAddr) {
        let mut stranger = self.stranger.lock().unwrap_or_else(PoisonError::into_inner);
        *stranger = Some((from, stranger.map_or(1, |(_, count)| count + 1)));
    }
}
