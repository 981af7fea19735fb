//! A library for `LD_PRELOAD` that gives an unmodified program SCTP sockets, which a host process runs.
//!
//! An SCTP socket of the program is one end of a pair (crate `records`), so that `poll`, `select`, `epoll`,
//! `fork` and `exec` work as they do for any descriptor. No function here allocates, starts a thread or holds
//! a lock while it waits.
#![allow(clippy::missing_safety_doc, reason = "the functions are those of the C library")]
#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]

mod connect;
mod control;
mod descriptors;
mod host;
mod message;
mod options;
mod peel;
mod real;
mod receive;
mod send;
mod start;
mod table;
mod vectors;
