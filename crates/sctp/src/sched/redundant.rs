//! Everything on every path (Frömmgen, Erbshäußer, Buchmann, Zimmermann, Wehrle, "ReMP TCP: low latency multipath TCP", ICC
//! 2016). Each path goes through all chunks in their order and leaves out what was acknowledged meanwhile; only the path
//! that is ahead of the others sends new ones. How copies are accounted for is said where they are made.

use super::{Habits, Opportunity, Scheduler, by_rtt};
use crate::config::Cmt;
use crate::path::PathId;
use crate::tx::Draws;

#[derive(Debug)]
pub(super) struct Redundant;

impl Redundant {
    pub(super) fn new(_: &Cmt) -> Self {
        Redundant
    }
}

impl Scheduler for Redundant {
    fn order(&mut self, at: &Opportunity<'_>, _: &mut Draws, order: &mut [PathId]) {
        by_rtt(at.paths, order);
    }

    fn habits(&self) -> Habits {
        Habits { copies: true, ..Habits::default() }
    }
}
