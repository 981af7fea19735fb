#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub use bytes::Bytes;
pub use sctp::*;
pub use transport::{Checksum, Ecn, Octets, PacketBuf};
pub use units::{BitRate, ByteCount, Instant, Span};
pub use wire::{Ppid, Ssn, StreamId, Tsn};

/// Congestion controls: what [`Config::congestion_control`] takes, and the parts to build one's own from.
pub use cc;

/// TCP with the same interface, as simulations put it beside SCTP.
#[cfg(feature = "tcp")]
pub use tcp;
