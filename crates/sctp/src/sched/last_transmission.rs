//! The path that transmitted least recently first (paper 001, table 1).

use super::{Opportunity, Scheduler};
use crate::config::Cmt;
use crate::path::PathId;
use crate::tx::Draws;

#[derive(Debug)]
pub(super) struct SmallestLastTransmission;

impl SmallestLastTransmission {
    pub(super) fn new(_: &Cmt) -> Self {
        SmallestLastTransmission
    }
}

impl Scheduler for SmallestLastTransmission {
    fn order(&mut self, at: &Opportunity<'_>, _: &mut Draws, order: &mut [PathId]) {
        order.sort_by_key(|&p| at.paths[p].last_order);
    }
}
