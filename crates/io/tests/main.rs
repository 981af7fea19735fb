//! The tests that share a program, which is linked much faster than one program for each file.

mod addresses;
mod cancel;
mod common;
mod guard;
mod insider;
mod loopback;
mod promises;
mod relay;
mod responder;
mod resume;
mod streams;
