//! `socket`, `bind`, `connect`, `listen` and `accept`.

use crate::control::{ask, dial};
use crate::host;
use crate::message::{give_address, slice, sockaddr_bytes};
use crate::real::{self, errno, fail};
use crate::receive::{is_nonblocking, take_error, wait_for_room, wait_until};
use crate::table::{self, Entry};
use crate::vectors::{self, Vectors};
use libc::{c_int, sockaddr, socklen_t};
use records::{Answer, Header, Kind, Op, PAIR_BUFFER, Request, number, switches};
use std::sync::atomic::Ordering;

/// Largest ballast (a record of zeros that only fills the send buffer) in bytes. It fills less than a
/// quarter of a send buffer of more than 1 MiB.
const BALLAST: usize = 262_144;
static ZEROS: [u8; BALLAST] = [0; BALLAST];

pub unsafe extern "C-unwind" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    if !is_wanted(domain, kind, protocol) || host::host().is_none() {
        // SAFETY: the call has no conditions.
        return unsafe { real::socket(domain, kind, protocol) };
    }
    let style = kind & 0xf;
    let fd = dial(0);
    if fd < 0 {
        return -1;
    }
    let opened = greet(fd, domain, style);
    // SAFETY: the descriptor is ours.
    unsafe {
        if let Err(error) = opened {
            real::close(fd);
            return fail(error);
        }
        if kind & libc::SOCK_CLOEXEC == 0 {
            real::fcntl(fd, libc::F_SETFD, 0);
        }
        if kind & libc::SOCK_NONBLOCK != 0 {
            real::fcntl(fd, libc::F_SETFL, (libc::O_RDWR | libc::O_NONBLOCK) as libc::c_ulong);
        }
    }
    fd
}

/// True if the process with the SCTP stack is to run the socket: SCTP, or TCP if TCP is to become SCTP. Other
/// sockets of this protocol, such as raw ones, are those of the kernel.
fn is_wanted(domain: c_int, kind: c_int, protocol: c_int) -> bool {
    let sctp = protocol == number::SCTP && matches!(kind & 0xf, libc::SOCK_STREAM | libc::SOCK_SEQPACKET);
    let tcp = kind & 0xf == libc::SOCK_STREAM && matches!(protocol, 0 | libc::IPPROTO_TCP);
    matches!(domain, libc::AF_INET | libc::AF_INET6) && (sctp || tcp && host::takes_tcp())
}

/// Sends the domain and the style of a new socket to the host
/// process (which runs the SCTP stack), and waits for the answer.
fn greet(fd: c_int, domain: c_int, style: c_int) -> Result<(), c_int> {
    real::set_native(fd, libc::SO_SNDBUF, PAIR_BUFFER as c_int);
    let cookie = real::cookie(fd);
    let mut hello = Header::new(Kind::Hello);
    hello.set_cookie(cookie);
    (hello.value, hello.policy) = (domain as u32, style as u16);
    let mut bytes = hello.to_bytes();
    // SAFETY: the bytes outlive the calls.
    let received = unsafe {
        real::send(fd, bytes.as_ptr().cast(), bytes.len(), libc::MSG_NOSIGNAL);
        real::recv(fd, bytes.as_mut_ptr().cast(), bytes.len(), 0)
    };
    match Header::parse(&bytes) {
        Some(Header { kind: Kind::Hello, value: 0, .. }) if received == Header::LEN as isize => {}
        Some(Header { kind: Kind::Hello, value, .. }) if value != 0 => return Err(value.cast_signed()),
        _ => return Err(libc::EPROTONOSUPPORT),
    }
    let mut switched = if style == libc::SOCK_SEQPACKET { switches::MANY } else { 0 };
    switched |= if domain == libc::AF_INET6 { switches::MAPPED } else { 0 };
    begin(fd, switched, cookie)
}

/// Adds a new socket to the table.
pub fn begin(fd: c_int, switched: u16, cookie: u64) -> Result<(), c_int> {
    real::set_native(fd, libc::SO_PEEK_OFF, 0);
    if table::insert(fd, switched, cookie) { Ok(()) } else { Err(libc::EMFILE) }
}

