//! Encryption of all packets of an endpoint, below SCTP and above UDP: Noise IKpsk2 with Curve25519, BLAKE2s,
//! and AES-256-GCM or ChaCha20-Poly1305.
//!
//! [`Noise`] is a [guard](io::Guard): it does no input or output. There is one session for each pair of
//! static keys, whatever the number of associations and paths. A session is found by the index in a packet,
//! never by its address, so that any path and any NAT works. Either end begins a handshake when it has no
//! session for a packet, when the session is old, or when the peer does not answer; both may do so at once.
//! An initiation has a MAC that only those can make who know the key of the door. Without a cookie of the
//! responder, it costs the responder only the check of this MAC. See `docs/security.md`.
#![forbid(unsafe_code)]

mod common;
mod cookie;
mod guard;
mod handshake;
mod keyfile;
mod keys;
mod lanes;
mod limit;
mod mac;
mod peer;
mod peers;
mod replay;
mod session;
mod silence;
mod stats;
mod suite;
#[cfg(test)]
mod tests;
#[cfg_attr(not(feature = "tracing"), path = "no_trace.rs")]
mod trace;
mod wire;

pub use guard::{Noise, NoiseError};
pub use keyfile::{KeyFileError, ListedPeer, parse_peers, read_peers};
pub use keys::{KeyError, PrivateKey, PublicKey, Secret};
pub use peers::Peers;
pub use replay::Replay;
pub use stats::{NoiseStats, Stats};
pub use suite::Suite;
