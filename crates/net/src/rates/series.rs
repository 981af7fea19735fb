use super::Varying;
use des::Digest;
use std::fmt;
use units::{BitRate, Instant, Span};

/// A rate or delay that changes at given times.
///
/// The last value lasts for ever, or the series repeats after a period.
#[derive(Clone, PartialEq, Eq)]
pub struct Series<V> {
    /// Values, each with the time at which it begins; ascending, the first at 0.
    steps: Vec<(Span, V)>,
    period: Option<Span>,
}

/// A rate that changes at given times.
pub type RateSeries = Series<BitRate>;

/// A delay that changes at given times.
pub type DelaySeries = Series<Span>;

/// Why a list of values, or a file, is not a [`Series`].
///
/// The number in a variant is that of the value or, in a file, of the line, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeriesFault {
    /// There is no value.
    Empty,
    /// A line is not a time and a value.
    Line(usize),
    /// The first time is not 0.
    First(usize),
    /// A time is not later than the previous time.
    Order(usize),
    /// The last rate is 0 and lasts for ever.
    Dead(usize),
    /// All rates are 0.
    Zero,
    /// The period ends before the last value begins.
    Period(usize),
}

impl SeriesFault {
    /// The message of the fault for values of type `V`. `each` is the word for what the numbers count, "line"
    /// or "step".
    pub fn message<V: Varying>(&self, each: &str) -> String {
        let (name, unit) = (V::KEY, V::UNIT);
        match self {
            SeriesFault::Empty => {
                format!("there is no {name}: expected lines such as `0,20`, seconds and {unit}")
            }
            SeriesFault::Line(line) => format!(
                "{each} {line} is not a time and a {name}: expected two numbers such as `1.5,20`, seconds and {unit}"
            ),
            SeriesFault::First(line) => {
                format!("{each} {line} has the first {name}: expected it from 0 s on")
            }
            SeriesFault::Order(line) => {
                format!("{each} {line} has a time that is not after the one before: expected times in order")
            }
            SeriesFault::Dead(line) => format!(
                "{each} {line} makes the {name} 0 for ever: expected a {name} above 0 at last, or `repeat`"
            ),
            SeriesFault::Zero => format!("every {name} is 0: expected one above 0"),
            SeriesFault::Period(line) => {
                format!("`repeat` ends before the {name} of {each} {line} begins: expected a longer time")
            }
        }
    }
}

/// The largest value in a file, in the unit of the file, and the latest time, in seconds.
const MOST: (f64, f64) = (1e9, 3e9);

impl<V: Varying> Series<V> {
    /// Makes a series of these values, each from its time on. With a period the series repeats.
    ///
    /// # Errors
    /// [`SeriesFault`] names the first value that is wrong.
    pub fn new(steps: Vec<(Span, V)>, period: Option<Span>) -> Result<Self, SeriesFault> {
        let lines: Vec<usize> = (1..=steps.len()).collect();
        Self::checked(steps, &lines, period)
    }

    /// Reads a file. Each line has a time in seconds, a comma, and the value from that time on, in Mbit/s or
    /// ms. Empty lines, lines that begin with `#`, and a heading are ignored.
    ///
    /// # Errors
    /// [`SeriesFault`] names the first line that is wrong.
    pub fn parse(text: &str, period: Option<Span>) -> Result<Self, SeriesFault> {
        let (mut steps, mut lines) = (Vec::new(), Vec::new());
        let mut heading = true;
        for (line, number) in text.lines().map(str::trim).zip(1..) {
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let is_heading = std::mem::take(&mut heading) && line.starts_with(|c: char| c.is_alphabetic());
            if !is_heading {
                steps.push(Self::step(line).ok_or(SeriesFault::Line(number))?);
                lines.push(number);
            }
        }
        Self::checked(steps, &lines, period)
    }

