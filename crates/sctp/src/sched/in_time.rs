//! A path carries new data if that arrives before the window of the transfer closes; ours, after BLEST (see there).
//!
//! BLEST takes smoothed round-trip times, and that of a path which is left out stays what its own queue made of it: it may
//! never be used again, while the other fills a queue of its own. Here the round-trip time is one at a load. A path whose
//! window c is full has the smoothed one, r, an empty one the least that was seen, b, and between them it is
//!
//! ```text
//! r(x) = b + (r - b) min(1, x/c),     x bytes in flight
//! ```
//!
//! What a path carries is y, the most of x/r lately: a maximum that fades with the packets sent. The path that would be the
//! best alone, of the largest min(y, W/b) in a window of W bytes for the transfer, is always used. While a packet of m
//! bytes on another path p is on its way, the others send on, and if the window has no room for that, p blocks them:
//!
//! ```text
//! p carries it if   r_p(x_p + m) Σ y_i + x_p + m <= 7/8 W,     i ≠ p
//! ```
//!
//! Of the paths that may carry it, the one with the least r(x) does. So of equal paths none fills its queue before the other
//! is used, and a slow one is used as far as it is in time.

use super::{Opportunity, Scheduler, SchedulerTraits};
use crate::draws::Draws;
use crate::path::{Path, PathId};
use units::ByteCount;

#[derive(Debug)]
pub(super) struct InTime {
    paths: Vec<Estimate>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    /// y in bytes a second.
    rate: f64,
    in_time: bool,
}

/// What is left of a maximum with each packet: it fades in a few windows.
const FADING: f64 = 1.0 - 1.0 / 256.0;

/// Share of the window that is left to what varies: delayed acknowledgements, bursts, jitter.
const SPARE: f64 = 1.0 / 8.0;

impl InTime {
    pub(super) fn new() -> Self {
        InTime { paths: Vec::new() }
    }

    /// Estimates what each path carries and decides which of the `candidates` may carry the next packet.
    fn look(&mut self, at: &Opportunity<'_>, candidates: &[PathId]) {
        self.paths.resize(at.paths.len(), Estimate::default());
        let window = at.window.as_f64();
        let room = window * (1.0 - SPARE);
        let (mut total, mut best) = (0.0, None);
        for p in at.paths.ids() {
            let path = &at.paths[p];
            let now = path.rto.srtt().map_or(0.0, |srtt| path.flight.as_f64() / srtt.as_secs_f64().max(1e-6));
            let rate = &mut self.paths[p.index()].rate;
            let usable = path.is_usable() && !path.timed_out;
            *rate = if usable { now.max(*rate * FADING) } else { 0.0 };
            total += *rate;
            let base = path.rto.base().map_or(0.0, |base| base.as_secs_f64());
            let alone = rate.min(window / base.max(1e-6));
            if usable && candidates.contains(&p) && best.is_none_or(|(_, most)| alone > most) {
                best = Some((p, alone));
            }
        }
        for p in at.paths.ids() {
            let path = &at.paths[p];
            let others = total - self.paths[p.index()].rate;
            let after = path.flight + path.mtu;
            let needed = others * round_trip(path, after) + after.as_f64();
            // If no path answers, there is none to wait for.
            self.paths[p.index()].in_time = best.is_none_or(|(best, _)| p == best) || needed <= room;
        }
    }
}

/// r(x) in seconds; zero for a path not measured yet, so that it is.
fn round_trip(path: &Path, flight: ByteCount) -> f64 {
    let (Some(srtt), Some(base)) = (path.rto.srtt(), path.rto.base()) else { return 0.0 };
    let (srtt, base) = (srtt.as_secs_f64(), base.as_secs_f64());
    base + (srtt - base).max(0.0) * (flight.as_f64() / path.window.cwnd.as_f64()).min(1.0)
}

impl Scheduler for InTime {
    fn order(&mut self, at: &Opportunity<'_>, _: &mut Draws, order: &mut [PathId]) {
        self.look(at, order);
        let time = |p: PathId| round_trip(&at.paths[p], at.paths[p].flight);
        let late = |p: PathId| !self.paths[p.index()].in_time;
        order.sort_by(|&a, &b| late(a).cmp(&late(b)).then(time(a).total_cmp(&time(b))));
    }

    fn admits(&mut self, _: &Opportunity<'_>, p: PathId) -> bool {
        self.paths[p.index()].in_time
    }

    fn traits(&self) -> SchedulerTraits {
        SchedulerTraits { each_packet: true, choosy: true, ..SchedulerTraits::default() }
    }
}
