//! The order in which several threads perform the runs of a sweep: long runs first. Otherwise one thread
//! could end with a long run while the others are idle.

use super::job::Job;
use crate::scenario::Scenario;
use std::cmp::Reverse;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BinaryHeap, VecDeque};
use units::Span;

/// The runs that no thread has begun.
///
/// The first run of a combination shows how long its runs take. So the first runs of all combinations come
/// first, in descending order of the bits that their links could carry. Then the runs of the slowest
/// combination follow.
pub(super) struct Order {
    first: VecDeque<usize>,
    /// The runs of each combination of which a run is finished, by the wall time of the finished run.
    timed: BinaryHeap<(Span, Reverse<usize>)>,
    /// All other runs, by combination.
    untimed: BTreeMap<usize, VecDeque<usize>>,
}

impl Order {
    /// Creates the order of all runs. With one thread, the runs keep their original order.
    pub fn new(jobs: &[Job<'_>], threads: usize) -> Self {
        if threads < 2 {
            let first = (0..jobs.len()).collect();
            return Order { first, timed: BinaryHeap::new(), untimed: BTreeMap::new() };
        }
        let mut first = Vec::new();
        let mut untimed: BTreeMap<usize, VecDeque<usize>> = BTreeMap::new();
        for (number, job) in jobs.iter().enumerate() {
            match untimed.entry(job.variant.number) {
                Entry::Occupied(mut runs) => runs.get_mut().push_back(number),
                Entry::Vacant(runs) => {
                    runs.insert(VecDeque::new());
                    first.push((bits(&job.variant.scenario), number));
                }
            }
        }
        first.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let first = first.into_iter().map(|(_, number)| number).collect();
        Order { first, timed: BinaryHeap::new(), untimed }
    }

    /// The next run to begin.
    pub fn next(&mut self) -> Option<usize> {
        let next = self.first.pop_front().or_else(|| Some(self.timed.pop()?.1.0));
        next.or_else(|| {
            self.untimed.retain(|_, runs| !runs.is_empty());
            self.untimed.first_entry()?.get_mut().pop_front()
        })
    }

    /// Records the wall time of a run of a combination.
    pub fn finished(&mut self, combination: usize, wall: Span) {
        let runs = self.untimed.remove(&combination).into_iter().flatten();
        self.timed.extend(runs.map(|number| (wall, Reverse(number))));
    }
}

/// Rough estimate of the work of a run: the bits that all links could carry until the last flow ends.
fn bits(scenario: &Scenario) -> f64 {
    let ends = scenario.flows.iter().map(|flow| flow.stop_time).max().unwrap_or_default();
    let rate = |rate: Option<units::BitRate>| rate.map_or(0.0, |rate| rate.as_bps() as f64);
    ends.as_secs_f64() * scenario.links.iter().map(|link| rate(link.forward.mean_rate())).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Sweep;

    /// Three combinations of different rates, with three replicas each.
    fn sweep() -> Sweep {
        let text = r#"
            [[node]]
            name = "a"
            [[node]]
            name = "b"
            [[link]]
            between = ["a", "b"]
            rate = { name = "rate", vary = ["1 Mbit/s", "3 Mbit/s", "2 Mbit/s"] }
            [[flow]]
            name = "f"
            client = "a"
            server = "b"
        "#;
        crate::parse(text, "x.toml").expect("is well-formed")
    }

    fn jobs(sweep: &Sweep) -> Vec<Job<'_>> {
        let runs = sweep.variants().iter().flat_map(|variant| (0..3).map(move |replica| (variant, replica)));
        (0..).zip(runs).map(|(run, (variant, replica))| Job { run, variant, replica }).collect()
    }

    #[test]
    fn one_run_of_each_combination_comes_first_and_then_the_slowest_ones() {
        let sweep = sweep();
        let jobs = jobs(&sweep);
        let number = |place: usize| sweep.variants()[place].number;
        let mut order = Order::new(&jobs, 2);
        // The jobs of the highest rate come before the others.
        assert_eq!([order.next(), order.next(), order.next()], [Some(3), Some(6), Some(0)]);
        order.finished(number(0), Span::from_secs(9));
        order.finished(number(2), Span::from_secs(10));
        assert_eq!([order.next(), order.next(), order.next()], [Some(7), Some(8), Some(1)]);
        // The first run of the second combination is not finished, but no other run is left.
        assert_eq!([order.next(), order.next()], [Some(2), Some(4)]);
        order.finished(number(1), Span::from_secs(1));
        assert_eq!([order.next(), order.next()], [Some(5), None]);
    }

    #[test]
    fn one_thread_does_the_runs_in_their_order() {
        let sweep = sweep();
        let jobs = jobs(&sweep);
        let mut order = Order::new(&jobs, 1);
        order.finished(sweep.variants()[0].number, Span::from_secs(1));
        assert_eq!(std::iter::from_fn(|| order.next()).collect::<Vec<_>>(), (0..9).collect::<Vec<_>>());
    }
}
