//! Sending and receiving.

use crate::addresses::{End, len_of, to_linux, to_program};
use crate::memory::{bytes, fail, give};
use crate::numbers::{EOR, flags_to_linux, policy_to_linux};
use crate::receive::{errno, receive};
use crate::settle::settle;
use crate::table::{Handle, Socket, lock, socket_of};
use libc::{c_int, c_uint, c_void, iovec, sockaddr, socklen_t, ssize_t};
use std::ptr;
use std::sync::atomic::Ordering;

/// Longest message that is sent in parts (`SCTP_EXPLICIT_EOR`), in bytes.
const LONGEST: usize = 16 << 20;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn usrsctp_recvv(
    handle: Handle,
    buffer: *mut c_void,
    len: usize,
    from: *mut sockaddr,
    from_len: *mut socklen_t,
    info: *mut c_void,
    info_len: *mut socklen_t,
    info_type: *mut c_uint,
    flags: *mut c_int,
) -> ssize_t {
    let Some(socket) = socket_of(handle) else { return -1 };
    if buffer.is_null() || flags.is_null() {
        return fail(libc::EFAULT) as ssize_t;
    }
    // SAFETY: the pointers are those of the program, for as many bytes as it says.
    unsafe {
        let room = std::slice::from_raw_parts_mut(buffer.cast::<u8>(), len);
        let asked = *flags & (libc::MSG_DONTWAIT | libc::MSG_PEEK);
        let (data, message) = match receive(&socket, room, asked) {
            Ok(received) => received,
            Err(error) => return fail(error) as ssize_t,
        };
        let count = data.len().min(len);
        room[..count].copy_from_slice(&data[..count]);
        socket.taken.fetch_add(1, Ordering::Relaxed);
        *flags = message.flags;
        give(&to_program(&message.from), from.cast(), from_len);
        give(&message.info, info, info_len);
        if !info_type.is_null() {
            *info_type = message.info_type;
        }
        settle();
        count as ssize_t
    }
}

/// Translates the `info` of a message in place. False if a flag or policy has no counterpart.
fn translate(info: &mut [u8], info_type: c_uint) -> bool {
    // Where the parts are; a `struct sctp_sendv_spa` begins with bits that tell which of them are valid.
    let (sndinfo, prinfo) = match info_type {
        1 => (Some(0), None),
        2 => (None, Some(0)),
        4 => {
            let valid = info.first().copied().unwrap_or(0);
            ((valid & 1 != 0).then_some(4), (valid & 2 != 0).then_some(20))
        }
        _ => (None, None),
    };
    let mut change = |at: usize, how: fn(u16) -> Option<u16>| {
        let Some(place) = info.get_mut(at..at + 2) else { return false };
        let number = how(u16::from_ne_bytes([place[0], place[1]]));
        place.copy_from_slice(&number.unwrap_or(0).to_ne_bytes());
        number.is_some()
    };
    sndinfo.is_none_or(|at| change(at + 2, flags_to_linux))
        && prinfo.is_none_or(|at| change(at, policy_to_linux))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn usrsctp_sendv(
    handle: Handle,
    data: *const c_void,
    len: usize,
    to: *mut sockaddr,
    to_count: c_int,
    info: *mut c_void,
    info_len: socklen_t,
    info_type: c_uint,
    flags: c_int,
) -> ssize_t {
    let Some(socket) = socket_of(handle) else { return -1 };
    // SAFETY: the pointers are those of the program, for as many bytes as it says.
    let (data, info, to) = unsafe {
        let known = match to.is_null() || to_count < 1 {
            true => Some(0),
            false => len_of((*to).sa_family.into()),
        };
        let Some(known) = known else { return fail(libc::EINVAL) as ssize_t };
        (bytes(data, len), bytes(info, info_len as usize), bytes(to.cast(), known))
    };
    let mut message = Outgoing {
        to: to_linux(to, End::Peer),
        info: info.to_vec(),
        info_type: if info.is_empty() { 0 } else { info_type },
        flags: flags & libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL,
    };
    let ends = message.ends();
    if !translate(&mut message.info, message.info_type) {
        return fail(libc::EINVAL) as ssize_t;
    }
    let sent = match socket.explicit_eor.load(Ordering::Relaxed) {
        true => add(&socket, &message, data, ends),
        false => message.send(&socket, data),
    };
    let error = errno();
    settle();
    if sent < 0 { fail(error) as ssize_t } else { sent }
}

/// What a message is sent with.
struct Outgoing {
    /// Address of Linux; empty: that of the association.
    to: Vec<u8>,
    info: Vec<u8>,
    info_type: c_uint,
    flags: c_int,
}

impl Outgoing {
    /// True if the flags have `SCTP_EOR`.
    fn ends(&self) -> bool {
        let at = if self.info_type == 4 { 6 } else { 2 };
        let flags = self.info.get(at..at + 2).filter(|_| matches!(self.info_type, 1 | 4));
        flags.is_some_and(|flags| u16::from_ne_bytes([flags[0], flags[1]]) & EOR != 0)
    }

    fn send(&self, socket: &Socket, data: &[u8]) -> ssize_t {
        let or_null = |bytes: &[u8]| if bytes.is_empty() { ptr::null() } else { bytes.as_ptr() };
        let vector = iovec { iov_base: data.as_ptr().cast_mut().cast(), iov_len: data.len() };
        let (info, info_len) = (or_null(&self.info).cast(), self.info.len() as socklen_t);
        let to = or_null(&self.to).cast();
        // SAFETY: the buffers outlive the call.
        unsafe {
            client::sendv(socket.fd, &raw const vector, 1, to, info, info_len, self.info_type, self.flags)
        }
    }
}

/// Adds a part to a message, and sends the message if this is its end.
fn add(socket: &Socket, message: &Outgoing, part: &[u8], ends: bool) -> ssize_t {
    let mut unfinished = lock(&socket.unfinished);
    let before = unfinished.len();
    if before + part.len() > LONGEST {
        return fail(libc::EMSGSIZE) as ssize_t;
    }
    unfinished.extend(part);
    if ends && message.send(socket, &unfinished) < 0 {
        unfinished.truncate(before);
        return -1;
    }
    if ends {
        unfinished.clear();
    }
    part.len() as ssize_t
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_valid_parts_of_an_info_are_translated() {
        let mut sndinfo = [1, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert!(translate(&mut sndinfo, 1));
        assert_eq!(sndinfo[..4], [1, 0, 1, 0]);
        let mut prinfo = [3, 0, 0, 0, 9, 0, 0, 0];
        assert!(translate(&mut prinfo, 2));
        assert_eq!(prinfo, [0x20, 0, 0, 0, 9, 0, 0, 0]);
        let spa = |valid: u8| {
            let mut spa = [0; 32];
            (spa[0], spa[7], spa[20]) = (valid, 4, 1);
            let known = translate(&mut spa, 4);
            (known, spa[6], spa[7], spa[20])
        };
        assert_eq!(spa(3), (true, 1, 0, 0x10));
        assert_eq!(spa(1), (true, 1, 0, 1));
        assert_eq!(spa(0), (true, 0, 4, 1));
        assert!(!translate(&mut [0, 0, 1, 0], 1), "an unknown flag");
        assert!(!translate(&mut [9, 0], 2), "an unknown policy");
        assert!(!translate(&mut [0], 1), "too short");
    }
}
