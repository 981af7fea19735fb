//! Other SCTP stacks, as peers for interoperability tests.

mod dcsctp;
mod sctp_proto;

pub use dcsctp::DcSctp;
pub use sctp_proto::SctpProto;

/// SCTP port of all peers, as in WebRTC.
pub const PORT: u16 = 5000;
