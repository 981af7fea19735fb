//! Logs of SCTP associations in the format qlog (draft-ietf-quic-qlog-main-schema): one file for each
//! association and side, with its packets, losses, windows and round-trip times.
//!
//! A file is a JSON text sequence (`rfc7464`): each record is the byte 0x1E, an object and a line feed.
//! `docs/qlog.md` describes the events. Files grow until their association ends; a [`Folder`] sets no limit.
//! A file that cannot be written ends, with one warning, and the transfer goes on.
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_types, reason = "logs of real runs say when they began")]

mod folder;
mod json;
mod log;
mod packet;
mod sink;

pub use folder::Folder;
pub use log::Marker;
