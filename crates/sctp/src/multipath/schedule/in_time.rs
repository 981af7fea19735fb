//! A path carries new data if that arrives before the better paths could have sent everything that there is to send; ours.
//!
//! While a packet of m bytes is on its way on path p, the paths that answer sooner send on. There is an end to what they can send until then: the
//! window W of the transfer closes, since its earliest chunk is on p, or nothing is left of the bytes G that the application gave and that are not
//! acknowledged. Beyond that they wait for p, and would have been faster without it. So paths are taken in the order of the time T in which the
//! next packet is acknowledged, and
//!
//! ```text
//! p carries it if   Σ μ_q T_p + x_p + m <= min(W, G),   q: the paths before p that are in use,
//! T_p = max(d, (x_p + m)/μ_p) + v/2
//! ```
//!
//! x is what the path has in flight, d its least round-trip time, v the variation. μ is the most that the path delivered in one of its last round
//! trips, in slow start twice that. If the application gives less than the paths carry, it is cwnd/SRTT: nothing measures a path that has little to
//! do. With a full buffer that would be too much, since parts of the windows are not used. Up to a bandwidth-delay product in flight nothing queues, and T
//! is d; so of two equal paths none waits for the other. A path of which nothing is known yet comes first. The first path of the order always
//! carries data: it blocks nobody. A path that timed out carries one packet when those that answer are full, and nothing more before that is
//! acknowledged. If the application has more than the send buffer takes, G has no limit.
//!
//! Why this is enough: while p is in use, all paths together deliver at most a window W in each T_p. The paths before p deliver Σ μ without it. So p adds to
//! the throughput only if W/T_p is more than that, which is the condition for small packets. With G in place of W it is the last packet of a message that
//! p would delay.
//!
//! An unordered message waits for no other. If the peer sends NR-SACKs, the window has to hold what is in flight without queues, and no more:
//!
//! ```text
//! p carries it if   Σ μ_q d_q + x_p + m <= W   and   Σ μ_q T_p + x_p + m <= G
//! ```
//!
//! BLEST (see there) compares smoothed round-trip times and windows. That of a path which is left out stays what its own queue made of it.

use super::delivered::Delivered;
use super::{Opportunity, Scheduler, SchedulerTraits};
use crate::draws::Draws;
use crate::path::{Path, PathId};
use units::ByteCount;

#[derive(Debug, Default)]
pub(super) struct InTime {
    paths: Vec<Estimate>,
    /// Paths that answer, by T in seconds.
    order: Vec<(f64, PathId)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Estimate {
    delivered: Delivered,
    /// μ in bytes a second; none while nothing is known.
    rate: Option<f64>,
    /// It may carry the next packet.
    in_time: bool,
}

/// Weight of the RTT variation in T. It does not follow from the model, and was not measured by itself.
const VARIATION: f64 = 0.5;

/// In slow start the window doubles in each round trip (`rfc9260#section-7.2.1`), and so does what a path delivers.
const NEXT_ROUND: f64 = 2.0;

/// Keeps d and divisions by it above zero, in seconds: no rule follows from it.
const LEAST_TIME: f64 = 1e-6;

impl InTime {
    /// Decides which of the `candidates` may carry the next packet.
    fn look(&mut self, at: &Opportunity<'_>, candidates: &[PathId]) {
        self.estimate(at);
        self.order.clear();
        let answering = candidates.iter().filter(|&&p| answers(&at.paths[p]));
        self.order.extend(answering.map(|&p| (self.paths[p.index()].time(&at.paths[p]), p)));
        self.order.sort_by(|a, b| a.0.total_cmp(&b.0));
        // If no path answers, there is none to wait for.
        let none = self.order.is_empty();
        self.paths.iter_mut().for_each(|estimate| estimate.in_time = none);
        // One packet at a time tells whether a path works that timed out.
        for &p in candidates.iter().filter(|&&p| at.paths[p].timed_out && at.paths[p].flight.is_zero()) {
            self.paths[p.index()].in_time = true;
        }
        // Of the paths in use before p: what they deliver in a second, and what they have in flight without queues.
        let (mut rates, mut in_flight) = (0.0, 0.0);
        for (n, &(time, p)) in self.order.iter().enumerate() {
            let (path, estimate) = (&at.paths[p], &mut self.paths[p.index()]);
            let own = (path.flight + path.mtu).as_f64();
            let meanwhile = rates * time;
            let blocking = if at.unblocked { in_flight } else { meanwhile };
            let fits = blocking + own <= at.window.as_f64() && meanwhile + own <= at.given.as_f64();
            estimate.in_time = n == 0 || fits;
            // A path that may send no more because it has enough in flight is in use, too.
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

    /// T in seconds; zero for a path not measured yet, so that it is.
    fn time(&self, path: &Path) -> f64 {
        let Some(least) = least(path) else { return 0.0 };
        let queue = self.rate.map_or(0.0, |rate| (path.flight + path.mtu).as_f64() / rate);
        least.max(queue) + VARIATION * path.rto.variation().as_secs_f64()
    }
}

/// cwnd/SRTT in bytes a second; none for a path not measured yet.
fn of_window(path: &Path) -> Option<f64> {
    path.rto.srtt().map(|srtt| path.window.cwnd.as_f64() / srtt.as_secs_f64().max(LEAST_TIME))
}

/// True if slow start has not shown yet what the path carries.
fn is_growing(path: &Path) -> bool {
    path.window.ssthresh.is_none_or(|ssthresh| path.window.cwnd < ssthresh)
}

fn answers(path: &Path) -> bool {
    path.is_usable() && !path.timed_out
}

/// d in seconds; none for a path not measured yet.
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
