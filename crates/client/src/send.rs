//! `write`, `send`, `sendto`, `sendmsg` and their kin.

use crate::control::{ask, is_associated};
use crate::message::{read_address, read_control, slice};
use crate::real::{self, fail};
use crate::table::{self, Entry};
use crate::vectors::{self, Vectors};
use libc::{c_int, c_uint, c_void, iovec, mmsghdr, msghdr, off_t, sockaddr, socklen_t};
use records::{Header, Kind, MAX_DATA, Op, flags as record_flags, switches};
use std::sync::atomic::Ordering;

fn header() -> Header {
    let mut header = Header::new(Kind::Data);
    header.flags = record_flags::END | record_flags::DEFAULTS;
    header
}

/// Largest number of buffers in one call that sends, as in Linux.
const BUFFERS: usize = 1024;

/// Sends one message: in one record, or in several if it is long or the program gives many buffers.
///
/// # Safety
/// `list` points to `count` buffers.
unsafe fn transmit(
    fd: c_int,
    entry: &Entry,
    (list, count): (*const iovec, usize),
    mut header: Header,
    flags: c_int,
) -> isize {
    let mut flags = flags & (libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL);
    if count > BUFFERS {
        return fail(libc::EMSGSIZE) as isize;
    }
    // SAFETY: as the caller promises.
    let total = (0..count).map(|n| unsafe { (*list.add(n)).iov_len }).sum::<usize>();
    let ends = header.flags & (record_flags::EOF | record_flags::ABORT) != 0;
    if total == 0 && !ends {
        return fail(libc::EINVAL) as isize;
    }
    if !is_allowed(entry, &header, total) {
        if real::errno() == libc::EPIPE && flags & libc::MSG_NOSIGNAL == 0 {
            // SAFETY: the call has no conditions.
            unsafe { libc::raise(libc::SIGPIPE) };
            return fail(libc::EPIPE) as isize; // a handler may have changed errno
        }
        return -1;
    }
    if total <= MAX_DATA && count <= vectors::MOST {
        // SAFETY: as the caller promises.
        let mut vectors = unsafe { Vectors::new(list, count) };
        return send_record(fd, &mut vectors, header, flags);
    }
    // The lock keeps other long messages from coming between the pieces of this one.
    let _locked = entry.lock();
    let mut sent = 0;
    for from in (0..count).step_by(vectors::MOST) {
        // SAFETY: as the caller promises.
        let vectors = unsafe { Vectors::new(list.add(from), count - from) };
        let mut at = 0;
        while at < vectors.total {
            let mut part = vectors.part(at, MAX_DATA);
            header.flags &= !record_flags::END;
            header.flags |= if sent + part.total == total { record_flags::END } else { 0 };
            if send_record(fd, &mut part, header, flags) < 0 {
                // Only the first piece may be refused.
                let again = matches!(real::errno(), libc::EAGAIN | libc::EINTR);
                if sent == 0 || !again {
                    return -1;
                }
                crate::receive::wait_for_room(fd);
                continue;
            }
            flags &= !libc::MSG_DONTWAIT;
            (sent, at) = (sent + part.total, at + part.total);
        }
    }
    total as isize
}

/// Sends one record. Returns the number of bytes of the buffers, or -1 and errno.
fn send_record(fd: c_int, vectors: &mut Vectors, mut header: Header, flags: c_int) -> isize {
    header.length = vectors.total as u32;
    vectors.set_header(&header);
    let message = vectors::message(vectors.with_header());
    // SAFETY: the buffers are the program's.
    let sent = unsafe { real::sendmsg(fd, &raw const message, flags) };
    if sent < 0 { sent } else { vectors.total as isize }
}

/// Asks the host process (with the SCTP stack) about a message that it might refuse: the stream is
/// not known to exist, the message names a key, or an option restricts the messages of the socket. If
/// it refuses, sets errno and returns false.
fn is_allowed(entry: &Entry, header: &Header, length: usize) -> bool {
    let has_address = header.flags & record_flags::ADDRESS != 0;
    let listens = entry.has(switches::LISTENS) && !entry.has(switches::MANY);
    if listens || !has_address && !is_associated(entry) {
        return fail(libc::EPIPE) >= 0;
    }
    let known = entry.streams.load(Ordering::Relaxed);
    let named = !entry.has(switches::MANY) || !has_address;
    // For a one-to-one socket, `streams` has 0 in place of the number of the association.
    let number = if entry.has(switches::MANY) { u64::from(header.association.cast_unsigned()) } else { 0 };
    let is_known = named && known >> 32 == number && u64::from(header.stream) < known & 0xffff_ffff;
    let first = header.stream == 0 && !(entry.has(switches::MANY) && named);
    let checked = entry.has(switches::CHECKED) || header.flags & record_flags::AUTH_KEY != 0;
    if !checked && (is_known || first) {
        return true;
    }
    let length = c_int::try_from(length).unwrap_or(c_int::MAX);
    let cookie = entry.cookie.load(Ordering::Relaxed);
    let streams = ask(cookie, Op::Check, length, 0, [&header.to_bytes(), &[]], &mut []).0;
    if streams > 0 && named {
        entry.streams.store(number << 32 | u64::from(streams.cast_unsigned()), Ordering::Relaxed);
    }
    streams >= 0
}

