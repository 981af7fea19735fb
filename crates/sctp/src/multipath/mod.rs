//! Several paths at once: what is known of each path, and what follows from that.
//!
//! `tx/` is the sender of RFC 9260. It asks here which path carries new data ([`schedule`]), which one a lost
//! chunk ([`retransmission`]), and whether a path answers ([`liveness`]). Where SACKs return is the receiver's choice ([`return_path`]), and
//! the sender takes that into account ([`evened`]).

pub(crate) mod evened;
pub(crate) mod liveness;
pub(crate) mod retransmission;
pub(crate) mod return_path;
pub(crate) mod schedule;

#[cfg(test)]
pub(crate) use liveness::Life;
pub(crate) use liveness::Liveness;
pub(crate) use return_path::Return;
pub(crate) use schedule::{Opportunity, Scheduler, SchedulerTraits};
