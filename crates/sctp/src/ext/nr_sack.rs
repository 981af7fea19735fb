//! NR-SACK (draft-natarajan-tsvwg-sctp-nrsack): SACKs with blocks on which the receiver will never renege.

use crate::config::Config;
use wire::NrSack;

pub(super) const TYPES: &[u8] = &[NrSack::TYPE];

pub(super) fn announced(config: &Config) -> bool {
    config.nr_sack
}
