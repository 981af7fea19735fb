//! Raw sockets, which carry SCTP directly in IP: protocol 132, Linux only.
//!
//! The kernel delivers each packet of the protocol to every raw socket at its destination address. A filter
//! in the kernel selects those for the SCTP port of an endpoint; a host with many ports selects them itself.
//! A claim tells all processes that a port is in use.

use super::bind::BindSpec;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The IP protocol number of SCTP.
#[cfg(any(target_os = "linux", target_os = "android"))]
const SCTP: u8 = 132;

/// What precedes an SCTP packet in the bytes that a socket receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    /// Nothing precedes the SCTP packet: it is the payload of a UDP datagram.
    Udp,
    /// The IPv4 header precedes the SCTP packet.
    Ipv4,
    /// Nothing precedes the SCTP packet: raw sockets of IPv6 return no IP header.
    Ipv6,
}

/// The unspecified address, which stands for all addresses of the family of `address`.
pub(super) fn all_of(address: IpAddr) -> IpAddr {
    if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() }
}

impl Framing {
    /// Framing of a raw socket at an address.
    pub(super) fn of_ip(address: IpAddr) -> Self {
        if address.is_ipv4() { Framing::Ipv4 } else { Framing::Ipv6 }
    }

    pub(super) fn is_udp(self) -> bool {
        self == Framing::Udp
    }

