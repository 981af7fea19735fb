//! A packet-level network: links, routers, hosts, routing over independent networks, and captures.
//!
//! A link has in each direction a queue, a transmitter and a wire with impairments. Packets are real bytes in
//! pooled slots. The network reads their IP addresses; of the transports it knows only protocol numbers and
//! ports.
//!
//! A packet that crosses a link costs one event: its arrival. If the discipline of the queue is a [`Server`],
//! a waiting packet costs one more event. To add a queue discipline, write one file in `src/queue/` and one
//! line in its `mod.rs`, which describes the steps. Outside this crate, implement [`Discipline`] and use
//! [`QueueSpec::custom`].
//!
//! Build a [`NetworkBuilder`], then run a loop of [`des::Kernel::pop`] and
//! [`Network::handle`]:
//!
//! ```
//! # use anabranch_net as net;
//! use net::{ChannelSpec, Ecn, LinkSpec, NetEvent, NetworkBuilder, NodeKind, Outgoing, Protocol, TransmitterSpec};
//! use units::{BitRate, Instant, Span};
//!
//! let mut builder = NetworkBuilder::new();
//! let client = builder.add_node("client", NodeKind::Host { jitter: Span::ZERO });
//! let server = builder.add_node("server", NodeKind::Host { jitter: Span::ZERO });
//! let transmitter = TransmitterSpec::Rate(BitRate::from_mbps(10));
//! let channel = ChannelSpec { transmitter, delay: Span::from_millis(1).into(), ..Default::default() };
//! builder.add_link(LinkSpec::symmetric(client, server, 1, channel));
//! let mut network = builder.configure(&des::Streams::new(1, 0))?;
//!
//! let mut kernel = des::Kernel::<NetEvent>::new();
//! let src = network.addresses(client)[0].ipv4.into();
//! let dst = network.addresses(server)[0].ipv4.into();
//! let outgoing = Outgoing { src, dst, protocol: Protocol::Udp, ecn: Ecn::NotCapable, zeros: 1000 };
//! network.send(&mut kernel, client, outgoing, &mut vec![1, 2, 3]);
//! while let Some(event) = kernel.pop(Instant::FAR) {
//!     if let Some(delivered) = network.handle(&mut kernel, event) {
//!         let packet = network.packet(delivered.packet);
//!         assert_eq!((delivered.node, packet.src, packet.head.len() + packet.zeros), (server, src, 1003));
//!         network.release(delivered.packet);
//!     }
//! }
//! # Ok::<(), net::ConfigError>(())
//! ```
#![forbid(unsafe_code)]

mod address;
mod bucket;
mod builder;
mod capture;
mod change;
mod channel;
mod counters;
mod delay;
mod event;
mod fault;
mod flights;
mod ids;
mod impairments;
mod ip;
mod nat;
mod network;
mod packet;
mod parcel;
mod queue;
mod rates;
mod routing;
mod topology;
mod transmitter;
mod wire;

pub use address::InterfaceAddress;
pub use bucket::TokenBucket;
pub use builder::{ConfigError, NetworkBuilder};
pub use capture::{
    CaptureDirection, CaptureError, CaptureOptions, CaptureReader, DatagramCapture, FinishPacket, Fragment,
    Fragments, Frame, IpPacket, Reassembled, Undecoded, is_capture,
};
pub use change::ChannelChange;
pub use counters::{Counters, DropCause};
pub use delay::{DelayModel, DelaySpec};
pub use event::{NetEvent, Schedule};
pub use fault::SpecFault;
pub use ids::{LinkDir, LinkId, NodeId};
pub use impairments::{Impairments, LossBursts};
pub use ip::Whole;
pub use nat::{NatCounters, NatSpec};
pub use network::{Arrival, Delivered, Network, Route, UnderWay};
pub use packet::{Outgoing, Packet, PacketId, Protocol};
pub use queue::*;
pub use rates::{
    DelaySeries, Model, RateModel, RateModelKind, RateSeries, Series, SeriesFault, Trace, TraceFault, Varying,
};
pub use topology::{ChannelSpec, LinkSpec, NodeKind};
pub use transmitter::TransmitterSpec;
pub use transport::Ecn;
