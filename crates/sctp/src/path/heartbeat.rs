use units::Instant;

/// Heartbeats of a path (`rfc9260#section-8.3`).
#[derive(Debug, Default)]
pub(crate) struct Heartbeat {
    /// When the next one is due, or the answer to the last one overdue.
    pub(crate) deadline: Option<Instant>,
    /// Nonce of the one in flight and when it was sent.
    pub(crate) in_flight: Option<(u64, Instant)>,
}