    /// The SCTP packet in the bytes that were received; `None` if they are too short for their IP header.
    pub(super) fn packet(self, bytes: &[u8]) -> Option<&[u8]> {
        match self {
            Framing::Ipv4 => bytes.get(4 * usize::from(bytes.first()? & 0x0f)..),
            Framing::Udp | Framing::Ipv6 => Some(bytes),
        }
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod other {
    use super::{BindSpec, IpAddr, io};

    pub(in super::super) fn open(_: &BindSpec, _: Option<u16>) -> io::Result<socket2::Socket> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "only Linux has SCTP in IP here"))
    }

    pub(in super::super) fn claim(spec: &BindSpec, _: u16) -> io::Result<socket2::Socket> {
        open(spec, None)
    }

    pub(in super::super) fn is_claimed(_: IpAddr, _: &str, _: u16) -> bool {
        false
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
pub(super) use other::{claim, is_claimed, open};

#[cfg(any(target_os = "linux", target_os = "android"))]
pub(super) use linux::{claim, is_claimed, open};

#[cfg(any(target_os = "linux", target_os = "android"))]
mod linux {
    use super::{BindSpec, IpAddr, SCTP, all_of, io};
    use crate::net::bind::bind_to_device;
    use nix::errno::Errno;
    use nix::libc::{
        BPF_ABS, BPF_B, BPF_H, BPF_IND, BPF_JEQ, BPF_JMP, BPF_K, BPF_LD, BPF_LDX, BPF_MSH, BPF_RET,
    };
    use nix::sys::socket::{setsockopt, sockopt::Ipv6RecvErr};
    use socket2::{Domain, Protocol, SockAddr, SockFilter, Type};
    use std::net::SocketAddr;

    /// Opens a raw socket that receives the packets for an SCTP port, or for all.
    ///
    /// # Errors
    /// The system's error: a process without `CAP_NET_RAW` may open none.
    pub(in super::super) fn open(spec: &BindSpec, port: Option<u16>) -> io::Result<socket2::Socket> {
        let domain = Domain::for_address(spec.address);
        let socket = socket2::Socket::new(domain, Type::RAW, Some(Protocol::from(i32::from(SCTP))))?;
        if let Some(port) = port {
            socket.attach_filter(&filter(domain, port))?;
        }
        if domain == Domain::IPV6 {
            // `enable_transport_errors` of quinn-udp would first read `IPV6_V6ONLY`,
            // which fails on a raw socket.
            setsockopt(&socket, Ipv6RecvErr, &true)?;
        }
        if let Some(device) = &spec.device {
            bind_to_device(&socket, device)?;
        }
        // In the address of a raw socket the port means a protocol, so it is 0.
        socket.bind(&SockAddr::from(SocketAddr::new(spec.address.ip(), 0)))?;
        Ok(socket)
    }

    /// Claims a port at an address. The kernel gives a packet to all raw sockets, so that two processes with
    /// one port would abort each other's associations. The claim is a UNIX socket with an abstract name,
    /// which exists only once in a network namespace.
    ///
    /// # Errors
    /// `AddrInUse`, if the port is in use there.
    pub(in super::super) fn claim(spec: &BindSpec, port: u16) -> io::Result<socket2::Socket> {
        let (address, device) = (spec.address.ip(), spec.device.as_deref().unwrap_or_default());
        let claim = socket2::Socket::new(Domain::UNIX, Type::DGRAM, None)?;
        claim.bind(&name(address, device, port)?)?;
        // The claim's name is bound before other claims are looked for. So if two
        // processes claim at the same time, both may fail, but they never both succeed.
        match others(address, device)?.iter().any(|(address, device)| is_claimed(*address, device, port)) {
            true => Err(Errno::EADDRINUSE.into()),
            false => Ok(claim),
        }
    }

    /// The other addresses and interfaces at which a claim of the port would exclude a claim at this
    /// address and interface. A claim of all addresses includes each address of this host, and a
    /// claim without an interface includes each interface.
    fn others(address: IpAddr, device: &str) -> io::Result<Vec<(IpAddr, String)>> {
        let interfaces = if_addrs::get_if_addrs()?;
        let (mut addresses, mut devices) = (vec![all_of(address)], vec![""]);
        if address.is_unspecified() {
            let of_family = interfaces.iter().map(|interface| interface.ip());
            addresses.extend(of_family.filter(|other| other.is_ipv4() == address.is_ipv4()));
        } else {
            addresses.push(address);
        }
        if device.is_empty() {
            devices.extend(interfaces.iter().map(|interface| &interface.name[..]));
        } else {
            devices.push(device);
        }
        let all = addresses.iter().flat_map(|&at| devices.iter().map(move |&on| (at, on)));
        Ok(all.filter(|&other| other != (address, device)).map(|(at, on)| (at, on.to_owned())).collect())
    }

    /// True if a socket has claimed a port at an address.
    pub(in super::super) fn is_claimed(address: IpAddr, device: &str, port: u16) -> bool {
        let probe = socket2::Socket::new(Domain::UNIX, Type::DGRAM, None);
        probe.and_then(|probe| probe.connect(&name(address, device, port)?)).is_ok()
    }

    fn name(address: IpAddr, device: &str, port: u16) -> io::Result<SockAddr> {
        SockAddr::unix(format!("\0anabranch/{SCTP}/{port}/{address}/{device}"))
    }

    /// Passes packets whose destination port is `port`. In IPv4 the filter sees the IP header, too.
    fn filter(domain: Domain, port: u16) -> Vec<SockFilter> {
        const PORT: u32 = 2;
        let step = |code: u32, yes: u8, no: u8, value: u32| SockFilter::new(code as u16, yes, no, value);
        let mut steps = match domain {
            Domain::IPV4 => vec![
                step(BPF_LDX | BPF_B | BPF_MSH, 0, 0, 0), // length of the IP header
                step(BPF_LD | BPF_H | BPF_IND, 0, 0, PORT),
            ],
            _ => vec![step(BPF_LD | BPF_H | BPF_ABS, 0, 0, PORT)],
        };
        steps.extend([
            step(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, port.into()),
            step(BPF_RET | BPF_K, 0, 0, u16::MAX.into()),
            step(BPF_RET | BPF_K, 0, 0, 0),
        ]);
        steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_of_ipv4_is_skipped_with_its_options() {
        let packet = |first: u8| [&[first][..], &[0; 23], &[7; 3]].concat();
        assert_eq!(Framing::Ipv4.packet(&packet(0x46)), Some(&[7, 7, 7][..]));
        assert_eq!(Framing::Ipv4.packet(&packet(0x45)).map(<[u8]>::len), Some(7));
        assert_eq!(Framing::Ipv4.packet(&packet(0x4f)), None, "longer than the packet");
        assert_eq!(Framing::Ipv4.packet(&[]), None);
        assert_eq!(Framing::Ipv6.packet(&[1, 2]), Some(&[1, 2][..]));
    }
}
