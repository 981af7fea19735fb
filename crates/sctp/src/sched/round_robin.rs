//! One packet a path in turn.

use super::{Opportunity, Scheduler, Habits};
use crate::config::Cmt;
use crate::path::PathId;
use crate::tx::Draws;

#[derive(Debug)]
pub(super) struct RoundRobin;

impl RoundRobin {
    pub(super) fn new(_: &Cmt) -> Self {
        RoundRobin
    }
}

impl Scheduler for RoundRobin {
    fn order(&mut self, at: &Opportunity<'_>, _: &mut Draws, order: &mut [PathId]) {
        order.sort_by_key(|&p| at.paths[p].last_order);
    }

    fn habits(&self) -> Habits {
        Habits { each_packet: true, ..Habits::default() }
    }
}
