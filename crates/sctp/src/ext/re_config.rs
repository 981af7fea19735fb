//! RE-CONFIG (`rfc6525`): resets and additions of streams in an existing association.

use crate::config::Config;
use wire::ReConfig;

pub(super) const TYPES: &[u8] = &[ReConfig::TYPE];

pub(super) fn announced(config: &Config) -> bool {
    config.stream_reset
}
