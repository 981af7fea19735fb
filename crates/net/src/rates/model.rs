use super::Varying;
use crate::fault::SpecFault;
use des::Random;
use std::marker::PhantomData;
use transport::named;
use units::{BitRate, Span};

/// A random rate or delay with given statistics.
///
/// Its changes resemble those of real links, but are not fitted to a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model<V> {
    /// How the value changes.
    pub kind: RateModelKind,
    /// Mean over time.
    pub mean: V,
    /// Coefficient of variation: standard deviation divided by mean.
    pub cv: f64,
    /// Time for which the value stays similar: see [`RateModelKind`].
    pub time_scale: Span,
}

/// A random rate.
pub type RateModel = Model<BitRate>;

named! {
    /// How a random rate or delay changes.
    "model" RateModelKind {
        /// Like a cellular link: log-normal values of an autoregressive process, which changes the value
        /// every hundredth of the time scale. After the time scale the autocorrelation is 1/e. Defaults: a
        /// coefficient of variation of 0.5, a time scale of 1 s.
        Lte = "lte",
        /// Like a wireless network whose stations share the time on the air: the value jumps between
        /// eight levels, k/8 of the highest value for k from 1 to 8. Intervals between jumps are
        /// exponentially distributed. The time scale is the mean interval, after which the
        /// autocorrelation is 1/e. Defaults: a coefficient of variation of 0.3, a time scale of 100 ms.
        Wifi = "wifi",
        /// Like a link over satellites in a low orbit: constant in each slot, with uniformly
        /// distributed values. A rate is zero in the first 200th of each slot. The time scale is the
        /// length of a slot; apart from the pauses the autocorrelation falls linearly and is 0 from the
        /// length of a slot on. Defaults: a coefficient of variation of 0.25, a time scale of 15 s.
        Satellite = "satellite",
    }
}

impl<V: Varying> Model<V> {
    /// A model with the default statistics of its kind.
    pub fn new(kind: RateModelKind, mean: V) -> Self {
        let (cv, time_scale) = match kind {
            RateModelKind::Lte => (0.5, Span::from_secs(1)),
            RateModelKind::Wifi => (0.3, Span::from_millis(100)),
            RateModelKind::Satellite => (0.25, Span::from_secs(15)),
        };
        Model { kind, mean, cv, time_scale }
    }

    /// The smallest value that the model can draw.
    pub fn least(&self) -> V {
        let share = match self.kind {
            RateModelKind::Lte => 0.0,
            RateModelKind::Wifi => Jumps::new(self).highest / LEVELS as f64,
            RateModelKind::Satellite if V::ZERO_IS_A_PAUSE => 0.0,
            RateModelKind::Satellite => Slots::new(self).low,
        };
        V::from_smallest(share as u64)
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`SpecFault`] names the first parameter that is wrong.
    pub fn check(&self) -> Result<(), SpecFault> {
        let (range, expected) = match self.kind {
            RateModelKind::Lte => (0.05..=2.0, "a number from 0.05 to 2"),
            RateModelKind::Wifi => (0.05..=0.5, "a number from 0.05 to 0.5"),
            RateModelKind::Satellite => (0.1..=0.5, "a number from 0.1 to 0.5"),
        };
        SpecFault::first([
            (self.mean.to_smallest() > 0, "mean", V::ABOVE_ZERO),
            (range.contains(&self.cv), "cv", expected),
            (self.time_scale >= Span::from_millis(1), "time_scale", "at least 1 ms"),
        ])
    }
}

/// Number of steps of [`RateModelKind::Lte`] in a time scale.
const STEPS: u64 = 100;
/// Number of levels of [`RateModelKind::Wifi`].
const LEVELS: usize = 8;
/// Length of a slot of [`RateModelKind::Satellite`] divided by that of a pause.
const PAUSES: u64 = 200;

/// Draws the values of a model, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Generator<V> {
    shape: Shape,
    random: Random,
    of: PhantomData<V>,
}

#[derive(Clone, Debug)]
enum Shape {
    Swings(Swings),
    Jumps(Jumps),
    Slots(Slots),
}

impl<V: Varying> Generator<V> {
    pub fn new(model: &Model<V>, mut random: Random) -> Self {
        let shape = match model.kind {
            RateModelKind::Lte => Shape::Swings(Swings::new(model, &mut random)),
            RateModelKind::Wifi => Shape::Jumps(Jumps::new(model)),
            RateModelKind::Satellite => Shape::Slots(Slots::new(model)),
        };
        Generator { shape, random, of: PhantomData }
    }

