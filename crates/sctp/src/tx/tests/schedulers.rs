//! Tests path schedulers: the inequalities of their papers with numbers, and the effects on the sender.

use super::*;
use crate::config::PathSelection;
use crate::draws::Draws;
use crate::multipath::{Opportunity, Scheduler};

/// Two paths with RTTs of 20 ms and 100 ms, RTTVAR of half the RTT, and cwnds of ten chunks.
fn unequal(path_selection: PathSelection) -> (Rig, Box<dyn Scheduler>) {
    let options = Cmt { path_selection, ..Cmt::default() };
    let config = cmt(options);
    let mut rig = Rig::new(&config, 2, 1);
    for (p, rtt) in [(P1, 20), (P2, 100)] {
        rig.paths[p].rto.sample(Instant::ZERO, Span::from_millis(rtt), &config);
        rig.paths[p].window.cwnd = ByteCount::new(10 * CHUNK);
    }
    (rig, path_selection.build())
}

fn at(rig: &Rig, waiting: u64, window: u64) -> Opportunity<'_> {
    let (waiting, window, given) = (ByteCount::new(waiting), ByteCount::new(window), ByteCount::MAX);
    Opportunity { now: rig.now, paths: &rig.paths, waiting, given, window, refusals: 0, unblocked: false }
}

/// ECF (Lim et al., algorithm 1) with δ = 50 ms. For data of `n` cwnds, the sender waits for the fast path if
/// (1 + n) * 20 ms < 100 ms + δ and n * 100 ms > 2 * 20 ms + δ. While it waits, the first bound is 25 %
/// higher.
#[test]
fn ecf_waits_for_the_fast_path_where_that_ends_sooner() {
    let (rig, mut ecf) = unequal(PathSelection::Ecf);
    let mut admits =
        |windows: f64| ecf.admits(&at(&rig, (windows * 10.0 * CHUNK as f64) as u64, 1 << 30), P2);
    assert!(admits(0.1), "22 < 150, but 10 < 90: the little there is goes at once");
    assert!(admits(8.0), "180 > 150");
    assert!(!admits(3.0), "80 < 150 and 300 > 90");
    assert!(!admits(8.0), "having waited: 180 < 187.5");
    assert!(admits(10.0), "220 > 187.5");
    assert!(admits(8.0), "and the patience is over");
    assert!(ecf.admits(&at(&rig, 3 * 10 * CHUNK, 1 << 30), P1), "the fast path itself");
}

#[test]
fn ecf_and_blest_do_not_wait_for_a_path_that_timed_out() {
    for selection in [PathSelection::Ecf, PathSelection::Blest] {
        let (mut rig, mut scheduler) = unequal(selection);
        assert!(!scheduler.admits(&at(&rig, 3 * 10 * CHUNK, 30_000), P2), "{selection}");
        rig.paths[P1].timed_out = true;
        assert!(scheduler.admits(&at(&rig, 3 * 10 * CHUNK, 30_000), P2), "{selection}");
    }
}

/// BLEST (Ferlin et al.): in an RTT of the slow path, the fast path makes n = 5 round trips and sends X =
/// (14520 + 1500 * 4 / 2) * 5 = 87600 bytes. The slow path has 1500 bytes in flight and would send one packet
/// more: the peer's window must have room for the sum.
#[test]
fn blest_leaves_out_a_path_that_would_block_the_window() {
    let (mut rig, mut blest) = unequal(PathSelection::Blest);
    rig.paths[P2].flight = ByteCount::new(1500);
    let mut admits =
        |rig: &Rig, window, refusals| blest.admits(&Opportunity { refusals, ..at(rig, 1 << 20, window) }, P2);
    assert!(admits(&rig, 90_600, 0));
    assert!(!admits(&rig, 90_599, 0));
    // If the peer's window was full within an RTT, the factor λ, by which BLEST multiplies X, grows by 0.01.
    rig.now += Span::from_millis(100);
    assert!(!admits(&rig, 90_600, 1), "1.01 * 87600 = 88476");
    assert!(admits(&rig, 91_476, 1));
    rig.now += Span::from_millis(100);
    assert!(admits(&rig, 90_600, 1), "nothing since: less careful again, but never below 1");
    rig.now += Span::from_millis(100);
    assert!(!admits(&rig, 90_599, 1));
}

