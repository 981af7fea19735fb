//! Calls about the streams of a connection.

use super::Connection;
use crate::shared::Call;
use crate::types::StreamError;
use sctp::{Endpoint, ResetDirection, ResetError};
use units::Instant;
use wire::StreamId;

impl Connection {
    /// Sets the priority of a stream for the [stream scheduler](sctp::Config::stream_scheduler)
    /// `priority`, or its weight for `wfq`; the other schedulers ignore it. The value applies from
    /// the stream's next turn.
    ///
    /// # Errors
    /// [`StreamError`].
    pub async fn set_stream_value(&self, stream: StreamId, value: u16) -> Result<(), StreamError> {
        let id = self.id();
        let set = move |endpoint: &mut Endpoint, _| endpoint.set_stream_value(id, stream, value);
        self.change(sctp::StreamError::Closed, set).await
    }

    /// Begins to reset streams: all, or those listed (`rfc6525`). The reset comes after the messages queued
    /// before this call, and before those queued later. Waits until the stack has the earlier messages.
    /// [`Event::StreamsReset`](crate::Event::StreamsReset) reports the result for each direction. Dropping
    /// the future does not stop the reset.
    ///
    /// Both ends need [`stream_reset`](sctp::Config::stream_reset). A reset by the peer is reported once
    /// earlier messages on these streams have been read; later messages can be read after that.
    ///
    /// # Errors
    /// [`StreamError`]. After an error nothing has changed.
    pub async fn reset_streams(
        &self,
        direction: ResetDirection,
        streams: &[StreamId],
    ) -> Result<(), StreamError> {
        let (id, streams) = (self.id(), streams.to_vec());
        self.reset(move |endpoint, now| endpoint.reset_streams(now, id, direction, &streams)).await
    }

    /// Begins to add streams: `outgoing` outbound and `incoming` inbound streams (`rfc6525`).
    /// [`Event::StreamsAdded`](crate::Event::StreamsAdded) reports the result for each direction.
    ///
    /// # Errors
    /// [`StreamError`]. After an error nothing has changed.
    pub async fn add_streams(&self, outgoing: u16, incoming: u16) -> Result<(), StreamError> {
        let id = self.id();
        self.reset(move |endpoint, now| endpoint.add_streams(now, id, outgoing, incoming)).await
    }

    /// Begins to reset the association (`rfc6525`): all streams in both directions, and the TSNs. All else is
    /// as for [`Self::reset_streams`].
    ///
    /// # Errors
    /// [`StreamError`]. After an error nothing has changed.
    pub async fn reset_association(&self) -> Result<(), StreamError> {
        let id = self.id();
        self.reset(move |endpoint, now| endpoint.reset_association(now, id)).await
    }

    /// Requests a reset after all queued messages.
    async fn reset(
        &self,
        call: impl FnOnce(&mut Endpoint, Instant) -> Result<(), ResetError> + Send + 'static,
    ) -> Result<(), StreamError> {
        let (call, receiver) = Call::answered(call);
        self.mailbox().call_in_order(call);
        match receiver.await {
            Ok(begun) => Ok(begun?),
            Err(_) => Err(StreamError::Ended(self.closed().await)),
        }
    }
}
