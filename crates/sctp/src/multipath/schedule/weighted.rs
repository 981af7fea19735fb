//! Packets in proportion to the rates of the paths: start-time fair queueing (Goyal, Vin, Cheng,
//! "Start-time fair queueing", ToN 1997) with paths in place of flows. A packet advances the clock of
//! its path by its length divided by the rate. The path whose clock is furthest behind sends next; if
//! cwnd of that path is full, the next path sends. A path whose cwnd was full for a long time does
//! not catch up: its clock is at most a few packets behind the most advanced clock.

use super::{Opportunity, Scheduler, SchedulerTraits};
use crate::draws::Draws;
use crate::path::{Path, PathId};

#[derive(Debug, Default)]
pub(super) struct Weighted {
    paths: Vec<Clock>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    /// Sum over all sent packets of their length divided by the rate of the path, in seconds.
    time: f64,
    /// User bytes that the path had sent when its clock was last updated.
    seen: u64,
}

/// Maximum number of packets by which the clock of a path may be behind the most advanced clock: about a
/// burst.
const MOST_BEHIND: f64 = 4.0;

/// The rate of a path in bytes per second: cwnd divided by SRTT.
fn rate(path: &Path) -> f64 {
    let rtt = path.rto.srtt().unwrap_or(path.rto.current()).as_secs_f64();
    path.window.cwnd.as_f64() / rtt.max(1e-6)
}

impl Scheduler for Weighted {
    fn order(&mut self, at: &Opportunity<'_>, _: &mut Draws, order: &mut [PathId]) {
        self.paths.resize(at.paths.len(), Clock::default());
        let mut furthest = 0.0f64;
        for p in at.paths.ids() {
            let sent = at.paths[p].stats.user_bytes.get();
            let rate = rate(&at.paths[p]);
            let clock = &mut self.paths[p.index()];
            // If a new path has taken the number of a removed path, its counter of sent bytes began
            // again at zero.
            let new = sent.checked_sub(clock.seen).unwrap_or(sent);
            clock.time += new as f64 / rate;
            clock.seen = sent;
            furthest = furthest.max(clock.time);
        }
        for &p in order.iter() {
            let behind = MOST_BEHIND * at.paths[p].mtu.as_f64() / rate(&at.paths[p]);
            let clock = &mut self.paths[p.index()];
            clock.time = clock.time.max(furthest - behind);
        }
        order.sort_by(|a, b| self.paths[a.index()].time.total_cmp(&self.paths[b.index()].time));
    }

    fn traits(&self) -> SchedulerTraits {
        SchedulerTraits { each_packet: true, ..SchedulerTraits::default() }
    }
}