    /// Draws the next value, and the time for which it lasts.
    pub fn next(&mut self) -> (Span, V) {
        let (lasts, value) = match &mut self.shape {
            Shape::Swings(swings) => swings.next(&mut self.random),
            Shape::Jumps(jumps) => jumps.next(&mut self.random),
            Shape::Slots(slots) => slots.next(&mut self.random),
        };
        (lasts.max(Span::from_nanos(1)), V::from_smallest((value + 0.5) as u64))
    }
}

/// exp(log_mean + sigma X), where X is an autoregressive process with a standard normal distribution.
#[derive(Clone, Debug)]
struct Swings {
    log_mean: f64,
    sigma: f64,
    step: Span,
    /// Correlation of X with its value in the previous step.
    keep: f64,
    x: f64,
}

impl Swings {
    fn new<V: Varying>(model: &Model<V>, random: &mut Random) -> Self {
        let square = model.cv * model.cv;
        // Variance of the logarithm of a log-normal variable with this coefficient of variation.
        let variance = libm::log1p(square);
        // The autocorrelation of the value is 1/e where that of X is ln(1 + cv^2 / e) / sigma^2.
        let log_keep = libm::log(libm::log1p(square / std::f64::consts::E) / variance);
        Swings {
            log_mean: libm::log(model.mean.to_smallest() as f64) - variance / 2.0,
            sigma: libm::sqrt(variance),
            step: model.time_scale / STEPS,
            keep: libm::exp(log_keep / STEPS as f64),
            x: random.normal(0.0, 1.0),
        }
    }

    fn next(&mut self, random: &mut Random) -> (Span, f64) {
        let rate = libm::exp(self.log_mean + self.sigma * self.x);
        self.x = self.keep * self.x + libm::sqrt(1.0 - self.keep * self.keep) * random.normal(0.0, 1.0);
        (self.step, rate)
    }
}

/// Levels of k/8 of the highest value, k = 1 to 8, with probabilities in proportion to tilt^k.
#[derive(Clone, Debug)]
struct Jumps {
    highest: f64,
    tilt: f64,
    mean_time: f64,
}

impl Jumps {
    fn new<V: Varying>(model: &Model<V>) -> Self {
        // With equal probabilities (tilt 1) the coefficient of variation is 0.509. A larger tilt lowers it.
        let (mut low, mut high) = (1.0, 64.0);
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            if Self::statistics(middle).1 > model.cv { low = middle } else { high = middle }
        }
        Jumps {
            highest: model.mean.to_smallest() as f64 / Self::statistics(low).0,
            tilt: low,
            mean_time: model.time_scale.as_nanos() as f64,
        }
    }

    /// The levels as fractions of the highest value, each with its probability.
    fn levels(tilt: f64) -> [(f64, f64); LEVELS] {
        let mut levels = [(0.0, 0.0); LEVELS];
        let (mut weight, mut sum) = (1.0, 0.0);
        for (k, level) in (1..).zip(&mut levels) {
            *level = (f64::from(k) / LEVELS as f64, weight);
            sum += weight;
            weight *= tilt;
        }
        levels.iter_mut().for_each(|level| level.1 /= sum);
        levels
    }

    /// Mean and coefficient of variation of the levels.
    fn statistics(tilt: f64) -> (f64, f64) {
        let levels = Self::levels(tilt);
        let mean: f64 = levels.iter().map(|(level, p)| level * p).sum();
        let square: f64 = levels.iter().map(|(level, p)| level * level * p).sum();
        (mean, libm::sqrt(square - mean * mean) / mean)
    }

    fn next(&mut self, random: &mut Random) -> (Span, f64) {
        let lasts = Span::from_nanos(random.exponential(self.mean_time) as u64);
        let mut chance = random.uniform();
        let levels = Self::levels(self.tilt);
        let chosen = levels.iter().find(|(_, p)| {
            chance -= p;
            chance < 0.0
        });
        (lasts, self.highest * chosen.map_or(1.0, |(level, _)| *level))
    }
}

/// Slots with uniformly distributed values between `low` and `high`. Each slot of a rate begins with a pause.
#[derive(Clone, Debug)]
struct Slots {
    low: f64,
    high: f64,
    slot: Span,
    pause: Span,
    /// The part of the current slot that is over; `None` before the first slot.
    passed: Option<Span>,
}

