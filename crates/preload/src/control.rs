//! Requests to the host process, each on a connection of its own: no state to share, to fork or to lock.

use crate::host;
use crate::real;
use crate::table;
use libc::{c_int, c_void};
use records::{Answer, Op, Request};

/// Size of the buffers for bodies.
pub const ROOM: usize = Request::LEN + Request::MAX_BODY;

/// Connects to the host process; the descriptor, or -1 and errno.
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

/// Asks the host process. Returns the value of the answer, or -1 and errno; `result` gets the body of the
/// answer, and its length is returned.
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
    let fd = dial(0);
    if fd < 0 {
        return (real::fail(libc::ENETDOWN), 0);
    }
    // SAFETY: the buffers outlive the calls.
    let received = unsafe {
        let sent = real::send(fd, bytes.as_ptr().cast(), len, libc::MSG_NOSIGNAL);
        let received = if sent < 0 { sent } else { wait(fd, &mut bytes) };
        real::close(fd);
        received
    };
    let answer = usize::try_from(received).ok().and_then(|len| bytes.get(..len)).and_then(Answer::parse);
    let Some((answer, body)) = answer else { return (real::fail(libc::ENETDOWN), 0) };
    table::set_switches(cookie, answer.switches);
    if answer.value < 0 {
        return (real::fail(-answer.value), 0);
    }
    let len = body.len().min(result.len());
    result[..len].copy_from_slice(&body[..len]);
    (answer.value, body.len())
}

unsafe fn wait(fd: c_int, bytes: &mut [u8; ROOM]) -> isize {
    loop {
        // SAFETY: the buffer has this size.
        let received = unsafe { real::recv(fd, bytes.as_mut_ptr().cast::<c_void>(), ROOM, 0) };
        if received >= 0 || real::errno() != libc::EINTR {
            return received;
        }
    }
}
