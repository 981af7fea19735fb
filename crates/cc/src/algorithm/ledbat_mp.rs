//! LEDBAT-MP: uncoupled LEDBAT on each path, with the shorter base delay history of its paper.
//!
//! Source: Adhari, Werner, Dreibholz, Rathgeb, "LEDBAT-MP – On the Application of Lower-than-Best-Effort for
//! Concurrent Multipath Transfer", AINA workshops 2014, §II:
//!
//! ```text
//! base       b_P = the least delay of path P in the last 6 minutes
//! queue      q_P = the least of the latest delays of path P - b_P
//! window     c_P = c_P + GAIN (1 - q_P/T) a M/c_P
//! ```
//!
//! The other symbols and options, bounds and losses are those of [`ledbat`](super::ledbat).
//!
//! The paper shows two faults on a shared bottleneck. A subflow whose measured base delay is a few
//! milliseconds too long keeps a longer queue than the other subflow and starves it. And once the minute with
//! the empty queue has left the history, the queue itself counts as base delay, and the target is added once
//! more. [`mpplus`](super::mpplus) repairs both.

use crate::{CongestionControl, LedbatKnobs, Setup};
use transport::options;

options! {
    /// Options of [`Algorithm::LedbatMp`](crate::Algorithm::LedbatMp) beside those of `ledbat`.
    #[derive(Copy)]
    pub struct LedbatMpKnobs in "ledbat_mp" {
        /// Minutes of the base delay history, the current one included: the paper has 6.
        base_history: u32 = 6, "at least 1, at most 1000" if |n| (1..=1000).contains(&n);
    }
}

pub(super) fn build(
    setup: &Setup,
    common: LedbatKnobs,
    LedbatMpKnobs { base_history }: LedbatMpKnobs,
) -> Box<dyn CongestionControl> {
    super::ledbat::with("ledbat-mp", setup, LedbatKnobs { base_history, ..common })
}
