//! The chunks, one module each (rfc9260#section-3.3).
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------+---------------+-------------------------------+
//! |     type      |     flags     |            length             |
//! +---------------+---------------+-------------------------------+
//! \                             value                             \
//! +---------------------------------------------------------------+
//! ```
//!
//! The length counts the header and the value but not the zeros that pad the chunk to a multiple of four
//! bytes. Reserved flags and fields are written as zero and ignored when read.

mod abort;
mod asconf;
mod asconf_ack;
mod auth;
mod cookie_ack;
mod cookie_echo;
mod cwr;
mod data;
mod ecne;
mod error;
mod forward_tsn;
mod gap_block;
mod heartbeat;
mod heartbeat_ack;
mod i_data;
mod i_forward_tsn;
mod init;
mod init_ack;
mod ledbat_control;
mod nr_sack;
mod packet_drop;
mod pad;
mod path_status;
mod re_config;
mod sack;
mod shutdown;
mod shutdown_ack;
mod shutdown_complete;
mod timestamp;
mod unknown;

pub use abort::Abort;
pub use asconf::Asconf;
pub use asconf_ack::AsconfAck;
pub use auth::Auth;
pub use cookie_ack::CookieAck;
pub use cookie_echo::CookieEcho;
pub use cwr::Cwr;
pub use data::{Data, DataFlags};
pub use ecne::Ecne;
pub use error::OperationError;
pub use forward_tsn::ForwardTsn;
pub use gap_block::GapBlock;
pub use heartbeat::Heartbeat;
pub use heartbeat_ack::HeartbeatAck;
pub use i_data::IData;
pub use i_forward_tsn::{IForwardTsn, SkippedMessage};
pub use init::Init;
pub use init_ack::InitAck;
pub use ledbat_control::{LedbatControl, PacketDelay};
pub use nr_sack::NrSack;
pub use packet_drop::{DroppedChunk, PacketDrop};
pub use pad::Pad;
pub use path_status::PathStatus;
pub use re_config::ReConfig;
pub use sack::Sack;
pub use shutdown::Shutdown;
pub use shutdown_ack::ShutdownAck;
pub use shutdown_complete::ShutdownComplete;
pub use timestamp::Timestamp;
pub use unknown::UnknownChunk;

use crate::field::{padded, u16_at};
use transport::{Octets, PacketBuf};

/// Bytes of type, flags and length.
const HEADER_LEN: usize = 4;

/// The T bit of ABORT and SHUTDOWN COMPLETE: the packet carries the verification tag of the packet that the
/// chunk answers (rfc9260#section-8.5.1).
const T_BIT: u8 = 0x01;

