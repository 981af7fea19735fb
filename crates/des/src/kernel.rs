use crate::heap::{Entry, Heap};
use crate::near::Near;
use units::{Instant, Span};

/// An event queue and its clock.
///
/// Events run in the order of their time, and events of the same instant in the order in which they were
/// scheduled. `E` should be small (16 bytes at most), because events are copied often.
///
/// ```
/// # use anabranch_des as des;
/// use des::Kernel;
/// use units::Instant;
///
/// let mut kernel = Kernel::new();
/// kernel.schedule(Instant::from_nanos(20), "second");
/// kernel.schedule(Instant::from_nanos(10), "first");
/// while let Some(event) = kernel.pop(Instant::FAR) {
///     println!("{}: {event}", kernel.now());
/// }
/// ```
#[derive(Debug)]
pub struct Kernel<E> {
    /// Events before the horizon, at most eight.
    near: Near<E>,
    /// Events from the horizon on.
    far: Heap<E>,
    horizon: Instant,
    /// How far a move sets the horizon (the boundary between
    /// `near` and `far`) beyond the first event of `far`.
    stride: Span,
    /// Number of events processed when the horizon last moved.
    processed_then: u64,
    now: Instant,
    scheduled: u64,
    processed: u64,
}

/// Target number of events between two moves of the horizon, the boundary between `near` and `far`.
///
/// If there were fewer events, the next move sets the horizon twice as far ahead; if
/// there were more than four times as many, half as far. So most timers stay in `far`.
const BATCH: u64 = 64;

const LONGEST_STRIDE: Span = Span::from_secs(1);

impl<E: Copy> Default for Kernel<E> {
    fn default() -> Self {
        Self::new()
    }
}

impl<E: Copy> Kernel<E> {
    /// An empty queue at [`Instant::ZERO`].
    pub fn new() -> Self {
        Kernel {
            near: Near::default(),
            far: Heap::default(),
            horizon: Instant::ZERO,
            stride: Span::from_micros(1),
            processed_then: 0,
            now: Instant::ZERO,
            scheduled: 0,
            processed: 0,
        }
    }

    /// The time of the current event, which is the last one popped.
    #[inline]
    pub fn now(&self) -> Instant {
        self.now
    }

    /// Schedules `event` at `at`, or now if that time has passed, after all other events of the same instant.
    #[inline]
    pub fn schedule(&mut self, at: Instant, event: E) {
        let time = at.max(self.now);
        let number = self.scheduled;
        self.scheduled += 1;
        if time < self.horizon && !self.near.is_full() {
            self.near.insert(time, number, event);
        } else {
            self.defer(time, number, event);
        }
    }

    /// Stores an event beyond the horizon (the boundary between the near
    /// queue and the heap), or an event for which the near queue is full.
    #[inline(never)] // not inlined, so that [`Self::schedule`] needs no registers for this
    fn defer(&mut self, time: Instant, number: u64, event: E) {
        if time < self.horizon && time < self.draw_horizon_in() {
            self.near.insert(time, number, event);
        } else {
            self.far.push(Entry { time, number, event });
        }
    }

    /// Removes the next event not later than `until`; its time becomes [`Kernel::now`].
    ///
    /// Returns `None` if there is no such event; then the clock does not move.
    #[inline]
    pub fn pop(&mut self, until: Instant) -> Option<E> {
        if self.near.is_empty() {
            self.far.first().filter(|first| first.time <= until)?;
            self.move_horizon();
        }
        let &Entry { time, event, .. } = self.near.first()?;
        if time > until {
            return None;
        }
        self.near.pop();
        self.now = time;
        self.processed += 1;
        Some(event)
    }

    /// Moves the clock to `to` without an event. The clock never moves back, and never beyond the next event.
    pub fn advance(&mut self, to: Instant) {
        self.now = self.now.max(self.peek_time().map_or(to, |next| to.min(next)));
    }

    /// The time of the next event.
    #[inline]
    pub fn peek_time(&self) -> Option<Instant> {
        self.near.first().or_else(|| self.far.first()).map(|first| first.time)
    }

    /// Number of events popped since the start.
    pub fn events_processed(&self) -> u64 {
        self.processed
    }

    /// Number of pending events.
    pub fn len(&self) -> usize {
        self.near.len() + self.far.len()
    }

    /// True if no event is pending.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Moves the horizon (the boundary between `near` and `far`) behind
    /// the first event of `far` when no event is left in `near`.
    fn move_horizon(&mut self) {
        let Some(&first) = self.far.first() else { return };
        self.near.begin(first.time);
        self.horizon = first.time + self.stride;
        let mut next = Some(first);
        while let Some(entry) = next {
            if self.near.is_full() {
                self.horizon = entry.time;
                break;
            }
            self.far.pop();
            self.near.insert(entry.time, entry.number, entry.event);
            next = self.far.first().copied().filter(|entry| entry.time < self.horizon);
        }
        let ran = self.processed - std::mem::replace(&mut self.processed_then, self.processed);
        if ran < BATCH {
            self.stride = (self.stride * 2).min(LONGEST_STRIDE);
        } else if ran > 4 * BATCH {
            self.halve_stride();
        }
    }

