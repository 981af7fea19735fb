//! The tests of the protocol in one program, which is linked much faster than one program for each file.

mod any_network;
mod extreme;
mod foreign;
mod interleaving;
mod interop;
mod loopback;
mod machine;
mod partial_reliability;
mod peers;
mod standard;
