//! NR-SACK (draft-natarajan-tsvwg-sctp-nrsack): acknowledgements that say what the receiver will never give up.

use crate::config::Config;
use wire::NrSack;

pub(super) const TYPES: &[u8] = &[NrSack::TYPE];

pub(super) fn announced(config: &Config) -> bool {
    config.nr_sack
}
