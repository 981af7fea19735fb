//! One to four losses in one window, as in Fall and Floyd, "Simulation-based Comparisons of Tahoe, Reno, and
//! SACK TCP", CCR 1996. The link has 0.8 Mbit/s and 100 ms, a segment has 1000 bytes, and each segment is
//! acknowledged. Of a window of 15 segments (numbers 14 to 28), these
//! are lost: 14; 14 and 28; 14, 26 and 28; or 14, 24, 26 and 28.

use anabranch_tcp::{Config, DelayedAck, Payload, Variant};
use testkit::{Fate, Side, TcpPair};
use units::{BitRate, ByteCount, Instant, Span};

const MSS: u64 = 1000;

/// Result of a run.
#[derive(Debug)]
struct Outcome {
    timeouts: u64,
    recoveries: u64,
    /// Slow start thresholds, in the order they were set.
    thresholds: Vec<u64>,
    /// Time in round trips from the first fast retransmission until all data sent earlier is acknowledged.
    round_trips: f64,
    /// Numbers of the segments that were sent more than once.
    again: Vec<u64>,
    /// The window in segments when all data sent before the first fast retransmission is acknowledged.
    cwnd_after: f64,
}

fn config(variant: Variant) -> Config {
    Config {
        variant,
        initial_window: 1,
        mss: MSS as u16,
        timestamps: false,
        delayed_ack: DelayedAck { every: 1, timeout: Span::from_millis(200) },
        receive_buffer: ByteCount::new(1 << 20).into(),
        ..Config::qualnet()
    }
}

fn lose(variant: Variant, lost: &[u64]) -> Outcome {
    lose_with(&config(variant), lost)
}

fn lose_with(config: &Config, lost: &[u64]) -> Outcome {
    let mut pair = TcpPair::connected(config);
    pair.set_wire(Span::from_millis(100), Some(BitRate::from_bps(800_000)));
    let mut waiting: Vec<u64> = lost.to_vec();
    pair.on_wire(move |sent| {
        let number = u64::from(sent.offset - 1) / MSS;
        let hit = sent.from == Side::Client && sent.len > 0 && waiting.contains(&number);
        waiting.retain(|&other| !hit || other != number);
        if hit { Fate::Lost } else { Fate::Arrives }
    });
    pair.send(Side::Client, Payload::Filler(80 * MSS as u32));
    let mut outcome = Outcome {
        timeouts: 0,
        recoveries: 0,
        thresholds: Vec::new(),
        round_trips: f64::NAN,
        again: Vec::new(),
        cwnd_after: f64::NAN,
    };
    let (mut begun, mut goal): (Option<Instant>, u64) = (None, 0);
    let end = pair.now + Span::from_secs(20);
    while pair.step(end) {
        let (info, stats) = (pair.info(Side::Client), pair.stats(Side::Client));
        if stats.recoveries + stats.timeouts > outcome.thresholds.len() as u64 {
            outcome.thresholds.push(info.ssthresh.map_or(0, |s| s.get()));
        }
        if begun.is_none() && stats.recoveries > 0 {
            begun = Some(pair.now);
            goal = pair
                .sent
                .iter()
                .filter(|s| s.from == Side::Client)
                .map(|s| u64::from(s.offset) + s.len as u64)
                .max()
                .unwrap();
        }
        if let Some(begun) = begun
            && outcome.round_trips.is_nan()
            && stats.bytes_acked.get() + 1 >= goal
        {
            let rtt = Span::from_micros(200_000 + 10_400);
            outcome.round_trips = (pair.now - begun).as_secs_f64() / rtt.as_secs_f64();
            outcome.cwnd_after = info.cwnd.as_f64() / MSS as f64;
        }
    }
    let stats = pair.stats(Side::Client);
    (outcome.timeouts, outcome.recoveries) = (stats.timeouts, stats.recoveries);
    let mut numbers: Vec<u64> = pair
        .sent
        .iter()
        .filter(|s| s.from == Side::Client && s.len > 0)
        .map(|s| u64::from(s.offset) / MSS)
        .collect();
    numbers.sort_unstable();
    outcome.again = numbers.windows(2).filter(|w| w[0] == w[1]).map(|w| w[0]).collect();
    assert_eq!(pair.received_bytes(Side::Server), 80 * MSS);
    outcome
}

const LOSSES: [&[u64]; 4] = [&[14], &[14, 28], &[14, 26, 28], &[14, 24, 26, 28]];

