//! Calls about streams, local addresses, saved paths and keys.

use super::{Connection, Endpoint, block_on};
use crate::types::{AddressError, ConnectionError, KeyError, RestoreError, StreamError};
use bytes::Bytes;
use sctp::ResetDirection;
use std::net::IpAddr;
use wire::StreamId;

impl Connection {
    /// Sets the priority of a stream for the [stream scheduler](sctp::Config::stream_scheduler) `priority`,
    /// or its weight for `wfq`; the other schedulers ignore it.
    ///
    /// # Errors
    /// [`StreamError`].
    pub fn set_stream_value(&self, stream: StreamId, value: u16) -> Result<(), StreamError> {
        block_on(self.inner.set_stream_value(stream, value))
    }

    /// Begins to reset streams: all, or those listed, as [`crate::Connection::reset_streams`].
    ///
    /// # Errors
    /// [`StreamError`]. After an error nothing has changed.
    pub fn reset_streams(&self, direction: ResetDirection, streams: &[StreamId]) -> Result<(), StreamError> {
        block_on(self.inner.reset_streams(direction, streams))
    }

    /// Begins to add streams: `outgoing` streams on which we send, and `incoming` ones on which the peer
    /// sends.
    ///
    /// # Errors
    /// [`StreamError`]. After an error nothing has changed.
    pub fn add_streams(&self, outgoing: u16, incoming: u16) -> Result<(), StreamError> {
        block_on(self.inner.add_streams(outgoing, incoming))
    }

    /// Begins to reset all streams in both directions, and the TSNs.
    ///
    /// # Errors
    /// [`StreamError`]. After an error nothing has changed.
    pub fn reset_association(&self) -> Result<(), StreamError> {
        block_on(self.inner.reset_association())
    }

    /// Asks the peer by ASCONF to add a local address of the endpoint to this connection.
    ///
    /// # Errors
    /// [`AddressError`].
    pub fn add_local_address(&self, address: IpAddr) -> Result<(), AddressError> {
        block_on(self.inner.add_local_address(address))
    }

    /// Ends the use of a local address by this connection.
    ///
    /// # Errors
    /// [`AddressError`]; nothing changes then.
    pub fn remove_local_address(&self, address: IpAddr) -> Result<(), AddressError> {
        block_on(self.inner.remove_local_address(address))
    }

    /// Asks the peer by ASCONF to use this local address as its primary path.
    ///
    /// # Errors
    /// [`AddressError`].
    pub fn set_peer_primary(&self, address: IpAddr) -> Result<(), AddressError> {
        block_on(self.inner.set_peer_primary(address))
    }

    /// Adds or replaces an endpoint pair shared key for AUTH, as [`crate::Connection::set_auth_key`].
    ///
    /// # Errors
    /// [`KeyError`].
    pub fn set_auth_key(&self, key: u16, secret: impl Into<Bytes>) -> Result<(), KeyError> {
        block_on(self.inner.set_auth_key(key, secret))
    }

    /// Authenticates packets with this key from now on.
    ///
    /// # Errors
    /// [`KeyError`].
    pub fn activate_auth_key(&self, key: u16) -> Result<(), KeyError> {
        block_on(self.inner.activate_auth_key(key))
    }

    /// Declares that this key, which must not be active, will not be activated again.
    ///
    /// # Errors
    /// [`KeyError`].
    pub fn deactivate_auth_key(&self, key: u16) -> Result<(), KeyError> {
        block_on(self.inner.deactivate_auth_key(key))
    }

    /// Removes a key that is not active.
    ///
    /// # Errors
    /// [`KeyError`].
    pub fn remove_auth_key(&self, key: u16) -> Result<(), KeyError> {
        block_on(self.inner.remove_auth_key(key))
    }
}

impl Endpoint {
    /// Adds a local address to the endpoint and its connections, as [`crate::Endpoint::add_local_address`].
    ///
    /// # Errors
    /// [`AddressError`]; nothing changes then.
    pub fn add_local_address(&self, address: IpAddr) -> Result<(), AddressError> {
        block_on(self.inner.add_local_address(address))
    }

    /// Removes a local address from the endpoint and its connections, as
    /// [`crate::Endpoint::remove_local_address`].
    ///
    /// # Errors
    /// [`AddressError`]; nothing changes then.
    pub fn remove_local_address(&self, address: IpAddr) -> Result<(), AddressError> {
        block_on(self.inner.remove_local_address(address))
    }

    /// Returns what the paths of this endpoint carried, as [`crate::Endpoint::saved_paths`].
    ///
    /// # Errors
    /// [`ConnectionError::EndpointClosed`].
    pub fn saved_paths(&self) -> Result<String, ConnectionError> {
        block_on(self.inner.saved_paths())
    }

    /// Takes the text that [`Self::saved_paths`] returned earlier, as [`crate::Endpoint::restore_paths`].
    ///
    /// # Errors
    /// [`RestoreError`]; nothing changes then.
    pub fn restore_paths(&self, saved: impl Into<String>) -> Result<(), RestoreError> {
        block_on(self.inner.restore_paths(saved))
    }
}
