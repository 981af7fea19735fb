use super::draw;
use crate::scenario::{Pace, Traffic};
use des::Random;
use sctp::{AssocId, Endpoint, Message, Payload, SendError};
use units::{Instant, Span};

/// The sending half of NetPerfMeter: frames, cut into messages, whose bytes are filler.
#[derive(Debug)]
pub(crate) struct Source {
    traffic: Traffic,
    random: Random,
    /// Bytes of the current frame that no message has taken yet.
    frame_left: u64,
    /// The message the transport refused; it is offered again as it is, so that no draw depends on when there is room.
    refused: Option<Draft>,
    pub(crate) counters: SourceCounters,
}

/// What a source did since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceCounters {
    /// Messages the transport took.
    pub(crate) messages: u64,
    /// Their payload.
    pub(crate) bytes: u64,
    /// Messages of a paced source that found the queue full.
    pub(crate) dropped: u64,
}

#[derive(Clone, Copy, Debug)]
struct Draft {
    length: u32,
    unordered: bool,
}

impl Source {
    pub(crate) fn new(traffic: Traffic, random: Random) -> Self {
        Source { traffic, random, frame_left: 0, refused: None, counters: SourceCounters::default() }
    }

    /// True if the source sends whatever the transport takes.
    pub(crate) fn is_saturated(&self) -> bool {
        self.traffic.pace == Pace::Saturated
    }

    /// Fills the queue of the transport; for a saturated source, at the start and whenever there is room again.
    pub(crate) fn refill(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssocId) {
        loop {
            let draft = match self.refused.take() {
                Some(draft) => draft,
                None => self.draft(),
            };
            if !self.offer(now, endpoint, id, draft) {
                self.refused = Some(draft);
                return;
            }
        }
    }

    /// Sends the next frame of a paced source; of what does not fit the queue nothing is kept. Returns the wait for the
    /// frame after it, none if the source is saturated.
    pub(crate) fn frame(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssocId) -> Option<Span> {
        let Pace::Frames(rate) = self.traffic.pace else { return None };
        loop {
            let draft = self.draft();
            if !self.offer(now, endpoint, id, draft) {
                self.counters.dropped += 1;
            }
            if self.frame_left == 0 {
                return Some(draw::wait(rate, &mut self.random));
            }
        }
    }

    /// The next message: of the current frame, or the first of a new one.
    fn draft(&mut self) -> Draft {
        if self.frame_left == 0 {
            self.frame_left = draw::size(self.traffic.frame_size, &mut self.random).get();
        }
        let length = self.frame_left.min(self.traffic.max_msg_size.get());
        self.frame_left -= length;
        Draft { length: length as u32, unordered: self.random.bernoulli(self.traffic.unordered) }
    }

    /// False if the transport has no room, or takes nothing any more.
    fn offer(&mut self, now: Instant, endpoint: &mut Endpoint, id: AssocId, draft: Draft) -> bool {
        let message = Message { unordered: draft.unordered, ..Message::new(Payload::Filler(draft.length)) };
        match endpoint.send(now, id, message) {
            Ok(()) => {
                self.counters.messages += 1;
                self.counters.bytes += u64::from(draft.length);
                true
            }
            Err(SendError::WouldBlock | SendError::Closed) => false,
            Err(error) => unreachable!("checked when the flow was built: {error}"),
        }
    }
}
