//! Sorted lists of ranges of TSN indices. The cost of an operation depends on the number of ranges, not on
//! the number of TSNs.

use crate::steps::{count, count_pass};

/// TSN indices from `first` to `last`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) first: u64,
    pub(super) last: u64,
}

/// Calls `tell` with each part of a range of `a` that is not in `b`. In both lists ranges are sorted and
/// disjoint.
pub(super) fn difference(a: &[Range], b: &[Range], mut tell: impl FnMut(Range)) {
    count_pass(a.len() + b.len());
    let mut holes = b.iter().peekable();
    for range in a {
        let mut first = range.first;
        while first <= range.last {
            while holes.next_if(|hole| hole.last < first).is_some() {}
            match holes.peek() {
                Some(hole) if hole.first <= range.last => {
                    if hole.first > first {
                        tell(Range { first, last: hole.first - 1 });
                    }
                    first = hole.last + 1;
                }
                _ => {
                    tell(Range { first, last: range.last });
                    break;
                }
            }
        }
    }
}

/// Removes the equal ranges at the beginnings and ends of two lists: most SACKs change one range of many.
pub(super) fn trim_common<'a>(a: &'a [Range], b: &'a [Range]) -> (&'a [Range], &'a [Range]) {
    count_pass(a.len().min(b.len()));
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[same..], &b[same..]);
    let same = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    (&a[..a.len() - same], &b[..b.len() - same])
}

/// Writes the union of two sorted lists to `out`; adjacent ranges become one.
pub(super) fn union(a: &[Range], b: &[Range], out: &mut Vec<Range>) {
    count_pass(a.len() + b.len());
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    out.clear();
    loop {
        let from_a = match (a.peek(), b.peek()) {
            (Some(a), Some(b)) => a.first <= b.first,
            (a, _) => a.is_some(),
        };
        let Some(&next) = (if from_a { a.next() } else { b.next() }) else { return };
        match out.last_mut() {
            Some(last) if next.first <= last.last + 1 => last.last = last.last.max(next.last),
            _ => out.push(next),
        }
    }
}

/// Sorts ranges, and joins those that overlap or are adjacent. Removes empty ranges, and those that begin
/// below `least`.
pub(super) fn normalise(ranges: &mut Vec<Range>, least: u64) {
    count(ranges.len() * (1 + ranges.len().max(1).ilog2() as usize) / 4 + 1);
    ranges.retain(|range| least <= range.first && range.first <= range.last);
    ranges.sort_unstable_by_key(|range| range.first);
    ranges.dedup_by(|next, kept| {
        let joins = next.first <= kept.last + 1;
        if joins {
            kept.last = kept.last.max(next.last);
        }
        joins
    });
}

/// Removes all indices up to `index` from sorted ranges.
pub(super) fn cut_below(ranges: &mut Vec<Range>, index: u64) {
    let gone = ranges.partition_point(|r| r.last <= index);
    if gone > 0 {
        count_pass(ranges.len());
        ranges.drain(..gone);
    }
    if let Some(r) = ranges.first_mut() {
        r.first = r.first.max(index + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn ranges(set: &BTreeSet<u64>) -> Vec<Range> {
        let mut out: Vec<Range> = Vec::new();
        for &i in set {
            match out.last_mut() {
                Some(r) if r.last + 1 == i => r.last = i,
                _ => out.push(Range { first: i, last: i }),
            }
        }
        out
    }

    proptest! {
        #[test]
        fn difference_is_that_of_sets(a in proptest::collection::btree_set(0u64..60, 0..40),
                                      b in proptest::collection::btree_set(0u64..60, 0..40)) {
            let mut found = Vec::new();
            difference(&ranges(&a), &ranges(&b), |r| found.push(r));
            let expected: BTreeSet<u64> = a.difference(&b).copied().collect();
            prop_assert_eq!(found, ranges(&expected));
        }

        #[test]
        fn union_is_that_of_sets(a in proptest::collection::btree_set(0u64..60, 0..40),
                                 b in proptest::collection::btree_set(0u64..60, 0..40)) {
            let mut found = Vec::new();
            union(&ranges(&a), &ranges(&b), &mut found);
            let expected: BTreeSet<u64> = a.union(&b).copied().collect();
            prop_assert_eq!(found, ranges(&expected));
        }

        #[test]
        fn what_is_common_makes_no_difference(a in proptest::collection::btree_set(0u64..60, 0..40),
                                              b in proptest::collection::btree_set(0u64..60, 0..40)) {
            let (a, b) = (ranges(&a), ranges(&b));
            let all = |a: &[Range], b: &[Range]| {
                let mut found = Vec::new();
                difference(a, b, |r| found.push(r));
                found
            };
            let (short_a, short_b) = trim_common(&a, &b);
            prop_assert_eq!(all(short_a, short_b), all(&a, &b));
            prop_assert!(short_a.first() != short_b.first() || short_a.is_empty());
        }

        #[test]
        fn normalised_ranges_are_those_of_a_set(given in proptest::collection::vec((0u64..60, 0u64..60), 0..40)) {
            let mut found: Vec<Range> = given.iter().map(|&(first, last)| Range { first, last }).collect();
            normalise(&mut found, 5);
            let valid = given.into_iter().filter(|&(first, _)| first >= 5);
            let set: BTreeSet<u64> = valid.flat_map(|(first, last)| first..=last).collect();
            prop_assert_eq!(found, ranges(&set));
        }

        #[test]
        fn cutting_leaves_what_is_above(a in proptest::collection::btree_set(0u64..60, 0..40), at in 0u64..60) {
            let mut cut = ranges(&a);
            cut_below(&mut cut, at);
            prop_assert_eq!(cut, ranges(&a.into_iter().filter(|&i| i > at).collect()));
        }
    }
}
