//! Packets in proportion to the paths' rates: fair queueing by start times (Goyal, Vin, Cheng, "Start-time fair queueing", ToN 1997)
//! turned round, with paths in the place of flows. Each path has a clock that what it sends moves on by its bytes over its
//! rate, and the path whose clock is behind the others' is next; if its window is full, the next one is. A path that
//! was full for long does not make up for it: its clock is never more than a few packets behind.

use super::{Opportunity, Scheduler, SchedulerTraits};
use crate::draws::Draws;
use crate::path::{Path, PathId};

#[derive(Debug, Default)]
pub(super) struct Weighted {
    paths: Vec<Clock>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Clock {
    /// Bytes sent, over the rate.
    time: f64,
    /// User bytes the path had sent when it was last looked at.
    seen: u64,
}

/// Packets a clock may be behind the one that is furthest: about a burst.
const MOST_BEHIND: f64 = 4.0;

/// What a path can send: its window in a smoothed round-trip time.
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
            // A path that was added since has the number of one that was removed.
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
