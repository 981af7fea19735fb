//! The functions of the C library that functions of this crate replace.

use libc::{
    c_char, c_int, c_uint, c_ulong, c_void, iovec, mmsghdr, msghdr, off_t, sockaddr, socklen_t, timespec,
};
use std::sync::atomic::{AtomicPtr, Ordering};

macro_rules! real {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {$(
        /// Calls the function of this name in the next library (`RTLD_NEXT`).
        ///
        /// The call may unwind, because a thread that is cancelled within it unwinds.
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

crate::each_call!(real);

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

/// Sets an integer option of the kernel's socket, and ignores an error.
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
