//! One-way delays: TIMESTAMP says when a packet with DATA left, LEDBAT-CONTROL how long such packets took.

use crate::config::{Config, Timestamps};
use units::Instant;
use wire::{LedbatControl, PacketDelay, Timestamp, Tsn};

pub(super) const TYPES: &[u8] = &[LedbatControl::TYPE, Timestamp::TYPE];

pub(super) fn announced(config: &Config) -> bool {
    config.timestamps != Timestamps::Off
}

/// When a packet left, in microseconds of the peer's clock, and its first DATA chunk.
#[derive(Default)]
pub(crate) struct Transit {
    /// As a TIMESTAMP tells.
    pub(crate) departure: Option<u64>,
    pub(crate) first: Option<Tsn>,
}

impl Transit {
    /// How long it took, by two clocks. `sent_at`: what the network knows of its departure.
    pub(crate) fn delay(&self, now: Instant, sent_at: Option<Instant>) -> Option<PacketDelay> {
        let (departure, tsn) = (self.departure.or(sent_at.map(micros))?, self.first?);
        Some(PacketDelay { tsn, micros: micros(now).wrapping_sub(departure) as i64 })
    }
}

/// An instant as TIMESTAMP has it.
pub(crate) fn micros(at: Instant) -> u64 {
    at.as_nanos() / 1000
}