/// A chunk, as a view of its packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chunk<'a> {
    /// User data.
    Data(Data<'a>),
    /// User data that may be interleaved.
    IData(IData<'a>),
    /// Initiates an association.
    Init(Init<'a>),
    /// The answer to INIT.
    InitAck(InitAck<'a>),
    /// Acknowledgement of DATA.
    Sack(Sack<'a>),
    /// Acknowledgement of DATA with non-renegable Gap Ack Blocks.
    NrSack(NrSack<'a>),
    /// Probes a path.
    Heartbeat(Heartbeat<'a>),
    /// The answer to HEARTBEAT.
    HeartbeatAck(HeartbeatAck<'a>),
    /// The association ends at once.
    Abort(Abort<'a>),
    /// No more data will be sent.
    Shutdown(Shutdown),
    /// The answer to SHUTDOWN.
    ShutdownAck(ShutdownAck),
    /// Reports an error; the association continues.
    Error(OperationError<'a>),
    /// Returns the state cookie to the responder.
    CookieEcho(CookieEcho<'a>),
    /// The cookie is accepted.
    CookieAck(CookieAck),
    /// The association has ended.
    ShutdownComplete(ShutdownComplete),
    /// One-way delays of packets.
    LedbatControl(LedbatControl<'a>),
    /// Time at which the packet was sent.
    Timestamp(Timestamp),
    /// Cost and heartbeat interval of the path on which the chunk arrives.
    PathStatus(PathStatus),
    /// Abandoned chunks that the receiver is to skip.
    ForwardTsn(ForwardTsn<'a>),
    /// Abandoned I-DATA messages that the receiver is to skip.
    IForwardTsn(IForwardTsn<'a>),
    /// Makes the packet longer.
    Pad(Pad<'a>),
    /// Authenticates the later chunks of the packet.
    Auth(Auth<'a>),
    /// Requests changes of addresses.
    Asconf(Asconf<'a>),
    /// The answer to ASCONF.
    AsconfAck(AsconfAck<'a>),
    /// Packets arrived with the mark "congestion experienced".
    Ecne(Ecne),
    /// The answer to ECNE.
    Cwr(Cwr),
    /// A packet was dropped.
    PacketDrop(PacketDrop<'a>),
    /// Requests that streams are reset or added, or answers such a request.
    ReConfig(ReConfig<'a>),
    /// Any other type, not decoded.
    Unknown(UnknownChunk<'a>),
}

/// Reason why a chunk cannot be decoded. The chunks after it cannot be decoded either.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChunkError {
    /// Fewer bytes are left than a chunk header takes.
    #[error("{0} bytes are left: too few for a chunk header")]
    Truncated(usize),
    /// The length field of the chunk is below 4, or the chunk with its padding would end past the packet.
    #[error(
        "chunk type {chunk_type:#04x} has length {length}, which is below 4 or past the end of the packet"
    )]
    Length {
        /// Type of the chunk.
        chunk_type: u8,
        /// Value of the length field.
        length: u16,
    },
    /// The value of the chunk is malformed for its type.
    #[error("the value is not one of chunk type {chunk_type:#04x}")]
    Value {
        /// Type of the chunk.
        chunk_type: u8,
    },
    /// A control chunk extends into zeros that are not stored. This crate writes no packet with such a chunk.
    /// [`transport::PacketBuf::materialise`] stores the zeros, so that the packet can be decoded.
    #[error("control chunk type {chunk_type:#04x} reaches into zeros that are not stored")]
    ZerosInControl {
        /// Type of the chunk.
        chunk_type: u8,
    },
}

/// A chunk that can be encoded.
pub trait Encode {
    /// Value of the chunk's length field: its bytes without padding.
    fn encoded_len(&self) -> usize;

    /// Appends the chunk without padding to `out`. Before the call, `out` must store all of its bytes; the
    /// call may append zeros that are not stored. The length of the chunk must be below 65,536.
    fn encode(&self, out: &mut PacketBuf);
}

impl<'a> Chunk<'a> {
    /// Decodes the first chunk of `bytes`. Also returns the bytes after its padding.
    #[inline]
    pub(crate) fn split_first(bytes: Octets<'a>) -> Result<(Chunk<'a>, Octets<'a>), ChunkError> {
        let header: [u8; HEADER_LEN] = bytes.first_chunk().ok_or(ChunkError::Truncated(bytes.len()))?;
        let (chunk_type, flags, length) = (header[0], header[1], u16_at(&header, 2));
        let size = usize::from(length);
        if size < HEADER_LEN || padded(size) > bytes.len() {
            return Err(ChunkError::Length { chunk_type, length });
        }
        let (whole, rest) = bytes.split_at(padded(size));
        let (chunk, _padding) = whole.split_at(size);
        let chunk = match chunk_type {
            Data::TYPE => Data::decode(flags, chunk).map(Chunk::Data),
            IData::TYPE => IData::decode(flags, chunk).map(Chunk::IData),
            Pad::TYPE => Some(Chunk::Pad(Pad::decode(chunk))),
            Sack::TYPE if chunk.zeros == 0 => Sack::decode(flags, &chunk.head[HEADER_LEN..]).map(Chunk::Sack),
            _ => return Chunk::control(chunk_type, flags, chunk).map(|chunk| (chunk, rest)),
        };
        chunk.map(|chunk| (chunk, rest)).ok_or(ChunkError::Value { chunk_type })
    }

    /// The first chunk of `bytes` if it is a well-formed DATA chunk, and the bytes after its padding.
    #[inline]
    pub(crate) fn split_data(bytes: Octets<'a>) -> Option<(Data<'a>, Octets<'a>)> {
        let header: [u8; HEADER_LEN] = bytes.first_chunk()?;
        let size = usize::from(u16_at(&header, 2));
        if header[0] != Data::TYPE || size < Data::HEADER_LEN || padded(size) > bytes.len() {
            return None;
        }
        let (whole, rest) = bytes.split_at(padded(size));
        let (chunk, _padding) = whole.split_at(size);
        Data::decode(header[1], chunk).map(|data| (data, rest))
    }

    /// The first chunk of `bytes` if it is a well-formed SACK of which all bytes are stored, and the bytes
    /// after it. A SACK needs no padding.
    #[inline]
    pub(crate) fn split_sack(bytes: Octets<'a>) -> Option<(Sack<'a>, Octets<'a>)> {
        let header: [u8; HEADER_LEN] = bytes.first_chunk()?;
        let size = usize::from(u16_at(&header, 2));
        if header[0] != Sack::TYPE || size < Sack::FIXED_LEN || size > bytes.head.len() {
            return None;
        }
        let (chunk, rest) = bytes.split_at(size);
        Sack::decode(header[1], &chunk.head[HEADER_LEN..]).map(|sack| (sack, rest))
    }

    /// Decodes any chunk without user data, except PAD and a SACK of which all bytes are stored:
    /// [`Self::split_first`] decodes these.
    #[inline(never)]
    fn control(chunk_type: u8, flags: u8, chunk: Octets<'a>) -> Result<Chunk<'a>, ChunkError> {
        let value = chunk.head.get(HEADER_LEN..).unwrap_or_default();
        let control = match chunk_type {
            Sack::TYPE => Sack::decode(flags, value).map(Chunk::Sack),
            NrSack::TYPE => NrSack::decode(flags, value).map(Chunk::NrSack),
            Init::TYPE => Init::decode(value).map(Chunk::Init),
            InitAck::TYPE => InitAck::decode(value).map(Chunk::InitAck),
            Heartbeat::TYPE => Heartbeat::decode(value).map(Chunk::Heartbeat),
            HeartbeatAck::TYPE => HeartbeatAck::decode(value).map(Chunk::HeartbeatAck),
            Abort::TYPE => Some(Chunk::Abort(Abort::decode(flags, value))),
            Shutdown::TYPE => Shutdown::decode(value).map(Chunk::Shutdown),
            ShutdownAck::TYPE => ShutdownAck::decode(value).map(Chunk::ShutdownAck),
            ForwardTsn::TYPE => ForwardTsn::decode(value).map(Chunk::ForwardTsn),
            OperationError::TYPE => Some(Chunk::Error(OperationError::decode(value))),
            CookieEcho::TYPE => Some(Chunk::CookieEcho(CookieEcho::decode(value))),
            CookieAck::TYPE => CookieAck::decode(value).map(Chunk::CookieAck),
            ShutdownComplete::TYPE => ShutdownComplete::decode(flags, value).map(Chunk::ShutdownComplete),
            Auth::TYPE => Auth::decode(flags, value).map(Chunk::Auth),
            Asconf::TYPE => Asconf::decode(value).map(Chunk::Asconf),
            AsconfAck::TYPE => AsconfAck::decode(value).map(Chunk::AsconfAck),
            Ecne::TYPE => Ecne::decode(value).map(Chunk::Ecne),
            Cwr::TYPE => Cwr::decode(flags, value).map(Chunk::Cwr),
            PacketDrop::TYPE => PacketDrop::decode(flags, value).map(Chunk::PacketDrop),
            IForwardTsn::TYPE => IForwardTsn::decode(value).map(Chunk::IForwardTsn),
            ReConfig::TYPE => Some(Chunk::ReConfig(ReConfig::decode(value))),
            // These types are not registered: a chunk that does not have the format of this crate belongs to
            // another implementation.
            LedbatControl::TYPE if LedbatControl::decode(value).is_some() => {
                LedbatControl::decode(value).map(Chunk::LedbatControl)
            }
            Timestamp::TYPE if Timestamp::decode(value).is_some() => {
                Timestamp::decode(value).map(Chunk::Timestamp)
            }
            PathStatus::TYPE if PathStatus::decode(value).is_some() => {
                PathStatus::decode(value).map(Chunk::PathStatus)
            }
            _ => return Ok(Chunk::Unknown(UnknownChunk { chunk_type, bytes: chunk })),
        };
        if chunk.zeros > 0 {
            return Err(ChunkError::ZerosInControl { chunk_type });
        }
        control.ok_or(ChunkError::Value { chunk_type })
    }

    /// Type of the chunk.
    pub fn chunk_type(&self) -> u8 {
        match self {
            Chunk::Data(_) => Data::TYPE,
            Chunk::Init(_) => Init::TYPE,
            Chunk::InitAck(_) => InitAck::TYPE,
            Chunk::Sack(_) => Sack::TYPE,
            Chunk::NrSack(_) => NrSack::TYPE,
            Chunk::Heartbeat(_) => Heartbeat::TYPE,
            Chunk::HeartbeatAck(_) => HeartbeatAck::TYPE,
            Chunk::Abort(_) => Abort::TYPE,
            Chunk::Shutdown(_) => Shutdown::TYPE,
            Chunk::ShutdownAck(_) => ShutdownAck::TYPE,
            Chunk::Error(_) => OperationError::TYPE,
            Chunk::CookieEcho(_) => CookieEcho::TYPE,
            Chunk::CookieAck(_) => CookieAck::TYPE,
            Chunk::ShutdownComplete(_) => ShutdownComplete::TYPE,
            Chunk::LedbatControl(_) => LedbatControl::TYPE,
            Chunk::Timestamp(_) => Timestamp::TYPE,
            Chunk::PathStatus(_) => PathStatus::TYPE,
            Chunk::Pad(_) => Pad::TYPE,
            Chunk::IData(_) => IData::TYPE,
            Chunk::ForwardTsn(_) => ForwardTsn::TYPE,
            Chunk::IForwardTsn(_) => IForwardTsn::TYPE,
            Chunk::Ecne(_) => Ecne::TYPE,
            Chunk::Cwr(_) => Cwr::TYPE,
            Chunk::PacketDrop(_) => PacketDrop::TYPE,
            Chunk::ReConfig(_) => ReConfig::TYPE,
            Chunk::Auth(_) => Auth::TYPE,
            Chunk::Asconf(_) => Asconf::TYPE,
            Chunk::AsconfAck(_) => AsconfAck::TYPE,
            Chunk::Unknown(unknown) => unknown.chunk_type,
        }
    }

    fn as_encode(&self) -> &dyn Encode {
        match self {
            Chunk::Data(chunk) => chunk,
            Chunk::IData(chunk) => chunk,
            Chunk::Init(chunk) => chunk,
            Chunk::InitAck(chunk) => chunk,
            Chunk::Sack(chunk) => chunk,
            Chunk::NrSack(chunk) => chunk,
            Chunk::Heartbeat(chunk) => chunk,
            Chunk::HeartbeatAck(chunk) => chunk,
            Chunk::Abort(chunk) => chunk,
            Chunk::Shutdown(chunk) => chunk,
            Chunk::ShutdownAck(chunk) => chunk,
            Chunk::Error(chunk) => chunk,
            Chunk::CookieEcho(chunk) => chunk,
            Chunk::CookieAck(chunk) => chunk,
            Chunk::ShutdownComplete(chunk) => chunk,
            Chunk::LedbatControl(chunk) => chunk,
            Chunk::Timestamp(chunk) => chunk,
            Chunk::PathStatus(chunk) => chunk,
            Chunk::ForwardTsn(chunk) => chunk,
            Chunk::IForwardTsn(chunk) => chunk,
            Chunk::Pad(chunk) => chunk,
            Chunk::Auth(chunk) => chunk,
            Chunk::Asconf(chunk) => chunk,
            Chunk::AsconfAck(chunk) => chunk,
            Chunk::Ecne(chunk) => chunk,
            Chunk::Cwr(chunk) => chunk,
            Chunk::PacketDrop(chunk) => chunk,
            Chunk::ReConfig(chunk) => chunk,
            Chunk::Unknown(chunk) => chunk,
        }
    }
}

impl Encode for Chunk<'_> {
    fn encoded_len(&self) -> usize {
        self.as_encode().encoded_len()
    }

    fn encode(&self, out: &mut PacketBuf) {
        self.as_encode().encode(out);
    }
}

/// The encoded type, flags and length.
#[inline]
fn header(chunk_type: u8, flags: u8, length: usize) -> [u8; HEADER_LEN] {
    debug_assert!(length <= usize::from(u16::MAX));
    let length = (length as u16).to_be_bytes();
    [chunk_type, flags, length[0], length[1]]
}
