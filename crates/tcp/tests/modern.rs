//! Tests of later extensions of TCP: RACK-TLP, proportional rate reduction, limited transmit, D-SACK, ECN.

use anabranch_tcp::segment::Flags;
use anabranch_tcp::{Config, DelayedAck, Ecn, Payload, Variant};
use testkit::{Fate, Side, TcpPair, TcpSent};
use units::{BitRate, ByteCount, Instant, Span};

const MSS: u64 = 1000;

fn config() -> Config {
    Config {
        mss: MSS as u16,
        timestamps: false,
        delayed_ack: DelayedAck { every: 1, timeout: Span::ZERO },
        ..Config::modern()
    }
}

fn data(pair: &TcpPair) -> Vec<&TcpSent> {
    pair.sent.iter().filter(|sent| sent.from == Side::Client && sent.len > 0).collect()
}

/// Loses the first transmission of these segments, numbered from 0.
fn lose(pair: &mut TcpPair, numbers: &[u64]) {
    let mut waiting = numbers.to_vec();
    pair.on_wire(move |sent| {
        let number = u64::from(sent.offset.saturating_sub(1)) / MSS;
        let hit = sent.from == Side::Client && sent.len > 0 && waiting.contains(&number);
        waiting.retain(|&other| !hit || other != number);
        if hit { Fate::Lost } else { Fate::Arrives }
    });
}

/// The last segment of a burst is lost. Without a probe, only the retransmission timer detects the loss. The
/// probe is sent after two round trips plus the possible delay of an acknowledgement (`rfc8985#section-7.2`).
#[test]
fn tail_loss_probe_repairs_a_lost_tail() {
    let run = |rack_tlp| {
        let mut pair = TcpPair::connected(&Config { rack_tlp, ..config() });
        lose(&mut pair, &[4]);
        let begun = pair.now;
        pair.send(Side::Client, Payload::Filler(5 * MSS as u32));
        while pair.received_bytes(Side::Server) < 5 * MSS {
            assert!(pair.step(Instant::FAR));
        }
        (pair.now.since(begun), pair.stats(Side::Client))
    };
    let (slow, stats) = run(false);
    assert_eq!((stats.timeouts, stats.loss_probes), (1, 0));
    let (fast, stats) = run(true);
    assert_eq!((stats.timeouts, stats.loss_probes), (0, 1));
    // One segment is in flight. Its acknowledgement may be delayed, so the
    // probe would not be sent before the retransmission timer expires.
    assert_eq!(fast, slow);
    // With two segments in flight no ACK is delayed: the probe is sent 2 * 20 ms after the last ACK.
    let run_two = {
        let mut pair = TcpPair::connected(&config());
        lose(&mut pair, &[3, 4]);
        let begun = pair.now;
        pair.send(Side::Client, Payload::Filler(5 * MSS as u32));
        pair.run_for(Span::from_millis(65));
        let probe = data(&pair).last().unwrap().at.since(begun);
        (probe, pair.stats(Side::Client).loss_probes)
    };
    assert_eq!(run_two, (Span::from_millis(60), 1));
}

/// If the probe alone repaired the loss, the window is still reduced (`rfc8985#section-7.4.2`). If no data
/// was lost, the window is not reduced.
#[test]
fn tail_loss_probe_that_repairs_a_loss_reduces_the_window() {
    let mut pair = TcpPair::connected(&config());
    lose(&mut pair, &[4]);
    pair.send(Side::Client, Payload::Filler(5 * MSS as u32));
    pair.run_for(Span::from_millis(500));
    assert_eq!(pair.stats(Side::Client).recoveries, 0, "both might have arrived");
    pair.send(Side::Client, Payload::Filler(5 * MSS as u32));
    pair.run_for(Span::from_millis(500));
    let stats = pair.stats(Side::Client);
    assert_eq!((stats.loss_probes, stats.recoveries), (1, 1));
    assert!(pair.info(Side::Client).ssthresh.is_some());
    // Now no data is lost, but the acknowledgement is late: the receiver reports the probe as a duplicate.
    let mut pair = TcpPair::connected(&config());
    pair.on_wire(|sent| match sent.from {
        Side::Server if sent.ack == 5001 && sent.options.sack.is_empty() => {
            Fate::Late(Span::from_millis(290))
        }
        _ => Fate::Arrives,
    });
    pair.send(Side::Client, Payload::Filler(5 * MSS as u32));
    pair.run_for(Span::from_secs(2));
    let stats = pair.stats(Side::Client);
    assert_eq!((stats.recoveries, stats.timeouts), (0, 0), "{stats:?}");
    assert_eq!(stats.loss_probes, 1);
    assert_eq!(pair.info(Side::Client).ssthresh, None);
}

