//! Schedulers that only sort the paths, and never make data wait for a better path.

use super::{Opportunity, Scheduler, SchedulerTraits, by_rtt};
use crate::draws::Draws;
use crate::path::{Path, PathId};
use std::cmp::Reverse;
use units::ByteCount;

/// A scheduler without state: one function that sorts the paths.
#[derive(Debug)]
pub(super) struct Sorted {
    sort: fn(&Opportunity<'_>, &mut Draws, &mut [PathId]),
    traits: SchedulerTraits,
}

impl Scheduler for Sorted {
    fn order(&mut self, at: &Opportunity<'_>, random: &mut Draws, order: &mut [PathId]) {
        (self.sort)(at, random, order);
    }

    fn traits(&self) -> SchedulerTraits {
        self.traits
    }
}

/// First the path whose last transmission is the oldest (paper 001, table 1).
pub(super) fn smallest_last_transmission() -> Sorted {
    sorted(|at, _, order| order.sort_by_key(|&p| at.paths[p].last_order))
}

/// One packet on each path in turn.
pub(super) fn round_robin() -> Sorted {
    let traits = SchedulerTraits { each_packet: true, ..SchedulerTraits::default() };
    Sorted { traits, ..smallest_last_transmission() }
}

/// First the path with the most room in its cwnd (paper 001, section 4.1).
pub(super) fn largest_space() -> Sorted {
    sorted(|at, _, order| order.sort_by_key(|&p| Reverse(at.paths[p].space())))
}

/// First the path with the largest slow start threshold (paper 001, section 4.1).
pub(super) fn largest_ssthresh() -> Sorted {
    sorted(|at, _, order| order.sort_by_key(|&p| Reverse(ssthresh(&at.paths[p]))))
}

/// First the path with the largest ssthresh, ties by the most room (paper 001, section 4.1).
pub(super) fn largest_ssthresh_and_space() -> Sorted {
    sorted(|at, _, order| {
        order.sort_by_key(|&p| (Reverse(ssthresh(&at.paths[p])), Reverse(at.paths[p].space())));
    })
}

/// A new random order of the paths after each event, as `randomized` of the SCTP model in INET.
pub(super) fn random() -> Sorted {
    sorted(|_, random, order| {
        for i in (1..order.len()).rev() {
            order.swap(i, (random.number() % (i as u64 + 1)) as usize);
        }
    })
}

/// First the path with the lowest SRTT, as the default scheduler of MPTCP does (Paasch, Ferlin, Alay,
/// Bonaventure, "Experimental evaluation of multipath TCP schedulers", CSWS 2014).
pub(super) fn lowest_rtt() -> Sorted {
    sorted(|at, _, order| by_rtt(at.paths, order))
}

/// All chunks on every path (Frömmgen, Erbshäußer, Buchmann, Zimmermann, Wehrle, "ReMP TCP: low latency
/// multipath TCP", ICC 2016). Each path sends all chunks in order and skips acknowledged chunks. A path
/// sends new chunks only after it has sent all outstanding ones. `multipath/copies.rs` describes the copies.
pub(super) fn redundant() -> Sorted {
    let traits = SchedulerTraits { copies: true, ..SchedulerTraits::default() };
    Sorted { traits, ..lowest_rtt() }
}

fn sorted(sort: fn(&Opportunity<'_>, &mut Draws, &mut [PathId])) -> Sorted {
    Sorted { sort, traits: SchedulerTraits::default() }
}

fn ssthresh(path: &Path) -> ByteCount {
    path.window.ssthresh.unwrap_or(ByteCount::MAX)
}
