use super::FlowId;
use super::cursor::{Cursor, Writer};

/// Size of an on/off event. Before NetPerfMeter 2.0.3 it had padding before its floating-point numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventSize {
    /// 40 bytes: versions 1.x, and 2.x before 2.0.3.
    #[default]
    Padded,
    /// 36 bytes: since version 2.0.3.
    Packed,
}

impl EventSize {
    const fn bytes(self) -> usize {
        match self {
            EventSize::Padded => 40,
            EventSize::Packed => 36,
        }
    }
}

/// Distribution of a random number: the number of its generator, and the parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Random {
    /// 0: constant, 1: uniform, 2: exponential, 3: Pareto, 4: normal, 5: truncated normal.
    pub generator: u8,
    /// Parameters of the distribution; unused ones are 0.
    pub values: [f64; 4],
}

/// Time when a flow is turned on, or off again.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OnOffEvent {
    /// Time in seconds.
    pub time: Random,
    /// True if the time counts from the event before, false if from the start.
    pub relative: bool,
}

/// A text in a field of N bytes, filled with zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<const N: usize>(pub [u8; N]);

impl<const N: usize> Default for Text<N> {
    fn default() -> Self {
        Text([0; N])
    }
}

impl<const N: usize> Text<N> {
    /// Stores the beginning of the text that fits.
    pub fn new(text: &str) -> Self {
        let mut bytes = [0; N];
        let length = (0..=N.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
        bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
        Text(bytes)
    }

    /// The text up to the first zero byte. Invalid UTF-8 and control characters are replaced, so that a
    /// terminal can print the text.
    pub fn text(&self) -> String {
        let length = self.0.iter().position(|&byte| byte == 0).unwrap_or(N);
        let text = String::from_utf8_lossy(&self.0[..length]);
        text.chars().map(|c| if c.is_control() || c == '"' { '?' } else { c }).collect()
    }
}

/// Announces a flow to the passive side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AddFlow {
    /// The flow.
    pub id: FlowId,
    /// IP protocol: 6 TCP, 17 UDP, 132 SCTP. One byte before version 2; since then two bytes, little endian.
    pub protocol: u16,
    /// Text for the user.
    pub description: Text<32>,
    /// Share of messages that are sent ordered, in 1/0xffffffff.
    pub ordered: u32,
    /// Share of messages that are sent reliably, in 1/0xffffffff.
    pub reliable: u32,
    /// Largest number of retransmissions of a message that is not sent reliably. With bit 31: a lifetime in
    /// milliseconds; 0xffffffff: the default of SCTP.
    pub retransmissions: u32,
    /// Frames per second from the passive to the active side; 0: saturated.
    pub rate: Random,
    /// Bytes of a frame from the passive to the active side; 0: the passive side sends nothing.
    pub size: Random,
    /// Receive buffer, bytes.
    pub receive_buffer: u32,
    /// Send buffer, bytes.
    pub send_buffer: u32,
    /// Longest message in bytes; longer frames are split.
    pub max_message: u16,
    /// 0: no CMT, 1: CMT, 2: RPv1, 3: RPv2, 4: as MPTCP.
    pub cmt: u8,
    /// Congestion control of DCCP.
    pub ccid: u8,
    /// Path manager of MPTCP.
    pub path_manager: Text<16>,
    /// Congestion control of TCP.
    pub congestion_control: Text<16>,
    /// Scheduler of MPTCP.
    pub scheduler: Text<16>,
    /// Times when the flow is turned on and off; if empty, the flow always sends.
    pub events: Vec<OnOffEvent>,
    /// True if the events begin again after the last one.
    pub repeat: bool,
    /// True for debug messages of the socket.
    pub debug: bool,
    /// True if Nagle's algorithm is off.
    pub no_delay: bool,
}

impl AddFlow {
    pub(super) fn flags(&self) -> u8 {
        u8::from(self.debug) | u8::from(self.no_delay) << 1 | u8::from(self.repeat) << 2
    }

    pub(super) fn decode(flags: u8, body: &mut Cursor<'_>) -> Option<Self> {
        let id = body.flow_id()?;
        let protocol = u16::from_le_bytes(body.array()?);
        let description = Text(body.array()?);
        let (ordered, reliable, retransmissions) = (body.u32()?, body.u32()?, body.u32()?);
        let (rates, sizes) = (body.numbers()?, body.numbers()?);
        let rate = Random { generator: body.u8()?, values: rates };
        let size = Random { generator: body.u8()?, values: sizes };
        let (receive_buffer, send_buffer) = (body.u32()?, body.u32()?);
        let (max_message, cmt, ccid) = (body.u16()?, body.u8()?, body.u8()?);
        body.u16()?;
        let path_manager = Text(body.array()?);
        let congestion_control = Text(body.array()?);
        let scheduler = Text(body.array()?);
        let count = usize::from(body.u16()?);
        // This check comes before any memory is allocated for the events.
        let sizes = [EventSize::Padded, EventSize::Packed];
        let size_of_events = sizes.into_iter().find(|events| count * events.bytes() == body.len())?;
        let events = (0..count).map(|_| event(body, size_of_events)).collect::<Option<Vec<_>>>()?;
        Some(AddFlow {
            id,
            protocol,
            description,
            ordered,
            reliable,
            retransmissions,
            rate,
            size,
            receive_buffer,
            send_buffer,
            max_message,
            cmt,
            ccid,
            path_manager,
            congestion_control,
            scheduler,
            events,
            repeat: flags & 4 != 0,
            debug: flags & 1 != 0,
            no_delay: flags & 2 != 0,
        })
    }

    pub(super) fn encode(&self, size: EventSize, out: &mut Writer) {
        out.flow_id(self.id);
        out.bytes(&self.protocol.to_le_bytes());
        out.bytes(&self.description.0);
        out.u32(self.ordered);
        out.u32(self.reliable);
        out.u32(self.retransmissions);
        out.numbers(&self.rate.values);
        out.numbers(&self.size.values);
        out.u8(self.rate.generator);
        out.u8(self.size.generator);
        out.u32(self.receive_buffer);
        out.u32(self.send_buffer);
        out.u16(self.max_message);
        out.u8(self.cmt);
        out.u8(self.ccid);
        out.u16(0);
        out.bytes(&self.path_manager.0);
        out.bytes(&self.congestion_control.0);
        out.bytes(&self.scheduler.0);
        out.u16(self.events.len() as u16);
        for event in &self.events {
            out.u8(event.time.generator);
            out.u8(event.relative.into());
            out.bytes(match size {
                EventSize::Padded => &[0; 6],
                EventSize::Packed => &[0; 2],
            });
            out.numbers(&event.time.values);
        }
    }
}

fn event(body: &mut Cursor<'_>, size: EventSize) -> Option<OnOffEvent> {
    let (generator, flags) = (body.u8()?, body.u8()?);
    body.u16()?;
    if size == EventSize::Padded {
        body.u32()?;
    }
    let time = Random { generator, values: body.numbers()? };
    Some(OnOffEvent { time, relative: flags & 1 != 0 })
}
