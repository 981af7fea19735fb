//! Events for a subscriber of `tracing`, all with the target `anabranch_tunnel`. Those of associations and
//! paths are of `anabranch_io`.

use std::net::IpAddr;
use tracing::{debug, info};
use units::{Instant, Span};

const TARGET: &str = "anabranch_tunnel";
/// Shortest time between two events about refused handshakes: anybody can send one.
const REFUSALS_EVERY: Span = Span::from_secs(1);

/// A handshake made a session.
pub(crate) fn handshake(peer: IpAddr, began_here: bool) {
    info!(target: TARGET, %peer, began_here, "handshake complete");
}

/// Handshakes that were refused.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    /// When the next event is allowed.
    next: Instant,
    /// Refused since the last event.
    untold: u64,
}

impl Refusals {
    pub(crate) fn note(&mut self, now: Instant, peer: IpAddr, reason: &str) {
        self.untold += 1;
        if now >= self.next {
            debug!(target: TARGET, %peer, reason, count = self.untold, "handshake refused");
            *self = Refusals { next: now + REFUSALS_EVERY, untold: 0 };
        }
    }
}
