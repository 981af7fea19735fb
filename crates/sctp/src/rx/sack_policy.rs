//! Decides when a SACK is sent.

use super::lean::Lean;
use crate::config::Config;
use crate::path::PathId;
use units::{Instant, Span};
use wire::Tsn;

/// State of delayed acknowledgements (`rfc9260#section-6.2`; with DAC also paper 001, section 3.3).
#[derive(Debug)]
pub(super) struct SackPolicy {
    /// Number of packets with DATA after which a SACK is due.
    frequency: u32,
    /// The longest delay of a SACK.
    delay: Span,
    dac: bool,
    /// True if the association has received DATA before.
    started: bool,
    /// A SACK must be sent now.
    due: bool,
    /// Time at which a delayed SACK becomes due.
    deadline: Option<Instant>,
    /// Packets with DATA since the last SACK.
    packets: u32,
    /// The path on which the latest DATA arrived.
    source: PathId,
    packet: Packet,
    duplicates: Vec<Tsn>,
}

/// Properties of the packet that is being read.
#[derive(Debug, Default)]
struct Packet {
    /// A chunk of the packet has the I bit or was dropped.
    urgent: bool,
    /// The packet has DATA that had not arrived before.
    fresh: bool,
    duplicate: bool,
    /// TSNs were missing when the packet arrived, or after it was processed.
    gap: bool,
    /// The packet has a DATA chunk.
    data: bool,
    /// The packet has a FORWARD TSN.
    forward: bool,
    /// The packet has a FORWARD TSN that skips nothing new: the last SACK may have been lost.
    stale: bool,
}

/// Maximum number of duplicate TSNs that are stored for the next SACK. Further duplicates are not reported.
const MAX_DUPLICATES: usize = 128;

impl SackPolicy {
    pub(super) fn new(config: &Config) -> Self {
        SackPolicy {
            frequency: config.sack_frequency,
            delay: config.sack_delay,
            dac: config.cmt.enabled && config.cmt.dac,
            packets: 0,
            started: false,
            due: false,
            deadline: None,
            packet: Packet::default(),
            source: PathId::default(),
            duplicates: Vec::new(),
        }
    }

    /// Sets delay and frequency. A SACK that is already delayed waits at most for the new delay.
    pub(super) fn set_options(&mut self, now: Instant, delay: Span, frequency: u32) {
        (self.delay, self.frequency) = (delay, frequency);
        self.deadline = self.deadline.map(|deadline| deadline.min(now + delay));
        self.due |= self.packets >= frequency;
    }

    /// Records a DATA chunk from path `source`; `immediate` is its I bit.
    #[inline]
    pub(super) fn chunk(&mut self, source: PathId, immediate: bool) {
        self.source = source;
        self.packet.urgent |= immediate;
        self.packet.data = true;
    }

    /// Records that the chunk is new. `gap`: TSNs are missing below the highest TSN.
    #[inline]
    pub(super) fn fresh(&mut self, gap: bool) {
        self.packet.fresh = true;
        self.packet.gap |= gap;
    }

    /// Records that the chunk had arrived before.
    pub(super) fn duplicate(&mut self, tsn: Tsn) {
        self.packet.duplicate = true;
        if self.duplicates.len() < MAX_DUPLICATES {
            self.duplicates.push(tsn);
        }
    }

    /// Records that the chunk had no room and was dropped: a SACK is due (`rfc9260#section-6.2`).
    pub(super) fn dropped(&mut self) {
        self.packet.urgent = true;
    }

    /// Records a FORWARD TSN from path `source`: it counts as DATA (`rfc3758#section-3.6`). `stale`: it
    /// skipped nothing new. `gap`: TSNs were missing when it arrived.
    pub(super) fn forward(&mut self, source: PathId, stale: bool, gap: bool) {
        self.source = source;
        self.packet.forward = true;
        self.packet.stale |= stale;
        // The FORWARD TSN may close a gap: the SACK is not delayed (`rfc9260#section-6.7`), even with DAC.
        self.packet.urgent |= gap;
    }

