//! Big-endian fields, and rounding to multiples of four bytes.

/// Reads the 16-bit field at offset `at`. The whole field must lie within `bytes`.
#[inline]
pub(crate) fn u16_at<const N: usize>(bytes: &[u8; N], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// Reads the 32-bit field at offset `at`. The whole field must lie within `bytes`.
#[inline]
pub(crate) fn u32_at<const N: usize>(bytes: &[u8; N], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// `length` rounded up to a multiple of four: the bytes with padding.
#[inline]
pub(crate) const fn padded(length: usize) -> usize {
    (length + 3) & !3
}