    /// If too many events are in `near`, moves the later half of them to
    /// `far`, and the horizon back to the first of these. Returns the horizon.
    ///
    /// An event that is then scheduled at the time of the horizon goes
    /// to `far`, behind earlier events of this instant: the order stays.
    #[cold]
    fn draw_horizon_in(&mut self) -> Instant {
        for entry in self.near.spill() {
            self.horizon = entry.time;
            self.far.push(entry);
        }
        self.halve_stride();
        self.horizon
    }

    fn halve_stride(&mut self) {
        self.stride = (self.stride / 2).max(Span::from_nanos(1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ns(n: u64) -> Instant {
        Instant::from_nanos(n)
    }

    #[test]
    fn events_of_one_instant_run_in_the_order_they_were_scheduled() {
        let mut kernel = Kernel::new();
        for event in 0..50 {
            kernel.schedule(ns(7), event);
        }
        let order: Vec<i32> = std::iter::from_fn(|| kernel.pop(Instant::FAR)).collect();
        assert_eq!(order, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn an_event_later_than_until_stays_and_the_clock_does_not_move() {
        let mut kernel = Kernel::new();
        kernel.schedule(ns(10), 'a');
        kernel.schedule(ns(30), 'b');
        assert_eq!((kernel.pop(ns(20)), kernel.now()), (Some('a'), ns(10)));
        assert_eq!((kernel.pop(ns(20)), kernel.now()), (None, ns(10)));
        assert_eq!((kernel.len(), kernel.peek_time()), (1, Some(ns(30))));
        assert_eq!((kernel.pop(ns(30)), kernel.now()), (Some('b'), ns(30)));
        assert!(kernel.is_empty());
        assert_eq!(kernel.events_processed(), 2);
    }

    #[test]
    fn the_clock_advances_without_events_but_not_beyond_the_next_and_not_back() {
        let mut kernel = Kernel::new();
        kernel.schedule(ns(5), 'a');
        kernel.pop(Instant::FAR);
        kernel.advance(ns(20));
        kernel.advance(ns(10));
        assert_eq!(kernel.now(), ns(20));
        kernel.schedule(ns(1), 'b');
        kernel.schedule(ns(30), 'c');
        assert_eq!((kernel.pop(ns(25)), kernel.now()), (Some('b'), ns(20)));
        kernel.advance(ns(50));
        assert_eq!((kernel.now(), kernel.pop(Instant::FAR)), (ns(30), Some('c')));
    }

    #[test]
    fn an_event_scheduled_in_the_past_runs_now_behind_all_events_of_now() {
        let mut kernel = Kernel::new();
        kernel.schedule(ns(10), 1);
        kernel.schedule(ns(10), 2);
        kernel.pop(Instant::FAR);
        kernel.schedule(ns(3), 3);
        assert_eq!(kernel.pop(Instant::FAR), Some(2));
        assert_eq!((kernel.pop(Instant::FAR), kernel.now()), (Some(3), ns(10)));
    }

    proptest! {
        /// Compares with a sorted list. Many operations are pops, so that the near events are often refilled.
        #[test]
        fn the_kernel_behaves_as_a_stably_sorted_list(operations in prop::collection::vec((0u8..4, 0u64..40), 1..300)) {
            let mut kernel = Kernel::new();
            let mut model: Vec<(Instant, usize)> = Vec::new();
            for (id, (kind, delay)) in operations.into_iter().enumerate() {
                let now = kernel.now();
                match kind {
                    0 | 1 => {
                        let at = ns(now.as_nanos() + delay);
                        kernel.schedule(at, id);
                        let place = model.partition_point(|entry| entry.0 <= at);
                        model.insert(place, (at, id));
                    }
                    2 => prop_assert_eq!(kernel.peek_time(), model.first().map(|entry| entry.0)),
                    _ => {
                        let until = ns(now.as_nanos() + delay);
                        let expected = model.first().filter(|entry| entry.0 <= until).copied();
                        if let Some((at, _)) = expected {
                            model.remove(0);
                            prop_assert_eq!(kernel.pop(until), expected.map(|entry| entry.1));
                            prop_assert_eq!(kernel.now(), at);
                        } else {
                            prop_assert_eq!(kernel.pop(until), None);
                        }
                    }
                }
                prop_assert_eq!(kernel.len(), model.len());
            }
        }

        /// Schedules thousands of events, close together or far apart, so that the horizon
        /// (the boundary between near and far events) moves both forward and back.
        #[test]
        fn dense_and_sparse_events_keep_their_order(
            rounds in prop::collection::vec((0u32..50, 1usize..600, 0usize..400), 1..20),
            spread in prop::collection::vec(0u64..1000, 7),
        ) {
            let mut kernel = Kernel::new();
            let mut model = std::collections::BTreeMap::new();
            let mut number = 0usize;
            for (scale, pushes, pops) in rounds {
                for _ in 0..pushes {
                    let delay = spread[number % spread.len()].checked_shl(scale).unwrap_or(0);
                    let at = ns(kernel.now().as_nanos() + delay);
                    kernel.schedule(at, number);
                    model.insert((at, number), number);
                    number += 1;
                }
                for _ in 0..pops {
                    let expected = model.pop_first().map(|((at, _), id)| (at, id));
                    prop_assert_eq!(kernel.peek_time(), expected.map(|(at, _)| at));
                    prop_assert_eq!(kernel.pop(Instant::FAR), expected.map(|(_, id)| id));
                }
                prop_assert_eq!(kernel.len(), model.len());
            }
        }
    }
}
