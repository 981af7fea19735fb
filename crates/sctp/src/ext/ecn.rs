//! Explicit congestion notification (draft-stewart-tsvwg-sctpecn-07), announced by a parameter of its
//! own. `rx/echoes.rs` reports packets that arrive with a congestion mark (ECNE), and `tx/ecn.rs`
//! handles the peer's reports.

use crate::config::{Config, EcnMode};

pub(super) fn announced(config: &Config) -> bool {
    config.ecn == EcnMode::On
}
