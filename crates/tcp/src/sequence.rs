//! Sequence numbers unwrapped to 64 bits: positions, which have an order.

use transport::serial_number;

serial_number! {
    /// Sequence number of a byte of TCP. It wraps, so it has no order: use [`Seq::precedes`]
    /// (rfc9293#section-3.4).
    Seq, u32, i32
}

/// The unwrapped sequence number of a SYN. It is 2^32, so that older sequence numbers remain positive.
pub(crate) const ORIGIN: u64 = 1 << 32;

/// Conversion between the sequence numbers of one direction and positions (unwrapped sequence numbers).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Space {
    initial: Seq,
}

impl Space {
    /// The conversion for a direction whose SYN has the sequence number `initial`.
    pub(crate) fn new(initial: Seq) -> Self {
        Space { initial }
    }

    /// The sequence number at a position.
    #[inline]
    pub(crate) fn seq(&self, position: u64) -> Seq {
        self.initial.add(position as u32)
    }

    /// The position whose sequence number is `seq`. Of all such
    /// positions, which lie 2^32 apart, the one nearest to `near`.
    #[inline]
    pub(crate) fn position(&self, near: u64, seq: Seq) -> u64 {
        let ahead = seq.distance_from(self.seq(near)) as i32;
        near.saturating_add_signed(i64::from(ahead))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_go_on_where_numbers_wrap() {
        let space = Space::new(Seq(u32::MAX));
        assert_eq!(space.seq(ORIGIN), Seq(u32::MAX));
        assert_eq!(space.position(ORIGIN, Seq(4)), ORIGIN + 5);
        let far = ORIGIN + (5 << 32);
        assert_eq!(space.position(far, space.seq(far - 7)), far - 7);
        assert_eq!(space.position(far, space.seq(far + 7)), far + 7);
    }
}
