//! Base delays and queueing delays.

use std::collections::VecDeque;

use units::{ByteCount, Instant, Span};

use crate::one_way_delay::OneWayDelay;
use crate::window::PathAck;

/// Selects the delay of an acknowledgement: the RTT before the peer
/// first reports a one-way delay, afterwards the one-way delay.
///
/// Unlike a one-way delay, the RTT includes queues on the return path.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    one_way: bool,
}

impl Gauge {
    /// Returns the delay of an acknowledgement, and whether it is the first one-way delay, which is not
    /// comparable with earlier delays.
    pub(crate) fn read(&mut self, ack: &PathAck) -> Option<(OneWayDelay, bool)> {
        let first = ack.owd.is_some() && !self.one_way;
        self.one_way |= first;
        let delay = if self.one_way { ack.owd } else { ack.rtt.map(OneWayDelay::from) };
        delay.map(|delay| (delay, first))
    }
}

/// The latest `most` values, with their minimum and maximum.
#[derive(Debug)]
pub(crate) struct Recent<T> {
    values: VecDeque<T>,
    most: usize,
}

impl<T: Copy + Ord> Recent<T> {
    pub(crate) fn new(most: u32) -> Self {
        let most = most.max(1) as usize;
        Recent { values: VecDeque::with_capacity(most), most }
    }

    pub(crate) fn push(&mut self, value: T) {
        if self.values.len() == self.most {
            self.values.pop_front();
        }
        self.values.push_back(value);
    }

    /// Replaces the last value if `value` is smaller.
    fn lower(&mut self, value: T) {
        if let Some(last) = self.values.back_mut() {
            *last = value.min(*last);
        }
    }

    pub(crate) fn min(&self) -> Option<T> {
        self.values.iter().copied().min()
    }

    pub(crate) fn max(&self) -> Option<T> {
        self.values.iter().copied().max()
    }

    pub(crate) fn is_full(&self) -> bool {
        self.values.len() == self.most
    }

    pub(crate) fn clear(&mut self) {
        self.values.clear();
    }
}

/// The queueing delay of LEDBAT (`rfc6817#section-2.4.2`): the current delay minus the base delay.
///
/// The current delay is the minimum of the latest delay samples. The base delay is the minimum over the
/// latest minutes in which delays were sampled, the current one included. A minute begins at a multiple of 60
/// s of the clock.
#[derive(Debug)]
pub(crate) struct QueueingDelay {
    base: Recent<OneWayDelay>,
    current: Recent<OneWayDelay>,
    minute: Option<u64>,
}

const MINUTE: u64 = Span::from_secs(60).as_nanos();

impl QueueingDelay {
    /// `minutes`: length of the base delay history. `filter`: number of samples whose minimum is the current
    /// delay.
    pub(crate) fn new(minutes: u32, filter: u32) -> Self {
        QueueingDelay { base: Recent::new(minutes), current: Recent::new(filter), minute: None }
    }

    pub(crate) fn sample(&mut self, now: Instant, delay: OneWayDelay) {
        let minute = now.as_nanos() / MINUTE;
        if self.minute == Some(minute) {
            self.base.lower(delay);
        } else {
            self.minute = Some(minute);
            self.base.push(delay);
        }
        self.current.push(delay);
    }

    pub(crate) fn base(&self) -> Option<OneWayDelay> {
        self.base.min()
    }

    /// The queueing delay in seconds.
    pub(crate) fn queue(&self) -> Option<f64> {
        Some(self.current.min()?.beyond(self.base()?).as_secs_f64())
    }

    pub(crate) fn clear(&mut self) {
        self.base.clear();
        self.current.clear();
        self.minute = None;
    }
}

/// Detects the end of a round trip: all bytes that were in flight at its start are acknowledged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Round {
    left: ByteCount,
}

impl Round {
    /// A round that begins with `in_flight` bytes in flight.
    pub(crate) fn starting(in_flight: ByteCount) -> Self {
        Round { left: in_flight }
    }

    /// True if the acknowledgement ends the round; then the next round begins.
    pub(crate) fn ends(&mut self, ack: &PathAck) -> bool {
        let ends = ack.acked >= self.left;
        self.left = if ends { ack.flight_after } else { self.left - ack.acked };
        ends
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn difference_of_one_way_delays_is_never_negative() {
        let (a, b) = (OneWayDelay::from_nanos(-5), OneWayDelay::from_nanos(7));
        assert_eq!((b.beyond(a), a.beyond(b)), (Span::from_nanos(12), Span::ZERO));
        let (least, most) = (OneWayDelay::from_nanos(i64::MIN), OneWayDelay::from_nanos(i64::MAX));
        assert_eq!(most.beyond(least), Span::MAX);
    }

    // rfc6817#section-2.4.2, with a base delay history of six minutes, as in paper 004 (LEDBAT-MP).
    #[test]
    fn base_delay_forgets_the_minute_before_its_history() {
        let mut delay = QueueingDelay::new(6, 1);
        let ms = |n: i64| OneWayDelay::from_nanos(n * 1_000_000);
        delay.sample(Instant::ZERO, ms(10));
        for second in 1..=360u64 {
            assert_eq!(delay.base(), Some(ms(10)), "{second}");
            delay.sample(Instant::ZERO + Span::from_secs(second), ms(110));
        }
        assert_eq!((delay.base(), delay.queue()), (Some(ms(110)), Some(0.0)));
    }

    #[test]
    fn current_delay_is_the_minimum_of_the_filter() {
        let mut delay = QueueingDelay::new(10, 4);
        let queues: Vec<f64> = [10, 50, 40, 60, 70, 80, 90]
            .map(|ms| {
                delay.sample(Instant::ZERO, OneWayDelay::from(Span::from_millis(ms)));
                delay.queue().unwrap() * 1000.0
            })
            .into();
        let expected = [0.0, 0.0, 0.0, 0.0, 30.0, 30.0, 50.0];
        assert!(queues.iter().zip(expected).all(|(q, e)| (q - e).abs() < 1e-9), "{queues:?}");
    }
}
