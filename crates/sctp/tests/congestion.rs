//! Congestion control and loss recovery (rfc9260#section-7), as visible on the wire.

use anabranch_sctp::Config;
use cc::{ControlFactory, Growth, LossBased, LossKind, Snapshot, WindowPolicy};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use testkit::Played;
use units::{ByteCount, Span};

const FULL: u32 = Played::FULL;

/// A client whose cwnd has grown to at least `chunks` full chunks, all of them in flight. Also returns the
/// number of the last acknowledged chunk.
fn grown(config: &Config, chunks: u64) -> (Played, u32) {
    let mut client = Played::new(config);
    client.send_full(200);
    let mut acked = 0;
    while client.path(0).cwnd.get() < chunks * 1468 {
        acked += 1;
        client.pass(10);
        client.sack(acked, &[]);
    }
    client.packets();
    (client, acked)
}

fn window(client: &mut Played) -> (u64, Option<u64>) {
    let path = client.path(0);
    (path.cwnd.get(), path.ssthresh.map(ByteCount::get))
}

// rfc9260#section-7.2.1
#[test]
fn the_first_window_is_three_packets() {
    let mut client = Played::new(&Config::default());
    assert_eq!(window(&mut client), (4404, None), "and the threshold is as high as can be");
    let mut client = Played::new(&Config { mtu: ByteCount::new(600), ..Config::default() });
    assert_eq!(window(&mut client).0, 4 * 568);
}

// rfc9260#section-7.2.1: a fully used cwnd grows by the acknowledged bytes, at most by a packet.
#[test]
fn slow_start_adds_a_packet_for_each_sack_of_a_full_window() {
    let mut client = Played::new(&Config::default());
    client.send_full(20);
    client.pass(10);
    client.sack(2, &[]);
    assert_eq!(window(&mut client).0, 4404 + 1468, "two chunks, one packet");
    client.pass(10);
    client.sack(3, &[]);
    assert_eq!(window(&mut client).0, 4404 + 2 * 1468);

    let mut client = Played::new(&Config::default());
    client.send(FULL);
    client.pass(10);
    client.sack(1, &[]);
    assert_eq!(window(&mut client).0, 4404, "a window that is not full does not grow");
}

// rfc9260#section-7.1: chunks that Gap Ack Blocks acknowledge no longer count in the flight size.
#[test]
fn gap_acknowledged_chunks_make_room() {
    let mut client = Played::new(&Config::default());
    client.send_full(6);
    assert_eq!(client.numbers(), [1, 2, 3]);
    client.pass(10);
    client.sack(0, &[(2, 3)]);
    assert_eq!(client.path(0).flight.get(), (1 + 3) * 1468);
    assert_eq!(client.numbers(), [4, 5, 6]);
}

// rfc9260#section-7.2.4: the third report causes the retransmission, not the second.
#[test]
fn the_third_missing_report_retransmits_a_chunk() {
    let (mut client, acked) = grown(&Config::default(), 10);
    let lost = acked + 1;
    for n in 1..=2 {
        client.pass(1);
        client.sack(acked, &[(lost + 1, lost + n)]);
        assert!(!client.numbers().contains(&lost));
    }
    client.pass(1);
    client.sack(acked, &[(lost + 1, lost + 3)]);
    assert_eq!(client.numbers()[0], lost);
    assert_eq!(client.path(0).stats.fast_retransmissions, 1);
}

// rfc9260#section-7.2.4: a report counts only for chunks below the highest TSN newly acknowledged.
#[test]
fn a_sack_with_nothing_new_above_a_chunk_is_no_missing_report() {
    let (mut client, acked) = grown(&Config::default(), 10);
    let base = acked;
    for _ in 0..5 {
        client.pass(1);
        client.sack(base, &[(base + 3, base + 4)]);
    }
    assert_eq!(client.path(0).stats.fast_retransmissions, 0, "the same SACK again is no news");
    client.sack(base, &[(base + 2, base + 4)]);
    client.packets();
    client.sack(base, &[(base + 2, base + 5)]);
    assert_eq!(client.path(0).stats.fast_retransmissions, 1, "1 has three reports");
    let packets = client.packets();
    assert_eq!(packets[0][0].n, base + 1);
}

