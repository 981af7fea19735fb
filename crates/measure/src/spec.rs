//! The specification of a flow: its transport, the data of each side, and NetPerfMeter's message for it.

use crate::npmp::{AddFlow, FlowId, OnOffEvent, Random, Text};
use scenario::{Change, Changes, Distribution, Hertz, Pace, Traffic};
use sctp::Reliability;
use units::{ByteCount, Probability, Span};

transport::named! {
    /// The transport of a flow.
    "transport" Transport {
        /// SCTP of our stack, in UDP or directly in IP.
        Sctp = "sctp",
        /// TCP of the operating system.
        Tcp = "tcp",
        /// UDP.
        Udp = "udp",
    }
}

impl Transport {
    /// The number of the IP protocol.
    pub const fn protocol(self) -> u16 {
        match self {
            Transport::Sctp => 132,
            Transport::Tcp => 6,
            Transport::Udp => 17,
        }
    }

    /// The transport of an IP protocol; `None` if this crate does not support the protocol.
    pub fn of_protocol(protocol: u16) -> Option<Self> {
        Self::ALL.iter().copied().find(|transport| transport.protocol() == protocol)
    }

    /// Longest message of the transport in bytes: a UDP datagram over IPv4, or the largest value of the
    /// length field of NPMP.
    const fn longest_message(self) -> u16 {
        match self {
            Transport::Udp => 65_507,
            Transport::Sctp | Transport::Tcp => u16::MAX,
        }
    }
}

/// Load that one side of a flow sends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Frames per second; 0: as many as the transport accepts.
    pub rate: Random,
    /// Bytes of a frame; 0: this side sends nothing.
    pub size: Random,
}

/// A flow, seen from one of its two sides.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSpec {
    /// The transport.
    pub transport: Transport,
    /// Number of the flow; `None`: its index in the list of flows.
    pub id: Option<u32>,
    /// Text for the user.
    pub description: String,
    /// Load that this side sends.
    pub outbound: Load,
    /// Load that the other side sends.
    pub inbound: Load,
    /// Longest message in bytes; longer frames are split.
    pub max_message: u16,
    /// Share of messages that are sent ordered.
    pub ordered: f64,
    /// Share of messages that are sent reliably.
    pub reliable: f64,
    /// When the messages that are not sent reliably are abandoned.
    pub reliability: Reliability,
    /// Socket buffers in bytes, receive and send, of TCP at both sides and of UDP at the active side. `None`:
    /// 4 MiB, but TCP keeps the defaults of the system if both are `None`.
    pub buffers: [Option<u32>; 2],
    /// Times when the flow is turned on and off; if empty, the flow always sends.
    pub events: Vec<OnOffEvent>,
    /// True if the events begin again after the last one.
    pub repeat: bool,
    /// True if Nagle's algorithm is off.
    pub no_delay: bool,
    /// Kind of CMT, as in [`AddFlow::cmt`].
    pub cmt: u8,
}

/// NetPerfMeter's default size of socket buffers in bytes.
const BUFFER: u32 = 233_016;

/// Reason why the specification of a flow is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadFlow(pub String);

impl FlowSpec {
    /// A flow of this transport on which neither side sends.
    pub fn new(transport: Transport) -> Self {
        FlowSpec {
            transport,
            id: None,
            description: String::new(),
            outbound: Load::default(),
            inbound: Load::default(),
            max_message: 16_000,
            ordered: 1.0,
            reliable: 1.0,
            reliability: Reliability::Reliable,
            buffers: [None; 2],
            events: Vec::new(),
            repeat: false,
            no_delay: false,
            cmt: 0,
        }
    }

    /// The message that announces this flow.
    pub fn to_message(&self, id: FlowId) -> AddFlow {
        let share = |share: f64| (share * f64::from(u32::MAX)) as u32;
        AddFlow {
            id,
            protocol: self.transport.protocol(),
            description: Text::new(&self.description),
            ordered: share(self.ordered),
            reliable: share(self.reliable),
            retransmissions: match self.reliability {
                Reliability::Until(life) => MILLISECONDS | (life.as_nanos() / 1_000_000).min(LONGEST) as u32,
                Reliability::Retransmissions(trials) => trials.min(LONGEST as u32),
                Reliability::Reliable | Reliability::Priority(_) => u32::MAX,
            },
            rate: self.inbound.rate,
            size: self.inbound.size,
            receive_buffer: self.buffers[0].unwrap_or(BUFFER),
            send_buffer: self.buffers[1].unwrap_or(BUFFER),
            max_message: self.max_message,
            cmt: self.cmt,
            ccid: 0,
            path_manager: Text::new("default"),
            congestion_control: Text::new("default"),
            scheduler: Text::new("default"),
            events: self.events.clone(),
            repeat: self.repeat,
            debug: false,
            no_delay: self.no_delay,
        }
    }

