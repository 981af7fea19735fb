//! User message interleaving (`rfc8260`): I-DATA chunks in place of DATA chunks.

use crate::config::Config;
use wire::IData;

pub(super) const TYPES: &[u8] = &[IData::TYPE];

pub(super) fn announced(config: &Config) -> bool {
    config.interleaving
}
