//! Path selection: schedulers choose the path of the next new data.
//!
//! A TSN is bound to its path when it is transmitted: a scheduler chooses a path, never a chunk.
//! After each event the scheduler sorts the active paths, and each path fills its cwnd before the
//! next one sends (`cmtSendAllVariant`, paper 001 section 4.1). A scheduler may instead sort the
//! paths before each packet, and may make new data wait for a better path.
//!
//! A new scheduler implements [`Scheduler`] and cites its source in the header of its file. A scheduler that
//! only sorts is a function in `sorted.rs`. Each scheduler has a name in [`PathSelection`] and a line in
//! [`PathSelection::build`].

mod blest;
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

/// The state of the sender that a scheduler sees.
pub(crate) struct Opportunity<'a> {
    pub(crate) now: Instant,
    pub(crate) paths: &'a Paths,
    /// User bytes that wait for their first transmission.
    pub(crate) waiting: ByteCount,
    /// User bytes waiting and in flight; `ByteCount::MAX` if the application has more data than the
    /// send buffer holds.
    pub(crate) given: ByteCount,
    /// Maximum number of bytes in flight on all paths together, by the smaller buffer of both ends.
    pub(crate) window: ByteCount,
    /// Number of times that new data waited because the receive window of the peer was full.
    pub(crate) refusals: u64,
    /// The next message is unordered and the peer sends NR-SACKs, so that the message neither waits
    /// for another message nor fills the peer's receive buffer.
    pub(crate) unblocked: bool,
}

/// Properties of a scheduler on which the send loop depends.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SchedulerTraits {
    /// The scheduler sorts the paths before each packet, not once after each event.
    pub(crate) each_packet: bool,
    /// The scheduler may refuse a path for the next packet: see [`Scheduler::admits`].
    pub(crate) choosy: bool,
    /// Each path also carries copies of the chunks of other paths.
    pub(crate) copies: bool,
}

pub(crate) trait Scheduler: Debug + Send {
    /// Sorts the active paths: the first path sends first. On entry, they are in the order of their numbers.
    fn order(&mut self, at: &Opportunity<'_>, random: &mut Draws, order: &mut [PathId]);

    /// Returns false if new data should wait rather than use path `p`. Path `p` has room, and the paths
    /// sorted before `p` have none. The sender does not call this when nothing is in flight: then no
    /// acknowledgement would end the wait.
    fn admits(&mut self, at: &Opportunity<'_>, p: PathId) -> bool {
        let _ = (at, p);
        true
    }

    fn traits(&self) -> SchedulerTraits {
        SchedulerTraits::default()
    }
}

/// Sorts by SRTT; a path without an RTT sample comes first, so that it gets one.
fn by_rtt(paths: &Paths, order: &mut [PathId]) {
    order.sort_by_key(|&p| paths[p].rto.srtt().unwrap_or(Span::ZERO));
}

/// The path with the lowest SRTT, and this SRTT in seconds. Paths that do not answer do not count: no data
/// should wait for them.
fn fastest(paths: &Paths) -> Option<(PathId, &Path, f64)> {
    let answering = paths.ids().filter(|&p| paths[p].answers());
    let measured = answering.filter_map(|p| Some((p, paths[p].rto.srtt()?)));
    let (p, srtt) = measured.min_by_key(|&(_, srtt)| srtt)?;
    Some((p, &paths[p], srtt.as_secs_f64()))
}
