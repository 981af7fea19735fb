//! The formulas of coupled BBR, which `bbr_coupled.rs` derives.

/// The rule by which coupled paths divide the capacity that one flow would take.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Coupling;

/// The paths are coupled while srtt exceeds this multiple of the least RTT.
const QUEUE: f64 = 1.25;

impl Coupling {
    /// The fraction a_P of one flow's capacity that a path takes. `own` is the bandwidth of the path,
    /// `all` has the bandwidths of all coupled paths. The fraction is 1 if the RTT shows no queue.
    pub(super) fn part(self, own: f64, all: impl Iterator<Item = f64>, srtt: f64, least_rtt: f64) -> f64 {
        let sum: f64 = all.map(|rate| rate * rate).sum();
        if srtt > QUEUE * least_rtt && sum > 0.0 { own * own / sum } else { 1.0 }
    }
}

/// The window gain k_P of a path that takes the fraction
/// `part` of one flow's capacity. One flow has the gain `k`.
pub(super) fn gain(k: f64, part: f64) -> f64 {
    1.0 / (1.0 - part * (1.0 - 1.0 / k))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_is_that_of_the_squared_bandwidth_while_there_is_a_queue() {
        let rates = [30.0, 10.0];
        assert_eq!(Coupling.part(30.0, rates.into_iter(), 0.06, 0.04), 0.9);
        assert_eq!(Coupling.part(10.0, rates.into_iter(), 0.06, 0.04), 0.1);
        assert_eq!(Coupling.part(10.0, rates.into_iter(), 0.05, 0.04), 1.0);
        assert_eq!(Coupling.part(0.0, [0.0].into_iter(), 0.06, 0.04), 1.0);
    }

    // p is the part of the bottleneck that a flow takes, t the propagation delay and q the
    // queueing delay: p = (1 - 1/k)(t + q)/q. For t = q, p is 1 with k = 2, and 1/2 with k = 4/3.
    #[test]
    fn window_gain_gives_a_path_its_part_of_what_one_flow_takes() {
        assert_eq!((gain(2.0, 1.0), gain(2.0, 0.5)), (2.0, 4.0 / 3.0));
        for part in [0.1, 0.25, 0.5, 0.9] {
            let share = |k: f64| (1.0 - 1.0 / k) * 2.0;
            assert!((share(gain(2.0, part)) - part * share(2.0)).abs() < 1e-12);
        }
    }
}
