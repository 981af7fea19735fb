//! Sorted, disjoint ranges of numbers: data received out of order, and selectively acknowledged segments.

use std::collections::VecDeque;

/// Numbers from `first` to `end`, without `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) first: u64,
    pub(crate) end: u64,
}

impl Range {
    pub(crate) fn len(&self) -> u64 {
        self.end - self.first
    }
}

/// Ascending ranges that neither overlap nor are adjacent. A search takes logarithmic time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranges(VecDeque<Range>);

impl Ranges {
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn first(&self) -> Option<Range> {
        self.0.front().copied()
    }

    pub(crate) fn last(&self) -> Option<Range> {
        self.0.back().copied()
    }

    /// The ranges from the last to the first.
    pub(crate) fn descending(&self) -> impl Iterator<Item = Range> {
        self.0.iter().rev().copied()
    }

    /// The range that contains a number.
    pub(crate) fn find(&self, number: u64) -> Option<Range> {
        let at = self.ending_after(number);
        self.0.get(at).copied().filter(|range| range.first <= number)
    }

    /// True if the range overlaps or adjoins an existing range, so that adding it begins no new range.
    pub(crate) fn touches(&self, range: Range) -> bool {
        let at = self.ending_after(range.first.saturating_sub(1));
        self.0.get(at).is_some_and(|known| known.first <= range.end)
    }

    /// Adds a range, and calls `tell` with each part of it that was missing, in order.
    #[inline]
    pub(crate) fn insert(&mut self, range: Range, mut tell: impl FnMut(Range)) {
        if range.first >= range.end {
            return;
        }
        // Ranges from index `low` up to `high` overlap the new range or adjoin it.
        let low = self.ending_after(range.first.saturating_sub(1));
        let (mut high, mut from, mut merged) = (low, range.first, range);
        while let Some(&known) = self.0.get(high).filter(|known| known.first <= range.end) {
            if known.first > from {
                tell(Range { first: from, end: known.first });
            }
            from = from.max(known.end);
            merged = Range { first: merged.first.min(known.first), end: merged.end.max(known.end) };
            high += 1;
        }
        if from < range.end {
            tell(Range { first: from, end: range.end });
        }
        if low == high {
            self.0.insert(low, merged);
        } else {
            self.0[low] = merged;
            self.0.drain(low + 1..high);
        }
    }

    /// Removes all numbers below `number`.
    pub(crate) fn cut_below(&mut self, number: u64) {
        while let Some(range) = self.0.front_mut().filter(|range| range.first < number) {
            if range.end > number {
                range.first = number;
                return;
            }
            self.0.pop_front();
        }
    }

    /// Index of the first range that ends after `number`.
    #[inline]
    fn ending_after(&self, number: u64) -> usize {
        match self.0.back() {
            Some(range) if range.end > number => self.0.partition_point(|range| range.end <= number),
            _ => self.0.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn they_agree_with_a_set(steps in prop::collection::vec((0u64..60, 0u64..9, 0u8..6), 1..60)) {
            let (mut ranges, mut model) = (Ranges::default(), BTreeSet::new());
            for (first, length, step) in steps {
                let range = Range { first, end: first + length };
                if step == 0 {
                    ranges.cut_below(first);
                    model = model.split_off(&first);
                } else {
                    let touches = (first.saturating_sub(1)..=range.end).any(|n| model.contains(&n));
                    prop_assert!(length == 0 || ranges.touches(range) == touches);
                    let mut told = Vec::new();
                    ranges.insert(range, |part| told.extend(part.first..part.end));
                    let missing: Vec<u64> = (first..range.end).filter(|&n| model.insert(n)).collect();
                    prop_assert_eq!(told, missing);
                }
                let all: Vec<u64> = ranges.0.iter().flat_map(|range| range.first..range.end).collect();
                prop_assert_eq!(&all, &model.iter().copied().collect::<Vec<u64>>());
                let apart = ranges.0.iter().zip(ranges.0.iter().skip(1)).all(|(a, b)| a.end < b.first);
                prop_assert!(apart && ranges.0.iter().all(|range| range.len() > 0));
                for n in 0..70 {
                    prop_assert_eq!(ranges.find(n).is_some(), model.contains(&n));
                }
            }
        }
    }
}
