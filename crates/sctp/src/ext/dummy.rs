//! An extension without effect, to test that its line in the table is sufficient.

use crate::config::Config;
use std::cell::Cell;

pub(super) const TYPES: &[u8] = &[0xbf];

thread_local! {
    static ON: Cell<bool> = const { Cell::new(false) };
}

/// Sets whether endpoints of this thread announce the extension.
pub(crate) fn announce(on: bool) {
    ON.set(on);
}

pub(super) fn announced(_: &Config) -> bool {
    ON.get()
}
