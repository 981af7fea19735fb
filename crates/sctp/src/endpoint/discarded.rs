/// Packets that an endpoint discarded, whole or in part, by cause.
///
/// Invalid packets cause no error for the user; these counters make them visible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discarded {
    /// Shorter than the common header.
    pub too_short: u64,
    /// The CRC32c was wrong.
    pub bad_checksum: u64,
    /// Destination port is not our SCTP port, or source port is 0.
    pub wrong_port: u64,
    /// From or to an address that is not unicast, or of an address family that we do not use.
    pub wrong_address: u64,
    /// In UDP although the endpoint has no [`encapsulation`](crate::EndpointConfig::encapsulation).
    pub encapsulated: u64,
    /// From the address and ports of a peer, but with a wrong verification tag.
    pub wrong_tag: u64,
    /// For no association (`rfc9260#section-8.4`).
    pub out_of_the_blue: u64,
    /// A chunk was malformed; it and the rest of the packet were discarded.
    pub malformed: u64,
    /// INIT and COOKIE ECHO that did not start an association, and were answered with ABORT or not at all.
    pub refused: u64,
    /// COOKIE ECHO with a cookie that we did not sign, or from an address that the cookie does not contain.
    pub bad_cookie: u64,
    /// COOKIE ECHO with a cookie past its lifetime.
    pub stale_cookie: u64,
    /// Packets that were not answered because too many answers were waiting to be sent.
    pub unanswered: u64,
}
