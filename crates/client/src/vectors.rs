//! Lists of buffers with room for a header before them.

use libc::{c_void, iovec};
use records::Header;

/// Largest number of the program's buffers in one record.
pub const MOST: usize = 62;

/// A record's header, and the program's buffers for the data behind it.
pub struct Vectors {
    header: [u8; Header::LEN],
    list: [iovec; MOST + 1],
    count: usize,
    /// Bytes of the program's buffers.
    pub total: usize,
}

impl Vectors {
    /// Takes the program's buffers, only the first [`MOST`] if there are more.
    ///
    /// # Safety
    /// `vectors` points to `count` buffers.
    pub unsafe fn new(vectors: *const iovec, count: usize) -> Self {
        let none = iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let mut all = Vectors { header: [0; Header::LEN], list: [none; MOST + 1], count: 0, total: 0 };
        for n in 0..count.min(MOST) {
            // SAFETY: `n` is less than `count`.
            let vector = unsafe { *vectors.add(n) };
            all.list[n + 1] = vector;
            all.total += vector.iov_len;
            all.count += 1;
        }
        all
    }

    pub fn one(buffer: *mut c_void, len: usize) -> Self {
        let vector = iovec { iov_base: buffer, iov_len: len };
        // SAFETY: there is one buffer.
        unsafe { Self::new(&raw const vector, 1) }
    }

    pub fn set_header(&mut self, header: &Header) {
        self.header = header.to_bytes();
    }

    pub fn header(&self) -> Option<Header> {
        Header::parse(&self.header)
    }

    /// The header and the buffers, for a system call.
    pub fn with_header(&mut self) -> (*mut iovec, usize) {
        let base = self.header.as_mut_ptr().cast();
        self.list[0] = iovec { iov_base: base, iov_len: Header::LEN };
        (self.list.as_mut_ptr(), self.count + 1)
    }

    /// The buffers alone.
    pub fn without_header(&mut self) -> (*mut iovec, usize) {
        (self.list[1..].as_mut_ptr(), self.count)
    }

    /// The part of the buffers from byte `from` with at most `len` bytes.
    pub fn part(&self, mut from: usize, mut len: usize) -> Self {
        let mut part = Vectors { header: self.header, list: self.list, count: 0, total: 0 };
        for vector in &self.list[1..=self.count] {
            let skipped = from.min(vector.iov_len);
            from -= skipped;
            let taken = len.min(vector.iov_len - skipped);
            len -= taken;
            if taken > 0 {
                let base = vector.iov_base.cast::<u8>().wrapping_add(skipped).cast();
                part.count += 1;
                part.list[part.count] = iovec { iov_base: base, iov_len: taken };
                part.total += taken;
            }
        }
        part
    }
}

/// A message header for the system, around a list of buffers.
pub fn message((list, count): (*mut iovec, usize)) -> libc::msghdr {
    libc::msghdr {
        msg_name: std::ptr::null_mut(),
        msg_namelen: 0,
        msg_iov: list,
        msg_iovlen: count,
        msg_control: std::ptr::null_mut(),
        msg_controllen: 0,
        msg_flags: 0,
    }
}
