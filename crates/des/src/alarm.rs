use units::Instant;

/// The wake-up of one component of a simulation: one event, whose time can be changed.
///
/// A kernel cannot remove events, so a wake-up that moves leaves a stale event behind. The alarm recognises
/// stale events and keeps their number small: only an earlier due time schedules another event at once. For a
/// later due time the alarm waits until the pending event fires.
///
/// ```
/// # use anabranch_des::{Alarm, Kernel, Wake};
/// # use units::Instant;
/// # let (mut kernel, mut alarm, deadline) = (Kernel::new(), Alarm::new(), Instant::from_nanos(5));
/// // After every change of the component:
/// if let Some(at) = alarm.set(deadline) {
///     kernel.schedule(at, "wake");
/// }
/// // When the event arrives:
/// # kernel.pop(Instant::FAR);
/// match alarm.fire(kernel.now()) {
///     Wake::Due => { /* run the timers, then set the alarm again */ }
///     Wake::Later(at) => kernel.schedule(at, "wake"),
///     Wake::Stale => {}
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Alarm {
    due: Instant,
    /// Time of the earliest event of this alarm in the kernel;
    /// [`Instant::FAR`] if the kernel has no event of this alarm.
    pending: Instant,
}

/// The meaning of an event of an [`Alarm`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// The component is due now. The alarm is off until it is set again.
    Due,
    /// The due time has moved: schedule the event again for this instant.
    Later(Instant),
    /// Nothing to do: the alarm is off, or an earlier event is pending.
    Stale,
}

impl Default for Alarm {
    fn default() -> Self {
        Self::new()
    }
}

impl Alarm {
    /// Returns an alarm that is off.
    pub fn new() -> Self {
        Alarm { due: Instant::FAR, pending: Instant::FAR }
    }

    /// Sets the due time; [`Instant::FAR`] switches the alarm off.
    ///
    /// If the function returns an instant, the caller must schedule the wake-up event of the component at
    /// that time.
    #[inline]
    #[must_use = "the event must be scheduled"]
    pub fn set(&mut self, due: Instant) -> Option<Instant> {
        self.due = due;
        if due < self.pending {
            self.pending = due;
            return Some(due);
        }
        None
    }

    /// Returns the meaning of the wake-up event that runs at `now`.
    #[inline]
    pub fn fire(&mut self, now: Instant) -> Wake {
        if now != self.pending {
            return Wake::Stale;
        }
        if self.due <= now {
            *self = Alarm::new();
            return Wake::Due;
        }
        self.pending = self.due;
        if self.due == Instant::FAR { Wake::Stale } else { Wake::Later(self.due) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Kernel;

    fn ns(n: u64) -> Instant {
        Instant::from_nanos(n)
    }

    /// Applies moves `(when, new due time)` to an alarm. Returns the times at which it was due, and the event
    /// count.
    fn due_times(moves: &[(u64, u64)]) -> (Vec<u64>, u64) {
        let (mut kernel, mut alarm, mut due) = (Kernel::new(), Alarm::new(), Vec::new());
        for (index, &(when, _)) in moves.iter().enumerate() {
            kernel.schedule(ns(when), Some(index));
        }
        while let Some(event) = kernel.pop(Instant::FAR) {
            match event {
                Some(index) => {
                    if let Some(at) = alarm.set(ns(moves[index].1)) {
                        kernel.schedule(at, None);
                    }
                }
                None => match alarm.fire(kernel.now()) {
                    Wake::Due => due.push(kernel.now().as_nanos()),
                    Wake::Later(at) => kernel.schedule(at, None),
                    Wake::Stale => {}
                },
            }
        }
        (due, kernel.events_processed())
    }

    #[test]
    fn a_deadline_that_moves_on_costs_one_event_each_time_it_would_have_fired() {
        let moves: Vec<(u64, u64)> = (0..100).map(|t| (t, t + 50)).collect();
        let (due, events) = due_times(&moves);
        assert_eq!(due, [149]);
        // 100 events for the moves; then three events of the alarm: at 50, at 100
        // (the time at which it was due when the event at 50 ran), and at 149.
        assert_eq!(events, 103);
    }

    #[test]
    fn an_earlier_deadline_fires_in_time_and_leaves_one_stale_event() {
        assert_eq!(due_times(&[(0, 100), (10, 20)]), (vec![20], 4));
    }

    #[test]
    fn an_alarm_switched_off_never_fires_and_can_be_set_again() {
        assert_eq!(due_times(&[(0, 100), (10, u64::MAX)]).0, Vec::<u64>::new());
        assert_eq!(due_times(&[(0, 100), (10, u64::MAX), (20, 300)]).0, [300]);
        assert_eq!(due_times(&[(0, 100), (10, u64::MAX), (200, 300)]).0, [300]);
    }

    #[test]
    fn a_stale_event_of_the_same_instant_does_not_fire_twice() {
        assert_eq!(due_times(&[(0, 100), (10, 20), (30, 100)]).0, [20, 100]);
    }
}
