//! User message interleaving (`rfc8260`): I-DATA chunks in place of DATA chunks, and I-FORWARD-TSN in place of FORWARD TSN.

use crate::config::Config;
use wire::{IData, IForwardTsn};

pub(super) const TYPES: &[u8] = &[IData::TYPE];

/// Announced apart, so that interleaving without partial reliability is agreed upon as well.
pub(super) const SKIPPING_TYPES: &[u8] = &[IForwardTsn::TYPE];

pub(super) fn announced(config: &Config) -> bool {
    config.interleaving
}

pub(super) fn skipping_announced(config: &Config) -> bool {
    config.interleaving && config.pr_sctp
}
