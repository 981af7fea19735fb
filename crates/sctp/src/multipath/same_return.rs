//! Round-trip times as if all SACKs returned on the fastest path.
//!
//! SACKs for data of one path may return on paths of different delay, so that the round-trip times of
//! the path differ without a queue. A delay-based congestion control would infer a queue. So the
//! sender gives the congestion control the RTT
//!
//! ```text
//! t - l(p, q) + min over q' of l(p, q')
//! ```
//!
//! Here, data sent on path p is acknowledged after t by a SACK that arrives on path q. l(p, q) is the least t
//! of the last 15 to 30 s.

use crate::path::PathId;
use units::{Instant, Span};

/// Length of a period over which a least round-trip time is measured. The values of the present and of the
/// last period are kept.
const MEMORY: Span = Span::from_secs(15);

/// The least round-trip times l(p, q) for data on path p and the SACK on path q.
#[derive(Debug, Default)]
pub(crate) struct SameReturn {
    /// Least round-trip times l(p, q) in the present and in the last period, by path of the data and by path
    /// of the SACK.
    least: Vec<Vec<[Option<Span>; 2]>>,
    /// Start of the present period.
    changed: Instant,
    /// The path on which the SACK being processed arrived.
    way: PathId,
}

impl SameReturn {
    /// Starts the processing of a SACK that arrived on path `way`.
    pub(crate) fn begin(&mut self, way: PathId) {
        self.way = way;
    }

    /// Adds the RTT of data on path `p`. Returns the RTT as if all SACKs returned on the fastest path.
    pub(crate) fn sample(&mut self, now: Instant, p: PathId, rtt: Span) -> Span {
        let q = self.way;
        if now.since(self.changed) >= MEMORY {
            self.least.iter_mut().flatten().for_each(|pair| *pair = [None, pair[0]]);
            self.changed = now;
        }
        if self.least.len() <= p.index() {
            self.least.resize_with(p.index() + 1, Vec::new);
        }
        let row = &mut self.least[p.index()];
        if row.len() <= q.index() {
            row.resize(q.index() + 1, [None; 2]);
        }
        let pair = &mut row[q.index()];
        pair[0] = Some(pair[0].map_or(rtt, |least| least.min(rtt)));
        let here = pair.iter().flatten().min().copied().unwrap_or(rtt);
        let least = row.iter().flatten().flatten().min().copied().unwrap_or(rtt);
        rtt.saturating_sub(here) + least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: PathId = PathId(0);
    const OTHER: PathId = PathId(1);

    fn ms(n: u64) -> Span {
        Span::from_millis(n)
    }

    fn sample(same_return: &mut SameReturn, at: u64, way: PathId, rtt: u64) -> Span {
        same_return.begin(way);
        same_return.sample(Instant::ZERO + ms(at), DATA, ms(rtt))
    }

    #[test]
    fn where_sacks_return_makes_no_difference_and_a_queue_does() {
        let mut same_return = SameReturn::default();
        assert_eq!(sample(&mut same_return, 0, DATA, 40), ms(40));
        assert_eq!(sample(&mut same_return, 10, OTHER, 25), ms(25));
        assert_eq!(sample(&mut same_return, 20, DATA, 40), ms(25));
        assert_eq!(sample(&mut same_return, 30, DATA, 48), ms(33), "a queue of 8 ms");
        assert_eq!(sample(&mut same_return, 40, OTHER, 33), ms(33), "a queue of 8 ms");
    }

    #[test]
    fn a_path_that_has_become_longer_is_known_as_such_after_half_a_minute() {
        let mut same_return = SameReturn::default();
        sample(&mut same_return, 0, DATA, 40);
        sample(&mut same_return, 0, OTHER, 25);
        for second in 1..32 {
            sample(&mut same_return, second * 1000, DATA, 60);
            sample(&mut same_return, second * 1000, OTHER, 45);
        }
        assert_eq!(sample(&mut same_return, 33_000, DATA, 60), ms(45));
    }

    #[test]
    fn data_of_one_path_says_nothing_of_another() {
        let mut same_return = SameReturn::default();
        sample(&mut same_return, 0, DATA, 40);
        same_return.begin(DATA);
        assert_eq!(same_return.sample(Instant::ZERO, OTHER, ms(90)), ms(90));
    }
}
