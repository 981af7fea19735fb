//! The way of a packet over a link: queue, wire, and arrival at the far end.

use super::Network;
use crate::capture::Sighting;
use crate::channel::{Detour, Passage};
use crate::counters::DropCause;
use crate::event::{NetEvent, Schedule};
use crate::flights::Flight;
use crate::ids::{LinkDir, NodeId};
use crate::ip::Whole;
use crate::network::{Arrival, Delivered};
use crate::packet::{Packet, PacketId, Protocol};
use crate::parcel::Parcel;
use crate::wire::BitError;
use transport::Ecn;
use units::Instant;

/// The payload of a whole IP packet whose transport has ports; otherwise nothing.
#[cold]
fn transport_header(whole: &[u8]) -> &[u8] {
    match Whole::read(whole) {
        Some(Whole { protocol: Some(_), payload, .. }) => whole.get(payload).unwrap_or_default(),
        _ => &[],
    }
}

impl Network {
    #[inline(never)] // two inlined copies would not fit the instruction cache
    pub(super) fn enqueue(
        &mut self,
        schedule: &mut impl Schedule,
        direction: u32,
        packet: PacketId,
        parcel: Parcel,
    ) {
        let now = schedule.now();
        let channel = &mut self.channels[direction as usize];
        match channel.offer(now, parcel) {
            Ok(passage) => {
                if channel.taps.is_some() {
                    self.note_arrival(now, direction, packet);
                    self.record_sent(now, direction, packet, parcel, Sighting::Sent);
                }
                self.leave(schedule, direction, packet, parcel, passage);
            }
            Err(detour) => self.detour(schedule, direction, packet, parcel, detour),
        }
    }

    /// As [`Network::enqueue`], out of line for the rare callers.
    #[cold]
    pub(super) fn enqueue_translated(
        &mut self,
        schedule: &mut impl Schedule,
        direction: u32,
        packet: PacketId,
        parcel: Parcel,
    ) {
        self.enqueue(schedule, direction, packet, parcel);
    }

    /// Handles a packet that has reached a queue and is dropped,
    /// is marked, or is passed to a [`Server`](crate::Server).
    #[cold]
    fn detour(
        &mut self,
        schedule: &mut impl Schedule,
        direction: u32,
        packet: PacketId,
        parcel: Parcel,
        detour: Detour,
    ) {
        let now = schedule.now();
        self.note_arrival(now, direction, packet);
        match detour {
            Detour::Drop(cause) => self.lose(now, direction, packet, parcel, cause),
            Detour::Mark(passage) => {
                self.mark(direction, packet);
                self.record_sent(now, direction, packet, parcel, Sighting::Sent);
                self.leave_late(schedule, direction, packet, parcel, passage);
            }
            Detour::Serve => self.queue_up(schedule, direction, packet, parcel),
        }
    }

    #[cold]
    fn note_arrival(&mut self, at: Instant, direction: u32, packet: PacketId) {
        if self.channels[direction as usize].taps.as_ref().is_some_and(|taps| taps.watched) {
            let Packet { src, dst, protocol, .. } = self.packet(packet);
            let ports = self.ports(packet);
            self.arrivals.push(Arrival { at, link: LinkDir(direction), src, dst, protocol, ports });
        }
    }

    /// Source and destination port: in every transport the first two 16-bit words of the payload. Both
    /// are zero if a whole IP packet (from a real host) has a transport protocol that is not known.
    pub(super) fn ports(&self, packet: PacketId) -> [u16; 2] {
        let head = self.pool.head(packet);
        let head = match self.pool.get(packet).protocol {
            Protocol::Opaque => transport_header(head),
            _ => head,
        };
        let word = |n: usize| head.get(n..n + 2).map_or(0, |word| u16::from_be_bytes([word[0], word[1]]));
        [word(0), word(2)]
    }

