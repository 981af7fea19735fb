//! Reads and writes the structures of socket options, field by field.

use nix::errno::Errno;
use units::Span;

/// Reads the fields of an option. A field beyond the end of the option is an error.
pub struct Fields<'a>(pub &'a [u8]);

impl Fields<'_> {
    pub fn u16(&self, at: usize) -> Result<u16, Errno> {
        let field = self.0.get(at..at + 2).and_then(|field| field.try_into().ok());
        field.map(u16::from_ne_bytes).ok_or(Errno::EINVAL)
    }

    pub fn u32(&self, at: usize) -> Result<u32, Errno> {
        let field = self.0.get(at..at + 4).and_then(|field| field.try_into().ok());
        field.map(u32::from_ne_bytes).ok_or(Errno::EINVAL)
    }

    pub fn i32(&self, at: usize) -> Result<i32, Errno> {
        self.u32(at).map(u32::cast_signed)
    }

    /// Milliseconds; `None` for 0, which leaves an option as it is.
    pub fn millis(&self, at: usize) -> Result<Option<Span>, Errno> {
        let value = self.u32(at)?;
        Ok((value > 0).then(|| Span::from_millis(value.into())))
    }
}

/// Builds the bytes of an option that a program reads.
#[derive(Default)]
pub struct Written(pub Vec<u8>);

impl Written {
    pub fn put(mut self, field: impl AsRef<[u8]>) -> Self {
        self.0.extend_from_slice(field.as_ref());
        self
    }

    pub fn u16(self, field: impl TryInto<u16>) -> Self {
        self.put(field.try_into().unwrap_or(u16::MAX).to_ne_bytes())
    }

    pub fn u32(self, field: impl TryInto<u32>) -> Self {
        self.put(field.try_into().unwrap_or(u32::MAX).to_ne_bytes())
    }

    pub fn i32(self, field: i32) -> Self {
        self.put(field.to_ne_bytes())
    }

    pub fn pad_to(mut self, length: usize) -> Self {
        self.0.resize(length, 0);
        self
    }
}

pub fn millis(span: Span) -> u64 {
    span.as_nanos() / 1_000_000
}
