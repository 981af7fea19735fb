//! Parameters that a controller is built with.

use units::ByteCount;

use transport::named;

/// Parameters of an association that its controller depends on.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// The transport's rules of growth.
    pub rules: Rules,
    /// ssthresh while no event has set it; for SCTP by default the a_rwnd of the peer's INIT or INIT ACK.
    pub initial_ssthresh: ByteCount,
    /// Number of paths expected in the association. CMT/RP, Braid and LEDBAT-MP+ divide the initial
    /// window among them.
    pub paths: usize,
    /// CMT/RP, version 1 (`rpv1.rs`): factor of M in the lower bound of equations 5 and 7; 4 in the paper.
    pub rp_min: u64,
    /// SCTP: how idle time changes the slow start threshold.
    pub idle_threshold: IdleThreshold,
    /// SCTP: initial window of each path in segments M ([`Self::segment`]); `None`: that of the growth rule.
    pub initial_window: Option<u32>,
    /// True if a pacer spreads the packets of each path over time.
    pub paced: bool,
}

/// Rules of window growth in which the transports differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// SCTP: counts bytes, grows only full windows, and is in slow start if cwnd is at most ssthresh.
    Sctp {
        /// Edition of the growth rules.
        growth: GrowthRule,
        /// Length of the IP header of the paths: 20 bytes for IPv4, 40 for IPv6.
        ip_header: ByteCount,
    },
    /// TCP: is in slow start if cwnd is below ssthresh; a loss sets ssthresh to half of the flight size.
    Tcp(TcpRules),
}

/// TCP's rules (`rfc5681#section-3.1`) in which implementations differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpRules {
    /// Bytes of the IP header, TCP header and options of every segment. SMSS is the MTU minus these bytes.
    pub headers: ByteCount,
    /// The initial window, and the window after an idle time (`rfc5681#section-4.1`).
    pub initial_window: ByteCount,
    /// Byte counting (`rfc3465`) with this limit in segments; `None`: each ACK counts as one segment.
    pub abc_limit: Option<u32>,
    /// A window grows only if it was full (`rfc7661#section-4.1`, `rfc9438#section-5.8`).
    pub grow_full_only: bool,
}

named! {
    /// Edition of SCTP's rules for the growth of a window.
    "growth rule" GrowthRule {
        /// RFC 2960: as RFC 4960, but initial window and lower bound after losses and idle time are 2 MTU.
        Rfc2960 = "rfc2960",
        /// `rfc4960#section-7.2`: windows are counted in MTUs and grow only when the cumulative TSN advances.
        Rfc4960 = "rfc4960",
        /// `rfc9260#section-7.2`: windows are counted in PMDCS (MTU without IP and common header), every
        /// newly acknowledged byte counts, `partial_bytes_acked` is at most cwnd if the window is not full,
        /// and idle time sets ssthresh to cwnd before cwnd decays.
        Rfc9260 = "rfc9260",
    }
}

named! {
    /// ssthresh of a path that is idle for an RTO, under the rules of RFC 9260.
    "idle threshold" IdleThreshold {
        /// cwnd before the idle time (`rfc9260#section-7.2.1`). So a
        /// path that was never used begins in congestion avoidance.
        Window = "window",
        /// The larger of cwnd and ssthresh: idle time is no sign of congestion (`rfc2861#section-3`).
        Kept = "kept",
    }
}

/// The SCTP common header.
const COMMON_HEADER: ByteCount = ByteCount::new(12);

impl Setup {
    /// Parameters of an SCTP association; `peer_rwnd` is the peer's initial a_rwnd, `ip_header` 20 or 40.
    pub fn sctp(growth: GrowthRule, ip_header: ByteCount, peer_rwnd: ByteCount, paths: usize) -> Setup {
        Setup { paths, ..Setup::new(Rules::Sctp { growth, ip_header }, peer_rwnd) }
    }

    /// Parameters of a TCP connection.
    pub fn tcp(rules: TcpRules, initial_ssthresh: ByteCount) -> Setup {
        Setup::new(Rules::Tcp(rules), initial_ssthresh)
    }

