//! ICMP messages about packets that this endpoint sent (`rfc9260#section-10`, `rfc6951#section-5.5`).

use std::net::IpAddr;
use units::ByteCount;
use wire::{CommonHeader, Init};

/// An ICMP message about a packet that the endpoint sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IcmpNews<'a> {
    /// Source address of the packet that the message quotes. If it is unknown (`None`), the message counts
    /// for the first path to `dst`.
    pub src: Option<IpAddr>,
    /// Destination address of the quoted packet, which may differ from the source of the ICMP message.
    pub dst: IpAddr,
    /// UDP destination port of that packet (`rfc6951`); 0 if that packet was not encapsulated.
    pub udp_port: u16,
    /// The quoted first bytes of that packet after the IP header, or after the UDP header.
    pub quoted: &'a [u8],
    /// The type of the message.
    pub what: Icmp,
}

/// The type of an ICMP message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Icmp {
    /// "Fragmentation needed", or "Packet Too Big" of ICMPv6.
    PacketTooBig {
        /// MTU of the next link, IP header included.
        mtu: ByteCount,
    },
    /// "Port unreachable": no process uses the UDP port. Ignored if the packet was not encapsulated.
    PortUnreachable,
    /// "Protocol unreachable", or "unrecognized next header" of ICMPv6: the host does not support SCTP.
    ProtocolUnreachable,
    /// Any other "destination unreachable".
    Unreachable,
}

/// The fields of a quoted packet that identify its association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quote {
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
    pub(crate) verification_tag: u32,
    /// Initiate Tag, if the quoted chunk is an INIT and long enough.
    pub(crate) initiate_tag: Option<u32>,
}

/// Number of bytes that the two ports and the verification tag have together.
const LEAST: usize = 8;

impl Quote {
    /// Reads the first bytes of a packet that an ICMP message quotes; `None` if they are too few to
    /// identify an association (ICMP5, ICMP6 of `rfc9260#section-10`).
    pub(crate) fn read(bytes: &[u8]) -> Option<Quote> {
        let &[a, b, c, d, tag @ ..] = bytes.first_chunk::<LEAST>()?;
        let init = bytes.get(CommonHeader::LEN..).filter(|chunk| chunk.first() == Some(&Init::TYPE));
        let initiate_tag = init.and_then(|chunk| chunk.get(4..8)?.first_chunk().copied());
        Some(Quote {
            source_port: u16::from_be_bytes([a, b]),
            destination_port: u16::from_be_bytes([c, d]),
            verification_tag: u32::from_be_bytes(tag),
            initiate_tag: initiate_tag.map(u32::from_be_bytes),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    // rfc9260#section-10
    #[test]
    fn a_quote_needs_the_tag_and_for_an_init_the_initiate_tag() {
        let packet = [0, 1, 0, 2, 0, 0, 0, 0, 9, 9, 9, 9, 1, 0, 0, 20, 0, 0, 0, 7, 5];
        let quote = Quote { source_port: 1, destination_port: 2, verification_tag: 0, initiate_tag: None };
        assert_eq!(Quote::read(&packet[..7]), None);
        assert_eq!(Quote::read(&packet[..8]), Some(quote));
        assert_eq!(Quote::read(&packet[..19]), Some(quote));
        assert_eq!(Quote::read(&packet), Some(Quote { initiate_tag: Some(7), ..quote }));
        let data = [&packet[..12], &[0; 8]].concat();
        assert_eq!(Quote::read(&data), Some(quote));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            prop_assert_eq!(Quote::read(&bytes).is_some(), bytes.len() >= LEAST);
        }
    }
}
