//! Blocking estimation (Ferlin, Alay, Mehani, Boreli, "BLEST: Blocking estimation-based MPTCP scheduler for
//! heterogeneous networks", IFIP Networking 2016). While the slow path s carries a packet, the fast path f
//! could send X bytes:
//!
//! ```text
//! X = m_f (c_f + (n - 1)/2) n,     n = r_s / r_f
//! ```
//!
//! r is the SRTT of a path, m its MTU in bytes and c its cwnd in packets of m bytes. The window of
//! the transfer is the most bytes that may be in flight on all paths, by the smaller buffer of both
//! ends. If λ X exceeds this window less that packet and the flight size of s, the packet would later
//! block f. So the packet waits for f. λ corrects X: in each round-trip time of s, λ grows by δ if
//! the peer's receive window was exhausted, and else shrinks by δ, but not below 1.

use super::{Opportunity, Scheduler, SchedulerTraits, by_rtt, fastest};
use crate::draws::Draws;
use crate::path::PathId;
use units::{Instant, Span};

#[derive(Debug)]
pub(super) struct Blest {
    lambda: f64,
    /// Time of the last correction of λ, and how often the peer's receive window had stopped new data
    /// by then.
    corrected: Instant,
    refusals: u64,
}

/// Step δ by which λ changes (section III-B of the paper on BLEST).
const DELTA: f64 = 0.01;

impl Blest {
    pub(super) fn new() -> Self {
        Blest { lambda: 1.0, corrected: Instant::ZERO, refusals: 0 }
    }

    fn correct(&mut self, at: &Opportunity<'_>, round: Span) {
        if at.now.since(self.corrected) < round {
            return;
        }
        let step = if at.refusals > self.refusals { DELTA } else { -DELTA };
        self.lambda = (self.lambda + step).max(1.0);
        (self.corrected, self.refusals) = (at.now, at.refusals);
    }
}

impl Scheduler for Blest {
    fn order(&mut self, at: &Opportunity<'_>, _: &mut Draws, order: &mut [PathId]) {
        by_rtt(at.paths, order);
    }

    fn admits(&mut self, at: &Opportunity<'_>, p: PathId) -> bool {
        let slow = &at.paths[p];
        let (Some((f, fast, r_f)), Some(r_s)) = (fastest(at.paths), slow.rto.srtt()) else { return true };
        self.correct(at, r_s);
        if f == p || r_s.as_secs_f64() <= r_f || r_f == 0.0 {
            return true;
        }
        let rounds = r_s.as_secs_f64() / r_f;
        let sent = (fast.window.cwnd.as_f64() + fast.mtu.as_f64() * (rounds - 1.0) / 2.0) * rounds;
        let left = at.window - slow.flight - slow.mtu;
        self.lambda * sent <= left.as_f64()
    }

    fn traits(&self) -> SchedulerTraits {
        SchedulerTraits { choosy: true, ..SchedulerTraits::default() }
    }
}
