//! An extension without effect, to test that a new extension needs no more than a line in `TABLE` of
//! `mod.rs`.

use crate::config::Config;
use std::cell::Cell;

pub(super) const TYPES: &[u8] = &[0xbf];

thread_local! {
    static ON: Cell<bool> = const { Cell::new(false) };
}

/// Sets whether the endpoints of this thread announce this extension.
pub(crate) fn announce(on: bool) {
    ON.set(on);
}

pub(super) fn announced(_: &Config) -> bool {
    ON.get()
}
