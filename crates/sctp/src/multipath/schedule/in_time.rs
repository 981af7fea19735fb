//! Own scheduler: a path carries a packet if better paths cannot send all data before the packet arrives.
//!
//! While a packet of m bytes travels on path p, the paths of shorter round-trip times continue to send. They
//! stop when the window W of the transfer is full (its earliest chunk is on p), or when all G bytes are sent
//! that the application gave and that are not acknowledged. Then they wait for p, and p has made the transfer
//! slower. So paths are sorted by the time T until their next packet is acknowledged, and
//!
//! ```text
//! p carries it if   Σ μ_q T_p + x_p + m <= min(W, G),   q: the paths before p that are in use,
//! T_p = max(d, (x_p + m)/μ_p) + v/2
//! ```
//!
//! x is the flight size of the path, d its least RTT, v its RTT variation. μ is the highest rate that
//! the path delivered in one of its last round trips, twice that in slow start. If the application
//! gives less than the paths carry, μ is cwnd/SRTT, since a path with little to send measures nothing;
//! with a full buffer cwnd/SRTT would be too high, since parts of the windows are unused. Without a
//! queue T is d, so of two equal paths none waits for the other. A path without an RTT sample is first.
//! The first path always carries data: it blocks no other. A path whose T3-rtx expired carries one
//! packet at a time when the answering paths are full. G has no limit if the send buffer is full.
//!
//! Why this is enough: while p is in use, all paths together deliver at most W in each T_p. Without p,
//! the paths before p deliver Σ μ. So p adds throughput only if W/T_p is more than that: the condition
//! for small packets. With G in place of W, p would delay the last packet of a message.
//!
//! An unordered message waits for no other one. With NR-SACKs, W must hold only the flights without queues:
//!
//! ```text
//! p carries it if   Σ μ_q d_q + x_p + m <= W   and   Σ μ_q T_p + x_p + m <= G
//! ```
//!
//! BLEST (`blest.rs`) compares SRTTs instead, and the SRTT of an unused path still contains its last queue.

use super::delivered::Delivered;
use super::{Opportunity, Scheduler, SchedulerTraits};
use crate::draws::Draws;
use crate::path::{Path, PathId};
use units::ByteCount;

#[derive(Debug, Default)]
pub(super) struct InTime {
    paths: Vec<Estimate>,
    /// Paths that answer, sorted by T in seconds.
    order: Vec<(f64, PathId)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    delivered: Delivered,
    /// μ in bytes a second; none without a measurement.
    rate: Option<f64>,
    /// The path may carry the next packet.
    in_time: bool,
}

/// Weight of the RTT variation in T. It does not follow from the model, and was not measured by itself.
const VARIATION: f64 = 0.5;

/// In slow start cwnd doubles in each round trip (`rfc9260#section-7.2.1`), and the delivered rate with it.
const NEXT_ROUND: f64 = 2.0;

/// Lower bound of d and of SRTT, in seconds: it only prevents a division by zero.
const LEAST_TIME: f64 = 1e-6;

impl InTime {
    /// Decides which of the `candidates` may carry the next packet.
    fn look(&mut self, at: &Opportunity<'_>, candidates: &[PathId]) {
        self.estimate(at);
        self.order.clear();
        let answering = candidates.iter().filter(|&&p| answers(&at.paths[p]));
        self.order.extend(answering.map(|&p| (self.paths[p.index()].time(&at.paths[p]), p)));
        self.order.sort_by(|a, b| a.0.total_cmp(&b.0));
        // If no path answers, there is no path to wait for.
        let none = self.order.is_empty();
        self.paths.iter_mut().for_each(|estimate| estimate.in_time = none);
        // One packet at a time shows whether a path works again after an expiry of T3-rtx.
        for &p in candidates.iter().filter(|&&p| at.paths[p].timed_out && at.paths[p].flight.is_zero()) {
            self.paths[p.index()].in_time = true;
        }
        // Sums over paths in use before p: rate in bytes per second, and flight size without queues.
        let (mut rates, mut in_flight) = (0.0, 0.0);
        for (n, &(time, p)) in self.order.iter().enumerate() {
            let (path, estimate) = (&at.paths[p], &mut self.paths[p.index()]);
            let own = (path.flight + path.mtu).as_f64();
            let meanwhile = rates * time;
            let blocking = if at.unblocked { in_flight } else { meanwhile };
            let fits = blocking + own <= at.window.as_f64() && meanwhile + own <= at.given.as_f64();
            estimate.in_time = n == 0 || fits;
            // A path that may not send because it has enough in flight is in use, too.
            if estimate.in_time || path.flight > path.mtu {
                let rate = estimate.rate.unwrap_or(0.0);
                rates += rate;
                in_flight += rate * least(path).unwrap_or(0.0);
            }
        }
    }

    fn estimate(&mut self, at: &Opportunity<'_>) {
        self.paths.resize(at.paths.len(), Estimate::default());
        for (path, estimate) in at.paths.iter().zip(&mut self.paths) {
            match path.rto.srtt() {
                Some(srtt) if answers(path) => estimate.delivered.update(at.now, path, srtt),
                _ => estimate.delivered = estimate.delivered.paused(),
            }
            estimate.rate =
                if at.given == ByteCount::MAX { estimate.measured(path) } else { of_window(path) };
        }
    }
}

impl Estimate {
    fn measured(&self, path: &Path) -> Option<f64> {
        let most = self.delivered.most()?;
        Some(if is_growing(path) { NEXT_ROUND * most } else { most })
    }

    /// T in seconds; zero for a path without an RTT sample, so that it gets one.
    fn time(&self, path: &Path) -> f64 {
        let Some(least) = least(path) else { return 0.0 };
        let queue = self.rate.map_or(0.0, |rate| (path.flight + path.mtu).as_f64() / rate);
        least.max(queue) + VARIATION * path.rto.variation().as_secs_f64()
    }
}

/// cwnd/SRTT in bytes a second; none for a path without an RTT sample.
fn of_window(path: &Path) -> Option<f64> {
    path.rto.srtt().map(|srtt| path.window.cwnd.as_f64() / srtt.as_secs_f64().max(LEAST_TIME))
}

/// Returns true if slow start has not shown yet which rate the path carries.
fn is_growing(path: &Path) -> bool {
    path.window.ssthresh.is_none_or(|ssthresh| path.window.cwnd < ssthresh)
}

fn answers(path: &Path) -> bool {
    path.is_usable() && !path.timed_out
}

/// d in seconds; none for a path without an RTT sample.
fn least(path: &Path) -> Option<f64> {
    path.rto.base().map(|base| base.as_secs_f64().max(LEAST_TIME))
}

impl Scheduler for InTime {
    fn order(&mut self, at: &Opportunity<'_>, _: &mut Draws, order: &mut [PathId]) {
        self.look(at, order);
        let rank = |p: PathId| {
            let estimate = &self.paths[p.index()];
            ((!estimate.in_time, !answers(&at.paths[p])), estimate.time(&at.paths[p]))
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
