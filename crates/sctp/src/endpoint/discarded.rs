/// Packets that an endpoint discarded, whole or in part, by cause.
///
/// Bytes from the network are never an error of the user; these numbers show that something arrives that should not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Discarded {
    /// Shorter than the common header.
    pub too_short: u64,
    /// The CRC32c was wrong.
    pub bad_checksum: u64,
    /// For another SCTP port than ours, or from port 0.
    pub wrong_port: u64,
    /// From or to an address that no endpoint can have, or of a kind that we have none of.
    pub wrong_address: u64,
    /// In UDP although the endpoint has no [`encapsulation`](crate::EndpointConfig::encapsulation).
    pub encapsulated: u64,
    /// From the address and ports of a peer, but with a verification tag that its packets do not bear.
    pub wrong_tag: u64,
    /// For no association (`rfc9260#section-8.4`).
    pub out_of_the_blue: u64,
    /// A chunk could not be read: it and the rest of the packet were left out.
    pub malformed: u64,
    /// INIT and COOKIE ECHO that were answered with ABORT, or not at all, instead of beginning an association.
    pub refused: u64,
    /// COOKIE ECHO with a cookie that we did not sign, or from an address that it does not name.
    pub bad_cookie: u64,
    /// COOKIE ECHO with a cookie past its lifetime.
    pub stale_cookie: u64,
    /// Packets whose answer was left out, because too many answers were waiting to be sent.
    pub unanswered: u64,
}
