//! Ctrl-C, SIGTERM and SIGHUP: the first one asks the run to stop, the second one exits at once.

use crate::code;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// A flag that Ctrl-C sets from now on.
pub fn flag() -> Arc<AtomicBool> {
    static FLAG: OnceLock<Arc<AtomicBool>> = OnceLock::new();
    let flag = FLAG.get_or_init(|| {
        let flag = Arc::new(AtomicBool::new(false));
        handle(flag.clone(), || ());
        flag
    });
    flag.store(false, Ordering::Relaxed);
    flag.clone()
}

/// Calls `first` at the first Ctrl-C; for a command that is the only one of its process.
#[cfg(target_os = "linux")]
pub fn call(first: impl Fn() + Send + 'static) {
    handle(Arc::default(), first);
}

fn handle(asked: Arc<AtomicBool>, first: impl Fn() + Send + 'static) {
    // Without a handler Ctrl-C exits at once, which loses no finished run either.
    let _ = ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(code::STOPPED);
        }
        first();
    });
}
