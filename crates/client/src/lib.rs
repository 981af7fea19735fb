//! The socket calls of the C library, for SCTP sockets whose stack runs in another process: the host process.
//!
//! An SCTP socket of the program is one end of an `AF_UNIX` connection to the host process: a pair (crate
//! `records`). So `poll`, `select`, `epoll`, `fork` and `exec` work as they do for any descriptor. With
//! descriptors of other kinds, the calls do what the C library does. No call allocates or starts a thread. A
//! call that waits holds no lock, except one that sends a message in pieces.
#![allow(clippy::missing_safety_doc, reason = "the functions are those of the C library")]
#![allow(missing_docs, reason = "the functions are those of the C library")]
#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]

mod calls;
mod connect;
mod control;
mod descriptors;
mod host;
mod message;
mod options;
mod peel;
mod real;
mod receive;
mod rfc6458;
mod send;
mod start;
mod table;
mod vectors;

pub use connect::{accept, accept4, bind, connect, listen, socket};
pub use descriptors::{close, close_range, closefrom, dup, dup2, dup3, fcntl, fcntl64, ioctl, shutdown};
pub use host::attach;
pub use options::{getpeername, getsockname, getsockopt, setsockopt};
pub use receive::{__read_chk, __recv_chk, __recvfrom_chk, read, readv, recv, recvfrom, recvmmsg, recvmsg};
pub use rfc6458::{bindx, connectx, freeaddrs, getladdrs, getpaddrs, peeloff, recvv, sendv};
pub use send::{send, sendfile, sendfile64, sendmmsg, sendmsg, sendto, write, writev};
pub use start::adopt_inherited;
