use crate::capture::Tap;
use crate::change::ChannelChange;
use crate::counters::{Counters, DropCause};
use crate::flights::Flights;
use crate::parcel::Parcel;
use crate::queue::Line;
use crate::queue::{Admission, Backlog, Kind, Queued, Verdict};
use crate::rates::Segments;
use crate::transmitter::Transmitter;
use crate::wire::Wire;
use des::Random;
use units::{ByteCount, Instant, Span};

/// One direction of a link at run time: queue, transmitter and wire.
///
/// If the discipline of the queue is an [`Admission`], the start of transmission and the arrival of a packet
/// are computed when the packet reaches the queue: its transmission starts after all earlier transmissions.
/// So the end of a transmission needs no event; the only event is the arrival. If the discipline is a
/// [`Server`](crate::Server), a [`Line`] has the server and the times at which the link asks it.
#[derive(Debug)]
// The fields that each packet needs come first, in as few cache lines as possible: on a network with many
// links, few of their fields are in the cache.
#[repr(C, align(64))]
pub(crate) struct Channel {
    pub flights: Flights,
    framing: u32,
    mtu: u32,
    /// The node at the far end.
    pub to: u32,
    pub to_host: bool,
    /// An event is scheduled for the arrival of the first entry of `flights` that has a packet.
    pub armed: bool,
    pub up: bool,

    transmitter: Transmitter,
    delay: Span,
    pub wire: Option<Box<Wire>>,

    lateness: Lateness,

    queue: Kind,
    /// Observers of the channel; `None` if there are none.
    pub taps: Option<Box<Taps>>,
    pub counters: Counters,
    /// Number of failures. A packet that may arrive out of order stores this number when it leaves the queue,
    /// and is lost if the number has changed when it arrives.
    pub epoch: u16,
}

/// Captures of the two interfaces at the ends of a channel, and whether the network reports the packets that
/// arrive at the queue.
#[derive(Debug, Default)]
pub(crate) struct Taps {
    pub watched: bool,
    pub sender: Option<Tap>,
    pub receiver: Option<Tap>,
}

/// The part of the delay that differs between packets; the packets stay in order.
#[derive(Debug)]
pub(crate) enum Lateness {
    /// The propagation delay is constant, and the node at the far end has no processing time.
    None,
    Host(HostJitter),
    Delay(Box<ChangingDelay>),
}

/// The random processing time of the host at the far end, which is part of the arrival time.
#[derive(Debug)]
pub(crate) struct HostJitter {
    pub most: Span,
    pub random: Random,
    pub last_arrival: Instant,
}

/// A propagation delay that changes. A packet that would overtake another packet arrives together with it.
#[derive(Debug)]
pub(crate) struct ChangingDelay {
    pub segments: Segments<Span>,
    pub last_arrival: Instant,
    pub host: Option<HostJitter>,
}

/// The times at which a packet leaves the queue and arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage {
    pub start: Instant,
    pub arrival: Instant,
}

/// What the network must do with a packet that reaches the queue, other than to pass the packet unchanged.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Detour {
    /// The packet is dropped.
    Drop(DropCause),
    /// The packet passes with a mark.
    Mark(Passage),
    /// The discipline is a server: it gets the packet and decides later.
    Serve,
}

/// Parameters of a channel.
pub(crate) struct Parts {
    pub transmitter: Transmitter,
    pub delay: Span,
    pub framing: u32,
    pub mtu: u32,
    pub queue: Kind,
    pub to: u32,
    pub lateness: Lateness,
    pub to_host: bool,
    pub wire: Option<Box<Wire>>,
}

impl Channel {
    pub fn new(parts: Parts) -> Self {
        let Parts { transmitter, delay, framing, mtu, queue, to, lateness, to_host, wire } = parts;
        Channel {
            flights: Flights::new(),
            counters: Counters::default(),
            queue,
            transmitter,
            delay,
            framing,
            mtu,
            to,
            to_host,
            armed: false,
            up: true,
            epoch: 0,
            lateness,
            wire,
            taps: None,
        }
    }

