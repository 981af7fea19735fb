//! What happens to a packet that comes to a transmitter. Only waiting packets count as queued: the one being
//! transmitted has left the queue, as in ns-2 and INET, against which published results were measured.

mod drop_tail;
mod red;

pub use drop_tail::Limit;
pub use red::{RedFault, RedQuirk, RedSpec, RedUnit};

pub(crate) use red::Red;

use units::ByteCount;

/// How a queue is managed.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueSpec {
    /// Drop what does not fit.
    DropTail(Limit),
    /// Random early detection.
    Red(RedSpec),
}

impl Default for QueueSpec {
    /// Drop-tail with room for 100 packets.
    fn default() -> Self {
        QueueSpec::DropTail(Limit::Packets(100))
    }
}

/// The waiting packets at one instant; bytes are those of IP packets, without framing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// How many.
    pub packets: u64,
    /// How large together.
    pub bytes: ByteCount,
}
