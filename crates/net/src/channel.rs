use crate::capture::Tap;
use crate::counters::{Counters, DropCause};
use crate::flights::{Flights, Parcel};
use crate::queue::{Backlog, Limit, Red};
use crate::topology::Impairments;
use des::Random;
use units::{BitRate, ByteCount, Instant, Pace, Span};

/// One direction of a link at work: queue, transmitter and wire.
///
/// A packet's whole way is computed when it is offered: it starts when the transmitter has finished all before it. So
/// the end of a transmission is no event, and a crossing of the link costs one event, the arrival.
#[derive(Debug)]
pub(crate) struct Channel {
    pub flights: Flights,
    pub counters: Counters,
    queue: Queue,
    transmitter: Transmitter,
    delay: Span,
    framing: u32,
    mtu: u32,
    /// The node at the far end.
    pub to: u32,
    pub to_host: bool,
    /// The arrival of the first flight that has a packet is in the kernel.
    pub armed: bool,
    pub up: bool,
    /// Counts failures, to tell packets that travel on their own and started before one.
    pub epoch: u16,
    host: Option<HostJitter>,
    pub wire: Option<Box<Wire>>,
    pub taps: Taps,
}

/// Captures of the two interfaces at the ends of a channel, and whether what comes to it is noted.
#[derive(Debug, Default)]
pub(crate) struct Taps {
    pub watched: bool,
    pub sender: Option<Tap>,
    pub receiver: Option<Tap>,
}

#[derive(Debug)]
pub(crate) enum Queue {
    DropTail(Limit),
    Red(Box<Red>),
}

#[derive(Debug)]
struct Transmitter {
    pace: Pace,
    busy_until: Instant,
    /// What [`Pace::serialise`] carries into the next packet.
    carry: u64,
}

/// The processing time of the host at the far end, folded into the arrival.
#[derive(Debug)]
pub(crate) struct HostJitter {
    pub most: Span,
    pub random: Random,
    pub last_arrival: Instant,
}

/// A wire that does harm.
#[derive(Debug)]
pub(crate) struct Wire {
    pub impairments: Impairments,
    pub random: Random,
    /// Good bits before the next bad one.
    pub good_bits: u64,
}

/// When a packet leaves the queue and when it arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage {
    pub start: Instant,
    pub arrival: Instant,
}

/// What a channel is made of.
pub(crate) struct Parts {
    pub rate: Option<BitRate>,
    pub delay: Span,
    pub framing: u32,
    pub mtu: u32,
    pub queue: Queue,
    pub to: u32,
    pub host: Option<HostJitter>,
    pub to_host: bool,
    pub wire: Option<Box<Wire>>,
}

impl Channel {
    pub fn new(parts: Parts) -> Self {
        let Parts { rate, delay, framing, mtu, queue, to, host, to_host, wire } = parts;
        Channel {
            flights: Flights::new(),
            counters: Counters::default(),
            queue,
            transmitter: Transmitter::new(rate),
            delay,
            framing,
            mtu,
            to,
            to_host,
            armed: false,
            up: true,
            epoch: 0,
            host,
            wire,
            taps: Taps::default(),
        }
    }

    /// Bytes on the wire of an IP packet of `size` bytes.
    #[inline]
    pub fn wire_bytes(&self, size: u32) -> ByteCount {
        ByteCount::new(u64::from(self.framing) + u64::from(size))
    }

    /// Bytes of framing and of an IP header: those in which a bit error costs the packet.
    pub fn framing_and(&self, ip_header: u32) -> u64 {
        u64::from(self.framing) + u64::from(ip_header)
    }

    /// The packet's fate at the entrance: the reason of its drop, or its way.
    #[inline]
    pub fn offer(&mut self, now: Instant, parcel: Parcel) -> Result<Passage, DropCause> {
        self.counters.offered += 1;
        if !self.up {
            return Err(DropCause::LinkDown);
        }
        if parcel.size() > self.mtu {
            return Err(DropCause::TooBig);
        }
        let backlog = if self.transmitter.is_idle(now) {
            self.flights.all_started();
            Backlog::default()
        } else {
            self.flights.backlog(now)
        };
        let size = ByteCount::new(u64::from(parcel.size()));
        match &mut self.queue {
            Queue::DropTail(limit) if !limit.admits(backlog, size) => return Err(DropCause::QueueFull),
            Queue::DropTail(_) => {}
            Queue::Red(red) => red.admit(now, backlog, size)?,
        }
        let wire_bytes = self.wire_bytes(parcel.size());
        let (start, end) = self.transmitter.take(now, wire_bytes);
        if start > now {
            self.counters.queue_max = self.counters.queue_max.max(backlog.packets + 1);
        }
        if let Queue::Red(red) = &mut self.queue {
            red.empties_at(start);
        }
        let mut arrival = end + self.delay;
        if let Some(host) = &mut self.host {
            arrival = host.arrival(arrival);
        }
        Ok(Passage { start, arrival })
    }

