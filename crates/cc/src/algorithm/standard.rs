//! Standard SCTP, on each path by itself.
//!
//! Over several paths at once this is uncoupled CMT: each path is as aggressive as a separate association.
//! Under TCP's rules it is Reno.
//!
//! Sources: `rfc4960#section-7.2`, `rfc9260#section-7.2`; written as equations 1 to 4 by Dreibholz et al.,
//! "Applying TCP-Friendly Congestion Control to Concurrent Multipath Transfer", AINA
//! 2010, §III. c is cwnd, s ssthresh, M the segment, a the newly acknowledged bytes:
//!
//! ```text
//! fast retransmission   s = max(c - c/2, 4 M)   (1)    c = s   (2)
//! timeout               s = max(c - c/2, 4 M)   (3)    c = M   (4)
//! slow start            c = c + min(M, a)       for a bytes of a full window
//! avoidance             c = c + M               for each full window
//! ```
//!
//! TCP, `rfc5681#section-3.1`, with f the flight size, and ABC with the limit L, `rfc3465`:
//!
//! ```text
//! fast retransmission   s = max(f/2, 2 M)       c = s
//! timeout               s = max(f/2, 2 M)       c = M
//! slow start            c = c + M               for each ACK; with ABC, c = c + min(a, L M)
//! avoidance             c = c + M M/c           for each ACK; with ABC, c = c + M for each window
//! ```

use units::ByteCount;

use crate::{CongestionControl, Growth, LossBased, LossKind, Setup, Snapshot, WindowPolicy};

pub(super) fn build(setup: &Setup) -> Box<dyn CongestionControl> {
    Box::new(LossBased::new(Standard, setup))
}

#[derive(Debug)]
struct Standard;

impl WindowPolicy for Standard {
    fn name(&self) -> &'static str {
        "standard"
    }

    fn increase(&mut self, growth: Growth, _at: &Snapshot<'_>) -> f64 {
        growth.standard
    }

    fn decrease(&mut self, _kind: LossKind, at: &Snapshot<'_>) -> ByteCount {
        at.halved()
    }
}
