//! Links with a server as discipline: the server keeps the waiting packets until the transmitter asks it.

use super::Network;
use crate::capture::Sighting;
use crate::event::{NetEvent, Schedule};
use crate::ids::LinkDir;
use crate::packet::PacketId;
use crate::parcel::Parcel;
use crate::queue::Queued;
use des::Digest;
use std::net::IpAddr;
use units::Instant;

impl Network {
    /// Passes a packet that arrives now to the server of a link.
    ///
    /// If a transmission ends now, the server first chooses the next packet. So the result does not depend on
    /// the order of simultaneous events.
    pub(super) fn queue_up(
        &mut self,
        schedule: &mut impl Schedule,
        direction: u32,
        packet: PacketId,
        parcel: Parcel,
    ) {
        let now = schedule.now();
        self.transmit(schedule, direction);
        let flow = self.flow(packet);
        let channel = &mut self.channels[direction as usize];
        channel.queue_up(now, Queued { packet, parcel, arrived: now, flow, marked: false });
        self.lose_dropped(now, direction);
        self.transmit(schedule, direction);
        let channel = &mut self.channels[direction as usize];
        channel.note_queue_length();
        if let Some(at) = channel.line().and_then(|line| line.schedule()) {
            schedule.at(at, NetEvent::transmit(LinkDir(direction)));
        }
    }

    /// Starts the next transmission of a link whose transmitter is
    /// free. An event that another event has replaced has no effect.
    pub(super) fn free(&mut self, schedule: &mut impl Schedule, direction: LinkDir) {
        let now = schedule.now();
        if !self.channels[direction.index()].line().is_some_and(|line| line.fire(now)) {
            return;
        }
        self.transmit(schedule, direction.0);
        let line = self.channels[direction.index()].line();
        if let Some(at) = line.and_then(|line| line.schedule()) {
            schedule.at(at, NetEvent::transmit(direction));
        }
    }

    /// Starts the transmissions that can start now. There are several if they take no time, or if
    /// the rate is that of a trace and several packets share one of its delivery opportunities.
    fn transmit(&mut self, schedule: &mut impl Schedule, direction: u32) {
        let now = schedule.now();
        loop {
            let next = self.channels[direction as usize].serve(now);
            self.lose_dropped(now, direction);
            let Some((Queued { packet, parcel, marked, .. }, passage)) = next else { return };
            if marked {
                self.mark(direction, packet);
            }
            self.record_sent(now, direction, packet, parcel, Sighting::Sent);
            self.leave_late(schedule, direction, packet, parcel, passage);
        }
    }

    fn lose_dropped(&mut self, now: Instant, direction: u32) {
        while let Some((queued, cause)) =
            self.channels[direction as usize].line().and_then(|line| line.dropped())
        {
            self.lose(now, direction, queued.packet, queued.parcel, cause);
        }
    }

    /// Takes all packets out of the server of a link.
    pub(super) fn drain(&mut self, direction: LinkDir) -> Vec<Queued> {
        self.channels[direction.index()].line().map(|line| line.drain()).unwrap_or_default()
    }

    /// The hash of a packet's flow: see [`Queued::flow`].
    fn flow(&self, packet: PacketId) -> u64 {
        let stored = self.pool.get(packet);
        let mut digest = Digest::new();
        for address in [stored.src, stored.dst] {
            let bits = match self.addresses.address(address) {
                IpAddr::V4(v4) => v4.to_ipv6_mapped().to_bits(),
                IpAddr::V6(v6) => v6.to_bits(),
            };
            digest.word((bits >> 64) as u64);
            digest.word(bits as u64);
        }
        let [from, to] = self.ports(packet);
        digest.word(u64::from(stored.protocol as u8) << 32 | u64::from(from) << 16 | u64::from(to));
        digest.value()
    }
}
