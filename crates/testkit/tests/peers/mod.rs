//! Other SCTP stacks, as peers for interoperability tests.

mod dcsctp;
mod sctp_proto;

pub use dcsctp::DcSctp;
pub use sctp_proto::SctpProto;

use anabranch_testkit::Speaker;
use std::time::Duration;
use units::Instant;

/// SCTP port of all peers, as in WebRTC.
pub const PORT: u16 = 5000;

/// The transmission parameters of a message that may be abandoned.
#[derive(Clone, Copy, Debug)]
pub struct Unreliable {
    pub stream: u16,
    pub unordered: bool,
    /// Lifetime of the message. `None`: the message is abandoned instead of its first retransmission.
    pub lifetime: Option<Duration>,
}

/// A peer with the SCTP extensions of WebRTC data channels.
pub trait Extended: Speaker {
    /// Sends a message that may be abandoned. Returns false if the message is not accepted.
    fn send_unreliably(&mut self, now: Instant, unreliable: Unreliable, message: &[u8]) -> bool;
    /// Requests a reset of an outgoing stream.
    fn reset(&mut self, now: Instant, stream: u16);
    /// Streams that the peer has reset, and own streams that are reset, one entry for each reset.
    fn resets(&self) -> &[Vec<u16>; 2];
}
