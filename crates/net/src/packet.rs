use crate::address::AddressId;
use prefetch_index::prefetch_index;
use std::net::IpAddr;
use std::num::NonZeroU32;
use transport::Ecn;
use units::Instant;

/// A transport protocol, by its number in the IP header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Protocol {
    /// TCP ([RFC 9293](https://www.rfc-editor.org/rfc/rfc9293)).
    Tcp = 6,
    /// UDP ([RFC 768](https://www.rfc-editor.org/rfc/rfc768)).
    Udp = 17,
    /// SCTP ([RFC 9260](https://www.rfc-editor.org/rfc/rfc9260)).
    #[default]
    Sctp = 132,
    /// A whole IP packet of a real host, including its header, with any protocol. The number 255 is reserved
    /// and never appears on the wire.
    Opaque = 255,
}

/// Identifies a packet that is in the network or that its receiver has not released.
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

/// Header fields and number of zeros of a packet to send. The bytes before
/// the zeros are an argument of [`Network::send`](crate::Network::send).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Source address: an address of the host that sends the packet.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// Transport protocol.
    pub protocol: Protocol,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// Number of zero bytes that follow the stored bytes. They are not stored.
    pub zeros: usize,
}

/// A packet as its receiver sees it.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// Source address.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// Transport protocol.
    pub protocol: Protocol,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// Time at which the sender passed the packet to the network.
    pub sent_at: Instant,
    /// The stored bytes of the IP payload.
    pub head: &'a [u8],
    /// Number of zero bytes that follow the stored bytes.
    pub zeros: usize,
    /// Bits of the payload were inverted. The receiver must verify the checksum of the transport, even if
    /// checksums are otherwise offloaded.
    pub corrupted: bool,
}

/// A packet as it is stored, in one cache line.
///
/// With many packets in the network, an arriving packet is no
/// longer in the CPU cache: one line is fetched, not several.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Stored {
    pub zeros: u32,
    pub src: AddressId,
    pub dst: AddressId,
    pub protocol: Protocol,
    pub ecn: Ecn,
    pub corrupted: bool,
    /// Number of links crossed, and the number of failures of the channel (its epoch)
    /// when the packet left the queue. Set only for packets that may arrive out of order.
    pub hops: u8,
    pub epoch: u16,
    /// Number of the stored bytes of the payload (`head`), or [`SPILLED`].
    len: u8,
    head: [u8; INLINE],
    pub sent_at: Instant,
}

impl Stored {
    /// Length of the IP header if it is not among the stored bytes; otherwise zero.
    pub fn header_outside(&self) -> u32 {
        if self.protocol == Protocol::Opaque { 0 } else { self.dst.header_len() }
    }

    /// Length of the IP header, without options, if it is among the stored bytes; otherwise zero.
    pub fn header_inside(&self) -> u32 {
        self.dst.header_len() - self.header_outside()
    }
}

/// Maximum length of a head (the stored bytes of the IP payload) that is stored with its packet.
///
/// A DATA chunk without its payload fits, or a SACK with two Gap Ack Blocks.
const INLINE: usize = 36;

/// Value of `len` if there are more than [`INLINE`] stored bytes. They are then in [`Pool::spills`].
const SPILLED: u8 = u8::MAX;

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Stored>() == 64);

/// Storage of all packets. Slots keep their buffers, so that a steady state allocates nothing.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    slots: Vec<Stored>,
    /// The stored bytes of packets that have more than [`INLINE`] of them, by the index of the packet.
    spills: Vec<Vec<u8>>,
    free: Vec<PacketId>,
}

