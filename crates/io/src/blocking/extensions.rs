//! Calls about streams.

use super::{Connection, block_on};
use crate::types::StreamError;
use sctp::ResetDirection;
use wire::StreamId;

impl Connection {
    /// Sets what the [stream scheduler](sctp::Config::stream_scheduler) knows of a stream: its priority for `priority`, its
    /// weight for `wfq`; others do not ask.
    ///
    /// # Errors
    /// [`StreamError`].
    pub fn set_stream_value(&self, stream: StreamId, value: u16) -> Result<(), StreamError> {
        block_on(self.inner.set_stream_value(stream, value))
    }

    /// Begins to reset streams: all, or those listed, as [`crate::Connection::reset_streams`].
    ///
    /// # Errors
    /// [`StreamError`]; nothing was begun then.
    pub fn reset_streams(&self, direction: ResetDirection, streams: &[StreamId]) -> Result<(), StreamError> {
        block_on(self.inner.reset_streams(direction, streams))
    }

    /// Begins to add streams: `outgoing` on which we send, and `incoming` on which the peer sends.
    ///
    /// # Errors
    /// [`StreamError`]; nothing was begun then.
    pub fn add_streams(&self, outgoing: u16, incoming: u16) -> Result<(), StreamError> {
        block_on(self.inner.add_streams(outgoing, incoming))
    }

    /// Begins to reset all streams in both directions, and the TSNs.
    ///
    /// # Errors
    /// [`StreamError`]; nothing was begun then.
    pub fn reset_association(&self) -> Result<(), StreamError> {
        block_on(self.inner.reset_association())
    }
}
