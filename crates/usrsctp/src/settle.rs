//! Programs that no thread of the stack may call (`usrsctp_init_nothreads`).

use crate::{callbacks, link, stack, table};
use libc::c_int;
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
        if let Some(socket) = table::any() {
            // The stack answers a request after it has handled what came before; and the second one
            // after the packets that this caused.
            for _ in 0..2 {
                let (mut kind, mut len): (c_int, _) = (0, size_of::<c_int>() as libc::socklen_t);
                let (level, name) = (libc::SOL_SOCKET, libc::SO_TYPE);
                // SAFETY: the value outlives the call.
                unsafe { client::getsockopt(socket.fd, level, name, (&raw mut kind).cast(), &raw mut len) };
            }
        }
        if !link::flush(output) && !callbacks::run_ready(0) {
            break;
        }
    }
    SETTLES.set(false);
}
