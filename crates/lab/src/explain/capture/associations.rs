//! Assigns packets to associations: by ports and verification tags, or by addresses if the handshake was not
//! captured.

use super::data_of;
use super::life::{AssociationReport, Life};
use super::sending::{Acknowledgement, DirectionReport, Seen, Sending};
use std::collections::BTreeMap;
use std::net::IpAddr;
use wire::{Abort, Chunk, CommonHeader, Packet, ShutdownComplete, Tsn};

/// Largest number of associations in a capture, and of entries in each of the maps that find them.
const MOST_ASSOCIATIONS: usize = 1024;
const MOST_KEYS: usize = 16 * MOST_ASSOCIATIONS;

/// One side of an association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct End {
    association: usize,
    side: usize,
}

impl End {
    fn peer(self) -> End {
        End { side: 1 - self.side, ..self }
    }
}

#[derive(Default)]
struct Association {
    /// The verification tag of packets that each side sends.
    tags: [Option<u32>; 2],
    /// Tag and first TSN in the INIT of each side. Another association may have the same ports and the same
    /// tag, but not also the same first TSN.
    inits: [Option<(u32, Tsn)>; 2],
    sending: [Sending; 2],
    life: Life,
}

/// All associations of a capture.
#[derive(Default)]
pub(super) struct Associations {
    list: Vec<Association>,
    /// The sender of packets with these ports, source first, and this tag.
    by_tag: BTreeMap<(u16, u16, u32), End>,
    /// The latest sender of packets with these addresses and ports.
    by_route: BTreeMap<(IpAddr, IpAddr, u16, u16), End>,
}

impl Associations {
    /// Processes a packet. Returns false if the packet was left out, because there are too many associations.
    pub(super) fn take(&mut self, seen: &Seen, packet: &Packet<'_>) -> bool {
        let Some(from) = self.sender(seen, packet) else { return false };
        let association = &mut self.list[from.association];
        let has_data = packet.chunks().flatten().any(|chunk| data_of(&chunk).is_some());
        let path = association.sending[from.side].path(seen.src, seen.dst);
        let back = association.sending[1 - from.side].path(seen.dst, seen.src);
        if has_data {
            association.sending[from.side].on_packet(seen, path);
        }
        let CommonHeader { source_port, destination_port, .. } = packet.header;
        association.life.on_packet(seen, from.side, [source_port, destination_port]);
        // After an error the next chunk cannot be found.
        for chunk in packet.chunks().map_while(Result::ok) {
            association.life.on_chunk(seen, from.side, &chunk);
            if let Some((tsn, length)) = data_of(&chunk) {
                association.sending[from.side].on_data(seen.at, path, tsn, length);
            }
            if let Some(ack) = Acknowledgement::of(&chunk) {
                let bytes = if has_data { ack.length } else { seen.length };
                association.sending[1 - from.side].on_sack(seen.at, back, &ack, bytes);
            }
        }
        true
    }

    /// The sender of a packet; `None` if there are too many associations.
    fn sender(&mut self, seen: &Seen, packet: &Packet<'_>) -> Option<End> {
        let CommonHeader { source_port: from, destination_port: to, verification_tag: tag } = packet.header;
        let first = packet.chunks().next().and_then(Result::ok);
        let route = (seen.src, seen.dst, from, to);
        let end = match first {
            Some(Chunk::Init(init)) => {
                let answers = (to, from, init.initiate_tag);
                let identity = (init.initiate_tag, init.initial_tsn);
                let known = self.by_tag.get(&answers).map(|end| end.peer());
                let known = known.filter(|end| {
                    let own = self.list[end.association].inits[end.side];
                    own.is_none_or(|own| own == identity)
                });
                let end = known.or_else(|| self.open())?;
                self.list[end.association].inits[end.side] = Some(identity);
                self.name(end.peer(), answers);
                end
            }
            // A packet with tag 0 holds an INIT, but the INIT chunk of this packet was not captured.
            _ if tag == 0 => self.by_route.get(&route).copied().or_else(|| self.open())?,
            // With the T bit, the verification tag is that of the other direction.
            Some(
                Chunk::Abort(Abort { reflected_tag: true, .. })
                | Chunk::ShutdownComplete(ShutdownComplete { reflected_tag: true }),
            ) if self.by_route.contains_key(&route) => self.by_route[&route],
            _ => {
                let here = self.by_route.get(&route).copied();
                let here = here.filter(|end| self.list[end.association].tags[end.side] == Some(tag));
                let by_tag = here.or_else(|| self.by_tag.get(&(from, to, tag)).copied());
                let end = by_tag.or_else(|| self.untagged(route)).or_else(|| self.open())?;
                self.name(end, (from, to, tag));
                end
            }
        };
        if let Some(Chunk::InitAck(answer)) = first {
            self.name(end.peer(), (to, from, answer.0.initiate_tag));
        }
        if self.by_route.len() < MOST_KEYS {
            self.by_route.insert(route, end);
            self.by_route.insert((seen.dst, seen.src, to, from), end.peer());
        }
        Some(end)
    }

    /// The sender with these addresses and ports whose tag is not known yet.
    fn untagged(&self, route: (IpAddr, IpAddr, u16, u16)) -> Option<End> {
        let end = *self.by_route.get(&route)?;
        self.list[end.association].tags[end.side].is_none().then_some(end)
    }

    fn open(&mut self) -> Option<End> {
        if self.list.len() >= MOST_ASSOCIATIONS {
            return None;
        }
        self.list.push(Association::default());
        Some(End { association: self.list.len() - 1, side: 0 })
    }

    /// Records that packets with these ports and this tag come from `end`.
    fn name(&mut self, end: End, key: (u16, u16, u32)) {
        if self.by_tag.len() < MOST_KEYS || self.by_tag.contains_key(&key) {
            self.by_tag.insert(key, end);
        }
        let Association { tags, sending, .. } = &mut self.list[end.association];
        tags[end.side].get_or_insert(key.2);
        sending[end.side].ports = (key.0, key.1);
    }

    /// Reports on each association, and on each side that sent data.
    pub(super) fn into_reports(self) -> (Vec<AssociationReport>, Vec<DirectionReport>) {
        let (mut lives, mut directions) = (Vec::new(), Vec::new());
        for (number, association) in self.list.into_iter().enumerate() {
            lives.extend(association.life.into_report(number));
            directions.extend(association.sending.into_iter().filter_map(|one| one.into_report(number)));
        }
        (lives, directions)
    }
}
