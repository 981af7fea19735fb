//! Requests to the host process (which runs the SCTP stack), each on a connection of its own, so that
//! threads and forked processes share no state.

use crate::host;
use crate::real;
use crate::table::{self, Entry};
use crate::vectors;
use libc::{c_int, iovec};
use records::{Answer, Op, Request, switches};
use std::sync::atomic::Ordering;

/// Size of the buffers for requests and answers.
pub const ROOM: usize = Request::LEN + Request::MAX_BODY;

/// Connects to the process with the SCTP stack. Returns the descriptor, or -1 and errno.
pub fn dial(flags: c_int) -> c_int {
    let Some((address, len)) = host::host() else { return real::fail(libc::EPROTONOSUPPORT) };
    // SAFETY: the address is a static one.
    unsafe {
        let fd = real::socket(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC | flags, 0);
        if fd >= 0 && real::connect(fd, (&raw const *address).cast(), len) != 0 {
            real::close(fd);
            return real::fail(libc::EPROTONOSUPPORT);
        }
        fd
    }
}

/// Asks the host process, and copies the body of the answer to `result`. Returns the value of the answer, or
/// -1 and errno, and the length of the body.
pub fn ask(
    cookie: u64,
    op: Op,
    first: c_int,
    second: c_int,
    parts: [&[u8]; 2],
    result: &mut [u8],
) -> (c_int, usize) {
    let mut bytes = [0_u8; ROOM];
    let request = Request { op, cookie, first, second };
    let mut len = 0;
    for part in [&request.to_bytes()[..], parts[0], parts[1]] {
        let Some(place) = bytes.get_mut(len..len + part.len()) else {
            return (real::fail(libc::EINVAL), 0);
        };
        place.copy_from_slice(part);
        len += part.len();
    }
    let iov = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: len };
    let received = exchange(iov, &mut bytes, &mut None);
    let answer = usize::try_from(received).ok().and_then(|len| bytes.get(..len)).and_then(Answer::parse);
    let Some((answer, body)) = answer else { return (real::fail(libc::ENETDOWN), 0) };
    if answer.value < 0 {
        return (real::fail(-answer.value), 0);
    }
    table::set_switches(cookie, answer.switches);
    let len = body.len().min(result.len());
    result[..len].copy_from_slice(&body[..len]);
    (answer.value, body.len())
}

/// True unless a one-to-one socket has never had an association. Asks the host process if this process does
/// not know of one: another process may have connected the socket.
pub fn is_associated(entry: &Entry) -> bool {
    let known = switches::MANY | switches::ASSOCIATED;
    let cookie = entry.cookie.load(Ordering::Relaxed);
    // The request fails if the host process no longer has the socket: its association ended long ago.
    entry.has(known) || ask(cookie, Op::Attach, 0, 0, [&[]; 2], &mut []).0 < 0 || entry.has(known)
}

/// Sends a request, and receives its answer, which may carry a descriptor. Returns the length of the answer.
pub fn exchange(mut sent: iovec, answer: &mut [u8], descriptor: &mut Option<c_int>) -> isize {
    let fd = dial(0);
    if fd < 0 {
        return real::fail(libc::ENETDOWN) as isize;
    }
    let request = vectors::message((&raw mut sent, 1));
    let mut space = iovec { iov_base: answer.as_mut_ptr().cast(), iov_len: answer.len() };
    let mut control = [0_u64; 8];
    // SAFETY: the buffers outlive the calls.
    unsafe {
        let mut received = real::sendmsg(fd, &raw const request, libc::MSG_NOSIGNAL);
        let mut message = vectors::message((&raw mut space, 1));
        while received >= 0 {
            (message.msg_control, message.msg_controllen) =
                (control.as_mut_ptr().cast(), size_of_val(&control));
            received = real::recvmsg(fd, &raw mut message, libc::MSG_CMSG_CLOEXEC);
            if received >= 0 || real::errno() != libc::EINTR {
                break;
            }
            received = 0;
        }
        real::close(fd);
        let first = libc::CMSG_FIRSTHDR(&raw const message);
        if received >= 0 && !first.is_null() && (*first).cmsg_type == libc::SCM_RIGHTS {
            *descriptor = Some(libc::CMSG_DATA(first).cast::<c_int>().read_unaligned());
        }
        received
    }
}
