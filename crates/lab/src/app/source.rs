use super::bounds::Bounds;
use super::draw;
use crate::host::{ConnId, Transport};
use crate::scenario::{Distribution, Hertz, OnOff, Pace, Traffic};
use des::Random;
use units::{Instant, Span};

/// The sending half of NetPerfMeter: frames, cut into messages, whose bytes are filler.
#[derive(Debug)]
#[repr(C)] // what a message changes first
pub(crate) struct Source {
    pub(crate) counters: SourceCounters,
    /// Bytes of the current frame that no message has taken yet.
    frame_left: u64,
    random: Random,
    /// The message of which the transport did not take all. It is offered again as it is, so that no draw depends on
    /// when there is room.
    refused: Option<Draft>,
    traffic: Traffic,
    /// A source that pauses is active until then.
    on_until: Instant,
    /// Where the messages end in what the transport took, for a receiver to whom a stream of bytes does not tell.
    pub(super) bounds: Bounds,
}

/// What a source did since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SourceCounters {
    /// Messages the transport took, each once it took the whole of it.
    pub(crate) messages: u64,
    /// Payload the transport took.
    pub(crate) bytes: u64,
    /// Messages of a paced source that found the queue full.
    pub(crate) dropped: u64,
}

#[derive(Clone, Copy, Debug)]
struct Draft {
    length: u32,
    /// Bytes the transport has not taken: all, but of a stream fewer.
    left: u32,
    unordered: bool,
}

impl Source {
    pub(crate) fn new(traffic: Traffic, random: Random) -> Self {
        Source {
            traffic,
            random,
            frame_left: 0,
            refused: None,
            on_until: Instant::ZERO,
            bounds: Bounds::default(),
            counters: SourceCounters::default(),
        }
    }

    /// Fills the queue of the transport, at the start and whenever there is room again: a saturated source with all it
    /// takes, a paced one with what is left of a message.
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

    /// Sends the next frame of a paced source; of messages that do not fit the queue nothing is kept. Returns the wait
    /// for the frame after it, none if the source is saturated.
    pub(crate) fn frame(&mut self, now: Instant, endpoint: &mut impl Transport, id: ConnId) -> Option<Span> {
        let Pace::Frames(rate) = self.traffic.pace else { return None };
        if let Some(on_off) = self.traffic.on_off
            && now >= self.on_until
        {
            self.on_until = now + draw::span(on_off.on, &mut self.random);
        }
        loop {
            let draft = self.draft();
            // On a stream the rest of an earlier message goes first.
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

    /// The wait for the next frame, over the pause if the active time ends before it.
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
    fn draft(&mut self) -> Draft {
        if self.frame_left == 0 {
            self.frame_left = draw::size(self.traffic.frame_size, &mut self.random).get();
        }
        let length = self.frame_left.min(self.traffic.max_msg_size.get()) as u32;
        self.frame_left -= u64::from(length);
        Draft { length, left: length, unordered: self.random.bernoulli(self.traffic.unordered) }
    }

    /// What the transport does not take of a message for want of room, or because it takes nothing any more.
    fn offer(
        &mut self,
        now: Instant,
        endpoint: &mut impl Transport,
        id: ConnId,
        draft: Draft,
    ) -> Option<Draft> {
        let taken = endpoint.send(now, id, draft.left, draft.unordered);
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
