//! Blocks of the SACK option (`rfc2018#section-4`, `rfc2883#section-4`).

use crate::Config;
use crate::ranges::Ranges;
use arrayvec::ArrayVec;

/// Most blocks in a SACK option; with timestamps there is room for 3.
const MOST: usize = 4;

/// Blocks as pairs of positions: the first byte, and the byte after the last.
pub(crate) type List = ArrayVec<(u64, u64), MOST>;

#[derive(Debug)]
pub(super) struct Blocks {
    enabled: bool,
    report_duplicates: bool,
    /// One position in each block to report, the most recently changed block first.
    recent: ArrayVec<u64, MOST>,
    /// Duplicate data that has not been reported.
    duplicate: Option<(u64, u64)>,
}

impl Blocks {
    pub(super) fn new(enabled: bool, config: &Config) -> Self {
        Blocks { enabled, report_duplicates: config.dsack, recent: ArrayVec::new(), duplicate: None }
    }

    /// Records data that arrived out of order at `position`.
    pub(super) fn arrived(&mut self, position: u64, above: &Ranges) {
        if !self.enabled {
            return;
        }
        let this = above.find(position);
        self.recent.retain(|other| {
            let range = above.find(*other);
            range.is_some() && range != this
        });
        if self.recent.is_full() {
            self.recent.pop();
        }
        self.recent.insert(0, position);
    }

    pub(super) fn duplicate(&mut self, left: u64, right: u64) {
        if self.enabled && self.report_duplicates && left < right {
            self.duplicate = Some((left, right));
        }
    }

    /// Number of blocks to report.
    #[inline]
    pub(super) fn len(&self, above: &Ranges) -> usize {
        let blocks = if above.is_empty() { 0 } else { self.recent.len() };
        (blocks + usize::from(self.duplicate.is_some())).min(MOST)
    }

    /// The blocks to report now, at most `room`.
    #[inline]
    pub(super) fn report(&mut self, room: usize, next: u64, above: &Ranges) -> List {
        let mut list = List::new();
        let room = room.min(MOST);
        if room == 0 {
            return list;
        }
        list.extend(self.duplicate.take());
        if !above.is_empty() {
            let ranges = self.recent.iter().filter(|&&at| at >= next).filter_map(|&at| above.find(at));
            for range in ranges {
                if list.len() == room {
                    break;
                }
                list.push((range.first, range.end));
            }
        }
        list
    }
}
