//! An IP tunnel over several uplinks at once: two hosts, a TUN device at each, and one encrypted multipath
//! SCTP association between them. Linux only; elsewhere the crate is empty.
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]
#![allow(clippy::disallowed_types, reason = "sockets and devices work in real time")]

mod calm;
mod config;
mod counters;
mod device;
mod error;
mod hosts;
mod idle;
mod packet;
mod peers;
mod queue;
mod redundant;
mod roster;
mod status;
mod stop;
mod tunnel;
mod uplinks;
mod urgent;

pub use config::{ConfigError, PORT, TunnelConfig};
pub use error::TunnelError;
pub use hosts::Host;
pub use peers::TunnelPeer;
pub use redundant::{Flows, Redundant};
pub use status::{ask, render};
pub use stop::Stop;
pub use tunnel::run;
pub use uplinks::{Source, Uplink};