/// Data waits although the slow path has room. The data is sent when the fast path has room.
#[test]
fn data_waits_where_the_scheduler_says_so() {
    let (mut rig, _) = unequal(PathSelection::Ecf);
    for _ in 0..45 {
        rig.push(Message::new(Payload::Filler(CHUNK as u32))).unwrap();
    }
    rig.pass(Span::from_millis(1));
    let mut sent = Vec::new();
    for _ in 0..5 {
        sent.extend(std::iter::from_fn(|| rig.poll()).map(|(p, _)| p));
        rig.pass(Span::from_millis(1));
    }
    assert_eq!(sent, [P1; 10], "35 chunks wait: 4.5 * 20 < 150 and 350 > 90");
    rig.sack(4, &[], 2);
    assert_eq!(rig.poll().map(|(p, _)| p), Some(P1));
}

fn ordered(rig: &Rig, scheduler: &mut dyn Scheduler, window: u64) -> Vec<PathId> {
    let mut order: Vec<PathId> = rig.paths.ids().collect();
    let mut random = Draws::new(0);
    scheduler.order(&at(rig, 1 << 20, window), &mut random, &mut order);
    order
}

fn measure(rig: &mut Rig) {
    let now = rig.now;
    rig.paths.iter_mut().for_each(|path| path.measure_rate(now));
}

/// Both paths have left slow start. They deliver ten chunks per 20 ms (726 kB/s) and per 100 ms (145.2 kB/s).
fn delivering() -> (Rig, Box<dyn Scheduler>) {
    let (mut rig, in_time) = unequal(PathSelection::InTime);
    for p in [P1, P2] {
        rig.paths[p].window.ssthresh = Some(ByteCount::new(CHUNK));
    }
    for _ in 0..6 {
        measure(&mut rig);
        rig.now += Span::from_millis(100);
        rig.paths[P1].stats.user_bytes += ByteCount::new(50 * CHUNK);
        rig.paths[P2].stats.user_bytes += ByteCount::new(10 * CHUNK);
    }
    (rig, in_time)
}

/// Checks that the second path is used if the peer's window has `least` bytes, but not with one byte less.
fn needs(least: u64, prepare: impl Fn(&mut Rig)) {
    for (window, admitted) in [(least, true), (least - 1, false)] {
        let (mut rig, mut in_time) = delivering();
        prepare(&mut rig);
        assert_eq!(ordered(&rig, &mut *in_time, window), [P1, P2]);
        assert_eq!(in_time.admits(&at(&rig, 1 << 20, window), P2), admitted, "window {window}");
        assert!(in_time.admits(&at(&rig, 1 << 20, window), P1), "the first one blocks nobody");
    }
}

/// The other path sends 726000 * 0.125 = 90750 bytes in the RTT of 100 ms plus half of RTTVAR (50 ms).
#[test]
fn a_path_is_used_if_it_is_in_time() {
    needs(90_750 + 1500, |_| {});
}

/// 29 chunks are in flight on the slow path. These and one more packet are 43608 bytes. At the rate of the
/// slow path (145200 bytes per second) they take 43608/145200 s = 300.3 ms, plus 25 ms for the variation.
/// Meanwhile the fast path sends 5 * 43608 + 18150 bytes.
#[test]
fn what_is_in_flight_takes_as_long_as_the_path_needs_to_deliver_it() {
    needs(5 * 43_608 + 18_150 + 43_608, |rig| {
        rig.paths[P2].flight = ByteCount::new(29 * CHUNK);
        rig.paths[P2].stats.user_bytes += ByteCount::new(29 * CHUNK);
    });
}

/// In slow start the fast path delivers twice as much in the next round trip: 2 * 90750 bytes.
#[test]
fn a_path_in_slow_start_counts_with_what_it_will_deliver() {
    needs(2 * 90_750 + 1500, |rig| rig.paths[P1].window.ssthresh = None);
}

/// The second path is in slow start, but uses less than half of its cwnd: the 29 chunks in flight take 300.3
/// ms, as without slow start. With half of cwnd in use they take 43608/290400 s = 150.2 ms.
#[test]
fn a_path_delivers_no_more_in_slow_start_while_its_window_is_not_used() {
    let (unused, used) = (5 * 43_608 + 18_150 + 43_608, 109_020 + 18_150 + 43_608);
    for (cwnd, least) in [(60 * CHUNK, unused), (58 * CHUNK, used)] {
        needs(least, |rig| {
            let path = &mut rig.paths[P2];
            (path.window.cwnd, path.window.ssthresh) = (ByteCount::new(cwnd), None);
            path.flight = ByteCount::new(29 * CHUNK);
            path.stats.user_bytes += ByteCount::new(29 * CHUNK);
        });
    }
}

