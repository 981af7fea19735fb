use des::Digest;
use std::fmt;
use units::{BitRate, Instant, Span};

/// The delivery opportunities of a link whose rate changes, as in a trace file of Mahimahi (R. Netravali et
/// al., "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX ATC 2015).
///
/// At each opportunity one IP packet of [`Trace::BYTES`] bytes with its framing can leave. The time of the
/// last opportunity is also the period after which the trace repeats. As in Mahimahi's `mm-link`, packets
/// share the bytes of an opportunity:
///
/// - Waiting packets use an opportunity in their order. A packet that needs fewer bytes than are left leaves
///   the rest to the next packet.
/// - A packet that needs more bytes than are left uses these bytes, continues at the next opportunity, and
///   leaves when its last byte leaves.
/// - Bytes that no waiting packet uses are lost. A packet that arrives at the instant of an opportunity
///   cannot use it.
///
/// `mm-link` counts 4 bytes of framing with each packet: a link with `framing` of 4 bytes gives the same
/// times.
#[derive(Clone, PartialEq, Eq)]
pub struct Trace {
    /// Times of the opportunities from the beginning of the period; ascending, the last above zero.
    times: Vec<Span>,
}

/// Why a list of times is not a [`Trace`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceFault {
    /// The list is empty, or has no time above zero.
    #[error("a trace needs a delivery opportunity after time 0")]
    Empty,
    /// A time is before the previous time. Times are counted from 1, like the lines of a file.
    #[error("line {0} has a time that is earlier than the one before it: expected times in order")]
    Order(usize),
    /// A line of a file is not a number.
    #[error("line {0} is not a time in milliseconds: expected a whole number")]
    Line(usize),
}

impl fmt::Debug for Trace {
    /// Shows a hash of the times instead of the times, because a trace may have hundreds of thousands.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digest = Digest::new();
        self.times.iter().for_each(|time| digest.word(time.as_nanos()));
        f.debug_struct("Trace")
            .field("opportunities", &self.times.len())
            .field("period", &self.period())
            .field("digest", &digest.value())
            .finish()
    }
}

impl Trace {
    /// Bytes of an opportunity: those of an IP packet without framing.
    pub const BYTES: u64 = 1500;

    /// Makes a trace with opportunities at these times, in order; several at one time are allowed.
    ///
    /// # Errors
    /// [`TraceFault`] if no time is above zero, or if a time is before the previous time.
    pub fn new(times: Vec<Span>) -> Result<Self, TraceFault> {
        if times.last().is_none_or(|last| last.is_zero()) {
            return Err(TraceFault::Empty);
        }
        match times.windows(2).position(|pair| pair[1] < pair[0]) {
            Some(place) => Err(TraceFault::Order(place + 2)),
            None => Ok(Trace { times }),
        }
    }

    /// Reads a trace file of Mahimahi: on each line the time of an opportunity in whole milliseconds.
    ///
    /// # Errors
    /// [`TraceFault`] as in [`Trace::new`], or the number of a line that is not a time in milliseconds.
    pub fn parse(text: &str) -> Result<Self, TraceFault> {
        let mut times = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let millis: Option<u64> = line.trim().parse().ok();
            let nanos = millis.and_then(|millis| millis.checked_mul(1_000_000));
            times.push(Span::from_nanos(nanos.ok_or(TraceFault::Line(index + 1))?));
        }
        Trace::new(times)
    }

    /// The mean rate over a period, for IP packets without framing.
    pub fn mean_rate(&self) -> BitRate {
        let bits = 8 * u128::from(Self::BYTES) * self.times.len() as u128;
        let bps = bits * 1_000_000_000 / u128::from(self.period());
        BitRate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX))
    }

    /// The period of the trace in nanoseconds.
    fn period(&self) -> u64 {
        self.times.last().map_or(1, |last| last.as_nanos())
    }

    pub(crate) fn first_after(&self, now: Instant) -> Opportunity {
        let period = self.period();
        let (cycle, rest) = (now.as_nanos() / period, Span::from_nanos(now.as_nanos() % period));
        Opportunity { cycle, index: self.times.partition_point(|time| *time <= rest) }
    }

    /// The opportunity that comes `count` opportunities after the given one.
    pub(crate) fn behind(&self, Opportunity { cycle, index }: Opportunity, count: usize) -> Opportunity {
        let sum = index.saturating_add(count);
        Opportunity { cycle: cycle + (sum / self.times.len()) as u64, index: sum % self.times.len() }
    }

    pub(crate) fn time(&self, Opportunity { cycle, index }: Opportunity) -> Instant {
        Instant::from_nanos(cycle.saturating_mul(self.period())) + self.times[index]
    }
}

/// One of the opportunities of a [`Trace`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Opportunity {
    /// Number of whole periods before the opportunity.
    cycle: u64,
    index: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Instant {
        Instant::ZERO + Span::from_millis(n)
    }

    #[test]
    fn a_trace_repeats_after_the_time_of_its_last_opportunity() {
        // A period of 10 ms has opportunities at 0, 3, 3 and 10 ms. The last opportunity of a period and the
        // first of the next are at the same time.
        let trace = Trace::parse("0\n3\n3\n10\n").unwrap();
        let mut next = Opportunity::default();
        let mut times = Vec::new();
        for _ in 0..9 {
            times.push(trace.time(next).as_nanos() / 1_000_000);
            next = trace.behind(next, 1);
        }
        assert_eq!(times, [0, 3, 3, 10, 10, 13, 13, 20, 20]);
        assert_eq!(trace.time(trace.behind(Opportunity::default(), 8)), ms(20));
        // 4 * 1500 bytes in 10 ms are 4.8 Mbit/s.
        assert_eq!(trace.mean_rate(), BitRate::from_bps(4_800_000));
    }

    #[test]
    fn the_first_opportunity_after_an_instant_is_later_than_the_instant() {
        let trace = Trace::parse("0\n3\n3\n10").unwrap();
        for (now, expected) in [(0, 3), (2, 3), (3, 10), (9, 10), (10, 13), (11, 13), (13, 20), (19, 20)] {
            assert_eq!(trace.time(trace.first_after(ms(now))), ms(expected), "after {now} ms");
        }
    }

    #[test]
    fn the_debug_form_tells_traces_of_one_length_and_period_apart() {
        let [a, b] = ["1\n3\n9", "2\n3\n9"].map(|text| Trace::parse(text).unwrap());
        assert_ne!(format!("{a:?}"), format!("{b:?}"));
    }

    #[test]
    fn a_wrong_trace_is_refused_with_its_place() {
        assert_eq!(Trace::parse(""), Err(TraceFault::Empty));
        assert_eq!(Trace::parse("0\n0\n"), Err(TraceFault::Empty));
        assert_eq!(Trace::parse("1\n5\n4\n"), Err(TraceFault::Order(3)));
        for line in ["", "x", "-1", "1.5", "18446744073709551615", "99999999999999999999"] {
            assert_eq!(Trace::parse(&format!("1\n{line}\n3\n")), Err(TraceFault::Line(2)), "{line}");
        }
    }
}
