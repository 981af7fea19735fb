//! SCTP (RFC 9260) with Concurrent Multipath Transfer, sans-IO: packets in, packets out, and the clock is an
//! argument. The same code runs in the simulator, on real sockets and in tests.
#![forbid(unsafe_code)]

mod assoc;
mod cmt;
mod config;
mod draws;
mod endpoint;
mod event;
mod message;
mod path;
mod per_stream;
mod rx;
mod sched;
mod steps;
mod tx;

pub use assoc::{AssocOptions, AssocStats, PathInfo, State};
pub use config::{
    Accounting, BufferSide, BurstControl, Cmt, Config, Cuc, PathSelection, PfCwnd, Reinjection, RtxPolicy,
    SackPath, SplitBy, Timestamps,
};
#[cfg(feature = "system-seed")]
pub use endpoint::SeedError;
pub use endpoint::{ConfigError, ConnectError, Endpoint, EndpointConfig, Seed};
pub use event::{AssocId, CloseReason, Event};
pub use message::{Message, Payload, Received, SendError};
pub use path::{PathId, PathState, PathStats};
pub use rx::ReceiveStats;
pub use transport::{Datagram, Transmit, UnknownName};
