//! Programs that no thread of the stack may call (`usrsctp_init_nothreads`).

use crate::{callbacks, link, stack};
use std::cell::Cell;

/// Passes time in a program that called [`usrsctp_init_nothreads`]. The stack has a clock of its own, so this
/// only gives the program its packets and calls.
#[unsafe(no_mangle)]
pub extern "C" fn usrsctp_handle_timers(_elapsed_milliseconds: u32) {
    settle();
}

/// In a program without threads of the stack: waits until the stack has handled what the program did, then
/// makes the calls that this causes.
pub fn settle() {
    thread_local!(static SETTLES: Cell<bool> = const { Cell::new(false) });
    let Some(output) = stack::output_without_threads() else { return };
    // What the program does within such a call is handled by the outer loop.
    if SETTLES.replace(true) {
        return;
    }
    loop {
        stack::wait();
        if !link::flush(output) && !callbacks::run_ready() {
            break;
        }
    }
    SETTLES.set(false);
}
