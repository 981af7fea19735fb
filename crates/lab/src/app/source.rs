use super::bounds::Bounds;
use super::draw;
use crate::host::{ConnId, Service, Transport};
use crate::scenario::{Distribution, Hertz, OnOff, Pace, Traffic};
use des::Random;
use sctp::Reliability;
use units::{Instant, Span};

/// The sending half of NetPerfMeter: frames, cut into messages, whose bytes are filler.
#[derive(Debug)]
#[repr(C)] // the fields that each message changes come first
pub(crate) struct Source {
    pub(crate) counters: SourceCounters,
    /// Bytes of the current frame that are not yet part of a message.
    frame_left: u64,
    /// The stream of the next message.
    stream: u16,
    random: Random,
    /// The message that the transport has not fully accepted. It is offered again unchanged, so that the random draws
    /// do not depend on the times at which the buffer has room.
    refused: Option<Draft>,
    traffic: Traffic,
    /// End of the current active time of a source that pauses.
    on_until: Instant,
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
            traffic,
            random,
            frame_left: 0,
            stream: 0,
            refused: None,
            on_until: Instant::ZERO,
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
                None if self.traffic.pace == Pace::Saturated => self.draft(),
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
        let Pace::Frames(rate) = self.traffic.pace else { return None };
        if let Some(on_off) = self.traffic.on_off
            && now >= self.on_until
        {
            self.on_until = now + draw::span(on_off.on, &mut self.random);
        }
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
            if self.frame_left == 0 {
                return Some(self.wait(now, rate));
            }
        }
    }

    /// The wait until the next frame, with the pause if the active time ends before that frame.
    fn wait(&mut self, now: Instant, rate: Distribution<Hertz>) -> Span {
        let wait = draw::wait(rate, &mut self.random);
        match self.traffic.on_off {
            Some(OnOff { off, .. }) if now + wait >= self.on_until => {
                self.on_until.since(now) + draw::span(off, &mut self.random)
            }
            _ => wait,
        }
    }

    /// The next message: of the current frame, or the first of a new one.
    #[inline]
    fn draft(&mut self) -> Draft {
        if self.frame_left == 0 {
            self.frame_left = draw::size(self.traffic.frame_size, &mut self.random).get();
        }
        let length = self.frame_left.min(self.traffic.max_msg_size.get()) as u32;
        self.frame_left -= u64::from(length);
        let stream = self.stream;
        self.stream = if stream + 1 < self.traffic.streams { stream + 1 } else { 0 };
        let unordered = self.random.bernoulli(self.traffic.unordered);
        let unreliable = self.random.bernoulli(self.traffic.unreliable);
        let reliability = if unreliable { self.traffic.reliability } else { Reliability::Reliable };
        Draft { length, left: length, service: Service { stream, unordered, reliability } }
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
