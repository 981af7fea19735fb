//! Adopts the SCTP sockets that this process inherited, when the process begins.

use crate::control;
use crate::host::host;
use crate::real;
use crate::table;
use libc::{c_int, sockaddr_un, socklen_t};
use records::Op;

/// Only descriptors below this number are checked for inherited sockets.
const INHERITED: c_int = 256;

/// True if the descriptor is connected to the host process (which runs the SCTP stack).
fn is_pair(fd: c_int) -> bool {
    let Some((host, host_len)) = host() else { return false };
    // SAFETY: zero is a valid address.
    let mut address: sockaddr_un = unsafe { std::mem::zeroed() };
    let mut len = size_of::<sockaddr_un>() as socklen_t;
    // SAFETY: the address outlives the call.
    let named = unsafe { real::getpeername(fd, (&raw mut address).cast(), &raw mut len) } == 0;
    named && len == host_len && address.sun_family == host.sun_family && address.sun_path == host.sun_path
}

/// Adds an inherited descriptor to the table if it is an SCTP socket.
fn adopt(fd: c_int) {
    if is_pair(fd) {
        let cookie = real::cookie(fd);
        if table::insert(fd, 0, cookie) {
            if let Some(entry) = table::find(fd) {
                entry.share();
            }
            // The request fails if the association has ended, because the host process has forgotten the
            // socket then. The socket can still be read.
            control::ask(cookie, Op::Attach, 0, 0, [&[]; 2], &mut []);
        }
    }
}

/// Adds to the table the SCTP sockets that this process inherited, for example by exec.
pub fn adopt_inherited() {
    if host().is_some() {
        (0..INHERITED).for_each(adopt);
    }
}
