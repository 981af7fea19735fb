//! The functions that RFC 6458 adds to those of the C library.
#![allow(clippy::too_many_arguments, reason = "the arguments are those of the RFC")]

use crate::connect::begin_association;
use crate::options::{getsockopt, setsockopt};
use crate::real::fail;
use crate::receive::recvmsg;
use crate::send::sendmsg;
use crate::table;
use libc::{c_int, c_uint, c_void, iovec, msghdr, sockaddr, socklen_t, ssize_t};
use records::number;
use std::mem::zeroed;
use std::{ptr, slice};

const SCTP: c_int = libc::IPPROTO_SCTP;

/// Number of bytes of packed addresses; `None` if one is neither IPv4 nor IPv6.
///
/// # Safety
/// `addresses` points to `count` packed addresses.
unsafe fn packed_len(addresses: *const sockaddr, count: c_int) -> Option<usize> {
    let mut len = 0;
    for _ in 0..count {
        // SAFETY: the address is within the array, of which earlier ones had the length of their family.
        let family = unsafe { addresses.byte_add(len).cast::<libc::sa_family_t>().read_unaligned() };
        len += address_len(family)?;
    }
    (count > 0 && !addresses.is_null()).then_some(len)
}

fn address_len(family: libc::sa_family_t) -> Option<usize> {
    match c_int::from(family) {
        libc::AF_INET => Some(size_of::<libc::sockaddr_in>()),
        libc::AF_INET6 => Some(size_of::<libc::sockaddr_in6>()),
        _ => None,
    }
}

/// Adds addresses to a socket (flags 1), or removes them (flags 2).
pub unsafe fn bindx(fd: c_int, addresses: *const sockaddr, count: c_int, flags: c_int) -> c_int {
    let name = match flags {
        1 => number::SOCKOPT_BINDX_ADD,
        2 => number::SOCKOPT_BINDX_REM,
        _ => return fail(libc::EINVAL),
    };
    // SAFETY: as the caller promises.
    unsafe {
        match packed_len(addresses, count) {
            Some(len) => setsockopt(fd, SCTP, name, addresses.cast(), len as socklen_t),
            None => fail(libc::EINVAL),
        }
    }
}

/// Connects to a peer with several addresses. Writes the number of the association unless `id` is null, also
/// if the call does not wait until the association is up (`EINPROGRESS`).
pub unsafe fn connectx(fd: c_int, addresses: *const sockaddr, count: c_int, id: *mut i32) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        let Some(len) = packed_len(addresses, count) else { return fail(libc::EINVAL) };
        let Some(entry) = table::find(fd) else { return fail(libc::ENOTSOCK) };
        let (packed, mut begun) = (slice::from_raw_parts(addresses.cast(), len), 0);
        let connected = begin_association(fd, entry, packed, &mut begun);
        if begun > 0 && !id.is_null() {
            id.write(begun);
        }
        connected
    }
}

/// Moves an association of a one-to-many socket to a new socket. Returns its descriptor.
pub unsafe fn peeloff(fd: c_int, id: i32) -> c_int {
    let mut argument = [id, -1];
    let mut len = size_of_val(&argument) as socklen_t;
    let name = number::SOCKOPT_PEELOFF;
    // SAFETY: the argument outlives the call.
    unsafe { getsockopt(fd, SCTP, name, argument.as_mut_ptr().cast(), &raw mut len) }
}

/// Writes a pointer to packed addresses of an association, which
/// [`freeaddrs`] frees. Returns their number.
unsafe fn addresses_of(fd: c_int, id: i32, name: c_int, addresses: *mut *mut sockaddr) -> c_int {
    const HEAD: usize = 8;
    const ROOM: usize = 4096;
    if addresses.is_null() {
        return fail(libc::EFAULT);
    }
    let mut value = [0_u8; ROOM];
    value[..4].copy_from_slice(&id.to_ne_bytes());
    let mut len = ROOM as socklen_t;
    // SAFETY: the value outlives the call; the memory has as many bytes as are copied.
    unsafe {
        if getsockopt(fd, SCTP, name, value.as_mut_ptr().cast(), &raw mut len) < 0 {
            return -1;
        }
        let packed = value.get(HEAD..len as usize).unwrap_or_default();
        let memory = libc::malloc(packed.len().max(1));
        if memory.is_null() {
            return fail(libc::ENOMEM);
        }
        ptr::copy_nonoverlapping(packed.as_ptr(), memory.cast(), packed.len());
        addresses.write(memory.cast());
    }
    c_int::from_ne_bytes([value[4], value[5], value[6], value[7]])
}