impl Pool {
    /// Stores a packet and leaves an empty buffer in `head`.
    ///
    /// If the packet keeps the buffer of `head`, `head` gets the buffer of an earlier packet.
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
        (slot.zeros, slot.src, slot.dst) = (zeros, src, dst);
        (slot.protocol, slot.ecn, slot.corrupted) = (protocol, ecn, false);
        if head.len() <= INLINE {
            slot.len = head.len() as u8;
            copy_short(&mut slot.head, head);
        } else {
            slot.len = SPILLED;
            self.store_long(id, head);
        }
        head.clear();
        id
    }

    #[cold]
    fn store_long(&mut self, id: PacketId, head: &mut Vec<u8>) {
        std::mem::swap(self.spill(id), head);
    }

    #[cold]
    fn grow(&mut self) -> PacketId {
        let id = PacketId::new(self.slots.len());
        let (src, dst) = (AddressId::default(), AddressId::default());
        self.slots.push(Stored {
            zeros: 0,
            src,
            dst,
            protocol: Protocol::Sctp,
            ecn: Ecn::NotCapable,
            corrupted: false,
            hops: 0,
            epoch: 0,
            len: 0,
            head: [0; INLINE],
            sent_at: Instant::ZERO,
        });
        id
    }

    /// The buffer for the stored bytes of a packet that has more than [`INLINE`] of them.
    fn spill(&mut self, id: PacketId) -> &mut Vec<u8> {
        let at = id.index();
        if at >= self.spills.len() {
            self.spills.resize_with(at + 1, Vec::new);
        }
        &mut self.spills[at]
    }

    /// The stored bytes of a packet.
    #[inline]
    pub fn head(&self, id: PacketId) -> &[u8] {
        let stored = self.get(id);
        match stored.head.get(..usize::from(stored.len)) {
            Some(head) => head,
            None => self.spilled(id),
        }
    }

    #[cold]
    fn spilled(&self, id: PacketId) -> &[u8] {
        &self.spills[id.index()]
    }

    pub fn head_mut(&mut self, id: PacketId) -> &mut [u8] {
        let stored = &mut self.slots[id.index()];
        match stored.head.get_mut(..usize::from(stored.len)) {
            Some(head) => head,
            None => &mut self.spills[id.index()],
        }
    }

    pub fn copy(&mut self, id: PacketId) -> PacketId {
        let mut head = self.head(id).to_vec();
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

    /// Prefetches a packet that will be read a few events from now.
    ///
    /// Takes 7 % off the time per packet and hop with 1000 pairs of hosts (bench `hop`).
    #[inline]
    pub fn prefetch(&self, id: PacketId) {
        prefetch_index(&self.slots, id.index());
    }

    #[inline]
    pub fn get_mut(&mut self, id: PacketId) -> &mut Stored {
        &mut self.slots[id.index()]
    }

    /// Inverts one bit of the payload. If the bit lies among the zeros, the zeros up to it are stored first.
    pub fn invert_bit(&mut self, id: PacketId, bit: u64) {
        let byte = (bit / 8) as usize;
        let (head, len) = (self.get(id).head, self.get(id).len);
        let spill = self.spill(id);
        if let Some(head) = head.get(..usize::from(len)) {
            spill.clear();
            spill.extend_from_slice(head);
        }
        let zeros = (byte + 1).saturating_sub(spill.len());
        spill.resize(spill.len() + zeros, 0);
        spill[byte] ^= 0x80 >> (bit % 8);
        let stored = self.get_mut(id);
        stored.zeros -= zeros as u32;
        stored.corrupted = true;
        stored.len = SPILLED;
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

/// Copies at most [`INLINE`] bytes.
///
/// For 20 to 36 bytes, two copies of fixed lengths, which may overlap, are faster than one copy of variable
/// length.
#[inline]
fn copy_short(to: &mut [u8; INLINE], from: &[u8]) {
    let to = &mut to[..from.len()];
    match (from.first_chunk::<20>(), from.last_chunk::<16>()) {
        (Some(first), Some(last)) => {
            to[..20].copy_from_slice(first);
            to[from.len() - 16..].copy_from_slice(last);
        }
        _ => to.copy_from_slice(from),
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
    fn inverting_a_bit_among_the_zeros_stores_the_zeros_up_to_it() {
        let mut pool = Pool::default();
        let id = store(&mut pool, &mut vec![0xff; 4], 10);
        pool.invert_bit(id, 1);
        pool.invert_bit(id, 6 * 8 + 7);
        assert_eq!((pool.head(id), pool.get(id).zeros), (&[0xbf, 0xff, 0xff, 0xff, 0, 0, 1][..], 7));
        pool.invert_bit(id, 13 * 8);
        assert_eq!((pool.head(id).len(), pool.head(id)[13], pool.get(id).zeros), (14, 0x80, 0));
    }

    #[test]
    fn heads_of_every_length_are_returned_unchanged() {
        let mut pool = Pool::default();
        let heads: Vec<Vec<u8>> =
            (0..100).map(|length: u8| (0..length).map(|n| n ^ length).collect()).collect();
        let ids: Vec<PacketId> = heads.iter().map(|head| store(&mut pool, &mut head.clone(), 0)).collect();
        // Slots are used again for packets with another number of stored bytes.
        for &id in &ids {
            pool.release(id);
        }
        let ids: Vec<PacketId> = heads.iter().map(|head| store(&mut pool, &mut head.clone(), 0)).collect();
        for (id, head) in ids.into_iter().zip(&heads) {
            assert_eq!(pool.head(id), head);
            let copy = pool.copy(id);
            assert_eq!(pool.head(copy), head);
        }
    }

    #[test]
    fn the_buffer_of_a_released_packet_is_reused_for_the_next_long_head() {
        let mut pool = Pool::default();
        let mut head = vec![7; 100];
        let id = store(&mut pool, &mut head, 0);
        pool.release(id);
        assert!(head.is_empty());
        head.resize(40, 7);
        store(&mut pool, &mut head, 0);
        assert!(head.is_empty() && head.capacity() >= 100, "the first packet's buffer comes back, empty");
        assert_eq!(pool.in_use(), 1);
    }
}
