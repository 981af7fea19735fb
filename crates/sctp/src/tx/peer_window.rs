//! The peer's receive window, and the bytes that will take room in it.

use crate::path::Paths;
use units::ByteCount;

/// What the sender knows of the peer's receive buffer.
#[derive(Debug, Default)]
pub(super) struct PeerWindow {
    /// Free bytes, as the sender calculates them (`rfc9260#section-6.2.1`).
    free: ByteCount,
    /// The largest a_rwnd that the peer advertised: about the size of its receive buffer.
    buffer: ByteCount,
    /// True if the last a_rwnd was too small for data: the window then counts as closed.
    closed: bool,
    /// Number of chunks that are lost and not yet retransmitted, and the bytes that they will occupy.
    lost: (usize, ByteCount),
    /// Bytes of all chunks above the cumulative TSN that are not
    /// [delivered](crate::chunks::TxChunk::is_delivered).
    extent: ByteCount,
    /// True if lost chunks, and chunks whose delivery is unknown, keep their room in the peer's buffer
    /// (`Cmt::keep_room`).
    keeps_room: bool,
    /// True if the peer sends NR-SACKs: it never reneges on the chunks that they report as non-renegable.
    pub(super) nr_sacks: bool,
    /// Number of times that new data waited because the peer's receive window was full.
    pub(super) refusals: u64,
}

impl PeerWindow {
    pub(super) fn new(keeps_room: bool) -> Self {
        PeerWindow { keeps_room, ..PeerWindow::default() }
    }

    /// Begins with the a_rwnd of the handshake.
    pub(super) fn begin(&mut self, a_rwnd: u32) {
        self.free = ByteCount::new(u64::from(a_rwnd));
        self.buffer = self.free;
    }

    /// Takes the a_rwnd of a SACK, less the flight size (`rfc9260#section-6.2.1`, step ii). An a_rwnd below
    /// `least` counts as closed.
    pub(super) fn advertise(&mut self, a_rwnd: u32, flight: ByteCount, least: ByteCount) {
        let advertised = ByteCount::new(u64::from(a_rwnd));
        self.buffer = self.buffer.max(advertised);
        self.closed = advertised < least.max(ByteCount::new(1));
        self.free = if self.closed { ByteCount::ZERO } else { advertised - flight };
    }

    /// Counts a chunk that was sent for the first time.
    #[inline]
    pub(super) fn sent(&mut self, size: ByteCount) {
        self.free -= size;
        self.extent += size;
    }

    /// Counts a chunk that was retransmitted. Its flight size was `before` on the path of the last
    /// transmission.
    pub(super) fn resent(&mut self, before: ByteCount, size: ByteCount) {
        self.free -= size;
        self.extent = self.extent + size - before;
    }

    /// Adds to the free bytes those of a chunk that left the flight size without an acknowledgement.
    pub(super) fn gone(&mut self, size: ByteCount) {
        self.free += size;
    }

    pub(super) fn lose(&mut self, size: ByteCount) {
        self.lost = (self.lost.0 + 1, self.lost.1 + size);
    }

    /// Subtracts from `lost` a chunk that is retransmitted, acknowledged or abandoned.
    #[inline]
    pub(super) fn unlose(&mut self, size: ByteCount) {
        self.lost = (self.lost.0 - 1, self.lost.1 - size);
    }

    /// Subtracts from `extent` a chunk above the cumulative TSN that was delivered, or one that the
    /// cumulative TSN passed.
    #[inline]
    pub(super) fn delivered(&mut self, size: ByteCount) {
        self.extent -= size;
    }

    #[inline]
    pub(super) fn free(&self) -> ByteCount {
        self.free
    }

    pub(super) fn buffer(&self) -> ByteCount {
        self.buffer
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    #[inline]
    pub(super) fn has_lost(&self) -> bool {
        self.lost.0 > 0
    }

    #[inline]
    pub(super) fn lost_bytes(&self) -> ByteCount {
        self.lost.1
    }

    /// Number of bytes that new chunks may use. If SACKs are reordered, the a_rwnd of an older SACK may be
    /// too large. But a peer that never reneges has at most its whole buffer for chunks above the cumulative
    /// TSN.
    #[inline]
    pub(super) fn room(&self) -> ByteCount {
        match (self.keeps_room, self.nr_sacks) {
            (false, _) => self.free,
            (true, false) => self.free - self.lost.1,
            (true, true) => (self.free - self.lost.1).min(self.buffer - self.extent),
        }
    }

    /// Maximum number of bytes that may be outstanding at the same time, in flight or in the peer's buffer.
    #[inline]
    pub(super) fn whole(&self, paths: &Paths) -> ByteCount {
        if self.keeps_room && self.nr_sacks { self.extent + self.room() } else { self.free + paths.flight() }
    }

    #[cfg(test)]
    pub(super) fn set(&mut self, free: u64, buffer: u64) {
        (self.free, self.buffer) = (ByteCount::new(free), ByteCount::new(buffer));
    }

    #[cfg(test)]
    pub(super) fn extent(&self) -> ByteCount {
        self.extent
    }

    #[cfg(test)]
    pub(super) fn lost_chunks(&self) -> usize {
        self.lost.0
    }
}
