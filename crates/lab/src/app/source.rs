use super::bounds::Bounds;
use crate::host::{ConnId, Service, Transport};
use crate::scenario::Traffic;
use crate::traffic::Generator;
use des::Random;
use units::{Instant, Span};

/// The sending half of NetPerfMeter: frames, cut into messages, whose bytes are filler.
#[derive(Debug)]
#[repr(C)] // the fields that each message changes come first
pub(crate) struct Source {
    pub(crate) counters: SourceCounters,
    generator: Generator,
    /// The message that the transport has not fully accepted. It is offered again unchanged, so that the random draws
    /// do not depend on the times at which the buffer has room.
    refused: Option<Draft>,
    /// The message boundaries in the bytes that the transport accepted, for the receiver of a stream of bytes.
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

#[derive(Clone, Copy, Debug)]
struct Draft {
    length: u32,
    /// Bytes that the transport has not accepted; a stream may accept a part of a message.
    left: u32,
    service: Service,
}

impl Source {
    pub(crate) fn new(traffic: Traffic, random: Random) -> Self {
        Source {
            generator: Generator::new(traffic, random),
            refused: None,
            bounds: Bounds::default(),
            counters: SourceCounters::default(),
        }
    }

    /// Fills the queue of the transport, at the start and whenever there is room again: a saturated source sends as much
    /// as the transport accepts, a paced one only the rest of a message.
    pub(crate) fn refill(&mut self, now: Instant, endpoint: &mut impl Transport, id: ConnId) {
        loop {
            let draft = match self.refused.take() {
                Some(draft) => draft,
                None if self.generator.is_saturated() => self.draft(),
                None => return,
            };
            self.refused = self.offer(now, endpoint, id, draft);
            if self.refused.is_some() {
                return;
            }
        }
    }

    /// Sends the next frame of a paced source and drops the messages that do not fit the queue. Returns the wait until
    /// the following frame; none if the source is saturated.
    pub(crate) fn frame(&mut self, now: Instant, endpoint: &mut impl Transport, id: ConnId) -> Option<Span> {
        if self.generator.is_saturated() {
            return None;
        }
        self.generator.activate(now);
        loop {
            let draft = self.draft();
            // On a byte stream the rest of an earlier message is sent first.
            let rest =
                if self.refused.is_some() { Some(draft) } else { self.offer(now, endpoint, id, draft) };
            match rest {
                Some(rest) if rest.left < rest.length => self.refused = Some(rest),
                Some(_) => self.counters.dropped += 1,
                None => {}
            }
            if self.generator.frame_is_complete() {
                return self.generator.wait(now);
            }
        }
    }

    #[inline(always)]
    fn draft(&mut self) -> Draft {
        let drawn = self.generator.draft();
        let service =
            Service { stream: drawn.stream, unordered: drawn.unordered, reliability: drawn.reliability };
        Draft { length: drawn.length, left: drawn.length, service }
    }

    /// Offers a message and returns the part that was not accepted, because the buffer is full or the connection is
    /// closing.
    fn offer(
        &mut self,
        now: Instant,
        endpoint: &mut impl Transport,
        id: ConnId,
        draft: Draft,
    ) -> Option<Draft> {
        let taken = endpoint.send(now, id, draft.left, draft.service);
        self.counters.bytes += u64::from(taken);
        if endpoint.is_stream() && taken > 0 && draft.left == draft.length {
            self.bounds.push(draft.length);
        }
        if taken < draft.left {
            return Some(Draft { left: draft.left - taken, ..draft });
        }
        self.counters.messages += 1;
        None
    }
}
