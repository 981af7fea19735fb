//! Delayed acknowledgement for CMT (paper 001 §3.3), sender side: a delayed SACK counts as one missing report
//! for each packet that it acknowledges.

/// Evidence of one SACK that chunks of a path are missing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Evidence {
    /// Number of paths with newly acknowledged chunks.
    pub(crate) paths: usize,
    /// The lowest newly acknowledged chunk on the path whose missing chunks are counted.
    pub(crate) lo: Option<u64>,
    /// Packets with data since the previous SACK, as the receiver counts them.
    pub(crate) packets: u8,
}

impl Evidence {
    /// Number of missing reports for chunk `missing` that this SACK stands for.
    pub(crate) fn reports(&self, missing: u64) -> u8 {
        let all_above = self.lo.is_some_and(|lo| lo > missing);
        if self.paths == 1 && all_above { self.packets.max(1) } else { 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_packets_only_if_all_evidence_is_above_on_one_path() {
        let evidence = |paths, lo| Evidence { paths, lo: Some(lo), packets: 2 };
        assert_eq!(evidence(1, 22).reports(20), 2);
        assert_eq!(evidence(1, 19).reports(20), 1, "evidence on both sides");
        assert_eq!(evidence(2, 21).reports(20), 1, "evidence on two paths");
        assert_eq!(Evidence { packets: 0, ..evidence(1, 21) }.reports(20), 1, "a peer that does not count");
    }
}
