//! Ctrl-C, SIGTERM and SIGHUP: the first signal requests the end of the run, the second ends the process at
//! once.

use crate::code;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Returns a flag that is set at the first Ctrl-C.
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

/// Calls `first` at the first Ctrl-C. Only for a process that runs no other command.
#[cfg(target_os = "linux")]
pub fn call(first: impl Fn() + Send + 'static) {
    handle(Arc::default(), first);
}

fn handle(asked: Arc<AtomicBool>, first: impl Fn() + Send + 'static) {
    // If no handler can be set, Ctrl-C ends the process at once. Finished runs are not lost then, either.
    let _ = ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(code::STOPPED);
        }
        first();
    });
}
