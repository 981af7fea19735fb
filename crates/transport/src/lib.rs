//! Types that the transports and their hosts share: packets and their addresses, payloads, timers of many
//! connections, RTT smoothing, sizes of buffers, and options with names.
//!
//! `sctp`, `tcp` and the hosts of the laboratory use these types. No type depends on a protocol.
#![forbid(unsafe_code)]

mod address;
mod agenda;
mod budget;
mod buffer;
mod check;
mod checksum;
mod datagram;
mod internet_checksum;
mod limit;
mod octets;
mod options;
mod payload;
mod receive_tuning;
mod rounds;
mod rtt;
mod send_buffer;
mod serial;
mod slab;
mod text;

pub use address::{is_unicast, nearest};
pub use agenda::{Agenda, Turn};
pub use budget::BufferBudget;
pub use buffer::BufferSize;
pub use check::{ConfigError, check};
pub use checksum::Checksum;
pub use datagram::{Channel, Datagram, Ecn, Endpoint, Transmit};
pub use internet_checksum::internet_checksum;
pub use limit::{Limit, LimitTimes, Stopwatch};
pub use octets::{Octets, PacketBuf};
pub use options::{
    List, Maybe, OptionType, OptionValue, Options, Setting, UnknownName, Whole, Word, wrong_option,
};
pub use payload::Payload;
pub use receive_tuning::ReceiveTuning;
pub use rounds::RoundRates;
pub use rtt::{LeastRtt, SmoothedRtt};
pub use send_buffer::SendBuffer;
pub use slab::Slab;
pub use text::{NotUtf8, printable, utf8};
