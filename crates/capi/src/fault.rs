//! Errors: a number of `errno.h`, and a sentence where there is one.

use libc::*;
use std::ffi::{CStr, c_int};
use std::fmt::Display;

/// Why a call failed.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(crate) errno: c_int,
    why: Option<String>,
}

impl Fault {
    pub(crate) fn new(errno: c_int, why: impl Display) -> Self {
        Fault { errno, why: Some(why.to_string()) }
    }

    /// The sentence that says what is wrong.
    pub(crate) fn sentence(&self) -> &str {
        self.why.as_deref().unwrap_or_else(|| sentence(self.errno).to_str().unwrap_or_default())
    }
}

impl From<c_int> for Fault {
    fn from(errno: c_int) -> Self {
        Fault { errno, why: None }
    }
}

/// The longest beginning of a text with at most `most` bytes that does not cut a character.
pub(crate) fn cut(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// A sentence for each number that a call returns.
pub(crate) fn sentence(errno: c_int) -> &'static CStr {
    match errno.wrapping_abs() {
        0 => c"no error",
        E2BIG => c"a struct has fields that this library does not know",
        EADDRNOTAVAIL => c"no remote address can be reached from an address of the endpoint",
        EAGAIN => c"nothing can be done now: an event will say when",
        EBUSY => c"another call uses the endpoint, or the option cannot change any more",
        EFAULT => c"a pointer is NULL",
        EINVAL => c"an argument has a value that is not allowed",
        EIO => c"the endpoint failed in an earlier call: free it",
        EISCONN => c"there is an association with the peer already",
        EMFILE => c"the endpoint has its largest number of associations",
        EMSGSIZE => c"the message is longer than the send buffer",
        ENOBUFS => c"the buffer is shorter than the packet",
        ENOENT => c"there is no such name",
        ENOTCONN => c"there is no such association",
        EPERM => c"the association refuses the change",
        EPIPE => c"the association has ended, or is being shut down",
        EPROTO => c"the program was compiled for another version of the library",
        _ => c"unknown error",
    }
}
