/// Packets that an endpoint discarded, whole or in part, by cause.
///
/// Invalid packets cause no errors for the user; these counters show them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Discarded {
    /// Packets shorter than the common header.
    pub too_short: u64,
    /// Packets with a wrong CRC32c.
    pub bad_checksum: u64,
    /// Packets to another SCTP port, or from port 0.
    pub wrong_port: u64,
    /// Packets from or to an address that is not unicast, or of a family that we do not use.
    pub wrong_address: u64,
    /// Packets in UDP to an endpoint without [`encapsulation`](crate::EndpointConfig::encapsulation).
    pub encapsulated: u64,
    /// Packets from the address and ports of a peer, but with a wrong verification tag.
    pub wrong_tag: u64,
    /// Packets with the tag of an association, but from another [channel](crate::Channel).
    pub wrong_channel: u64,
    /// Packets for no association (`rfc9260#section-8.4`).
    pub out_of_the_blue: u64,
    /// Packets with a malformed chunk, which was discarded with the rest of the packet.
    pub malformed: u64,
    /// INIT and COOKIE ECHO that started no association, and were answered with ABORT or not at all.
    pub refused: u64,
    /// COOKIE ECHO with a cookie that we did not sign, or from a source that the cookie does not contain.
    pub bad_cookie: u64,
    /// COOKIE ECHO with a stale cookie.
    pub stale_cookie: u64,
    /// Packets without an answer, because too many answers waited to be sent.
    pub unanswered: u64,
}
