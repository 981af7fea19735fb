//! Socket options.

use crate::addresses::len_of;
use crate::memory::{bytes, fail};
use crate::numbers::NOTIFICATIONS_STOPPED;
use crate::settle::settle;
use crate::structs::SocketOption;
use crate::table::{Handle, socket_of};
use libc::{SO_RCVBUF, SO_SNDBUF, SOL_SOCKET, c_int, c_void, sockaddr, socklen_t};
use records::number::{self, SCTP};
use std::sync::atomic::Ordering;

/// Length of the longest value that is read.
const ROOM: usize = 4096;
const EVENT: c_int = 0x1e;
const EXPLICIT_EOR: c_int = 0x1b;
const PEER_ADDR_PARAMS: c_int = 0x0a;
const PEER_ADDR_INFO: c_int = 0x101;
/// Length of a `struct sctp_paddrinfo`, and the place of its association.
const PATH: usize = 152;
const PATH_ID: usize = 128;
/// `SPP_PMTUD_DISABLE` of `spp_flags`: the path MTU is the given one.
const PMTUD_DISABLE: u32 = 0x10;
/// The place of `spp_pathmtu`.
const PATH_MTU: usize = 136;
/// Headers that the option `mtu` includes and `spp_pathmtu` does not: IPv6 and UDP.
const HEADERS: u32 = 48;

fn word(value: &[u8], at: usize) -> u32 {
    let bytes = value.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, u32::from_ne_bytes)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn usrsctp_setsockopt(
    handle: Handle,
    level: c_int,
    name: c_int,
    value: *const c_void,
    len: socklen_t,
) -> c_int {
    let Some(socket) = socket_of(handle) else { return -1 };
    // SAFETY: as the program promises.
    let value = unsafe { bytes(value, len as usize) };
    if level != SCTP {
        return socket.set_bytes(level, name, value);
    }
    if name == EVENT && value.get(4..6) == Some(&NOTIFICATIONS_STOPPED.to_ne_bytes()) {
        return fail(libc::ENOTSUP);
    }
    if name == EXPLICIT_EOR {
        socket.explicit_eor.store(word(value, 0) != 0, Ordering::Relaxed);
        return 0;
    }
    let Some(option) = SocketOption::find(name) else { return fail(libc::ENOPROTOOPT) };
    let Some(linux) = option.to_linux(value, false) else { return fail(libc::EINVAL) };
    if name == PEER_ADDR_PARAMS && word(value, 140) & PMTUD_DISABLE != 0 {
        socket.set_named("pmtud", "false");
        if word(value, PATH_MTU) > 0 {
            let mtu = word(value, PATH_MTU).saturating_add(HEADERS);
            socket.set_named("mtu", &format!("'{mtu} B'"));
        }
    }
    let result = socket.set_bytes(SCTP, option.linux, &linux);
    settle();
    result
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn usrsctp_getsockopt(
    handle: Handle,
    level: c_int,
    name: c_int,
    value: *mut c_void,
    len: *mut socklen_t,
) -> c_int {
    let Some(socket) = socket_of(handle) else { return -1 };
    if value.is_null() || len.is_null() {
        return fail(libc::EFAULT);
    }
    // SAFETY: the program promises room for `*len` bytes.
    let given = unsafe { bytes(value, (*len as usize).min(ROOM)) };
    if (level, name) == (SCTP, EXPLICIT_EOR) {
        let on = c_int::from(socket.explicit_eor.load(Ordering::Relaxed));
        // SAFETY: as above.
        unsafe {
            if *len < 4 {
                return fail(libc::EINVAL);
            }
            *len = 4;
            value.cast::<c_int>().write_unaligned(on);
        }
        return 0;
    }
    let option = SocketOption::find(name).filter(|_| level == SCTP);
    if level == SCTP && option.is_none() {
        return fail(libc::ENOPROTOOPT);
    }
    let number = option.map_or(name, |option| option.linux);
    let given = option.and_then(|option| option.to_linux(given, true)).unwrap_or_else(|| given.to_vec());
    let mut linux = vec![0; ROOM];
    linux[..given.len()].copy_from_slice(&given);
    let mut got = given.len().max(4) as socklen_t;
    if matches!(number, number::LOCAL_AUTH_CHUNKS | number::PEER_AUTH_CHUNKS | number::HMAC_IDENT) {
        got = ROOM as socklen_t;
    }
    // SAFETY: the values outlive the call; the program promises room for `*len` bytes.
    unsafe {
        if client::getsockopt(socket.fd, level, number, linux.as_mut_ptr().cast(), &raw mut got) < 0 {
            return -1;
        }
        linux.truncate(got as usize);
        if level == SOL_SOCKET && matches!(name, SO_SNDBUF | SO_RCVBUF) && linux.len() == 4 {
            // Linux reports twice the value that was set.
            linux = (word(&linux, 0) / 2).to_ne_bytes().to_vec();
        }
        let mut result = option.map_or_else(|| linux.clone(), |option| option.to_program(&linux));
        if (level, name) == (SCTP, PEER_ADDR_PARAMS) {
            let mtu = word(&result, PATH_MTU).saturating_sub(HEADERS);
            result[PATH_MTU..PATH_MTU + 4].copy_from_slice(&mtu.to_ne_bytes());
        }
        if level == SCTP && result.len() > *len as usize {
            return fail(libc::EINVAL);
        }
        let count = result.len().min(*len as usize);
        std::ptr::copy_nonoverlapping(result.as_ptr(), value.cast(), count);
        *len = count as socklen_t;
    }
    0
}

/// Reads an option of an association: puts its number to the place in the struct, then reads the option.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn usrsctp_opt_info(
    handle: Handle,
    id: u32,
    name: c_int,
    value: *mut c_void,
    len: *mut socklen_t,
) -> c_int {
    if value.is_null() || len.is_null() {
        return fail(libc::EFAULT);
    }
    // The structs that begin with an address have the association behind it.
    let at = if matches!(name, 0x06 | 0x07 | PEER_ADDR_PARAMS | 0x24 | PEER_ADDR_INFO) { 128 } else { 0 };
    // SAFETY: the program promises room for `*len` bytes.
    unsafe {
        if (*len as usize) < at + 4 {
            return fail(libc::EINVAL);
        }
        value.byte_add(at).cast::<u32>().write_unaligned(id);
        usrsctp_getsockopt(handle, SCTP, name, value, len)
    }
}

/// The association with a peer; 0 if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn usrsctp_getassocid(handle: Handle, peer: *mut sockaddr) -> u32 {
    let (mut path, mut len) = ([0_u8; PATH], PATH as socklen_t);
    // SAFETY: the program promises the address of a peer, and the value outlives the call.
    unsafe {
        let known = if peer.is_null() { None } else { len_of((*peer).sa_family.into()) };
        let address = bytes(peer.cast(), known.unwrap_or(0));
        path[..address.len()].copy_from_slice(address);
        let got = usrsctp_getsockopt(handle, SCTP, PEER_ADDR_INFO, path.as_mut_ptr().cast(), &raw mut len);
        if got < 0 { 0 } else { word(&path, PATH_ID) }
    }
}
