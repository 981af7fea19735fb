//! Packets that the program carries itself.

use std::fmt::Debug;
use std::net::{IpAddr, Ipv6Addr};
use transport::{Octets, Transmit};

/// The prefix of the addresses of links: unique local addresses (`rfc4193`) whose Global ID is the text
/// `anabr`.
const PREFIX: [u16; 3] = [0xfd61, 0x6e61, 0x6272];
/// The subnets of the addresses of a link: at this end, and at the peer's end.
const ENDS: [u16; 2] = [0, 1];

/// Carries the packets of a [`Host`](crate::Host) that no socket can carry, for example over DTLS
/// (`rfc8261`). The program gives each link a number other than 0; [`link_addresses`] are the addresses of
/// its ends. All functions are called by the thread that runs the host.
pub trait Link: Debug + Send {
    /// The next packet that arrived, and the number of its link. [`Host::waker`](crate::Host::waker) tells
    /// the host of new packets.
    fn receive(&mut self) -> Option<(u64, Vec<u8>)>;

    /// Carries a packet to the peer of the link with this number.
    fn send(&mut self, number: u64, transmit: &Transmit, packet: Octets<'_>);
}

/// The addresses of this end and of the peer's end of a link.
pub fn link_addresses(number: u64) -> [IpAddr; 2] {
    let [a, b, c] = PREFIX;
    let [w, x, y, z] = [48, 32, 16, 0].map(|shift| (number >> shift) as u16);
    ENDS.map(|end| Ipv6Addr::new(a, b, c, end, w, x, y, z).into())
}

/// The number of the link of an address; `None` if the address is not of a link.
pub fn link_number(address: IpAddr) -> Option<u64> {
    let IpAddr::V6(address) = address else { return None };
    let [a, b, c, end, number @ ..] = address.segments();
    let ours = [a, b, c] == PREFIX && ENDS.contains(&end);
    ours.then(|| number.into_iter().fold(0, |number, part| number << 16 | u64::from(part)))
}

/// Carries a packet if it belongs to a link. False if it is for the sockets.
///
/// A peer may list any address. So a packet with the address of a link at one end leaves only between the two
/// ends of that link, and is dropped otherwise.
pub(crate) fn carry(link: &mut dyn Link, transmit: &Transmit, packet: Octets<'_>) -> bool {
    let number = link_number(transmit.src);
    match number.or(link_number(transmit.dst)) {
        Some(_) => {
            if let Some(number) = number.filter(|&n| [transmit.src, transmit.dst] == link_addresses(n)) {
                link.send(number, transmit, packet);
            }
            true
        }
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default)]
    struct Sent(Vec<u64>);

    impl Link for Sent {
        fn receive(&mut self) -> Option<(u64, Vec<u8>)> {
            None
        }

        fn send(&mut self, number: u64, _: &Transmit, _: Octets<'_>) {
            self.0.push(number);
        }
    }

    #[test]
    fn a_packet_leaves_only_between_the_ends_of_one_link() {
        let ([a, b], [c, d]) = (link_addresses(u64::MAX - 1), link_addresses(7));
        let host: IpAddr = [192, 0, 2, 1].into();
        let mut link = Sent::default();
        for (src, dst, handled) in [
            (a, b, true),
            (c, d, true),
            // The peer of one link listed the address of another link, or of a host.
            (a, d, true),
            (a, c, true),
            (a, host, true),
            (host, b, true),
            (b, a, true),
            (host, host, false),
        ] {
            assert_eq!(carry(&mut link, &Transmit::new(src, dst), Octets::default()), handled, "{src} {dst}");
        }
        assert_eq!(link.0, [u64::MAX - 1, 7]);
        assert_eq!([a, b, host].map(link_number), [Some(u64::MAX - 1), Some(u64::MAX - 1), None]);
    }
}
