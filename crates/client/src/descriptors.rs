//! `close`, `shutdown`, `dup`, `fcntl`, `ioctl` and their kin.

use crate::control::{ask, is_associated};
use crate::real;
use crate::receive::unread;
use crate::table;
use libc::{c_int, c_uint, c_ulong, c_void};
use records::{Op, switches};
use std::sync::atomic::Ordering;

pub unsafe extern "C-unwind" fn close(fd: c_int) -> c_int {
    let lingers = table::find(fd).filter(|entry| entry.has(switches::LINGERS));
    let cookie = lingers.map(|entry| entry.cookie.load(Ordering::Relaxed));
    let seconds = cookie.map_or(0, linger_time);
    table::remove(fd);
    // SAFETY: the call has no conditions.
    let closed = unsafe { real::close(fd) };
    if let Some(cookie) = cookie {
        linger(cookie, seconds);
    }
    closed
}

/// The time of `SO_LINGER` in seconds.
fn linger_time(cookie: u64) -> u32 {
    let mut value = [0; 8];
    let room = 8_u32.to_ne_bytes();
    ask(cookie, Op::GetOption, libc::SOL_SOCKET, libc::SO_LINGER, [&room, &[]], &mut value);
    u32::from_ne_bytes([value[4], value[5], value[6], value[7]])
}

/// Waits until the associations of a closed socket have ended. Does not wait if another
/// descriptor keeps the socket open.
fn linger(cookie: u64, seconds: u32) {
    const STEP: u32 = 10;
    for _ in 0..seconds.saturating_mul(1000 / STEP) {
        if ask(cookie, Op::Linger, 0, 0, [&[]; 2], &mut []).0 <= 0 {
            return;
        }
        // SAFETY: there are no descriptors.
        unsafe { libc::poll(std::ptr::null_mut(), 0, STEP as c_int) };
    }
}

pub unsafe extern "C-unwind" fn close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int {
    const CLOSE_ON_EXEC: c_int = 4;
    if flags & CLOSE_ON_EXEC == 0 {
        table::remove_range(first, last);
    }
    // SAFETY: the call has no conditions.
    unsafe { real::close_range(first, last, flags) }
}

pub unsafe extern "C-unwind" fn closefrom(first: c_int) {
    table::remove_range(first.max(0).cast_unsigned(), c_uint::MAX);
    // SAFETY: the call has no conditions.
    unsafe { real::close_range(first.max(0).cast_unsigned(), c_uint::MAX, 0) };
}

pub unsafe extern "C-unwind" fn shutdown(fd: c_int, how: c_int) -> c_int {
    let mut how = how;
    // A thread that waits in accept gets an error after SHUT_RDWR, as with TCP.
    if let Some(entry) = table::find(fd).filter(|entry| !entry.has(switches::LISTENS)) {
        if entry.has(switches::MANY) || !is_associated(entry) {
            return real::fail(libc::ENOTCONN);
        }
        // Even after SHUT_RDWR, the program can read what the peer has sent: only the sending half is shut
        // down.
        how = if how == libc::SHUT_RDWR { libc::SHUT_WR } else { how };
    }
    // SAFETY: the call has no conditions.
    unsafe { real::shutdown(fd, how) }
}

pub unsafe extern "C-unwind" fn dup(fd: c_int) -> c_int {
    // SAFETY: the call has no conditions.
    copied(fd, unsafe { real::dup(fd) })
}

pub unsafe extern "C-unwind" fn dup2(fd: c_int, to: c_int) -> c_int {
    // SAFETY: the call has no conditions.
    copied(fd, unsafe { real::dup2(fd, to) })
}

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

// The third argument of the following functions is in the same register whether the function is variadic or
// not (x86-64 and arm64 Linux).

pub unsafe extern "C-unwind" fn fcntl(fd: c_int, command: c_int, argument: c_ulong) -> c_int {
    // SAFETY: the arguments are those of the program.
    let result = unsafe { real::fcntl(fd, command, argument) };
    if is_dup(command) { copied(fd, result) } else { result }
}

pub unsafe extern "C-unwind" fn fcntl64(fd: c_int, command: c_int, argument: c_ulong) -> c_int {
    // SAFETY: the arguments are those of the program.
    let result = unsafe { real::fcntl64(fd, command, argument) };
    if is_dup(command) { copied(fd, result) } else { result }
}

fn is_dup(command: c_int) -> bool {
    matches!(command, libc::F_DUPFD | libc::F_DUPFD_CLOEXEC)
}

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
