//! Random numbers of an association.

use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

/// A random number generator. Its state is large and most associations need no random number, so the
/// state is created when the first number is needed.
#[derive(Debug)]
pub(crate) struct Draws {
    seed: u64,
    generator: Option<Box<ChaCha8Rng>>,
}

impl Draws {
    pub(crate) fn new(seed: u64) -> Self {
        Draws { seed, generator: None }
    }

    /// Returns the next random number.
    pub(crate) fn number(&mut self) -> u64 {
        self.generator.get_or_insert_with(|| Box::new(ChaCha8Rng::seed_from_u64(self.seed))).next_u64()
    }
}
