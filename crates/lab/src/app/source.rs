use super::bounds::Bounds;
use crate::host::{ConnId, Service, Transport};
use crate::scenario::{Pace, Traffic};
use crate::traffic::{Draft, Generator, Schedule};
use des::Random;
use units::{Instant, Span};

/// The sender of NetPerfMeter: frames, divided into messages of filler bytes.
#[derive(Debug)]
#[repr(C)] // the fields that each message changes come first
pub(crate) struct Source {
    pub(crate) counters: SourceCounters,
    /// The last message, and how many of its bytes the transport has not accepted yet. A byte stream may
    /// accept a part of a message. The source offers the rest again unchanged, so that random draws do not
    /// depend on when the buffer has room.
    message: Draft,
    left: u32,
    is_on: bool,
    /// True if a frame became due while the source was off.
    held: bool,
    /// True if the next frame is planned.
    planned: bool,
    generator: Generator,
    schedule: Schedule,
    /// Lengths of the messages that the transport accepted. A receiver of a byte stream (TCP) needs them to
    /// count messages.
    pub(super) bounds: Bounds,
}

/// The counters of a source since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceCounters {
    /// Messages that the transport accepted completely.
    pub(crate) messages: u64,
    /// Payload that the transport accepted, bytes.
    pub(crate) bytes: u64,
    /// Messages of a paced source that were dropped because the queue was full.
    pub(crate) dropped: u64,
}

impl Source {
    /// Creates a source. `random` determines the frames, and
    /// `turns` the times at which the source is turned on and off.
    pub(crate) fn new(traffic: Traffic, [random, turns]: [Random; 2]) -> Self {
        let schedule = Schedule::new(traffic.changes.clone(), turns);
        Source {
            is_on: schedule.starts_on(),
            held: false,
            planned: false,
            schedule,
            generator: Generator::new(traffic, random),
            message: Draft::default(),
            left: 0,
            bounds: Bounds::default(),
            counters: SourceCounters::default(),
        }
    }

    /// Fills the send buffer of the transport, at the start and each time there is room again. A saturated
    /// source sends as much as the transport accepts. A paced source sends only the rest of a message that
    /// was accepted in part.
    pub(crate) fn refill(&mut self, now: Instant, endpoint: &mut impl Transport, id: ConnId) {
        while self.left > 0 || (self.is_on && self.generator.is_saturated()) {
            if self.left == 0 {
                self.draw();
            }
            self.offer(now, endpoint, id);
            if self.left > 0 {
                return;
            }
        }
    }

    /// Sends the next frame of a paced source and drops the messages that do not fit the queue. Returns the
    /// wait until the following frame; `None` if the source is saturated or off.
    pub(crate) fn frame(&mut self, now: Instant, endpoint: &mut impl Transport, id: ConnId) -> Option<Span> {
        self.planned = false;
        if self.generator.is_saturated() {
            return None;
        }
        self.held = !self.is_on;
        if self.held {
            return None;
        }
        self.generator.activate(now);
        loop {
            // The rest of an earlier message must leave first on a byte stream, so this message is dropped.
            if self.left > 0 {
                self.generator.draft();
                self.counters.dropped += 1;
            } else {
                self.draw();
                self.offer(now, endpoint, id);
                if self.left == self.message.length {
                    self.left = 0;
                    self.counters.dropped += 1;
                }
            }
            if self.generator.frame_is_complete() {
                let wait = self.generator.wait(now);
                self.planned = wait.is_some();
                return wait;
            }
        }
    }

    /// Changes the pace of the frames. Returns true if the next frame is due now.
    pub(crate) fn set_pace(&mut self, pace: Pace) -> bool {
        self.generator.set_pace(pace);
        !self.planned
    }

    /// The next time at which the source is turned on or off, from the start of transmission.
    pub(crate) fn next_change(&mut self) -> Option<Span> {
        self.schedule.next_change()
    }

    /// Turns the source on or off. Returns true if a frame waited for the source to be turned on.
    pub(crate) fn turn(&mut self) -> bool {
        self.is_on = !self.is_on;
        self.is_on && self.held
    }

    #[inline]
    fn draw(&mut self) {
        self.message = self.generator.draft();
        self.left = self.message.length;
    }

    /// Offers the rest of the message. A part remains if the buffer is full or the connection is closing.
    fn offer(&mut self, now: Instant, endpoint: &mut impl Transport, id: ConnId) {
        let Draft { length, stream, unordered, reliability } = self.message;
        let taken = endpoint.send(now, id, self.left, Service { stream, unordered, reliability });
        self.counters.bytes += u64::from(taken);
        if endpoint.is_stream() && taken > 0 && self.left == length {
            self.bounds.push(length);
        }
        self.left -= taken;
        self.counters.messages += u64::from(self.left == 0);
    }
}
