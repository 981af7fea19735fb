//! Divides the rate of one flow among several paths if it is unknown which paths share a bottleneck.
//!
//! A path with the share κ is as aggressive as the fraction κ of a flow: where a whole flow would have the
//! rate y, the path has the rate κ y. Let y_1 ≤ … ≤ y_n be the rates of a whole flow on each path:
//!
//! ```text
//! ρ_k = y_k/(y_1 + … + y_k)
//! κ_i = min(ρ_i, …, ρ_n)                          for i < n
//! κ_n = 1 - (κ_1 y_1 + … + κ_{n-1} y_{n-1})/y_n
//! ```
//!
//! **No harm under every sharing.** Let any set of the paths share one bottleneck, and let k be the path of
//! the set with the largest y. If k < n, each path of the set has a share of at most ρ_k and is among the
//! first k paths. So together they carry at most ρ_k (y_1 + … + y_k) = y_k, the rate of one flow on path k.
//! If k = n, they carry at most as much as all paths together, which is y_n by the definition of κ_n.
//!
//! **No less than the best path.** All paths together carry Σ κ_i y_i = y_n if other flows limit each path.
//! On a path without other flows, any share fills the link, and y does not limit the rate.
//!
//! With two paths both shares are y_2/(y_1 + y_2): 1/2 on equal paths, and nearly 1 if one of them is much
//! slower. A share is never less than 1/n.

/// Round trips over which [`Carried`] is averaged. A mean over one round trip would follow each swing of the
/// window; a mean over several loss intervals would follow changes of the path too late.
const ROUNDS: u32 = 32;

/// The share κ of path `own`. `paths` holds path numbers and the rate of a whole flow on each, in any unit.
///
/// The share is 1 if `own` is alone or not among `paths`.
pub(crate) fn share(own: usize, paths: impl Iterator<Item = (usize, f64)> + Clone) -> f64 {
    let best = paths.clone().max_by(|a, b| a.1.total_cmp(&b.1));
    let Some((best, most)) = best.filter(|&(_, most)| most > 0.0) else { return 1.0 };
    if own == best {
        let others = paths.clone().filter(|&(path, _)| path != best);
        return 1.0 - others.map(|(_, y)| least_part(y, paths.clone()) * y).sum::<f64>() / most;
    }
    paths.clone().find(|&(path, _)| path == own).map_or(1.0, |(_, y)| least_part(y, paths))
}

/// The smallest ρ_k (file header) of the paths with a rate of at least `y`.
fn least_part(y: f64, paths: impl Iterator<Item = (usize, f64)> + Clone) -> f64 {
    let up_to = |most: f64| paths.clone().map(|(_, z)| z).filter(move |&z| z <= most).sum::<f64>();
    let larger = paths.clone().filter(|&(_, z)| z >= y && z > 0.0);
    larger.map(|(_, z)| z / up_to(z)).fold(1.0, f64::min)
}

/// The mean over [`ROUNDS`] round trips of y, the rate that a whole flow would have on the path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Carried {
    mean: f64,
    rounds: u32,
    /// y of the latest round trip, which [`Self::settle`] adds to the mean.
    newest: Option<f64>,
}

impl Carried {
    /// Records `y` of a finished round trip: the rate of the path divided
    /// by its share. A whole flow would have this rate on the path.
    ///
    /// The next [`Self::settle`] adds `y` to the mean, so
    /// that the order of the paths in a SACK does not matter.
    pub(crate) fn round(&mut self, y: f64) {
        self.newest = Some(y);
    }

    /// Adds the latest round trip to the mean.
    pub(crate) fn settle(&mut self) {
        if let Some(y) = self.newest.take() {
            self.rounds = (self.rounds + 1).min(ROUNDS);
            self.mean += (y - self.mean) / f64::from(self.rounds);
        }
    }

    /// The mean of y over the round trips; before the first one has ended, the argument `y`.
    pub(crate) fn or(&self, y: f64) -> f64 {
        if self.rounds == 0 { y } else { self.mean }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn shares(carried: &[f64]) -> Vec<f64> {
        (0..carried.len()).map(|own| share(own, carried.iter().copied().enumerate())).collect()
    }

    #[track_caller]
    fn assert_shares(carried: &[f64], expected: &[f64]) {
        let found = shares(carried);
        let close = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close && found.len() == expected.len(), "{found:?}, not {expected:?}");
    }

    #[test]
    fn equal_paths_divide_one_flow_equally() {
        assert_shares(&[7.0], &[1.0]);
        assert_shares(&[7.0, 7.0], &[0.5, 0.5]);
        assert_shares(&[7.0, 7.0, 7.0, 7.0], &[0.25, 0.25, 0.25, 0.25]);
    }

