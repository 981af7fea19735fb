//! Ctrl-C: the first asks to stop, the second stops at once.

use crate::code;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Set by Ctrl-C from now on.
pub fn flag() -> Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let flag = FLAG.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let asked = flag.clone();
        // Without a handler Ctrl-C stops at once, which loses no finished run either.
        let _ = ctrlc::set_handler(move || {
            if asked.swap(true, Ordering::Relaxed) {
                std::process::exit(code::STOPPED);
            }
        });
        flag
    });
    flag.store(false, Ordering::Relaxed);
    flag.clone()
}
