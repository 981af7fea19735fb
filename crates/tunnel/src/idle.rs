//! Rarer heartbeats while no packets pass through the tunnel.

use io::PathOptions;
use std::time::{Duration, Instant};
use units::Span;

/// Time without packets after which a tunnel is idle.
const AFTER: Duration = Duration::from_secs(10);
/// Interval of heartbeats on an idle tunnel, which keep NAT bindings that expire after 30 s.
const INTERVAL: Span = Span::from_secs(25);

/// Notices that a tunnel is idle.
#[derive(Debug)]
pub(crate) struct Idle {
    /// Number of packets so far.
    packets: u64,
    /// Time at which `packets` last changed.
    since: Instant,
}

impl Idle {
    pub(crate) fn new(now: Instant) -> Idle {
        Idle { packets: 0, since: now }
    }

    /// True if the number of packets in both directions has stayed the same for [`AFTER`].
    pub(crate) fn is_idle(&mut self, now: Instant, packets: u64) -> bool {
        if self.packets != packets {
            *self = Idle { packets, since: now };
        }
        now.duration_since(self.since) >= AFTER
    }
}

/// The options of an uplink while the tunnel is idle. An interval that the user set stays.
pub(crate) fn idle_options(options: PathOptions) -> PathOptions {
    PathOptions { heartbeat_interval: options.heartbeat_interval.or(Some(INTERVAL)), ..options }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tunnel_is_idle_after_ten_seconds_without_packets() {
        let begin = Instant::now();
        let mut idle = Idle::new(begin);
        let steps =
            [(0, 0, false), (9, 0, false), (10, 0, true), (11, 1, false), (20, 1, false), (21, 1, true)];
        for (second, packets, expected) in steps {
            assert_eq!(idle.is_idle(begin + Duration::from_secs(second), packets), expected, "{second}");
        }
    }
}
