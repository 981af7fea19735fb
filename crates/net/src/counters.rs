use std::fmt;
use units::ByteCount;

/// The reason for a dropped packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DropCause {
    /// The queue was full.
    QueueFull,
    /// RED dropped the packet early: the average was between the thresholds.
    RedEarly,
    /// RED dropped the packet because the average was above the upper threshold.
    RedForced,
    /// CoDel or PIE dropped the packet because packets waited too long.
    Delayed,
    /// The policer had too few tokens for the packet.
    Policed,
    /// The packet was lost on the wire.
    Loss,
    /// The packet had a bit error in its framing or IP header.
    Damaged,
    /// The packet was larger than the MTU of the link.
    TooBig,
    /// The link was down, or went down while the packet was queued or on the wire.
    LinkDown,
}

impl DropCause {
    /// All causes.
    pub const ALL: [DropCause; 9] = [
        DropCause::QueueFull,
        DropCause::RedEarly,
        DropCause::RedForced,
        DropCause::Delayed,
        DropCause::Policed,
        DropCause::Loss,
        DropCause::Damaged,
        DropCause::TooBig,
        DropCause::LinkDown,
    ];

    /// The cause in words, as in captures.
    pub fn name(self) -> &'static str {
        match self {
            DropCause::QueueFull => "queue full",
            DropCause::RedEarly => "RED, early",
            DropCause::RedForced => "RED, average above the upper threshold",
            DropCause::Delayed => "queueing delay above the target",
            DropCause::Policed => "policed",
            DropCause::Loss => "loss on the wire",
            DropCause::Damaged => "bit error in a header",
            DropCause::TooBig => "larger than the MTU",
            DropCause::LinkDown => "link down",
        }
    }
}

impl fmt::Display for DropCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Counters of one direction of a link since the start.
///
/// At any instant, `offered + duplicated` is the number of packets delivered, dropped, queued and on the
/// wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)] // the fields that each packet changes come first
pub struct Counters {
    /// Packets that arrived at the queue.
    pub offered: u64,
    /// Packets that reached the other end.
    pub delivered: u64,
    /// Bytes of the delivered packets on the wire, including framing.
    pub delivered_bytes: ByteCount,
    /// The largest number of packets that waited at the same time.
    pub queue_max: u64,
    /// Copies that the wire made.
    pub duplicated: u64,
    /// Packets that the queue marked as "congestion experienced".
    pub marked: u64,
    drops: [u64; DropCause::ALL.len()],
}

impl Counters {
    /// Packets dropped for `cause`.
    pub fn dropped(&self, cause: DropCause) -> u64 {
        self.drops[cause as usize]
    }

    /// Packets dropped for any cause.
    pub fn dropped_in_all(&self) -> u64 {
        self.drops.iter().sum()
    }

    pub(crate) fn count_drop(&mut self, cause: DropCause) {
        self.drops[cause as usize] += 1;
    }
}