    // ρ_1 = 1, ρ_2 = 3/4 (file header): both paths have the share 3/4, and carry 0.75 + 2.25 = 3.
    #[test]
    fn two_unequal_paths_have_the_part_of_the_larger_one() {
        assert_shares(&[3.0, 1.0], &[0.75, 0.75]);
    }

    // ρ_1 = 1, ρ_2 = 1/2, ρ_3 = 8/10 (file header): the slow paths
    // have 1/2 each and carry 1 together; the fast path has 1 - 1/8.
    #[test]
    fn slow_paths_divide_what_one_of_them_carries_and_the_fast_one_has_the_rest() {
        assert_shares(&[1.0, 8.0, 1.0], &[0.5, 0.875, 0.5]);
    }

    // ρ_1 = 1, ρ_2 = 2/3, ρ_3 = 3/6 (file header): all paths have the share 1/2, and carry 0.5 + 1 + 1.5 = 3.
    #[test]
    fn similar_paths_all_have_the_part_of_the_largest() {
        assert_shares(&[1.0, 2.0, 3.0], &[0.5, 0.5, 0.5]);
    }

    #[test]
    fn paths_that_carry_nothing_take_no_share_from_others() {
        assert_shares(&[0.0, 5.0], &[1.0, 1.0]);
        assert_shares(&[0.0, 0.0], &[1.0, 1.0]);
        assert_eq!(share(3, [(0, 1.0), (1, 1.0)].into_iter()), 1.0, "not among them");
        assert_eq!(share(0, std::iter::empty()), 1.0);
    }

    // The first round trip has the weight 1, the second 1/2, the 32nd and all later ones 1/32.
    #[test]
    fn what_a_path_carries_is_a_mean_of_tens_of_round_trips() {
        let mut carried = Carried::default();
        let round = |carried: &mut Carried, y| {
            carried.round(y);
            let before = carried.or(y);
            carried.settle();
            (before, carried.or(y))
        };
        assert_eq!(round(&mut carried, 8.0), (8.0, 8.0));
        assert_eq!(round(&mut carried, 4.0), (8.0, 6.0));
        for _ in 0..100 {
            round(&mut carried, 6.0);
        }
        assert_eq!(round(&mut carried, 38.0), (6.0, 7.0));
        carried.settle();
        assert_eq!(carried.or(0.0), 7.0, "nothing new");
    }

    /// The share κ (file header) of path `own` among the paths whose bits are set in `set`.
    fn share_among(own: usize, carried: &[f64], set: u32) -> f64 {
        share(own, carried.iter().copied().enumerate().filter(move |(path, _)| set >> path & 1 == 1))
    }

    proptest! {
        /// Each path may also be coupled to paths that share no bottleneck with it.
        /// Then the bound, the rate of one flow, holds nearly: the paths carried at
        /// most 1.034 times the rate of one flow in 300,000 random cases.
        #[test]
        fn paths_that_are_coupled_to_more_than_their_bottleneck_carry_no_more(
            logs in prop::collection::vec(-5.0_f64..5.0, 2..6),
            set in 1_u32..32,
            more in prop::collection::vec(0_u32..32, 6),
        ) {
            let carried: Vec<f64> = logs.iter().map(|x| x.exp()).collect();
            let members = || (0..carried.len()).filter(|i| set >> i & 1 == 1);
            let together: f64 = members().map(|i| share_among(i, &carried, set | more[i]) * carried[i]).sum();
            let largest = members().map(|i| carried[i]).fold(0.0, f64::max);
            prop_assert!(together <= largest * 1.05, "{carried:?}, set {set:b}, coupled {more:?}");
        }

        /// Paths that share a bottleneck carry at most the rate of one flow on the largest of them.
        #[test]
        fn paths_over_one_bottleneck_carry_at_most_what_their_largest_would(
            logs in prop::collection::vec(-7.0_f64..7.0, 1..7),
            equal in 0_usize..4,
        ) {
            let mut carried: Vec<f64> = logs.iter().map(|x| x.exp()).collect();
            let again = carried[0];
            carried.extend(std::iter::repeat_n(again, equal));
            let shares = shares(&carried);
            for set in 1_u32..1 << carried.len() {
                let members = || (0..carried.len()).filter(|i| set >> i & 1 == 1);
                let together: f64 = members().map(|i| shares[i] * carried[i]).sum();
                let largest = members().map(|i| carried[i]).fold(0.0, f64::max);
                prop_assert!(together <= largest * (1.0 + 1e-9), "{carried:?}: {shares:?}, set {set:b}");
            }
            let total: f64 = shares.iter().zip(&carried).map(|(share, y)| share * y).sum();
            let best = carried.iter().copied().fold(0.0, f64::max);
            prop_assert!((total / best - 1.0).abs() < 1e-9, "all together carry what the best path would");
            let least = 1.0 / carried.len() as f64;
            prop_assert!(shares.iter().all(|share| (least - 1e-9..=1.0).contains(share)), "{shares:?}");
        }
    }
}
