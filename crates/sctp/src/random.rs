use rand_chacha::ChaCha8Rng;
use rand_core::{RngCore, SeedableRng};

/// The source of all random numbers of an endpoint: tags, TSNs, nonces, heartbeat jitter and cookie secret.
///
/// On a network use [`Seed::from_system`], once for each endpoint: anybody who knows the seed knows the
/// verification tags and can forge cookies. With [`Seed::for_simulation`] an endpoint sends the same bytes in
/// each run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Seed([u8; 32]);

impl Seed {
    /// Reads 32 bytes from the random number generator of the operating system.
    ///
    /// # Errors
    /// [`SeedError`] if the operating system gives no random bytes.
    #[cfg(feature = "system-seed")]
    pub fn from_system() -> Result<Seed, SeedError> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|_| SeedError)?;
        Ok(Seed(bytes))
    }

    /// A predictable seed, for simulations and tests only.
    pub fn for_simulation(number: u64) -> Seed {
        let mut random = ChaCha8Rng::seed_from_u64(number);
        let mut bytes = [0; 32];
        random.fill_bytes(&mut bytes);
        Seed(bytes)
    }
}

/// The operating system gave no random bytes.
#[cfg(feature = "system-seed")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the operating system gives no random bytes")]
pub struct SeedError;

/// Makes a seed from 32 random bytes, which must be secret.
impl From<[u8; 32]> for Seed {
    fn from(bytes: [u8; 32]) -> Self {
        Seed(bytes)
    }
}

impl std::fmt::Debug for Seed {
    /// Prints no byte of the seed, because anybody who knows the seed can forge cookies.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seed")
    }
}

/// A random number generator, stored as its seed and its position. Every association has a generator
/// but rarely uses it, so its size matters more than its speed.
#[derive(Clone, Debug)]
pub(crate) struct Random {
    seed: Seed,
    /// Number of 32-bit words of the random stream that are used already.
    drawn: u64,
}

impl Random {
    pub(crate) fn new(seed: Seed) -> Self {
        Random { seed, drawn: 0 }
    }

    /// Makes an independent generator, so that the random numbers of one association do not depend on
    /// how many another one uses.
    pub(crate) fn fork(&mut self) -> Self {
        Random::new(Seed(self.bytes()))
    }

    fn draw<T>(&mut self, from: impl FnOnce(&mut ChaCha8Rng) -> T) -> T {
        let mut stream = ChaCha8Rng::from_seed(self.seed.0);
        stream.set_word_pos(self.drawn.into());
        let drawn = from(&mut stream);
        self.drawn = stream.get_word_pos() as u64;
        drawn
    }

    pub(crate) fn bytes(&mut self) -> [u8; 32] {
        let mut bytes = [0; 32];
        self.draw(|stream| stream.fill_bytes(&mut bytes));
        bytes
    }

    pub(crate) fn number(&mut self) -> u64 {
        self.draw(ChaCha8Rng::next_u64)
    }

    pub(crate) fn tsn(&mut self) -> wire::Tsn {
        wire::Tsn(self.draw(ChaCha8Rng::next_u32))
    }

    /// Returns a random verification tag: any number except zero (`rfc9260#section-5.3.1`).
    pub(crate) fn tag(&mut self) -> u32 {
        loop {
            let tag = self.draw(ChaCha8Rng::next_u32);
            if tag != 0 {
                return tag;
            }
        }
    }

    /// Returns a random number from 0, inclusive, to 1, exclusive.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.number() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(all(test, feature = "system-seed"))]
mod tests {
    use super::*;

    #[test]
    fn two_seeds_from_the_system_differ() {
        assert!(Seed::from_system().unwrap() != Seed::from_system().unwrap());
    }
}
