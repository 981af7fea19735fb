//! Memory of the caller: structs with their size, bytes and texts.

use crate::fault::Fault;
use libc::{E2BIG, EFAULT, EINVAL};
use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;
use std::{ptr, slice};

/// Largest struct that is accepted, as for system calls of Linux: a page.
const LARGEST: usize = 4096;

/// Bytes of the first field.
const SIZE_FIELD: usize = size_of::<u32>();

/// A struct that begins with its size.
///
/// # Safety
/// Any bytes are a valid value of the type, and its first field is a `u32`, the size.
pub(crate) unsafe trait Versioned: Copy {
    /// Bytes of the struct in its first published version. No caller has fewer.
    const LEAST: usize;
}

/// A struct of zeros.
pub(crate) fn zeroed<T: Versioned>() -> T {
    // SAFETY: any bytes are a valid value of a versioned struct.
    unsafe { MaybeUninit::zeroed().assume_init() }
}

/// The size that the caller gives a struct.
///
/// # Safety
/// `at` is null or points to a `u32`, with any alignment.
unsafe fn size_at<T: Versioned>(at: *const T) -> Result<usize, Fault> {
    if at.is_null() {
        return Err(EFAULT.into());
    }
    // SAFETY: as the caller promises.
    let size = unsafe { at.cast::<u32>().read_unaligned() } as usize;
    if size < T::LEAST {
        return Err(Fault::new(EINVAL, "the size of a struct is not set"));
    }
    if size <= LARGEST { Ok(size) } else { Err(E2BIG.into()) }
}

/// Copies a struct of the caller. Fields that the caller does not know are zero in the copy. Fields that this
/// library does not know must be zero.
///
/// # Safety
/// `at` is null or points to as many readable bytes as the size that it begins with, with any alignment.
pub(crate) unsafe fn read<T: Versioned>(at: *const T) -> Result<T, Fault> {
    // SAFETY: a readable size, as the caller promises.
    let size = unsafe { size_at(at)? };
    let known = size.min(size_of::<T>());
    let mut copy = zeroed::<T>();
    // SAFETY: both have `known` bytes, and `copy` is ours alone. Any bytes are valid for it.
    unsafe { ptr::copy_nonoverlapping(at.cast::<u8>(), (&raw mut copy).cast::<u8>(), known) };
    // SAFETY: `size` bytes are readable, and `known` is not more.
    let tail = unsafe { slice::from_raw_parts(at.cast::<u8>().add(known), size - known) };
    match tail.iter().all(|&byte| byte == 0) {
        true => Ok(copy),
        false => Err(E2BIG.into()),
    }
}

/// A struct of the caller that this library fills.
pub(crate) struct Output<T> {
    at: *mut T,
    size: usize,
}

impl<T: Versioned> Output<T> {
    /// # Safety
    /// `at` is null or points to a struct that begins with its size in bytes. These bytes are
    /// readable and writable while the value exists. Any alignment will do.
    pub(crate) unsafe fn new(at: *mut T) -> Result<Self, Fault> {
        // SAFETY: a readable size, as the caller promises.
        Ok(Output { at, size: unsafe { size_at(at)? } })
    }

    pub(crate) fn write(&self, value: &T) {
        // SAFETY: `at` has `size` bytes, as the caller of `new` promised.
        unsafe { fill(self.at.cast(), self.size, value) }
    }

    /// Writes `values` to the elements of an array. Each element has the size that the first element states.
    ///
    /// # Safety
    /// There are `n` elements, each as in [`Self::new`].
    pub(crate) unsafe fn write_all(&self, n: usize, values: impl Iterator<Item = T>) {
        for (index, value) in values.take(n).enumerate() {
            // SAFETY: the element is one of the `n`, and has `size` bytes.
            unsafe { fill(self.at.cast::<u8>().add(index * self.size), self.size, &value) }
        }
    }
}

/// Writes a struct without the fields that the caller does not know, and zero for those that this library
/// does not know. The first field keeps the caller's size.
///
/// # Safety
/// `at` has `size` writable bytes, at least those of the first field.
unsafe fn fill<T: Versioned>(at: *mut u8, size: usize, value: &T) {
    let known = size.min(size_of::<T>());
    let from = ptr::from_ref(value).cast::<u8>();
    // SAFETY: `value` has `known` bytes, which are initialised, as the structs have no padding
    // (`tests/abi.rs`); `at` has `size` bytes. Memory of the caller does not overlap a value of ours.
    unsafe {
        at.cast::<u32>().write_unaligned(size as u32);
        ptr::copy_nonoverlapping(from.add(SIZE_FIELD), at.add(SIZE_FIELD), known - SIZE_FIELD);
        ptr::write_bytes(at.add(known), 0, size - known);
    }
}

