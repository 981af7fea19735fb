//! SCTP stacks of others, to talk to.

mod dcsctp;
mod sctp_proto;

pub use dcsctp::DcSctp;
pub use sctp_proto::SctpProto;

/// The port all of them use: what WebRTC uses.
pub const PORT: u16 = 5000;
