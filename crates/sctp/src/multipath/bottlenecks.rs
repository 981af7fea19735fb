//! Measures which paths share a bottleneck.
//!
//! Packets that wait in the same queue wait equally long. Let a and b be the mean round-trip times of two
//! paths during the same interval, which lasts for an SRTT of the longer path. The part of the variation of
//! a and b that is not common to both is
//!
//! ```text
//! var(a - b) / (var a + var b)
//! ```
//!
//! This part is 0 if the packets of both paths wait in one queue, and 1 if each path has its own queue. Two
//! paths share no bottleneck if the part is more than 1/2, measured over the last [`ROUNDS`] intervals.
//! Before [`ROUNDS`] intervals are measured, two paths count as sharing a bottleneck.
//!
//! RFC 8382 detects shared bottlenecks by the skewness and the variation of one-way delays and by
//! losses. That detection takes 17.5 s.

use crate::path::{PathId, Paths};
use units::{Instant, Span};

/// Intervals over which the variation is measured.
const ROUNDS: u32 = 16;

/// The measurements of all pairs of paths.
#[derive(Debug, Default)]
pub(crate) struct Bottlenecks {
    /// One entry for each pair of path numbers: (0, 1), (0, 2), (1, 2), (0, 3), and so on.
    pairs: Vec<Pair>,
    /// Bit q of `apart[p]` is set if the paths p and q share no bottleneck.
    apart: [u16; Paths::LIMIT],
}

/// The round-trip times of two paths.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    /// Beginning of the present interval.
    began: Instant,
    /// Sum and number of the round-trip times of each path in the present interval.
    sums: [(f64, u32); 2],
    /// Intervals that were measured, [`ROUNDS`] at most.
    rounds: u32,
    /// Mean and variance of the round-trip time of each path.
    each: [Variation; 2],
    /// Mean and variance of the difference between the round-trip times of the two paths.
    difference: Variation,
}

/// Mean and variance with exponential weights.
#[derive(Clone, Copy, Debug, Default)]
struct Variation {
    mean: f64,
    variance: f64,
}

impl Variation {
    fn add(&mut self, value: f64, weight: f64) {
        let deviation = value - self.mean;
        self.mean += weight * deviation;
        self.variance = (1.0 - weight) * (self.variance + weight * deviation * deviation);
    }
}

impl Pair {
    /// Adds a round-trip time of the pair's first path, or of its second if `second` is true. An interval
    /// lasts for `round`. Returns true if an interval ended in which both paths had a sample.
    fn sample(&mut self, now: Instant, second: bool, rtt: Span, round: Span) -> bool {
        let ends = now.since(self.began) >= round;
        let measured = ends && self.sums.iter().all(|&(_, samples)| samples > 0);
        if measured {
            let [a, b] = self.sums.map(|(sum, samples)| sum / f64::from(samples));
            self.rounds = (self.rounds + 1).min(ROUNDS);
            let weight = 1.0 / f64::from(self.rounds);
            self.each[0].add(a, weight);
            self.each[1].add(b, weight);
            self.difference.add(a - b, weight);
        }
        if ends {
            (self.began, self.sums) = (now, Default::default());
        }
        let (sum, samples) = &mut self.sums[usize::from(second)];
        *sum += rtt.as_secs_f64();
        *samples += 1;
        measured
    }

    fn is_apart(&self) -> bool {
        self.rounds == ROUNDS
            && self.difference.variance > (self.each[0].variance + self.each[1].variance) / 2.0
    }
}

/// The index of two paths in `Bottlenecks::pairs`; `first` is the lower path number.
fn place(first: usize, second: usize) -> usize {
    second * (second - 1) / 2 + first
}

impl Bottlenecks {
    /// The paths that share no bottleneck with path `p`, one bit each.
    #[inline]
    pub(crate) fn apart(&self, p: usize) -> u16 {
        self.apart[p]
    }

    pub(crate) fn sample(&mut self, now: Instant, p: PathId, rtt: Span, paths: &Paths) {
        for q in paths.ids().filter(|&q| q != p) {
            let (first, second) = (p.min(q).index(), p.max(q).index());
            let round = paths[p].rto.srtt().max(paths[q].rto.srtt()).unwrap_or(rtt);
            let pair = place(first, second);
            if self.pairs.len() <= pair {
                self.pairs.resize(pair + 1, Pair::default());
            }
            let pair = &mut self.pairs[pair];
            if pair.sample(now, p.index() == second, rtt, round) {
                let apart = u16::from(pair.is_apart());
                for (p, q) in [(first, second), (second, first)] {
                    self.apart[p] = self.apart[p] & !(1 << q) | apart << q;
                }
            }
        }
    }

