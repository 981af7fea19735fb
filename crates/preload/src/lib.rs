//! A library for `LD_PRELOAD` that gives an unmodified program SCTP sockets, which a host process runs: the
//! functions of crate `client` under the names of those of the C library.
#![allow(clippy::missing_safety_doc, reason = "the functions are those of the C library")]
#![allow(missing_docs, reason = "the functions are those of the C library")]
#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]

use libc::{c_int, c_uint, c_ulong, c_void, iovec, mmsghdr, msghdr, off_t, sockaddr, socklen_t, timespec};

macro_rules! replace {
    ($($name:ident($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {$(
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name($($argument: $kind),*) -> $result {
            // SAFETY: the arguments are those of the program.
            unsafe { keeping_errno(|| client::$name($($argument),*)) }
        }
    )*};
}

client::each_call!(replace);

/// A call that succeeds does not change errno, as no system call does.
fn keeping_errno<T: PartialOrd + Default>(call: impl FnOnce() -> T) -> T {
    // SAFETY: errno of this thread is always valid.
    let before = unsafe { *libc::__errno_location() };
    let result = call();
    if result >= T::default() {
        // SAFETY: as above.
        unsafe { *libc::__errno_location() = before };
    }
    result
}

#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn closefrom(first: c_int) {
    // SAFETY: the call has no conditions.
    unsafe { client::closefrom(first) }
}

/// As `fork`: a child of vfork has the memory of its parent, so that each `close` and `dup2` of the child
/// would change what the parent knows of its sockets.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn vfork() -> libc::pid_t {
    // SAFETY: the call has no conditions.
    unsafe { libc::fork() }
}

extern "C" fn start() {
    client::adopt_inherited();
}

#[used]
#[unsafe(link_section = ".init_array")]
static START: extern "C" fn() = start;
