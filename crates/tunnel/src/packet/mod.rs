//! Inner packets: the flow of each packet, and changes by the tunnel. They are not trusted: all lengths are
//! checked.

mod header;
mod rewrite;

#[cfg(test)]
pub(crate) use header::tests;
pub(crate) use header::{Inner, TCP, UDP, addresses, inspect};
pub(crate) use rewrite::{clamp_mss, mark_congestion};
