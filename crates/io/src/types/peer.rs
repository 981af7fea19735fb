use crate::guard::Identity;
use std::net::{IpAddr, SocketAddr};

/// Addresses and ports of a peer to connect to.
///
/// ```
/// use anabranch_io::Peer;
/// use std::net::IpAddr;
///
/// let addresses: [IpAddr; 2] = ["192.0.2.1".parse()?, "198.51.100.1".parse()?];
/// let peer = Peer::from((addresses, 5001)).udp_port(9900);
/// # Ok::<(), std::net::AddrParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// Addresses of the peer; the handshake begins with the first one. The peer may announce more addresses.
    pub addresses: Vec<IpAddr>,
    /// SCTP port of the peer.
    pub port: u16,
    /// UDP port of the peer (`rfc6951`); 0: packets in IP, if the endpoint has that
    /// [carrier](crate::Carrier); `None`: that of
    /// [`Builder::remote_udp_port`](crate::Builder::remote_udp_port).
    pub udp_port: Option<u16>,
    /// The identity that the peer has to prove to the [guard](crate::Builder::guard); `None`: the only
    /// peer that the guard knows.
    pub identity: Option<Identity>,
}

impl Peer {
    /// Sets the UDP port of the peer.
    #[must_use]
    pub fn udp_port(mut self, port: u16) -> Self {
        self.udp_port = Some(port);
        self
    }

    /// Sets the identity that the peer has to prove to the [guard](crate::Builder::guard).
    #[must_use]
    pub fn identity(mut self, identity: impl Into<Identity>) -> Self {
        self.identity = Some(identity.into());
        self
    }
}

/// An address and an SCTP port.
impl From<(IpAddr, u16)> for Peer {
    fn from((address, port): (IpAddr, u16)) -> Self {
        Peer::from((vec![address], port))
    }
}

/// An address and an SCTP port.
impl From<SocketAddr> for Peer {
    fn from(address: SocketAddr) -> Self {
        Peer::from((address.ip(), address.port()))
    }
}

/// Addresses and an SCTP port.
impl<const N: usize> From<([IpAddr; N], u16)> for Peer {
    fn from((addresses, port): ([IpAddr; N], u16)) -> Self {
        Peer::from((Vec::from(addresses), port))
    }
}

/// Addresses and an SCTP port.
impl From<(&[IpAddr], u16)> for Peer {
    fn from((addresses, port): (&[IpAddr], u16)) -> Self {
        Peer::from((Vec::from(addresses), port))
    }
}

/// Addresses and an SCTP port.
impl From<(Vec<IpAddr>, u16)> for Peer {
    fn from((addresses, port): (Vec<IpAddr>, u16)) -> Self {
        Peer { addresses, port, udp_port: None, identity: None }
    }
}
