//! Tests reports of dropped packets (draft-stewart-sctp-pktdrprep-16).

use super::*;
use crate::message::MessageId;
use cc::CongestionWindow;

impl Rig {
    fn damaged(&mut self, tsn: u32, payload: &[u8]) {
        self.sender.on_damaged(self.now, Tsn(tsn), payload, &mut self.paths);
        self.sender.wake(self.now, &mut self.paths);
        self.audit();
    }
}

/// TSNs 1 to 4 are in flight on one path; their payloads are zeros.
fn rig() -> Rig {
    let mut rig = Rig::new(&cmt(Cmt::default()), 1, 1);
    rig.paths[P1].window.cwnd = ByteCount::new(10 * CHUNK);
    (1..=4).for_each(|_| rig.transmit(P1));
    rig.pass(Span::from_millis(100));
    rig
}

// rfc9260#section-7.2.3: only a sign of congestion reduces cwnd.
#[test]
fn reported_data_is_retransmitted_at_once_and_no_window_is_reduced() {
    let mut rig = rig();
    let before = rig.paths[P1].window;
    rig.damaged(2, &[0; 31]);
    assert!(rig.is_lost(2));
    assert_eq!(rig.paths[P1].window, before);
    assert_eq!(rig.paths[P1].t3, Some(rig.now + rig.paths[P1].rto.current()));
    assert_eq!(rig.poll(), Some((P1, vec![2])));
    assert_eq!(rig.paths[P1].stats.reported_drops, 1);
    // Karn's rule: chunk 2 was sent twice, so its acknowledgement gives no RTT sample.
    rig.sack(1, &[], 1);
    let srtt = rig.paths[P1].rto.srtt();
    rig.pass(Span::from_secs(1));
    rig.sack(2, &[], 1);
    assert_eq!(rig.paths[P1].rto.srtt(), srtt);
    assert_eq!(rig.paths[P1].stats.fast_recoveries, 0);
}

#[test]
fn a_report_counts_only_for_data_in_flight_whose_payload_it_repeats() {
    let mut rig = rig();
    rig.sack(1, &[(3, 3)], 1);
    rig.damaged(2, &[1; 40]);
    rig.damaged(2, &[0; 30]);
    for acknowledged_or_never_sent in [0, 1, 3, 5, u32::MAX] {
        rig.damaged(acknowledged_or_never_sent, &[0; 40]);
    }
    assert!(!rig.sender.peer.has_lost());
    rig.damaged(4, &[0; 40]);
    rig.damaged(4, &[0; 40]);
    assert_eq!(rig.sender.peer.lost_chunks(), 1, "once");
}

#[test]
fn a_payload_that_is_partly_stored_is_compared_to_its_end() {
    let mut rig = Rig::new(&cmt(Cmt::default()), 1, 1);
    let payload: Vec<u8> = (0..40).collect();
    let id: Option<MessageId> = rig.push(Message::new(Payload::Bytes(payload.clone().into()))).unwrap();
    assert_eq!(id, None);
    assert!(rig.poll().is_some());
    let mut changed = payload.clone();
    changed[30] ^= 1;
    rig.damaged(1, &changed);
    assert!(!rig.is_lost(1));
    rig.damaged(1, &payload);
    assert!(rig.is_lost(1));
}

#[test]
fn while_the_window_of_the_peer_is_closed_reports_are_ignored() {
    let mut rig = rig();
    rig.try_sack(0, &[(2, 2)], 1, 0).unwrap();
    rig.damaged(3, &[0; 40]);
    assert!(!rig.is_lost(3));
}

/// The link has a rate of 1 MB/s, and the RTT is 100 ms: the bandwidth-delay product is 100,000 bytes.
#[test]
fn a_middlebox_reduces_the_window_by_the_share_of_the_path_or_lets_it_grow() {
    let config = cmt(Cmt::default());
    let report = |cwnd: u64, rate: u32, on_queue: u32| {
        let mut rig = Rig::new(&config, 1, 1);
        rig.paths[P1].window = CongestionWindow { cwnd: ByteCount::new(cwnd), ssthresh: None };
        rig.paths[P1].flight = ByteCount::new(40_000);
        rig.paths[P1].rto.sample(Instant::ZERO, Span::from_millis(100), &config);
        rig.sender.on_bandwidth_report(rig.now, P1, rate, on_queue, &mut rig.paths);
        let window = rig.paths[P1].window;
        (window.cwnd.get(), window.ssthresh.map(ByteCount::get))
    };
    assert_eq!(report(60_000, 1_000_000, 200_000), (40_000, Some(39_999)), "40,000 of 200,000 of 100,000");
    assert_eq!(report(60_000, 1_000_000, 90_000), (62_500, None), "a quarter of 10,000");
    assert_eq!(report(60_000, 1_000_000, 20_000), (66_000, None), "four packets");
    assert_eq!(report(99_000, 1_000_000, 0), (100_000, None), "no more than the link holds");
    assert_eq!(report(60_000, 1_000, u32::MAX).0, 3_000, "not below two packets");
    assert_eq!(report(2_000, 1_000, u32::MAX).0, 2_000);
    assert_eq!(report(60_000, 0, 200_000), (60_000, None));
}
