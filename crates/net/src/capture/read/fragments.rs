//! Puts fragments of IP packets together, in bounded memory.

use super::{IpPacket, Undecoded};
use std::collections::{BTreeMap, VecDeque};
use std::net::IpAddr;

/// Approximate maximum memory for fragments of incomplete packets.
const MOST_BYTES: usize = 4 << 20;

/// Approximate memory of a fragment in addition to its bytes.
const OVERHEAD: usize = 64;

/// Maximum number of bytes of a packet.
const LONGEST: usize = 65_535;

type Key = (IpAddr, IpAddr, u8, u32);

/// Fragments that wait for the rest of their packets.
#[derive(Debug, Default)]
pub struct Fragments {
    packets: BTreeMap<Key, Parts>,
    /// The incomplete packets in the order in which the first fragment of each
    /// of them arrived. Some of them may have been completed or dropped since.
    order: VecDeque<(Key, u64)>,
    number: u64,
    cost: usize,
    lost: u64,
}

#[derive(Debug, Default)]
struct Parts {
    number: u64,
    cost: usize,
    /// Bytes of the payload; known once the last fragment has arrived.
    total: Option<usize>,
    /// Sum of the lengths of the fragments, captured or not.
    length: usize,
    /// Of each fragment, by its offset: the length and the captured bytes.
    parts: BTreeMap<usize, (usize, Box<[u8]>)>,
    /// Bytes of the headers of all fragments.
    headers: usize,
}

/// An IP packet that was put together.
#[derive(Debug)]
pub struct Reassembled {
    ip: IpPacket<'static>,
    payload: Vec<u8>,
}

impl Reassembled {
    /// The innermost IP packet in this packet, as [`Frame::ip`](super::Frame::ip) finds it.
    ///
    /// # Errors
    /// [`Undecoded`], if there is none.
    pub fn ip(&self) -> Result<Option<IpPacket<'_>>, Undecoded> {
        super::ip::innermost(IpPacket { payload: &self.payload, ..self.ip })
    }
}

impl Fragments {
    /// Adds a fragment. Returns the packet if the fragment completes one.
    pub fn take(&mut self, ip: &IpPacket<'_>) -> Option<Reassembled> {
        let fragment = ip.fragment?;
        let key = (ip.src, ip.dst, ip.protocol, ip.id);
        if fragment.offset + ip.payload_length > LONGEST || ip.payload_length == 0 {
            self.lost += 1;
            return None;
        }
        if !self.packets.contains_key(&key) {
            self.number += 1;
            self.order.push_back((key, self.number));
            self.packets.insert(key, Parts { number: self.number, ..Parts::default() });
        }
        let waiting = self.packets.get_mut(&key)?;
        if !fragment.more {
            waiting.total = Some(fragment.offset + ip.payload_length);
        }
        let cost = ip.payload.len() + OVERHEAD;
        let part = (ip.payload_length, Box::from(ip.payload));
        (waiting.cost, self.cost) = (waiting.cost + cost, self.cost + cost);
        waiting.length += ip.payload_length;
        waiting.headers += ip.length - ip.payload_length;
        // A second fragment at the same offset belongs to a later packet with the same identification. It
        // replaces the first, so that the later packet can become complete.
        if let Some((length, bytes)) = waiting.parts.insert(fragment.offset, part) {
            let cost = bytes.len() + OVERHEAD;
            (waiting.cost, self.cost) = (waiting.cost - cost, self.cost - cost);
            waiting.length -= length;
            self.lost += 1;
        }
        let whole = waiting.is_whole().then(|| self.packets.remove(&key)).flatten();
        if let Some(parts) = whole {
            self.cost -= parts.cost;
            return Some(parts.join(ip));
        }
        while self.cost > MOST_BYTES || self.order.len() > MOST_BYTES / OVERHEAD {
            self.forget_oldest();
        }
        None
    }

    fn forget_oldest(&mut self) {
        let Some((key, number)) = self.order.pop_front() else { return };
        if self.packets.get(&key).is_some_and(|parts| parts.number == number)
            && let Some(parts) = self.packets.remove(&key)
        {
            self.cost -= parts.cost;
            self.lost += parts.parts.len() as u64;
        }
    }

    /// Number of fragments of packets that were not reassembled: other fragments are missing, overlap, or
    /// came too late.
    pub fn left_over(&self) -> u64 {
        self.lost + self.packets.values().map(|parts| parts.parts.len() as u64).sum::<u64>()
    }
}

impl Parts {
    /// True if the fragments follow each other without gaps or overlaps up to the last one.
    fn is_whole(&self) -> bool {
        let mut end = 0;
        self.total == Some(self.length)
            && self.parts.iter().all(|(&offset, (length, _))| {
                let fits = offset == end;
                end = offset + length;
                fits
            })
    }

    fn join(self, last: &IpPacket<'_>) -> Reassembled {
        let payload_length = self.total.unwrap_or_default();
        let mut payload = Vec::with_capacity(payload_length);
        for (length, bytes) in self.parts.values() {
            payload.extend_from_slice(bytes);
            // A payload ends at the first byte that was not
            // captured: later bytes would be at a wrong position.
            if bytes.len() < *length {
                break;
            }
        }
        let IpPacket { src, dst, protocol, ttl, id, .. } = *last;
        let length = self.headers + payload_length;
        let ip =
            IpPacket { src, dst, protocol, payload: &[], payload_length, length, ttl, id, fragment: None };
        Reassembled { ip, payload }
    }
}