    fn step(line: &str) -> Option<(Span, V)> {
        let (time, value) = line.split_once(',')?;
        let number = |text: &str, most: f64| {
            text.trim().parse().ok().filter(|number: &f64| (0.0..=most).contains(number))
        };
        let (seconds, value) = (number(time, MOST.1)?, number(value, MOST.0)?);
        Some((Span::from_secs_f64(seconds), V::from_smallest((value * V::FILE_UNIT + 0.5) as u64)))
    }

    fn checked(steps: Vec<(Span, V)>, lines: &[usize], period: Option<Span>) -> Result<Self, SeriesFault> {
        let (Some(&(first, _)), Some(&(last, value))) = (steps.first(), steps.last()) else {
            return Err(SeriesFault::Empty);
        };
        let (first_line, last_line) = (lines[0], lines[lines.len() - 1]);
        if !first.is_zero() {
            return Err(SeriesFault::First(first_line));
        }
        if let Some(place) = steps.windows(2).position(|two| two[1].0 <= two[0].0) {
            return Err(SeriesFault::Order(lines[place + 1]));
        }
        let pauses = |value: V| V::ZERO_IS_A_PAUSE && value.to_smallest() == 0;
        match period {
            _ if steps.iter().all(|(_, value)| pauses(*value)) => Err(SeriesFault::Zero),
            None if pauses(value) => Err(SeriesFault::Dead(last_line)),
            Some(period) if period <= last => Err(SeriesFault::Period(last_line)),
            _ => Ok(Series { steps, period }),
        }
    }

    /// The long-term mean: the mean over a period, or the last value if the series does not repeat.
    pub fn mean(&self) -> V {
        let Some(period) = self.period else { return self.steps[self.steps.len() - 1].1 };
        let ends = self.steps[1..].iter().map(|step| step.0).chain([period]);
        let area = |((from, value), end): (&(Span, V), Span)| {
            u128::from(value.to_smallest()) * u128::from((end - *from).as_nanos())
        };
        let sum: u128 = self.steps.iter().zip(ends).map(area).sum();
        V::from_smallest(u64::try_from(sum / u128::from(period.as_nanos())).unwrap_or(u64::MAX))
    }

    /// The smallest value of the series.
    pub fn least(&self) -> V {
        let smallest = self.steps.iter().map(|(_, value)| value.to_smallest()).min();
        V::from_smallest(smallest.unwrap_or_default())
    }

    pub(super) fn value(&self, step: Step) -> V {
        self.steps[step.index].1
    }

    pub(super) fn end(&self, Step { cycle, index }: Step) -> Instant {
        match (self.steps.get(index + 1), self.period) {
            (Some((next, _)), period) => self.begin_of(cycle, period) + *next,
            (None, Some(period)) => self.begin_of(cycle, Some(period)) + period,
            (None, None) => Instant::FAR,
        }
    }

    fn begin_of(&self, cycle: u64, period: Option<Span>) -> Instant {
        Instant::ZERO + period.map_or(Span::ZERO, |period| period * cycle)
    }

    pub(super) fn after(&self, Step { cycle, index }: Step) -> Step {
        match self.period {
            _ if index + 1 < self.steps.len() => Step { cycle, index: index + 1 },
            Some(_) => Step { cycle: cycle + 1, index: 0 },
            None => Step { cycle, index },
        }
    }

    pub(super) fn at(&self, now: Instant) -> Step {
        let nanos = now.as_nanos();
        let (cycle, rest) = match self.period {
            Some(period) => (nanos / period.as_nanos(), nanos % period.as_nanos()),
            None => (0, nanos),
        };
        Step { cycle, index: self.steps.partition_point(|(from, _)| from.as_nanos() <= rest) - 1 }
    }
}

/// One of the values of a [`Series`], in one of its periods.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Step {
    cycle: u64,
    index: usize,
}

impl<V: Varying> fmt::Debug for Series<V> {
    /// Shows a hash of the values instead of the values, because a series may be very long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut digest = Digest::new();
        for (from, value) in &self.steps {
            digest.word(from.as_nanos());
            digest.word(value.to_smallest());
        }
        f.debug_struct("Series")
            .field(V::KEY, &self.steps.len())
            .field("period", &self.period)
            .field("digest", &digest.value())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Span = Span::from_secs(1);

