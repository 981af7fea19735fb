//! The traffic of NetPerfMeter (paper 001, section 4.4): times, lengths and streams of messages. Simulated
//! flows and the measuring tool on real networks share it.

pub(crate) mod draw;
mod schedule;

pub use schedule::Schedule;

use crate::scenario::{Distribution, OnOff, Pace, Traffic};
use des::Random;
use sctp::Reliability;
use units::{Instant, Probability, Span};

/// Generates the frames of a [`Traffic`] with their random times and lengths, and divides them into messages.
#[derive(Clone, Debug)]
// The fields that each message reads come first. They are copies of values of `traffic`.
#[repr(C)]
pub struct Generator {
    /// Bytes of the current frame that are not yet part of a message.
    frame_left: u64,
    /// Bytes of each frame; zero if the length is drawn.
    frame: u64,
    /// Bytes of the largest message.
    most: u64,
    /// The stream of the next message, and the number of streams.
    stream: u16,
    streams: u16,
    saturated: bool,
    /// How the last message is delivered (ordered or not, reliable or not), and whether this is drawn for
    /// each message.
    kind: Kind,
    kind_varies: bool,
    random: Random,
    traffic: Traffic,
    /// End of the current active time of a source with pauses.
    on_until: Instant,
}

/// A message to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Draft {
    /// Length of the message in bytes.
    pub length: u32,
    /// Stream of the message.
    pub stream: u16,
    /// True if the message may be delivered out of order.
    pub unordered: bool,
    /// The reliability policy of the message.
    pub reliability: Reliability,
}

/// How a message is sent.
#[derive(Clone, Copy, Debug)]
struct Kind {
    unordered: bool,
    reliability: Reliability,
}

impl Kind {
    #[inline(never)] // not inlined: many sources send messages of one kind
    fn draw(traffic: &Traffic, random: &mut Random) -> Kind {
        let unordered = random.bernoulli(traffic.unordered);
        let unreliable = random.bernoulli(traffic.unreliable);
        Kind { unordered, reliability: if unreliable { traffic.reliability } else { Reliability::Reliable } }
    }
}

impl Generator {
    /// A generator for `traffic` that draws from `random`.
    pub fn new(traffic: Traffic, random: Random) -> Self {
        let varies = |p: Probability| !p.is_zero() && p != Probability::ONE;
        let kind_varies = varies(traffic.unordered) || varies(traffic.unreliable);
        // A constant value is not drawn again for each message.
        let kind = Kind::draw(&traffic, &mut random.clone());
        let frame = match traffic.frame_size {
            Distribution::Constant(_) => draw::size(traffic.frame_size, &mut random.clone()).get(),
            _ => 0,
        };
        Generator {
            frame_left: 0,
            frame,
            most: traffic.max_msg_size.get(),
            stream: 0,
            streams: traffic.streams,
            saturated: traffic.pace == Pace::Saturated,
            kind,
            kind_varies,
            random,
            traffic,
            on_until: Instant::ZERO,
        }
    }

    /// True if frames are sent as soon as the transport accepts them.
    #[inline]
    pub fn is_saturated(&self) -> bool {
        self.saturated
    }

    /// Sends the following frames at another pace.
    pub fn set_pace(&mut self, pace: Pace) {
        self.traffic.pace = pace;
        self.saturated = pace == Pace::Saturated;
    }

    /// True if the last message ended its frame, or there was none yet.
    #[inline]
    pub fn frame_is_complete(&self) -> bool {
        self.frame_left == 0
    }

    /// Begins an active time if a source with pauses has none.
    pub fn activate(&mut self, now: Instant) {
        if let Some(on_off) = self.traffic.on_off
            && now >= self.on_until
        {
            self.on_until = now + draw::span(on_off.on, &mut self.random);
        }
    }

    /// The next message of the current frame, or the first message of a new one.
    #[inline(always)] // into `refill`, which calls it for each message
    pub fn draft(&mut self) -> Draft {
        if self.frame_left == 0 {
            self.frame_left = if self.frame > 0 { self.frame } else { self.draw_frame() };
        }
        let length = self.frame_left.min(self.most) as u32;
        self.frame_left -= u64::from(length);
        let stream = self.stream;
        self.stream = if stream + 1 < self.streams { stream + 1 } else { 0 };
        if self.kind_varies {
            self.kind = Kind::draw(&self.traffic, &mut self.random);
        }
        let Kind { unordered, reliability } = self.kind;
        Draft { length, stream, unordered, reliability }
    }

    #[inline(never)] // not inlined: many sources send frames of one length
    fn draw_frame(&mut self) -> u64 {
        draw::size(self.traffic.frame_size, &mut self.random).get()
    }

    /// The wait from a frame at `now` to the next frame, including a pause if the active time ends before.
    /// `None` if the source is saturated.
    pub fn wait(&mut self, now: Instant) -> Option<Span> {
        let Pace::Frames(rate) = self.traffic.pace else { return None };
        let wait = draw::wait(rate, &mut self.random);
        Some(match self.traffic.on_off {
            Some(OnOff { off, .. }) if now + wait >= self.on_until => {
                self.on_until.since(now) + draw::span(off, &mut self.random)
            }
            _ => wait,
        })
    }
}
