//! The simulated network of the state machine: it delivers, loses, duplicates, replays, changes and forges
//! packets.

use super::forge::{self, Secrets};
use super::{Machine, NETS, Tape};
use crate::Side;
use sctp::{Datagram, Event, Icmp, IcmpNews};
use std::net::IpAddr;
use transport::{Checksum, Ecn, PacketBuf};
use units::ByteCount;
use wire::{Chunk, Data, IData, Packet, Tsn};

/// Largest number of packets in flight, and number of past packets that are kept for replays.
const MOST_FLYING: usize = 256;

/// Largest number of packets without user data that an endpoint may send after one call.
const MOST_ANSWERS: u64 = 40;

#[derive(Clone, Debug)]
pub(super) struct Flying {
    to: Side,
    src: IpAddr,
    dst: IpAddr,
    ecn: Ecn,
    bytes: PacketBuf,
}

impl Machine {
    /// Delivers an ICMP message that quotes an earlier packet, possibly with a changed byte.
    pub(super) fn icmp(&mut self, side: Side, tape: &mut Tape<'_>) {
        let past: Vec<&Flying> = self.history.iter().filter(|sent| sent.to != side).collect();
        if past.is_empty() {
            return;
        }
        let sent = past[tape.below(past.len() as u64) as usize];
        let (src, dst) = (tape.flag().then_some(sent.src), sent.dst);
        let mut quoted = sent.bytes.as_octets().to_vec();
        quoted.truncate(tape.below(40) as usize);
        if tape.flag() && !quoted.is_empty() {
            let at = tape.below(quoted.len() as u64) as usize;
            quoted[at] = tape.byte();
        }
        let mtu = ByteCount::new(tape.below(2_000));
        let what = tape.pick(&[
            Icmp::PacketTooBig { mtu },
            Icmp::PortUnreachable,
            Icmp::ProtocolUnreachable,
            Icmp::Unreachable,
        ]);
        // The ICMP message may end an association that waits for the INIT ACK.
        self.ended |= what == Icmp::ProtocolUnreachable;
        let now = self.now;
        let news = IcmpNews { src, dst, udp_port: 0, quoted: &quoted, what };
        self.host(side).endpoint.on_icmp(now, news);
        self.drain(side);
    }

    /// Collects the packets and events of an endpoint after a call, and checks the bounds of the endpoint.
    pub(super) fn drain(&mut self, side: Side) {
        let now = self.now;
        let host = &mut self.hosts[side as usize];
        let before = host.data_packets();
        let mut packets = 0;
        while let Some(sent) = host.endpoint.poll_transmit(now, &mut self.buf) {
            packets += 1;
            host.sent += 1;
            let data = host.data_packets() - before;
            assert!(
                packets <= MOST_ANSWERS + data,
                "{side:?} sends {packets} packets, {data} of them with data"
            );
            check_order(&self.buf);
            let (to, bytes) = (side.other(), self.buf.clone());
            let flying = Flying { to, src: sent.src, dst: sent.dst, ecn: sent.ecn, bytes };
            if self.flying.len() < MOST_FLYING {
                self.flying.push(flying.clone());
            }
            if self.history.len() == MOST_FLYING {
                self.history.remove(0);
            }
            self.history.push(flying);
        }
        self.record_secrets(side);
        let host = &mut self.hosts[side as usize];
        let mut events = 0;
        while let Some((id, event)) = host.endpoint.poll_event() {
            events += 1;
            assert!(events <= 10_000, "{side:?} reports events without end");
            host.reports.told(id, &event);
            host.undelivered.told(&event);
            match event {
                Event::Connected { .. } => host.association = Some(id),
                Event::Closed { .. } | Event::Restarted => self.ended = true,
                _ => {}
            }
        }
        host.check_bounds();
    }

