//! The memory and errno of the program.

use libc::{c_int, c_void, socklen_t};

/// The bytes at an address of the program; none if it is null.
///
/// # Safety
/// The address is null, or `len` bytes are there.
pub unsafe fn bytes<'a>(at: *const c_void, len: usize) -> &'a [u8] {
    // SAFETY: as the caller promises.
    if at.is_null() { &[] } else { unsafe { std::slice::from_raw_parts(at.cast(), len) } }
}

/// A copy of the bytes in memory that the program frees; null if there is none.
pub fn given(bytes: &[u8]) -> *mut c_void {
    // SAFETY: the memory has room for as many bytes.
    unsafe {
        let memory = libc::malloc(bytes.len().max(1));
        if !memory.is_null() {
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), memory.cast(), bytes.len());
        }
        memory
    }
}

/// Sets errno, and returns -1.
pub fn fail(error: c_int) -> c_int {
    // SAFETY: errno of this thread is always valid.
    unsafe { *libc::__errno_location() = error };
    -1
}

/// Copies as many bytes as there is room for, and writes their number.
///
/// # Safety
/// The pointers are null, or `len` points to the number of bytes for which there is room at `to`.
pub unsafe fn give(data: &[u8], to: *mut c_void, len: *mut socklen_t) {
    if !to.is_null() && !len.is_null() {
        // SAFETY: the program promises room for `*len` bytes.
        unsafe {
            std::ptr::copy_nonoverlapping(data.as_ptr(), to.cast(), data.len().min(*len as usize));
            *len = data.len() as socklen_t;
        }
    }
}