/// For five round trips the fast path delivers a tenth of its rate, because it waits for the second path. The
/// fast path could still deliver 726 kB/s, and the scheduler counts with this rate.
#[test]
fn a_path_that_waits_for_another_one_counts_with_what_it_could_deliver() {
    needs(90_750 + 1500, |rig| {
        for _ in 0..5 {
            rig.paths[P1].note_idle();
            rig.now += Span::from_millis(100);
            rig.paths[P1].stats.user_bytes += ByteCount::new(5 * CHUNK);
            rig.paths[P2].stats.user_bytes += ByteCount::new(10 * CHUNK);
            measure(rig);
        }
    });
}

/// The fast path sends all data before a packet on the second path would arrive: such a packet would delay
/// the end.
#[test]
fn a_slow_path_carries_nothing_of_a_message_that_the_fast_one_sends_sooner() {
    for unblocked in [false, true] {
        for (given, admitted) in [(90_750 + 1500, true), (90_750 + 1499, false)] {
            let (rig, mut in_time) = unequal(PathSelection::InTime);
            let at = Opportunity { given: ByteCount::new(given), unblocked, ..at(&rig, 1 << 20, 1 << 30) };
            in_time.order(&at, &mut Draws::new(0), &mut [P1, P2]);
            assert_eq!(in_time.admits(&at, P2), admitted, "{given} bytes");
            assert!(in_time.admits(&at, P1));
        }
    }
}

/// Up to a bandwidth-delay product in flight there is no queue. In its RTT of 20 ms plus half of RTTVAR (10
/// ms), the first of two equal paths sends 726000 * 0.025 = 18150 bytes; the second has 7260 bytes in flight.
#[test]
fn of_two_equal_paths_none_waits_for_the_other() {
    for (window, admitted) in [(18_150 + 7260 + 1500, true), (18_150 + 7260 + 1499, false)] {
        let (mut rig, mut in_time) = unequal(PathSelection::InTime);
        rig.paths[P2].rto = rig.paths[P1].rto.clone();
        for p in [P1, P2] {
            rig.paths[p].window.ssthresh = Some(ByteCount::new(CHUNK));
            rig.paths[p].flight = ByteCount::new(5 * CHUNK);
            rig.paths[p].stats.user_bytes = ByteCount::new(5 * CHUNK);
        }
        for _ in 0..6 {
            measure(&mut rig);
            rig.now += Span::from_millis(100);
            for p in [P1, P2] {
                rig.paths[p].stats.user_bytes += ByteCount::new(50 * CHUNK);
            }
        }
        ordered(&rig, &mut *in_time, window);
        assert_eq!(in_time.admits(&at(&rig, 1 << 20, window), P2), admitted, "window {window}");
    }
}

/// In 250 ms (the RTT of the third path, 200 ms, plus half of its RTTVAR of 100 ms), the first path sends
/// 726000/4 bytes. The second path sends 145200/4 bytes, even if it has 30 kB in flight and may send no more
/// at present.
#[test]
fn a_path_with_all_that_there_is_room_for_counts_as_in_use() {
    let third = PathId(2);
    let least_without = 726_000 / 4 + 1500;
    for (in_flight, window, admitted) in [
        (0, least_without + 145_200 / 4, true),
        (0, least_without + 145_200 / 4 - 1, false),
        (300, least_without, false),
        (300, least_without + 145_200 / 4, true),
    ] {
        let options = Cmt { path_selection: PathSelection::InTime, ..Cmt::default() };
        let config = cmt(options.clone());
        let mut rig = Rig::new(&config, 3, 1);
        let mut in_time = PathSelection::InTime.build();
        for (p, rtt) in [(P1, 20), (P2, 100), (third, 200)] {
            rig.paths[p].rto.sample(Instant::ZERO, Span::from_millis(rtt), &config);
            rig.paths[p].window.ssthresh = Some(ByteCount::new(CHUNK));
        }
        for _ in 0..6 {
            measure(&mut rig);
            rig.now += Span::from_millis(200);
            rig.paths[P1].stats.user_bytes += ByteCount::new(100 * CHUNK);
            rig.paths[P2].stats.user_bytes += ByteCount::new(20 * CHUNK);
        }
        rig.paths[P2].flight = ByteCount::new(in_flight * 100);
        rig.paths[P2].stats.user_bytes += ByteCount::new(in_flight * 100);
        ordered(&rig, &mut *in_time, window);
        assert_eq!(in_time.admits(&at(&rig, 1 << 20, window), third), admitted, "{in_flight} {window}");
    }
}