    /// Forgets the measurements of path `p`: its route has changed, or another path has taken its number.
    pub(crate) fn forget(&mut self, p: PathId) {
        let p = p.index();
        for q in (0..Paths::LIMIT).filter(|&q| q != p) {
            if let Some(pair) = self.pairs.get_mut(place(p.min(q), p.max(q))) {
                *pair = Pair::default();
            }
        }
        self.apart.iter_mut().for_each(|others| *others &= !(1 << p));
        self.apart[p] = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::path::Path;

    /// Three paths with an RTT of 40 ms, each with a sample every 10 ms.
    struct Bench {
        paths: Paths,
        bottlenecks: Bottlenecks,
        now: Instant,
        random: u64,
    }

    impl Bench {
        fn new() -> Bench {
            let mut paths = Paths::default();
            for k in 1..=3 {
                let mut path = Path::new([10, k, 0, 2].into(), [10, k, 0, 1].into(), &Config::default());
                path.rto.sample(Instant::ZERO, Span::from_millis(40), &Config::default());
                paths.add(path);
            }
            let now = Instant::ZERO + Span::from_secs(1);
            Bench { paths, bottlenecks: Bottlenecks::default(), now, random: 1 }
        }

        /// A number from 0 to 999: the generator of Knuth's MMIX.
        fn random(&mut self) -> u64 {
            self.random =
                self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.random >> 33) % 1000
        }

        /// Adds samples for a number of intervals of 40 ms. `queues` names the queue of each path: packets in
        /// one queue wait equally long. A path without a queue gets no samples.
        fn pass(&mut self, intervals: u32, queues: [Option<usize>; 3]) {
            for _ in 0..intervals {
                let waits = [self.random(), self.random(), self.random()];
                for _ in 0..4 {
                    for (p, queue) in queues.iter().enumerate() {
                        let Some(queue) = *queue else { continue };
                        let noise = self.random() / 10;
                        let rtt = Span::from_micros(40_000 + 20 * waits[queue] + noise + 5000 * p as u64);
                        self.bottlenecks.sample(self.now, PathId(p as u8), rtt, &self.paths);
                    }
                    self.now += Span::from_millis(10);
                }
            }
        }

        fn apart(&self) -> [u16; 3] {
            [0, 1, 2].map(|p| self.bottlenecks.apart(p))
        }
    }

    #[test]
    fn paths_with_queues_of_their_own_are_apart_after_16_intervals() {
        let mut bench = Bench::new();
        bench.pass(14, [Some(0), Some(1), Some(1)]);
        assert_eq!(bench.apart(), [0; 3], "unknown");
        bench.pass(4, [Some(0), Some(1), Some(1)]);
        assert_eq!(bench.apart(), [0b110, 0b001, 0b001]);
    }

    #[test]
    fn paths_that_wait_in_one_queue_are_never_apart() {
        let mut bench = Bench::new();
        for _ in 0..1000 {
            bench.pass(1, [Some(2); 3]);
            assert_eq!(bench.apart(), [0; 3]);
        }
    }

    // The weight of an interval falls to 1/e in 16 intervals.
    #[test]
    fn paths_that_come_to_share_a_queue_are_coupled_again() {
        let mut bench = Bench::new();
        bench.pass(100, [Some(0), Some(1), None]);
        assert_eq!(bench.apart(), [0b010, 0b001, 0], "a path without samples may share any bottleneck");
        bench.pass(32, [Some(0), Some(0), None]);
        assert_eq!(bench.apart(), [0; 3]);
    }

    #[test]
    fn constant_times_tell_nothing() {
        let mut bench = Bench::new();
        for n in 0..1000 {
            let now = Instant::ZERO + Span::from_millis(10 * n);
            for p in 0..3 {
                bench.bottlenecks.sample(now, PathId(p), Span::from_millis(40), &bench.paths);
            }
        }
        assert_eq!(bench.apart(), [0; 3]);
    }

    #[test]
    fn after_a_change_of_route_nothing_is_known_of_the_path() {
        let mut bench = Bench::new();
        bench.pass(100, [Some(0), Some(1), Some(2)]);
        assert_eq!(bench.apart(), [0b110, 0b101, 0b011]);
        bench.bottlenecks.forget(PathId(1));
        assert_eq!(bench.apart(), [0b100, 0, 0b001]);
        bench.pass(14, [Some(0), Some(1), Some(2)]);
        assert_eq!(bench.apart(), [0b100, 0, 0b001]);
        bench.pass(4, [Some(0), Some(1), Some(2)]);
        assert_eq!(bench.apart(), [0b110, 0b101, 0b011]);
    }
}
