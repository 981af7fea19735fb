//! One-way delays: TIMESTAMP holds the send time of a packet with DATA, LEDBAT-CONTROL reports delays.

use crate::config::{Config, Timestamps};
use units::Instant;
use wire::{LedbatControl, PacketDelay, Timestamp, Tsn};

pub(super) const TYPES: &[u8] = &[LedbatControl::TYPE, Timestamp::TYPE];

pub(super) fn announced(config: &Config) -> bool {
    config.timestamps != Timestamps::Off
}

/// Send time of a packet in microseconds of the peer's clock, and its first TSN.
#[derive(Default)]
pub(crate) struct Transit {
    /// Send time from a TIMESTAMP chunk.
    pub(crate) departure: Option<u64>,
    pub(crate) first: Option<Tsn>,
}

impl Transit {
    /// Arrival time by our clock minus send time by the peer's clock. If the packet has no TIMESTAMP,
    /// `sent_at` is used: the send time that a simulated network gives.
    pub(crate) fn delay(&self, now: Instant, sent_at: Option<Instant>) -> Option<PacketDelay> {
        let (departure, tsn) = (self.departure.or(sent_at.map(micros))?, self.first?);
        Some(PacketDelay { tsn, micros: micros(now).wrapping_sub(departure) as i64 })
    }
}

/// A time as TIMESTAMP holds it: microseconds since the start of the clock.
pub(crate) fn micros(at: Instant) -> u64 {
    at.as_nanos() / 1000
}
