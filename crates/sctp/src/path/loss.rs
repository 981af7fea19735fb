//! Chunks that count as lost, and why.

use super::PathId;
use wire::Tsn;

/// A chunk that counts as lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The path on which the chunk was sent.
    pub path: PathId,
    /// The TSN of the chunk.
    pub tsn: Tsn,
    /// Why the chunk counts as lost.
    pub trigger: LossTrigger,
}

/// How the sender found that a chunk is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LossTrigger {
    /// Three missing reports (`rfc9260#section-7.2.4`).
    MissingReports,
    /// A chunk that was sent later arrived, and the reordering window has passed (`rfc8985#section-6.2`).
    TimeThreshold,
    /// The peer reported that the packet arrived damaged, or was dropped.
    PacketDrop,
    /// A tail loss probe carries the chunk again (`rfc8985#section-7`).
    ProbeTimeout,
    /// T3-rtx expired (`rfc9260#section-6.3.3`).
    T3,
    /// The path was removed.
    PathRemoved,
}

impl LossTrigger {
    /// The name in qlog, such as `missing_reports`.
    pub const fn name(self) -> &'static str {
        match self {
            LossTrigger::MissingReports => "missing_reports",
            LossTrigger::TimeThreshold => "time_threshold",
            LossTrigger::PacketDrop => "packet_drop",
            LossTrigger::ProbeTimeout => "pto_expired",
            LossTrigger::T3 => "t3",
            LossTrigger::PathRemoved => "path_removed",
        }
    }
}
