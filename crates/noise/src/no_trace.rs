//! Stands in for `trace.rs` without the feature `tracing`: records nothing.

use std::net::IpAddr;
use units::Instant;

pub(crate) fn handshake(_peer: IpAddr, _began_here: bool) {}

#[derive(Debug, Default)]
pub(crate) struct Refusals {}

impl Refusals {
    pub(crate) fn note(&mut self, _now: Instant, _peer: IpAddr, _reason: &str) {}
}
