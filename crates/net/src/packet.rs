use crate::address::AddressId;
use std::net::IpAddr;
use std::num::NonZeroU32;
use units::Instant;

/// The ECN field of an IP header ([RFC 3168](https://www.rfc-editor.org/rfc/rfc3168#section-5)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not speak ECN.
    #[default]
    NotCapable = 0,
    /// ECT(1).
    Capable1 = 1,
    /// ECT(0).
    Capable0 = 2,
    /// Congestion experienced.
    CongestionExperienced = 3,
}

/// What an IP packet carries, by its number in the IP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Protocol {
    /// [RFC 9293](https://www.rfc-editor.org/rfc/rfc9293).
    Tcp = 6,
    /// [RFC 768](https://www.rfc-editor.org/rfc/rfc768).
    Udp = 17,
    /// [RFC 9260](https://www.rfc-editor.org/rfc/rfc9260).
    #[default]
    Sctp = 132,
}

/// Names a packet that is inside the network or waits to be released by its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketId(NonZeroU32);

impl PacketId {
    #[inline]
    pub(crate) fn new(index: usize) -> Self {
        let number = u32::try_from(index + 1).ok().and_then(NonZeroU32::new);
        PacketId(number.expect("fewer than 2^32 packets at once"))
    }

    #[inline]
    pub(crate) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A packet to send, apart from its stored bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Source address: one of the sender's.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// What it carries.
    pub protocol: Protocol,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// Zero bytes that follow the stored ones and are not stored.
    pub zeros: usize,
}

/// A packet as its receiver sees it.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// What it carries.
    pub protocol: Protocol,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// When its sender handed it to the network.
    pub sent_at: Instant,
    /// The stored bytes of the IP payload.
    pub head: &'a [u8],
    /// Zero bytes that follow them.
    pub zeros: usize,
    /// A bit of the payload was inverted on the way: the transport's checksum must be verified, even where checksums
    /// are otherwise left to hardware.
    pub corrupted: bool,
}

/// A packet as it is stored.
#[derive(Debug)]
pub(crate) struct Stored {
    pub head: Vec<u8>,
    pub zeros: u32,
    pub src: AddressId,
    pub dst: AddressId,
    pub protocol: Protocol,
    pub ecn: Ecn,
    pub corrupted: bool,
    /// Links crossed, and the direction's epoch at the last transmission: only kept for packets that travel outside
    /// of a channel's order.
    pub hops: u8,
    pub epoch: u32,
    pub sent_at: Instant,
}

/// Storage of all packets. Slots keep their buffers, so that in steady state nothing is allocated.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    slots: Vec<Stored>,
    free: Vec<PacketId>,
}

impl Pool {
    /// Stores a packet, taking over the bytes of `head` and leaving an empty buffer there.
    #[inline]
    pub fn store(
        &mut self,
        head: &mut Vec<u8>,
        zeros: u32,
        src: AddressId,
        dst: AddressId,
        protocol: Protocol,
        ecn: Ecn,
    ) -> PacketId {
        let id = self.free.pop().unwrap_or_else(|| self.grow());
        let slot = &mut self.slots[id.index()];
        std::mem::swap(&mut slot.head, head);
        head.clear();
        (slot.zeros, slot.src, slot.dst) = (zeros, src, dst);
        (slot.protocol, slot.ecn, slot.corrupted) = (protocol, ecn, false);
        id
    }

    #[cold]
    fn grow(&mut self) -> PacketId {
        let id = PacketId::new(self.slots.len());
        let (src, dst) = (AddressId::default(), AddressId::default());
        self.slots.push(Stored {
            head: Vec::new(),
            zeros: 0,
            src,
            dst,
            protocol: Protocol::Sctp,
            ecn: Ecn::NotCapable,
            corrupted: false,
            hops: 0,
            epoch: 0,
            sent_at: Instant::ZERO,
        });
        id
    }

    /// Stores a copy.
    pub fn copy(&mut self, id: PacketId) -> PacketId {
        let mut head = self.get(id).head.clone();
        let &Stored { zeros, src, dst, protocol, ecn, corrupted, sent_at, .. } = self.get(id);
        let copy = self.store(&mut head, zeros, src, dst, protocol, ecn);
        let stored = self.get_mut(copy);
        (stored.corrupted, stored.sent_at) = (corrupted, sent_at);
        copy
    }

    #[inline]
    pub fn get(&self, id: PacketId) -> &Stored {
        &self.slots[id.index()]
    }

    /// Brings a packet that will soon be read into the cache.
    #[inline]
    pub fn touch(&self, id: PacketId) {
        std::hint::black_box(self.get(id).head.first().copied());
    }

    #[inline]
    pub fn get_mut(&mut self, id: PacketId) -> &mut Stored {
        &mut self.slots[id.index()]
    }

    #[inline]
    pub fn release(&mut self, id: PacketId) {
        self.free.push(id);
    }

    /// Packets stored and not released.
    pub fn in_use(&self) -> usize {
        self.slots.len() - self.free.len()
    }
}

impl Stored {
    /// Inverts one bit of the payload, storing zeros up to it if it lies there.
    pub fn invert_bit(&mut self, bit: u64) {
        let byte = (bit / 8) as usize;
        if byte >= self.head.len() {
            let stored = byte + 1;
            self.zeros -= (stored - self.head.len()) as u32;
            self.head.resize(stored, 0);
        }
        self.head[byte] ^= 0x80 >> (bit % 8);
        self.corrupted = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(pool: &mut Pool, head: &mut Vec<u8>, zeros: u32) -> PacketId {
        let address = AddressId::default();
        pool.store(head, zeros, address, address, Protocol::Udp, Ecn::NotCapable)
    }

    #[test]
    fn a_bit_inverted_among_the_zeros_stores_them_up_to_it() {
        let mut pool = Pool::default();
        let id = store(&mut pool, &mut vec![0xff; 4], 10);
        let packet = pool.get_mut(id);
        packet.invert_bit(1);
        packet.invert_bit(6 * 8 + 7);
        assert_eq!((&packet.head[..], packet.zeros), (&[0xbf, 0xff, 0xff, 0xff, 0, 0, 1][..], 7));
        packet.invert_bit(13 * 8);
        assert_eq!((packet.head.len(), packet.head[13], packet.zeros), (14, 0x80, 0));
    }

    #[test]
    fn a_released_buffer_serves_the_next_packet() {
        let mut pool = Pool::default();
        let mut head = Vec::with_capacity(100);
        head.push(7);
        let id = store(&mut pool, &mut head, 0);
        pool.release(id);
        assert!(head.is_empty());
        store(&mut pool, &mut head, 0);
        assert!(head.is_empty() && head.capacity() >= 100, "the first packet's buffer comes back, empty");
        assert_eq!(pool.in_use(), 1);
    }
}