    fn new(rules: Rules, initial_ssthresh: ByteCount) -> Setup {
        Setup {
            rules,
            initial_ssthresh,
            paths: 1,
            rp_min: 4,
            idle_threshold: IdleThreshold::Window,
            initial_window: None,
            paced: false,
        }
    }

    /// The segment, M in the formulas: unit of a window in bytes, never zero.
    ///
    /// RFC 4960: the MTU. RFC 9260: the largest DATA chunk that fits the MTU (PMDCS). TCP: SMSS.
    pub fn segment(&self, mtu: ByteCount) -> ByteCount {
        let segment = match self.rules {
            Rules::Sctp { growth: GrowthRule::Rfc2960 | GrowthRule::Rfc4960, .. } => mtu,
            Rules::Sctp { growth: GrowthRule::Rfc9260, ip_header } => mtu - ip_header - COMMON_HEADER,
            Rules::Tcp(TcpRules { headers, .. }) => mtu - headers,
        };
        segment.max(ByteCount::new(1))
    }

    /// Initial window of a path.
    ///
    /// SCTP, unless [`Self::initial_window`](Setup#structfield.initial_window) sets it: min(4 M, max(2 M, a
    /// constant)) (`rfc4960#section-7.2.1`, `rfc9260#section-7.2.1`); 2 M in RFC 2960.
    pub fn initial_window(&self, mtu: ByteCount) -> ByteCount {
        let m = self.segment(mtu);
        match (self.rules, self.initial_window) {
            (Rules::Sctp { .. }, Some(segments)) => m * u64::from(segments),
            (Rules::Sctp { growth, ip_header }, None) => {
                let constant = match growth {
                    GrowthRule::Rfc2960 => ByteCount::ZERO,
                    GrowthRule::Rfc4960 => ByteCount::new(4380),
                    GrowthRule::Rfc9260 => ByteCount::new(4404 + 3 * 20) - ip_header * 3,
                };
                (m * 4).min(constant.max(m * 2))
            }
            (Rules::Tcp(rules), _) => rules.initial_window.max(m),
        }
    }

    /// Lower bound of ssthresh after a loss: 4 M for SCTP (`rfc9260#section-7.2.3`), 2 M for SCTP of RFC 2960
    /// and for TCP (`rfc5681#section-3.1`, equation 4).
    pub fn least_ssthresh(&self, mtu: ByteCount) -> ByteCount {
        let segments = match self.rules {
            Rules::Sctp { growth: GrowthRule::Rfc2960, .. } | Rules::Tcp(_) => 2,
            Rules::Sctp { .. } => 4,
        };
        self.segment(mtu) * segments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sctp(growth: GrowthRule, ip_header: u64) -> Setup {
        Setup::sctp(growth, ByteCount::new(ip_header), ByteCount::new(65_536), 1)
    }

    #[test]
    fn initial_window_is_between_two_and_four_segments() {
        let window = |growth, ip, mtu| sctp(growth, ip).initial_window(ByteCount::new(mtu)).get();
        assert_eq!(window(GrowthRule::Rfc2960, 20, 1500), 3000);
        assert_eq!(window(GrowthRule::Rfc4960, 20, 1500), 4380);
        assert_eq!(window(GrowthRule::Rfc4960, 20, 600), 2400);
        assert_eq!(window(GrowthRule::Rfc4960, 20, 9000), 18_000);
        assert_eq!(window(GrowthRule::Rfc9260, 20, 1500), 4404);
        assert_eq!(window(GrowthRule::Rfc9260, 40, 1500), 4344);
        assert_eq!(window(GrowthRule::Rfc9260, 20, 600), 4 * 568);
        assert_eq!(window(GrowthRule::Rfc9260, 40, 9000), 2 * 8948);
        let ten = Setup { initial_window: Some(10), ..sctp(GrowthRule::Rfc9260, 20) };
        assert_eq!(ten.initial_window(ByteCount::new(1500)).get(), 10 * 1468);
    }
}
