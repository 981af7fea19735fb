//! Parameters that a controller is built with.

use units::ByteCount;

use crate::Knobs;
use transport::named;

/// Parameters of an association that its controller depends on.
#[derive(Clone, Copy, Debug)]
#[repr(C)] // the knobs, which most controllers read only once, come last
pub struct Setup {
    /// The transport's rules of growth.
    pub rules: Rules,
    /// Value of a slow start threshold that nothing has set yet: for SCTP by default the peer's receive window from its
    /// INIT or INIT ACK.
    pub initial_ssthresh: ByteCount,
    /// Paths the association is expected to use; CMT/RP divides its initial window among those of a group.
    pub paths: usize,
    /// CMT/RP: factor of the MTU in the scaled lower bound of equations 5 and 7 of the paper, which says 4.
    pub rp_min: u64,
    /// SCTP: how idle time changes the slow start threshold.
    pub idle_threshold: IdleThreshold,
    /// SCTP: initial window of each path in units of M ([`Self::segment`]); none: that of the growth rule.
    pub initial_window: Option<u32>,
    /// A pacer spreads the packets of each path.
    pub paced: bool,
    /// Options of single algorithms.
    pub knobs: Knobs,
}

/// Rules in which the transports differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// SCTP: counts bytes, grows only full windows, and is in slow start up to and including ssthresh.
    Sctp {
        /// Edition of the rules.
        growth: GrowthRule,
        /// IP header of the paths: 20 bytes for IPv4, 40 for IPv6.
        ip_header: ByteCount,
    },
    /// TCP: in congestion avoidance from ssthresh on; a loss halves the flight size.
    Tcp(TcpRules),
}

/// TCP's rules (`rfc5681#section-3.1`) in which stacks differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpRules {
    /// Header bytes of a full packet: IP header, TCP header and the options of every segment. SMSS is the MTU minus
    /// these.
    pub headers: ByteCount,
    /// The initial window, and the window after an idle time (`rfc5681#section-4.1`).
    pub initial_window: ByteCount,
    /// Appropriate byte counting (`rfc3465`) with this limit in segments; none: each ACK counts, whatever it covers.
    pub abc_limit: Option<u32>,
    /// Only a window that was used grows: one with room for less than a segment (`rfc7661#section-4.1`,
    /// `rfc9438#section-5.8`).
    pub grow_full_only: bool,
}

named! {
    /// Edition of SCTP's rules for the growth of a window.
    "growth rule" GrowthRule {
        /// RFC 2960: as RFC 4960, but the initial window is 2 MTU, and so is the lower bound after losses and idle
        /// time.
        Rfc2960 = "rfc2960",
        /// `rfc4960#section-7.2`: windows are counted in MTUs and grow only when the cumulative TSN advances.
        Rfc4960 = "rfc4960",
        /// `rfc9260#section-7.2`: windows are counted in PMDCS (MTU without IP and common header), every newly
        /// acknowledged byte counts, `partial_bytes_acked` is clamped on windows that are not full, and idle time sets
        /// ssthresh to the window before it decays.
        Rfc9260 = "rfc9260",
    }
}

named! {
    /// Slow start threshold of a path that is idle for an RTO, under the rules of RFC 9260.
    "idle threshold" IdleThreshold {
        /// The window it had (`rfc9260#section-7.2.1`). An unused path then begins in congestion avoidance.
        Window = "window",
        /// Never less than before, since idle time is no sign of congestion (`rfc2861#section-3`).
        Kept = "kept",
    }
}

/// The SCTP common header.
const COMMON_HEADER: ByteCount = ByteCount::new(12);

impl Setup {
    /// An SCTP association on so many paths; `peer_rwnd` is the peer's initial receive window, `ip_header` 20 or 40.
    pub fn sctp(growth: GrowthRule, ip_header: ByteCount, peer_rwnd: ByteCount, paths: usize) -> Setup {
        Setup { paths, ..Setup::new(Rules::Sctp { growth, ip_header }, peer_rwnd) }
    }

    /// A TCP connection.
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
            knobs: Knobs::default(),
        }
    }

    /// Unit of a window in bytes, written M in the formulas, never zero: the MTU (RFC 4960), the largest DATA chunk
    /// that fits it (RFC 9260: PMDCS), or the data of a full segment (TCP: SMSS).
    pub fn segment(&self, mtu: ByteCount) -> ByteCount {
        let segment = match self.rules {
            Rules::Sctp { growth: GrowthRule::Rfc2960 | GrowthRule::Rfc4960, .. } => mtu,
            Rules::Sctp { growth: GrowthRule::Rfc9260, ip_header } => mtu - ip_header - COMMON_HEADER,
            Rules::Tcp(TcpRules { headers, .. }) => mtu - headers,
        };
        segment.max(ByteCount::new(1))
    }

    /// Initial window of a path. SCTP, unless [`Self::initial_window`](Setup#structfield.initial_window) says
    /// otherwise: min(4 M, max(2 M, a constant)), `rfc4960#section-7.2.1`, `rfc9260#section-7.2.1`; 2 M in RFC 2960.
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

    /// Lower bound of ssthresh after a loss: 4 M for SCTP (`rfc9260#section-7.2.3`), 2 M for SCTP of RFC 2960 and for
    /// TCP (`rfc5681#section-3.1`, equation 4).
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
