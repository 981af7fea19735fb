//! NPMP, the protocol between the two sides of NetPerfMeter: a codec that never panics.
//!
//! Source: NetPerfMeter 1.9.4 and 2.0.10 (dreibh/netperfmeter). Integers are big endian, except
//! [`AddFlow::protocol`]; floating point numbers are IEEE 754 binary64, big endian. Each message begins with
//! its type, flags, and length (header included). On TCP, messages follow each other without gaps.

mod add_flow;
mod cursor;
mod frames;

pub use add_flow::{AddFlow, EventSize, OnOffEvent, Random, Text};
pub use frames::Frames;

use cursor::{Cursor, Writer};

/// Bytes of the header at the beginning of each message.
pub const HEADER: usize = 4;
/// Bytes of a DATA message without payload.
pub const DATA_HEADER: usize = 48;
/// Longest piece of a file in a RESULTS message, in bytes.
pub const RESULTS_PIECE: usize = 1400;
/// Payload protocol identifier of control messages on SCTP.
pub const CONTROL_PPID: u32 = 36;
/// Payload protocol identifier of DATA and IDENTIFY messages on SCTP.
pub const DATA_PPID: u32 = 37;

/// Magic number of an IDENTIFY message.
const MAGIC: u64 = 0x4bcd_f3aa_303c_6774;

/// Numbers of the message types.
mod kind {
    pub const ACKNOWLEDGE: u8 = 1;
    pub const ADD_FLOW: u8 = 2;
    pub const REMOVE_FLOW: u8 = 3;
    pub const IDENTIFY_FLOW: u8 = 4;
    pub const DATA: u8 = 5;
    pub const START: u8 = 6;
    pub const STOP: u8 = 7;
    pub const RESULTS: u8 = 8;
}

/// Reason why bytes are not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The length field does not fit the type, or the bytes end too early.
    #[error("a message of type {kind} has a wrong length")]
    Length {
        /// The type.
        kind: u8,
    },
    /// The type is not between 1 and 8.
    #[error("there is no message type {0}")]
    Type(u8),
    /// The magic number of an IDENTIFY message is wrong.
    #[error("an IDENTIFY message has a wrong magic number")]
    Magic,
}

/// Numbers that identify a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowId {
    /// Number of the measurement, chosen at random by the active side.
    pub measurement: u64,
    /// Number of the flow in the measurement.
    pub flow: u32,
    /// The SCTP stream of the flow; 0 with other protocols.
    pub stream: u16,
}

/// The result of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledge {
    /// The flow of the request; flow and stream are 0 for START and STOP.
    pub id: FlowId,
    /// 0: success, any other value: failure.
    pub status: u32,
}

/// The first message of a data connection: identifies the flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identify {
    /// The flow.
    pub id: FlowId,
    /// True if the active side wants the flow's vector file (a row for each received message) compressed.
    pub compress_vector: bool,
    /// True if the active side wants no vector file of the flow.
    pub no_vector: bool,
}

/// The header of a message of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Data {
    /// The flow.
    pub id: FlowId,
    /// True if the message is the first one of its frame.
    pub begin: bool,
    /// True if the message is the last one of its frame.
    pub end: bool,
    /// Number of the frame.
    pub frame: u32,
    /// Number of the message.
    pub sequence: u64,
    /// Number of bytes of all earlier messages of the flow.
    pub position: u64,
    /// Time of sending, in microseconds since 1970.
    pub time: u64,
}

/// Starts the transmission, and says which files the active side wants from the passive side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// Number of the measurement.
    pub measurement: u64,
    /// True if vector files shall be compressed (bzip2).
    pub compress_vectors: bool,
    /// True if scalars shall be compressed (bzip2).
    pub compress_scalars: bool,
    /// True if the active side wants no vector files.
    pub no_vectors: bool,
    /// True if the active side wants no scalars.
    pub no_scalars: bool,
    /// Interval in milliseconds at which the passive side reports its paths. This extension uses a
    /// flag and a field that NetPerfMeter ignores.
    pub paths_every: Option<u32>,
    /// True if the active side measures latency. The passive side then echoes its probes. Before it
    /// acknowledges START, it sends in a RESULTS message the cookie that each probe must carry. This
    /// extension is a flag that NetPerfMeter ignores.
    pub latency: bool,
}

