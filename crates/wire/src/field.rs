//! Big-endian fields, and rounding to multiples of four bytes.

/// The 16-bit field at `at`, which must lie inside.
#[inline]
pub(crate) fn u16_at<const N: usize>(bytes: &[u8; N], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// The 32-bit field at `at`, which must lie inside.
#[inline]
pub(crate) fn u32_at<const N: usize>(bytes: &[u8; N], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// `length` rounded up to the multiple of four it occupies on the wire.
#[inline]
pub(crate) const fn padded(length: usize) -> usize {
    (length + 3) & !3
}
