//! ICMP messages about packets of ours (`rfc9260#section-10`, `rfc6951#section-5.5`).

use std::net::IpAddr;
use units::ByteCount;
use wire::{CommonHeader, Init};

/// An ICMP message about a packet that the endpoint sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IcmpNews<'a> {
    /// Source address of that packet; none if the system does not tell: then it is taken for the first path to `dst`.
    pub src: Option<IpAddr>,
    /// Destination address of that packet, which need not be the source of the message.
    pub dst: IpAddr,
    /// Destination port of its UDP header (`rfc6951`); 0: it was not encapsulated.
    pub udp_port: u16,
    /// The beginning of that packet as the message quotes it, behind the IP header, or the UDP header.
    pub quoted: &'a [u8],
    /// What the message says.
    pub what: Icmp,
}

/// What an ICMP message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Icmp {
    /// "Fragmentation needed", or "Packet Too Big" of ICMPv6.
    PacketTooBig {
        /// MTU of the next link, IP header included.
        mtu: ByteCount,
    },
    /// "Port unreachable": nobody has the UDP port. Ignored if the packet was not encapsulated.
    PortUnreachable,
    /// "Protocol unreachable", or "unrecognized next header" of ICMPv6: nobody speaks SCTP there.
    ProtocolUnreachable,
    /// Any other "destination unreachable".
    Unreachable,
}

/// What a quoted packet tells of its association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quote {
    pub(crate) source_port: u16,
    pub(crate) destination_port: u16,
    pub(crate) verification_tag: u32,
    /// Initiate Tag, if an INIT with it is quoted.
    pub(crate) initiate_tag: Option<u32>,
}

/// Bytes of ports and verification tag.
const LEAST: usize = 8;

impl Quote {
    /// Reads a quote; none if it is too short to tell an association (`rfc9260#section-10`, ICMP5 and ICMP6).
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
