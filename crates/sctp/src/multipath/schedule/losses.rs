//! How often a path loses packets.

use crate::path::PathStats;

/// Counts packets and loss events of a path; earlier ones fade. Packets that are lost together are one event: they are repaired together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Losses {
    events: f64,
    packets: f64,
    /// Loss events and packets since the path began, at the last update.
    counted: (u64, u64),
}

impl Losses {
    /// Takes what a path has sent and lost so far. What was counted before is multiplied by `fading`.
    pub(super) fn update(&mut self, stats: &PathStats, fading: f64) {
        let events = stats.fast_recoveries.saturating_sub(stats.undone_recoveries) + stats.timeouts;
        let (events_before, packets_before) = self.counted;
        self.events = self.events * fading + events.saturating_sub(events_before) as f64;
        self.packets = self.packets * fading + stats.data_packets.saturating_sub(packets_before) as f64;
        self.counted = (events, stats.data_packets);
    }

    /// Loss events per packet, at most 1; zero before the first packet.
    pub(super) fn per_packet(&self) -> f64 {
        if self.packets > 0.0 { (self.events / self.packets).min(1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn update(losses: &mut Losses, data_packets: u64, fast_recoveries: u64, undone_recoveries: u64) -> f64 {
        let stats = PathStats { data_packets, fast_recoveries, undone_recoveries, ..PathStats::default() };
        losses.update(&stats, 0.5);
        losses.per_packet()
    }

    // By hand: 2 of 100; then (1 + 1) of (50 + 50); then (1 + 0) of (50 + 50).
    #[test]
    fn earlier_losses_fade() {
        let mut losses = Losses::default();
        assert_eq!(losses.per_packet(), 0.0);
        assert_eq!(update(&mut losses, 100, 2, 0), 0.02);
        assert_eq!(update(&mut losses, 150, 3, 0), 0.02);
        assert_eq!(update(&mut losses, 200, 3, 0), 0.01);
    }

    #[test]
    fn an_undone_recovery_was_no_loss() {
        let mut losses = Losses::default();
        assert_eq!(update(&mut losses, 100, 3, 1), 0.02);
        // By hand: (1 + 0) of (50 + 0), since the number of losses has become less.
        assert_eq!(update(&mut losses, 100, 3, 2), 0.02);
    }
}
