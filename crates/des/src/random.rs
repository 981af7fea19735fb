use rand_pcg::Pcg64;
use rand_pcg::rand_core::Rng;
use units::{Probability, Span};

/// A stream of random numbers (PCG XSL-RR 128/64).
///
/// The distributions are written here, and logarithms and roots come from `libm`,
/// so that a stream gives the same numbers on each machine and after each upgrade.
#[derive(Clone, Debug)]
pub struct Random {
    generator: Pcg64,
}

impl Random {
    /// A generator with this state and sequence. Components get their generators from [`crate::Streams`].
    pub fn new(state: u128, sequence: u128) -> Self {
        Random { generator: Pcg64::new(state, sequence) }
    }

    /// Draws 64 random bits.
    #[inline]
    pub fn word(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// Draws a uniform number in [0, 1), a multiple of 2^-53.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.word() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Draws a uniform integer in 0..`bound`, without bias (Lemire, "Fast Random Integer Generation in an
    /// Interval", 2019); 0 for an empty range.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        let mut product = u128::from(self.word()) * u128::from(bound);
        if (product as u64) < bound {
            product = self.fair_product(product, bound);
        }
        (product >> 64) as u64
    }

    /// Returns `product` if it causes no bias, otherwise the first unbiased product of further draws.
    #[cold]
    fn fair_product(&mut self, mut product: u128, bound: u64) -> u128 {
        let unfair = bound.wrapping_neg() % bound;
        while (product as u64) < unfair {
            product = u128::from(self.word()) * u128::from(bound);
        }
        product
    }

    /// Draws a uniform span from `low` to `high`, both included. Returns `low` if `high` is not larger.
    #[inline]
    pub fn uniform_span(&mut self, low: Span, high: Span) -> Span {
        match high.saturating_sub(low).as_nanos().checked_add(1) {
            Some(values) => low + Span::from_nanos(self.below(values)),
            None => Span::from_nanos(self.word()),
        }
    }

