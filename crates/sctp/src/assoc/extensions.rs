//! Extensions beyond `rfc9260` that both ends must know (`rfc5061#section-4.2.7`).

use crate::config::{Config, Timestamps};
use wire::{LedbatControl, NrSack, Parameter, ParameterList, Timestamp};

/// Which of them one end announces, or both have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extensions {
    /// NR-SACK in place of SACK.
    pub(crate) nr_sack: bool,
    /// LEDBAT-CONTROL with every SACK, and TIMESTAMP with DATA.
    pub(crate) delays: bool,
}

impl Extensions {
    /// What we announce.
    pub(crate) fn of(config: &Config) -> Self {
        Extensions { nr_sack: config.nr_sack, delays: config.timestamps != Timestamps::Off }
    }

    /// What a list of chunk types announces.
    pub(crate) fn from_types(types: &[u8]) -> Self {
        let delays = [LedbatControl::TYPE, Timestamp::TYPE];
        Extensions {
            nr_sack: types.contains(&NrSack::TYPE),
            delays: delays.iter().all(|kind| types.contains(kind)),
        }
    }

    /// What both have.
    pub(crate) fn both(self, other: Extensions) -> Self {
        Extensions { nr_sack: self.nr_sack && other.nr_sack, delays: self.delays && other.delays }
    }

    /// Appends the Supported Extensions parameter if there is something to announce.
    pub(crate) fn push(self, list: &mut ParameterList) {
        let mut types = Vec::new();
        if self.nr_sack {
            types.push(NrSack::TYPE);
        }
        if self.delays {
            types.extend([LedbatControl::TYPE, Timestamp::TYPE]);
        }
        if !types.is_empty() {
            list.push(&Parameter::SupportedExtensions(&types));
        }
    }

    /// As one byte of a cookie; zero if there is nothing.
    pub(crate) fn to_bits(self) -> u8 {
        u8::from(self.nr_sack) | u8::from(self.delays) << 1
    }

    pub(crate) fn from_bits(bits: u8) -> Self {
        Extensions { nr_sack: bits & 1 != 0, delays: bits & 2 != 0 }
    }
}
