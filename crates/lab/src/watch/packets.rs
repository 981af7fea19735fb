//! The packets on the links, and the flow and path of each packet.

use super::{View, sending_end};
use crate::app::Dial;
use crate::host::{Counted, EndpointId, Noted, Side, Transport, numbers};
use net::{LinkDir, Packet};
use std::collections::{BTreeMap, BTreeSet};
use transport::Octets;
use units::{Instant, Span};
use wire::Tsn;

/// A packet in one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketNow {
    /// Start of the transmission; until then the packet waits in the queue.
    pub start: Instant,
    /// Arrival at the far end of the link.
    pub arrival: Instant,
    /// Flow of the packet; `None` for short transfers, and behind a NAT.
    pub flow: Option<usize>,
    /// Number of the packet's path at the sending end of the flow, from 0.
    pub path: Option<usize>,
    /// Content of the packet.
    pub kind: PacketKind,
}

/// Content of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketKind {
    /// Payload of a first transmission.
    Data,
    /// Payload of a retransmission.
    Retransmission,
    /// No payload: acknowledgements, handshakes, heartbeats.
    Control,
}

/// Time for which a retransmission is remembered, longer than any packet is on the links.
const MEMORY: Span = Span::from_secs(60);

/// Distinguishes retransmissions from first transmissions.
#[derive(Debug, Default)]
pub(crate) struct Packets {
    /// Senders by their endpoint and the peer's port.
    senders: BTreeMap<(EndpointId, u16), Sender>,
}

/// The data that a connection has sent.
#[derive(Debug, Default)]
struct Sender {
    /// The newest TSN or sequence number.
    newest: Option<Tsn>,
    /// Time and number of each retransmission.
    again: BTreeSet<(Instant, u32)>,
}

impl Sender {
    fn sent(&mut self, at: Instant, number: Tsn) {
        match self.newest {
            Some(newest) if !newest.precedes(number) => {
                self.again.insert((at, number.0));
            }
            _ => self.newest = Some(number),
        }
    }

    fn forget(&mut self, now: Instant) {
        while self.again.first().is_some_and(|&(at, _)| now.since(at) > MEMORY) {
            self.again.pop_first();
        }
    }
}

impl Packets {
    /// Records the data sent by all flows since the last call; the first call begins the recording.
    pub(crate) fn catch_up(&mut self, view: &mut View<'_>) {
        for flow in view.flows {
            let endpoint = flow.end(sending_end(flow)).endpoint;
            let Some(log) = view.hosts.watch(endpoint) else { continue };
            for note in log.take() {
                if let Noted::Data { tsn, .. } = note.what {
                    self.senders.entry((endpoint, note.port)).or_default().sent(note.at, tsn);
                }
            }
        }
        self.senders.values_mut().for_each(|sender| sender.forget(view.now));
    }

    /// The packets on these link directions, each with the index of its direction.
    pub(crate) fn now(&self, view: &mut View<'_>, directions: &[LinkDir]) -> Vec<(usize, PacketNow)> {
        let routes: Vec<Route<'_>> = (0..view.flows.len()).map(|flow| Route::of(view, flow)).collect();
        let mut packets = Vec::new();
        for (index, &direction) in directions.iter().enumerate() {
            packets.extend(view.network.under_way(direction).map(|one| {
                let route = routes.iter().position(|route| route.forward(&one.packet).is_some());
                let found = route.map(|flow| (flow, &routes[flow]));
                let path = found.and_then(|(_, route)| route.path(&one.packet));
                let kind = self.kind(&one.packet, found.map(|(_, route)| route));
                (index, PacketNow { start: one.start, arrival: one.arrival, flow: route, path, kind })
            }));
        }
        packets
    }

    fn kind(&self, packet: &Packet<'_>, route: Option<&Route<'_>>) -> PacketKind {
        let mut numbers = numbers(packet.protocol, Octets::new(packet.head, packet.zeros)).peekable();
        if numbers.peek().is_none() {
            return PacketKind::Control;
        }
        let sender = route.and_then(|route| self.senders.get(&(route.endpoint, route.peer_port)));
        let again =
            |number: Tsn| sender.is_some_and(|sender| sender.again.contains(&(packet.sent_at, number.0)));
        if numbers.any(again) { PacketKind::Retransmission } else { PacketKind::Data }
    }
}

/// The addresses and ports of a flow, seen from its sending end.
struct Route<'a> {
    dial: &'a Dial,
    side: Side,
    endpoint: EndpointId,
    peer_port: u16,
    protocol: net::Protocol,
    counted: Counted,
}

impl<'a> Route<'a> {
    fn of(view: &mut View<'a>, flow: usize) -> Self {
        let flow = &view.flows[flow];
        let side = sending_end(flow);
        let end = flow.end(side);
        let endpoint = view.hosts.endpoint(end.endpoint);
        let dial = &flow.dial;
        Route {
            dial,
            side,
            endpoint: end.endpoint,
            peer_port: if side == Side::Client { dial.port } else { dial.local_port },
            protocol: endpoint.protocol(),
            counted: end.conn.map(|conn| endpoint.counted(conn)).unwrap_or_default(),
        }
    }

    /// True if a packet of this flow comes from its sending end; `None` if it belongs to another flow.
    fn forward(&self, packet: &Packet<'_>) -> Option<bool> {
        let Dial { local_port, port, locals, .. } = self.dial;
        if packet.protocol != self.protocol {
            return None;
        }
        let word = |n: usize| Some(u16::from_be_bytes([*packet.head.get(n)?, *packet.head.get(n + 1)?]));
        let ports = (word(0)?, word(2)?);
        let from_client = ports == (*local_port, *port) && locals.contains(&packet.src);
        let to_client = ports == (*port, *local_port) && locals.contains(&packet.dst);
        (from_client || to_client).then_some(from_client == (self.side == Side::Client))
    }

    /// The path of a packet of this flow.
    fn path(&self, packet: &Packet<'_>) -> Option<usize> {
        let (local, remote) =
            if self.forward(packet)? { (packet.src, packet.dst) } else { (packet.dst, packet.src) };
        self.counted.path(local, remote)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_not_newer_is_a_retransmission_also_where_numbers_wrap() {
        let mut sender = Sender::default();
        let at = Instant::from_nanos;
        sender.sent(at(1), Tsn(u32::MAX));
        sender.sent(at(2), Tsn(0));
        sender.sent(at(3), Tsn(u32::MAX));
        assert_eq!(sender.newest, Some(Tsn(0)));
        assert_eq!(sender.again.iter().copied().collect::<Vec<_>>(), [(at(3), u32::MAX)]);
        sender.forget(at(3) + MEMORY);
        assert_eq!(sender.again.len(), 1);
        sender.forget(at(4) + MEMORY);
        assert!(sender.again.is_empty());
    }
}
