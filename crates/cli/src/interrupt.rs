//! Ctrl-C: the first one asks the run to stop, the second one exits at once.

use crate::code;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// A flag that Ctrl-C sets from now on.
pub fn flag() -> Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let flag = FLAG.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        let asked = flag.clone();
        // Without a handler Ctrl-C exits at once, which loses no finished run either.
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
