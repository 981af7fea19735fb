//! The functions of the C library that this library replaces.

use libc::{
    c_char, c_int, c_uint, c_ulong, c_void, iovec, mmsghdr, msghdr, off_t, sockaddr, socklen_t, timespec,
};
use std::sync::atomic::{AtomicPtr, Ordering};

macro_rules! real {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {$(
        /// Calls the next definition of this function.
        ///
        /// Its unwinding is that of a cancelled thread.
        pub unsafe fn $name($($argument: $kind),*) -> $result {
            static NEXT: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
            let mut next = NEXT.load(Ordering::Relaxed);
            if next.is_null() {
                let name = concat!(stringify!($name), "\0").as_ptr().cast::<c_char>();
                // SAFETY: the name ends with NUL.
                next = unsafe { libc::dlsym(libc::RTLD_NEXT, name) };
                NEXT.store(next, Ordering::Relaxed);
            }
            if next.is_null() {
                return fail(libc::ENOSYS) as $result;
            }
            // SAFETY: the C library defines the function with this signature.
            let function: unsafe extern "C-unwind" fn($($kind),*) -> $result =
                unsafe { std::mem::transmute(next) };
            // SAFETY: the arguments are those of the program.
            unsafe { function($($argument),*) }
        }
    )*};
}

real! {
    socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    bind(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int;
    connect(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int;
    listen(fd: c_int, backlog: c_int) -> c_int;
    accept(fd: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int;
    accept4(fd: c_int, address: *mut sockaddr, len: *mut socklen_t, flags: c_int) -> c_int;
    shutdown(fd: c_int, how: c_int) -> c_int;
    close(fd: c_int) -> c_int;
    close_range(first: c_uint, last: c_uint, flags: c_int) -> c_int;
    dup(fd: c_int) -> c_int;
    dup2(fd: c_int, to: c_int) -> c_int;
    dup3(fd: c_int, to: c_int, flags: c_int) -> c_int;
    fcntl(fd: c_int, command: c_int, argument: c_ulong) -> c_int;
    fcntl64(fd: c_int, command: c_int, argument: c_ulong) -> c_int;
    ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int;
    read(fd: c_int, buffer: *mut c_void, len: usize) -> isize;
    readv(fd: c_int, vectors: *const iovec, count: c_int) -> isize;
    __read_chk(fd: c_int, buffer: *mut c_void, len: usize, size: usize) -> isize;
    recv(fd: c_int, buffer: *mut c_void, len: usize, flags: c_int) -> isize;
    __recv_chk(fd: c_int, buffer: *mut c_void, len: usize, size: usize, flags: c_int) -> isize;
    recvfrom(fd: c_int, buffer: *mut c_void, len: usize, flags: c_int, address: *mut sockaddr,
        address_len: *mut socklen_t) -> isize;
    __recvfrom_chk(fd: c_int, buffer: *mut c_void, len: usize, size: usize, flags: c_int,
        address: *mut sockaddr, address_len: *mut socklen_t) -> isize;
    recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> isize;
    write(fd: c_int, buffer: *const c_void, len: usize) -> isize;
    writev(fd: c_int, vectors: *const iovec, count: c_int) -> isize;
    send(fd: c_int, buffer: *const c_void, len: usize, flags: c_int) -> isize;
    sendto(fd: c_int, buffer: *const c_void, len: usize, flags: c_int, address: *const sockaddr,
        address_len: socklen_t) -> isize;
    sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> isize;
    sendmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int;
    recvmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int, limit: *mut timespec) -> c_int;
    sendfile(to: c_int, from: c_int, place: *mut off_t, count: usize) -> isize;
    sendfile64(to: c_int, from: c_int, place: *mut off_t, count: usize) -> isize;
    getsockopt(fd: c_int, level: c_int, name: c_int, value: *mut c_void, len: *mut socklen_t) -> c_int;
    setsockopt(fd: c_int, level: c_int, name: c_int, value: *const c_void, len: socklen_t) -> c_int;
    getsockname(fd: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int;
    getpeername(fd: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int;
}

/// Sets errno and returns -1.
pub fn fail(error: c_int) -> c_int {
    // SAFETY: errno of this thread is always valid.
    unsafe { *libc::__errno_location() = error };
    -1
}

pub fn errno() -> c_int {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() }
}

/// Sets an integer option of a pair, which the kernel may refuse.
pub fn set_native(fd: c_int, name: c_int, value: c_int) {
    let len = size_of::<c_int>() as socklen_t;
    // SAFETY: the value outlives the call.
    let _ = unsafe { setsockopt(fd, libc::SOL_SOCKET, name, (&raw const value).cast(), len) };
}

/// An integer option of a descriptor; 0 if it has none.
pub fn get_native(fd: c_int, name: c_int) -> c_int {
    let (mut value, mut len): (c_int, socklen_t) = (0, 4);
    // SAFETY: the value outlives the call.
    let _ = unsafe { getsockopt(fd, libc::SOL_SOCKET, name, (&raw mut value).cast(), &raw mut len) };
    value
}

/// Cookie of a descriptor (`SO_COOKIE`).
pub fn cookie(fd: c_int) -> u64 {
    const SO_COOKIE: c_int = 57;
    let (mut cookie, mut len) = (0_u64, 8);
    // SAFETY: the value outlives the call.
    unsafe { getsockopt(fd, libc::SOL_SOCKET, SO_COOKIE, (&raw mut cookie).cast(), &raw mut len) };
    cookie
}
