//! RE-CONFIG (`rfc6525`): streams that are reset and added while the association lives.

use crate::config::Config;
use wire::ReConfig;

pub(super) const TYPES: &[u8] = &[ReConfig::TYPE];

pub(super) fn announced(config: &Config) -> bool {
    config.stream_reset
}
