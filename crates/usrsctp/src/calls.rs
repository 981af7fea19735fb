//! Sockets: opening, binding, connecting, accepting, closing.

use crate::addresses::{AF_CONN, End, len_of, split, to_linux, to_program};
use crate::callbacks::{ready_of, watch, watch_if_wanted};
use crate::memory::{bytes, fail, give, given};
use crate::receive::{MSG_NOTIFICATION, receive};
use crate::settle::settle;
use crate::table::{self, Callbacks, Handle, Receive, Send, Socket, Upcall, lock, socket_of};
use crate::{link, stack, tuning};
use libc::{AF_INET6, EPOLLERR, EPOLLHUP, EPOLLIN, EPOLLOUT, c_int, c_void, sockaddr, socklen_t};
use records::number::{RECVRCVINFO, SCTP};
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

/// `SCTP_BINDX_ADD_ADDR` and `SCTP_BINDX_REM_ADDR`, and their numbers in `client::bindx`.
const BINDX: [(c_int, c_int); 2] = [(0x8001, 1), (0x8002, 2)];
/// A `struct sockaddr_conn` without port and pointer.
const ANY_LINK: [u8; 16] = [AF_CONN as u8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
/// Bits of `usrsctp_get_events`, with those of poll.
const EVENTS: [(c_int, c_int); 3] = [(1, EPOLLIN | EPOLLHUP), (2, EPOLLOUT), (4, EPOLLERR)];

#[unsafe(no_mangle)]
pub extern "C" fn usrsctp_socket(
    domain: c_int,
    kind: c_int,
    protocol: c_int,
    receive: Option<Receive>,
    send: Option<Send>,
    threshold: u32,
    ulp_info: *mut c_void,
) -> Handle {
    let conn = domain == AF_CONN;
    if protocol != SCTP || !matches!(kind, libc::SOCK_STREAM | libc::SOCK_SEQPACKET) {
        fail(libc::EPROTONOSUPPORT);
        return ptr::null_mut();
    }
    if let Err(error) = stack::start(conn) {
        fail(error);
        return ptr::null_mut();
    }
    let family = if conn { AF_INET6 } else { domain };
    // SAFETY: the call has no conditions.
    let fd = unsafe { client::socket(family, kind | libc::SOCK_CLOEXEC, protocol) };
    if fd < 0 {
        return ptr::null_mut();
    }
    let callbacks = Callbacks { receive, send, threshold };
    let socket = Socket::add(fd, conn, kind == libc::SOCK_SEQPACKET, callbacks, ulp_info);
    socket.idle.store(!socket.many, Ordering::Relaxed);
    if receive.is_some() {
        // The callback gets the stream and PPID of each message.
        socket.set(SCTP, RECVRCVINFO, 1);
    }
    tuning::apply(&socket);
    if socket.many {
        watch_if_wanted(&socket);
    }
    socket.handle()
}

/// The address of the program in the form of Linux.
unsafe fn address(name: *const sockaddr, len: socklen_t, end: End) -> Vec<u8> {
    // SAFETY: the program promises as many bytes.
    to_linux(unsafe { bytes(name.cast(), len as usize) }, end)
}

/// Packed addresses of the program in the form of Linux; `None` if one has an unknown family.
unsafe fn addresses(all: *const sockaddr, count: c_int, end: End) -> Option<Vec<u8>> {
    let mut at = all;
    let mut packed = Vec::new();
    for _ in 0..count {
        // SAFETY: the program promises as many addresses, each with the length of its family.
        unsafe {
            let len = len_of((*at).sa_family.into())?;
            packed.extend(address(at, len as socklen_t, end));
            at = at.byte_add(len);
        }
    }
    Some(packed)
}

/// A link must be registered before a socket is bound to it.
fn is_available(address: &[u8]) -> bool {
    let program = to_program(address);
    let number = program.get(8..16).filter(|_| program[..2] == (AF_CONN as u16).to_ne_bytes());
    let number: Option<[u8; 8]> = number.and_then(|number| number.try_into().ok());
    let number = number.map_or(0, u64::from_ne_bytes);
    number == 0 || link::is_registered(number)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn usrsctp_bind(handle: Handle, name: *mut sockaddr, len: socklen_t) -> c_int {
    let Some(socket) = socket_of(handle) else { return -1 };
    // SAFETY: as the program promises.
    unsafe {
        let address = address(name, len, End::Ours);
        if !is_available(&address) {
            return fail(libc::EADDRNOTAVAIL);
        }
        client::bind(socket.fd, address.as_ptr().cast(), address.len() as socklen_t)
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn usrsctp_bindx(
    handle: Handle,
    all: *mut sockaddr,
    count: c_int,
    flags: c_int,
) -> c_int {
    let Some(socket) = socket_of(handle) else { return -1 };
    let Some(&(_, flags)) = BINDX.iter().find(|(ours, _)| *ours == flags) else { return fail(libc::EINVAL) };
    // SAFETY: as the program promises.
    unsafe {
        match addresses(all, count, End::Ours) {
            Some(packed) => client::bindx(socket.fd, packed.as_ptr().cast(), count, flags),
            None => fail(libc::EINVAL),
        }
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn usrsctp_listen(handle: Handle, backlog: c_int) -> c_int {
    let Some(socket) = socket_of(handle) else { return -1 };
    // SAFETY: the address outlives the call.
    let listened = unsafe {
        if socket.conn {
            // Without an address of a link, peers of the network could begin associations. It fails if the
            // program has bound the socket.
            let any = to_linux(&ANY_LINK, End::Ours);
            client::bind(socket.fd, any.as_ptr().cast(), any.len() as socklen_t);
        }
        client::listen(socket.fd, backlog)
    };
    socket.listens.store(backlog > 0 && listened == 0, Ordering::Relaxed);
    watch_if_wanted(&socket);
    listened
}

/// Makes a connect that waits find an error before a callback does.
fn connecting(socket: &Socket, connect: impl FnOnce() -> c_int) -> c_int {
    socket.connecting.store(true, Ordering::Release);
    socket.idle.store(false, Ordering::Release);
    let result = connect();
    // SAFETY: errno of this thread is always valid.
    let error = unsafe { *libc::__errno_location() };
    socket.connecting.store(false, Ordering::Release);
    watch_if_wanted(socket);
    settle();
    if result < 0 { fail(error) } else { result }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn usrsctp_connect(handle: Handle, name: *mut sockaddr, len: socklen_t) -> c_int {
    let Some(socket) = socket_of(handle) else { return -1 };
    // SAFETY: as the program promises.
    connecting(&socket, || unsafe {
        let address = address(name, len, End::Peer);
        client::connect(socket.fd, address.as_ptr().cast(), address.len() as socklen_t)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn usrsctp_connectx(
    handle: Handle,
    all: *const sockaddr,
    count: c_int,
    id: *mut u32,
) -> c_int {
    let Some(socket) = socket_of(handle) else { return -1 };
    // SAFETY: as the program promises.
    connecting(&socket, || unsafe {
        match addresses(all, count, End::Peer) {
            Some(packed) => client::connectx(socket.fd, packed.as_ptr().cast(), count, id.cast()),
            None => fail(libc::EINVAL),
        }
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn usrsctp_accept(handle: Handle, name: *mut sockaddr, len: *mut socklen_t) -> Handle {
    let Some(socket) = socket_of(handle) else { return ptr::null_mut() };
    let (mut from, mut from_len) = ([0_u8; 28], 28);
    // SAFETY: the buffer outlives the call.
    let fd = unsafe {
        client::accept4(socket.fd, from.as_mut_ptr().cast(), &raw mut from_len, libc::SOCK_CLOEXEC)
    };
    if fd < 0 {
        return ptr::null_mut();
    }
    socket.taken.fetch_add(1, Ordering::Relaxed);
    let from = to_program(&from[..from_len.min(28) as usize]);
    // SAFETY: the program promises room for `*len` bytes.
    unsafe { give(&from, name.cast(), len) };
    child(&socket, fd)
}

/// Adds the socket of an association that was accepted or peeled off.
fn child(parent: &Socket, fd: c_int) -> Handle {
    if is_non_blocking(parent) {
        // SAFETY: the descriptor is ours.
        unsafe { client::fcntl(fd, libc::F_SETFL, (libc::O_RDWR | libc::O_NONBLOCK) as libc::c_ulong) };
    }
    let new = Socket::add(fd, parent.conn, false, parent.callbacks, parent.ulp_info());
    watch_if_wanted(&new);
    new.handle()
}

#[unsafe(no_mangle)]
pub extern "C" fn usrsctp_peeloff(handle: Handle, id: u32) -> Handle {
    let Some(socket) = socket_of(handle) else { return ptr::null_mut() };
    // SAFETY: the call has no conditions.
    let fd = unsafe { client::peeloff(socket.fd, id.cast_signed()) };
    if fd < 0 { ptr::null_mut() } else { child(&socket, fd) }
}

#[unsafe(no_mangle)]
pub extern "C" fn usrsctp_shutdown(handle: Handle, how: c_int) -> c_int {
    let Some(socket) = socket_of(handle) else { return -1 };
    // SAFETY: the call has no conditions.
    let result = unsafe { client::shutdown(socket.fd, how) };
    settle();
    result
}

#[unsafe(no_mangle)]
pub extern "C" fn usrsctp_close(handle: Handle) {
    let Some(socket) = table::remove(handle) else { return };
    if Arc::strong_count(&socket) > 1 && stack::is_ours() {
        end(&socket);
    }
    drop(socket);
    // The program may deregister the address of the link next, so the last packets leave now.
    stack::wait();
    settle();
}

/// Ends a socket that a callback or a call of another thread uses: its descriptor stays open until they
/// return.
fn end(socket: &Socket) {
    let next = receive(socket, &mut [0], libc::MSG_PEEK | libc::MSG_DONTWAIT);
    if next.is_ok_and(|(data, message)| !data.is_empty() && message.flags & MSG_NOTIFICATION == 0) {
        // A close with data that the program has not read aborts.
        let at_once = [1, 0].map(c_int::to_ne_bytes).concat();
        socket.set_bytes(libc::SOL_SOCKET, libc::SO_LINGER, &at_once);
    }
    // SAFETY: the call has no conditions.
    unsafe { libc::shutdown(socket.fd, libc::SHUT_RDWR) };
}

fn is_non_blocking(socket: &Socket) -> bool {
    // SAFETY: the call has no conditions.
    unsafe { client::fcntl(socket.fd, libc::F_GETFL, 0) & libc::O_NONBLOCK != 0 }
}

#[unsafe(no_mangle)]
pub extern "C" fn usrsctp_set_non_blocking(handle: Handle, on: c_int) -> c_int {
    let Some(socket) = socket_of(handle) else { return -1 };
    let flags = libc::O_RDWR | if on != 0 { libc::O_NONBLOCK } else { 0 };
    // SAFETY: the call has no conditions.
    unsafe { client::fcntl(socket.fd, libc::F_SETFL, flags as libc::c_ulong) }
}

#[unsafe(no_mangle)]
pub extern "C" fn usrsctp_get_non_blocking(handle: Handle) -> c_int {
    socket_of(handle).map_or(-1, |socket| is_non_blocking(&socket).into())
}

/// Returns 1, or 0 if the socket is not open, as does [`usrsctp_get_ulpinfo`].
#[unsafe(no_mangle)]
pub extern "C" fn usrsctp_set_ulpinfo(handle: Handle, ulp_info: *mut c_void) -> c_int {
    let Some(socket) = socket_of(handle) else { return 0 };
    socket.ulp_info.store(ulp_info, Ordering::Relaxed);
    1
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn usrsctp_get_ulpinfo(handle: Handle, ulp_info: *mut *mut c_void) -> c_int {
    let Some(socket) = socket_of(handle) else { return 0 };
    // SAFETY: as the program promises.
    unsafe { ulp_info.write(socket.ulp_info()) };
    1
}

#[unsafe(no_mangle)]
pub extern "C" fn usrsctp_set_upcall(handle: Handle, upcall: Option<Upcall>, argument: *mut c_void) -> c_int {
    let Some(socket) = socket_of(handle) else { return -1 };
    *lock(&socket.upcall) = upcall.map(|upcall| (upcall, AtomicPtr::new(argument)));
    if upcall.is_some() {
        watch(&socket);
    }
    0
}

#[unsafe(no_mangle)]
pub extern "C" fn usrsctp_get_events(handle: Handle) -> c_int {
    let Some(socket) = socket_of(handle) else { return -1 };
    let ready = ready_of(socket.fd) & if socket.idle.load(Ordering::Acquire) { !EPOLLOUT } else { !0 };
    EVENTS.iter().filter(|(_, bits)| ready & bits != 0).fold(0, |all, (bit, _)| all | bit)
}

/// Addresses of an association: those of Linux become those of the program.
unsafe fn addresses_of(
    handle: Handle,
    id: u32,
    out: *mut *mut sockaddr,
    ask: unsafe fn(c_int, i32, *mut *mut sockaddr) -> c_int,
) -> c_int {
    let Some(socket) = socket_of(handle) else { return -1 };
    let mut linux = ptr::null_mut();
    // SAFETY: `ask` writes a pointer to as many addresses as it returns.
    unsafe {
        let count = ask(socket.fd, id.cast_signed(), &raw mut linux);
        if count < 0 {
            return -1;
        }
        let packed = addresses(linux, count, End::Peer).unwrap_or_default();
        client::freeaddrs(linux);
        let packed: Vec<u8> = split(&packed).into_iter().flat_map(to_program).collect();
        out.write(given(&packed).cast());
        count
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn usrsctp_getpaddrs(handle: Handle, id: u32, out: *mut *mut sockaddr) -> c_int {
    // SAFETY: as the program promises.
    unsafe { addresses_of(handle, id, out, client::getpaddrs) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn usrsctp_getladdrs(handle: Handle, id: u32, out: *mut *mut sockaddr) -> c_int {
    // SAFETY: as the program promises.
    unsafe { addresses_of(handle, id, out, client::getladdrs) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn usrsctp_freepaddrs(all: *mut sockaddr) {
    // SAFETY: the memory is from `malloc`, or null.
    unsafe { libc::free(all.cast()) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn usrsctp_freeladdrs(all: *mut sockaddr) {
    // SAFETY: as above.
    unsafe { libc::free(all.cast()) }
}
