//! TCP (RFC 9293), sans-IO, with the same interface as `anabranch-sctp`.
//!
//! The simulations use it for competing traffic: Tahoe, Reno, NewReno and SACK over one path.
//! [`Config::qualnet`] is the TCP of the simulators that papers of around 2010 used; [`Config::modern`] is
//! the TCP of current hosts. Each option can be set separately.
//!
//! An [`Endpoint`] opens no socket, starts no thread and reads no clock. After each call that changes it,
//! call [`poll_transmit`](Endpoint::poll_transmit) and [`poll_event`](Endpoint::poll_event) until both return
//! `None`, and sleep until [`poll_timeout`](Endpoint::poll_timeout) or until a segment arrives.
//!
//! # Example
//!
//! Two endpoints in memory: a handshake, then data.
//!
//! ```
//! use anabranch_tcp::{Config, Datagram, Endpoint, EndpointConfig, Payload};
//! use transport::{Checksum, PacketBuf};
//! use units::Instant;
//!
//! let endpoint = |port, host| {
//!     Endpoint::new(EndpointConfig {
//!         addresses: vec![[10, 1, 0, host].into()],
//!         port,
//!         seed: port.into(), // outside of simulations: from the system's randomness
//!         checksum: Checksum::Computed,
//!         max_connections: 16,
//!         config: Config::modern(),
//!     })
//! };
//! let (mut client, mut server) = (endpoint(5001, 1)?, endpoint(5002, 2)?);
//! let now = Instant::ZERO;
//!
//! // Hands the segments of one endpoint to the other one, and says whether there were any.
//! let carry = |from: &mut Endpoint, to: &mut Endpoint| {
//!     let (mut buf, mut sent) = (PacketBuf::default(), false);
//!     while let Some(transmit) = from.poll_transmit(now, &mut buf) {
//!         to.handle(now, Datagram { ecn: transmit.ecn, ..Datagram::new(transmit.src, transmit.dst, buf.as_octets()) });
//!         sent = true;
//!     }
//!     sent
//! };
//!
//! server.listen(true);
//! let connection = client.connect(now, 5002, &[[10, 1, 0, 2].into()])?;
//! client.send(now, connection, Payload::Bytes("hello".into()))?;
//! while carry(&mut client, &mut server) | carry(&mut server, &mut client) {}
//!
//! let theirs = server.connections().next().expect("the handshake is complete");
//! let received = server.receive(now, theirs, usize::MAX).expect("the data arrived");
//! assert_eq!(received.to_bytes(), "hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
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