// rfc9260#section-7.2.4, rule 5: a chunk is fast retransmitted once; T3-rtx handles a further loss.
#[test]
fn a_chunk_is_fast_retransmitted_once() {
    let (mut client, acked) = grown(&Config::default(), 10);
    let mut resent = Vec::new();
    for n in 2..=9 {
        client.pass(1);
        client.sack(acked, &[(acked + 2, acked + n)]);
        resent.extend(client.numbers().into_iter().filter(|&n| n == acked + 1));
    }
    assert_eq!(resent.len(), 1);
    client.pass(1000);
    assert_eq!(client.numbers()[0], acked + 1, "and again after the timeout");
}

// rfc9260#section-7.2.3, rfc9260#section-7.2.4, rules 2 and 6
#[test]
fn a_fast_retransmission_halves_the_window_once_in_a_recovery() {
    let (mut client, acked) = grown(&Config::default(), 16);
    // Chunks `acked` + 1 and `acked` + 5 are lost.
    for n in 2..=3 {
        client.pass(1);
        client.sack(acked, &[(acked + 2, acked + n)]);
    }
    // The third missing report also acknowledges a chunk: cwnd grows before it is halved.
    let halved = (window(&mut client).0 + 1468) / 2;
    client.pass(1);
    client.sack(acked, &[(acked + 2, acked + 4)]);
    assert_eq!(window(&mut client), (halved, Some(halved)));
    let flight = client.path(0).flight.get();
    for n in 6..=8 {
        client.pass(1);
        client.sack(acked, &[(acked + 2, acked + 4), (acked + 6, acked + n)]);
    }
    assert_eq!(client.path(0).flight.get(), flight - 4 * 1468, "three arrived and one is lost");
    assert_eq!(window(&mut client), (halved, Some(halved)), "no second cut");
    client.pass(1);
    client.sack(acked + 4, &[(acked + 6, acked + 9)]);
    assert_eq!(window(&mut client).0, halved, "no growth either before all is acknowledged");
    assert_eq!(client.path(0).stats.fast_recoveries, 1);
}

// rfc9260#section-7.2.4: in recovery each SACK that advances the cumulative TSN reports all missing chunks.
#[test]
fn a_partial_acknowledgement_in_recovery_reports_what_is_missing() {
    let (mut client, acked) = grown(&Config::default(), 16);
    // After chunk `acked`, the chunks number 1, 5 and 9 are lost; 9 has one missing report. Then only the
    // cumulative TSN advances.
    for n in [4, 6, 10] {
        client.pass(1);
        let gaps = [(acked + 2, acked + 4), (acked + 6, acked + 8), (acked + 10, acked + 10)];
        let shown = if n == 4 {
            1
        } else if n == 6 {
            2
        } else {
            3
        };
        client.sack(acked, &gaps[..shown]);
    }
    assert_eq!(client.path(0).stats.fast_retransmissions, 1);
    let before = client.path(0);
    client.pass(1);
    client.sack(acked + 4, &[(acked + 6, acked + 8), (acked + 10, acked + 10)]);
    let after = client.path(0);
    assert!(after.flight >= after.cwnd, "nothing can leave");
    // Chunk number 1 is acknowledged. Chunk number 5 had two reports before and is now marked as lost.
    assert_eq!(after.flight.get(), before.flight.get() - 2 * 1468);
}

// rfc9260#section-7.2.4, rule 3: fast retransmission sends one packet regardless of cwnd, and more only
// within cwnd.
#[test]
fn one_packet_of_lost_chunks_ignores_the_window() {
    let (mut client, acked) = grown(&Config::default(), 12);
    for n in 4..=6 {
        client.packets();
        client.pass(1);
        client.sack(acked, &[(acked + 4, acked + n)]);
    }
    let path = client.path(0);
    assert!(path.flight >= path.cwnd, "the window is closed");
    assert_eq!(client.numbers(), [acked + 1], "and 1 left all the same; 2 and 3 wait");
}

// rfc9260#section-7.2.3: ssthresh is at least four packets after a fast retransmission.
#[test]
fn the_threshold_stays_at_four_packets() {
    let mut client = Played::new(&Config::default());
    client.send_full(7);
    client.pass(10);
    client.sack(1, &[]);
    client.sack(2, &[]);
    for n in 4..=6 {
        client.pass(1);
        client.sack(2, &[(4, n)]);
    }
    assert_eq!(client.path(0).stats.fast_recoveries, 1);
    assert_eq!(window(&mut client), (4 * 1468, Some(4 * 1468)));
}

