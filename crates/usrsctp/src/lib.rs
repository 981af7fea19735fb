//! The functions of libusrsctp (ABI 2) over this stack: a program that is linked with that library uses this
//! one if the loader finds it first.
//!
//! A socket of libusrsctp is an SCTP socket of crate `client`, whose stack runs in a thread of this process
//! (`stack`). The numbers and structs are those of FreeBSD, so `numbers`, `options` and `events` translate
//! them to those of Linux, which `client` and `sock` have. Addresses of family `AF_CONN` are links of the
//! stack (`link`): the program carries their packets. `callbacks` calls the program when a socket is ready.
#![allow(clippy::missing_safety_doc, reason = "the functions are those of libusrsctp")]
#![allow(missing_docs, reason = "the functions are those of libusrsctp")]
#![allow(clippy::disallowed_types, reason = "sockets work in real time")]
#![deny(unsafe_op_in_unsafe_fn)]
#![warn(clippy::undocumented_unsafe_blocks)]
#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]

mod addresses;
mod callbacks;
mod calls;
mod events;
mod link;
mod memory;
mod messages;
mod numbers;
mod options;
mod packets;
mod receive;
mod settle;
mod stack;
mod structs;
mod table;
mod tuning;
