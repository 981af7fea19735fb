//! The size of a send buffer.

use crate::budget::{BufferBudget, Share};
use crate::buffer::BufferSize;
use std::sync::Arc;
use units::ByteCount;

/// The size of a send buffer: fixed, or `auto`.
///
/// A buffer of size `auto` has room for as many unsent bytes as it holds sent bytes, so that cwnd and the
/// peer's window may double.
#[derive(Debug)]
pub struct SendBuffer {
    size: BufferSize,
    /// `None` if the size is fixed, and before [`Self::join`].
    share: Option<Share>,
}

impl SendBuffer {
    /// A buffer that has its initial size and cannot grow before it joins a budget.
    pub fn new(size: BufferSize) -> Self {
        SendBuffer { size, share: None }
    }

    /// Lets a buffer of size `auto` take bytes from `budget` to grow.
    pub fn join(&mut self, budget: &Arc<BufferBudget>) {
        self.share = (self.size == BufferSize::Auto).then(|| Share::new(budget));
    }

    /// The size while the buffer holds `sent` bytes that were sent.
    pub fn size(&self, sent: ByteCount) -> ByteCount {
        let (size, share) = (self.size, self.share.as_ref().map_or(0, Share::bytes));
        (sent * 2).max(size.first()).min(size.most()).min(size.first() + ByteCount::new(share))
    }

    /// Takes from the budget the share that the buffer needs while it holds
    /// `sent` bytes that were sent. If there are none, gives the share back.
    pub fn tune(&mut self, sent: ByteCount) {
        let Some(share) = &mut self.share else { return };
        if sent.is_zero() {
            share.release();
        } else {
            share.grow((sent * 2).min(self.size.most()).get().saturating_sub(self.size.first().get()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: ByteCount = ByteCount::new(1 << 20);

    #[test]
    fn a_fixed_size_takes_nothing_from_the_budget() {
        let budget = Arc::default();
        let mut buffer = SendBuffer::new(MIB.into());
        buffer.join(&budget);
        buffer.tune(MIB * 8);
        assert_eq!((buffer.size(MIB * 8), budget.left()), (MIB, MIB * 256));
    }

    #[test]
    fn the_size_is_twice_what_was_sent_up_to_64_mib() {
        let budget = Arc::default();
        let mut buffer = SendBuffer::new(BufferSize::Auto);
        buffer.join(&budget);
        for (sent, size) in [(0, 1), (1, 2), (20, 40), (60, 64), (0, 1)] {
            buffer.tune(MIB * sent);
            assert_eq!(buffer.size(MIB * sent), MIB * size, "{sent} MiB sent");
        }
        assert_eq!(budget.left(), MIB * 256, "all was given back");
    }
}