    /// The flow that a message announces, from the view of the side that received the message: that side
    /// sends the load `outbound`.
    ///
    /// # Errors
    /// [`BadFlow`] if the protocol is not supported.
    pub fn of_message(message: &AddFlow) -> Result<Self, BadFlow> {
        let transport = Transport::of_protocol(message.protocol)
            .ok_or_else(|| BadFlow(format!("there are no flows of IP protocol {}", message.protocol)))?;
        let share = |share: u32| f64::from(share) / f64::from(u32::MAX);
        // The message of an active side always contains sizes. NetPerfMeter's default counts as no size.
        let buffer = |size: u32| Some(size).filter(|&size| size != BUFFER);
        Ok(FlowSpec {
            id: Some(message.id.flow),
            description: message.description.text(),
            outbound: Load { rate: message.rate, size: message.size },
            max_message: message.max_message,
            ordered: share(message.ordered),
            reliable: share(message.reliable),
            reliability: match message.retransmissions {
                u32::MAX => Reliability::Reliable,
                limit if limit & MILLISECONDS != 0 => {
                    Reliability::Until(Span::from_millis(u64::from(limit & !MILLISECONDS)))
                }
                trials => Reliability::Retransmissions(trials),
            },
            buffers: [buffer(message.receive_buffer), buffer(message.send_buffer)],
            events: message.events.clone(),
            repeat: message.repeat,
            no_delay: message.no_delay,
            cmt: message.cmt,
            ..FlowSpec::new(transport)
        })
    }

    /// The traffic that the sender of this side generates; `None` if this side sends nothing.
    ///
    /// # Errors
    /// [`BadFlow`] if traffic cannot have these numbers.
    pub fn traffic(&self) -> Result<Option<Traffic>, BadFlow> {
        let Load { rate, size } = self.outbound;
        if size.values[0] == 0.0 {
            return Ok(None);
        }
        let pace = if rate.values[0] == 0.0 {
            Pace::Saturated
        } else {
            let hertz = |rate: f64| Hertz::new(rate).unwrap_or_default();
            Pace::Frames(distribution("frame rate", rate, 1e-3..=1e7)?.map(hertz))
        };
        let bytes = |size: f64| ByteCount::round_f64(size);
        let least = crate::npmp::DATA_HEADER as u16;
        Ok(Some(Traffic {
            pace,
            on_off: None,
            changes: self.changes()?,
            frame_size: distribution("frame size", size, 1.0..=1e9)?.map(bytes),
            max_msg_size: ByteCount::new(
                self.max_message.clamp(least, self.transport.longest_message()).into(),
            ),
            queue_size: u32::MAX,
            unordered: probability(1.0 - self.ordered)?,
            unreliable: probability(1.0 - self.reliable)?,
            reliability: self.reliability,
            streams: 1,
        }))
    }

    /// The times when the flow is turned on and off.
    pub(crate) fn changes(&self) -> Result<Changes, BadFlow> {
        let change = |event: &OnOffEvent| {
            let law = distribution("time of an event", event.time, 0.0..=1e7)?.map(Span::from_secs_f64);
            Ok(if event.relative { Change::After(law) } else { Change::At(law) })
        };
        Ok(Changes {
            times: self.events.iter().map(change).collect::<Result<_, BadFlow>>()?,
            repeat: self.repeat,
        })
    }
}

/// Flag: the limit of retransmissions is a lifetime in milliseconds.
const MILLISECONDS: u32 = 1 << 31;
/// Largest number of retransmissions, or largest lifetime in milliseconds.
const LONGEST: u64 = (MILLISECONDS - 2) as u64;

fn probability(share: f64) -> Result<Probability, BadFlow> {
    Probability::new(share).map_err(|_| BadFlow(format!("{share} is no share of messages")))
}

/// A distribution of numbers without a unit.
struct Law(Distribution<f64>);

impl Law {
    fn map<T>(self, convert: impl Fn(f64) -> T) -> Distribution<T> {
        match self.0 {
            Distribution::Constant(value) => Distribution::Constant(convert(value)),
            Distribution::Uniform(low, high) => Distribution::Uniform(convert(low), convert(high)),
            Distribution::Exponential(mean) => Distribution::Exponential(convert(mean)),
            Distribution::Pareto(mean, shape) => Distribution::Pareto(convert(mean), shape),
        }
    }
}

/// Converts a random number of NPMP to a distribution. An error if its mean is not in `range`.
fn distribution(what: &str, random: Random, range: std::ops::RangeInclusive<f64>) -> Result<Law, BadFlow> {
    let [value, second, ..] = random.values;
    let bad = |why: String| BadFlow(format!("{what}: {why}"));
    let law = match random.generator {
        0 => Distribution::Constant(value),
        // NPMP's parameters of a uniform distribution are the
        // mean, and the largest deviation as a share of the mean.
        1 if (0.0..1.0).contains(&second) => {
            Distribution::Uniform(value * (1.0 - second), value * (1.0 + second))
        }
        1 => {
            return Err(bad(format!(
                "a uniform distribution varies by less than its mean, not by {second} of it"
            )));
        }
        2 => Distribution::Exponential(value),
        // NPMP's parameters of a Pareto distribution are the minimum and the shape.
        3 if second > 1.0 && second.is_finite() => {
            Distribution::Pareto(value * second / (second - 1.0), second)
        }
        3 => {
            return Err(bad(format!(
                "a Pareto distribution has a mean only with a shape above 1, not with {second}"
            )));
        }
        other => return Err(bad(format!("there is no distribution {other}"))),
    };
    match range.contains(&value) {
        true => Ok(Law(law)),
        false => Err(bad(format!("{value} is not in {} to {}", range.start(), range.end()))),
    }
}

#[cfg(test)]
mod tests;
