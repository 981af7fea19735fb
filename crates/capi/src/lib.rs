//! The protocol as a C library, sans-IO: packets and the time go in, packets and events come out.
//!
//! The header `include/anabranch/anabranch.h` is the documentation of these functions for their callers. The
//! files here turn each call into one of [`sctp::Endpoint`]:
//!
//! - `calls` has the functions. They check pointers (`memory`) and enter the endpoint (`handle`), which
//!   admits one caller at a time and catches panics.
//! - `inner` does the work without a pointer: `options` and `verbs` for what has a name, `events` for events.
//!
//! Unsafe code is in `calls`, `handle` and `memory`; `types` promises that its structs may have any bytes.
#![deny(unsafe_op_in_unsafe_fn)]
#![warn(clippy::undocumented_unsafe_blocks)]

#[cfg(not(panic = "unwind"))]
compile_error!("a panic must not end the program of the caller: build with panic = \"unwind\"");

mod calls;

mod events;
mod fault;
mod handle;
mod inner;
mod memory;
mod options;
mod types;
mod verbs;

pub use calls::*;
pub use handle::anb_ep;
pub use types::*;
