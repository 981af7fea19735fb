use crate::queue::QueueStats;

/// Counters of the packets in the tunnel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CarrierStats {
    /// Packets and bytes passed to the association.
    pub(crate) sent: [u64; 2],
    /// Packets and bytes passed to the TUN device.
    pub(crate) received: [u64; 2],
    pub(crate) refused: u64,
    /// Packets sent a second time, on another path.
    pub(crate) copied: u64,
    /// Packets that had arrived before.
    pub(crate) duplicates: u64,
    pub(crate) queue: QueueStats,
}