/// The addresses of the peer.
pub unsafe fn getpaddrs(fd: c_int, id: i32, addresses: *mut *mut sockaddr) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { addresses_of(fd, id, number::GET_PEER_ADDRS, addresses) }
}

/// Our addresses.
pub unsafe fn getladdrs(fd: c_int, id: i32, addresses: *mut *mut sockaddr) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { addresses_of(fd, id, number::GET_LOCAL_ADDRS, addresses) }
}

/// Frees what [`getpaddrs`] or [`getladdrs`] gave out.
pub unsafe fn freeaddrs(addresses: *mut sockaddr) {
    // SAFETY: the memory is from `malloc`, or null.
    unsafe { libc::free(addresses.cast()) }
}

/// A part of the `info` of [`sendv`] that becomes a control message: its type, offset and length.
type Part = (c_int, usize, usize);

/// The parts of an `info`; `None` if it is invalid.
fn parts(info_type: c_uint, info: &[u8]) -> Option<[Option<Part>; 3]> {
    use number::cmsg::{AUTHINFO, PRINFO, SNDINFO};
    Some(match (info_type, info) {
        (0, []) => [None; 3],
        (1, info) if info.len() == 16 => [Some((SNDINFO, 0, 16)), None, None],
        (2, info) if info.len() == 8 => [Some((PRINFO, 0, 8)), None, None],
        (3, info) if info.len() == 2 => [Some((AUTHINFO, 0, 2)), None, None],
        // `struct sctp_sendv_spa`: which of the three parts are valid, and the parts.
        (4, &[a, b, c, d, ref parts @ ..]) if parts.len() == 28 => {
            let valid = u32::from_ne_bytes([a, b, c, d]);
            if valid > 7 {
                return None;
            }
            let has = |n: u32, part| (valid >> n & 1 != 0).then_some(part);
            [has(0, (SNDINFO, 4, 16)), has(1, (PRINFO, 20, 8)), has(2, (AUTHINFO, 28, 2))]
        }
        _ => return None,
    })
}

/// Sends a message with a `struct sctp_sndinfo` (type 1), `sctp_prinfo` (2), `sctp_authinfo` (3) or all in a
/// `sctp_sendv_spa` (4), or without (type 0).
pub unsafe fn sendv(
    fd: c_int,
    vectors: *const iovec,
    count: c_int,
    address: *const sockaddr,
    info: *const c_void,
    info_len: socklen_t,
    info_type: c_uint,
    flags: c_int,
) -> ssize_t {
    let info = match info.is_null() {
        true => &[],
        // SAFETY: the caller promises as many bytes.
        false => unsafe { slice::from_raw_parts(info.cast(), info_len as usize) },
    };
    let Some(parts) = parts(info_type, info) else { return fail(libc::EINVAL) as ssize_t };
    // Room for three control messages, each with a header, for the parts of 16, 8 and 2 bytes.
    let mut control = [0_u64; 4 + 3 + 3];
    // SAFETY: a `msghdr` may be all zeros; the control buffer has room for all parts.
    unsafe {
        let mut message: msghdr = zeroed();
        (message.msg_iov, message.msg_iovlen) = (vectors.cast_mut(), usize::try_from(count).unwrap_or(0));
        if !address.is_null() {
            let Some(address_len) = address_len((*address).sa_family) else {
                return fail(libc::EINVAL) as ssize_t;
            };
            (message.msg_name, message.msg_namelen) = (address.cast_mut().cast(), address_len as socklen_t);
        }
        message.msg_control = control.as_mut_ptr().cast();
        for (kind, at, len) in parts.into_iter().flatten() {
            let next: *mut libc::cmsghdr = message.msg_control.byte_add(message.msg_controllen).cast();
            ((*next).cmsg_level, (*next).cmsg_type) = (SCTP, kind);
            (*next).cmsg_len = libc::CMSG_LEN(len as u32) as usize;
            ptr::copy_nonoverlapping(info[at..].as_ptr(), libc::CMSG_DATA(next), len);
            message.msg_controllen += libc::CMSG_SPACE(len as u32) as usize;
        }
        sendmsg(fd, &raw const message, flags)
    }
}

