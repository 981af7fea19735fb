//! Random numbers of an association.

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

/// A random number generator. Its state is large and most associations draw no number from it, so the first
/// draw creates the state.
#[derive(Debug)]
pub(crate) struct Draws {
    seed: u64,
    generator: Option<Box<ChaCha8Rng>>,
}

impl Draws {
    pub(crate) fn new(seed: u64) -> Self {
        Draws { seed, generator: None }
    }

    /// Draws the next number.
    pub(crate) fn number(&mut self) -> u64 {
        self.generator.get_or_insert_with(|| Box::new(ChaCha8Rng::seed_from_u64(self.seed))).next_u64()
    }
}
