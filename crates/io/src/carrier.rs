//! What carries the packets of an endpoint: UDP, IP, or both.

/// What carries the packets of an endpoint ([`Builder::carrier`](crate::Builder::carrier)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no other carrier of SCTP")]
pub enum Carrier {
    /// UDP (`rfc6951`): passes NATs and firewalls, and needs no privilege.
    #[default]
    Udp,
    /// IP, as protocol 132 (`rfc9260`): reaches SCTP of kernels and of other devices. Linux only; needs
    /// `CAP_NET_RAW`.
    Ip,
    /// Each peer gets what it uses itself; [`Peer::udp_port`](crate::Peer::udp_port) chooses for a peer to
    /// connect to, where 0 is IP. Needs the same as [`Carrier::Ip`].
    Both,
}

impl Carrier {
    pub(crate) fn has_udp(self) -> bool {
        self != Carrier::Ip
    }

    pub(crate) fn has_ip(self) -> bool {
        self != Carrier::Udp
    }
}
