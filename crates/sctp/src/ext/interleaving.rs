//! User message interleaving (`rfc8260`): I-DATA replaces DATA, and I-FORWARD-TSN replaces FORWARD TSN.

use crate::config::Config;
use wire::{IData, IForwardTsn};

pub(super) const TYPES: &[u8] = &[IData::TYPE];

/// I-FORWARD-TSN is an extension of its own, so that interleaving can be agreed upon without partial
/// reliability.
pub(super) const SKIPPING_TYPES: &[u8] = &[IForwardTsn::TYPE];

pub(super) fn announced(config: &Config) -> bool {
    config.interleaving
}

pub(super) fn skipping_announced(config: &Config) -> bool {
    config.interleaving && config.pr_sctp
}
