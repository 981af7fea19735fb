//! The SCTP stack on real networks: in UDP ([RFC 6951](https://www.rfc-editor.org/rfc/rfc6951)) or directly
//! in IP ([`Carrier`]), over several local addresses at once.
//!
//! One thread, the *driver*, owns an [`sctp::Endpoint`] and its sockets. An [`Endpoint`] is a handle to
//! it, and a [`Connection`] is a handle to one association. Their `async` methods run on any runtime, since
//! they need only wakers. The types of [`blocking`] have the same methods for programs without a runtime.
//!
//! ```
//! use anabranch_io::blocking::Endpoint;
//! use std::net::IpAddr;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let paths: [IpAddr; 2] = ["127.0.0.1".parse()?, "127.0.0.2".parse()?];
//! # #[cfg(target_os = "linux")] {
//! let server = Endpoint::builder().locals(paths).port(5001).udp_port(0).bind()?;
//! let listener = server.listen(16);
//!
//! let client = Endpoint::builder().locals(paths).udp_port(0).remote_udp_port(server.udp_port()).bind()?;
//! let connection = client.connect((paths, 5001))?;
//! connection.send("hello")?;
//!
//! let accepted = listener.accept()?;
//! let message = accepted.recv()?.expect("a message arrives");
//! assert_eq!(message.data, "hello");
//! # }
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]
#![warn(clippy::exhaustive_enums)]
#![allow(clippy::disallowed_types, reason = "sockets work in real time")]

pub mod blocking;
mod carrier;
mod driver;
mod face;
mod guard;
mod host;
mod info;
mod link;
pub mod metrics;
mod net;
mod responder;
mod shared;
mod stats;
mod tap;
mod types;

pub use carrier::Carrier;
pub use face::{
    Builder, Connection, Delivery, Endpoint, Events, Listener, MessageWriter, Messages, StreamReader,
};
pub use guard::{ChannelEnd, Guard, GuardError, Identity};
pub use host::{Host, HostOptions};
pub use info::{AssocStats, LimitTimes, PathInfo};
pub use link::{Link, link_addresses, link_number};
pub use net::Ready;
pub use responder::Responder;
pub use sctp::{
    AddressChange, AssocId, BufferSize, CloseReason, Config, Event, Limit, PathId, PathOptions, PathSet,
    PathState, Reliability, ResetDirection, ResetError, ResetResult, State,
};
pub use stats::{EndpointStats, SocketStats};
pub use tap::Tap;
pub use types::{
    AddressError, BindError, ConnectError, ConnectionError, KeyError, Lagged, Message, NotDelivered,
    OptionsError, PathError, Peer, Received, RestoreError, SendError, StreamError, TrySendError,
};
pub use wire::{Ppid, StreamId};
/// The crates that define [`Config`] and other types.
pub use {sctp, transport, units};
