//! Multipath SCTP connections for [tokio](https://tokio.rs) programs.
//!
//! The types are those of [`io`], whose driver is a separate thread and whose futures run on any runtime.
//! This crate adds two parts for tokio programs: [`resolve`] looks up names without blocking, and
//! [`MessageWriter`] is an [`AsyncWrite`](tokio::io::AsyncWrite). [`Listener`], [`Events`], [`Messages`] and
//! [`StreamReader`] are streams (`futures_core::Stream`).
//!
//! ```
//! use anabranch_tokio::{Endpoint, resolve};
//! use std::net::Ipv4Addr;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let server = Endpoint::builder().local(Ipv4Addr::LOCALHOST).port(5001).udp_port(0).bind()?;
//! let listener = server.listen(16);
//! tokio::spawn(async move {
//!     while let Ok(connection) = listener.accept().await {
//!         tokio::spawn(async move {
//!             while let Ok(Some(message)) = connection.recv().await {
//!                 if connection.send(message.data).await.is_err() {
//!                     break;
//!                 }
//!             }
//!         });
//!     }
//! });
//!
//! let client = Endpoint::builder().local(Ipv4Addr::LOCALHOST).udp_port(0).bind()?;
//! let peer = resolve("127.0.0.1", 5001).await?.udp_port(server.udp_port());
//! let connection = client.connect(peer).await?;
//! connection.send("hello").await?;
//! assert_eq!(connection.recv().await?.expect("an answer").data, "hello");
//! println!("{}", connection.paths().await?[0]);
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod resolve;
mod writer;

pub use io::{
    AddressChange, AddressError, AssocId, AssocStats, BindError, BufferSize, Builder, Carrier, ChannelEnd,
    CloseReason, Config, ConnectError, Connection, ConnectionError, Delivery, Endpoint, EndpointStats, Event,
    Events, Guard, GuardError, Identity, KeyError, Lagged, Limit, LimitTimes, Listener, Message, Messages,
    NotDelivered, OptionsError, PathError, PathId, PathInfo, PathOptions, PathSet, PathState, Peer, Ppid,
    Received, Reliability, ResetDirection, ResetError, ResetResult, Responder, RestoreError, SendError,
    SocketStats, State, StreamError, StreamId, StreamReader, Tap, TrySendError, metrics, sctp, transport,
    units,
};
pub use resolve::resolve;
pub use writer::MessageWriter;
