//! Transmitters, which determine when the bytes of packets leave onto a link.

mod opportunities;
mod shaped;
mod varying;

use crate::bucket::TokenBucket;
use crate::fault::SpecFault;
use crate::rates::{RateModel, RateSeries, Segments, Trace};
use des::Streams;
use opportunities::Opportunities;
use shaped::Shaped;
use std::fmt::Debug;
use std::sync::Arc;
use units::{BitRate, ByteCount, Instant, Pace};
use varying::Varying;

/// The kind of a transmitter: at which rate, or at which times, the bytes of packets leave.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum TransmitterSpec {
    /// A transmission takes no time, so that no packet ever waits.
    #[default]
    Unlimited,
    /// Bytes leave at a constant rate, which must not be zero.
    Rate(BitRate),
    /// Bytes leave at the delivery opportunities of a trace.
    Trace(Arc<Trace>),
    /// Bytes leave at a rate that changes at given times.
    Series(Arc<RateSeries>),
    /// Bytes leave at a random rate.
    Model(RateModel),
}

impl TransmitterSpec {
    /// The rate, or the mean of a rate that changes; `None` if a transmission takes no time.
    pub fn mean_rate(&self) -> Option<BitRate> {
        match self {
            TransmitterSpec::Unlimited => None,
            TransmitterSpec::Rate(rate) => Some(*rate),
            TransmitterSpec::Trace(trace) => Some(trace.mean_rate()),
            TransmitterSpec::Series(series) => Some(series.mean()),
            TransmitterSpec::Model(model) => Some(model.mean),
        }
    }

    pub(crate) fn check(&self) -> Result<(), SpecFault> {
        match self {
            TransmitterSpec::Rate(rate) => {
                SpecFault::first([(rate.as_bps() > 0, "rate", "a rate above zero")])
            }
            TransmitterSpec::Model(model) => model.check(),
            _ => Ok(()),
        }
    }
}

impl From<BitRate> for TransmitterSpec {
    fn from(rate: BitRate) -> Self {
        TransmitterSpec::Rate(rate)
    }
}

/// A transmitter, which sends one packet after the other.
#[derive(Debug)]
pub(crate) struct Transmitter {
    pace: Pace,
    /// End of the last transmission.
    busy_until: Instant,
    /// The remainder below a nanosecond of the last transmission, for [`Pace::serialise`].
    carry: u64,
    uneven: Option<Box<dyn Uneven>>,
}

/// A transmitter whose rate is not constant.
trait Uneven: Debug + Send {
    /// Called when all transmissions have ended: the next transmission starts at `now` at the earliest.
    fn start(&mut self, now: Instant);

    /// Time at which the next transmission can start.
    fn next_start(&mut self) -> Instant;

    /// Plans a transmission that begins as soon as possible, and returns its end.
    fn send(&mut self, bytes: u64) -> Instant;

    /// Ends the current transmission and all planned transmissions.
    fn reset(&mut self, now: Instant);
}

impl Transmitter {
    /// The transmitter of the direction `name` of a link, which adds `framing` bytes to each packet.
    pub fn new(spec: &TransmitterSpec, framing: u32, streams: &Streams, name: &str) -> Self {
        let varying = |segments| -> Box<dyn Uneven> { Box::new(Varying::new(segments)) };
        let (pace, uneven) = match spec {
            TransmitterSpec::Unlimited => (Pace::UNLIMITED, None),
            TransmitterSpec::Rate(rate) => (rate.pace(), None),
            TransmitterSpec::Trace(trace) => {
                let trace: Box<dyn Uneven> = Box::new(Opportunities::new(trace.clone(), framing));
                (Pace::UNLIMITED, Some(trace))
            }
            TransmitterSpec::Series(series) => {
                (Pace::UNLIMITED, Some(varying(Segments::of_series(series.clone()))))
            }
            TransmitterSpec::Model(model) => {
                let random = streams.stream(&format!("rate {name}"));
                (Pace::UNLIMITED, Some(varying(Segments::of_model(model, random))))
            }
        };
        Transmitter { pace, busy_until: Instant::ZERO, carry: 0, uneven }
    }

    /// Puts a shaper in front of this transmitter.
    pub fn shaped(self, shaper: TokenBucket) -> Self {
        let shaped = Box::new(Shaped::new(shaper, self));
        Transmitter { pace: Pace::UNLIMITED, busy_until: Instant::ZERO, carry: 0, uneven: Some(shaped) }
    }

    /// True if all transmissions have ended.
    #[inline]
    pub fn is_idle(&self, now: Instant) -> bool {
        self.busy_until <= now
    }

    /// Plans the transmission of a packet that arrives at `now`, after all earlier packets. Returns start and
    /// end.
    #[inline]
    pub fn take(&mut self, now: Instant, bytes: ByteCount) -> (Instant, Instant) {
        let start = self.start(now);
        (start, self.send(bytes))
    }

    /// The earliest start of the transmission of a packet that arrives at `now` and finds no packet waiting.
    #[inline]
    pub fn start(&mut self, now: Instant) -> Instant {
        if self.uneven.is_some() {
            return self.start_uneven(now);
        }
        if now > self.busy_until {
            self.busy_until = now;
            self.carry = 0;
        }
        self.busy_until
    }

    #[cold]
    fn start_uneven(&mut self, now: Instant) -> Instant {
        if self.busy_until <= now
            && let Some(uneven) = &mut self.uneven
        {
            uneven.start(now);
        }
        self.next_start()
    }

    /// The earliest start of the transmission that follows the last planned one.
    pub fn next_start(&mut self) -> Instant {
        match &mut self.uneven {
            None => self.busy_until,
            Some(uneven) => uneven.next_start(),
        }
    }

    /// Plans a transmission from the start that [`Self::start`] or [`Self::next_start`] returned last, and
    /// returns its end.
    #[inline]
    pub fn send(&mut self, bytes: ByteCount) -> Instant {
        if self.uneven.is_some() {
            return self.send_uneven(bytes);
        }
        let (time, carry) = self.pace.serialise(bytes, self.carry);
        self.carry = carry;
        self.busy_until += time;
        self.busy_until
    }

    #[cold]
    fn send_uneven(&mut self, bytes: ByteCount) -> Instant {
        if let Some(uneven) = &mut self.uneven {
            self.busy_until = uneven.send(bytes.get());
        }
        self.busy_until
    }

    /// Sets the rate of all later transmissions. The transmitter must have a constant rate.
    pub fn change_rate(&mut self, rate: BitRate) {
        (self.pace, self.carry) = (rate.pace(), 0);
    }

    /// Ends the current transmission and all planned transmissions, because the link failed.
    pub fn reset(&mut self, now: Instant) {
        (self.busy_until, self.carry) = (now, 0);
        if let Some(uneven) = &mut self.uneven {
            uneven.reset(now);
        }
    }
}
