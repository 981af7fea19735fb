//! Socket options and names.

use crate::connect::begin_association;
use crate::control::{ROOM, ask};
use crate::message::{give_address, slice};
use crate::peel;
use crate::real::{self, fail};
use crate::receive::take_error;
use crate::table::{self, Entry};
use libc::{c_int, c_void, sockaddr, socklen_t};
use records::{Op, number};
use std::sync::atomic::Ordering;

/// True for options that the kernel's `AF_UNIX` socket handles, not the host process.
fn is_native(level: c_int, name: c_int) -> bool {
    level == libc::SOL_SOCKET && matches!(name, libc::SO_RCVTIMEO | libc::SO_SNDTIMEO | libc::SO_PASSCRED)
}

pub unsafe extern "C-unwind" fn setsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *const c_void,
    len: socklen_t,
) -> c_int {
    // SAFETY: the arguments are those of the program.
    unsafe {
        let Some(entry) = table::find(fd).filter(|_| !is_native(level, name)) else {
            return real::setsockopt(fd, level, name, value, len);
        };
        let value = slice(value, len);
        if level == number::SCTP && matches!(name, number::SOCKOPT_CONNECTX | number::SOCKOPT_CONNECTX_OLD) {
            let mut id = 0;
            let done = begin_association(fd, entry, value, &mut id);
            return if done == 0 && name == number::SOCKOPT_CONNECTX { id } else { done };
        }
        ask(cookie(entry), Op::SetOption, level, name, [value, &[]], &mut []).0
    }
}

fn cookie(entry: &Entry) -> u64 {
    entry.cookie.load(Ordering::Relaxed)
}

pub unsafe extern "C-unwind" fn getsockopt(
    fd: c_int,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    len: *mut socklen_t,
) -> c_int {
    // SAFETY: the arguments are those of the program.
    unsafe {
        let Some(entry) = table::find(fd).filter(|_| !is_native(level, name)) else {
            return real::getsockopt(fd, level, name, value, len);
        };
        if value.is_null() || len.is_null() {
            return fail(libc::EFAULT);
        }
        if level == number::SCTP && matches!(name, number::SOCKOPT_PEELOFF | number::SOCKOPT_PEELOFF_FLAGS) {
            return peel_off(fd, entry, name, value, len);
        }
        if level == number::SCTP && name == number::SOCKOPT_CONNECTX3 {
            return connect_to(fd, entry, value, len);
        }
        let mut result = [0; ROOM];
        let got = if (level, name) == (libc::SOL_SOCKET, libc::SO_ERROR) {
            result[..4].copy_from_slice(&take_error(fd, entry).to_ne_bytes());
            4
        } else {
            // The host process reads what the program put at the beginning of its buffer, for
            // example an association.
            let given = slice(value, (*len).min(256));
            let room = len.read().to_ne_bytes();
            let (done, got) = ask(cookie(entry), Op::GetOption, level, name, [&room, given], &mut result);
            if done < 0 {
                return -1;
            }
            got
        };
        let got = got.min(*len as usize).min(ROOM);
        std::ptr::copy_nonoverlapping(result.as_ptr(), value.cast(), got);
        *len = got as socklen_t;
        0
    }
}

/// `SCTP_SOCKOPT_CONNECTX3`: `value` holds the length of packed addresses, and a pointer to them. Connects to
/// these, and writes the number of the association to the beginning of `value`, also if the call returns
/// before the association is up.
unsafe fn connect_to(fd: c_int, entry: &Entry, value: *mut c_void, len: *mut socklen_t) -> c_int {
    // SAFETY: the pointers are the program's.
    unsafe {
        if ((*len) as usize) < 16 {
            return fail(libc::EINVAL);
        }
        let length = value.cast::<socklen_t>().add(1).read_unaligned();
        let addresses = value.cast::<*const c_void>().add(1).read_unaligned();
        let mut id = 0;
        let done = begin_association(fd, entry, slice(addresses, length), &mut id);
        if id > 0 {
            value.cast::<c_int>().write_unaligned(id);
            *len = 4;
        }
        done
    }
}

/// Peels off the association that `value` names, and writes the new descriptor after it in `value`.
unsafe fn peel_off(fd: c_int, entry: &Entry, name: c_int, value: *mut c_void, len: *mut socklen_t) -> c_int {
    let wanted = if name == number::SOCKOPT_PEELOFF { 8 } else { 12 };
    // SAFETY: the pointers are the program's.
    unsafe {
        if ((*len) as usize) < wanted {
            return fail(libc::EINVAL);
        }
        let flags = if wanted == 12 { value.cast::<c_int>().add(2).read_unaligned() } else { 0 };
        let new = peel::peel_off(fd, entry, value.cast::<c_int>().read_unaligned(), flags);
        if new >= 0 {
            value.cast::<c_int>().add(1).write_unaligned(new);
            *len = wanted as socklen_t;
        }
        // As in Linux, the return value is the descriptor, too; libsctp ignores this value.
        new
    }
}

unsafe fn name_of(entry: &Entry, op: Op, address: *mut sockaddr, len: *mut socklen_t) -> c_int {
    if address.is_null() || len.is_null() {
        return fail(libc::EFAULT);
    }
    let mut bytes = [0; 28];
    let (done, got) = ask(cookie(entry), op, 0, 0, [&[]; 2], &mut bytes);
    if done >= 0 {
        // SAFETY: the pointers are the program's.
        unsafe { give_address(&bytes[..got.min(28)], address, len) };
    }
    done.min(0)
}

pub unsafe extern "C-unwind" fn getsockname(fd: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int {
    // SAFETY: the arguments are those of the program.
    unsafe {
        match table::find(fd) {
            Some(entry) => name_of(entry, Op::LocalName, address, len),
            None => real::getsockname(fd, address, len),
        }
    }
}

pub unsafe extern "C-unwind" fn getpeername(fd: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int {
    // SAFETY: the arguments are those of the program.
    unsafe {
        match table::find(fd) {
            Some(entry) => name_of(entry, Op::PeerName, address, len),
            None => real::getpeername(fd, address, len),
        }
    }
}
