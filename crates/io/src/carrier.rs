//! What carries the packets of an endpoint: UDP, IP, or both.

/// What carries the packets of an endpoint ([`Builder::carrier`](crate::Builder::carrier)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "there is no other carrier of SCTP")]
pub enum Carrier {
    /// UDP (`rfc6951`): passes NATs and firewalls, and needs no privilege.
    #[default]
    Udp,
    /// IP, as protocol 132 (`rfc9260`): for peers without UDP encapsulation, such as kernels and telephone
    /// networks. It works on Linux only, and the process needs `CAP_NET_RAW`.
    Ip,
    /// UDP and IP. An answer has the carrier of the packet that it answers. If this end connects,
    /// [`Peer::udp_port`](crate::Peer::udp_port) decides: 0 means IP. The requirements are those of
    /// [`Carrier::Ip`].
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
