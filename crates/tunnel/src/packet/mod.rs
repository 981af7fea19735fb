//! The packets inside the tunnel: reads and changes their headers. They are not
//! trusted: all lengths are checked.

mod header;
mod rewrite;

#[cfg(test)]
pub(crate) use header::tests;
pub(crate) use header::{Inner, TCP, UDP, addresses, inspect};
pub(crate) use rewrite::{clamp_mss, mark_congestion};