    /// Bytes on the wire of an IP packet of `size` bytes.
    #[inline]
    pub fn wire_bytes(&self, size: u32) -> ByteCount {
        ByteCount::new(u64::from(self.framing) + u64::from(size))
    }

    /// Number of bytes of the framing and of an IP header. A packet with a bit error in these bytes is lost.
    pub fn framing_and(&self, ip_header: u32) -> u64 {
        u64::from(self.framing) + u64::from(ip_header)
    }

    /// Decides on a packet that arrives at `now`. If the packet passes, returns its times.
    #[inline(always)] // into `Network::enqueue`
    pub fn offer(&mut self, now: Instant, parcel: Parcel) -> Result<Passage, Detour> {
        self.counters.offered += 1;
        if !self.up {
            return Err(Detour::Drop(DropCause::LinkDown));
        }
        if parcel.size() > self.mtu {
            return Err(Detour::Drop(DropCause::TooBig));
        }
        let backlog = if self.transmitter.is_idle(now) {
            self.flights.all_started();
            Backlog::default()
        } else {
            self.flights.backlog(now)
        };
        let verdict = match &mut self.queue {
            Kind::DropTail(limit) => limit.admit(now, backlog, parcel.offered()),
            _ => self.admit(now, backlog, parcel)?,
        };
        if let Verdict::Drop(cause) = verdict {
            return Err(Detour::Drop(cause));
        }
        let (start, end) = self.transmitter.take(now, self.wire_bytes(parcel.size()));
        if start > now {
            self.counters.queue_max = self.counters.queue_max.max(backlog.packets + 1);
        }
        if !matches!(self.queue, Kind::DropTail(_)) {
            self.empties_at(start);
        }
        let passage = Passage { start, arrival: self.arrival(end) };
        if verdict == Verdict::Mark { Err(Detour::Mark(passage)) } else { Ok(passage) }
    }

    /// Asks the discipline of any queue. Drop-tail, the most frequent discipline, has a faster way in
    /// `offer`.
    #[inline(never)]
    fn admit(&mut self, now: Instant, backlog: Backlog, parcel: Parcel) -> Result<Verdict, Detour> {
        match &mut self.queue {
            Kind::DropTail(limit) => Ok(limit.admit(now, backlog, parcel.offered())),
            Kind::Red(red) => Ok(red.admit(now, backlog, parcel.offered())),
            Kind::Admission(other) => Ok(other.admit(now, backlog, parcel.offered())),
            Kind::Server(_) => Err(Detour::Serve),
        }
    }

    /// The arrival time of a packet whose transmission ends at `end`.
    #[inline]
    fn arrival(&mut self, end: Instant) -> Instant {
        match &mut self.lateness {
            Lateness::None => end + self.delay,
            Lateness::Host(host) => host.arrival(end + self.delay),
            Lateness::Delay(changing) => changing.arrival(end),
        }
    }

    #[inline]
    fn empties_at(&mut self, at: Instant) {
        match &mut self.queue {
            Kind::DropTail(_) | Kind::Server(_) => {}
            Kind::Red(red) => red.empties_at(at),
            Kind::Admission(other) => other.empties_at(at),
        }
    }

    /// The server of the queue, and the times at which the link asks
    /// it for a packet; `None` if the discipline is an [`Admission`].
    pub fn line(&mut self) -> Option<&mut Line> {
        match &mut self.queue {
            Kind::Server(line) => Some(line),
            _ => None,
        }
    }

    /// Gives a packet that arrives at `now` to the server.
    pub fn queue_up(&mut self, now: Instant, queued: Queued) {
        if let Kind::Server(line) = &mut self.queue {
            line.enqueue(now, queued, &mut self.transmitter);
        }
    }

