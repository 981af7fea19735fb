//! Calls for the local addresses of one connection (`rfc5061`).

use super::Connection;
use crate::types::AddressError;
use sctp::Endpoint;
use std::net::IpAddr;

impl Connection {
    /// Asks the peer by ASCONF to add a local address of the endpoint to this connection, for example one
    /// that [`Self::remove_local_address`] removed. [`Event::AddressChange`](sctp::Event::AddressChange)
    /// reports the answer. The new paths carry data once heartbeats have confirmed them. Both ends need
    /// [`asconf`](sctp::Config::asconf); without it, only removed addresses can be added again.
    ///
    /// # Errors
    /// [`AddressError`].
    pub async fn add_local_address(&self, address: IpAddr) -> Result<(), AddressError> {
        if !self.mailbox().hub.places().addresses.contains(&address) {
            return Err(AddressError::Unknown { address });
        }
        let id = self.id();
        let change = move |endpoint: &mut Endpoint, now| endpoint.add_local_address(now, id, address);
        self.change(sctp::AddressError::Closed, change).await
    }

    /// Ends the use of a local address by this connection. Data in flight from this address is retransmitted
    /// on other paths at once. If the peer supports ASCONF, this end asks it to delete the address; otherwise
    /// the peer is not informed.
    ///
    /// # Errors
    /// [`AddressError`]; nothing changes then.
    pub async fn remove_local_address(&self, address: IpAddr) -> Result<(), AddressError> {
        let id = self.id();
        let change = move |endpoint: &mut Endpoint, now| endpoint.remove_local_address(now, id, address);
        self.change(sctp::AddressError::Closed, change).await
    }

    /// Asks the peer by ASCONF to use this local address as its primary path; with CMT this affects control
    /// chunks only. [`Event::AddressChange`](sctp::Event::AddressChange) reports the answer.
    ///
    /// # Errors
    /// [`AddressError`].
    pub async fn set_peer_primary(&self, address: IpAddr) -> Result<(), AddressError> {
        let id = self.id();
        let change = move |endpoint: &mut Endpoint, now| endpoint.set_peer_primary(now, id, address);
        self.change(sctp::AddressError::Closed, change).await
    }
}
