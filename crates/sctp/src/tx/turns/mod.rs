//! Stream schedulers that give streams turns (`rfc8260#section-3`): all except "first come, first served".
//!
//! In one turn a stream sends one message; with interleaving it sends one chunk.

mod fair;
mod priority;
mod round_robin;
mod values;

#[cfg(test)]
mod tests;

use crate::config::StreamScheduler;
use fair::Fair;
use priority::Priority;
use round_robin::RoundRobin;
use std::fmt::Debug;
use values::Values;
use wire::StreamId;

/// The rule by which streams get turns. The rule depends on which streams have data, not on their messages.
trait Rule: Debug + Send + Sync {
    /// Adds a stream that had no data before and has data now.
    fn add(&mut self, stream: StreamId);

    /// The stream whose turn it is; `None` if no stream waits.
    fn next(&self) -> Option<StreamId>;

    /// Records that a waiting stream had its turn and sent `bytes`. `more`: the stream still has data.
    fn sent(&mut self, stream: StreamId, bytes: u64, more: bool);

    /// Changes the priority or weight of a stream.
    fn set_value(&mut self, _stream: StreamId, _value: u16) {}

    /// The priority or weight of a stream; 0 if the rule has none.
    fn value(&self, _stream: StreamId) -> u16 {
        0
    }

    fn shares_packet(&self) -> bool {
        true
    }

    /// Ends the present packet: it gets no more chunks.
    fn packet_done(&mut self) {}
}

/// State of the message that a stream sends next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Front {
    /// No message waits.
    None,
    /// The user has given the whole message. With interleaving: any part of a message waits.
    Whole,
    /// The user has not given the end of the message yet.
    Open,
}

/// The turns of the streams of an association.
///
/// Without interleaving, the chunks of a message must follow each other: a message that has begun keeps its
/// turn until its end. So an incomplete message begins only when no other message waits. Otherwise the other
/// messages could fill the send buffer, and the user could not push the end of the incomplete message.
#[derive(Debug)]
pub(super) struct Turns {
    rule: Box<dyn Rule>,
    interleaved: bool,
    begun: Option<StreamId>,
    /// Number of bytes that were sent of the message that has begun.
    bytes: u64,
    /// The stream whose first message is [`Front::Open`].
    open: Option<StreamId>,
}

impl Turns {
    /// `None` for "first come, first served". `values` are priorities or weights by stream number.
    pub(super) fn new(scheduler: StreamScheduler, values: &[u16]) -> Option<Self> {
        let values = |default| Values::new(values, default);
        let rule: Box<dyn Rule> = match scheduler {
            StreamScheduler::Fcfs => return None,
            StreamScheduler::Rr => Box::new(RoundRobin::new(false)),
            StreamScheduler::RrPacket => Box::new(RoundRobin::new(true)),
            StreamScheduler::Priority => Box::new(Priority::new(values(0))),
            StreamScheduler::Fair => Box::new(Fair::new(None)),
            StreamScheduler::Wfq => Box::new(Fair::new(Some(values(1)))),
        };
        Some(Turns { rule, interleaved: false, begun: None, bytes: 0, open: None })
    }

    /// Lets chunks of several messages alternate. Called before any data is sent.
    pub(super) fn interleave(&mut self) {
        self.interleaved = true;
        if let Some(stream) = self.open.take() {
            self.rule.add(stream);
        }
    }

    /// The stream that sends next. It may have no data at the moment if a message of it has begun.
    pub(super) fn next(&self) -> Option<StreamId> {
        self.begun.or_else(|| self.rule.next()).or(self.open)
    }

    /// The stream of the message that has begun and whose end is not sent yet.
    pub(super) fn begun(&self) -> Option<StreamId> {
        self.begun
    }

    /// Records that a message (or part of one) was added to the queue of a stream. `was_empty`: the queue was
    /// empty before.
    pub(super) fn pushed(&mut self, stream: StreamId, was_empty: bool, front: Front) {
        if self.begun == Some(stream) {
            return;
        }
        if front == Front::Open {
            self.open = Some(stream);
        } else if self.open == Some(stream) {
            self.open = None;
            self.rule.add(stream);
        } else if was_empty {
            self.rule.add(stream);
        }
    }

    /// Records that the [next](Self::next) stream sent a chunk; `ending`: the chunk ended a message.
    pub(super) fn sent(&mut self, stream: StreamId, bytes: usize, ending: bool, front: Front) {
        if self.open == Some(stream) {
            self.open = None;
            self.rule.add(stream);
        }
        self.bytes += bytes as u64;
        if !ending && !self.interleaved {
            self.begun = Some(stream);
            return;
        }
        self.begun = None;
        self.rule.sent(stream, std::mem::take(&mut self.bytes), front == Front::Whole);
        if front == Front::Open {
            self.open = Some(stream);
        }
    }

    pub(super) fn shares_packet(&self) -> bool {
        self.rule.shares_packet()
    }

    pub(super) fn packet_done(&mut self) {
        if self.begun.is_none() {
            self.rule.packet_done();
        }
    }

    pub(super) fn set_value(&mut self, stream: StreamId, value: u16) {
        self.rule.set_value(stream, value);
    }

    pub(super) fn value(&self, stream: StreamId) -> u16 {
        self.rule.value(stream)
    }
}
