//! Counters of the data sent and received on a flow.

use crate::npmp::Data;
use std::ops::Sub;

/// An amount of data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Bytes of messages, with their headers of 48 bytes.
    pub bytes: u64,
    /// Messages.
    pub packets: u64,
    /// Number of complete frames.
    pub frames: u64,
}

impl Sub for Amount {
    type Output = Amount;

    fn sub(self, before: Amount) -> Amount {
        Amount {
            bytes: self.bytes.saturating_sub(before.bytes),
            packets: self.packets.saturating_sub(before.packets),
            frames: self.frames.saturating_sub(before.frames),
        }
    }
}

impl std::ops::Add for Amount {
    type Output = Amount;

    fn add(self, other: Amount) -> Amount {
        Amount {
            bytes: self.bytes + other.bytes,
            packets: self.packets + other.packets,
            frames: self.frames + other.frames,
        }
    }
}

/// Data of one direction of a flow at one side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Direction {
    /// Amount of data.
    pub amount: Amount,
    /// Time of the first message, in microseconds since 1970; 0 if there was none.
    pub first: u64,
    /// Time of the last message, in microseconds since 1970; 0 if there was none.
    pub last: u64,
}

impl Direction {
    /// Counts a message.
    fn count(&mut self, now: u64, bytes: u64, end_of_frame: bool) {
        self.amount = self.amount + Amount { bytes, packets: 1, frames: end_of_frame.into() };
        if self.first == 0 {
            self.first = now;
        }
        self.last = now;
    }

    /// Time from the first to the last message, in seconds.
    pub fn duration(&self) -> f64 {
        self.last.saturating_sub(self.first) as f64 / 1e6
    }

    /// `value` divided by [`Self::duration`]; 0 if the duration is 0.
    pub fn per_second(&self, value: u64) -> f64 {
        let duration = self.duration();
        if duration > 0.0 { value as f64 / duration } else { 0.0 }
    }
}

/// Counters of a flow at one side.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counters {
    /// Data passed to the transport.
    pub sent: Direction,
    /// Data received.
    pub received: Direction,
    /// Amount of data that the other side had sent up to the newest message that
    /// arrived, that message included.
    expected: Amount,
    /// Interarrival jitter, milliseconds (`rfc3550#section-6.4.1`).
    pub jitter: f64,
    /// Transit time of the last message in milliseconds; valid only if the clocks of both sides agree.
    pub delay: f64,
}

impl Counters {
    /// Counts a message that was passed to the transport.
    pub fn send(&mut self, now: u64, bytes: u64, end_of_frame: bool) {
        self.sent.count(now, bytes, end_of_frame);
    }

    /// Counts a received message. Returns the difference between its transit time and that of the message
    /// before, in milliseconds.
    pub fn receive(&mut self, now: u64, data: &Data, bytes: u64) -> f64 {
        self.received.count(now, bytes, data.end);
        let seen = Amount {
            bytes: data.position.saturating_add(bytes),
            packets: data.sequence.saturating_add(1),
            frames: u64::from(data.frame) + 1,
        };
        self.expected = Amount {
            bytes: self.expected.bytes.max(seen.bytes),
            packets: self.expected.packets.max(seen.packets),
            frames: self.expected.frames.max(seen.frames),
        };
        let delay = (i128::from(now) - i128::from(data.time)) as f64 / 1e3;
        let difference = delay - self.delay;
        self.delay = delay;
        self.jitter += (difference.abs() - self.jitter) / 16.0;
        difference
    }

    /// Data that the other side sent and that did not arrive, up to the newest message that arrived. An
    /// incomplete frame is not lost.
    pub fn lost(&self) -> Amount {
        let lost = self.expected - self.received.amount;
        Amount { frames: if lost.packets > 0 { lost.frames } else { 0 }, ..lost }
    }
}

/// A received message: a row of the vector file of its flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// Time of arrival, in microseconds since 1970.
    pub time: u64,
    /// Number of the message.
    pub sequence: u64,
    /// Bytes of the message.
    pub bytes: u32,
    /// True if the message ended a frame.
    pub end: bool,
    /// Transit time, its difference to that of the message before, and jitter; all in milliseconds.
    pub delay: [f32; 3],
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(sequence: u64, time: u64) -> Data {
        Data {
            sequence,
            position: sequence.saturating_mul(100),
            frame: sequence as u32,
            end: true,
            time,
            ..Data::default()
        }
    }

    #[test]
    fn lost_is_what_was_sent_before_the_last_message_and_did_not_arrive() {
        let mut counters = Counters::default();
        for sequence in [0, 1, 4, 3] {
            counters.receive(1_000, &data(sequence, 0), 100);
        }
        assert_eq!(counters.received.amount, Amount { bytes: 400, packets: 4, frames: 4 });
        assert_eq!(counters.lost(), Amount { bytes: 100, packets: 1, frames: 1 });
        counters.receive(1_000, &data(u64::MAX, 0), 100);
        assert_eq!(counters.lost().packets, u64::MAX - 5, "numbers from the network do not overflow");
    }

    /// The expected values are the first rows of a vector file that NetPerfMeter 1.9.4 wrote.
    #[test]
    fn jitter_is_that_of_netperfmeter() {
        let mut counters = Counters::default();
        let mut row = |arrived, delay| {
            let difference = counters.receive(arrived, &data(0, arrived - delay), 100);
            [counters.delay, difference, counters.jitter].map(|value| (value * 1e3).round() / 1e3)
        };
        assert_eq!(row(1_000, 46), [0.046, 0.046, 0.003]);
        assert_eq!(row(101_000, 97), [0.097, 0.051, 0.006]);
        assert_eq!(row(201_000, 75), [0.075, -0.022, 0.007]);
        assert_eq!(row(301_000, 92), [0.092, 0.017, 0.008]);
    }
}
