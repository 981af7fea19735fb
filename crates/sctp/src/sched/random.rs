//! A fresh random order for each opportunity (paper 001, section 4.1).

use super::{Opportunity, Scheduler};
use crate::config::Cmt;
use crate::path::PathId;
use crate::tx::Draws;

#[derive(Debug)]
pub(super) struct Random;

impl Random {
    pub(super) fn new(_: &Cmt) -> Self {
        Random
    }
}

impl Scheduler for Random {
    fn order(&mut self, _: &Opportunity<'_>, random: &mut Draws, order: &mut [PathId]) {
        for i in (1..order.len()).rev() {
            order.swap(i, (random.number() % (i as u64 + 1)) as usize);
        }
    }
}
