//! What happens to descriptors: `close`, `shutdown`, `dup`, `fcntl`, `ioctl`.

use crate::control::ask;
use crate::real;
use crate::receive::unread;
use crate::table;
use libc::{c_int, c_uint, c_ulong, c_void};
use records::Op;
use std::sync::atomic::Ordering;

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn close(fd: c_int) -> c_int {
    if let Some(entry) = table::find(fd) {
        if lingers_not(fd) {
            ask(entry.cookie.load(Ordering::Relaxed), Op::Abort, 0, 0, [&[]; 2], &mut []);
        }
        table::remove(fd);
    }
    // SAFETY: the call has no conditions.
    unsafe { real::close(fd) }
}

/// True if `SO_LINGER` is on with time zero: close aborts.
fn lingers_not(fd: c_int) -> bool {
    let mut linger = libc::linger { l_onoff: 0, l_linger: 0 };
    let mut len = size_of::<libc::linger>() as libc::socklen_t;
    let value = (&raw mut linger).cast();
    // SAFETY: the value outlives the call.
    let got = unsafe { real::getsockopt(fd, libc::SOL_SOCKET, libc::SO_LINGER, value, &raw mut len) };
    got == 0 && linger.l_onoff != 0 && linger.l_linger == 0
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    const CLOSE_ON_EXEC: c_int = 4;
    if flags & CLOSE_ON_EXEC == 0 {
        table::remove_range(first, last);
    }
    // SAFETY: the call has no conditions.
    unsafe { real::close_range(first, last, flags) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn closefrom(first: c_int) {
    table::remove_range(first.max(0).cast_unsigned(), c_uint::MAX);
    // SAFETY: the call has no conditions.
    unsafe { real::close_range(first.max(0).cast_unsigned(), c_uint::MAX, 0) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn shutdown(fd: c_int, how: c_int) -> c_int {
    // A socket that sends no more can still receive what the peer has sent.
    let how = if table::find(fd).is_some() && how == libc::SHUT_RDWR { libc::SHUT_WR } else { how };
    // SAFETY: the call has no conditions.
    unsafe { real::shutdown(fd, how) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn dup(fd: c_int) -> c_int {
    // SAFETY: the call has no conditions.
    copied(fd, unsafe { real::dup(fd) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn dup2(fd: c_int, to: c_int) -> c_int {
    // SAFETY: the call has no conditions.
    copied(fd, unsafe { real::dup2(fd, to) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn dup3(fd: c_int, to: c_int, flags: c_int) -> c_int {
    // SAFETY: the call has no conditions.
    copied(fd, unsafe { real::dup3(fd, to, flags) })
}

fn copied(from: c_int, to: c_int) -> c_int {
    if to >= 0 && to != from {
        table::copy(from, to);
    }
    to
}

// The third argument of these is in the same register whether the function is variadic or not (x86-64 and
// arm64 Linux).

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn fcntl(fd: c_int, command: c_int, argument: c_ulong) -> c_int {
    // SAFETY: the arguments are those of the program.
    let result = unsafe { real::fcntl(fd, command, argument) };
    if is_dup(command) { copied(fd, result) } else { result }
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn fcntl64(fd: c_int, command: c_int, argument: c_ulong) -> c_int {
    // SAFETY: the arguments are those of the program.
    let result = unsafe { real::fcntl64(fd, command, argument) };
    if is_dup(command) { copied(fd, result) } else { result }
}

fn is_dup(command: c_int) -> bool {
    matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC)
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
    // SAFETY: the arguments are those of the program.
    unsafe {
        match table::find(fd) {
            Some(entry) if request == libc::FIONREAD => {
                argument.cast::<c_int>().write(c_int::try_from(unread(fd, entry)).unwrap_or(c_int::MAX));
                0
            }
            _ => real::ioctl(fd, request, argument),
        }
    }
}