unsafe fn simple(fd: c_int, entry: &Entry, buffer: *const c_void, len: usize, flags: c_int) -> isize {
    let buffer = iovec { iov_base: buffer.cast_mut(), iov_len: len };
    // SAFETY: the buffer is the program's.
    unsafe { transmit(fd, entry, (&raw const buffer, 1), header(), flags) }
}

pub unsafe extern "C-unwind" fn write(fd: c_int, buffer: *const c_void, len: usize) -> isize {
    // SAFETY: the arguments are those of the program.
    unsafe {
        match table::find(fd) {
            Some(entry) => simple(fd, entry, buffer, len, 0),
            None => real::write(fd, buffer, len),
        }
    }
}

pub unsafe extern "C-unwind" fn writev(fd: c_int, vectors: *const iovec, count: c_int) -> isize {
    // SAFETY: the arguments are those of the program.
    unsafe {
        let Some(entry) = table::find(fd) else { return real::writev(fd, vectors, count) };
        transmit(fd, entry, (vectors, usize::try_from(count).unwrap_or(0)), header(), 0)
    }
}

pub unsafe extern "C-unwind" fn send(fd: c_int, buffer: *const c_void, len: usize, flags: c_int) -> isize {
    // SAFETY: the arguments are those of the program.
    unsafe {
        match table::find(fd) {
            Some(entry) => simple(fd, entry, buffer, len, flags),
            None => real::send(fd, buffer, len, flags),
        }
    }
}

pub unsafe extern "C-unwind" fn sendto(
    fd: c_int,
    buffer: *const c_void,
    len: usize,
    flags: c_int,
    address: *const sockaddr,
    address_len: socklen_t,
) -> isize {
    // SAFETY: the arguments are those of the program.
    unsafe {
        let Some(entry) = table::find(fd) else {
            return real::sendto(fd, buffer, len, flags, address, address_len);
        };
        let mut header = header();
        let address = slice(address.cast(), address_len);
        if !address.is_empty() && !read_address(address, &mut header) {
            return fail(libc::EINVAL) as isize;
        }
        let buffer = iovec { iov_base: buffer.cast_mut(), iov_len: len };
        transmit(fd, entry, (&raw const buffer, 1), header, flags)
    }
}

pub unsafe extern "C-unwind" fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> isize {
    // SAFETY: the arguments are those of the program.
    unsafe {
        let Some(entry) = table::find(fd) else { return real::sendmsg(fd, message, flags) };
        let mut header = header();
        let address = slice((*message).msg_name, (*message).msg_namelen);
        if !address.is_empty() && !read_address(address, &mut header) {
            return fail(libc::EINVAL) as isize;
        }
        if let Err(error) = read_control(message, &mut header) {
            return fail(error) as isize;
        }
        transmit(fd, entry, ((*message).msg_iov, (*message).msg_iovlen), header, flags)
    }
}

pub unsafe extern "C-unwind" fn sendmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
) -> c_int {
    // SAFETY: the arguments are those of the program.
    unsafe {
        if table::find(fd).is_none() {
            return real::sendmmsg(fd, messages, count, flags);
        }
        for n in 0..count {
            let message = messages.add(n as usize);
            let sent = sendmsg(fd, &raw const (*message).msg_hdr, flags);
            if sent < 0 {
                return if n == 0 { -1 } else { n.cast_signed() };
            }
            (*message).msg_len = sent as c_uint;
        }
        count.cast_signed()
    }
}

// `sendfile` would put the bytes of a file into the kernel's socket without the header of a record. Programs
// that get this error use read and write instead.

pub unsafe extern "C-unwind" fn sendfile(to: c_int, from: c_int, place: *mut off_t, count: usize) -> isize {
    match table::find(to) {
        Some(_) => fail(libc::EINVAL) as isize,
        // SAFETY: the arguments are those of the program.
        None => unsafe { real::sendfile(to, from, place, count) },
    }
}

pub unsafe extern "C-unwind" fn sendfile64(to: c_int, from: c_int, place: *mut off_t, count: usize) -> isize {
    match table::find(to) {
        Some(_) => fail(libc::EINVAL) as isize,
        // SAFETY: the arguments are those of the program.
        None => unsafe { real::sendfile64(to, from, place, count) },
    }
}
