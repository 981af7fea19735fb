//! TCP (RFC 9293), sans-IO: packets in, packets out, and the clock is an argument. The same seam as SCTP's.
//!
//! Two profiles: [`Config::qualnet`], the TCP of the simulators that papers of around 2010 used, and
//! [`Config::modern`], that of today. Each option of either can be chosen alone.
#![forbid(unsafe_code)]

mod config;
mod conn;
mod endpoint;
mod event;
mod info;
mod pieces;
mod ranges;
mod rto;
mod rx;
pub mod segment;
mod sequence;
mod tx;

pub use config::{Config, DelayedAck, Rto, Variant};
pub use endpoint::{ConnectError, Endpoint, EndpointConfig};
pub use event::{CloseReason, ConnId, Event, SendError};
pub use info::{Info, State, Stats};
pub use sequence::Seq;
pub use transport::{ConfigError, Datagram, Ecn, Payload, Transmit, UnknownName};
