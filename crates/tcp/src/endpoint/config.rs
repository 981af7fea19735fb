//! Configuration of an endpoint, and the check that it can work.

use crate::Config;
use std::net::IpAddr;
use transport::{Checksum, ConfigError, check, is_unicast};

/// Everything an endpoint is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct EndpointConfig {
    /// Addresses of the endpoint.
    pub addresses: Vec<IpAddr>,
    /// The TCP port of all its connections.
    pub port: u16,
    /// Where its randomness comes from. With the same seed and the same calls an endpoint repeats itself byte
    /// for byte, so outside of simulations it must come from the system's own randomness and be used once.
    pub seed: u64,
    /// Whether it computes and checks the checksum itself.
    pub checksum: Checksum,
    /// Most connections at a time. While some of them are half-open, a SYN that would begin one more is
    /// answered with a SYN cookie (`rfc4987#section-3.6`), and the peer that acknowledges it takes the place
    /// of the oldest half-open one; else it is not answered.
    pub max_connections: usize,
    /// The options of its connections.
    pub config: Config,
}

impl EndpointConfig {
    /// Says which option cannot work, if one cannot.
    ///
    /// # Errors
    /// [`ConfigError`] with the first such option.
    pub fn check(&self) -> Result<(), ConfigError> {
        check(self.port != 0, "port", self.port, "1 to 65535")?;
        check(!self.addresses.is_empty(), "addresses", "no address", "at least one address")?;
        for (n, &address) in self.addresses.iter().enumerate() {
            check(is_unicast(address), "addresses", address, "unicast addresses only")?;
            check(!self.addresses[..n].contains(&address), "addresses", address, "each address once")?;
        }
        check(
            (1..=1 << 20).contains(&self.max_connections),
            "max_connections",
            self.max_connections,
            "1 to 1048576",
        )?;
        self.config.check()
    }
}
