//! ICMP messages about our packets, which Linux keeps in the error queue of the socket.

use mio::net::UdpSocket;
use sctp::Icmp;
use std::net::{IpAddr, SocketAddr};

/// An ICMP message about one of our packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    /// Source address of the packet that the ICMP message quotes; `None` if the socket has several addresses.
    pub(crate) src: Option<IpAddr>,
    /// Destination address and UDP port of the packet that the ICMP message quotes.
    pub(crate) dst: SocketAddr,
    /// Type of the message.
    pub(crate) what: Icmp,
}

/// The next relevant ICMP message; `quoted` gets the beginning
/// of the quoted packet. `None` if there is no such message.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) fn read(_: &UdpSocket, _: &mut Vec<u8>) -> Option<Report> {
    None
}

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) use linux::read;

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux {
    use super::{Icmp, IpAddr, Report, SocketAddr, UdpSocket};
    use nix::libc::{self, sock_extended_err};
    use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg};
    use std::io::IoSliceMut;
    use std::os::fd::AsRawFd;
    use units::ByteCount;

    /// Number of bytes of a quoted packet that are of use:
    /// common header, chunk header, Initiate Tag, and some more.
    const QUOTE: usize = 64;
    /// Largest number of irrelevant messages that one call skips.
    const SKIPPED: usize = 16;

    /// The next relevant ICMP message; `quoted` gets the beginning
    /// of the quoted packet. `None` if there is no such message.
    pub(in super::super) fn read(socket: &UdpSocket, quoted: &mut Vec<u8>) -> Option<Report> {
        for _ in 0..SKIPPED {
            let report = read_one(socket, quoted)?;
            if report.is_some() {
                return report;
            }
        }
        None
    }

    /// The next message in the socket's error queue; `Some(None)`
    /// if the message is irrelevant, `None` if the queue is empty.
    fn read_one(socket: &UdpSocket, quoted: &mut Vec<u8>) -> Option<Option<Report>> {
        quoted.resize(QUOTE, 0);
        // For IPv6, the kernel puts a time, a destination address and a traffic class before the
        // error: 160 bytes in all.
        let mut control = nix::cmsg_space!([u8; 256]);
        let mut slices = [IoSliceMut::new(quoted)];
        let message = recvmsg::<SockaddrStorage>(
            socket.as_raw_fd(),
            &mut slices,
            Some(&mut control),
            MsgFlags::MSG_ERRQUEUE,
        )
        .ok()?;
        let dst = message.address.as_ref().and_then(socket_address);
        let what = message.cmsgs().ok().and_then(|mut all| {
            all.find_map(|control| match control {
                ControlMessageOwned::Ipv4RecvErr(error, _) | ControlMessageOwned::Ipv6RecvErr(error, _) => {
                    meaning(&error)
                }
                _ => None,
            })
        });
        let length = message.bytes;
        quoted.truncate(length);
        Some(dst.zip(what).map(|(dst, what)| Report { src: None, dst, what }))
    }

    fn socket_address(storage: &SockaddrStorage) -> Option<SocketAddr> {
        let v4 = storage.as_sockaddr_in().map(|at| SocketAddr::new(IpAddr::V4(at.ip()), at.port()));
        v4.or_else(|| storage.as_sockaddr_in6().map(|at| SocketAddr::new(IpAddr::V6(at.ip()), at.port())))
    }

    /// The meaning of types and codes of RFC 792 and RFC 4443.
    fn meaning(error: &sock_extended_err) -> Option<Icmp> {
        let too_big = Icmp::PacketTooBig { mtu: ByteCount::new(error.ee_info.into()) };
        match (error.ee_origin, error.ee_type, error.ee_code) {
            (libc::SO_EE_ORIGIN_LOCAL, ..) if error.ee_errno == libc::EMSGSIZE as u32 => Some(too_big),
            (libc::SO_EE_ORIGIN_ICMP, 3, 4) | (libc::SO_EE_ORIGIN_ICMP6, 2, _) => Some(too_big),
            (libc::SO_EE_ORIGIN_ICMP, 3, 2) | (libc::SO_EE_ORIGIN_ICMP6, 4, 1) => {
                Some(Icmp::ProtocolUnreachable)
            }
            (libc::SO_EE_ORIGIN_ICMP, 3, 3) | (libc::SO_EE_ORIGIN_ICMP6, 1, 4) => Some(Icmp::PortUnreachable),
            (libc::SO_EE_ORIGIN_ICMP, 3, _) | (libc::SO_EE_ORIGIN_ICMP6, 1, _) => Some(Icmp::Unreachable),
            _ => None,
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn meaning_of(origin: u8, of: u8, code: u8, info: u32) -> Option<Icmp> {
            meaning(&sock_extended_err {
                ee_errno: libc::EMSGSIZE as u32,
                ee_origin: origin,
                ee_type: of,
                ee_code: code,
                ee_pad: 0,
                ee_info: info,
                ee_data: 0,
            })
        }

        // rfc792, rfc4443
        #[test]
        fn types_and_codes_of_both_versions_are_told_apart() {
            let (v4, v6) = (libc::SO_EE_ORIGIN_ICMP, libc::SO_EE_ORIGIN_ICMP6);
            let too_big = |mtu| Some(Icmp::PacketTooBig { mtu: ByteCount::new(mtu) });
            assert_eq!(
                [meaning_of(v4, 3, 4, 1400), meaning_of(v6, 2, 0, 1280)],
                [too_big(1400), too_big(1280)]
            );
            assert_eq!(meaning_of(libc::SO_EE_ORIGIN_LOCAL, 0, 0, 1500), too_big(1500));
            assert_eq!([meaning_of(v4, 3, 3, 0), meaning_of(v6, 1, 4, 0)], [Some(Icmp::PortUnreachable); 2]);
            assert_eq!(
                [meaning_of(v4, 3, 2, 0), meaning_of(v6, 4, 1, 0)],
                [Some(Icmp::ProtocolUnreachable); 2]
            );
            assert_eq!([meaning_of(v4, 3, 1, 0), meaning_of(v6, 1, 0, 0)], [Some(Icmp::Unreachable); 2]);
            assert_eq!([meaning_of(v4, 11, 0, 0), meaning_of(v6, 3, 0, 0)], [None; 2], "time exceeded");
        }
    }
}