#[test]
fn tahoe_slow_starts_from_the_first_hole_without_a_timeout() {
    for lost in LOSSES {
        let outcome = lose(Variant::Tahoe, lost);
        assert_eq!((outcome.timeouts, outcome.recoveries), (0, 1), "{outcome:?}");
        assert_eq!(outcome.thresholds, [7500]);
    }
    // One loss: cwnd is one segment after the loss, and two after the acknowledgement of the whole flight.
    assert_eq!(lose(Variant::Tahoe, &[14]).cwnd_after, 2.0);
    // Tahoe does not know which segments arrived: it also retransmits the segments between the holes.
    assert_eq!(lose(Variant::Tahoe, &[14, 24, 26, 28]).again, [14, 24, 25, 26, 27, 28]);
}

#[test]
fn reno_repairs_one_loss_halves_twice_for_two_and_times_out_for_more() {
    let one = lose(Variant::Reno, &[14]);
    assert_eq!((one.timeouts, one.recoveries, one.cwnd_after), (0, 1, 7.5));
    assert!((one.round_trips - 1.0).abs() < 0.1, "{one:?}");
    let two = lose(Variant::Reno, &[14, 28]);
    assert_eq!((two.timeouts, two.recoveries), (0, 2));
    // When the partial acknowledgement arrives, cwnd is 7.5 + 3 + 10 segments, and
    // 20 segments (14 to 33) are outstanding. The acknowledgement covers 14 to 27.
    // Then cwnd is 7.5 and allows one more segment, so that seven are outstanding.
    assert_eq!(two.thresholds, [7500, 3500]);
    for lost in &LOSSES[2..] {
        let outcome = lose(Variant::Reno, lost);
        assert_eq!((outcome.timeouts, outcome.recoveries), (1, 2), "{outcome:?}");
        assert!(outcome.round_trips > 5.0, "{outcome:?}");
    }
}

#[test]
fn newreno_repairs_one_hole_in_a_round_trip_with_one_cut() {
    for (holes, lost) in (1..).zip(LOSSES) {
        let outcome = lose(Variant::NewReno, lost);
        assert_eq!((outcome.timeouts, outcome.recoveries), (0, 1), "{outcome:?}");
        assert_eq!((&outcome.thresholds[..], outcome.cwnd_after), (&[7500][..], 7.5));
        assert!((outcome.round_trips - f64::from(holes)).abs() < 0.1, "{outcome:?}");
        assert_eq!(outcome.again, lost);
    }
}

/// A hole at the end of the flight is detected only when three later segments arrive, half a round trip after
/// the first retransmission. So recovery takes at most two and a half round trips for any number of holes.
#[test]
fn sack_repairs_all_holes_within_two_and_a_half_round_trips() {
    for rack_tlp in [false, true] {
        for prr in [false, true] {
            let config = Config { prr, rack_tlp, ..config(Variant::Sack) };
            for lost in LOSSES {
                let outcome = lose_with(&config, lost);
                assert_eq!((outcome.timeouts, outcome.recoveries), (0, 1), "{outcome:?}");
                assert_eq!((&outcome.thresholds[..], outcome.cwnd_after), (&[7500][..], 7.5));
                assert!(outcome.round_trips < 2.6, "{outcome:?}");
                assert_eq!(outcome.again, lost);
            }
            // Holes with at least three later segments in the flight are retransmitted within one round trip,
            // once pipe has fallen to the halved window.
            let early = lose_with(&config, &[14, 16, 18, 20]);
            assert!(early.round_trips < 1.8, "{early:?}");
            assert_eq!((early.timeouts, early.recoveries, early.again), (0, 1, vec![14, 16, 18, 20]));
        }
    }
}

/// Ten segments are in flight, and there is no more data. The test checks the window at and after the third
/// duplicate acknowledgement, in segments: Tahoe has cwnd 1 and ssthresh 5; Reno has cwnd 5 + 3, then 5.
#[test]
fn windows_after_the_third_duplicate_ack() {
    for (variant, at_third, after) in
        [(Variant::Tahoe, 1, 2), (Variant::Reno, 8, 5), (Variant::NewReno, 8, 5), (Variant::Sack, 5, 5)]
    {
        let mut pair = TcpPair::connected(&Config { initial_window: 10, ..config(variant) });
        let first = pair.sent.len();
        pair.on_wire(move |sent| if sent.number == first + 3 { Fate::Lost } else { Fate::Arrives });
        pair.send(Side::Client, Payload::Filler(10 * MSS as u32));
        while pair.stats(Side::Client).recoveries == 0 {
            assert!(pair.step(Instant::FAR));
        }
        let info = pair.info(Side::Client);
        assert_eq!(info.cwnd.get(), at_third * MSS, "{variant}");
        assert_eq!(info.ssthresh, Some(ByteCount::new(5 * MSS)), "{variant}");
        pair.run_for(Span::from_millis(300));
        assert_eq!(pair.info(Side::Client).cwnd.get(), after * MSS, "{variant}");
        assert_eq!(pair.stats(Side::Client).timeouts, 0, "{variant}");
    }
}

