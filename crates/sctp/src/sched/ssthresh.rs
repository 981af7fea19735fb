//! The path with the largest slow start threshold first (paper 001, section 4.1).

use super::{Opportunity, Scheduler, ssthresh};
use crate::config::Cmt;
use crate::path::PathId;
use crate::tx::Draws;
use std::cmp::Reverse;
#[derive(Debug)]
pub(super) struct LargestSsthresh;

impl LargestSsthresh {
    pub(super) fn new(_: &Cmt) -> Self {
        LargestSsthresh
    }
}

impl Scheduler for LargestSsthresh {
    fn order(&mut self, at: &Opportunity<'_>, _: &mut Draws, order: &mut [PathId]) {
        order.sort_by_key(|&p| Reverse(ssthresh(&at.paths[p])));
    }
}
