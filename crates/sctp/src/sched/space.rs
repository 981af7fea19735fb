//! The path with most room in its window first (paper 001, section 4.1).

use super::{Opportunity, Scheduler};
use crate::config::Cmt;
use crate::path::PathId;
use crate::tx::Draws;
use std::cmp::Reverse;
#[derive(Debug)]
pub(super) struct LargestSpace;

impl LargestSpace {
    pub(super) fn new(_: &Cmt) -> Self {
        LargestSpace
    }
}

impl Scheduler for LargestSpace {
    fn order(&mut self, at: &Opportunity<'_>, _: &mut Draws, order: &mut [PathId]) {
        order.sort_by_key(|&p| Reverse(at.paths[p].space()));
    }
}
