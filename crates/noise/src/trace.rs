//! Events for a subscriber of `tracing`, all with the target `anabranch_noise`. Those of associations and
//! paths come from `anabranch_io`.

use std::net::IpAddr;
use tracing::{debug, info};
use units::{Instant, Span};

const TARGET: &str = "anabranch_noise";
/// Shortest interval between two log events about refused handshakes, because anybody can send handshakes.
const REFUSALS_EVERY: Span = Span::from_secs(1);

/// Logs that a handshake created a session.
pub(crate) fn handshake(peer: IpAddr, began_here: bool) {
    info!(target: TARGET, %peer, began_here, "handshake complete");
}

/// Counts refused handshakes for the log.
#[derive(Debug, Default)]
pub(crate) struct Refusals {
    /// Time from which the next log event is allowed.
    next: Instant,
    /// Number of handshakes refused since the last log event.
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