/// RACK detects the loss of a retransmission by time (`rfc8985#section-3.1`); RFC 6675 needs the RTO.
#[test]
fn rack_detects_a_lost_retransmission() {
    for (rack_tlp, timeouts) in [(true, 0), (false, 1)] {
        let mut pair = TcpPair::connected(&Config { rack_tlp, initial_window: 20, ..config() });
        let mut losses = 2;
        pair.on_wire(move |sent| {
            let hit = sent.from == Side::Client && sent.offset == 1 && sent.len > 0 && losses > 0;
            losses -= u32::from(hit);
            if hit { Fate::Lost } else { Fate::Arrives }
        });
        pair.send(Side::Client, Payload::Filler(100 * MSS as u32));
        pair.run_for(Span::from_secs(10));
        let stats = pair.stats(Side::Client);
        assert_eq!(pair.received_bytes(Side::Server), 100 * MSS);
        assert_eq!(stats.timeouts, timeouts, "{stats:?}");
    }
}

/// More than three later segments overtake a segment. Without RACK, the segment counts as lost. RACK waits
/// longer once it has seen reordering (`rfc8985#section-6.2`, step 4).
#[test]
fn rack_distinguishes_reordering_from_loss() {
    let recoveries = |rack_tlp| {
        let mut pair = TcpPair::connected(&Config { rack_tlp, initial_window: 20, ..config() });
        pair.set_wire(Span::from_millis(10), Some(BitRate::from_mbps(20)));
        let mut n = 0;
        pair.on_wire(move |sent| {
            n += u32::from(sent.len > 0);
            // The segment is late by a fifth of the RTT (ten segments); RACK waits for a quarter of the RTT.
            if sent.len > 0 && n % 100 == 50 { Fate::Late(Span::from_millis(4)) } else { Fate::Arrives }
        });
        pair.send(Side::Client, Payload::Filler(4000 * MSS as u32));
        pair.run_for(Span::from_secs(60));
        assert_eq!(pair.received_bytes(Side::Server), 4000 * MSS);
        pair.stats(Side::Client).recoveries
    };
    let (by_time, by_count) = (recoveries(true), recoveries(false));
    // Until RACK has seen reordering, three segments that arrived above a hole still indicate a loss.
    assert!(by_time <= 5, "{by_time}");
    assert!(by_count >= 20, "{by_count}");
}

/// The window is 3, and the first segment is lost. Two duplicate acknowledgements are not enough. But each of
/// them releases a new segment, and the acknowledgement of the first new segment is the third duplicate
/// (`rfc3042#section-2`).
#[test]
fn limited_transmit_enables_fast_retransmit() {
    for variant in [Variant::NewReno, Variant::Sack] {
        for (limited_transmit, timeouts) in [(true, 0), (false, 1)] {
            let config = Config { variant, limited_transmit, rack_tlp: false, initial_window: 3, ..config() };
            let mut pair = TcpPair::connected(&config);
            lose(&mut pair, &[0]);
            pair.send(Side::Client, Payload::Filler(10 * MSS as u32));
            pair.run_for(Span::from_secs(5));
            let stats = pair.stats(Side::Client);
            assert_eq!((stats.timeouts, stats.recoveries), (timeouts, 1 - timeouts), "{variant}: {stats:?}");
        }
    }
}

/// In a recovery without further loss, the sender sends one segment for every two delivered. Without PRR, the
/// sender is silent for half of the window, and then sends a burst (`rfc6937#section-1`).
#[test]
fn prr_sends_evenly_in_recovery() {
    let longest_silence = |prr| {
        let mut pair = TcpPair::connected(&Config { prr, rack_tlp: false, initial_window: 40, ..config() });
        // Spreads the flight over a round trip.
        pair.set_wire(Span::from_millis(50), Some(BitRate::from_mbps(4)));
        lose(&mut pair, &[5]);
        pair.send(Side::Client, Payload::Filler(400 * MSS as u32));
        pair.run_for(Span::from_millis(400));
        let begin =
            data(&pair).iter().find(|sent| sent.offset == 5001 && sent.at > pair.sent[0].at).unwrap().at;
        let times: Vec<Instant> = data(&pair)
            .iter()
            .map(|sent| sent.at)
            .filter(|&at| at >= begin && at.since(begin) < Span::from_millis(60))
            .collect();
        times.windows(2).map(|w| w[1].since(w[0])).max().unwrap()
    };
    // The flight of 40 segments arrives in 83 ms. With PRR every other acknowledgement releases a segment;
    // without PRR the sender is silent for half of the flight.
    assert!(longest_silence(true) < Span::from_millis(10));
    assert!(longest_silence(false) > Span::from_millis(30));
}