/// Bytes of the caller.
///
/// # Safety
/// `at` is null or points to `len` readable bytes, which nobody changes during `'a`.
pub(crate) unsafe fn bytes<'a>(at: *const u8, len: usize) -> Result<&'a [u8], Fault> {
    match (at.is_null(), isize::try_from(len)) {
        (_, Ok(0)) => Ok(&[]),
        (false, Ok(_)) => {
            // SAFETY: as the caller promises, and `len` fits an `isize`.
            Ok(unsafe { slice::from_raw_parts(at, len) })
        }
        _ => Err(EFAULT.into()),
    }
}

/// Values of the caller; at most `most` are read.
///
/// # Safety
/// `at` is null or points to `n` values, with any alignment.
pub(crate) unsafe fn array<T: Copy>(at: *const T, n: u32, most: usize) -> Result<Vec<T>, Fault> {
    if at.is_null() && n > 0 {
        return Err(EFAULT.into());
    }
    // SAFETY: `index` is less than `n`, and as the caller promises.
    Ok((0..most.min(n as usize)).map(|index| unsafe { at.add(index).read_unaligned() }).collect())
}

/// A text of the caller, which ends with a zero byte.
///
/// # Safety
/// `at` is null or points to a text that ends with a zero byte, and nobody changes it during `'a`.
pub(crate) unsafe fn text<'a>(at: *const c_char) -> Result<&'a str, Fault> {
    if at.is_null() {
        return Err(EFAULT.into());
    }
    // SAFETY: as the caller promises.
    let text = unsafe { CStr::from_ptr(at) };
    text.to_str().map_err(|_| Fault::new(EINVAL, "a text is not UTF-8"))
}

/// Memory of the caller for bytes or a text.
#[derive(Clone, Copy)]
pub(crate) struct Space {
    at: *mut u8,
    pub(crate) len: usize,
}

impl Space {
    /// # Safety
    /// `at` is null or points to `len` bytes that are writable while the value exists.
    pub(crate) unsafe fn new(at: *mut u8, len: usize) -> Result<Self, Fault> {
        match at.is_null() {
            true if len > 0 => Err(EFAULT.into()),
            true => Ok(Space { at: ptr::dangling_mut(), len }),
            false => Ok(Space { at, len }),
        }
    }

    /// Writes the bytes at position `from`, as many as there is room for.
    pub(crate) fn write(&self, from: usize, bytes: &[u8]) {
        let room = self.len.saturating_sub(from).min(bytes.len());
        if room > 0 {
            // SAFETY: `from + room` is at most `len`. `bytes` are ours and do not overlap memory that the
            // caller lets us write.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.at.add(from), room) }
        }
    }

    /// Writes zeros at position `from`, as many as there is room for.
    pub(crate) fn write_zeros(&self, from: usize, count: usize) {
        let room = self.len.saturating_sub(from).min(count);
        if room > 0 {
            // SAFETY: `from + room` is at most `len`.
            unsafe { ptr::write_bytes(self.at.add(from), 0, room) }
        }
    }
    /// Writes a text and a zero byte behind it.
    pub(crate) fn write_text(&self, text: &str) {
        self.write(0, text.as_bytes());
        self.write_zeros(text.len(), 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A struct whose first version had only the first two fields.
    #[repr(C)]
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Grown {
        size: u32,
        old: u32,
        new: u64,
    }

    // SAFETY: all fields are integers, and the first is the size.
    unsafe impl Versioned for Grown {
        const LEAST: usize = 8;
    }

    /// Reads a struct of this size that is followed by other data of the caller.
    fn read_with(size: u32) -> Result<Grown, i32> {
        let memory = [Grown { size, old: 1, new: 2 }; 3];
        // SAFETY: there are 48 bytes, more than any size of the tests that is read.
        unsafe { read(memory.as_ptr()) }.map_err(|fault| fault.errno)
    }

    #[test]
    fn fields_that_an_older_caller_does_not_have_are_zero() {
        assert_eq!(read_with(8), Ok(Grown { size: 8, old: 1, new: 0 }));
        assert_eq!(read_with(16), Ok(Grown { size: 16, old: 1, new: 2 }));
        assert_eq!(read_with(7), Err(EINVAL), "no version is that short");
        assert_eq!(read_with(24), Err(E2BIG), "a newer caller has set a field behind");
    }

    #[test]
    fn an_older_caller_gets_its_own_fields_only() {
        let mut memory = [Grown { size: 8, old: 5, new: 6 }; 2];
        // SAFETY: there are 32 bytes.
        let output = unsafe { Output::new(memory.as_mut_ptr()) }.expect("a size");
        output.write(&Grown { size: 16, old: 7, new: 8 });
        assert_eq!(memory[0], Grown { size: 8, old: 7, new: 6 });
    }
}
