//! Measures SCTP (our stack), TCP and UDP between two hosts.
//!
//! The active side ([`Client`]) and the passive side ([`Server`]) use NPMP, the protocol of NetPerfMeter,
//! over a TCP control connection. So each of them also works with NetPerfMeter. [`Keys`] encrypt SCTP, but
//! not TCP and UDP. [`npmp`] is the codec. [`FlowSpec`] describes a flow; `lab::traffic` generates times and
//! lengths of its frames, as for simulated flows.
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_types, reason = "measures in real time")]

mod channel;
mod client;
mod clock;
mod control;
mod counters;
mod files;
mod flow;
mod flowspec;
mod keys;
mod latency;
pub mod npmp;
mod paths;
mod pcap;
mod peer;
mod receiver;
mod report;
mod sender;
mod server;
mod short_queue;
mod sockets;
mod spec;
mod tables;

pub use client::{Client, ClientOptions, MeasureError, Planned};
pub use counters::{Amount, Counters, Direction};
pub use keys::Keys;
pub use latency::{Confidence, Latency, LatencyPlan, Phase, PhaseLatency, ProbeKind, Probes, Spread, Worst};
pub use paths::{Association, Limits, PathSample};
pub use pcap::{CaptureFile, Captured, Recorder};
pub use peer::PeerPaths;
pub use report::{FlowReport, Interval, PeerReport, Report, SCHEMA};
pub use server::{Notice, Server, ServerError, ServerOptions};
pub use spec::{BadFlow, FlowSpec, Load, Transport};
/// The crates that define the options.
pub use {io, noise, sctp};
