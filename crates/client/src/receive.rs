//! `read`, `recv`, `recvfrom`, `recvmsg` and their kin.

use crate::control::is_associated;
use crate::message::{give_address, give_message, sockaddr_bytes};
use crate::real::{self, errno, fail};
use crate::table::{self, Entry, Locked, Place};
use crate::vectors::{self, Vectors};
use libc::{c_int, c_long, c_short, c_uint, c_void, iovec, mmsghdr, msghdr, sockaddr, socklen_t, timespec};
use records::{Header, Kind, MAX_DELIVERED, flags, switches};
use std::sync::atomic::Ordering;

/// What a call received.
#[derive(Clone, Copy)]
struct Got {
    bytes: usize,
    header: Header,
    /// True if the record has been read to its end.
    whole: bool,
    /// The next record, for `SCTP_NXTINFO`.
    next: Option<Header>,
}

enum Outcome {
    Message(Got),
    End,
    Empty,
    Error(c_int),
}

/// Receives from the connection to the host process. The
/// system call never waits and is no cancellation point.
fn native(fd: c_int, list: (*mut iovec, usize), flags: c_int) -> isize {
    let mut message = vectors::message(list);
    let flags = flags | libc::MSG_DONTWAIT;
    // SAFETY: the buffers of the list outlive the call.
    unsafe { libc::syscall(libc::SYS_recvmsg, fd as c_long, &raw mut message, flags as c_long) as isize }
}

/// Removes the first record. The peek offset (`SO_PEEK_OFF`) is then the beginning of the next record.
pub fn consume(fd: c_int) {
    native(fd, (std::ptr::null_mut(), 0), 0);
}

/// The outcome after an error of [`native`].
fn failed() -> Outcome {
    match errno() {
        libc::EAGAIN => Outcome::Empty,
        error => Outcome::Error(error),
    }
}

/// Reads, without waiting, the message at the peek offset (`SO_PEEK_OFF`): the program has read up to there.
fn attempt(fd: c_int, locked: &Locked<'_>, vectors: &Vectors, peek: bool) -> Outcome {
    let Place { begun, announced } = locked.place();
    let shared = begun.is_none() && locked.is_shared();
    let starts = begun.is_none() && announced == 0 && !shared;
    // If the buffers have room for the longest record, one call reads and removes a record.
    let fits = !peek && starts && vectors.total >= MAX_DELIVERED;
    let before = if (peek || shared) && !starts { real::get_native(fd, libc::SO_PEEK_OFF) } else { 0 };
    let mut bytes = 0;
    let (header, mut rest) = match begun {
        Some(begun) => begun,
        None => {
            // The bytes behind the message may belong to the next message.
            let most = match announced {
                _ if shared => 0,
                0 => usize::MAX,
                length => length,
            };
            let mut part = vectors.part(0, most);
            let received = native(fd, part.with_header(), if fits { 0 } else { libc::MSG_PEEK });
            let Ok(received) = usize::try_from(received) else { return failed() };
            if received == 0 {
                return Outcome::End;
            }
            let remove = || {
                if !fits {
                    consume(fd);
                }
            };
            match part.header().filter(|_| received >= Header::LEN) {
                Some(header) if matches!(header.kind, Kind::Data | Kind::Notification) => {
                    bytes = received - Header::LEN;
                    (header, (header.length as usize).saturating_sub(bytes))
                }
                Some(header) if header.kind == Kind::Failure => {
                    remove();
                    return Outcome::Error(header.value.cast_signed());
                }
                // A record of any other kind is skipped. Only the process with the SCTP
                // stack writes to this socket.
                _ => {
                    remove();
                    return attempt(fd, locked, vectors, peek);
                }
            }
        }
    };
    if rest > 0 && bytes < vectors.total {
        let more = native(fd, vectors.part(bytes, rest).without_header(), libc::MSG_PEEK);
        let Ok(more) = usize::try_from(more) else {
            let outcome = failed();
            if shared {
                real::set_native(fd, libc::SO_PEEK_OFF, before); // back to before the header
            }
            return outcome;
        };
        (bytes, rest) = (bytes + more, rest.saturating_sub(more));
    }
    let whole = rest == 0;
    if peek {
        real::set_native(fd, libc::SO_PEEK_OFF, before);
    } else if whole {
        if !fits && header.flags & flags::MORE == 0 {
            consume(fd);
        }
        locked.set_place(Place { begun: None, announced: header.value as usize });
    } else {
        locked.set_place(Place { begun: Some((header, rest)), announced: 0 });
    }
    Outcome::Message(Got { bytes, header, whole, next: None })
}