/// Data that arrives twice is reported once, in the first SACK block (`rfc2883#section-4`).
#[test]
fn dsack_reports_a_duplicate_segment() {
    for dsack in [true, false] {
        let mut pair = TcpPair::connected(&Config { dsack, ..config() });
        let mut first = true;
        pair.on_wire(move |_| {
            if std::mem::take(&mut first) { Fate::Twice(Span::from_millis(3)) } else { Fate::Arrives }
        });
        pair.send(Side::Client, Payload::Filler(2 * MSS as u32));
        pair.run_for(Span::from_millis(50));
        let acks: Vec<_> = pair.sent.iter().filter(|sent| sent.from == Side::Server).collect();
        let begin = pair.sent[0].header.seq;
        let reported: Vec<(u32, u32)> = acks
            .iter()
            .flat_map(|ack| &ack.options.sack)
            .map(|block| (block.left.distance_from(begin), block.right.distance_from(begin)))
            .collect();
        assert_eq!(acks.len(), 3);
        assert_eq!(reported, if dsack { vec![(0, 1000)] } else { vec![] });
    }
}

/// The receiver sets ECE until the sender sets CWR. The sender reduces cwnd once per round trip and
/// retransmits nothing (`rfc3168#section-6.1`).
#[test]
fn ce_marks_reduce_the_window_once_a_round_trip() {
    let mut pair = TcpPair::connected(&Config { ecn: true, initial_window: 20, ..config() });
    pair.mark = true;
    // The third to the fifth segment of one flight are marked.
    let mut n = 0;
    pair.on_wire(move |sent| {
        n += u32::from(sent.len > 0);
        if sent.len > 0 && (3..6).contains(&n) { Fate::Lost } else { Fate::Arrives }
    });
    pair.send(Side::Client, Payload::Filler(60 * MSS as u32));
    pair.run_for(Span::from_secs(2));
    let stats = pair.stats(Side::Client);
    assert_eq!((stats.ecn_reductions, stats.recoveries, stats.timeouts), (1, 0, 0));
    assert!(stats.user_bytes_retransmitted.is_zero());
    // Two earlier acknowledgements without ECE had raised the window to 22 segments.
    assert_eq!(pair.info(Side::Client).ssthresh, Some(ByteCount::new(11 * MSS)));
    let echoes: Vec<_> = pair.sent.iter().filter(|s| s.from == Side::Server && s.has(Flags::ECE)).collect();
    let told: Vec<_> = data(&pair).into_iter().filter(|s| s.has(Flags::CWR)).collect();
    assert_eq!(told.len(), 1);
    let heard = told[0].at + Span::from_millis(10);
    assert!(echoes.len() > 3 && echoes.iter().all(|echo| echo.at <= heard));
    assert!(data(&pair).iter().all(|sent| sent.ecn == Ecn::Capable0));
    let bare = pair.sent.iter().filter(|sent| sent.is_bare());
    assert!(bare.into_iter().all(|sent| sent.ecn == Ecn::NotCapable));
}

/// Retransmissions are not ECN-capable (`rfc3168#section-6.1.5`).
#[test]
fn retransmissions_are_not_ect() {
    let mut pair = TcpPair::connected(&Config { ecn: true, ..config() });
    lose(&mut pair, &[2]);
    pair.send(Side::Client, Payload::Filler(10 * MSS as u32));
    pair.run_for(Span::from_secs(2));
    let again: Vec<_> = data(&pair).into_iter().filter(|sent| sent.offset == 2001).collect();
    assert_eq!(again.iter().map(|sent| sent.ecn).collect::<Vec<_>>(), [Ecn::Capable0, Ecn::NotCapable]);
}
