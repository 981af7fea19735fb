//! Inner packets: what flow they belong to, and what the tunnel changes in them. They come from outside:
//! nothing in them is believed before its length is checked.

mod header;
mod rewrite;

#[cfg(test)]
pub(crate) use header::tests;
pub(crate) use header::{Inner, TCP, UDP, inspect};
pub(crate) use rewrite::{clamp_mss, mark_congestion};