    /// Sets "congestion experienced" in an ECN-capable packet.
    pub(super) fn mark(&mut self, direction: u32, packet: PacketId) {
        let stored = self.pool.get_mut(packet);
        if stored.ecn != Ecn::NotCapable {
            stored.ecn = Ecn::CongestionExperienced;
            self.channels[direction as usize].counters.marked += 1;
        }
    }

    /// As [`Network::leave`], out of line for the rare callers.
    #[cold]
    pub(super) fn leave_late(
        &mut self,
        schedule: &mut impl Schedule,
        direction: u32,
        packet: PacketId,
        parcel: Parcel,
        passage: Passage,
    ) {
        self.leave(schedule, direction, packet, parcel, passage);
    }

    /// Puts a packet that has passed the queue on the wire.
    #[inline(always)] // into `enqueue`, which calls it for nearly all packets
    fn leave(
        &mut self,
        schedule: &mut impl Schedule,
        direction: u32,
        packet: PacketId,
        parcel: Parcel,
        passage: Passage,
    ) {
        let channel = &mut self.channels[direction as usize];
        if channel.to_host {
            self.pool.prefetch(packet);
        }
        if channel.wire.is_some() {
            self.cross_bad_wire(schedule, direction, packet, parcel, passage);
        } else {
            self.fly(schedule, direction, Some(packet), parcel, passage);
        }
    }

    /// Adds a packet behind the packets already in flight.
    #[inline(always)] // into `leave`, which calls it for nearly all packets
    fn fly(
        &mut self,
        schedule: &mut impl Schedule,
        direction: u32,
        packet: Option<PacketId>,
        parcel: Parcel,
        passage: Passage,
    ) {
        let channel = &mut self.channels[direction as usize];
        let Passage { start, arrival } = passage;
        channel.flights.push(Flight { start, arrival, packet, parcel });
        if packet.is_some() && !channel.armed {
            channel.armed = true;
            schedule.at(arrival, NetEvent::arrive(LinkDir(direction)));
        }
    }

    /// Draws the effects of a wire with impairments on a packet that has passed the queue.
    fn cross_bad_wire(
        &mut self,
        schedule: &mut impl Schedule,
        direction: u32,
        packet: PacketId,
        parcel: Parcel,
        passage: Passage,
    ) {
        let now = schedule.now();
        let channel = &mut self.channels[direction as usize];
        channel.flights.pop_shadows();
        let stored = self.pool.get(packet);
        let payload = parcel.size() - stored.dst.header_len();
        let header = channel.framing_and(stored.dst.header_len());
        let inside = u64::from(stored.header_inside()) * 8;
        let Some(wire) = &mut channel.wire else { return };
        let mut harm = wire.loses().then_some(DropCause::Loss);
        for error in wire.bit_errors(header, u64::from(payload)) {
            match error {
                BitError::Header => harm = harm.or(Some(DropCause::Damaged)),
                BitError::Payload(bit) => self.pool.invert_bit(packet, inside + bit),
            }
        }
        let (twice, (arrival, alone)) = (wire.duplicates(), wire.delay(passage.arrival));
        if let Some(cause) = harm {
            self.fly(schedule, direction, None, parcel, passage);
            self.lose(now, direction, packet, parcel, cause);
            return;
        }
        self.fly(schedule, direction, (!alone).then_some(packet), parcel, Passage { arrival, ..passage });
        if alone {
            self.fly_alone(schedule, direction, packet, parcel, arrival);
        }
        if twice {
            let copy = self.pool.copy(packet);
            self.channels[direction as usize].counters.duplicated += 1;
            self.fly_alone(schedule, direction, copy, parcel, arrival);
        }
    }

    fn fly_alone(
        &mut self,
        schedule: &mut impl Schedule,
        direction: u32,
        packet: PacketId,
        parcel: Parcel,
        arrival: Instant,
    ) {
        let stored = self.pool.get_mut(packet);
        stored.hops = parcel.hops();
        stored.epoch = self.channels[direction as usize].epoch;
        schedule.at(arrival, NetEvent::arrive_alone(LinkDir(direction), packet));
    }