/// A path without an RTT sample carries data at once, and no data waits for a silent path.
#[test]
fn unknown_paths_are_tried_and_silent_ones_are_not_waited_for() {
    let (mut rig, mut in_time) = delivering();
    let window = 3000;
    ordered(&rig, &mut *in_time, window);
    assert!(!in_time.admits(&at(&rig, 1 << 20, window), P2));
    rig.paths[P2].rto = crate::path::Rto::new(&Config::default());
    assert_eq!(ordered(&rig, &mut *in_time, window), [P2, P1]);
    let (mut rig, mut in_time) = delivering();
    rig.paths[P1].liveness.set(Life::Silent);
    ordered(&rig, &mut *in_time, window);
    assert!(in_time.admits(&at(&rig, 1 << 20, window), P2), "nobody waits for a silent path");
}

/// T3-rtx expired on path 1, and another path carries its chunk now: only a new packet shows that path 1
/// works.
#[test]
fn a_path_that_timed_out_is_tried_with_one_packet_at_a_time() {
    for (flight, tried) in [(0, true), (CHUNK, false)] {
        let (mut rig, mut in_time) = delivering();
        rig.paths[P1].timed_out = true;
        rig.paths[P1].flight = ByteCount::new(flight);
        assert_eq!(ordered(&rig, &mut *in_time, 1 << 20), [P2, P1], "after the one that answers");
        assert_eq!(in_time.admits(&at(&rig, 1 << 20, 1 << 20), P1), tried, "{flight} bytes in flight");
    }
}

fn at_unblocked(rig: &Rig, window: u64) -> Opportunity<'_> {
    Opportunity { unblocked: true, ..at(rig, 1 << 20, window) }
}

fn ordered_unblocked(rig: &Rig, scheduler: &mut dyn Scheduler, window: u64) -> [PathId; 2] {
    let mut order = [P1, P2];
    scheduler.order(&at_unblocked(rig, window), &mut Draws::new(0), &mut order);
    order
}

/// Without a queue, the fast path has 726000 * 0.02 = 14520 bytes in flight. The peer's window must have room
/// for these bytes and one more packet, but not for the bytes that are sent while the packet is in flight.
#[test]
fn a_slow_path_carries_unordered_messages_if_the_window_holds_what_is_in_flight() {
    let (rig, mut in_time) = delivering();
    let enough = 14_520 + 1500;
    for (window, admitted) in [(enough, true), (enough - 1, false)] {
        ordered_unblocked(&rig, &mut *in_time, window);
        assert_eq!(in_time.admits(&at_unblocked(&rig, window), P2), admitted);
        ordered(&rig, &mut *in_time, window);
        assert!(!in_time.admits(&at(&rig, 1 << 20, window), P2), "ordered messages would wait");
    }
}

/// If the peer's window is zero, every path is too slow. But no path answers, so there is no better path to
/// wait for.
#[test]
fn in_time_admits_every_active_path_if_none_answers() {
    let (mut rig, mut in_time) = unequal(PathSelection::InTime);
    rig.paths[P1].state = PathState::Inactive;
    rig.paths[P2].timed_out = true;
    let mut order = [P2];
    in_time.order(&at(&rig, 1 << 20, 0), &mut Draws::new(0), &mut order);
    assert!(in_time.admits(&at(&rig, 1 << 20, 0), P2));
}

/// Both paths had queues. The second path is idle, so its queue is empty: a packet takes 100 ms there, and
/// 150 ms on the first path.
#[test]
fn the_queue_of_an_idle_path_is_forgotten() {
    let (mut rig, mut in_time) = delivering();
    let config = cmt(Cmt::default());
    for _ in 0..50 {
        rig.paths[P1].rto.sample(Instant::ZERO, Span::from_millis(300), &config);
        rig.paths[P2].rto.sample(Instant::ZERO, Span::from_millis(400), &config);
    }
    rig.paths[P1].flight = ByteCount::new(108_900 - 1500);
    rig.paths[P1].stats.user_bytes += ByteCount::new(107_400);
    assert_eq!(ordered(&rig, &mut *in_time, 1 << 30), [P2, P1]);
    rig.paths[P2].flight = ByteCount::new(30_000);
    rig.paths[P2].stats.user_bytes += ByteCount::new(30_000);
    assert_eq!(ordered(&rig, &mut *in_time, 1 << 30), [P1, P2], "31500/145200 = 217 ms");
}