/// Segments 1 and 4 of a flight of ten are lost. NewReno stays in recovery for two round trips and reduces
/// cwnd once, Reno reduces it twice, SACK retransmits both segments within one round trip.
#[test]
fn recovery_of_two_losses_in_ten_segments() {
    let run = |variant| {
        let config = Config { initial_window: 10, ..config(variant) };
        let mut pair = TcpPair::connected(&config);
        let mut lost = vec![1 + MSS as u32, 1 + 4 * MSS as u32];
        pair.on_wire(move |sent| {
            let hit = sent.from == Side::Client && lost.contains(&sent.offset);
            lost.retain(|&offset| !hit || offset != sent.offset);
            if hit { Fate::Lost } else { Fate::Arrives }
        });
        pair.send(Side::Client, Payload::Filler(40 * MSS as u32));
        let end = pair.now + Span::from_secs(60);
        let mut in_recovery = Vec::new();
        while pair.step(end) {
            if pair.info(Side::Client).in_recovery {
                in_recovery.push(pair.now);
            }
        }
        let length = *in_recovery.last().unwrap() - in_recovery[0];
        (pair.stats(Side::Client), length.as_secs_f64() / 0.020)
    };
    let (newreno, trips) = run(Variant::NewReno);
    assert_eq!((newreno.recoveries, newreno.timeouts), (1, 0));
    assert!((0.9..=2.1).contains(&trips), "{trips}");
    let (reno, _) = run(Variant::Reno);
    assert_eq!(reno.recoveries + reno.timeouts, 2);
    let (sack, trips) = run(Variant::Sack);
    assert_eq!((sack.recoveries, sack.timeouts, sack.fast_retransmissions), (1, 0, 2));
    assert!(trips < 1.1, "{trips}");
}

/// After a timeout, duplicate acknowledgements of data sent before the timeout begin no recovery
/// (`rfc6582#section-3.2`).
#[test]
fn duplicate_acks_for_data_from_before_a_timeout_begin_no_recovery() {
    for variant in Variant::ALL {
        let mut pair = TcpPair::connected(&Config { initial_window: 8, ..config(*variant) });
        let lost_until = pair.now + Span::from_millis(900);
        // The first segment and all acknowledgements are lost for a time, so that the timer expires.
        pair.on_wire(move |sent| {
            let early = sent.at < lost_until;
            if early && (sent.from == Side::Server || sent.offset == 1) { Fate::Lost } else { Fate::Arrives }
        });
        pair.send(Side::Client, Payload::Filler(30 * MSS as u32));
        pair.run_for(Span::from_secs(10));
        let stats = pair.stats(Side::Client);
        assert_eq!((stats.timeouts, stats.recoveries), (1, 0), "{variant}: {stats:?}");
        assert_eq!(pair.received_bytes(Side::Server), 30 * MSS);
    }
}

/// While a hole is repaired, arriving segments release new segments, and FlightSize grows. But arrived
/// segments do not show a larger capacity of the path: a later timeout must not set ssthresh above the value
/// of the first reduction.
#[test]
fn timeout_in_recovery_does_not_raise_ssthresh() {
    for variant in [Variant::NewReno, Variant::Sack] {
        let mut pair = TcpPair::connected(&Config { initial_window: 40, ..config(variant) });
        pair.set_wire(Span::from_millis(100), Some(BitRate::from_mbps(8)));
        let mut transmissions = 0;
        pair.on_wire(move |sent| {
            let number = u64::from(sent.offset - 1) / MSS;
            let data = sent.from == Side::Client && sent.len > 0;
            // NewReno loses more segments than it can repair (one per round
            // trip) before the timer expires; SACK loses a retransmission.
            let hit = data
                && match variant {
                    Variant::Sack => number == 20,
                    _ => number < 40 && number.is_multiple_of(2),
                };
            let limit = if variant == Variant::Sack { 2 } else { 20 };
            transmissions += u32::from(hit);
            if hit && transmissions <= limit { Fate::Lost } else { Fate::Arrives }
        });
        pair.send(Side::Client, Payload::Filler(900 * MSS as u32));
        let mut thresholds = Vec::new();
        let end = pair.now + Span::from_secs(20);
        while pair.step(end) {
            let (info, stats) = (pair.info(Side::Client), pair.stats(Side::Client));
            if stats.recoveries + stats.timeouts > thresholds.len() as u64 {
                thresholds.push(info.ssthresh.map_or(0, |s| s.get()));
            }
        }
        let stats = pair.stats(Side::Client);
        assert_eq!((stats.recoveries, stats.timeouts), (1, 1), "{variant}: {stats:?}");
        assert!(thresholds[1] <= thresholds[0], "{variant}: {thresholds:?}");
        assert_eq!(pair.received_bytes(Side::Server), 900 * MSS);
    }
}
