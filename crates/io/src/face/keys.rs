//! Keys of a connection for AUTH (`rfc4895`).

use super::Connection;
use crate::types::KeyError;
use bytes::Bytes;
use sctp::Endpoint;

impl Connection {
    /// Adds or replaces an endpoint pair shared key (`rfc4895#section-5.1`). Both ends must have it before
    /// either activates it; key 0 is empty unless it is set. Requires the option
    /// [`auth`](sctp::Config::auth).
    ///
    /// # Errors
    /// [`KeyError`].
    pub async fn set_auth_key(&self, key: u16, secret: impl Into<Bytes>) -> Result<(), KeyError> {
        let (id, secret) = (self.id(), secret.into());
        let set = move |endpoint: &mut Endpoint, _| endpoint.set_auth_key(id, key, &secret);
        self.change(sctp::KeyError::Closed, set).await
    }

    /// Authenticates packets with this key from now on.
    ///
    /// # Errors
    /// [`KeyError`].
    pub async fn activate_auth_key(&self, key: u16) -> Result<(), KeyError> {
        let id = self.id();
        self.change(sctp::KeyError::Closed, move |endpoint, _| endpoint.activate_auth_key(id, key)).await
    }

    /// Declares that this key, which must not be active, will not be activated again.
    /// [`Event::AuthKeyUnused`](sctp::Event::AuthKeyUnused) reports when no data sent with it is outstanding.
    ///
    /// # Errors
    /// [`KeyError`].
    pub async fn deactivate_auth_key(&self, key: u16) -> Result<(), KeyError> {
        let id = self.id();
        self.change(sctp::KeyError::Closed, move |endpoint, _| endpoint.deactivate_auth_key(id, key)).await
    }

    /// Removes a key that is not active.
    ///
    /// # Errors
    /// [`KeyError`].
    pub async fn remove_auth_key(&self, key: u16) -> Result<(), KeyError> {
        let id = self.id();
        self.change(sctp::KeyError::Closed, move |endpoint, _| endpoint.remove_auth_key(id, key)).await
    }
}