    /// Called at the end of a packet with DATA or FORWARD TSN. Returns true if the packet had DATA. `fixed`
    /// is the length of a SACK without blocks, in bytes.
    #[inline]
    pub(super) fn packet_done(&mut self, now: Instant, lean: Option<&Lean>, fixed: usize) -> bool {
        let packet = std::mem::take(&mut self.packet);
        let forward_only = packet.forward && !packet.data;
        // With DAC only packets with data count: the peer counts as many missing reports as the SACK reports
        // packets.
        if !(forward_only && self.dac) {
            self.packets = self.packets.saturating_add(1);
        }
        let disorder = packet.gap || (packet.duplicate && !packet.fresh);
        let enough = self.packets >= self.frequency;
        let waits = enough && lean.is_some_and(|lean| lean.waits(now, self.packets, fixed));
        let at_once = packet.urgent
            || (packet.stale && forward_only)
            || (enough && !waits)
            || !self.started
            // With DAC no gap causes a SACK at once: gaps are normal with several paths, and the SACK reports
            // the number of packets.
            || (disorder && !self.dac && lean.is_none());
        self.started = true;
        if at_once {
            self.due = true;
        } else if waits {
            let latest = Lean::deadline(now, self.packets);
            self.deadline = Some(self.deadline.map_or(latest, |deadline| deadline.min(latest)));
        } else if self.deadline.is_none() {
            self.deadline = Some(now + self.delay);
        }
        !forward_only
    }

    /// Makes a SACK due at once.
    pub(super) fn force(&mut self) {
        self.due = true;
    }

    #[inline]
    pub(super) fn is_due(&self) -> bool {
        self.due
    }

    #[inline]
    pub(super) fn is_pending(&self) -> bool {
        self.due || self.packets > 0 || self.deadline.is_some()
    }

    #[inline]
    pub(super) fn deadline(&self) -> Option<Instant> {
        if self.due { None } else { self.deadline }
    }

    /// Makes a delayed SACK due if its deadline has passed. Returns true in that case.
    pub(super) fn on_timeout(&mut self, now: Instant) -> bool {
        let due = self.deadline.is_some_and(|deadline| deadline <= now);
        self.due |= due;
        due
    }

    #[inline]
    pub(super) fn source(&self) -> PathId {
        self.source
    }

    /// Drops the duplicates that are not reported yet.
    pub(super) fn forget_duplicates(&mut self) {
        self.duplicates.clear();
    }

    #[inline]
    pub(super) fn duplicates(&self) -> &[Tsn] {
        &self.duplicates
    }

    /// The number of packets that a SACK reports with DAC. Without DAC these two bits of the SACK are
    /// reserved and zero.
    #[inline]
    pub(super) fn packets_since_last(&self) -> u8 {
        if self.dac { self.packets.min(3) as u8 } else { 0 }
    }

