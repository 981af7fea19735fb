//! Partial reliability (`rfc3758`): the sender may give messages up, and tells the receiver to skip them with FORWARD TSN.

use crate::config::Config;
use wire::ForwardTsn;

pub(super) const TYPES: &[u8] = &[ForwardTsn::TYPE];

pub(super) fn announced(config: &Config) -> bool {
    config.pr_sctp
}
