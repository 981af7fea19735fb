//! Encryption of all packets of an endpoint, below SCTP and above UDP: Noise IKpsk2 with Curve25519, BLAKE2s,
//! and AES-256-GCM or ChaCha20-Poly1305.
//!
//! [`Noise`] is a [guard](io::Guard): it does no input or output. There is one session for each pair of
//! static keys, whatever the number of associations and paths. A session is found by the index in a packet,
//! never by its address, so that any path and any NAT works. Either end begins a handshake when it has no
//! session for a packet, when the session is old, or when the peer does not answer; both may do so at once.
//! An initiation has a MAC, whose key follows from the public key of the responder and the secret of
//! [`Peers::door`]. The responder checks this MAC and a cookie of its own before it computes anything
//! expensive. See `docs/security.md`.
//!
//! ```no_run
//! # extern crate io as anabranch_io;
//! use anabranch_io::Peer;
//! use anabranch_io::blocking::{Connection, Endpoint};
//! use anabranch_noise::{Noise, Peers, PrivateKey, PublicKey, read_peers};
//! use std::{error::Error, net::IpAddr, path::Path};
//!
//! fn serve(paths: Vec<IpAddr>) -> Result<(), Box<dyn Error>> {
//!     let key = PrivateKey::read_or_create(Path::new("server.key"))?;
//!     let clients = Peers::from(read_peers(Path::new("clients.txt"))?); // or Peers::any()
//!     let endpoint = Endpoint::builder().locals(paths).port(5001).guard(Noise::new(key, clients)?).bind()?;
//!     let listener = endpoint.listen(16);
//!     while let Ok(connection) = listener.accept() {
//!         println!("{:?} connected", connection.peer_identity()); // Some(PublicKey(8520f0…))
//!     }
//!     Ok(())
//! }
//!
//! fn connect(to: Vec<IpAddr>, server: PublicKey) -> Result<Connection, Box<dyn Error>> {
//!     let key = PrivateKey::read_or_create(Path::new("client.key"))?;
//!     let endpoint = Endpoint::builder().udp_port(0).guard(Noise::new(key, Peers::known([server]))?).bind()?;
//!     Ok(endpoint.connect(Peer::from((to, 5001)))?)
//! }
//! ```
#![forbid(unsafe_code)]

#[cfg(not(any(feature = "ring", feature = "soft")))]
compile_error!("anabranch-noise needs its feature `ring`, or `soft` where `ring` does not build");

#[cfg_attr(not(feature = "ring"), path = "soft.rs")]
mod cipher;
mod common;
mod control;
mod cookie;
mod guard;
mod handshake;
mod key;
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

pub use control::Control;
pub use guard::{Noise, NoiseError};
pub use keyfile::{KeyFileError, ListedPeer, parse_peers, read_peers};
pub use keys::{KeyError, PrivateKey, PublicKey, Secret};
pub use peers::Peers;
pub use replay::Replay;
pub use stats::{NoiseStats, Stats};
pub use suite::Suite;
