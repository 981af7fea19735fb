//! Lanes: each pair of addresses has its own counter and its own replay window, so that packets of a fast
//! path do not make those of a slow path look old.

use crate::replay::Replay;
use std::net::IpAddr;
use transport::Transmit;

/// Largest number of lanes (a lane is a pair of addresses); further pairs share the last lane.
pub(crate) const LANES: usize = 16;
/// Number of the latest packets of a lane (a pair of addresses) whose quotes in ICMP messages are accepted.
const RECENT: u64 = 1024;
/// Number of low bits of a counter that count packets. The bits above are the lane (a pair of addresses).
const BITS: u32 = 56;

/// The lanes of a session for sending: each pair of addresses has its own counter.
#[derive(Debug, Default)]
pub(crate) struct SendLanes(Vec<SendLane>);

#[derive(Debug)]
struct SendLane {
    src: IpAddr,
    dst: IpAddr,
    count: u64,
}

impl SendLanes {
    /// Position of the lane (counter) of this route. `None` before the first packet of the route, and for the
    /// routes beyond [`LANES`], which share the last lane.
    fn position(&self, route: &Transmit) -> Option<usize> {
        self.0.iter().position(|lane| lane.src == route.src && lane.dst == route.dst)
    }

    /// True if the counter is one of the latest of its lane (pair of addresses).
    pub(crate) fn is_recent(&self, counter: u64) -> bool {
        let (lane, count) = parts(counter);
        self.0.get(lane).is_some_and(|lane| (lane.count.saturating_sub(RECENT)..lane.count).contains(&count))
    }

    /// True if no other route has carried more packets.
    pub(crate) fn is_busiest(&self, route: &Transmit) -> bool {
        let count = self.position(route).map_or(0, |lane| self.0[lane].count);
        self.0.iter().all(|lane| lane.count <= count)
    }

    /// The counter of the next packet on this route. No counter is returned twice.
    pub(crate) fn next(&mut self, route: &Transmit) -> u64 {
        let lane = match self.position(route) {
            Some(lane) => lane,
            None if self.0.len() == LANES => LANES - 1,
            None => {
                self.0.push(SendLane { src: route.src, dst: route.dst, count: 0 });
                self.0.len() - 1
            }
        };
        let count = &mut self.0[lane].count;
        *count += 1;
        ((lane as u64) << BITS) | (*count - 1)
    }
}

/// The lanes of a session for receiving: each pair of addresses has its own replay window.
#[derive(Debug, Default)]
pub(crate) struct ReceiveLanes([Option<Box<Replay>>; LANES]);

impl ReceiveLanes {
    /// True if the counter names a lane below [`LANES`] and was not seen in it.
    pub(crate) fn is_new(&self, counter: u64) -> bool {
        let (lane, count) = parts(counter);
        self.0.get(lane).is_some_and(|replay| replay.as_ref().is_none_or(|replay| replay.is_new(count)))
    }

    /// Marks a counter as seen. Only for authentic packets, so that forged ones cost no memory.
    pub(crate) fn note(&mut self, counter: u64) {
        let (lane, count) = parts(counter);
        self.0[lane].get_or_insert_default().note(count);
    }
}

fn parts(counter: u64) -> (usize, u64) {
    ((counter >> BITS) as usize, counter & ((1 << BITS) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn route(last: u8) -> Transmit {
        Transmit::new([10, 0, 0, last].into(), [10, 0, 1, 1].into())
    }

    #[test]
    fn each_pair_of_addresses_counts_on_its_own_and_the_17th_shares_the_last_lane() {
        let mut lanes = SendLanes::default();
        assert_eq!([1, 2, 1].map(|last| lanes.next(&route(last))), [0, 1 << BITS, 1]);
        let mut all = BTreeSet::new();
        for last in (3..40).chain(3..40) {
            let counter = lanes.next(&route(last));
            assert!(counter >> BITS < LANES as u64);
            assert!(all.insert(counter), "{counter:x} again");
        }
    }

    #[test]
    fn the_latest_1024_counters_of_a_lane_are_recent() {
        let mut lanes = SendLanes::default();
        assert!(!lanes.is_recent(0), "it was not sent");
        for _ in 0..2000 {
            lanes.next(&route(1));
        }
        assert_eq!([975, 976, 1999, 2000].map(|count| lanes.is_recent(count)), [false, true, true, false]);
        assert!(!lanes.is_recent(1 << BITS) && !lanes.is_recent(u64::MAX));
    }

    #[test]
    fn lanes_do_not_see_each_other_and_other_numbers_of_lanes_are_refused() {
        let mut lanes = ReceiveLanes::default();
        lanes.note(1_000_000);
        assert!(!lanes.is_new(1_000_000) && !lanes.is_new(0));
        assert!(lanes.is_new(3 << BITS) && lanes.is_new(15 << BITS));
        assert!(!lanes.is_new(16 << BITS) && !lanes.is_new(u64::MAX));
        assert_eq!(lanes.0.iter().flatten().count(), 1, "only authentic packets make windows");
    }
}
