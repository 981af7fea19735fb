//! The configuration of an endpoint, and its validation.

use crate::config::Config;
use crate::path::Paths;
use crate::random::Seed;
use std::net::IpAddr;
use std::sync::Arc;
use transport::{Checksum, ConfigError, check, is_unicast};

/// The configuration of an endpoint.
#[derive(Clone, Debug, PartialEq)]
pub struct EndpointConfig {
    /// The SCTP port of all associations.
    pub port: u16,
    /// The local addresses: several make the endpoint multi-homed.
    pub addresses: Vec<IpAddr>,
    /// The source of the random numbers.
    pub seed: Seed,
    /// Whether the endpoint computes and checks the CRC32c itself.
    pub checksum: Checksum,
    /// Largest number of simultaneous associations; further ones are refused (`rfc9260#section-5.1`).
    pub max_associations: usize,
    /// UDP encapsulation (`rfc6951`). `None`: packets are sent in IP, and packets in UDP are discarded.
    pub encapsulation: Option<Encapsulation>,
    /// The options of the associations. Endpoints may share them.
    pub config: Arc<Config>,
}

/// UDP encapsulation of packets. A peer that sends packets without UDP gets packets without UDP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encapsulation {
    /// UDP port of a peer before its first packet arrives, usually [`Self::PORT`].
    pub remote_port: u16,
}

impl Encapsulation {
    /// The port assigned by IANA.
    pub const PORT: u16 = 9899;
}

impl Default for Encapsulation {
    fn default() -> Self {
        Encapsulation { remote_port: Self::PORT }
    }
}

impl EndpointConfig {
    /// The defaults: computed checksums, no encapsulation, default options, at most 1024 associations.
    pub fn new(port: u16, addresses: Vec<IpAddr>, seed: Seed) -> Self {
        EndpointConfig {
            port,
            addresses,
            seed,
            checksum: Checksum::Computed,
            max_associations: 1024,
            encapsulation: None,
            config: Arc::default(),
        }
    }

    /// Checks the configuration.
    ///
    /// # Errors
    /// [`ConfigError`] with the first invalid option.
    pub fn check(&self) -> Result<(), ConfigError> {
        check(self.port != 0, "port", self.port, "1 to 65535")?;
        check_addresses(&self.addresses)?;
        if let Some(Encapsulation { remote_port }) = self.encapsulation {
            check(remote_port != 0, "encapsulation", remote_port, "a UDP port from 1 to 65535")?;
        }
        check(
            (1..=MAX_ASSOCIATIONS).contains(&self.max_associations),
            "max_associations",
            self.max_associations,
            "1 to 1048576",
        )?;
        self.config.check()
    }
}

/// Checks the addresses of an endpoint.
pub(super) fn check_addresses(addresses: &[IpAddr]) -> Result<(), ConfigError> {
    check(
        (1..=Paths::LIMIT).contains(&addresses.len()),
        "addresses",
        format_args!("{} addresses", addresses.len()),
        "1 to 16 addresses",
    )?;
    for (n, &address) in addresses.iter().enumerate() {
        check(is_unicast(address), "addresses", address, "unicast addresses only")?;
        check(!addresses[..n].contains(&address), "addresses", address, "each address once")?;
    }
    Ok(())
}

/// Upper bound of `max_associations`. It leaves enough bits in an [`AssocId`](crate::AssocId) for thousands
/// of successive associations in each slot.
pub(super) const MAX_ASSOCIATIONS: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;
    use units::{ByteCount, Span};

    fn endpoint() -> EndpointConfig {
        EndpointConfig {
            port: 5000,
            addresses: vec![[10, 0, 0, 1].into()],
            seed: Seed::for_simulation(1),
            checksum: Checksum::Computed,
            max_associations: 1,
            encapsulation: None,
            config: Config::default().into(),
        }
    }

    fn config(endpoint: &mut EndpointConfig) -> &mut Config {
        Arc::make_mut(&mut endpoint.config)
    }

    // rfc9260#section-16
    #[test]
    fn the_defaults_are_valid_and_each_invalid_option_is_named() {
        assert_eq!(endpoint().check(), Ok(()));
        type Spoil = fn(&mut EndpointConfig);
        let wrong: [(&str, Spoil); 15] = [
            ("port", |e| e.port = 0),
            ("addresses", |e| e.addresses.clear()),
            ("addresses", |e| e.addresses.push([10, 0, 0, 1].into())),
            ("addresses", |e| e.addresses.push([224, 0, 0, 1].into())),
            ("max_associations", |e| e.max_associations = 0),
            ("encapsulation", |e| e.encapsulation = Some(Encapsulation { remote_port: 0 })),
            ("rto_max", |e| config(e).rto_min = Span::from_secs(61)),
            ("rto_initial", |e| config(e).rto_initial = Span::from_secs(61)),
            ("valid_cookie_life", |e| config(e).valid_cookie_life = Span::ZERO),
            ("sack_delay", |e| config(e).sack_delay = Span::from_millis(501)),
            ("max_burst", |e| config(e).max_burst = 0),
            ("outbound_streams", |e| config(e).outbound_streams = 0),
            ("mtu", |e| config(e).mtu = ByteCount::new(575)),
            ("receive_buffer", |e| config(e).receive_buffer = ByteCount::new(1499).into()),
            ("send_queue", |e| config(e).send_queue = Some(0)),
        ];
        for (option, spoil) in wrong {
            let mut endpoint = endpoint();
            spoil(&mut endpoint);
            assert_eq!(endpoint.check().map_err(|error| error.option), Err(option));
        }
    }

    #[test]
    fn the_error_message_names_the_option_and_the_expected_value() {
        let mut endpoint = endpoint();
        config(&mut endpoint).sack_delay = Span::from_secs(1);
        let error = endpoint.check().unwrap_err();
        assert_eq!(error.to_string(), "sack_delay = 1 s: expected at most 500 ms");
    }

    #[test]
    fn an_endpoint_takes_new_addresses_unless_one_cannot_be_used() {
        let mut endpoint = crate::Endpoint::new(endpoint()).unwrap();
        let (first, second) = ([10, 0, 0, 1].into(), [10, 0, 0, 2].into());
        for wrong in [vec![], vec![first; 2], vec![[224, 0, 0, 1].into()]] {
            assert_eq!(endpoint.set_addresses(wrong).map_err(|error| error.option), Err("addresses"));
        }
        assert_eq!(endpoint.set_addresses(vec![second]), Ok(()));
        let now = units::Instant::ZERO;
        endpoint.connect(now, 9, &[[10, 0, 0, 9].into()]).unwrap();
        let way = endpoint.poll_transmit(now, &mut transport::PacketBuf::default()).unwrap();
        assert_eq!(way.src, second);
    }
}