    /// Draws a uniform number in [`low`, `high`).
    pub fn uniform_in(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Draws from the exponential distribution with the given mean.
    pub fn exponential(&mut self, mean: f64) -> f64 {
        -mean * libm::log1p(-self.uniform())
    }

    /// Draws from the Pareto distribution with the given mean and `shape`, which must be above 1.
    ///
    /// The least value is mean * (shape - 1) / shape, and P(X > x) = (least / x)^shape. With a shape of at
    /// most 2 the variance is infinite.
    pub fn pareto(&mut self, mean: f64, shape: f64) -> f64 {
        let least = mean * (shape - 1.0) / shape;
        least * libm::exp(-libm::log1p(-self.uniform()) / shape)
    }

    /// Draws from the normal (Gaussian) distribution by Marsaglia's polar method.
    pub fn normal(&mut self, mean: f64, deviation: f64) -> f64 {
        loop {
            let (u, v) = (self.uniform_in(-1.0, 1.0), self.uniform_in(-1.0, 1.0));
            let square = u * u + v * v;
            if square > 0.0 && square < 1.0 {
                return mean + deviation * u * libm::sqrt(-2.0 * libm::log(square) / square);
            }
        }
    }

    /// Returns true with probability `p`. Probabilities 0 and 1 take no number from the stream.
    #[inline]
    pub fn bernoulli(&mut self, p: Probability) -> bool {
        !p.is_zero() && self.draw(p)
    }

    #[inline(never)] // not inlined: most probabilities are 0
    fn draw(&mut self, p: Probability) -> bool {
        p == Probability::ONE || self.uniform() < p.get()
    }

    /// Draws the number of failures before the first success, if each trial succeeds with probability `p`.
    ///
    /// One draw gives the gap to the next rare event. Returns `u64::MAX` for probability 0.
    pub fn geometric(&mut self, p: Probability) -> u64 {
        if p.is_zero() {
            return u64::MAX;
        }
        // P(gap >= n) = (1-p)^n, inverted; the cast saturates, and ln(0) for p = 1 gives a gap of zero.
        (libm::log1p(-self.uniform()) / libm::log1p(-p.get())) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Streams;

    fn random() -> Random {
        Streams::new(42, 0).stream("test")
    }

    /// Mean and variance of `n` draws.
    fn moments(n: u32, mut draw: impl FnMut() -> f64) -> (f64, f64) {
        let draws: Vec<f64> = (0..n).map(|_| draw()).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        (mean, draws.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / f64::from(n))
    }

    fn near(value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() < tolerance, "{value} is not {expected} within {tolerance}");
    }

    #[test]
    fn draws_are_the_same_on_every_machine() {
        let mut random = random();
        assert_eq!(random.word(), 16_794_612_655_601_568_085);
        assert_eq!(random.exponential(1.0).to_bits(), 0x4001_5f8e_cce1_f26e);
        assert_eq!(random.normal(0.0, 1.0).to_bits(), 0x3ff7_3975_3acd_b30f);
    }

    // Tolerances below are at least four standard errors of the estimate.

    #[test]
    fn uniform_has_mean_a_half_and_variance_a_twelfth() {
        let mut random = random();
        let (mean, variance) = moments(100_000, || random.uniform());
        near(mean, 0.5, 0.004);
        near(variance, 1.0 / 12.0, 0.001);
    }

    #[test]
    fn exponential_has_its_mean_and_the_square_of_it_as_variance() {
        let mut random = random();
        let (mean, variance) = moments(100_000, || random.exponential(3.0));
        near(mean, 3.0, 0.04);
        near(variance, 9.0, 0.35);
    }

    #[test]
    fn normal_has_its_moments_and_tails() {
        let mut random = random();
        let (mean, variance) = moments(100_000, || random.normal(5.0, 2.0));
        near(mean, 5.0, 0.03);
        near(variance, 4.0, 0.08);
        let beyond = (0..100_000).filter(|_| random.normal(0.0, 1.0).abs() > 1.96).count();
        near(beyond as f64 / 1e5, 0.05, 0.003);
    }

    #[test]
    fn pareto_has_its_least_value_mean_and_tail() {
        // With shape 3 and mean 3: minimum 2, variance 3, and one draw in 27 is above 6.
        let mut random = random();
        let draws: Vec<f64> = (0..100_000).map(|_| random.pareto(3.0, 3.0)).collect();
        near(draws.iter().sum::<f64>() / 1e5, 3.0, 0.03);
        assert!(draws.iter().all(|&x| x >= 2.0));
        near(draws.iter().filter(|&&x| x > 6.0).count() as f64 / 1e5, 1.0 / 27.0, 0.003);
    }

    #[test]
    fn below_hits_every_value_equally_and_only_those() {
        let mut random = random();
        let mut counts = [0; 6];
        for _ in 0..60_000 {
            counts[random.below(6) as usize] += 1;
        }
        for count in counts {
            near(f64::from(count), 10_000.0, 400.0);
        }
        assert_eq!(random.below(1), 0);
        assert_eq!(random.below(0), 0);
    }

    #[test]
    fn a_span_lies_between_both_ends_and_reaches_them() {
        let mut random = random();
        let (low, high) = (Span::from_nanos(3), Span::from_nanos(5));
        let seen: Vec<u64> = (0..200).map(|_| random.uniform_span(low, high).as_nanos()).collect();
        assert_eq!((seen.iter().min(), seen.iter().max()), (Some(&3), Some(&5)));
        assert_eq!(random.uniform_span(high, low), high);
        random.uniform_span(Span::ZERO, Span::MAX);
    }

    #[test]
    fn geometric_has_the_mean_number_of_failures() {
        let mut random = random();
        let p = Probability::new(0.01).unwrap();
        let (mean, _) = moments(100_000, || random.geometric(p) as f64);
        near(mean, 99.0, 1.3);
        assert_eq!(random.geometric(Probability::ZERO), u64::MAX);
        assert_eq!(random.geometric(Probability::ONE), 0);
    }

    #[test]
    fn probabilities_0_and_1_take_no_draw() {
        let (mut a, mut b) = (random(), random());
        assert!(!a.bernoulli(Probability::ZERO) && a.bernoulli(Probability::ONE));
        assert_eq!(a.word(), b.word());
        let hits = (0..100_000).filter(|_| a.bernoulli(Probability::new(0.25).unwrap())).count();
        near(hits as f64, 25_000.0, 550.0);
    }
}