// rfc9260#section-7.2.1: each RTO without data halves cwnd, down to four packets; ssthresh keeps cwnd.
#[test]
fn an_idle_window_shrinks_rto_by_rto() {
    let (mut client, mut acked) = grown(&Config::default(), 20);
    while acked < 200 {
        acked += 1;
        client.pass(1);
        client.sack(acked, &[]);
    }
    assert_eq!(client.path(0).flight, ByteCount::ZERO);
    let (full, _) = window(&mut client);
    assert_eq!(client.path(0).rto, Span::from_secs(1));
    client.pass(1100);
    client.send(10);
    let (halved, threshold) = window(&mut client);
    assert_eq!((halved, threshold), (full / 2, Some(full)));
    client.pass(10);
    client.sack(201, &[]);
    client.pass(20_000);
    client.send(10);
    assert_eq!(window(&mut client).0, 4 * 1468);
}

// rfc9260#section-7.2.2: once a cwnd of bytes is acknowledged, cwnd grows by a packet.
#[test]
fn avoidance_adds_a_packet_for_each_window_acknowledged() {
    let (mut client, acked) = grown(&Config::default(), 16);
    for n in 2..=4 {
        client.pass(1);
        client.sack(acked, &[(acked + 2, acked + n)]);
    }
    // All chunks in flight arrive: recovery ends, and congestion avoidance follows.
    client.send_full(100);
    let mut all = client.numbers().into_iter().max().unwrap_or(acked);
    for _ in 0..20 {
        client.pass(1);
        client.sack(all, &[]);
        all = client.numbers().into_iter().max().unwrap_or(all);
        let path = client.path(0);
        if path.flight >= path.cwnd {
            break;
        }
    }
    let before = client.path(0);
    assert!(before.cwnd > before.ssthresh.expect("there was a loss"), "{before:?}");
    let (start, credit) = (before.cwnd.get(), before.partial_bytes_acked.get());
    let mut acknowledged = credit;
    let mut next = all - (before.flight.get() / 1468) as u32;
    while client.path(0).cwnd.get() == start {
        next += 1;
        acknowledged += 1468;
        client.pass(1);
        client.sack(next, &[]);
        assert!(acknowledged < start + 1468, "a window's worth is enough");
    }
    assert!(acknowledged >= start);
    assert_eq!(client.path(0).cwnd.get(), start + 1468);
}

/// A congestion control whose cwnd is always four packets.
#[derive(Debug)]
struct Fixed;

impl WindowPolicy for Fixed {
    fn name(&self) -> &'static str {
        "fixed"
    }

    fn initial(&mut self, at: &Snapshot<'_>) -> ByteCount {
        at.segment() * 4
    }

    fn increase(&mut self, _growth: Growth, _at: &Snapshot<'_>) -> f64 {
        0.0
    }

    fn decrease(&mut self, _kind: LossKind, at: &Snapshot<'_>) -> ByteCount {
        at.cwnd()
    }
}

#[test]
fn an_association_asks_the_factory_of_its_program_for_a_controller() {
    let built = Arc::<AtomicU32>::default();
    let count = built.clone();
    let fixed = ControlFactory::new("fixed", move |setup| {
        count.fetch_add(1, Ordering::Relaxed);
        Box::new(LossBased::new(Fixed, setup))
    });
    let config = Config { congestion_control: fixed.into(), ..Config::default() };
    for associations in 1..=2 {
        let mut client = Played::new(&config);
        client.send_full(20);
        assert_eq!(built.load(Ordering::Relaxed), 2 * associations, "one at each end");
        assert_eq!(client.numbers(), [1, 2, 3, 4]);
        client.pass(10);
        client.sack(2, &[]);
        assert_eq!(client.numbers(), [5, 6], "the window does not grow");
        client.pass(10);
        for last in 4..=6 {
            client.sack(2, &[(4, last)]);
        }
        assert_eq!(window(&mut client), (4 * 1468, Some(4 * 1468)), "and a loss does not reduce it");
    }
}