    /// Records the tags and TSNs of the last packet, which an attacker on the path can see.
    pub(super) fn record_secrets(&mut self, from: Side) {
        let Some(sent) = self.history.last().filter(|sent| sent.to == from.other()) else { return };
        let Ok(packet) = Packet::parse(sent.bytes.as_octets(), Checksum::Offloaded) else { return };
        if packet.header.verification_tag == 0 {
            return;
        }
        let (header, mut theirs) = (packet.header, None);
        for chunk in packet.chunks().map_while(Result::ok) {
            match chunk {
                Chunk::Data(data) => theirs = Some(data.tsn.next()),
                Chunk::IData(data) => theirs = Some(data.tsn.next()),
                Chunk::InitAck(ack) => theirs = Some(ack.0.initial_tsn),
                _ => {}
            }
        }
        let other = self.host(from).secrets.map_or(Tsn(0), |secrets| secrets.theirs);
        let victim = self.host(from.other());
        let theirs = theirs.or(victim.secrets.map(|secrets| secrets.theirs)).unwrap_or(Tsn(0));
        victim.secrets = Some(Secrets { header, theirs, ours: other });
    }

    /// Delivers one packet in flight. If `crossed` is set, it gets another source address, swapped addresses
    /// or the wrong receiver; in an honest run it is duplicated instead.
    pub(super) fn fly(&mut self, tape: &mut Tape<'_>, crossed: bool) {
        if self.flying.is_empty() {
            return;
        }
        let at = tape.below(self.flying.len() as u64) as usize;
        let mut packet = self.flying.swap_remove(at);
        if crossed && !self.honest {
            match tape.below(3) {
                0 => packet.src = [10, tape.below(4) as u8, 0, tape.below(3) as u8].into(),
                1 => std::mem::swap(&mut packet.src, &mut packet.dst),
                _ => packet.to = packet.to.other(),
            }
        }
        self.deliver(&packet);
        if crossed && self.honest {
            self.deliver(&packet); // a duplicate
        }
    }

    pub(super) fn deliver(&mut self, packet: &Flying) {
        if self.server_unreachable && packet.to == Side::Server {
            return;
        }
        let now = self.now;
        let mut datagram = Datagram::new(packet.src, packet.dst, packet.bytes.as_octets());
        // Marks every third ECN-capable packet. This consumes no byte of the tape.
        if packet.ecn != Ecn::NotCapable {
            self.capable += 1;
            datagram.ecn =
                if self.capable.is_multiple_of(3) { Ecn::CongestionExperienced } else { packet.ecn };
        }
        self.host(packet.to).endpoint.handle(now, datagram);
        self.drain(packet.to);
    }

    pub(super) fn deliver_all(&mut self) {
        for packet in std::mem::take(&mut self.flying) {
            self.deliver(&packet);
        }
    }

    /// Delivers a past packet again.
    pub(super) fn replay(&mut self, tape: &mut Tape<'_>) {
        if !self.history.is_empty() {
            let old = self.history[tape.below(self.history.len() as u64) as usize].clone();
            self.deliver(&old);
        }
    }

    pub(super) fn change(&mut self, tape: &mut Tape<'_>) {
        if self.history.is_empty() || self.honest {
            return;
        }
        let mut packet = self.history[tape.below(self.history.len() as u64) as usize].clone();
        packet.bytes = forge::change(tape, &packet.bytes);
        self.deliver(&packet);
    }

    pub(super) fn forge(&mut self, tape: &mut Tape<'_>) {
        let to = if tape.flag() { Side::Client } else { Side::Server };
        let Some(secrets) = self.host(to).secrets.filter(|_| !self.honest) else { return };
        let net = tape.between(1, 3) as u8;
        let bytes = forge::packet(tape, &secrets);
        let (src, dst) = (to.other().address(net), to.address(net.min(NETS)));
        self.deliver(&Flying { to, src, dst, ecn: Ecn::NotCapable, bytes });
    }
}

/// Checks that TSNs ascend within a packet (`rfc9260#section-6.10`).
fn check_order(sent: &PacketBuf) {
    let packet = Packet::parse(sent.as_octets(), Checksum::Offloaded).expect("a packet");
    let mut last: Option<Tsn> = None;
    for chunk in packet.chunks() {
        let (Ok(Chunk::Data(Data { tsn, .. })) | Ok(Chunk::IData(IData { tsn, .. }))) = chunk else {
            continue;
        };
        assert!(last.is_none_or(|last| last.precedes(tsn)), "{tsn:?} after {last:?}");
        last = Some(tsn);
    }
}
