//! The receive buffer and the advertised window.

use crate::config::{Accounting, Config};
use wire::{CommonHeader, Data, IData};

/// The receive buffer, and the a_rwnd that follows from it (`rfc9260#section-6.2.1`).
///
/// The buffer holds arrived chunks that the user has not read yet, each with its [`ChunkCost`].
#[derive(Debug)]
pub(super) struct ReceiveWindow {
    held: u64,
    limit: u32,
    sws_limit: u32,
    /// Number of free bytes from which on the window counts as open: a full packet fits.
    open: u32,
    /// True if the window last advertised was below `open`.
    closed: bool,
}

impl ReceiveWindow {
    pub(super) fn new(config: &Config) -> Self {
        let limit = config.receive_buffer.first().get().min(u64::from(u32::MAX)) as u32;
        let sws_limit = config.sws_limit.get().min(u64::from(limit)) as u32;
        let open = u64::from(sws_limit).max(config.mtu.get()).min(u64::from(limit)) as u32;
        ReceiveWindow { limit, sws_limit, open, held: 0, closed: limit < open }
    }

    /// Returns true if the chunk fits. An empty buffer accepts any one chunk: otherwise a chunk longer than
    /// the buffer would be retransmitted for ever.
    #[inline]
    pub(super) fn fits(&self, cost: u32) -> bool {
        self.has_room_for(cost.into()) || self.held == 0
    }

    #[inline]
    pub(super) fn hold(&mut self, cost: u32) {
        self.held += u64::from(cost);
    }

    #[inline]
    pub(super) fn release(&mut self, cost: u32) {
        debug_assert!(self.held >= u64::from(cost));
        self.held -= u64::from(cost);
    }

    /// Sets the size of the buffer.
    pub(super) fn resize(&mut self, size: u64) {
        self.limit = u32::try_from(size).unwrap_or(u32::MAX);
    }

    /// Size of the buffer in bytes.
    pub(super) fn size(&self) -> units::ByteCount {
        units::ByteCount::new(self.limit.into())
    }

    /// Size of the buffer, and number of its bytes that are in use.
    pub(super) fn size_and_held(&self) -> (u32, u32) {
        (self.limit, u32::try_from(self.held).unwrap_or(u32::MAX))
    }

    /// Counts only `cost` bytes as used from now on.
    pub(super) fn keep_only(&mut self, cost: u64) {
        debug_assert!(self.held >= cost);
        self.held = cost;
    }

    /// Number of free bytes.
    #[inline]
    fn free(&self) -> u32 {
        u64::from(self.limit).saturating_sub(self.held) as u32
    }

    /// Returns true if a full packet does not fit.
    #[inline]
    pub(super) fn is_tight(&self) -> bool {
        self.free() < self.open
    }

    /// Returns true if the receive buffer allows this number of further bytes.
    #[inline]
    pub(super) fn has_room_for(&self, bytes: u64) -> bool {
        self.held.saturating_add(bytes) <= u64::from(self.limit)
    }

    /// Returns true if the buffer holds more bytes than its size.
    pub(super) fn is_overdrawn(&self) -> bool {
        self.held > u64::from(self.limit)
    }

    /// The window to advertise: 0 if the window is small (`rfc9260#section-6.2`, `rfc1122#section-4.2.3.3`).
    #[inline]
    pub(super) fn advertised(&self) -> u32 {
        let free = self.free();
        if free < self.sws_limit { 0 } else { free }
    }

    /// Records that the present window is advertised to the peer.
    #[inline]
    pub(super) fn tell(&mut self) {
        self.closed = self.is_tight();
    }

    /// Returns true if the last advertised window was closed and the window is now open.
    #[inline]
    pub(super) fn has_reopened(&self) -> bool {
        self.closed && !self.is_tight()
    }

    /// Number of bytes in use.
    #[inline]
    pub(super) fn held(&self) -> u64 {
        self.held
    }
}

/// Cost of a chunk in the receive buffer: its bytes and the counted headers, but at least `least`. So the
/// memory that chunks take stays in proportion to the buffer, even for many tiny chunks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ChunkCost {
    headers: u32,
    least: u32,
}

