//! Saves what paths carried, for a later run of the program (`rfc9959`).

use super::Endpoint;
use crate::types::{ConnectionError, RestoreError};
use std::time::SystemTime;
use units::Span;

impl Endpoint {
    /// Returns what the paths of this endpoint carried, as text for a file. Each line has the addresses, the
    /// bytes carried in a round trip and the RTT of a path; there are at most 1024 lines.
    /// [`Self::restore_paths`] takes it in a later run of the program. Paths are saved with the option
    /// [`resume`](sctp::Config::resume) only, and for an hour.
    ///
    /// # Errors
    /// [`ConnectionError::EndpointClosed`].
    pub async fn saved_paths(&self) -> Result<String, ConnectionError> {
        let saved = self.hold.hub.ask(|endpoint, now| endpoint.saved_paths(now, wall())).await;
        saved.ok_or(ConnectionError::EndpointClosed)
    }

    /// Takes the text that [`Self::saved_paths`] returned earlier. Later paths between the same addresses
    /// then begin with a larger cwnd, if their connection has the option `resume`. Paths saved more than an
    /// hour ago are left out. Never pass the text of a peer.
    ///
    /// # Errors
    /// [`RestoreError`]; nothing changes then.
    pub async fn restore_paths(&self, saved: impl Into<String>) -> Result<(), RestoreError> {
        let saved = saved.into();
        let restored =
            self.hold.hub.ask(move |endpoint, now| endpoint.restore_paths(now, wall(), &saved)).await;
        Ok(restored.ok_or(ConnectionError::EndpointClosed)??)
    }
}

/// The time since the Unix epoch; zero if the clock is before it.
fn wall() -> Span {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().into()
}
