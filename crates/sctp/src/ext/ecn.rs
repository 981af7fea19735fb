//! Explicit congestion notification (draft-stewart-tsvwg-sctpecn-07), announced by a parameter of its own.
//! `rx/echoes.rs` handles marked packets, and `tx/ecn.rs` their echoes.

use crate::config::{Config, EcnMode};

pub(super) fn announced(config: &Config) -> bool {
    config.ecn == EcnMode::On
}
