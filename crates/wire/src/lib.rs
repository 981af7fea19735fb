//! The SCTP wire format: a stateless codec for RFC 9260 section 3, AUTH (RFC 4895), ASCONF (RFC 5061),
//! FORWARD TSN (RFC 3758), NR-SACK, RE-CONFIG (RFC 6525), the chunks of RFC 8260, ECNE, CWR, and packet drop
//! reports. Anabranch adds three chunks: two for one-way delays and one for the cost of a path.
//!
//! Decoding never panics, whatever the bytes, and never allocates: every decoded value is a view of the
//! packet. Encoding appends to a reusable [`transport::PacketBuf`]; in steady state it does not allocate
//! either.
//!
//! Test payloads consist of zeros. Zeros at the end of a packet or payload need not be stored: see
//! [`transport::Octets`].
#![forbid(unsafe_code)]

pub mod asconf;
pub mod cause;
mod checksum;
pub mod chunk;
mod field;
mod packet;
pub mod param;
mod re_config;
mod serial;
#[cfg(test)]
mod testing;
mod tlv;

pub use cause::{Cause, CauseList, Causes};
pub use checksum::crc32c;
pub use chunk::{
    Abort, Asconf, AsconfAck, Auth, Chunk, ChunkError, CookieAck, CookieEcho, Cwr, Data, DataFlags,
    DroppedChunk, Ecne, Encode, ForwardTsn, GapBlock, Heartbeat, HeartbeatAck, IData, IForwardTsn, Init,
    InitAck, LedbatControl, NrSack, OperationError, PacketDelay, PacketDrop, Pad, PathStatus, ReConfig, Sack,
    Shutdown, ShutdownAck, ShutdownComplete, SkippedMessage, Timestamp, UnknownChunk,
};
pub use packet::{Chunks, CommonHeader, Packet, PacketError, PacketWriter};
pub use param::{Parameter, ParameterList, Parameters, SupportedAddressTypes, UnknownParameter};
pub use re_config::{ReConfigError, ReConfigList, ReConfigParameter, ReConfigResult, StreamNumbers};
pub use serial::{Mid, Ppid, Ssn, StreamId, Tsn};
pub use tlv::TlvError;

/// The treatment of a chunk or parameter of an unknown type, given by the top two bits of the type
/// (rfc9260#section-3.2, rfc9260#section-3.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnknownAction {
    /// `00`: stop processing this packet (for a parameter: this chunk) and do not report it.
    StopDiscard,
    /// `01`: stop processing this packet and report it.
    StopReport,
    /// `10`: skip the chunk or parameter, process the rest and do not report it.
    SkipDiscard,
    /// `11`: skip the chunk or parameter, process the rest and report it.
    SkipReport,
}

impl UnknownAction {
    const fn from_top_bits(bits: u8) -> Self {
        match bits & 0b11 {
            0b00 => UnknownAction::StopDiscard,
            0b01 => UnknownAction::StopReport,
            0b10 => UnknownAction::SkipDiscard,
            _ => UnknownAction::SkipReport,
        }
    }
}