    /// Takes the first packet off the wire and schedules the next arrival.
    ///
    /// `None` if the link has failed since the event was scheduled.
    #[inline]
    pub(super) fn first_arrival(
        &mut self,
        schedule: &mut impl Schedule,
        direction: LinkDir,
    ) -> Option<(PacketId, Parcel)> {
        let channel = &mut self.channels[direction.index()];
        if channel.wire.is_some() {
            channel.flights.backlog(schedule.now());
            channel.flights.pop_shadows();
        }
        if channel.flights.front()?.arrival != schedule.now() {
            return None;
        }
        let flight = channel.flights.pop()?;
        match channel.flights.next_arrival() {
            Some(arrival) => schedule.at(arrival, NetEvent::arrive(direction)),
            None => channel.armed = false,
        }
        Some((flight.packet?, flight.parcel))
    }

    pub(super) fn arrive_alone(
        &mut self,
        schedule: &mut impl Schedule,
        direction: LinkDir,
        packet: PacketId,
    ) -> Option<Delivered> {
        let stored = self.pool.get(packet);
        let size = stored.header_outside() + self.pool.head(packet).len() as u32 + stored.zeros;
        let parcel = Parcel::new(stored.dst.interface(), size, stored.hops, stored.ecn);
        if stored.epoch != self.channels[direction.index()].epoch {
            self.lose(schedule.now(), direction.0, packet, parcel, DropCause::LinkDown);
            return None;
        }
        self.arrive(schedule, direction, packet, parcel)
    }

    #[inline(always)]
    pub(super) fn arrive(
        &mut self,
        schedule: &mut impl Schedule,
        direction: LinkDir,
        packet: PacketId,
        parcel: Parcel,
    ) -> Option<Delivered> {
        let channel = &mut self.channels[direction.index()];
        channel.counters.delivered += 1;
        channel.counters.delivered_bytes += channel.wire_bytes(parcel.size());
        let node = channel.to;
        let to_host = channel.to_host;
        if let Some(tap) = channel.taps.as_ref().and_then(|taps| taps.receiver) {
            self.record(schedule.now(), tap, packet, parcel.hops(), Sighting::Received);
        }
        if to_host {
            self.note_delivery(schedule.now(), direction, packet, parcel.size());
            return Some(Delivered { node: NodeId(node), packet });
        }
        match self.routes.direction(node, parcel.dst) {
            Some(next) => self.enqueue(schedule, next, packet, parcel.one_hop_on()),
            None => self.arrive_without_route(schedule, direction, packet, parcel),
        }
        None
    }

    #[inline]
    fn note_delivery(&mut self, now: Instant, direction: LinkDir, packet: PacketId, size: u32) {
        let head = self.pool.head(packet);
        self.digest.word(now.as_nanos());
        self.digest.word(u64::from(direction.0) << 32 | u64::from(size));
        self.digest.word(head.len() as u64);
        for word in head.chunks_exact(8).take(2) {
            self.digest.word(u64::from_le_bytes(word.try_into().expect("chunks of eight")));
        }
    }

    /// Counts, captures and releases a packet that is dropped in `direction`.
    #[cold]
    pub(super) fn lose(
        &mut self,
        now: Instant,
        direction: u32,
        packet: PacketId,
        parcel: Parcel,
        cause: DropCause,
    ) {
        self.channels[direction as usize].counters.count_drop(cause);
        self.record_sent(now, direction, packet, parcel, Sighting::Dropped(cause));
        self.pool.release(packet);
    }

    pub(super) fn fail(&mut self, now: Instant, direction: LinkDir) {
        while let Some(flight) = self.channels[direction.index()].flights.pop() {
            if let Some(packet) = flight.packet {
                self.lose(now, direction.0, packet, flight.parcel, DropCause::LinkDown);
            }
        }
        for queued in self.drain(direction) {
            self.lose(now, direction.0, queued.packet, queued.parcel, DropCause::LinkDown);
        }
        let channel = &mut self.channels[direction.index()];
        channel.up = false;
        channel.reset(now);
    }
}
