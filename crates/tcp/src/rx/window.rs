//! The advertised receive window.

/// The receive window.
///
/// Its right edge never moves left. It moves right by at least one MSS or half of the buffer, whichever is
/// less (`rfc9293#section-3.8.6.2.2`).
#[derive(Debug)]
pub(super) struct ReceiveWindow {
    buffer: u64,
    mss: u64,
    shift: u8,
    edge: u64,
}

impl ReceiveWindow {
    pub(super) fn new(next: u64, buffer: u64, mss: u64, shift: u8) -> Self {
        // The window of a SYN, which is not scaled, may have advertised less. The first ACK advertises the
        // rest.
        ReceiveWindow { buffer, mss, shift, edge: next + buffer }
    }

    /// Size of the buffer in bytes.
    pub(super) fn buffer(&self) -> u64 {
        self.buffer
    }

    /// Sets the size of the buffer, which never falls.
    pub(super) fn resize(&mut self, buffer: u64) {
        debug_assert!(buffer >= self.buffer);
        self.buffer = buffer;
    }

    #[inline]
    pub(super) fn edge(&self) -> u64 {
        self.edge
    }

    /// The right edge without silly window avoidance.
    #[inline]
    fn wanted(&self, read: u64) -> u64 {
        read + self.buffer
    }

    /// True if the window has opened enough for a window update.
    #[inline]
    pub(super) fn has_opened(&self, read: u64) -> bool {
        self.wanted(read).saturating_sub(self.edge) >= (2 * self.mss).min(self.buffer / 2)
    }

    /// The window field to send. `next`: next byte expected; `read`: next byte to be read by the user.
    #[inline]
    pub(super) fn advertise(&mut self, next: u64, read: u64) -> u16 {
        let wanted = self.wanted(read);
        let step = wanted.saturating_sub(self.edge);
        let edge = if step >= self.mss.min(self.buffer / 2) { wanted } else { self.edge };
        let mut field = edge.saturating_sub(next) >> self.shift;
        // Rounding down must not move the advertised right edge left.
        field += u64::from(next + (field << self.shift) < self.edge);
        let field = field.min(u64::from(u16::MAX));
        self.edge = self.edge.max(next + (field << self.shift));
        field as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silly_step_is_not_advertised() {
        let mut window = ReceiveWindow::new(1000, 10_000, 1000, 0);
        assert_eq!(window.advertise(1000, 1000), 10_000);
        // Ten segments arrive, then the user reads.
        assert_eq!(window.advertise(11_000, 1000), 0);
        assert_eq!(window.advertise(11_000, 1999), 0);
        assert_eq!(window.advertise(11_000, 2000), 1000);
        assert!(!window.has_opened(3999) && window.has_opened(4000));
    }

    #[test]
    fn the_edge_never_moves_to_the_left() {
        let mut window = ReceiveWindow::new(0, 1 << 20, 1000, 5);
        let mut last = 0;
        for next in (0..3_000_000).step_by(777) {
            let read = next - next.min(500_000) / 3;
            let field = u64::from(window.advertise(next, read)) << 5;
            assert!(next + field >= last, "{next}");
            assert!(next + field < read + (1 << 20) + 32);
            assert_eq!(window.edge(), next + field);
            last = next + field;
        }
    }
}
