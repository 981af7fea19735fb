//! The address of the host process.

use libc::{sa_family_t, sockaddr_un, socklen_t};
use std::sync::OnceLock;

/// The address of the host process; none if there is none.
pub fn host() -> Option<(&'static sockaddr_un, socklen_t)> {
    static HOST: OnceLock<Option<(sockaddr_un, socklen_t)>> = OnceLock::new();
    HOST.get_or_init(find_host).as_ref().map(|(address, len)| (address, *len))
}

/// True if TCP sockets of the program become SCTP sockets.
pub fn takes_tcp() -> bool {
    static TAKES: OnceLock<bool> = OnceLock::new();
    // SAFETY: the name ends with NUL.
    *TAKES.get_or_init(|| unsafe { !libc::getenv(c"ANABRANCH_TCP_AS_SCTP".as_ptr()).is_null() })
}

fn find_host() -> Option<(sockaddr_un, socklen_t)> {
    // SAFETY: the name ends with NUL; the value, too.
    let path = unsafe {
        let path = libc::getenv(c"ANABRANCH_SOCKET".as_ptr());
        if path.is_null() {
            return None;
        }
        std::ffi::CStr::from_ptr(path).to_bytes()
    };
    let mut address = sockaddr_un { sun_family: libc::AF_UNIX as sa_family_t, sun_path: [0; 108] };
    if path.is_empty() || path.len() >= address.sun_path.len() {
        return None;
    }
    for (place, &byte) in address.sun_path.iter_mut().zip(path) {
        *place = byte.cast_signed();
    }
    let len = size_of::<sa_family_t>() + path.len();
    // The name of a path ends with NUL; that of the abstract namespace begins with it.
    let abstract_name = path.first() == Some(&b'@');
    if abstract_name {
        address.sun_path[0] = 0;
    }
    Some((address, (len + usize::from(!abstract_name)) as socklen_t))
}
