//! SCTP sockets for programs of C: the functions of crate `client` with the prefix `anb_`, and those that
//! RFC 6458 adds.
//!
//! A caller promises for each pointer what the function without the prefix requires.
#![allow(clippy::missing_safety_doc, reason = "the promise is the same for all: see above")]

use libc::{c_int, c_uint, c_void, iovec, msghdr, sockaddr, socklen_t, ssize_t};
use std::ptr;

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
    anb_bindx = bindx(fd: c_int, addresses: *const sockaddr, count: c_int, flags: c_int) -> c_int;
    anb_connectx = connectx(fd: c_int, addresses: *const sockaddr, count: c_int, id: *mut i32) -> c_int;
    anb_peeloff = peeloff(fd: c_int, id: i32) -> c_int;
    anb_getpaddrs = getpaddrs(fd: c_int, id: i32, addresses: *mut *mut sockaddr) -> c_int;
    anb_getladdrs = getladdrs(fd: c_int, id: i32, addresses: *mut *mut sockaddr) -> c_int;
    anb_freeaddrs = freeaddrs(addresses: *mut sockaddr) -> ();
    anb_sendv = sendv(fd: c_int, vectors: *const iovec, count: c_int, address: *const sockaddr,
        info: *const c_void, info_len: socklen_t, info_type: c_uint, flags: c_int) -> ssize_t;
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
    const RCVINFO: usize = 28;
    let (mut infos, mut infos_len, mut kind) = ([0_u8; 64], 64, 0);
    let told = infos.as_mut_ptr().cast();
    // SAFETY: as the caller promises; the other buffers outlive the call.
    unsafe {
        let (len, kind_of) = (&raw mut infos_len, &raw mut kind);
        let received = client::recvv(fd, vectors, count, from, from_len, told, len, kind_of, flags);
        if received >= 0 && !info.is_null() && !info_len.is_null() {
            // If there are both, the `sctp_rcvinfo` comes first.
            let len = if kind & 1 != 0 { RCVINFO.min(*info_len as usize) } else { 0 };
            ptr::copy_nonoverlapping(infos.as_ptr(), info.cast(), len);
            *info_len = len as socklen_t;
        }
        received
    }
}
