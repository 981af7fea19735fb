//! The times at which a source is on: NetPerfMeter's on/off events.

use super::draw;
use crate::scenario::{Change, Changes};
use des::Random;
use units::Span;

/// The times at which a source is turned on and off alternately.
#[derive(Clone, Debug)]
pub struct Schedule {
    changes: Changes,
    random: Random,
    next: usize,
    /// Time of the last change, from the start of transmission.
    last: Span,
}

/// Time added before each repetition of a schedule, so that time advances even if all its times are zero.
const LEAST_PERIOD: Span = Span::from_millis(1);

impl Schedule {
    /// A schedule for `changes` that draws from `random`.
    pub fn new(changes: Changes, random: Random) -> Self {
        Schedule { changes, random, next: 0, last: Span::ZERO }
    }

    /// True if the source is on at the start: only if the schedule has no changes.
    pub fn starts_on(&self) -> bool {
        self.changes.times.is_empty()
    }

    /// The next time at which the source is turned on or off, from the start of transmission; `None` if there
    /// is none.
    pub fn next_change(&mut self) -> Option<Span> {
        let Changes { times, repeat } = &self.changes;
        if self.next == times.len() && *repeat && !times.is_empty() {
            self.next = 0;
            self.last += LEAST_PERIOD;
        }
        let change = times.get(self.next)?;
        self.next += 1;
        self.last = match *change {
            // A time before the last change is moved to the time of that change.
            Change::At(law) => draw::span(law, &mut self.random).max(self.last),
            Change::After(law) => self.last + draw::span(law, &mut self.random),
        };
        Some(self.last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Distribution;

    fn at(seconds: u64) -> Change {
        Change::At(Distribution::Constant(Span::from_secs(seconds)))
    }

    fn after(seconds: u64) -> Change {
        Change::After(Distribution::Constant(Span::from_secs(seconds)))
    }

    fn changes(times: &[Change], repeat: bool, most: usize) -> Vec<u64> {
        let mut schedule = Schedule::new(Changes { times: times.to_vec(), repeat }, Random::new(1, 1));
        assert_eq!(schedule.starts_on(), times.is_empty());
        let all = std::iter::from_fn(|| schedule.next_change());
        all.take(most).map(|at| at.as_nanos() / 1_000_000).collect()
    }

    #[test]
    fn absolute_and_relative_times_follow_each_other() {
        assert_eq!(
            changes(&[at(10), after(30), after(60), at(50)], false, 9),
            [10_000, 40_000, 100_000, 100_000]
        );
    }

    #[test]
    fn a_source_without_changes_is_always_on() {
        assert_eq!(changes(&[], true, 9), [0; 0]);
    }

    #[test]
    fn a_repeated_schedule_passes_time_even_if_its_changes_do_not() {
        assert_eq!(changes(&[after(0), after(0)], true, 5), [0, 0, 1, 1, 2]);
    }
}
