//! The largest slow start threshold first, ties by room (paper 001, section 4.1).

use super::{Opportunity, Scheduler, ssthresh};
use crate::config::Cmt;
use crate::path::PathId;
use crate::tx::Draws;
use std::cmp::Reverse;
#[derive(Debug)]
pub(super) struct LargestSsthreshAndSpace;

impl LargestSsthreshAndSpace {
    pub(super) fn new(_: &Cmt) -> Self {
        LargestSsthreshAndSpace
    }
}

impl Scheduler for LargestSsthreshAndSpace {
    fn order(&mut self, at: &Opportunity<'_>, _: &mut Draws, order: &mut [PathId]) {
        order.sort_by_key(|&p| (Reverse(ssthresh(&at.paths[p])), Reverse(at.paths[p].space())));
    }
}