/// Waits until the descriptor has room for a record; false after an error.
pub fn wait_for_room(fd: c_int) -> bool {
    wait_until(fd, fd, libc::POLLOUT)
}

/// Waits until a descriptor is ready, as long as `SO_SNDTIMEO` of `fd` allows; false after an error.
pub fn wait_until(fd: c_int, ready: c_int, events: c_short) -> bool {
    // SAFETY: zero is a valid time.
    let mut limit: libc::timeval = unsafe { std::mem::zeroed() };
    let mut len = size_of::<libc::timeval>() as socklen_t;
    // SAFETY: the value outlives the call.
    unsafe {
        real::getsockopt(fd, libc::SOL_SOCKET, libc::SO_SNDTIMEO, (&raw mut limit).cast(), &raw mut len)
    };
    let milliseconds = limit.tv_sec.saturating_mul(1000).saturating_add(limit.tv_usec / 1000);
    let milliseconds = if milliseconds == 0 { -1 } else { c_int::try_from(milliseconds).unwrap_or(-1) };
    let mut poll = libc::pollfd { fd: ready, events, revents: 0 };
    // SAFETY: there is one descriptor.
    match unsafe { libc::poll(&raw mut poll, 1, milliseconds) } {
        0 => fail(libc::EAGAIN) >= 0,
        ready => ready > 0,
    }
}

pub fn is_nonblocking(fd: c_int) -> bool {
    // SAFETY: the call has no conditions.
    unsafe { real::fcntl(fd, libc::F_GETFL, 0) & libc::O_NONBLOCK != 0 }
}

/// Receives a message or notification. Returns -1 and sets errno after an error.
fn receive(fd: c_int, entry: &Entry, vectors: &Vectors, flags: c_int, got: &mut Option<Got>) -> isize {
    if entry.has(switches::LISTENS) && !entry.has(switches::MANY) {
        return fail(libc::ENOTCONN) as isize;
    }
    loop {
        let locked = entry.lock();
        let peek = flags & libc::MSG_PEEK != 0;
        let outcome = attempt(fd, &locked, vectors, peek);
        match outcome {
            Outcome::Message(mut message) => {
                if !peek {
                    join(fd, &locked, vectors, &mut message);
                    if entry.has(switches::NXTINFO) && message.whole {
                        message.next = next_header(fd);
                    }
                }
                *got = Some(message);
                return message.bytes as isize;
            }
            Outcome::End => return 0,
            Outcome::Error(error) => return fail(error) as isize,
            Outcome::Empty if flags & libc::MSG_DONTWAIT != 0 => return fail(libc::EAGAIN) as isize,
            Outcome::Empty => {
                drop(locked);
                if !is_associated(entry) {
                    return fail(libc::ENOTCONN) as isize;
                }
                // A receive of zero bytes waits as any other does, as long as `O_NONBLOCK` and `SO_RCVTIMEO`
                // allow.
                // SAFETY: nothing is written.
                if unsafe { real::recv(fd, std::ptr::null_mut(), 0, libc::MSG_PEEK) } < 0 {
                    return -1;
                }
            }
        }
    }
}