    pub fn backlog(&mut self, now: Instant) -> Backlog {
        self.flights.backlog(now)
    }

    pub fn red_average(&self) -> Option<f64> {
        match &self.queue {
            Queue::DropTail(_) => None,
            Queue::Red(red) => Some(red.average()),
        }
    }

    /// Begins anew with nothing queued and nothing on the wire.
    pub fn reset(&mut self, now: Instant) {
        self.epoch = self.epoch.wrapping_add(1);
        self.flights = Flights::new();
        self.armed = false;
        self.transmitter.busy_until = now;
        self.transmitter.carry = 0;
        if let Queue::Red(red) = &mut self.queue {
            red.empties_at(now);
        }
        if let Some(host) = &mut self.host {
            host.last_arrival = now;
        }
    }
}

impl Transmitter {
    fn new(rate: Option<BitRate>) -> Self {
        let pace = rate.map_or(Pace::UNLIMITED, BitRate::pace);
        Transmitter { pace, busy_until: Instant::ZERO, carry: 0 }
    }

    /// Nothing waits, and a packet that comes starts at once.
    #[inline]
    fn is_idle(&self, now: Instant) -> bool {
        self.busy_until <= now
    }

    /// Start and end of the transmission of a packet that comes at `now`, behind all that came before.
    #[inline]
    fn take(&mut self, now: Instant, bytes: ByteCount) -> (Instant, Instant) {
        if now > self.busy_until {
            self.busy_until = now;
            self.carry = 0;
        }
        let start = self.busy_until;
        let (time, carry) = self.pace.serialise(bytes, self.carry);
        self.carry = carry;
        self.busy_until = start + time;
        (start, self.busy_until)
    }
}

impl HostJitter {
    #[inline]
    fn arrival(&mut self, at: Instant) -> Instant {
        let processed = at + self.random.uniform_span(Span::ZERO, self.most);
        self.last_arrival = processed.max(self.last_arrival);
        self.last_arrival
    }
}

/// Where a bit error lies.
pub(crate) enum BitError {
    /// In framing or IP header.
    Header,
    /// This bit of the IP payload.
    Payload(u64),
}

impl Wire {
    pub fn new(impairments: Impairments, mut random: Random) -> Self {
        let good_bits = random.geometric(impairments.bit_errors);
        Wire { impairments, random, good_bits }
    }

    pub fn loses(&mut self) -> bool {
        self.random.bernoulli(self.impairments.loss)
    }

    pub fn duplicates(&mut self) -> bool {
        self.random.bernoulli(self.impairments.duplication)
    }

    /// The extra delay of a packet that may leave the order of the wire, and so travels on its own.
    pub fn reorders(&mut self) -> Option<Span> {
        let Impairments { jitter, reordering, reordering_delay, .. } = self.impairments;
        let held_back = if self.random.bernoulli(reordering) { Some(reordering_delay) } else { None };
        if jitter.is_zero() {
            return held_back;
        }
        Some(self.random.uniform_span(Span::ZERO, jitter) + held_back.unwrap_or_default())
    }

    /// The bit errors of one packet with `header` bytes before `payload` bytes.
    pub fn bit_errors(&mut self, header: u64, payload: u64) -> Vec<BitError> {
        let mut errors = Vec::new();
        if self.impairments.bit_errors.is_zero() {
            return errors;
        }
        let (header, bits) = (header * 8, (header + payload) * 8);
        let mut position = 0;
        while self.good_bits < bits - position {
            position += self.good_bits;
            errors.push(match position.checked_sub(header) {
                Some(bit) => BitError::Payload(bit),
                None => BitError::Header,
            });
            position += 1;
            self.good_bits = self.random.geometric(self.impairments.bit_errors);
        }
        self.good_bits -= bits - position;
        errors
    }
}
