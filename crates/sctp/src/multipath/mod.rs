//! Several paths at once: what follows from what is known of each of them.
//!
//! `tx/` is the sender of RFC 9260. It asks here which path carries new data ([`schedule`], [`splitting`]), which one a lost chunk
//! ([`retransmission`]), whether a chunk moves before it is lost ([`rescheduling`]), and
//! which chunk is copied where ([`copies`]). What is late is said once ([`lateness`]).
//! The receiver chooses where SACKs return (`path/return_path.rs`), and the sender takes that into account ([`evened`]). Whether a path answers is
//! part of the path (`path/liveness.rs`).

pub(crate) mod copies;
pub(crate) mod evened;
pub(crate) mod lateness;
pub(crate) mod rescheduling;
pub(crate) mod retransmission;
pub(crate) mod schedule;
pub(crate) mod splitting;

pub(crate) use schedule::{Opportunity, Scheduler, SchedulerTraits};
