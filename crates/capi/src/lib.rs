//! The protocol as a C library: sans-IO, or as SCTP sockets.
//!
//! The header `include/anabranch/anabranch.h` is the documentation of these functions for their callers. The
//! files here turn each call into one of [`sctp::Endpoint`]:
//!
//! - `calls` has the functions. They check pointers (`memory`) and enter the endpoint (`handle`), which
//!   admits one caller at a time and catches panics.
//! - `inner` does the work without pointers; `options` sets options by name, `verbs` performs requests by
//!   name, and `events` converts events.
//!
//! On Linux there are SCTP sockets, too (`include/anabranch/sockets.h`): `sockets` has the functions of crate
//! `client` under names of their own, and `host` runs the stack in a thread.
//!
//! Unsafe code is in `calls`, `handle`, `host`, `memory` and `sockets`; `types` promises that its structs may
//! have any bytes.
#![deny(unsafe_op_in_unsafe_fn)]
#![warn(clippy::undocumented_unsafe_blocks)]

#[cfg(not(panic = "unwind"))]
compile_error!("a panic must not end the program of the caller: build with panic = \"unwind\"");

mod calls;

mod events;
mod fault;
mod handle;
#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
mod host;
mod inner;
mod memory;
mod options;
#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
mod sockets;
mod types;
mod verbs;

pub use calls::*;
pub use handle::anb_ep;
#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
pub use host::*;
#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
pub use sockets::*;
pub use types::*;
