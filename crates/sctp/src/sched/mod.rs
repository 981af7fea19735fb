//! Path selection: which path carries the next new data.
//!
//! A TSN is bound to its path when it is transmitted, so schedulers choose a path and never a chunk. At each opportunity,
//! something that happened, the active paths are put in order and each is filled as far as its window goes before the
//! next (`cmtSendAllVariant`, paper 001 section 4.1). A scheduler may do so for each packet anew, and it may let new data
//! wait for a better path.
//!
//! One more takes a file here, with its source in the header and a type that implements [`Scheduler`] and has a function
//! `new(&Cmt)`, and one line in the list below.

use crate::config::Cmt;
use crate::path::{Path, PathId, Paths};
use crate::tx::Draws;
use std::fmt::Debug;
use transport::named;
use units::{ByteCount, Instant, Span};

/// One line for each scheduler: its value, its word, its file and the type in it.
macro_rules! schedulers {
    ($($(#[$doc:meta])* $variant:ident = $name:literal in $file:ident::$type:ident;)+) => {
        $(mod $file;)+

        named! {
            /// Which path is offered new data first; each is filled before the next.
            "path selection" PathSelection { $($(#[$doc])* $variant = $name,)+ }
        }

        impl PathSelection {
            pub(crate) fn build(self, cmt: &Cmt) -> Box<dyn Scheduler> {
                match self { $(PathSelection::$variant => Box::new($file::$type::new(cmt))),+ }
            }
        }
    };
}

schedulers! {
    /// The path that transmitted least recently first.
    SmallestLastTransmission = "smallest-last-transmission" in last_transmission::SmallestLastTransmission;
    /// The path with most room in its window first.
    LargestSpace = "largest-space" in space::LargestSpace;
    /// The path with the largest slow start threshold first.
    LargestSsthresh = "largest-ssthresh" in ssthresh::LargestSsthresh;
    /// The largest slow start threshold first, ties by room.
    LargestSsthreshAndSpace = "largest-ssthresh-and-space" in ssthresh_and_space::LargestSsthreshAndSpace;
    /// One packet a path in turn.
    RoundRobin = "round-robin" in round_robin::RoundRobin;
    /// A fresh random order for each opportunity.
    Random = "random" in random::Random;
    /// The path with the lowest smoothed round-trip time first.
    LowestRtt = "lowest-rtt" in lowest_rtt::LowestRtt;
    /// Earliest completion first: waits for the fastest path where that is sooner than sending on a slower one.
    Ecf = "ecf" in ecf::Ecf;
    /// Blocking estimation: leaves a slow path out where it would block the window of the transfer.
    Blest = "blest" in blest::Blest;
    /// As BLEST, but by what a path's round-trip time is at its load: an idle path has no queue.
    InTime = "in-time" in in_time::InTime;
    /// Each path carries everything, as far as its window goes.
    Redundant = "redundant" in redundant::Redundant;
    /// Packets in proportion to `weights`, or to the paths' rates if there are none.
    Weighted = "weighted" in weighted::Weighted;
}

/// What a scheduler may look at.
pub(crate) struct Opportunity<'a> {
    pub(crate) now: Instant,
    pub(crate) paths: &'a Paths,
    /// User bytes that wait for their first transmission.
    pub(crate) waiting: ByteCount,
    /// Bytes that may be on their way on all paths together: the least that the buffers at both ends let be.
    pub(crate) window: ByteCount,
    /// How often new data waited because the peer had no room.
    pub(crate) refusals: u64,
}

/// How a scheduler is to be asked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Habits {
    /// For the order before each packet, not once at each opportunity.
    pub(crate) each_packet: bool,
    /// Whether the path may carry the next packet at all.
    pub(crate) choosy: bool,
    /// A path with nothing new to send carries copies of what others carry.
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

    fn habits(&self) -> Habits {
        Habits::default()
    }
}

/// By smoothed round-trip time; a path not measured yet comes first, so that it is.
fn by_rtt(paths: &Paths, order: &mut [PathId]) {
    order.sort_by_key(|&p| paths[p].rto.srtt().unwrap_or(Span::ZERO));
}

/// The path with the lowest round-trip time, of those measured and answering: nobody should wait for one that timed out.
fn fastest(paths: &Paths) -> Option<(PathId, &Path, f64)> {
    let answering = paths.ids().filter(|&p| paths[p].is_usable() && !paths[p].timed_out);
    let measured = answering.filter_map(|p| Some((p, paths[p].rto.srtt()?)));
    let (p, srtt) = measured.min_by_key(|&(_, srtt)| srtt)?;
    Some((p, &paths[p], srtt.as_secs_f64()))
}

fn ssthresh(path: &Path) -> ByteCount {
    path.window.ssthresh.unwrap_or(ByteCount::MAX)
}
