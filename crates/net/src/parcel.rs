use transport::Ecn;

/// Data of a packet that each hop needs, in two words that stay in registers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parcel {
    /// Destination interface of the packet.
    pub dst: u32,
    /// From the lowest bit: size of the IP packet in bytes, ECN capability, number of links crossed.
    hops_ecn_and_size: u32,
}

const SIZE_BITS: u32 = 23;
const SIZE_MASK: u32 = (1 << SIZE_BITS) - 1;
const HOPS_SHIFT: u32 = SIZE_BITS + 1;

impl Parcel {
    /// A placeholder for unused slots.
    pub const NONE: Parcel = Parcel { dst: 0, hops_ecn_and_size: 0 };

    /// A packet of `size` bytes, including the header, that has crossed `hops` links. The size is at most 8
    /// MiB, far above the limit of IP, and hops are counted modulo 256.
    #[inline]
    pub fn new(dst: u32, size: u32, hops: u8, ecn: Ecn) -> Self {
        let ecn_capable = u32::from(ecn != Ecn::NotCapable);
        let hops_ecn_and_size =
            u32::from(hops) << HOPS_SHIFT | ecn_capable << SIZE_BITS | size.min(SIZE_MASK);
        Parcel { dst, hops_ecn_and_size }
    }

    /// The same data with another destination interface.
    pub fn to(self, dst: u32) -> Self {
        Parcel { dst, ..self }
    }

    #[inline]
    pub fn size(self) -> u32 {
        self.hops_ecn_and_size & SIZE_MASK
    }

    #[inline]
    pub fn is_ecn_capable(self) -> bool {
        self.hops_ecn_and_size >> SIZE_BITS & 1 == 1
    }

    #[inline]
    pub fn hops(self) -> u8 {
        (self.hops_ecn_and_size >> HOPS_SHIFT) as u8
    }

    #[inline]
    pub fn one_hop_on(self) -> Self {
        Parcel { hops_ecn_and_size: self.hops_ecn_and_size.wrapping_add(1 << HOPS_SHIFT), ..self }
    }
}