/// Reads the records that continue a message or notification, while they are there and the buffers have room.
fn join(fd: c_int, locked: &Locked<'_>, vectors: &Vectors, message: &mut Got) {
    while message.whole && message.header.flags & flags::END == 0 && message.bytes < vectors.total {
        let rest = vectors.part(message.bytes, usize::MAX);
        let next = next_header(fd).filter(|next| next.association == message.header.association);
        if next.is_none_or(|next| next.kind != message.header.kind) {
            return;
        }
        let Outcome::Message(more) = attempt(fd, locked, &rest, false) else { return };
        message.bytes += more.bytes;
        message.whole = more.whole;
        message.header.flags |= more.header.flags & flags::END;
        if !more.whole {
            return;
        }
    }
}

/// The header of the next message or notification, if it is there.
fn next_header(fd: c_int) -> Option<Header> {
    let before = real::get_native(fd, libc::SO_PEEK_OFF);
    let mut vectors = Vectors::one(std::ptr::null_mut(), 0);
    let received = native(fd, vectors.with_header(), libc::MSG_PEEK);
    real::set_native(fd, libc::SO_PEEK_OFF, before);
    let header = vectors.header().filter(|_| received >= Header::LEN as isize)?;
    matches!(header.kind, Kind::Data | Kind::Notification).then_some(header)
}

/// Length of the unread part of the first message in the pair (`FIONREAD`).
pub fn unread(fd: c_int, entry: &Entry) -> usize {
    let locked = entry.lock();
    if let Some((_, rest)) = locked.place().begun {
        return rest;
    }
    match attempt(fd, &locked, &Vectors::one(std::ptr::null_mut(), 0), true) {
        Outcome::Message(got) => got.header.length as usize,
        _ => 0,
    }
}

/// Takes the error that the host process reported (`SO_ERROR`); 0 if there is none.
pub fn take_error(fd: c_int, entry: &Entry) -> c_int {
    let locked = entry.lock();
    match attempt(fd, &locked, &Vectors::one(std::ptr::null_mut(), 0), true) {
        Outcome::Error(error) => {
            if error == libc::ECONNREFUSED {
                // The connect failed: there is no association.
                entry.switches.fetch_and(!switches::ASSOCIATED, Ordering::Relaxed);
            }
            error
        }
        _ => 0,
    }
}

unsafe fn simple(fd: c_int, entry: &Entry, buffer: *mut c_void, len: usize, flags: c_int) -> isize {
    receive(fd, entry, &Vectors::one(buffer, len), flags, &mut None)
}

pub unsafe extern "C-unwind" fn read(fd: c_int, buffer: *mut c_void, len: usize) -> isize {
    // SAFETY: the arguments are those of the program.
    unsafe {
        match table::find(fd) {
            Some(entry) => simple(fd, entry, buffer, len, 0),
            None => real::read(fd, buffer, len),
        }
    }
}

pub unsafe extern "C-unwind" fn __read_chk(fd: c_int, buffer: *mut c_void, len: usize, size: usize) -> isize {
    // SAFETY: the arguments are those of the program.
    unsafe {
        match table::find(fd) {
            Some(entry) => simple(fd, entry, buffer, len.min(size), 0),
            None => real::__read_chk(fd, buffer, len, size),
        }
    }
}

pub unsafe extern "C-unwind" fn readv(fd: c_int, vectors: *const iovec, count: c_int) -> isize {
    // SAFETY: the arguments are those of the program.
    unsafe {
        match table::find(fd) {
            Some(entry) => {
                let vectors = Vectors::new(vectors, usize::try_from(count).unwrap_or(0));
                receive(fd, entry, &vectors, 0, &mut None)
            }
            None => real::readv(fd, vectors, count),
        }
    }
}

pub unsafe extern "C-unwind" fn recv(fd: c_int, buffer: *mut c_void, len: usize, flags: c_int) -> isize {
    // SAFETY: the arguments are those of the program.
    unsafe {
        match table::find(fd) {
            Some(entry) => simple(fd, entry, buffer, len, flags),
            None => real::recv(fd, buffer, len, flags),
        }
    }
}

pub unsafe extern "C-unwind" fn __recv_chk(
    fd: c_int,
    buffer: *mut c_void,
    len: usize,
    size: usize,
    flags: c_int,
) -> isize {
    // SAFETY: the arguments are those of the program.
    unsafe {
        match table::find(fd) {
            Some(entry) => simple(fd, entry, buffer, len.min(size), flags),
            None => real::__recv_chk(fd, buffer, len, size, flags),
        }
    }
}