    /// The packet whose transmission starts at `now`, chosen by the server, and its times; `None` while the
    /// transmitter is busy or no packet waits.
    pub fn serve(&mut self, now: Instant) -> Option<(Queued, Passage)> {
        let Kind::Server(line) = &mut self.queue else { return None };
        let queued = line.dequeue(now)?;
        let wire_bytes = u64::from(self.framing) + u64::from(queued.parcel.size());
        let end = self.transmitter.send(ByteCount::new(wire_bytes));
        line.next_start = self.transmitter.next_start();
        Some((queued, Passage { start: now, arrival: self.arrival(end) }))
    }

    /// Updates the counter of the longest queue, if a [`Server`](crate::Server)
    /// holds the queue. Packets whose transmission starts now do not count.
    pub fn note_queue_length(&mut self) {
        if let Kind::Server(line) = &mut self.queue {
            self.counters.queue_max = self.counters.queue_max.max(line.waiting.packets);
        }
    }

    pub fn backlog(&mut self, now: Instant) -> Backlog {
        match &self.queue {
            Kind::Server(line) => line.waiting,
            _ => self.flights.backlog(now),
        }
    }

    pub fn average_queue(&self) -> Option<f64> {
        match &self.queue {
            Kind::DropTail(_) | Kind::Server(_) => None,
            Kind::Red(red) => red.average(),
            Kind::Admission(other) => other.average(),
        }
    }

    /// Changes the parameters of the packets whose transmission starts from now on.
    pub fn change(&mut self, change: &ChannelChange) {
        let ChannelChange { rate, delay, .. } = *change;
        rate.into_iter().for_each(|rate| self.transmitter.change_rate(rate));
        self.delay = delay.unwrap_or(self.delay);
        if let Some(wire) = &mut self.wire {
            wire.change(change);
        }
    }

    /// Returns to the initial state, with no packet queued or on the wire. If a
    /// [`Server`](crate::Server) holds the queue, the caller must drain it before.
    pub fn reset(&mut self, now: Instant) {
        self.epoch = self.epoch.wrapping_add(1);
        self.flights = Flights::new();
        self.armed = false;
        self.transmitter.reset(now);
        self.empties_at(now);
        match &mut self.lateness {
            Lateness::None => {}
            Lateness::Host(host) => host.last_arrival = now,
            Lateness::Delay(changing) => changing.reset(now),
        }
        if let Some(wire) = &mut self.wire {
            wire.last_arrival = now;
        }
    }
}

impl HostJitter {
    #[inline(never)] // out of line: hosts without jitter do not run this
    fn arrival(&mut self, at: Instant) -> Instant {
        let processed = at + self.random.uniform_span(Span::ZERO, self.most);
        self.last_arrival = processed.max(self.last_arrival);
        self.last_arrival
    }
}

impl ChangingDelay {
    /// The arrival time of a packet whose transmission ends at `end`; the delay at that time applies.
    #[inline(never)] // out of line: links with a constant delay do not run this
    fn arrival(&mut self, end: Instant) -> Instant {
        self.segments.advance_to(end);
        self.last_arrival = self.last_arrival.max(end + self.segments.value());
        match &mut self.host {
            Some(host) => host.arrival(self.last_arrival),
            None => self.last_arrival,
        }
    }

    fn reset(&mut self, now: Instant) {
        self.segments.reset(now);
        self.last_arrival = now;
        if let Some(host) = &mut self.host {
            host.last_arrival = now;
        }
    }
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::Channel;
    use crate::Counters;
    use std::mem::offset_of;

    #[test]
    fn what_a_packet_looks_at_takes_four_cache_lines() {
        assert!(offset_of!(Channel, transmitter) <= 64 && offset_of!(Channel, lateness) <= 128);
        assert_eq!(offset_of!(Channel, queue), 192);
        assert!(offset_of!(Channel, counters) + offset_of!(Counters, duplicated) <= 256);
    }
}
