//! What an endpoint is made of, and the check that it can work.

use crate::Config;
use std::net::IpAddr;
use transport::{Checksum, ConfigError, check, is_unicast};
use units::{ByteCount, Span};

/// Everything an endpoint is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct EndpointConfig {
    /// Its addresses.
    pub addresses: Vec<IpAddr>,
    /// The TCP port of all its connections.
    pub port: u16,
    /// Where its randomness comes from. With the same seed and the same calls an endpoint repeats itself byte for
    /// byte, so outside of simulations it must come from the system's own randomness and be used once.
    pub seed: u64,
    /// Whether it computes and checks the checksum itself.
    pub checksum: Checksum,
    /// Most connections at a time. While some of them are half-open, a SYN that would begin one more is answered with
    /// a SYN cookie (`rfc4987#section-3.6`), and the peer that acknowledges it takes the place of the oldest half-open
    /// one; else it is not answered.
    pub max_connections: usize,
    /// The options of its connections.
    pub config: Config,
}

/// Largest buffer that a window with the largest shift can tell of (`rfc7323#section-2.3`).
const MAX_WINDOW: u64 = 65_535 << 14;

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

impl Config {
    /// Says which option cannot work, if one cannot.
    ///
    /// # Errors
    /// [`ConfigError`] with the first such option.
    pub fn check(&self) -> Result<(), ConfigError> {
        check(self.abc != Some(0), "abc", 0, "at least 1 segment, or none")?;
        check(self.initial_window > 0, "initial_window", 0, "at least 1 segment")?;
        // Room for the options, and below the length field of IP.
        check((88..=65_475).contains(&self.mss), "mss", self.mss, "88 to 65475 bytes")?;
        check(
            (1..=4).contains(&self.max_sack_blocks),
            "max_sack_blocks",
            self.max_sack_blocks,
            "1 to 4 blocks",
        )?;
        check(self.max_retransmissions > 0, "max_retransmissions", 0, "at least 1")?;
        self.knobs.check()?;
        self.check_timers()?;
        self.check_buffers()
    }

    fn check_timers(&self) -> Result<(), ConfigError> {
        let rto = &self.rto;
        check(!rto.granularity.is_zero(), "granularity", rto.granularity, "more than zero")?;
        check(!rto.min.is_zero(), "rto min", rto.min, "more than zero")?;
        check(rto.min <= rto.max, "rto max", rto.max, "at least rto min")?;
        check(
            !rto.initial.is_zero() && rto.initial <= rto.max,
            "rto initial",
            rto.initial,
            "more than zero, at most rto max",
        )?;
        check(self.delayed_ack.every > 0, "delayed_ack every", 0, "at least 1 segment")?;
        // rfc5681#section-4.2
        let timeout = self.delayed_ack.timeout;
        check(timeout <= Span::from_millis(500), "delayed_ack timeout", timeout, "at most 500 ms")
    }

    fn check_buffers(&self) -> Result<(), ConfigError> {
        let mss = ByteCount::new(u64::from(self.mss));
        check(self.send_buffer >= mss, "send_buffer", self.send_buffer, "at least mss")?;
        let most = ByteCount::new(if self.window_scale { MAX_WINDOW } else { 65_535 });
        check(
            (mss..=most).contains(&self.receive_buffer),
            "receive_buffer",
            self.receive_buffer,
            "at least mss, at most 65535 bytes, or 1073725440 with window_scale",
        )
    }
}