unsafe fn from(
    fd: c_int,
    entry: &Entry,
    buffer: *mut c_void,
    len: usize,
    flags: c_int,
    address: *mut sockaddr,
    address_len: *mut socklen_t,
) -> isize {
    let mut got = None;
    let received = receive(fd, entry, &Vectors::one(buffer, len), flags, &mut got);
    if let Some(Got { header, .. }) = got {
        let (bytes, len) = sockaddr_bytes(&header, entry.has(switches::MAPPED));
        // SAFETY: the pointers are the program's.
        unsafe { give_address(&bytes[..len], address, address_len) };
    }
    received
}

pub unsafe extern "C-unwind" fn recvfrom(
    fd: c_int,
    buffer: *mut c_void,
    len: usize,
    flags: c_int,
    address: *mut sockaddr,
    address_len: *mut socklen_t,
) -> isize {
    // SAFETY: the arguments are those of the program.
    unsafe {
        match table::find(fd) {
            Some(entry) => from(fd, entry, buffer, len, flags, address, address_len),
            None => real::recvfrom(fd, buffer, len, flags, address, address_len),
        }
    }
}

pub unsafe extern "C-unwind" fn __recvfrom_chk(
    fd: c_int,
    buffer: *mut c_void,
    len: usize,
    size: usize,
    flags: c_int,
    address: *mut sockaddr,
    address_len: *mut socklen_t,
) -> isize {
    // SAFETY: the arguments are those of the program.
    unsafe {
        match table::find(fd) {
            Some(entry) => from(fd, entry, buffer, len.min(size), flags, address, address_len),
            None => real::__recvfrom_chk(fd, buffer, len, size, flags, address, address_len),
        }
    }
}

pub unsafe extern "C-unwind" fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> isize {
    // SAFETY: the arguments are those of the program.
    unsafe {
        let Some(entry) = table::find(fd) else { return real::recvmsg(fd, message, flags) };
        let mut got = None;
        let vectors = Vectors::new((*message).msg_iov, (*message).msg_iovlen);
        let received = receive(fd, entry, &vectors, flags, &mut got);
        match got {
            Some(Got { header, whole, next, .. }) => {
                give_message(message, &header, entry.switches.load(Ordering::Relaxed), whole, next.as_ref());
            }
            None if received == 0 => {
                ((*message).msg_namelen, (*message).msg_controllen, (*message).msg_flags) = (0, 0, 0);
            }
            None => {}
        }
        received
    }
}

pub unsafe extern "C-unwind" fn recvmmsg(
    fd: c_int,
    messages: *mut mmsghdr,
    count: c_uint,
    flags: c_int,
    limit: *mut timespec,
) -> c_int {
    // SAFETY: the arguments are those of the program.
    unsafe {
        if table::find(fd).is_none() {
            return real::recvmmsg(fd, messages, count, flags, limit);
        }
        let until = (!limit.is_null()).then(|| now() + nanoseconds(&*limit));
        let mut flags = flags;
        for n in 0..count {
            let message = messages.add(n as usize);
            let received = recvmsg(fd, &raw mut (*message).msg_hdr, flags & !libc::MSG_WAITFORONE);
            if received < 0 {
                return if n == 0 { -1 } else { n.cast_signed() };
            }
            (*message).msg_len = received as c_uint;
            // As Linux, checks the time only between messages. A receive of 0 bytes
            // (end of the data) is the last one.
            if received == 0 || until.is_some_and(|until| now() >= until) {
                return n.cast_signed() + 1;
            }
            if flags & libc::MSG_WAITFORONE != 0 {
                flags |= libc::MSG_DONTWAIT;
            }
        }
        count.cast_signed()
    }
}

fn nanoseconds(time: &timespec) -> i128 {
    i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
}

fn now() -> i128 {
    let mut time = timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time outlives the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    nanoseconds(&time)
}
