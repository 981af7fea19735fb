//! Without the feature `tracing` nothing is recorded.

use crate::types::Peer;
use sctp::{Arrival, AssocId, Endpoint, Event};
use units::Instant;

#[derive(Debug, Default)]
pub(super) struct Trace {}

impl Trace {
    pub(super) fn on_begin(&mut self, _id: AssocId, _peer: &Peer) {}

    pub(super) fn on_event(&mut self, _endpoint: &Endpoint, _id: AssocId, _event: &Event) {}

    pub(super) fn look(&mut self, _now: Instant, _endpoint: &Endpoint) {}
}

pub(super) fn refused(_arrival: &Arrival, _reason: &str) {}
