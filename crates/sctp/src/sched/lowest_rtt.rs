//! The path with the lowest smoothed round-trip time first, as MPTCP's default scheduler (Paasch, Ferlin, Alay,
//! Bonaventure, "Experimental evaluation of multipath TCP schedulers", CSWS 2014).

use super::{Opportunity, Scheduler, by_rtt};
use crate::config::Cmt;
use crate::path::PathId;
use crate::tx::Draws;

#[derive(Debug)]
pub(super) struct LowestRtt;

impl LowestRtt {
    pub(super) fn new(_: &Cmt) -> Self {
        LowestRtt
    }
}

impl Scheduler for LowestRtt {
    fn order(&mut self, at: &Opportunity<'_>, _: &mut Draws, order: &mut [PathId]) {
        by_rtt(at.paths, order);
    }
}