    /// Records that a SACK was written: all counters restart.
    #[inline]
    pub(super) fn written(&mut self) {
        self.packets = 0;
        self.due = false;
        self.deadline = None;
        self.duplicates.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Cmt;

    fn policy(frequency: u32, dac: bool) -> SackPolicy {
        let cmt = Cmt { enabled: dac, ..Cmt::default() };
        SackPolicy::new(&Config { sack_frequency: frequency, cmt, ..Config::default() })
    }

    fn at(ms: u64) -> Instant {
        Instant::ZERO + Span::from_millis(ms)
    }

    /// A packet of one new chunk without the I bit.
    fn packet(p: &mut SackPolicy, now: Instant, gap: bool) {
        p.chunk(PathId(0), false);
        p.fresh(gap);
        p.packet_done(now, None, 16);
    }

    /// Returns the policy after the first SACK of the association.
    fn started(frequency: u32, dac: bool) -> SackPolicy {
        let mut p = policy(frequency, dac);
        packet(&mut p, at(0), false);
        p.written();
        p
    }

    // rfc9260#section-5.1, rfc9260#section-6.2
    #[test]
    fn the_first_data_is_acknowledged_at_once_and_no_other() {
        for dac in [false, true] {
            let mut p = policy(2, dac);
            packet(&mut p, at(0), false);
            assert!(p.is_due());
            p.written();
            packet(&mut p, at(1), false);
            assert!(!p.is_due() && p.is_pending());
        }
    }

    // rfc9260#section-6.2
    #[test]
    fn every_second_packet_or_the_delay_brings_a_sack() {
        let mut p = started(2, false);
        packet(&mut p, at(10), false);
        assert_eq!((p.is_due(), p.deadline()), (false, Some(at(210))));
        p.on_timeout(at(209));
        assert!(!p.is_due());
        packet(&mut p, at(50), false);
        assert_eq!((p.is_due(), p.deadline()), (true, None));
        p.written();
        packet(&mut p, at(60), false);
        p.on_timeout(at(260));
        assert!(p.is_due());
        p.written();
        assert_eq!((p.is_due(), p.is_pending(), p.deadline()), (false, false, None));
    }

    // rfc9260#section-6.2: the delay runs from the first packet not acknowledged
    #[test]
    fn later_packets_do_not_move_the_deadline() {
        let mut p = started(3, false);
        packet(&mut p, at(10), false);
        packet(&mut p, at(150), false);
        assert_eq!(p.deadline(), Some(at(210)));
    }

    // rfc9260#section-6.2
    #[test]
    fn a_packet_of_duplicates_only_is_answered_at_once() {
        let mut p = started(4, false);
        p.duplicate(Tsn(7));
        p.fresh(false);
        p.packet_done(at(1), None, 16);
        assert!(!p.is_due(), "new DATA came along");
        p.duplicate(Tsn(8));
        p.packet_done(at(2), None, 16);
        assert!(p.is_due());
        assert_eq!(p.duplicates(), [Tsn(7), Tsn(8)]);
        p.written();
        assert!(p.duplicates().is_empty());
    }

    // rfc9260#section-6.7
    #[test]
    fn while_tsns_are_missing_every_packet_is_answered() {
        let mut p = started(2, false);
        for ms in 1..5 {
            packet(&mut p, at(ms), true);
            assert!(p.is_due());
            p.written();
        }
    }

    // rfc7053#section-5.2
    #[test]
    fn the_i_bit_asks_for_a_sack_at_once_also_with_dac() {
        for dac in [false, true] {
            let mut p = started(2, dac);
            p.chunk(PathId(1), true);
            p.fresh(false);
            p.packet_done(at(1), None, 16);
            assert!(p.is_due());
        }
    }

    // rfc9260#section-6.2
    #[test]
    fn dropped_data_is_answered_at_once_also_with_dac() {
        for dac in [false, true] {
            let mut p = started(2, dac);
            p.dropped();
            p.packet_done(at(1), None, 16);
            assert!(p.is_due());
        }
    }

    // Paper 001 section 3.3
    #[test]
    fn with_dac_neither_gaps_nor_duplicates_force_a_sack() {
        let mut p = started(2, true);
        packet(&mut p, at(1), true);
        assert!(!p.is_due());
        p.duplicate(Tsn(3));
        p.packet_done(at(2), None, 16);
        assert!(p.is_due(), "the second packet does");
        assert_eq!((p.packets_since_last(), p.duplicates()), (2, [Tsn(3)].as_slice()));
    }

    // Paper 001 section 3.3: a SACK that the delay timer sends also reports the number of packets.
    #[test]
    fn the_count_of_packets_is_in_every_sack_and_starts_anew() {
        let mut p = started(9, true);
        packet(&mut p, at(1), true);
        p.on_timeout(at(300));
        assert_eq!((p.is_due(), p.packets_since_last()), (true, 1));
        p.written();
        assert_eq!(p.packets_since_last(), 0);
        for n in [1, 2, 3, 3] {
            packet(&mut p, at(400), true);
            assert_eq!(p.packets_since_last(), n, "two bits hold no more than 3");
        }
    }

    // rfc9260#section-3.3.4: flag bits of a SACK are reserved
    #[test]
    fn without_dac_the_count_stays_off_the_wire() {
        let mut p = started(9, false);
        packet(&mut p, at(1), false);
        assert_eq!(p.packets_since_last(), 0);
        let cmt = Cmt { enabled: false, dac: true, ..Cmt::default() };
        let mut p = SackPolicy::new(&Config { cmt, ..Config::default() });
        packet(&mut p, at(1), true);
        assert_eq!(p.packets_since_last(), 0);
    }

    #[test]
    fn the_list_of_duplicates_is_bounded() {
        let mut p = started(2, true);
        for tsn in 0..1000 {
            p.duplicate(Tsn(tsn));
        }
        assert_eq!(p.duplicates().len(), MAX_DUPLICATES);
    }
}
