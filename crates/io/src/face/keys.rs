//! Keys of a connection for AUTH (`rfc4895`).

use super::Connection;
use crate::types::KeyError;
use bytes::Bytes;
use sctp::{AssocId, Endpoint};

impl Connection {
    /// Adds or replaces an endpoint pair shared key (`rfc4895#section-5.1`). Both ends must have it before
    /// either activates it; key 0 is empty unless it is set. Requires the option
    /// [`auth`](sctp::Config::auth).
    ///
    /// # Errors
    /// [`KeyError`].
    pub async fn set_auth_key(&self, key: u16, secret: impl Into<Bytes>) -> Result<(), KeyError> {
        let secret = secret.into();
        let set = move |endpoint: &mut Endpoint, id, key| endpoint.set_auth_key(id, key, &secret);
        self.key(key, "the connection has 64 keys", set).await
    }

    /// Authenticates packets with this key from now on.
    ///
    /// # Errors
    /// [`KeyError`].
    pub async fn activate_auth_key(&self, key: u16) -> Result<(), KeyError> {
        self.key(key, "it was not set", Endpoint::activate_auth_key).await
    }

    /// Declares that a key which is not active will not be activated again. Once no data sent with it is
    /// outstanding, [`Event::AuthKeyUnused`](sctp::Event::AuthKeyUnused) reports that.
    ///
    /// # Errors
    /// [`KeyError`].
    pub async fn deactivate_auth_key(&self, key: u16) -> Result<(), KeyError> {
        self.key(key, "it was not set, or it is active", Endpoint::deactivate_auth_key).await
    }

    /// Removes a key that is not active.
    ///
    /// # Errors
    /// [`KeyError`].
    pub async fn remove_auth_key(&self, key: u16) -> Result<(), KeyError> {
        self.key(key, "it was not set, or it is active", Endpoint::remove_auth_key).await
    }

    async fn key(
        &self,
        key: u16,
        why: &'static str,
        change: impl FnOnce(&mut Endpoint, AssocId, u16) -> bool + Send + 'static,
    ) -> Result<(), KeyError> {
        let id = self.id();
        let changed = move |endpoint: &mut Endpoint, _| {
            endpoint.state(id)?;
            Some(change(endpoint, id, key))
        };
        let changed = self.ask(changed).await.map_err(KeyError::Ended)?;
        if changed { Ok(()) } else { Err(KeyError::Refused { key, why }) }
    }
}
