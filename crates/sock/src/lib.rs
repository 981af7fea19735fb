//! The host process of SCTP sockets: runs the stack for programs on the same host.
//!
//! Each socket of a program is one end of an `AF_UNIX` connection, a pair; the other end is here. Usually,
//! the library `anabranch-preload` uses the program's end. Requests such as bind come on connections of
//! their own (crate `records`). One thread serves all programs of a user: [`Server`] is a loop around
//! [`io::Host`].
#![forbid(unsafe_code)]
#![cfg(target_os = "linux")]
#![allow(clippy::disallowed_types, reason = "sockets work in real time")]

mod address;
mod associations;
mod binding;
mod check;
mod control;
mod data;
mod ended;
mod events;
mod fields;
mod folder;
mod general;
mod local;
mod notifications;
mod options;
mod pair;
mod peel;
mod port;
mod report;
mod requests;
mod rounds;
mod sctp_options;
mod server;
mod socket;
mod statistics;
mod users;

pub use folder::private_path;
pub use local::LocalServer;
pub use report::status;
pub use rounds::Rounds;
pub use server::{Server, ServerError, ServerOptions, Stopper};
