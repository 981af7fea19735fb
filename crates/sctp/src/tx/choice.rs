//! The scheduler's order of the paths for new data. The order is valid until the next event (packet, timer or
//! message).

use crate::draws::Draws;
use crate::multipath::{Opportunity, Scheduler, SchedulerTraits};
use crate::path::{Path, PathId, Paths};

/// The scheduler, and the paths in the order that it chose.
#[derive(Debug)]
pub(super) struct Choice {
    scheduler: Box<dyn Scheduler>,
    pub(super) traits: SchedulerTraits,
    /// Empty before the paths are sorted.
    order: Vec<PathId>,
    /// Position in `order` of the path that the sender uses now.
    turn: usize,
}

impl Choice {
    pub(super) fn new(scheduler: Box<dyn Scheduler>) -> Self {
        Choice { traits: scheduler.traits(), scheduler, order: Vec::new(), turn: 0 }
    }

    /// Lets the sender sort all paths again before the next new chunk.
    #[inline]
    pub(super) fn restart(&mut self) {
        self.order.clear();
        self.turn = 0;
    }

    /// True if the paths have to be sorted.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.order.is_empty()
    }

    /// Sorts the paths that may carry new data: usable ones, or active ones if no other is usable.
    pub(super) fn sort(&mut self, at: &Opportunity<'_>, paths: &Paths, random: &mut Draws) {
        self.order.extend(paths.ids().filter(|&p| paths[p].is_usable() && !paths.is_spared(p)));
        if self.order.is_empty() {
            self.order.extend(paths.ids().filter(|&p| Path::is_active(&paths[p])));
        }
        self.scheduler.order(at, random, &mut self.order);
        self.turn = 0;
    }

    /// The path to try now; `None` after the last path of the order.
    #[inline]
    pub(super) fn present(&self) -> Option<PathId> {
        self.order.get(self.turn).copied()
    }

    /// Moves on to the next path of the order.
    #[inline]
    pub(super) fn pass(&mut self) {
        self.turn += 1;
    }

    /// True if the scheduler lets the path carry the next chunk.
    pub(super) fn admits(&mut self, at: &Opportunity<'_>, p: PathId) -> bool {
        self.scheduler.admits(at, p)
    }

    pub(super) fn order(&self) -> &[PathId] {
        &self.order
    }
}
