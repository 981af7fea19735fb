//! Records between an SCTP program and its host process, which runs the SCTP stack.
//!
//! Each SCTP socket of a program is one end of a *pair*: an `AF_UNIX` connection of type `SOCK_SEQPACKET`. A
//! record of a pair is a [`Header`] followed by data. A record of the host process may contain several
//! messages, each with its header ([`flags::MORE`]). Calls that carry no data (bind, connect, socket options)
//! are [`Request`]s, each on a connection of its own. The host process answers each request once.
//!
//! Both ends are on one host, so that numbers have the byte order of that host.
#![forbid(unsafe_code)]

mod control;
mod header;
pub mod notification;
pub mod number;

pub use control::{Answer, Op, Request};
pub use header::{Header, Kind, flags};

/// The environment variable with the path at which the host process (with the SCTP stack) listens.
pub const SOCKET_VARIABLE: &str = "ANABRANCH_SOCKET";

/// Largest number of user bytes in a record that a program writes. Longer messages are several records.
pub const MAX_DATA: usize = 131_072;

/// Largest number of user bytes in a record that the host process writes.
pub const MAX_DELIVERED: usize = 65_536;

/// Size in bytes that both ends of a socket's `AF_UNIX` connection request for their send buffer.
pub const PAIR_BUFFER: usize = 262_144;

/// Flags of a socket that the library in the program must know, for example to make control messages.
pub mod switches {
    /// `SCTP_EVENTS`, data_io: a received message has `SCTP_SNDRCV`.
    pub const SNDRCV: u16 = 1;
    /// `SCTP_RECVRCVINFO`: a received message has `SCTP_RCVINFO`.
    pub const RCVINFO: u16 = 2;
    /// `SCTP_RECVNXTINFO`: a received message has `SCTP_NXTINFO`, if the next message has arrived.
    pub const NXTINFO: u16 = 4;
    /// The socket is of style one-to-many.
    pub const MANY: u16 = 8;
    /// The program gets IPv4 addresses as IPv4-mapped IPv6 addresses.
    pub const MAPPED: u16 = 16;
    /// The socket listens.
    pub const LISTENS: u16 = 32;
    /// `SO_LINGER` with a time: close waits for the end of the associations.
    pub const LINGERS: u16 = 64;
    /// The library must ask the host process about each message, for example for `SCTP_DISABLE_FRAGMENTS`.
    pub const CHECKED: u16 = 128;
    /// The one-to-one socket has or had an association: it can send and receive.
    pub const ASSOCIATED: u16 = 256;
}

pub(crate) fn array<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}