/// An NPMP message.
#[derive(Clone, Debug, PartialEq)]
pub enum Message<'a> {
    /// The result of a request.
    Acknowledge(Acknowledge),
    /// Announces a flow.
    AddFlow(Box<AddFlow>),
    /// Ends a flow.
    RemoveFlow(FlowId),
    /// First message of a data connection.
    Identify(Identify),
    /// A message of a flow, and its payload.
    Data(Data, &'a [u8]),
    /// Tells the passive side to start; both sides send from then on.
    Start(Start),
    /// Tells the passive side to stop; neither side sends any more.
    Stop {
        /// The measurement.
        measurement: u64,
    },
    /// A piece of a file.
    Results {
        /// True for the last piece of the file.
        last: bool,
        /// The bytes of the piece.
        piece: &'a [u8],
    },
}

/// The length of the message that begins with these bytes; `None` if its header is not complete.
///
/// # Errors
/// [`Malformed::Length`] if the length is less than that of the header.
pub fn length(bytes: &[u8]) -> Result<Option<usize>, Malformed> {
    let &[kind, _, high, low, ..] = bytes else { return Ok(None) };
    match usize::from(u16::from_be_bytes([high, low])) {
        length if length < HEADER => Err(Malformed::Length { kind }),
        length => Ok(Some(length)),
    }
}

impl<'a> Message<'a> {
    /// Reads one whole message.
    ///
    /// # Errors
    /// [`Malformed`].
    pub fn decode(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let &[kind, flags, high, low, ..] = bytes else {
            return Err(Malformed::Length { kind: bytes.first().copied().unwrap_or_default() });
        };
        let short = Malformed::Length { kind };
        if usize::from(u16::from_be_bytes([high, low])) != bytes.len() {
            return Err(short);
        }
        let mut body = Cursor::new(&bytes[HEADER..]);
        let message = Self::decode_body(kind, flags, &mut body).ok_or(short)??;
        if body.is_empty() { Ok(message) } else { Err(short) }
    }

    /// Reads the body of a message of this type; `None` if the bytes end too early.
    fn decode_body(kind: u8, flags: u8, body: &mut Cursor<'a>) -> Option<Result<Self, Malformed>> {
        Some(Ok(match kind {
            kind::ACKNOWLEDGE => {
                let id = body.flow_id()?;
                body.u16()?;
                Message::Acknowledge(Acknowledge { id, status: body.u32()? })
            }
            kind::ADD_FLOW => Message::AddFlow(Box::new(AddFlow::decode(flags, body)?)),
            kind::REMOVE_FLOW => Message::RemoveFlow(body.flow_id()?),
            kind::IDENTIFY_FLOW => {
                let flow = body.u32()?;
                if body.u64()? != MAGIC {
                    return Some(Err(Malformed::Magic));
                }
                let id = FlowId { flow, measurement: body.u64()?, stream: body.u16()? };
                Message::Identify(Identify { id, compress_vector: flags & 1 != 0, no_vector: flags & 2 != 0 })
            }
            kind::DATA => {
                let id = body.flow_id()?;
                body.u16()?;
                let data = Data {
                    id,
                    begin: flags & 1 != 0,
                    end: flags & 2 != 0,
                    frame: body.u32()?,
                    sequence: body.u64()?,
                    position: body.u64()?,
                    time: body.u64()?,
                };
                Message::Data(data, body.rest())
            }
            kind::START => {
                let every = body.u32()?;
                Message::Start(Start {
                    measurement: body.u64()?,
                    compress_vectors: flags & 1 != 0,
                    compress_scalars: flags & 2 != 0,
                    no_vectors: flags & 4 != 0,
                    no_scalars: flags & 8 != 0,
                    paths_every: (flags & 16 != 0).then_some(every),
                    latency: flags & 32 != 0,
                })
            }
            kind::STOP => {
                body.u32()?;
                Message::Stop { measurement: body.u64()? }
            }
            kind::RESULTS => Message::Results { last: flags & 1 != 0, piece: body.rest() },
            unknown => return Some(Err(Malformed::Type(unknown))),
        }))
    }