#[test]
fn the_lowest_round_trip_time_goes_first_and_a_path_not_measured_before_it() {
    let (mut rig, mut scheduler) = unequal(PathSelection::LowestRtt);
    let order = |rig: &Rig, scheduler: &mut dyn Scheduler| {
        let mut order: Vec<PathId> = rig.paths.ids().collect();
        order.reverse();
        let mut random = Draws::new(0);
        scheduler.order(&at(rig, 0, 0), &mut random, &mut order);
        order
    };
    assert_eq!(order(&rig, &mut *scheduler), [P1, P2]);
    rig.paths[P2].rto = crate::path::Rto::new(&cmt(Cmt::default()));
    assert_eq!(order(&rig, &mut *scheduler), [P2, P1]);
}

/// With the same cwnd and a quarter of the RTT, a path has four times the rate. No burst limit applies.
#[test]
fn weighted_paths_carry_packets_in_proportion_to_their_rates() {
    let shares = |window: u64| {
        let options = Cmt { path_selection: PathSelection::Weighted, ..Cmt::default() };
        let mut rig = Rig::new(&Config { max_burst: 1000, ..cmt(options) }, 2, 1);
        for (p, rtt) in [(P1, 25), (P2, 100)] {
            rig.paths[p].window.cwnd = ByteCount::new(window);
            rig.paths[p].rto.sample(Instant::ZERO, Span::from_millis(rtt), &Config::default());
        }
        for _ in 0..500 {
            rig.push(Message::new(Payload::Filler(CHUNK as u32))).unwrap();
        }
        let paths: Vec<PathId> = std::iter::from_fn(|| rig.poll()).map(|(p, _)| p).collect();
        [P1, P2].map(|p| paths.iter().filter(|&&q| q == p).count())
    };
    assert_eq!(shares(1 << 20), [400, 100]);
    // A path whose cwnd is full does not stop the others.
    assert_eq!(shares(10 * CHUNK), [10, 10]);
}

#[test]
fn redundant_paths_carry_the_same_chunks_as_far_as_their_windows_go() {
    let (mut rig, _) = unequal(PathSelection::Redundant);
    rig.paths[P2].window.cwnd = ByteCount::new(3 * CHUNK);
    for _ in 0..6 {
        rig.push(Message::new(Payload::Filler(CHUNK as u32))).unwrap();
    }
    let mut seen: [Vec<u32>; 2] = Default::default();
    for _ in 0..4 {
        rig.pass(Span::from_millis(1));
        while let Some((p, tsns)) = rig.poll() {
            seen[p.index()].extend(tsns);
        }
    }
    assert_eq!(seen, [vec![1, 2, 3, 4, 5, 6], vec![1, 2, 3]]);
    rig.audit();
    assert_eq!((rig.paths[P2].flight, rig.paths[P2].stats.copies), (ByteCount::ZERO, 3));
    // Chunks 1 to 5 are acknowledged at once. Chunk 6 is left: the slow path has room only after its RTT.
    rig.sack(5, &[], 2);
    assert_eq!(rig.poll(), None);
    rig.pass(Span::from_millis(100));
    assert_eq!(rig.poll(), Some((P2, vec![6])));
    assert!(rig.paths[P2].t3.is_none(), "no timer runs for a copy");
    rig.sack(6, &[], 1);
    assert!(rig.sender.is_drained());
}

/// The faster path has failed: the other path carries new data.
#[test]
fn a_redundant_path_that_is_ahead_sends_new_data() {
    let (mut rig, _) = unequal(PathSelection::Redundant);
    rig.paths[P1].state = PathState::Inactive;
    rig.push(Message::new(Payload::Filler(CHUNK as u32))).unwrap();
    rig.pass(Span::from_millis(1));
    assert_eq!(rig.poll(), Some((P2, vec![1])));
    assert_eq!(rig.paths[P2].flight.get(), CHUNK);
}