/// Receives a message or notification. `info` gets a `struct sctp_rcvinfo` (type 1), a `sctp_nxtinfo` (2) or
/// both (3), as the socket has `SCTP_RECVRCVINFO` and `SCTP_RECVNXTINFO`; type 0: neither. `flags` gets
/// `MSG_EOR` and `MSG_NOTIFICATION`.
pub unsafe fn recvv(
    fd: c_int,
    vectors: *const iovec,
    count: c_int,
    from: *mut sockaddr,
    from_len: *mut socklen_t,
    info: *mut c_void,
    info_len: *mut socklen_t,
    info_type: *mut c_uint,
    flags: *mut c_int,
) -> ssize_t {
    let mut control = [0_u64; 32];
    // SAFETY: a `msghdr` may be all zeros; the other pointers are as the caller promises.
    unsafe {
        let mut message: msghdr = zeroed();
        (message.msg_iov, message.msg_iovlen) = (vectors.cast_mut(), usize::try_from(count).unwrap_or(0));
        (message.msg_control, message.msg_controllen) = (control.as_mut_ptr().cast(), size_of_val(&control));
        if !from.is_null() && !from_len.is_null() {
            (message.msg_name, message.msg_namelen) = (from.cast(), *from_len);
        }
        let asked = if flags.is_null() { 0 } else { *flags };
        let received = recvmsg(fd, &raw mut message, asked);
        if received < 0 {
            return received;
        }
        if !from_len.is_null() {
            *from_len = message.msg_namelen;
        }
        if !flags.is_null() {
            *flags = message.msg_flags;
        }
        let room = if info.is_null() || info_len.is_null() { 0 } else { std::mem::take(&mut *info_len) };
        let (mut written, mut kind) = (0, 0);
        for (bit, wanted) in [(1, number::cmsg::RCVINFO), (2, number::cmsg::NXTINFO)] {
            if let Some(part) = find(&message, wanted).filter(|part| written + part.len() <= room as usize) {
                ptr::copy_nonoverlapping(part.as_ptr(), info.byte_add(written).cast(), part.len());
                written += part.len();
                kind |= bit;
            }
        }
        if room > 0 {
            *info_len = written as socklen_t;
        }
        if !info_type.is_null() {
            *info_type = kind;
        }
        received
    }
}

/// The data of the control message of this type.
///
/// # Safety
/// The message is one that was received.
unsafe fn find(message: &msghdr, kind: c_int) -> Option<&[u8]> {
    // SAFETY: the macros stay within the control buffer.
    unsafe {
        let mut at = libc::CMSG_FIRSTHDR(message);
        while !at.is_null() {
            if ((*at).cmsg_level, (*at).cmsg_type) == (SCTP, kind) {
                let len = (*at).cmsg_len - libc::CMSG_LEN(0) as usize;
                return Some(slice::from_raw_parts(libc::CMSG_DATA(at), len));
            }
            at = libc::CMSG_NXTHDR(message, at);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use number::cmsg::{AUTHINFO, PRINFO, SNDINFO};

    // rfc6458#section-9.12
    #[test]
    fn the_valid_parts_of_an_info_become_control_messages() {
        let spa = |valid: u32| [&valid.to_ne_bytes()[..], &[0; 28]].concat();
        assert_eq!(parts(4, &spa(0)), Some([None; 3]));
        assert_eq!(parts(4, &spa(3)), Some([Some((SNDINFO, 4, 16)), Some((PRINFO, 20, 8)), None]));
        assert_eq!(parts(4, &spa(4)), Some([None, None, Some((AUTHINFO, 28, 2))]));
        assert_eq!(parts(3, &[0; 2]), Some([Some((AUTHINFO, 0, 2)), None, None]));
        assert_eq!(parts(4, &spa(8)), None, "an unknown part");
        for (kind, len) in [(0, 1), (1, 15), (2, 16), (3, 4), (4, 31), (5, 0)] {
            assert_eq!(parts(kind, &vec![0; len]), None, "{kind}, {len} bytes");
        }
    }
}
