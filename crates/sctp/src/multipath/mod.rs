//! Decisions among several paths.
//!
//! `tx/` is the sender of RFC 9260. This module chooses the path of new data ([`schedule`], [`splitting`]),
//! the path of a lost chunk ([`retransmission`]), and the chunks that move before they are lost
//! ([`rescheduling`]) or are copied ([`copies`]). It defines when a chunk, a copy or an answer is late
//! ([`lateness`]). The receiver chooses the path of each SACK (`path/return_path.rs`), and [`same_return`]
//! corrects round-trip times for that choice. [`bottlenecks`] measures which paths share a bottleneck.
//! `path/model.rs` estimates which path delivers first, and `path/liveness.rs` records whether a path
//! answers.

pub(crate) mod bottlenecks;
pub(crate) mod copies;
pub(crate) mod lateness;
pub(crate) mod rescheduling;
pub(crate) mod retransmission;
pub(crate) mod same_return;
pub(crate) mod schedule;
pub(crate) mod splitting;

pub(crate) use schedule::{Opportunity, Scheduler, SchedulerTraits};