fn request(entry: &Entry, op: Op, first: c_int, body: &[u8]) -> c_int {
    ask(entry.cookie.load(Ordering::Relaxed), op, first, 0, [body, &[]], &mut []).0
}

pub unsafe extern "C-unwind" fn bind(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int {
    // SAFETY: the arguments are those of the program.
    unsafe {
        match table::find(fd) {
            Some(entry) => request(entry, Op::Bind, 0, slice(address.cast(), len)),
            None => real::bind(fd, address, len),
        }
    }
}

pub unsafe extern "C-unwind" fn listen(fd: c_int, backlog: c_int) -> c_int {
    match table::find(fd) {
        Some(entry) => {
            let listened = entry.has(switches::LISTENS);
            let done = request(entry, Op::Listen, backlog, &[]);
            if done == 0 && !listened && !entry.has(switches::MANY) {
                // As in Linux, poll must never report a listening socket as writable. So
                // a ballast (a record that only takes room) stays in the send buffer.
                send_ballast(fd);
            }
            done
        }
        // SAFETY: the call has no conditions.
        None => unsafe { real::listen(fd, backlog) },
    }
}

pub unsafe extern "C-unwind" fn connect(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int {
    // SAFETY: the arguments are those of the program.
    unsafe {
        match table::find(fd) {
            Some(entry) => begin_association(fd, entry, first(slice(address.cast(), len)), &mut 0),
            None => real::connect(fd, address, len),
        }
    }
}

/// The bytes of an address without those that follow: programs give the length of a `sockaddr_storage`, too.
fn first(bytes: &[u8]) -> &[u8] {
    let family = bytes.first_chunk().map_or(0, |&family| u16::from_ne_bytes(family));
    let len = match c_int::from(family) {
        libc::AF_INET => size_of::<libc::sockaddr_in>(),
        _ => size_of::<libc::sockaddr_in6>(),
    };
    bytes.get(..len).unwrap_or(bytes)
}

/// Sends a ballast: zeros that fill more than a quarter of the send buffer. The socket is then not writable
/// until the host process, at the other end, reads them. After an error, sets errno and returns false.
fn send_ballast(fd: c_int) -> bool {
    let len = usize::try_from(real::get_native(fd, libc::SO_SNDBUF)).unwrap_or(0) / 4 + 4096;
    let mut ballast = Header::new(Kind::Ballast);
    ballast.length = len.min(BALLAST) as u32;
    let mut vectors = Vectors::one(ZEROS.as_ptr().cast_mut().cast(), len.min(BALLAST));
    vectors.set_header(&ballast);
    let message = vectors::message(vectors.with_header());
    // SAFETY: the buffers are static or outlive the call.
    unsafe { real::sendmsg(fd, &raw const message, libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL) >= 0 }
}

/// Waits until an association of a one-to-many socket is up. Returns false and sets errno if it fails. Other
/// associations of the socket are not disturbed, as they would be by a ballast.
fn wait_for_answer(fd: c_int, entry: &Entry, association: c_int) -> bool {
    let control = dial(0);
    if control < 0 {
        return false;
    }
    let cookie = entry.cookie.load(Ordering::Relaxed);
    let request = Request { op: Op::Outcome, cookie, first: association, second: 0 }.to_bytes();
    let mut bytes = [0; Answer::LEN];
    // SAFETY: the bytes outlive the calls, and the descriptor is ours.
    let received = unsafe {
        real::send(control, request.as_ptr().cast(), request.len(), libc::MSG_NOSIGNAL);
        let waited = wait_until(fd, control, libc::POLLIN);
        let error = errno();
        let received = real::recv(control, bytes.as_mut_ptr().cast(), bytes.len(), libc::MSG_DONTWAIT);
        real::close(control);
        if !waited {
            return fail(error) >= 0;
        }
        received
    };
    match Answer::parse(&bytes).filter(|_| received == Answer::LEN as isize) {
        Some((answer, _)) if answer.value >= 0 => true,
        answer => fail(answer.map_or(libc::ENETDOWN, |(answer, _)| -answer.value)) >= 0,
    }
}

/// Connects to the addresses, which are packed as for `sctp_connectx`. Returns 0, or -1 and errno. Writes
/// the number of the association to `id`, also if the call returns before the association is up.
pub fn begin_association(fd: c_int, entry: &Entry, addresses: &[u8], id: &mut c_int) -> c_int {
    if addresses.len() > Request::MAX_BODY {
        return fail(libc::EINVAL);
    }
    let many = entry.has(switches::MANY);
    // The host process reads the ballast when the association is up or has failed.
    if !many && !send_ballast(fd) {
        let already = matches!(errno(), libc::EAGAIN);
        return fail(if already { libc::EALREADY } else { libc::EISCONN });
    }
    entry.streams.store(0, Ordering::Relaxed);
    let begun = request(entry, Op::Connect, 0, addresses);
    if begun < 0 {
        return -1;
    }
    *id = begun;
    if is_nonblocking(fd) {
        return fail(libc::EINPROGRESS);
    }
    let waited = if many { wait_for_answer(fd, entry, begun) } else { wait_for_room(fd) };
    if !waited {
        return if errno() == libc::EAGAIN { fail(libc::EINPROGRESS) } else { -1 };
    }
    if many {
        return 0;
    }
    match take_error(fd, entry) {
        0 => 0,
        error => fail(error),
    }
}

pub unsafe extern "C-unwind" fn accept(fd: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int {
    // SAFETY: the arguments are those of the program.
    unsafe {
        match table::find(fd) {
            Some(entry) => take(fd, entry, address, len, 0),
            None => real::accept(fd, address, len),
        }
    }
}

pub unsafe extern "C-unwind" fn accept4(
    fd: c_int,
    address: *mut sockaddr,
    len: *mut socklen_t,
    flags: c_int,
) -> c_int {
    // SAFETY: the arguments are those of the program.
    unsafe {
        match table::find(fd) {
            Some(entry) => take(fd, entry, address, len, flags),
            None => real::accept4(fd, address, len, flags),
        }
    }
}

/// Takes the next association of a listening socket.
unsafe fn take(
    fd: c_int,
    entry: &Entry,
    address: *mut sockaddr,
    address_len: *mut socklen_t,
    flags: c_int,
) -> c_int {
    if entry.has(switches::MANY) {
        return fail(libc::EOPNOTSUPP);
    }
    if !entry.has(switches::LISTENS) {
        return fail(libc::EINVAL);
    }
    let mut vectors = Vectors::one(std::ptr::null_mut(), 0);
    let mut control = [0_u64; 8];
    let mut message = vectors::message(vectors.with_header());
    (message.msg_control, message.msg_controllen) = (control.as_mut_ptr().cast(), size_of_val(&control));
    let close_on_exec = if flags & libc::SOCK_CLOEXEC != 0 { libc::MSG_CMSG_CLOEXEC } else { 0 };
    // SAFETY: the buffers outlive the calls.
    unsafe {
        let received = real::recvmsg(fd, &raw mut message, close_on_exec);
        if received <= 0 {
            return if received == 0 { fail(libc::EINVAL) } else { -1 };
        }
        let first = libc::CMSG_FIRSTHDR(&raw const message);
        let (Some(header), false) = (vectors.header(), first.is_null()) else { return fail(libc::EPROTO) };
        if header.kind != Kind::Accepted || (*first).cmsg_type != libc::SCM_RIGHTS {
            return fail(libc::EPROTO);
        }
        let new = libc::CMSG_DATA(first).cast::<c_int>().read_unaligned();
        if let Err(error) = begin(new, header.value as u16, header.cookie()) {
            real::close(new);
            return fail(error);
        }
        if flags & libc::SOCK_NONBLOCK != 0 {
            real::fcntl(new, libc::F_SETFL, (libc::O_RDWR | libc::O_NONBLOCK) as libc::c_ulong);
        }
        let (bytes, len) = sockaddr_bytes(&header, entry.has(switches::MAPPED));
        give_address(&bytes[..len], address, address_len);
        new
    }
}
