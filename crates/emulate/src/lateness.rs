//! How late packets leave the emulated network.

use serde_json::{Value, json};
use units::Span;

/// Lateness of a single packet above which a run is late.
pub const LATEST: Span = Span::from_millis(20);

/// Limit of the 99th percentile of lateness, above which a run is late: 10 % of the smallest one-way delay of
/// a link, at least 1 ms.
pub fn allowed(smallest_delay: Span) -> Span {
    (smallest_delay / 10).max(Span::from_millis(1))
}

/// Buckets for each doubling of the lateness.
const STEPS: u64 = 16;
const BUCKETS: usize = 64 * STEPS as usize;

/// A histogram of constant size of the lateness of packets. Lateness is the time from the event that delivers
/// a packet until the packet is written.
///
/// A percentile is at most 6.25 % too large. The maximum is exact.
#[derive(Clone, Debug)]
pub struct Lateness {
    buckets: Vec<u64>,
    count: u64,
    most: Span,
}

impl Default for Lateness {
    fn default() -> Self {
        Lateness { buckets: vec![0; BUCKETS], count: 0, most: Span::ZERO }
    }
}

/// The bucket of a time. Below 16 ns each bucket holds one value; above, 16 buckets cover each doubling.
fn bucket(nanos: u64) -> usize {
    if nanos < STEPS {
        return nanos as usize;
    }
    let shift = u64::from(nanos.ilog2()) - u64::from(STEPS.ilog2());
    (shift * STEPS + (nanos >> shift)) as usize
}

/// The largest time in a bucket.
fn upper(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < 2 * STEPS {
        return bucket;
    }
    let shift = bucket / STEPS - 1;
    ((bucket % STEPS + STEPS + 1) << shift) - 1
}

impl Lateness {
    /// Records a packet that was written `late` after its delivery was due.
    pub fn note(&mut self, late: Span) {
        self.buckets[bucket(late.as_nanos())] += 1;
        self.count += 1;
        self.most = self.most.max(late);
    }

    /// Number of recorded packets.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The largest lateness.
    pub fn most(&self) -> Span {
        self.most
    }

    /// The lateness that `fraction` of the packets do not exceed; zero without packets.
    pub fn percentile(&self, fraction: f64) -> Span {
        let wanted = (self.count as f64 * fraction).ceil().max(1.0) as u64;
        let mut seen = 0;
        for (number, count) in self.buckets.iter().enumerate() {
            seen += count;
            if seen >= wanted {
                return Span::from_nanos(upper(number)).min(self.most);
            }
        }
        self.most
    }

    /// True if the emulation was too late to be compared with a simulation: the 99th percentile exceeds
    /// [`allowed`], or a packet was later than [`LATEST`].
    pub fn is_late(&self, smallest_delay: Span) -> bool {
        self.percentile(0.99) > allowed(smallest_delay) || self.most > LATEST
    }

    /// The percentiles and the histogram as JSON, in seconds. The histogram has the upper end and the number
    /// of packets of each bucket that is not empty.
    pub fn as_json(&self) -> Value {
        let seconds = |span: Span| span.as_secs_f64();
        let filled = self.buckets.iter().enumerate().filter(|(_, count)| **count > 0);
        let histogram: Vec<Value> =
            filled.map(|(number, count)| json!([seconds(Span::from_nanos(upper(number))), count])).collect();
        json!({
            "packets": self.count,
            "p50_s": seconds(self.percentile(0.5)),
            "p99_s": seconds(self.percentile(0.99)),
            "max_s": seconds(self.most),
            "histogram": histogram,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_times_up_to_its_upper_end_and_no_others() {
        let mut last = None;
        for nanos in (0..5000).chain((13..63).flat_map(|bit| [(1 << bit) - 1, 1 << bit, (1 << bit) + 1])) {
            let number = bucket(nanos);
            assert!(number < BUCKETS && upper(number) >= nanos, "{nanos} in {number}");
            assert!(number == 0 || upper(number - 1) < nanos, "{nanos} in {number}");
            assert!(last.is_none_or(|last| last <= number));
            last = Some(number);
        }
        assert!(bucket(u64::MAX) < BUCKETS);
    }

    #[test]
    fn percentiles_are_at_most_a_sixteenth_too_large() {
        let mut lateness = Lateness::default();
        (1..=1000).for_each(|micros| lateness.note(Span::from_micros(micros)));
        for (fraction, micros) in [(0.5, 500.0), (0.99, 990.0), (1.0, 1000.0)] {
            let found = lateness.percentile(fraction).as_secs_f64() * 1e6;
            assert!((micros..=micros * 1.0625).contains(&found), "{fraction}: {found}");
        }
        assert_eq!(lateness.most(), Span::from_millis(1));
        assert_eq!(Lateness::default().percentile(0.99), Span::ZERO);
    }

    #[test]
    fn a_run_is_late_by_its_99th_percentile_or_by_one_packet() {
        let run = |on_time: u64, late: u64, by: Span| {
            let mut lateness = Lateness::default();
            (0..on_time).for_each(|_| lateness.note(Span::from_micros(10)));
            (0..late).for_each(|_| lateness.note(by));
            lateness
        };
        let [short, long] = [Span::from_millis(2), Span::from_millis(50)];
        let two = Span::from_millis(2);
        assert!(!run(99, 1, two).is_late(short), "one packet of a hundred may be late");
        assert!(run(98, 2, two).is_late(short), "2 ms exceed 1 ms");
        assert!(!run(98, 2, two).is_late(long), "2 ms are less than 10 % of 50 ms");
        assert!(run(9999, 1, Span::from_millis(21)).is_late(long), "no packet may be 21 ms late");
        assert!(!Lateness::default().is_late(short));
    }
}
