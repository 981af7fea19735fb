//! The room in the receive buffer that missing chunks will need.
//!
//! The length of a missing chunk is unknown. So the receiver samples the chunks that arrive above all others:
//! m is the mean of their costs, d the mean deviation. n missing chunks are expected to need
//!
//! ```text
//! n m - 2 d √n
//! ```
//!
//! The estimate is low on purpose. A sender that keeps room for lost chunks itself (`keep_room`) knows their
//! exact lengths: a higher estimate would drop chunks for which that sender has kept room. If all chunks have
//! the same length, the estimate is exact.

/// Weight of a new chunk in the mean and in the deviation.
const WEIGHT: f64 = 1.0 / 16.0;

/// Mean and deviation of the costs (room in the receive buffer) of chunks above a gap.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reserve {
    /// `None` before the first chunk.
    mean: Option<f64>,
    deviation: f64,
}

impl Reserve {
    /// Adds the cost (room in the receive buffer) of a chunk that arrived above all others.
    #[inline]
    pub(super) fn sample(&mut self, cost: u32) {
        let cost = f64::from(cost);
        let mean = self.mean.get_or_insert(cost);
        let error = cost - *mean;
        *mean += WEIGHT * error;
        self.deviation += WEIGHT * (error.abs() - self.deviation);
    }

    /// Estimate of the bytes that `missing` chunks will need. It is low on purpose, as the file's header
    /// explains.
    #[inline]
    pub(super) fn of(&self, missing: u64) -> u64 {
        let n = missing as f64;
        (n * self.mean.unwrap_or(0.0) - 2.0 * self.deviation * n.sqrt()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(costs: &[u32]) -> Reserve {
        let mut reserve = Reserve::default();
        costs.iter().for_each(|&cost| reserve.sample(cost));
        reserve
    }

    #[test]
    fn missing_chunks_of_one_length_need_exactly_their_bytes() {
        assert_eq!([0, 1, 300].map(|missing| after(&[1452; 50]).of(missing)), [0, 1452, 435_600]);
    }

    /// After chunks of cost 1000 and 1600, the mean is 1000 + 600/16 = 1037.5, and the deviation is 600/16 =
    /// 37.5.
    #[test]
    fn room_for_chunks_of_several_lengths_is_the_mean_less_twice_the_deviation_of_their_sum() {
        let reserve = after(&[1000, 1600]);
        assert_eq!([1, 4, 100].map(|missing| reserve.of(missing)), [962, 4000, 103_000]);
    }

    #[test]
    fn a_reserve_is_never_negative_and_never_overflows() {
        let reserve = after(&[64, 65_000, 64, 65_000]);
        assert_eq!(reserve.of(1), 0);
        assert!(reserve.of(u64::MAX) > 1 << 62);
    }
}
