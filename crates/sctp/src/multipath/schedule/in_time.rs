//! Scheduler of this project: a path carries a packet if better paths cannot send all data before the
//! packet arrives.
//!
//! While a packet of m bytes travels on path p, the paths of shorter round-trip times continue to
//! send. They stop when W bytes are in flight, the most that the smaller buffer of both ends permits
//! (the earliest chunk is on p), or when they have sent the rest of the G bytes that the application
//! gave and the peer has not acknowledged. Then they wait for p, and p has made the transfer slower.
//! So paths are sorted by the time T until their next packet is acknowledged, and
//!
//! ```text
//! p carries it if   Σ κ_q T_p + x_p + m <= min(W, G),   q: the paths before p that are in use,
//! T_p = max(d, (x_p + m)/μ_p) + v/2
//! ```
//!
//! x is the flight size of the path, d its least RTT, v its RTT variation, μ the rate at which it delivers
//! and κ the rate at which it could deliver (`path/model.rs`). Without a queue T is d + v/2, so of two
//! equal paths none waits for the other. A path without an RTT sample is first. The first path always
//! carries data, since no faster path would have to wait for it. A path whose T3-rtx expired carries one
//! packet at a time when the answering paths are full. G is infinite if the send buffer is full.
//!
//! Reason for the condition with W: while p is in use, all paths together deliver at most W in each T_p.
//! Without p, the paths before p deliver at the rate Σ κ_q. So p adds throughput only if W/T_p > Σ κ_q. This
//! is the condition above if x_p + m is small. Reason for the condition with G: if it fails, the last byte
//! that the application gave arrives later with p than without p.
//!
//! An unordered message waits for no other message. If the peer sends NR-SACKs, W need only hold the bytes in
//! flight of each path without its queue:
//!
//! ```text
//! p carries it if   Σ κ_q d_q + x_p + m <= W   and   Σ κ_q T_p + x_p + m <= G
//! ```
//!
//! BLEST (`blest.rs`) compares SRTTs instead. But the SRTT of an unused path still contains the queue that
//! the path had when it was last used.

use super::{Opportunity, Scheduler, SchedulerTraits};
use crate::draws::Draws;
use crate::path::{Path, PathId};
use units::ByteCount;

#[derive(Debug, Default)]
pub(super) struct InTime {
    paths: Vec<Estimate>,
    /// Paths that answer, sorted by the time until their next packet is acknowledged.
    order: Vec<PathId>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    /// Rate at which the path could deliver (κ), in bytes per second; zero without a measurement.
    rate: f64,
    /// Time until the path's next packet is acknowledged (T), in seconds; zero for a path without an
    /// RTT sample, so that it gets one.
    time: f64,
    /// The path may carry the next packet.
    in_time: bool,
}

impl InTime {
    /// Decides which of the `candidates` may carry the next packet.
    fn look(&mut self, at: &Opportunity<'_>, candidates: &[PathId]) {
        let plenty = at.given == ByteCount::MAX;
        self.order.clear();
        self.order.extend(candidates.iter().filter(|&&p| at.paths[p].answers()));
        // If no path answers, there is no path to wait for.
        let in_time = self.order.is_empty();
        let estimate = |path: &Path| {
            let (delivered, possible) = match plenty {
                true => (path.delivered_rate(), path.possible_rate()),
                false => (path.window_rate(), path.window_rate()),
            };
            let time = path.time_for(path.mtu, delivered).unwrap_or(0.0);
            Estimate { rate: possible.unwrap_or(0.0), time, in_time }
        };
        self.paths.clear();
        self.paths.extend(at.paths.iter().map(estimate));
        self.order.sort_by(|a, b| self.paths[a.index()].time.total_cmp(&self.paths[b.index()].time));
        // One packet at a time shows whether a path works again after an expiry of T3-rtx.
        for &p in candidates.iter().filter(|&&p| at.paths[p].timed_out && at.paths[p].flight.is_zero()) {
            self.paths[p.index()].in_time = true;
        }
        // Sums over the paths before p that are in use: their possible rates (κ), and the bytes that
        // they have in flight without a queue (κ d).
        let (mut rates, mut in_flight) = (0.0, 0.0);
        for (n, &p) in self.order.iter().enumerate() {
            let (path, estimate) = (&at.paths[p], &mut self.paths[p.index()]);
            let own = (path.flight + path.mtu).as_f64();
            let meanwhile = rates * estimate.time;
            let blocking = if at.unblocked { in_flight } else { meanwhile };
            let fits = blocking + own <= at.window.as_f64() && meanwhile + own <= at.given.as_f64();
            estimate.in_time = n == 0 || fits;
            // A path with more than one packet in flight counts as in use, too, even if it may not send now.
            if estimate.in_time || path.flight > path.mtu {
                rates += estimate.rate;
                in_flight += estimate.rate * path.least_time().unwrap_or(0.0);
            }
        }
    }
}

impl Scheduler for InTime {
    fn order(&mut self, at: &Opportunity<'_>, _: &mut Draws, order: &mut [PathId]) {
        self.look(at, order);
        let rank = |p: PathId| {
            let estimate = &self.paths[p.index()];
            ((!estimate.in_time, !at.paths[p].answers()), estimate.time)
        };
        order.sort_by(|&a, &b| {
            let (a, b) = (rank(a), rank(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
    }

    fn admits(&mut self, _: &Opportunity<'_>, p: PathId) -> bool {
        self.paths[p.index()].in_time
    }

    fn traits(&self) -> SchedulerTraits {
        SchedulerTraits { each_packet: true, choosy: true, ..SchedulerTraits::default() }
    }
}
