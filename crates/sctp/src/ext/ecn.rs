//! Explicit congestion notification (draft-stewart-tsvwg-sctpecn-07). It has a parameter of its own; see `rx/echoes.rs` for
//! the receiver of marked packets, and `tx/ecn.rs` for the sender.

use crate::config::{Config, EcnMode};

pub(super) fn announced(config: &Config) -> bool {
    config.ecn == EcnMode::On
}
