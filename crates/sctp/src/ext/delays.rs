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
    /// Arrival time minus send time, of two different clocks. `sent_at` is the send time given by the
    /// network.
    pub(crate) fn delay(&self, now: Instant, sent_at: Option<Instant>) -> Option<PacketDelay> {
        let (departure, tsn) = (self.departure.or(sent_at.map(micros))?, self.first?);
        Some(PacketDelay { tsn, micros: micros(now).wrapping_sub(departure) as i64 })
    }
}

/// Microseconds since the start of the clock, as in TIMESTAMP.
pub(crate) fn micros(at: Instant) -> u64 {
    at.as_nanos() / 1000
}