impl ChunkCost {
    /// Least cost of a DATA chunk: the bytes of memory of a short message's record, without the payload.
    pub(super) const LEAST: u32 = 64;

    /// Least cost of an I-DATA chunk. Fragments of several messages may alternate, so that each fragment may
    /// need a record of its own, which is found by message and fragment sequence number.
    pub(super) const LEAST_INTERLEAVED: u32 = 128;

    /// Computes the costs for DATA chunks or, if `interleaved`, for I-DATA chunks.
    pub(super) fn new(accounting: Accounting, interleaved: bool) -> Self {
        const IPV4_HEADER: usize = 20;
        let (header, least) = match interleaved {
            true => (IData::HEADER_LEN, Self::LEAST_INTERLEAVED),
            false => (Data::HEADER_LEN, Self::LEAST),
        };
        let headers = match accounting {
            Accounting::Payload => 0,
            Accounting::Chunk => header,
            Accounting::Packet => header + CommonHeader::LEN + IPV4_HEADER,
        };
        ChunkCost { headers: headers as u32, least }
    }

    /// Cost of a chunk with `payload` user bytes.
    #[inline]
    pub(super) fn of(self, payload: usize) -> u32 {
        (payload as u32 + self.headers).max(self.least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::ByteCount;

    #[test]
    fn a_chunk_counts_with_the_headers_chosen_and_never_for_nothing() {
        let costs = |accounting| [1, 48, 1452].map(|payload| ChunkCost::new(accounting, false).of(payload));
        assert_eq!(costs(Accounting::Payload), [64, 64, 1452]);
        assert_eq!(costs(Accounting::Chunk), [64, 64, 1468]);
        assert_eq!(costs(Accounting::Packet), [64, 96, 1500]);
        let interleaved = ChunkCost::new(Accounting::Chunk, true);
        assert_eq!([1, 108, 109, 1452].map(|payload| interleaved.of(payload)), [128, 128, 129, 1472]);
    }

    // Paper 002, section 3: 44 chunks of 1468 bytes wait in a buffer of 64 KiB, and 944 bytes are free.
    #[test]
    fn the_window_of_paper_002() {
        let mut w = window(65_536, 0);
        let cost = ChunkCost::new(Accounting::Chunk, false).of(1452);
        let mut chunks = 0;
        while w.fits(cost) {
            w.hold(cost);
            chunks += 1;
        }
        assert_eq!((chunks, w.advertised()), (44, 944));
    }

    fn window(limit: u64, sws_limit: u64) -> ReceiveWindow {
        ReceiveWindow::new(&Config {
            receive_buffer: ByteCount::new(limit).into(),
            sws_limit: ByteCount::new(sws_limit),
            ..Config::default()
        })
    }

    // rfc9260#section-6.2, rfc1122#section-4.2.3.3
    #[test]
    fn a_silly_window_is_advertised_as_closed() {
        let mut w = window(10_000, 3_000);
        w.hold(7_000);
        assert_eq!(w.advertised(), 3_000);
        w.hold(64);
        assert_eq!(w.advertised(), 0);
    }

    #[test]
    fn without_a_limit_every_byte_is_advertised() {
        let mut w = window(10_000, 0);
        w.hold(9_056);
        assert_eq!(w.advertised(), 944);
    }

    #[test]
    fn it_reopens_only_if_the_peer_was_told_that_it_is_closed() {
        let mut w = window(10_000, 3_000);
        w.hold(9_000);
        w.release(9_000);
        assert!(!w.has_reopened(), "the peer never saw it closed");
        w.hold(9_000);
        w.tell();
        w.release(1_000);
        assert!(!w.has_reopened(), "2000 bytes are still silly");
        w.release(1_000);
        assert!(w.has_reopened());
        w.tell();
        assert!(!w.has_reopened());
    }

    #[test]
    fn a_chunk_longer_than_the_whole_buffer_is_taken_alone() {
        let mut w = window(1_500, 1_500);
        assert!(w.fits(9_000));
        w.hold(9_000);
        assert_eq!((w.advertised(), w.fits(1)), (0, false));
        w.release(9_000);
        assert_eq!(w.advertised(), 1_500);
    }
}
