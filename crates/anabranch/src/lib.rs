#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub use bytes::Bytes;
pub use sctp::*;
pub use transport::{Checksum, Ecn, Octets, PacketBuf};
pub use units::{BitRate, ByteCount, Instant, Span};
pub use wire::{Ppid, Ssn, StreamId, Tsn};

/// Congestion controls: the values of [`Config::congestion_control`], and the parts of a custom control.
pub use cc;

/// TCP with the same interface, as simulations use it beside SCTP.
#[cfg(feature = "tcp")]
pub use tcp;