impl Slots {
    fn new<V: Varying>(model: &Model<V>) -> Self {
        // The pauses lower the mean and raise the variance. The values between pauses compensate for both.
        let without = if V::ZERO_IS_A_PAUSE { 1.0 - 1.0 / PAUSES as f64 } else { 1.0 };
        let mean = model.mean.to_smallest() as f64 / without;
        let cv = libm::sqrt((1.0 + model.cv * model.cv) * without - 1.0);
        let half_width = libm::sqrt(3.0) * cv;
        Slots {
            low: mean * (1.0 - half_width),
            high: mean * (1.0 + half_width),
            slot: model.time_scale,
            pause: if V::ZERO_IS_A_PAUSE { model.time_scale / PAUSES } else { Span::ZERO },
            passed: None,
        }
    }

    fn next(&mut self, random: &mut Random) -> (Span, f64) {
        let pause = self.pause;
        match self.passed {
            // The first slot began at a random time before the run.
            None => self.passed = Some(random.uniform_span(pause, self.slot)),
            Some(passed) if passed >= self.slot => {
                self.passed = Some(pause);
                if !pause.is_zero() {
                    return (pause, 0.0);
                }
            }
            Some(_) => {}
        }
        let rest = self.slot - self.passed.unwrap_or_default();
        self.passed = Some(self.slot);
        (rest, random.uniform_in(self.low, self.high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use des::Streams;

    const KINDS: [RateModelKind; 3] = [RateModelKind::Lte, RateModelKind::Wifi, RateModelKind::Satellite];

    /// The rate in Mbit/s at `number` instants that are `every` apart.
    fn samples(model: &RateModel, seed: u64, every: Span, number: usize) -> Vec<f64> {
        let mut generator = Generator::new(model, Streams::new(seed, 0).stream("rate a-b"));
        let (mut end, mut rate) = (0, 0.0);
        (0..number as u64)
            .map(|n| {
                while end <= n * every.as_nanos() {
                    let (lasts, next) = generator.next();
                    end += lasts.as_nanos();
                    rate = next.as_bps() as f64 / 1e6;
                }
                rate
            })
            .collect()
    }

    fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
        let number = values.len() as f64;
        values.sum::<f64>() / number
    }

    /// Mean, coefficient of variation, and autocorrelation at distance `lag`, in samples.
    fn statistics(values: &[f64], lag: usize) -> (f64, f64, f64) {
        let middle = mean(values.iter().copied());
        let variance = mean(values.iter().map(|value| (value - middle) * (value - middle)));
        let pairs = values.iter().zip(&values[lag..]).map(|(a, b)| (a - middle) * (b - middle));
        let covariance = pairs.sum::<f64>() / (values.len() - lag) as f64;
        (middle, libm::sqrt(variance) / middle, covariance / variance)
    }

    fn near(what: &str, value: f64, expected: f64, tolerance: f64) {
        assert!((value - expected).abs() <= tolerance, "{what}: {value} is not {expected} +- {tolerance}");
    }

    /// Compares the statistics of 20,000 time scales with those of the model.
    ///
    /// About 10,000 of the samples are independent, so the standard error of the mean is a hundredth of the
    /// standard deviation. `after_half` and `after_one` are the expected autocorrelations after half a time
    /// scale and after a time scale.
    fn check(model: RateModel, after_half: f64, after_one: f64) {
        assert_eq!(model.check(), Ok(()));
        // The interval between samples does not divide the time scale, so that the samples are not in phase
        // with the steps and pauses of the model.
        let values = samples(&model, 1, model.time_scale.mul_f64(1.0 / 22.618), 23 * 20_000);
        let (mean, cv, one) = statistics(&values, 23);
        let half = 0.5 * (statistics(&values, 11).2 + statistics(&values, 12).2);
        near("mean", mean, 20.0, 0.03 * 20.0 * model.cv + 0.01);
        near("cv", cv, model.cv, 0.05 * model.cv);
        near("correlation after half a time scale", half, after_half, 0.03);
        near("correlation after a time scale", one, after_one, 0.03);
    }

    fn model(kind: RateModelKind) -> RateModel {
        RateModel::new(kind, BitRate::from_mbps(20))
    }

    #[test]
    fn an_lte_link_has_its_mean_variation_and_time_scale() {
        // X is the autoregressive process of [`Swings`]. After a time scale the correlation of X
        // is ln(1 + cv^2 / e) / ln(1 + cv^2) = 0.3943. After half a time scale the correlation of
        // X is the square root, 0.6279, and that of the rate (1.25^0.6279 - 1) / 0.25 = 0.602.
        check(model(RateModelKind::Lte), 0.602, 0.368);
        // A larger coefficient of variation gives rarer and higher peaks.
        let wild = RateModel { cv: 1.5, time_scale: Span::from_millis(200), ..model(RateModelKind::Lte) };
        let values = samples(&wild, 2, wild.time_scale / 23, 23 * 40_000);
        let (mean, cv, one) = statistics(&values, 23);
        near("mean", mean, 20.0, 1.0);
        near("cv", cv, 1.5, 0.15);
        near("correlation", one, 0.368, 0.06);
    }

    #[test]
    fn a_wifi_link_has_its_mean_variation_and_time_scale() {
        let after_half = libm::exp(-0.5);
        check(model(RateModelKind::Wifi), after_half, 0.368);
        for cv in [0.05, 0.5] {
            check(RateModel { cv, ..model(RateModelKind::Wifi) }, after_half, 0.368);
        }
        let mut levels: Vec<u64> = samples(&model(RateModelKind::Wifi), 1, Span::from_millis(50), 20_000)
            .iter()
            .map(|r| (r * 1e6) as u64)
            .collect();
        levels.sort_unstable();
        levels.dedup();
        assert_eq!(levels.len(), LEVELS);
        let share = levels[0] as f64 / levels[LEVELS - 1] as f64;
        near("the lowest level", share, 0.125, 1e-5);
    }

    #[test]
    fn a_satellite_link_has_its_mean_variation_slots_and_pauses() {
        // The pauses cause 7.6 % of the variance with a cv of 0.25, and 1.5 % with a cv of 0.5.
        check(model(RateModelKind::Satellite), 0.924 * 0.486, 0.0);
        check(RateModel { cv: 0.5, ..model(RateModelKind::Satellite) }, 0.985 * 0.486, 0.0);
        let mut generator =
            Generator::new(&model(RateModelKind::Satellite), Streams::new(1, 0).stream("rate a-b"));
        let first = generator.next();
        assert!(first.0 <= Span::from_secs(15) && first.1.as_bps() > 0);
        for _ in 0..10 {
            assert_eq!(generator.next(), (Span::from_millis(75), BitRate::from_bps(0)));
            let (lasts, rate) = generator.next();
            assert_eq!(lasts, Span::from_millis(15_000 - 75));
            // The range is 20 Mbit/s +- sqrt(3) * 25 %.
            assert!((11_000_000..29_000_000).contains(&rate.as_bps()), "{rate}");
        }
    }

    #[test]
    fn a_delay_of_a_satellite_has_slots_without_pauses_and_none_below_the_least() {
        let model = Model::new(RateModelKind::Satellite, Span::from_millis(40));
        let mut generator = Generator::new(&model, Streams::new(1, 0).stream("delay a-b"));
        generator.next();
        let drawn: Vec<(Span, Span)> = (0..1000).map(|_| generator.next()).collect();
        assert!(drawn.iter().all(|(lasts, _)| *lasts == Span::from_secs(15)));
        // The range is 40 ms +- sqrt(3) * 25 %.
        let (least, most) = (Span::from_micros(22_679), Span::from_micros(57_321));
        assert!(drawn.iter().all(|(_, delay)| *delay >= model.least() && (least..=most).contains(delay)));
        near("mean", mean(drawn.iter().map(|(_, delay)| delay.as_secs_f64())), 0.04, 0.001);
    }

    #[test]
    fn another_seed_gives_another_rate_and_the_same_seed_the_same() {
        for kind in KINDS {
            let at = |seed| samples(&model(kind), seed, Span::from_millis(100), 1000);
            assert_eq!(at(1), at(1));
            assert_ne!(at(1), at(2));
        }
    }

    #[test]
    fn the_check_names_the_parameter_that_is_wrong() {
        for kind in KINDS {
            let good = model(kind);
            assert_eq!(good.check(), Ok(()));
            for (wrong, field) in [
                (RateModel { mean: BitRate::from_bps(0), ..good }, "mean"),
                (RateModel { cv: 0.04, ..good }, "cv"),
                (RateModel { cv: 2.1, ..good }, "cv"),
                (RateModel { cv: f64::NAN, ..good }, "cv"),
                (RateModel { time_scale: Span::from_micros(999), ..good }, "time_scale"),
            ] {
                assert_eq!(wrong.check().map_err(|fault| fault.field), Err(field));
            }
        }
    }
}