    /// Encodes the message, with on/off events of this size.
    ///
    /// # Panics
    /// If the message would be longer than 65,535 bytes.
    pub fn encode(&self, events: EventSize) -> Vec<u8> {
        let (kind, flags) = self.kind_and_flags();
        let mut out = Writer::new(kind, flags);
        match self {
            Message::Acknowledge(Acknowledge { id, status }) => {
                out.flow_id(*id);
                out.u16(0);
                out.u32(*status);
            }
            Message::AddFlow(flow) => flow.encode(events, &mut out),
            Message::RemoveFlow(id) => out.flow_id(*id),
            Message::Identify(Identify { id, .. }) => {
                out.u32(id.flow);
                out.u64(MAGIC);
                out.u64(id.measurement);
                out.u16(id.stream);
            }
            Message::Data(data, payload) => {
                out.flow_id(data.id);
                out.u16(0);
                out.u32(data.frame);
                out.u64(data.sequence);
                out.u64(data.position);
                out.u64(data.time);
                out.bytes(payload);
            }
            Message::Start(Start { measurement, paths_every, .. }) => {
                out.u32(paths_every.unwrap_or_default());
                out.u64(*measurement);
            }
            Message::Stop { measurement } => {
                out.u32(0);
                out.u64(*measurement);
            }
            Message::Results { piece, .. } => out.bytes(piece),
        }
        out.finish()
    }

    fn kind_and_flags(&self) -> (u8, u8) {
        let bit = |set: bool, flag: u8| if set { flag } else { 0 };
        match self {
            Message::Acknowledge(_) => (kind::ACKNOWLEDGE, 0),
            Message::AddFlow(flow) => (kind::ADD_FLOW, flow.flags()),
            Message::RemoveFlow(_) => (kind::REMOVE_FLOW, 0),
            Message::Identify(identify) => {
                (kind::IDENTIFY_FLOW, bit(identify.compress_vector, 1) | bit(identify.no_vector, 2))
            }
            Message::Data(data, _) => (kind::DATA, bit(data.begin, 1) | bit(data.end, 2)),
            Message::Start(start) => (
                kind::START,
                bit(start.compress_vectors, 1)
                    | bit(start.compress_scalars, 2)
                    | bit(start.no_vectors, 4)
                    | bit(start.no_scalars, 8)
                    | bit(start.paths_every.is_some(), 16)
                    | bit(start.latency, 32),
            ),
            Message::Stop { .. } => (kind::STOP, 0),
            Message::Results { last, .. } => (kind::RESULTS, bit(*last, 1)),
        }
    }
}

impl Data {
    /// Writes the header into the first 48 bytes of `message`, which is the whole DATA message.
    ///
    /// # Panics
    /// If `message` is shorter than 48 bytes.
    pub fn write(&self, message: &mut [u8]) {
        let total = message.len().min(usize::from(u16::MAX)) as u16;
        let flags = u8::from(self.begin) | u8::from(self.end) << 1;
        let mut header = [0; DATA_HEADER];
        header[..2].copy_from_slice(&[kind::DATA, flags]);
        header[2..4].copy_from_slice(&total.to_be_bytes());
        header[4..8].copy_from_slice(&self.id.flow.to_be_bytes());
        header[8..16].copy_from_slice(&self.id.measurement.to_be_bytes());
        header[16..18].copy_from_slice(&self.id.stream.to_be_bytes());
        header[20..24].copy_from_slice(&self.frame.to_be_bytes());
        header[24..32].copy_from_slice(&self.sequence.to_be_bytes());
        header[32..40].copy_from_slice(&self.position.to_be_bytes());
        header[40..48].copy_from_slice(&self.time.to_be_bytes());
        message[..DATA_HEADER].copy_from_slice(&header);
    }
}

#[cfg(test)]
mod tests;
