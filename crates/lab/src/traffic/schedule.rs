//! When a flow sends: NetPerfMeter's on/off events.

use crate::npmp::OnOffEvent;
use des::Random;
use std::time::Duration;

/// The times at which a flow is turned on and off, in turn.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    events: Vec<OnOffEvent>,
    repeat: bool,
    next: usize,
    /// Of the last event, from the start on; seconds.
    last: f64,
}

impl Schedule {
    /// Without events a flow is always on; with events it is off until the first one.
    pub fn new(events: Vec<OnOffEvent>, repeat: bool) -> Self {
        Schedule { events, repeat, next: 0, last: 0.0 }
    }

    /// The flow is on at the start.
    pub fn starts_on(&self) -> bool {
        self.events.is_empty()
    }

    /// When the flow is turned on or off next, from the start on; none if it stays as it is.
    pub fn next_change(&mut self, random: &mut Random) -> Option<Duration> {
        /// A schedule that repeats itself passes time.
        const LEAST_PERIOD: f64 = 1e-3;
        if self.next == self.events.len() && self.repeat && !self.events.is_empty() {
            self.next = 0;
            self.last += LEAST_PERIOD;
        }
        let event = self.events.get(self.next)?;
        self.next += 1;
        let [value, second, ..] = event.time.values;
        let drawn = match event.time.generator {
            1 => random.uniform_in(value * (1.0 - second), value * (1.0 + second)),
            2 => random.exponential(value),
            3 => random.pareto(value * second / (second - 1.0), second),
            _ => value,
        };
        // Absolute times that go back are now.
        self.last = if event.relative { self.last + drawn } else { drawn.max(self.last) };
        Duration::try_from_secs_f64(self.last).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::npmp;

    fn events(times: &[(f64, bool)]) -> Vec<OnOffEvent> {
        let event = |&(seconds, relative)| OnOffEvent {
            time: npmp::Random { generator: 0, values: [seconds, 0.0, 0.0, 0.0] },
            relative,
        };
        times.iter().map(event).collect()
    }

    fn changes(mut schedule: Schedule, most: usize) -> Vec<f64> {
        let mut random = Random::new(1, 1);
        let changes = std::iter::from_fn(|| schedule.next_change(&mut random));
        changes.take(most).map(|at| at.as_secs_f64()).collect()
    }

    #[test]
    fn absolute_and_relative_times_follow_each_other() {
        let schedule = Schedule::new(events(&[(10.0, false), (30.0, true), (60.0, true)]), false);
        assert!(!schedule.starts_on());
        assert_eq!(changes(schedule, 9), [10.0, 40.0, 100.0]);
    }

    #[test]
    fn a_flow_without_events_is_always_on() {
        let schedule = Schedule::new(Vec::new(), true);
        assert!(schedule.starts_on());
        assert_eq!(changes(schedule, 9), [0.0; 0]);
    }

    #[test]
    fn a_repeated_schedule_passes_time_even_if_its_events_do_not() {
        let schedule = Schedule::new(events(&[(0.0, true), (0.0, true)]), true);
        assert_eq!(changes(schedule, 5), [0.0, 0.0, 0.001, 0.001, 0.002]);
    }
}
