//! The size of a receive buffer that grows as the transfer needs (size `auto`).
//!
//! ```text
//! size = min(2 (C + H), 8 C + initial size)   C: bytes that the user read in a round-trip time
//!                                             H: most bytes that the buffer held in that time
//! ```
//!
//! While the buffer limits the sender, the user reads a whole buffer in each round-trip time, so that the
//! size doubles. Once the network limits the sender, the buffer is twice as large as needed. H includes
//! chunks that wait for missing chunks, since chunks on paths of unequal delay overtake each other. The
//! second term limits the effect of H: a peer that sends only chunks that must wait does not make the buffer
//! grow. The size never falls while data arrives, since it was advertised to the peer.
//!
//! The buffers of all connections of an endpoint take the bytes by which they grow from one [`BufferBudget`].

use crate::budget::{BufferBudget, Share};
use crate::buffer::BufferSize;
use std::sync::Arc;
use units::{Instant, Span};

/// Shortest measuring period in which the bytes are counted:
/// timers of hosts make the counts of shorter periods uneven.
const LEAST_PERIOD: Span = Span::from_millis(10);

/// Time without data after which the buffer has its initial size
/// again, so that idle associations leave the budget to others.
const REST: Span = Span::from_secs(60);

/// Determines the size of a receive buffer that grows as the transfer needs.
#[derive(Debug)]
pub struct ReceiveTuning {
    /// The bytes by which the buffer has grown beyond its initial size.
    share: Share,
    first: u64,
    most: u64,
    /// Beginning of the current measuring period; `None` before the first data.
    since: Option<Instant>,
    /// Bytes that the user read in the current period.
    read: u64,
    /// Most bytes that the buffer held at a time in the current period.
    held: u64,
    /// One bit for each path on which data arrived in the current period.
    sources: u32,
}

impl ReceiveTuning {
    /// The tuning of a buffer that takes the bytes by which it grows from `budget`; `None` if its size is
    /// fixed.
    pub fn new(size: BufferSize, budget: &Arc<BufferBudget>) -> Option<Self> {
        let (first, most) = (size.first().get(), size.most().get());
        let share = Share::new(budget);
        let tuning = ReceiveTuning { share, first, most, since: None, read: 0, held: 0, sources: 0 };
        (size == BufferSize::Auto).then_some(tuning)
    }

    /// Counts data that arrived on a path; the buffer holds `held` bytes now. Paths from number 32 on give no
    /// round-trip time.
    #[inline]
    pub fn arrived(&mut self, path: u8, held: u64) {
        self.sources |= 1u32.checked_shl(path.into()).unwrap_or(0);
        self.held = self.held.max(held);
    }

    /// Counts bytes that the user read.
    #[inline]
    pub fn read(&mut self, bytes: u64) {
        self.read += bytes;
    }

    /// Returns the new size if the current period is over and the
    /// buffer grows. `rtt` gives the round-trip time of a path.
    pub fn grown(&mut self, now: Instant, rtt: impl Fn(u8) -> Option<Span>) -> Option<u64> {
        let since = *self.since.get_or_insert(now);
        let sources = (0..u32::BITS as u8).filter(|p| self.sources & 1 << p != 0);
        let round = sources.filter_map(rtt).max()?.max(LEAST_PERIOD);
        let period = now.since(since);
        if period < round {
            return None;
        }
        let read = (self.read as f64 * round.as_secs_f64() / period.as_secs_f64()) as u64;
        let needed = (2 * (read + self.held)).min(8 * read + self.first).min(self.most);
        (self.since, self.read, self.held, self.sources) = (Some(now), 0, 0, 0);
        self.share.grow(needed.saturating_sub(self.first)).then(|| self.first + self.share.bytes())
    }

    /// Returns true if the user has read at least a quarter of the buffer's
    /// initial size in the current period, so that the buffer may soon limit
    /// the sender. The buffer cannot grow before a round-trip time is known.
    pub fn lacks_rtt(&self) -> bool {
        self.read >= self.first / 4
    }

    /// Returns the initial size of the buffer, to which it shrinks,
    /// if no data has arrived for a minute and the buffer has grown.
    pub fn rested(&mut self, now: Instant) -> Option<u64> {
        let rests = self.since.is_some_and(|since| now.since(since) >= REST);
        if !rests || self.share.bytes() == 0 {
            return None;
        }
        self.share.release();
        (self.since, self.read, self.held, self.sources) = (None, 0, 0, 0);
        Some(self.first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn tuning() -> ReceiveTuning {
        ReceiveTuning::new(BufferSize::Auto, &Arc::default()).expect("not a fixed size")
    }

    /// One period of 100 ms in which the user reads `read` bytes and the buffer holds `held`.
    fn period(tuning: &mut ReceiveTuning, number: u64, read: u64, held: u64) -> u64 {
        let at = |n| Instant::ZERO + Span::from_millis(100 * n);
        tuning.grown(at(number), |_| Some(Span::from_millis(100)));
        tuning.arrived(0, held);
        tuning.read(read);
        tuning.grown(at(number + 1), |_| Some(Span::from_millis(100)));
        tuning.first + tuning.share.bytes()
    }

    #[test]
    fn the_buffer_is_twice_what_was_read_and_held() {
        let mut tuning = tuning();
        assert_eq!(period(&mut tuning, 0, 900_000, 700_000), 3_200_000);
        assert_eq!(period(&mut tuning, 1, 900_000, 600_000), 3_200_000, "it never falls");
        assert_eq!(period(&mut tuning, 2, 4_000_000, 0), 8_000_000);
        assert_eq!(period(&mut tuning, 3, 90_000_000, 0), 64 * MIB, "at most");
    }

    #[test]
    fn a_peer_that_sends_only_what_cannot_be_read_gains_nothing() {
        let mut tuning = tuning();
        assert_eq!(period(&mut tuning, 0, 0, MIB), MIB);
        assert_eq!(period(&mut tuning, 1, 10_000, MIB), 8 * 10_000 + MIB);
    }

    /// If a period lasts longer than one round trip, the bytes
    /// read in it are scaled down to one round-trip time.
    #[test]
    fn what_was_read_counts_for_one_round_trip_time() {
        let mut tuning = tuning();
        let round = |_| Some(Span::from_millis(100));
        tuning.grown(Instant::ZERO, round);
        tuning.arrived(0, 0);
        tuning.read(20_000_000);
        assert_eq!(tuning.grown(Instant::ZERO + Span::from_secs(1), round), Some(4_000_000));
    }

    #[test]
    fn after_a_minute_without_data_the_buffer_has_its_first_size() {
        let mut tuning = tuning();
        assert_eq!(period(&mut tuning, 0, 30_000_000, 0), 60_000_000);
        assert_eq!(tuning.rested(Instant::ZERO + Span::from_secs(59)), None);
        assert_eq!(tuning.rested(Instant::ZERO + Span::from_secs(61)), Some(MIB));
        assert_eq!(tuning.rested(Instant::ZERO + Span::from_secs(62)), None);
    }
}