    #[test]
    fn a_file_has_seconds_and_megabits_with_a_heading_and_comments() {
        let text = "# measured at home\nseconds,mbit_per_s\n\n0, 10\n1.5,0.25\n  3 ,20\n";
        let bps = BitRate::from_bps;
        let steps = vec![
            (Span::ZERO, bps(10_000_000)),
            (Span::from_millis(1500), bps(250_000)),
            (SECOND * 3, bps(20_000_000)),
        ];
        assert_eq!(RateSeries::parse(text, None), RateSeries::new(steps, None));
    }

    #[test]
    fn the_mean_is_that_of_a_period_or_the_rate_that_stays() {
        let mean = |period| RateSeries::parse("0,10\n1,40", period).unwrap().mean();
        assert_eq!(mean(None), BitRate::from_mbps(40));
        assert_eq!(mean(Some(SECOND * 3)), BitRate::from_mbps(30));
    }

    #[test]
    fn a_file_of_delays_has_seconds_and_milliseconds() {
        let series = DelaySeries::parse("seconds,ms\n0,40\n15,62.5", Some(SECOND * 30)).unwrap();
        let steps = vec![(Span::ZERO, Span::from_millis(40)), (SECOND * 15, Span::from_micros(62_500))];
        assert_eq!(Ok(series.clone()), DelaySeries::new(steps, Some(SECOND * 30)));
        assert_eq!((series.mean(), series.least()), (Span::from_micros(51_250), Span::from_millis(40)));
    }

    #[test]
    fn a_wrong_file_is_refused_with_its_line() {
        let parse = |text: &str, period| RateSeries::parse(text, period).map(|_| ());
        assert_eq!(parse("", None), Err(SeriesFault::Empty));
        assert_eq!(parse("a,b\n# none\n", None), Err(SeriesFault::Empty));
        for line in
            ["5", "5,", ",5", "5,x", "-1,5", "5,-1", "5,nan", "5,inf", "5,1e10", "4e9,5", "5 20", "b,5"]
        {
            assert_eq!(parse(&format!("t,r\n0,1\n{line}\n9,1"), None), Err(SeriesFault::Line(3)), "{line}");
        }
        assert_eq!(parse("\n1,5", None), Err(SeriesFault::First(2)));
        assert_eq!(parse("0,5\n2,5\n\n2,6", None), Err(SeriesFault::Order(4)));
        assert_eq!(parse("0,5\n2,0", None), Err(SeriesFault::Dead(2)));
        assert_eq!(parse("0,0\n2,0", Some(SECOND * 3)), Err(SeriesFault::Zero));
        assert_eq!(parse("0,5\n2,0", Some(SECOND * 2)), Err(SeriesFault::Period(2)));
        assert_eq!(parse("0,5\n2,0", Some(SECOND * 3)), Ok(()));
        // A delay of zero is not a pause.
        assert!(DelaySeries::parse("0,0\n2,0", None).is_ok());
        assert_eq!(DelaySeries::parse("0,5\n2,x", None), Err(SeriesFault::Line(2)));
    }

    #[test]
    fn the_step_at_an_instant_is_the_one_that_steps_lead_to() {
        for period in [None, Some(Span::from_millis(3500))] {
            let series = RateSeries::parse("0,1\n1,2\n3,3", period).unwrap();
            let mut step = Step::default();
            for now in (0..12_000).map(|ms| Instant::ZERO + Span::from_millis(ms)) {
                while series.end(step) <= now {
                    step = series.after(step);
                }
                assert_eq!(series.at(now), step, "{now}");
            }
        }
    }

    #[test]
    fn the_debug_form_tells_series_of_one_length_apart() {
        let [a, b] = ["0,1\n1,3", "0,1\n1,4"].map(|text| RateSeries::parse(text, None).unwrap());
        assert_ne!(format!("{a:?}"), format!("{b:?}"));
    }
}
