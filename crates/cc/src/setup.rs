//! What a controller is built with.

use units::ByteCount;

use crate::names::named;

/// What is known of an association when its controller is built.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// Rules of growth, and with them the unit of growth.
    pub growth: GrowthRule,
    /// The peer's receive window from its INIT or INIT ACK: what an unset slow start threshold counts as.
    pub peer_rwnd: ByteCount,
    /// IP header of the paths: 20 bytes for IPv4, 40 for IPv6.
    pub ip_header: ByteCount,
    /// Paths the association is expected to use; CMT/RP divides its initial window among them.
    pub paths: usize,
    /// CMT/RP: factor of the MTU in the scaled lower bound of equations 5 and 7 of the paper, which says 4.
    pub rp_min: u64,
    /// CMT/RP: the share of a path whose slow start threshold is unset.
    pub unset_share: UnsetShare,
}

named! {
    /// Which edition of SCTP's rules drives the growth of a window.
    "growth rule" GrowthRule {
        /// `rfc4960#section-7.2`: windows are counted in MTUs and grow only when the cumulative TSN advances.
        Rfc4960 = "rfc4960",
        /// `rfc9260#section-7.2`: windows are counted in PMDCS (MTU without IP and common header), every newly
        /// acknowledged byte counts, `partial_bytes_acked` is clamped on windows that are not full, and idleness
        /// first remembers the window in the threshold.
        Rfc9260 = "rfc9260",
    }
}

named! {
    /// How CMT/RP counts a slow start threshold that no loss has set yet.
    "unset share" UnsetShare {
        /// As the peer's receive window, as the paper's authors did. The first path with a loss then grows hardly
        /// at all until the others have a loss too.
        Raw = "raw",
        /// As the mean of the thresholds that are set, so that a path without loss has share 1/n.
        Equal = "equal",
    }
}

/// The SCTP common header.
const COMMON_HEADER: ByteCount = ByteCount::new(12);

impl Setup {
    /// The unit a window is counted in, written M in the formulas: the MTU (RFC 4960), or the largest DATA chunk
    /// that fits it (RFC 9260: PMDCS).
    pub fn segment(&self, mtu: ByteCount) -> ByteCount {
        match self.growth {
            GrowthRule::Rfc4960 => mtu,
            GrowthRule::Rfc9260 => mtu - self.ip_header - COMMON_HEADER,
        }
    }

    /// Initial window of a path: min(4 M, max(2 M, a constant)), `rfc4960#section-7.2.1`, `rfc9260#section-7.2.1`.
    pub fn initial_window(&self, mtu: ByteCount) -> ByteCount {
        let m = self.segment(mtu);
        let constant = match self.growth {
            GrowthRule::Rfc4960 => ByteCount::new(4380),
            GrowthRule::Rfc9260 => ByteCount::new(4404 + 3 * 20) - self.ip_header * 3,
        };
        (m * 4).min(constant.max(m * 2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(growth: GrowthRule, ip_header: u64) -> Setup {
        Setup {
            growth,
            peer_rwnd: ByteCount::new(65_536),
            ip_header: ByteCount::new(ip_header),
            paths: 1,
            rp_min: 4,
            unset_share: UnsetShare::Raw,
        }
    }

    #[test]
    fn initial_window_is_between_two_and_four_segments() {
        let window = |growth, ip, mtu| setup(growth, ip).initial_window(ByteCount::new(mtu)).get();
        assert_eq!(window(GrowthRule::Rfc4960, 20, 1500), 4380);
        assert_eq!(window(GrowthRule::Rfc4960, 20, 600), 2400);
        assert_eq!(window(GrowthRule::Rfc4960, 20, 9000), 18_000);
        assert_eq!(window(GrowthRule::Rfc9260, 20, 1500), 4404);
        assert_eq!(window(GrowthRule::Rfc9260, 40, 1500), 4344);
        assert_eq!(window(GrowthRule::Rfc9260, 20, 600), 4 * 568);
        assert_eq!(window(GrowthRule::Rfc9260, 40, 9000), 2 * 8948);
    }
}
