use crate::{Digest, Random};

/// The random streams of a run: each component takes its random numbers from the stream of its name.
///
/// A stream depends only on the root seed, the replica and the name. So another component,
/// or another order of creation, does not change the random numbers of existing components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Streams {
    seed: u64,
    replica: u32,
}

impl Streams {
    /// The streams of one replica of an experiment.
    pub fn new(seed: u64, replica: u32) -> Self {
        Streams { seed, replica }
    }

    /// The stream of the component `name`. Each call returns the stream from its beginning.
    pub fn stream(&self, name: &str) -> Random {
        let word = |salt: u64| {
            let mut digest = Digest::new();
            digest.word(salt);
            digest.word(self.seed);
            digest.word(u64::from(self.replica));
            digest.bytes(name.as_bytes());
            u128::from(digest.value())
        };
        Random::new(word(1) << 64 | word(2), word(3) << 64 | word(4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draws(seed: u64, replica: u32, name: &str) -> [u64; 4] {
        let mut random = Streams::new(seed, replica).stream(name);
        std::array::from_fn(|_| random.word())
    }

    #[test]
    fn seed_replica_and_name_each_make_another_stream() {
        let base = draws(1, 0, "host client");
        assert_eq!(base, draws(1, 0, "host client"));
        for other in [draws(2, 0, "host client"), draws(1, 1, "host client"), draws(1, 0, "host server")] {
            assert!(base.iter().all(|word| !other.contains(word)));
        }
    }

    #[test]
    fn neighbouring_streams_are_not_correlated() {
        // Mean product of centred uniforms over 100 pairs of streams: standard deviation 1/12/sqrt(n).
        let (mut sum, n) = (0.0, 100 * 200);
        for replica in 0..100 {
            let mut a = Streams::new(7, replica).stream("link a>b");
            let mut b = Streams::new(7, replica + 1).stream("link a>b");
            sum += (0..200).map(|_| (a.uniform() - 0.5) * (b.uniform() - 0.5)).sum::<f64>();
        }
        let mean: f64 = sum / f64::from(n);
        assert!(mean.abs() < 4.0 / 12.0 / f64::from(n).sqrt(), "{mean}");
    }
}
