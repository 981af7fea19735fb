//! The bytes by which the buffers of all connections of an endpoint may grow together.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use units::ByteCount;

/// Bytes by which all buffers of an endpoint together may still grow beyond their initial sizes.
#[derive(Debug)]
pub struct BufferBudget(AtomicU64);

impl Default for BufferBudget {
    /// A budget of [`BufferBudget::USUAL`].
    fn default() -> Self {
        BufferBudget::new(Self::USUAL)
    }
}

impl BufferBudget {
    /// The budget of an endpoint whose user sets none: 256 MiB.
    pub const USUAL: ByteCount = ByteCount::new(256 << 20);

    /// A budget of this size, of which no buffer has taken anything yet.
    pub fn new(bytes: ByteCount) -> Self {
        BufferBudget(AtomicU64::new(bytes.get()))
    }

    /// The bytes that no buffer has taken.
    pub fn left(&self) -> ByteCount {
        ByteCount::new(self.0.load(Ordering::Relaxed))
    }
}

/// The bytes that a buffer took from the budget.
#[derive(Debug)]
pub(crate) struct Share {
    budget: Arc<BufferBudget>,
    bytes: u64,
}

impl Share {
    pub(crate) fn new(budget: &Arc<BufferBudget>) -> Self {
        Share { budget: budget.clone(), bytes: 0 }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Raises the share to `bytes`, but to no more of the budget than it leaves for all other buffers.
    /// Returns true if the share grew.
    pub(crate) fn grow(&mut self, bytes: u64) -> bool {
        if bytes <= self.bytes {
            return false;
        }
        let before = self.bytes;
        let gain = |left: u64| bytes.min((before + left) / 2).saturating_sub(before);
        let rest = |left: u64| Some(left - gain(left));
        let left = self.budget.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, rest);
        self.bytes += gain(left.unwrap_or_else(|left| left));
        self.bytes > before
    }

    /// Gives all bytes back to the budget.
    pub(crate) fn release(&mut self) {
        self.budget.0.fetch_add(std::mem::take(&mut self.bytes), Ordering::Relaxed);
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.release();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_takes_no_more_than_it_leaves_and_gives_it_back() {
        let budget = Arc::new(BufferBudget::new(ByteCount::new(800)));
        let (mut one, mut two) = (Share::new(&budget), Share::new(&budget));
        assert!(one.grow(600) && two.grow(600));
        assert_eq!((one.bytes(), two.bytes()), (400, 200));
        assert!(!one.grow(600) && !two.grow(600), "asking again brings nothing");
        drop(one);
        assert!(two.grow(250) && !two.grow(100));
        assert_eq!(two.bytes(), 250);
        two.release();
        assert_eq!(budget.left().get(), 800);
    }
}
