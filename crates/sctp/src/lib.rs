//! SCTP (RFC 9260) with Concurrent Multipath Transfer, sans-IO.
//!
//! An [`Endpoint`] opens no socket, starts no thread and reads no clock. The caller passes the received
//! packets and the time in, and takes the packets to send out. The simulator, the tests, the Python package
//! and the crate `io`, which uses UDP sockets, run this same code.
//!
//! The caller repeats three steps:
//!
//! 1. Change the endpoint: [`connect`](Endpoint::connect), [`send`](Endpoint::send),
//!    [`receive`](Endpoint::receive), [`handle`](Endpoint::handle) for a packet that arrived,
//!    [`handle_timeout`](Endpoint::handle_timeout).
//! 2. Drain it: call [`poll_transmit`](Endpoint::poll_transmit) and [`poll_event`](Endpoint::poll_event)
//!    until both return `None`.
//! 3. Sleep until [`poll_timeout`](Endpoint::poll_timeout), or until a packet arrives.
//!
//! [`Config`] holds the protocol parameters of RFC 9260 section 16 and the options of CMT ([`Cmt`]), which
//! are independent of each other; [`Config::recommended`] is the choice for real use over several paths. By
//! default, CMT is off and an association sends on its primary path, as the RFC says.
//!
//! Programs depend on the crate `anabranch`, which exports these types together with the types of the crates
//! `units`, `transport`, `wire` and `cc` that occur in them.
//!
//! # Example
//!
//! Two endpoints in memory: a handshake, then a message.
//!
//! ```
//! use anabranch_sctp::{Config, Datagram, Endpoint, EndpointConfig, Message, Payload, Seed};
//! use transport::PacketBuf;
//! use units::Instant;
//!
//! let endpoint = |port: u16, host| {
//!     let addresses = vec![[10, 1, 0, host].into(), [10, 2, 0, host].into()];
//!     let seed = Seed::for_simulation(port.into()); // on a network: Seed::from_system()
//!     Endpoint::new(EndpointConfig {
//!         config: Config::recommended().into(),
//!         ..EndpointConfig::new(port, addresses, seed)
//!     })
//! };
//! let (mut client, mut server) = (endpoint(5001, 1)?, endpoint(5002, 2)?);
//! let now = Instant::ZERO;
//!
//! // Hands the packets of one endpoint to the other one, and says whether there were any.
//! let carry = |from: &mut Endpoint, to: &mut Endpoint| {
//!     let (mut buf, mut sent) = (PacketBuf::default(), false);
//!     while let Some(transmit) = from.poll_transmit(now, &mut buf) {
//!         to.handle(now, Datagram::new(transmit.src, transmit.dst, buf.as_octets()));
//!         sent = true;
//!     }
//!     sent
//! };
//!
//! server.listen(true);
//! let association = client.connect(now, 5002, &[[10, 1, 0, 2].into(), [10, 2, 0, 2].into()])?;
//! while carry(&mut client, &mut server) | carry(&mut server, &mut client) {}
//!
//! client.send(now, association, Message::new(Payload::Bytes("hello".into())))?;
//! while carry(&mut client, &mut server) | carry(&mut server, &mut client) {}
//!
//! let theirs = server.associations().next().expect("the handshake is complete");
//! let received = server.receive(theirs, usize::MAX).expect("the message arrived");
//! assert_eq!(received.payload.to_bytes(), "hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![warn(clippy::exhaustive_enums)]

mod assoc;
mod chunks;
mod config;
mod draws;
mod endpoint;
mod error;
mod event;
mod ext;
mod icmp;
mod message;
mod multipath;
mod pair;
mod path;
mod per_stream;
mod random;
mod rx;
mod saved;
mod steps;
mod tx;

pub use assoc::{AssocOptions, AssocStats, Observed, ObservedPath, Observer, Observers, PathInfo, State};
pub use config::{
    Accounting, AllowReset, BufferSide, Cmt, Config, Cuc, EcnMode, LossDetection, PathSelection, PathSet,
    Reinjection, Resume, RtxPolicy, SackPath, SplitBy, StreamScheduler, Timestamps,
};
pub use endpoint::{
    AcceptError, Arrival, ArrivalId, ConfigError, ConnectError, Discarded, Encapsulation, Endpoint,
    EndpointConfig, Listen, PairFault,
};
pub use error::{AddressError, KeyError, OptionsError, PathError, StreamError};
pub use event::{AssocId, CloseReason, Event, ResetDirection, ResetError, ResetResult};
pub use icmp::{Icmp, IcmpNews};
pub use message::{
    Abandoned, AbandonedByPolicy, Message, MessageId, Payload, Received, Reliability, SendError, Unread,
};
pub use pair::AddressPair;
pub use path::{Loss, LossTrigger, PathId, PathOptions, PathState, PathStats};
pub use random::Seed;
#[cfg(feature = "system-seed")]
pub use random::SeedError;
pub use rx::ReceiveStats;
pub use saved::RestoreError;
pub use transport::{BufferSize, Channel, Datagram, Limit, LimitTimes, Stopwatch, Transmit, UnknownName};
pub use wire::asconf::AddressChange;
