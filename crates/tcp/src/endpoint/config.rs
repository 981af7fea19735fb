//! Configuration of an endpoint, and its check.

use crate::Config;
use std::net::IpAddr;
use transport::{Checksum, ConfigError, check, is_unicast};

/// Configuration of an endpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct EndpointConfig {
    /// Addresses of the endpoint.
    pub addresses: Vec<IpAddr>,
    /// The TCP port of all connections of the endpoint.
    pub port: u16,
    /// Seed of the random numbers. With the same seed and the same calls an endpoint sends the same bytes. So
    /// outside of simulations the seed must come from the system's randomness and be used once.
    pub seed: u64,
    /// Whether the endpoint computes and verifies the checksum.
    pub checksum: Checksum,
    /// Largest number of connections at a time. If one of them is half-open, a SYN for one more connection is
    /// answered with a SYN cookie (`rfc4987#section-3.6`), and the connection of the peer that acknowledges
    /// the cookie replaces the oldest half-open one. If none is half-open, the SYN is not answered.
    pub max_connections: usize,
    /// Options of the connections.
    pub config: Config,
}

impl EndpointConfig {
    /// Checks the options.
    ///
    /// # Errors
    /// [`ConfigError`] with the first option whose value cannot work.
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
