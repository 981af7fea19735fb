//! SCTP sockets for programs of C: the functions of crate `client` with the prefix `anb_`, and those that
//! RFC 6458 adds.
//!
//! A caller promises for each pointer what the function without the prefix requires.
#![allow(clippy::missing_safety_doc, reason = "the promise is the same for all: see above")]

use libc::{c_int, c_uint, c_void, iovec, msghdr, sockaddr, socklen_t, ssize_t};
use std::mem::zeroed;
use std::{ptr, slice};

const SCTP: c_int = libc::IPPROTO_SCTP;

macro_rules! prefixed {
    ($($name:ident = $call:ident($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {$(
        #[doc = concat!("`", stringify!($call), "` for SCTP sockets of a host process.")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $kind),*) -> $result {
            // SAFETY: as the caller promises.
            unsafe { client::$call($($argument),*) }
        }
    )*};
}

prefixed! {
    anb_socket = socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    anb_bind = bind(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int;
    anb_connect = connect(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int;
    anb_listen = listen(fd: c_int, backlog: c_int) -> c_int;
    anb_accept = accept(fd: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int;
    anb_accept4 = accept4(fd: c_int, address: *mut sockaddr, len: *mut socklen_t, flags: c_int) -> c_int;
    anb_shutdown = shutdown(fd: c_int, how: c_int) -> c_int;
    anb_close = close(fd: c_int) -> c_int;
    anb_dup = dup(fd: c_int) -> c_int;
    anb_recv = recv(fd: c_int, buffer: *mut c_void, len: usize, flags: c_int) -> ssize_t;
    anb_recvfrom = recvfrom(fd: c_int, buffer: *mut c_void, len: usize, flags: c_int, address: *mut sockaddr,
        address_len: *mut socklen_t) -> ssize_t;
    anb_recvmsg = recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t;
    anb_send = send(fd: c_int, buffer: *const c_void, len: usize, flags: c_int) -> ssize_t;
    anb_sendto = sendto(fd: c_int, buffer: *const c_void, len: usize, flags: c_int, address: *const sockaddr,
        address_len: socklen_t) -> ssize_t;
    anb_sendmsg = sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t;
    anb_getsockopt = getsockopt(fd: c_int, level: c_int, name: c_int, value: *mut c_void,
        len: *mut socklen_t) -> c_int;
    anb_setsockopt = setsockopt(fd: c_int, level: c_int, name: c_int, value: *const c_void,
        len: socklen_t) -> c_int;
    anb_getsockname = getsockname(fd: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int;
    anb_getpeername = getpeername(fd: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int;
}

fn fail(error: c_int) -> c_int {
    // SAFETY: errno of this thread is always valid.
    unsafe { *libc::__errno_location() = error };
    -1
}

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
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_bindx(
    fd: c_int,
    addresses: *const sockaddr,
    count: c_int,
    flags: c_int,
) -> c_int {
    let name = match flags {
        1 => records::number::SOCKOPT_BINDX_ADD,
        2 => records::number::SOCKOPT_BINDX_REM,
        _ => return fail(libc::EINVAL),
    };
    // SAFETY: as the caller promises.
    unsafe {
        match packed_len(addresses, count) {
            Some(len) => client::setsockopt(fd, SCTP, name, addresses.cast(), len as socklen_t),
            None => fail(libc::EINVAL),
        }
    }
}

/// Connects to a peer with several addresses. Writes the number of the association unless `id` is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_connectx(
    fd: c_int,
    addresses: *const sockaddr,
    count: c_int,
    id: *mut i32,
) -> c_int {
    // SAFETY: as the caller promises.
    unsafe {
        let Some(len) = packed_len(addresses, count) else { return fail(libc::EINVAL) };
        let name = records::number::SOCKOPT_CONNECTX;
        let connected = client::setsockopt(fd, SCTP, name, addresses.cast(), len as socklen_t);
        if connected >= 0 && !id.is_null() {
            id.write(connected);
        }
        connected.min(0)
    }
}

/// Moves an association of a one-to-many socket to a new socket. Returns its descriptor.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_peeloff(fd: c_int, id: i32) -> c_int {
    let mut argument = [id, -1];
    let mut len = size_of_val(&argument) as socklen_t;
    let name = records::number::SOCKOPT_PEELOFF;
    // SAFETY: the argument outlives the call.
    unsafe { client::getsockopt(fd, SCTP, name, argument.as_mut_ptr().cast(), &raw mut len) }
}

/// Writes a pointer to packed addresses of an association, which
/// [`anb_freeaddrs`] frees. Returns their number.
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
        if client::getsockopt(fd, SCTP, name, value.as_mut_ptr().cast(), &raw mut len) < 0 {
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
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_getpaddrs(fd: c_int, id: i32, addresses: *mut *mut sockaddr) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { addresses_of(fd, id, records::number::GET_PEER_ADDRS, addresses) }
}

/// Our addresses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_getladdrs(fd: c_int, id: i32, addresses: *mut *mut sockaddr) -> c_int {
    // SAFETY: as the caller promises.
    unsafe { addresses_of(fd, id, records::number::GET_LOCAL_ADDRS, addresses) }
}

/// Frees what [`anb_getpaddrs`] or [`anb_getladdrs`] gave out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_freeaddrs(addresses: *mut sockaddr) {
    // SAFETY: the memory is from `malloc`, or null.
    unsafe { libc::free(addresses.cast()) }
}

/// For each part of the `info` of [`anb_sendv`] that becomes a control message: type, offset and length of
/// the part. `None` if `info` is invalid.
fn controls(info_type: c_uint, info: &[u8]) -> Option<Vec<(c_int, usize, usize)>> {
    use records::number::cmsg::{AUTHINFO, PRINFO, SNDINFO};
    Some(match (info_type, info) {
        (0, []) => Vec::new(),
        (1, info) if info.len() == 16 => vec![(SNDINFO, 0, 16)],
        (2, info) if info.len() == 8 => vec![(PRINFO, 0, 8)],
        (3, info) if info.len() == 2 => vec![(AUTHINFO, 0, 2)],
        // `struct sctp_sendv_spa`: which of the three parts are valid, and the parts.
        (4, &[a, b, c, d, ref parts @ ..]) if parts.len() == 28 => {
            let valid = u32::from_ne_bytes([a, b, c, d]);
            if valid > 7 {
                return None;
            }
            let all = [(SNDINFO, 4, 16), (PRINFO, 20, 8), (AUTHINFO, 28, 2)];
            all.into_iter().enumerate().filter(|(n, _)| valid >> n & 1 != 0).map(|(_, part)| part).collect()
        }
        _ => return None,
    })
}

/// Sends a message with a `struct sctp_sndinfo` (type 1), `sctp_prinfo` (2), `sctp_authinfo` (3) or all in a
/// `sctp_sendv_spa` (4), or without (type 0).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_sendv(
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
    let Some(parts) = controls(info_type, info) else { return fail(libc::EINVAL) as ssize_t };
    // Room for three control messages, each with a header, for the parts of 16, 8 and 2 bytes.
    let mut control = [0_u64; 4 + 3 + 3];
    // SAFETY: a message of zeros is valid; the control buffer has room for all parts.
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
        for (kind, at, len) in parts {
            let next: *mut libc::cmsghdr = message.msg_control.byte_add(message.msg_controllen).cast();
            ((*next).cmsg_level, (*next).cmsg_type) = (SCTP, kind);
            (*next).cmsg_len = libc::CMSG_LEN(len as u32) as usize;
            ptr::copy_nonoverlapping(info[at..].as_ptr(), libc::CMSG_DATA(next), len);
            message.msg_controllen += libc::CMSG_SPACE(len as u32) as usize;
        }
        client::sendmsg(fd, &raw const message, flags)
    }
}

/// Receives a message or notification; `info` gets a `struct sctp_rcvinfo` if the socket has
/// `SCTP_RECVRCVINFO`. `flags` gets `MSG_EOR` and `MSG_NOTIFICATION`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn anb_recvv(
    fd: c_int,
    vectors: *const iovec,
    count: c_int,
    from: *mut sockaddr,
    from_len: *mut socklen_t,
    info: *mut c_void,
    info_len: *mut socklen_t,
    flags: *mut c_int,
) -> ssize_t {
    let mut control = [0_u64; 32];
    // SAFETY: a message of zeros is valid; the other pointers are as the caller promises.
    unsafe {
        let mut message: msghdr = zeroed();
        (message.msg_iov, message.msg_iovlen) = (vectors.cast_mut(), usize::try_from(count).unwrap_or(0));
        (message.msg_control, message.msg_controllen) = (control.as_mut_ptr().cast(), size_of_val(&control));
        if !from.is_null() && !from_len.is_null() {
            (message.msg_name, message.msg_namelen) = (from.cast(), *from_len);
        }
        let asked = if flags.is_null() { 0 } else { *flags };
        let received = client::recvmsg(fd, &raw mut message, asked);
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
        let mut at = libc::CMSG_FIRSTHDR(&raw const message);
        while !at.is_null() && room > 0 {
            if ((*at).cmsg_level, (*at).cmsg_type) == (SCTP, records::number::cmsg::RCVINFO) {
                let len = ((*at).cmsg_len - libc::CMSG_LEN(0) as usize).min(room as usize);
                ptr::copy_nonoverlapping(libc::CMSG_DATA(at), info.cast(), len);
                *info_len = len as socklen_t;
            }
            at = libc::CMSG_NXTHDR(&raw const message, at);
        }
        received
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use records::number::cmsg::{AUTHINFO, PRINFO, SNDINFO};

    // rfc6458#section-9.12
    #[test]
    fn the_valid_parts_of_an_info_become_control_messages() {
        let spa = |valid: u32| [&valid.to_ne_bytes()[..], &[0; 28]].concat();
        assert_eq!(controls(4, &spa(0)), Some(vec![]));
        assert_eq!(controls(4, &spa(3)), Some(vec![(SNDINFO, 4, 16), (PRINFO, 20, 8)]));
        assert_eq!(controls(4, &spa(4)), Some(vec![(AUTHINFO, 28, 2)]));
        assert_eq!(controls(3, &[0; 2]), Some(vec![(AUTHINFO, 0, 2)]));
        assert_eq!(controls(4, &spa(8)), None, "an unknown part");
        for (kind, len) in [(0, 1), (1, 15), (2, 16), (3, 4), (4, 31), (5, 0)] {
            assert_eq!(controls(kind, &vec![0; len]), None, "{kind}, {len} bytes");
        }
    }
}
