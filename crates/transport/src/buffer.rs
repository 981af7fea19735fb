//! The size of a buffer.

use crate::options::{Maybe, OptionType, OptionValue};
use std::fmt;
use units::ByteCount;

/// The size of a send or receive buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferSize {
    /// As large as the transfer needs: 1 MiB at first, at most 64 MiB.
    Auto,
    /// This number of bytes.
    Fixed(ByteCount),
}

impl BufferSize {
    const FIRST: ByteCount = ByteCount::new(1 << 20);
    const MOST: ByteCount = ByteCount::new(64 << 20);

    /// A fixed size in bytes.
    pub const fn fixed(bytes: u64) -> Self {
        BufferSize::Fixed(ByteCount::new(bytes))
    }

    /// The initial size.
    pub fn first(self) -> ByteCount {
        match self {
            BufferSize::Auto => Self::FIRST,
            BufferSize::Fixed(size) => size,
        }
    }

    /// The largest size.
    pub fn most(self) -> ByteCount {
        match self {
            BufferSize::Auto => Self::MOST,
            BufferSize::Fixed(size) => size,
        }
    }
}

impl From<ByteCount> for BufferSize {
    fn from(size: ByteCount) -> Self {
        BufferSize::Fixed(size)
    }
}

/// Writes `auto`, or the size of a fixed buffer.
impl fmt::Display for BufferSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BufferSize::Auto => f.write_str("auto"),
            BufferSize::Fixed(size) => size.fmt(f),
        }
    }
}

impl OptionType for BufferSize {
    fn value(&mut self) -> OptionValue<'_> {
        OptionValue::Maybe(self)
    }
}

impl Maybe for BufferSize {
    fn get(&mut self) -> Option<OptionValue<'_>> {
        match self {
            BufferSize::Auto => None,
            BufferSize::Fixed(size) => Some(size.value()),
        }
    }

    fn none(&self) -> &'static str {
        "auto"
    }

    fn set_none(&mut self) {
        *self = BufferSize::Auto;
    }

    fn set_some(&mut self) -> OptionValue<'_> {
        *self = BufferSize::Fixed(ByteCount::ZERO);
        let BufferSize::Fixed(size) = self else { unreachable!("set above") };
        size.value()
    }
}
