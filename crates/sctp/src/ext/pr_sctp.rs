//! Partial reliability (`rfc3758`): messages may be abandoned, and FORWARD TSN lets the receiver skip them.

use crate::config::Config;
use wire::ForwardTsn;

pub(super) const TYPES: &[u8] = &[ForwardTsn::TYPE];

pub(super) fn announced(config: &Config) -> bool {
    config.pr_sctp
}
