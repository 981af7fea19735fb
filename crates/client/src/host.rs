//! The address of the host process, which runs the SCTP stack.

use libc::{sa_family_t, sockaddr_un, socklen_t};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

type Address = (sockaddr_un, socklen_t);

/// The address that [`attach`] stored; null: the environment gives the address.
static ATTACHED: AtomicPtr<Address> = AtomicPtr::new(std::ptr::null_mut());

/// The address of the process with the SCTP stack; `None` if none is known.
pub fn host() -> Option<(&'static sockaddr_un, socklen_t)> {
    static HOST: OnceLock<Option<Address>> = OnceLock::new();
    // SAFETY: an attached address is never freed.
    let attached = unsafe { ATTACHED.load(Ordering::Acquire).as_ref() };
    attached.or_else(|| HOST.get_or_init(find_host).as_ref()).map(|(address, len)| (address, *len))
}

/// Makes later sockets use the host process that listens at this path. A path that begins with
/// `@` is a name in the abstract namespace.
///
/// Returns false if the path is empty or too long. The address stays in memory until the process ends.
pub fn attach(path: &[u8]) -> bool {
    let Some(address) = address_of(path) else { return false };
    ATTACHED.store(Box::into_raw(Box::new(address)), Ordering::Release);
    true
}

/// True if TCP sockets of the program become SCTP sockets.
pub fn takes_tcp() -> bool {
    static TAKES: OnceLock<bool> = OnceLock::new();
    // SAFETY: the name ends with NUL.
    *TAKES.get_or_init(|| unsafe { !libc::getenv(c"ANABRANCH_TCP_AS_SCTP".as_ptr()).is_null() })
}

fn find_host() -> Option<Address> {
    // SAFETY: the name ends with NUL; the value, too.
    let path = unsafe {
        let path = libc::getenv(c"ANABRANCH_SOCKET".as_ptr());
        if path.is_null() {
            return None;
        }
        std::ffi::CStr::from_ptr(path).to_bytes()
    };
    address_of(path)
}

fn address_of(path: &[u8]) -> Option<Address> {
    let mut address = sockaddr_un { sun_family: libc::AF_UNIX as sa_family_t, sun_path: [0; 108] };
    if path.is_empty() || path.len() >= address.sun_path.len() {
        return None;
    }
    for (place, &byte) in address.sun_path.iter_mut().zip(path) {
        *place = byte.cast_signed();
    }
    let len = size_of::<sa_family_t>() + path.len();
    // A path ends with NUL. A name of the abstract namespace begins with NUL, and has none at its end.
    let abstract_name = path.first() == Some(&b'@');
    if abstract_name {
        address.sun_path[0] = 0;
    }
    Some((address, (len + usize::from(!abstract_name)) as socklen_t))
}
