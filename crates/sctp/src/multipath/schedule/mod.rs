//! Path selection: which path carries the next new data.
//!
//! A TSN is bound to its path when it is transmitted, so schedulers choose a path and never a chunk. After each event the
//! active paths are sorted, and each sends as much as its window lets out before the next one does
//! (`cmtSendAllVariant`, paper 001 section 4.1). A scheduler may sort them anew for each packet, and it may let new data wait
//! for a better path.
//!
//! One more takes a type that implements [`Scheduler`], with its source in the header of its file (or, if it only sorts the
//! paths, a function in `sorted.rs`), a word in [`PathSelection`] and a line in [`PathSelection::build`].

mod blest;
mod delivered;
mod ecf;
mod in_time;
mod sorted;
mod weighted;

use crate::config::PathSelection;
use crate::draws::Draws;
use crate::path::{Path, PathId, Paths};
use std::fmt::Debug;
use units::{ByteCount, Instant, Span};

impl PathSelection {
    pub(crate) fn build(self) -> Box<dyn Scheduler> {
        match self {
            PathSelection::SmallestLastTransmission => Box::new(sorted::smallest_last_transmission()),
            PathSelection::LargestSpace => Box::new(sorted::largest_space()),
            PathSelection::LargestSsthresh => Box::new(sorted::largest_ssthresh()),
            PathSelection::LargestSsthreshAndSpace => Box::new(sorted::largest_ssthresh_and_space()),
            PathSelection::RoundRobin => Box::new(sorted::round_robin()),
            PathSelection::Random => Box::new(sorted::random()),
            PathSelection::LowestRtt => Box::new(sorted::lowest_rtt()),
            PathSelection::Ecf => Box::new(ecf::Ecf::new()),
            PathSelection::Blest => Box::new(blest::Blest::new()),
            PathSelection::InTime => Box::new(in_time::InTime::default()),
            PathSelection::Redundant => Box::new(sorted::redundant()),
            PathSelection::Weighted => Box::new(weighted::Weighted::default()),
        }
    }
}

/// What a scheduler may look at.
pub(crate) struct Opportunity<'a> {
    pub(crate) now: Instant,
    pub(crate) paths: &'a Paths,
    /// User bytes that wait for their first transmission.
    pub(crate) waiting: ByteCount,
    /// User bytes that wait, and those in flight; without limit if the application has more than the send buffer takes.
    pub(crate) given: ByteCount,
    /// Bytes that may be in flight on all paths together: the lesser of what the buffers at both ends allow.
    pub(crate) window: ByteCount,
    /// Number of times that new data waited because the receive window of the peer was full.
    pub(crate) refusals: u64,
    /// The next message is unordered and the peer sends NR-SACKs: at the peer no message waits for a missing chunk of another.
    pub(crate) unblocked: bool,
}

/// What the send loop has to know of a scheduler.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SchedulerTraits {
    /// It sorts the paths before each packet, not once after each event.
    pub(crate) each_packet: bool,
    /// It may refuse a path for the next packet: see [`Scheduler::admits`].
    pub(crate) choosy: bool,
    /// A path carries copies of chunks that others carry.
    pub(crate) copies: bool,
}

pub(crate) trait Scheduler: Debug + Send {
    /// Sorts the active paths, which come by their numbers, first to be served first.
    fn order(&mut self, at: &Opportunity<'_>, random: &mut Draws, order: &mut [PathId]);

    /// False if new data should rather wait than go to `p`, which has room while those before it have none. Not asked when
    /// nothing is in flight: then nothing would end the waiting.
    fn admits(&mut self, at: &Opportunity<'_>, p: PathId) -> bool {
        let _ = (at, p);
        true
    }

    fn traits(&self) -> SchedulerTraits {
        SchedulerTraits::default()
    }
}

/// By smoothed round-trip time; a path not measured yet comes first, so that it is.
fn by_rtt(paths: &Paths, order: &mut [PathId]) {
    order.sort_by_key(|&p| paths[p].rto.srtt().unwrap_or(Span::ZERO));
}

/// The path with the lowest round-trip time of those measured, with that time in seconds. A path that timed out is left out:
/// no data should wait for it.
fn fastest(paths: &Paths) -> Option<(PathId, &Path, f64)> {
    let answering = paths.ids().filter(|&p| paths[p].is_usable() && !paths[p].timed_out);
    let measured = answering.filter_map(|p| Some((p, paths[p].rto.srtt()?)));
    let (p, srtt) = measured.min_by_key(|&(_, srtt)| srtt)?;
    Some((p, &paths[p], srtt.as_secs_f64()))
}
