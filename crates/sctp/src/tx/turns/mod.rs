//! Stream schedulers that give the streams turns (`rfc8260#section-3`): all but "first come, first served".
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

/// The rule by which streams get their turns. It sees only which streams have something to send, never their messages.
trait Rule: Debug + Send + Sync {
    /// Called when a stream that had nothing to send has something.
    fn add(&mut self, stream: StreamId);

    /// The stream that has its turn; none if no stream waits.
    fn next(&self) -> Option<StreamId>;

    /// A stream that waits had its turn, and sent so many bytes. `more`: it has something to send again.
    fn sent(&mut self, stream: StreamId, bytes: u64, more: bool);

    /// The priority or weight of a stream changes.
    fn set_value(&mut self, _stream: StreamId, _value: u16) {}

    /// True if the next fragment may go into the same packet as the last one.
    fn shares_packet(&self) -> bool {
        true
    }

    /// The packet at hand gets no more chunks.
    fn packet_done(&mut self) {}
}

/// What a stream sends next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Front {
    /// Nothing.
    None,
    /// A message that was given completely or, with interleaving, any piece of one.
    Whole,
    /// A message whose end is still to be given.
    Open,
}

/// The turns of the streams of an association.
///
/// Without interleaving, the chunks of a message must follow each other: a message that has begun keeps its turn to its end.
/// So a message that the user has not pushed to the end begins only when no other message waits. Otherwise it would keep the
/// others back while they fill the send buffer, and its own rest would find no room there.
#[derive(Debug)]
pub(super) struct Turns {
    rule: Box<dyn Rule>,
    interleaved: bool,
    /// The stream of the message that has begun.
    begun: Option<StreamId>,
    /// Bytes sent of that message.
    bytes: u64,
    /// The stream whose first message is [`Front::Open`].
    open: Option<StreamId>,
}

impl Turns {
    /// None for "first come, first served". `values`: those of the streams by their numbers.
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

    /// Chunks of several messages may alternate from now on. Nothing was sent yet.
    pub(super) fn interleave(&mut self) {
        self.interleaved = true;
        if let Some(stream) = self.open.take() {
            self.rule.add(stream);
        }
    }

    /// The stream that sends next; none if none does. It may have nothing to send if its message has begun.
    pub(super) fn next(&self) -> Option<StreamId> {
        self.begun.or_else(|| self.rule.next()).or(self.open)
    }

    /// The stream of the message that has begun and whose end is still to be sent.
    pub(super) fn begun(&self) -> Option<StreamId> {
        self.begun
    }

    /// A piece was added to the queue of a stream, which `was_empty` before.
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

    /// The [next](Self::next) stream sent a chunk of so many bytes. `ending`: it ended a message.
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

    /// True if the next fragment may go into the same packet as the last one.
    pub(super) fn shares_packet(&self) -> bool {
        self.rule.shares_packet()
    }

    /// The packet at hand gets no more chunks.
    pub(super) fn packet_done(&mut self) {
        if self.begun.is_none() {
            self.rule.packet_done();
        }
    }

    /// The priority or weight of a stream changes.
    pub(super) fn set_value(&mut self, stream: StreamId, value: u16) {
        self.rule.set_value(stream, value);
    }
}
