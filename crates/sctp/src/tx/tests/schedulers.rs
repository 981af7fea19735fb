//! Path schedulers: the inequalities of their papers with numbers, and what they make the sender do.

use super::*;
use crate::config::PathSelection;
use crate::draws::Draws;
use crate::multipath::{Opportunity, Scheduler};

/// Two paths with windows of ten chunks: 20 ms and 100 ms, variations half of that.
fn unequal(path_selection: PathSelection) -> (Rig, Box<dyn Scheduler>) {
    let options = Cmt { path_selection, ..Cmt::default() };
    let config = cmt(options.clone());
    let mut rig = Rig::new(&config, 2, 1);
    for (p, rtt) in [(P1, 20), (P2, 100)] {
        rig.paths[p].rto.sample(Span::from_millis(rtt), &config);
        rig.paths[p].window.cwnd = ByteCount::new(10 * CHUNK);
    }
    (rig, path_selection.build(&options))
}

fn at(rig: &Rig, waiting: u64, window: u64) -> Opportunity<'_> {
    let (waiting, window) = (ByteCount::new(waiting), ByteCount::new(window));
    Opportunity { now: rig.now, paths: &rig.paths, waiting, window, refusals: 0, unblocked: false }
}

/// Lim et al., algorithm 1, with δ = 50 ms.
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

/// Nobody waits for a path that timed out.
#[test]
fn ecf_and_blest_do_not_wait_for_a_path_that_timed_out() {
    for selection in [PathSelection::Ecf, PathSelection::Blest] {
        let (mut rig, mut scheduler) = unequal(selection);
        assert!(!scheduler.admits(&at(&rig, 3 * 10 * CHUNK, 30_000), P2), "{selection}");
        rig.paths[P1].timed_out = true;
        assert!(scheduler.admits(&at(&rig, 3 * 10 * CHUNK, 30_000), P2), "{selection}");
    }
}

/// Ferlin et al.: n = 5, X = (14520 + 1500 * 4 / 2) * 5 = 87600, beside 1500 bytes in flight and one packet more.
#[test]
fn blest_leaves_out_a_path_that_would_block_the_window() {
    let (mut rig, mut blest) = unequal(PathSelection::Blest);
    rig.paths[P2].flight = ByteCount::new(1500);
    let mut admits =
        |rig: &Rig, window, refusals| blest.admits(&Opportunity { refusals, ..at(rig, 1 << 20, window) }, P2);
    assert!(admits(&rig, 90_600, 0));
    assert!(!admits(&rig, 90_599, 0));
    // A window that was exhausted within a round-trip time makes it more careful by one in a hundred.
    rig.now += Span::from_millis(100);
    assert!(!admits(&rig, 90_600, 1), "1.01 * 87600 = 88476");
    assert!(admits(&rig, 91_476, 1));
    rig.now += Span::from_millis(100);
    assert!(admits(&rig, 90_600, 1), "nothing since: less careful again, but never below 1");
    rig.now += Span::from_millis(100);
    assert!(!admits(&rig, 90_599, 1));
}

/// The sender asks: data waits although the slow path has room, and goes out when the fast one has.
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

/// Both windows are full, and then that of P1.
fn use_both(rig: &mut Rig, scheduler: &mut dyn Scheduler) {
    for p in [P1, P2] {
        rig.paths[p].flight = ByteCount::new(10 * CHUNK);
    }
    ordered(rig, scheduler, 1 << 30);
    rig.paths[P2].flight = ByteCount::ZERO;
}

/// A packet takes 100 ms and half of the variation of 50 ms. Meanwhile the other path sends 14520/0.02 * 0.125 = 90750 bytes.
/// With the packet they are 92250 bytes, 31/32 of 95225.8.
#[test]
fn a_path_is_used_if_it_is_in_time() {
    let (mut rig, mut in_time) = unequal(PathSelection::InTime);
    use_both(&mut rig, &mut *in_time);
    for p in [P1, P2] {
        rig.paths[p].window.ssthresh = Some(ByteCount::new(CHUNK));
    }
    for (window, admitted) in [(95_226, true), (95_225, false)] {
        assert_eq!(ordered(&rig, &mut *in_time, window), [P1, P2]);
        assert_eq!(in_time.admits(&at(&rig, 1 << 20, window), P2), admitted);
        assert!(in_time.admits(&at(&rig, 1 << 20, window), P1), "the best one alone");
    }
    rig.paths[P1].liveness.set(Life::Silent);
    ordered(&rig, &mut *in_time, 3000);
    assert!(in_time.admits(&at(&rig, 1 << 20, 3000), P2), "nobody waits for a silent path");
}

/// Checks that the second path is used in a window of `least` bytes, but not in one that is a byte smaller. Both paths have left slow start.
fn needs(least: u64, prepare: impl Fn(&mut Rig, &mut dyn Scheduler)) {
    for (window, admitted) in [(least, true), (least - 1, false)] {
        let (mut rig, mut in_time) = unequal(PathSelection::InTime);
        prepare(&mut rig, &mut *in_time);
        for p in [P1, P2] {
            rig.paths[p].window.ssthresh = Some(ByteCount::new(CHUNK));
        }
        ordered(&rig, &mut *in_time, window);
        assert_eq!(in_time.admits(&at(&rig, 1 << 20, window), P2), admitted, "window {window}");
    }
}

/// New data waits 100 ms for a chunk on the slow path. The fast path could have sent 72600 bytes in that time. If the slow path has sent fewer, f is
/// 5/4, and the window must be 118646 bytes: 31/32 of 118645.2 are 1.25 * 90750 + 1500. Otherwise f is 1, and 95226 bytes do.
#[test]
fn a_path_that_costs_more_than_it_brings_needs_more_room() {
    for (sent, least) in [(72_599, 118_646), (72_600, 95_226)] {
        needs(least, |rig, in_time| {
            use_both(rig, in_time);
            rig.paths[P1].flight = ByteCount::ZERO;
            in_time.refused(&at(rig, 1 << 20, 1 << 20), P2, ByteCount::new(10 * CHUNK));
            rig.paths[P1].flight = ByteCount::new(10 * CHUNK);
            rig.paths[P2].stats.user_bytes = ByteCount::new(sent);
            rig.now += Span::from_millis(100);
        });
    }
}

/// The fast path loses nothing while its own window is full, or the peer holds nothing that came on it.
#[test]
fn a_wait_that_keeps_nothing_back_costs_nothing() {
    for (flight, held) in [(10, 10), (0, 0)] {
        needs(95_226, |rig, in_time| {
            use_both(rig, in_time);
            rig.paths[P1].flight = ByteCount::new(flight * CHUNK);
            in_time.refused(&at(rig, 1 << 20, 1 << 20), P2, ByteCount::new(held * CHUNK));
            rig.paths[P1].flight = ByteCount::new(10 * CHUNK);
            rig.now += Span::from_millis(100);
        });
    }
}

/// Leaves the paths as they come, and passes on what it is told of a full window.
#[derive(Debug)]
struct Listener(std::sync::mpsc::Sender<(PathId, u64)>);

impl Scheduler for Listener {
    fn order(&mut self, _: &Opportunity<'_>, _: &mut Draws, _: &mut [PathId]) {}

    fn refused(&mut self, _: &Opportunity<'_>, blocking: PathId, held: ByteCount) {
        self.0.send((blocking, held.get())).unwrap();
    }
}

/// The peer has room for ten chunks. The earliest one is on the first path, then on the second, and the last four are held.
#[test]
fn the_scheduler_is_told_which_path_a_full_window_waits_for() {
    let (told, hears) = std::sync::mpsc::channel();
    let (mut rig, _) = unequal(PathSelection::InTime);
    rig.sender.establish(10 * CHUNK as u32, 1, 0, &mut rig.paths);
    rig.sender.scheduler = Box::new(Listener(told));
    for p in [P1, P1, P1, P2, P2, P2, P1, P1, P1, P1] {
        rig.transmit(p);
    }
    rig.push(Message::new(Payload::Filler(CHUNK as u32))).unwrap();
    assert_eq!(rig.poll(), None);
    assert_eq!(hears.try_iter().last(), Some((P1, 0)));
    rig.try_sack(0, &[(7, 10)], 2, 6 * CHUNK as u32).unwrap();
    assert_eq!(rig.poll(), None);
    assert_eq!(hears.try_iter().last(), Some((P1, 4 * CHUNK)));
    rig.try_sack(3, &[(7, 10)], 2, 3 * CHUNK as u32).unwrap();
    assert_eq!(rig.poll(), None);
    assert_eq!(hears.try_iter().last(), Some((P2, 7 * CHUNK)));
}

/// A retransmission takes the 20 ms of the fast path, which sends 14520 bytes meanwhile. Where every tenth packet is lost, the slow one brings 15000
/// bytes between two losses: e = 14520/30000, and 726000 * (0.125 + 0.484 * 0.02) + 1500 bytes are 31/32 of 102480.2. Where each is lost, e = 1, and
/// 726000 * 0.145 + 1500 bytes are 31/32 of 110214.2.
#[test]
fn a_path_that_loses_packets_needs_room_for_their_retransmission() {
    for (losses, least) in [(10, 102_481), (100, 110_215)] {
        needs(least, |rig, in_time| {
            rig.paths[P2].stats.data_packets = 100;
            rig.paths[P2].stats.fast_recoveries = losses;
            use_both(rig, in_time);
        });
    }
}

/// The slow path is the best one and has all of a window of 36 kB in flight, in a queue of 200 ms. Now the fast one may be used: with the slow one
/// empty, the window lets both of them carry 36000/0.125 bytes a second, and not 36000/0.3.
#[test]
fn a_queue_that_the_best_path_fills_alone_delays_no_other() {
    const WINDOW: u64 = 36_000;
    let (mut rig, mut in_time) = unequal(PathSelection::InTime);
    let config = cmt(Cmt::default());
    for _ in 0..100 {
        rig.paths[P2].rto.sample(Span::from_millis(300), &config);
    }
    for (p, packets) in [(P1, 2), (P2, 30)] {
        let cwnd = ByteCount::new(packets * CHUNK);
        rig.paths[p].window = cc::CongestionWindow { cwnd, ssthresh: Some(cwnd) };
        rig.paths[p].flight = cwnd;
    }
    rig.paths[P1].flight = ByteCount::ZERO;
    ordered(&rig, &mut *in_time, WINDOW);
    let admits = [P1, P2].map(|p| in_time.admits(&at(&rig, 1 << 20, WINDOW), p));
    assert_eq!(admits, [true, true]);
}

/// The fast path carried 726 kB a second. Losses cut its window to a tenth: it carries 5/4 of 72.6 kB a second at most, so that a window of 20 kB has room
/// for the slow path.
#[test]
fn a_path_carries_what_its_window_lets_it_though_it_carried_more() {
    const WINDOW: u64 = 20_000;
    for (packets, admitted) in [(10, false), (1, true)] {
        let (mut rig, mut in_time) = unequal(PathSelection::InTime);
        use_both(&mut rig, &mut *in_time);
        rig.paths[P1].window.cwnd = ByteCount::new(packets * CHUNK);
        for path in rig.paths.iter_mut() {
            path.window.ssthresh = Some(path.window.cwnd);
        }
        ordered(&rig, &mut *in_time, WINDOW);
        assert_eq!(in_time.admits(&at(&rig, 1 << 20, WINDOW), P2), admitted, "a window of {packets} chunks");
    }
}

/// The fast path carried 726 kB/s, and then less, since the slow one blocked it: it seems no slower at once.
#[test]
fn a_path_that_is_blocked_does_not_seem_slow() {
    let (mut rig, mut in_time) = unequal(PathSelection::InTime);
    for p in [P1, P2] {
        rig.paths[p].window.ssthresh = Some(ByteCount::new(CHUNK));
    }
    rig.paths[P1].flight = ByteCount::new(10 * CHUNK);
    for (flight, passed) in [(10, 0), (1, 200), (1, 200)] {
        rig.pass(Span::from_millis(passed));
        rig.paths[P1].flight = ByteCount::new(flight * CHUNK);
        ordered(&rig, &mut *in_time, 80_000);
        assert!(!in_time.admits(&at(&rig, 1 << 20, 80_000), P2), "{flight} chunks in flight");
    }
}

/// A path in slow start may be the best one: with its window of unknown size it is used, whatever it carries now. With 20 chunks in flight it is not in time
/// in a window of less than 125 kB.
#[test]
fn a_path_in_slow_start_is_tried() {
    let (mut rig, mut in_time) = unequal(PathSelection::InTime);
    rig.paths[P1].window.ssthresh = Some(ByteCount::new(CHUNK));
    rig.paths[P1].flight = ByteCount::new(10 * CHUNK);
    rig.paths[P2].flight = ByteCount::new(20 * CHUNK);
    for (window, tried, why) in [
        (60_000, false, "60000/0.1 < 14520/0.02"),
        (100_000, false, "100000/0.1 < 1.5 * 14520/0.02"),
        (120_000, true, "120000/0.1 > 1.5 * 14520/0.02"),
        (80_000, true, "80000/0.1 > 14520/0.02, of the one in use"),
        (60_000, false, "60000/0.1 < 14520/0.02"),
    ] {
        ordered(&rig, &mut *in_time, window);
        assert_eq!(in_time.admits(&at(&rig, 1 << 20, window), P2), tried, "{why}");
    }
}

/// What the best path delivered in a round trip proves what it can carry. A path in slow start that promises more than that is tried.
#[test]
fn a_path_in_slow_start_is_tried_if_it_promises_more_than_the_best_one_proved() {
    for (window, tried, why) in
        [(75_000, false, "75000/0.1 < 1.05 * 14520/0.02"), (78_000, true, "78000/0.1 > 1.05 * 14520/0.02")]
    {
        let (mut rig, mut in_time) = unequal(PathSelection::InTime);
        rig.paths[P1].window.ssthresh = Some(ByteCount::new(CHUNK));
        rig.paths[P1].flight = ByteCount::new(10 * CHUNK);
        rig.paths[P1].stats.user_bytes = ByteCount::new(10 * CHUNK);
        for _ in 0..2 {
            ordered(&rig, &mut *in_time, 60_000);
            rig.now += Span::from_millis(20);
            rig.paths[P1].stats.user_bytes += ByteCount::new(10 * CHUNK);
        }
        ordered(&rig, &mut *in_time, window);
        assert_eq!(in_time.admits(&at(&rig, 1 << 20, window), P2), tried, "{why}");
    }
}

/// Both paths are in their first slow start. The fast one fills the window of 100 kB with a queue of 100 ms: a minute later it
/// carries 100000/0.12 at most, and the other one 100000/0.1.
#[test]
fn of_two_unknown_paths_the_better_one_is_used() {
    let (mut rig, mut in_time) = unequal(PathSelection::InTime);
    rig.paths[P1].flight = ByteCount::new(90_000);
    ordered(&rig, &mut *in_time, 100_000);
    assert!(!in_time.admits(&at(&rig, 1 << 20, 100_000), P2));
    for _ in 0..100 {
        rig.paths[P1].rto.sample(Span::from_millis(120), &Config::default());
    }
    rig.now += Span::from_secs(60);
    ordered(&rig, &mut *in_time, 100_000);
    assert!(in_time.admits(&at(&rig, 1 << 20, 100_000), P2));
}

/// A path that carried nothing has a rate of zero, by which it would add nothing. The best path may stay in slow start for long.
#[test]
fn a_path_that_carried_nothing_is_tried_before_the_best_one_leaves_slow_start() {
    let (mut rig, mut in_time) = unequal(PathSelection::InTime);
    rig.paths[P1].flight = ByteCount::new(10 * CHUNK);
    ordered(&rig, &mut *in_time, 1 << 30);
    assert!(in_time.admits(&at(&rig, 1 << 20, 1 << 30), P2));
    (rig.paths[P2].window.ssthresh, rig.paths[P2].window.cwnd) =
        (Some(ByteCount::new(CHUNK / 2)), ByteCount::new(CHUNK / 2));
    ordered(&rig, &mut *in_time, 1 << 30);
    assert!(
        !in_time.admits(&at(&rig, 1 << 20, 1 << 30), P2),
        "half a chunk in 100 ms is 1 % of ten in 20 ms"
    );
    rig.paths[P2].window.cwnd = ByteCount::new(2 * CHUNK);
    ordered(&rig, &mut *in_time, 1 << 30);
    assert!(in_time.admits(&at(&rig, 1 << 20, 1 << 30), P2), "its window promises 4 %");
}

/// A path that was left out has a small window. It would be left out for ever if slow start did not count with its end.
#[test]
fn a_path_in_slow_start_promises_what_ssthresh_does() {
    let (mut rig, mut in_time) = unequal(PathSelection::InTime);
    rig.paths[P1].flight = ByteCount::new(10 * CHUNK);
    for (ssthresh, used) in [(CHUNK / 2, false), (2 * CHUNK, true)] {
        rig.paths[P2].window.cwnd = ByteCount::new(CHUNK / 4);
        rig.paths[P2].window.ssthresh = Some(ByteCount::new(ssthresh));
        ordered(&rig, &mut *in_time, 1 << 30);
        let admits = in_time.admits(&at(&rig, 1 << 20, 1 << 30), P2);
        assert_eq!(admits, used, "{ssthresh} bytes in 100 ms beside ten chunks in 20 ms");
    }
}

/// The slow path is in its first slow start, which counts as unlimited, so that it is the best one in a large window. The fast
/// one was left out for minutes: its rate has faded to nothing, but its window promises more than the other carries.
#[test]
fn a_path_that_was_left_out_for_long_is_used_again() {
    let (mut rig, mut in_time) = unequal(PathSelection::InTime);
    rig.paths[P1].window.ssthresh = Some(ByteCount::new(CHUNK));
    for flight in [10, 0] {
        rig.paths[P1].flight = ByteCount::new(flight * CHUNK);
        rig.paths[P2].flight = ByteCount::new(10 * CHUNK);
        ordered(&rig, &mut *in_time, 1 << 30);
        rig.now += Span::from_secs(600);
    }
    assert_eq!(ordered(&rig, &mut *in_time, 1 << 30)[0], P1);
    assert!(in_time.admits(&at(&rig, 1 << 20, 1 << 30), P1));
}

/// The slow path carries 14520 bytes in 100 ms. Then a burst of ten times as many meets a long queue, of which its smoothed round-trip time
/// tells nothing yet. With 1.45 MB a second it would be better than the fast one, which carries 726 kB a second.
#[test]
fn a_burst_into_a_queue_does_not_make_a_path_fast() {
    for silent_before in [false, true] {
        burst(silent_before);
    }
}

/// The slow path was silent just before, or not.
fn burst(silent_before: bool) {
    const WINDOW: u64 = 209_000;
    let (mut rig, mut in_time) = unequal(PathSelection::InTime);
    for path in rig.paths.iter_mut() {
        path.window.ssthresh = Some(ByteCount::new(CHUNK));
    }
    rig.paths[P1].flight = ByteCount::new(10 * CHUNK);
    rig.paths[P2].flight = ByteCount::new(10 * CHUNK);
    for _ in 0..10 {
        ordered(&rig, &mut *in_time, WINDOW);
        rig.now += Span::from_millis(100);
        rig.paths[P1].stats.user_bytes += ByteCount::new(50 * CHUNK);
        rig.paths[P2].stats.user_bytes += ByteCount::new(10 * CHUNK);
    }
    rig.paths[P2].liveness.set(if silent_before { Life::Silent } else { Life::Proven });
    ordered(&rig, &mut *in_time, WINDOW);
    rig.paths[P2].liveness.answered();
    rig.paths[P2].window.cwnd = ByteCount::new(100 * CHUNK);
    rig.paths[P2].flight = ByteCount::new(100 * CHUNK);
    rig.paths[P2].stats.user_bytes += ByteCount::new(90 * CHUNK);
    ordered(&rig, &mut *in_time, WINDOW);
    assert!(in_time.admits(&at(&rig, 1 << 20, WINDOW), P1));
    assert!(!in_time.admits(&at(&rig, 1 << 20, WINDOW), P2), "it is not the best one, and not in time");
}

/// In a window of 300 kB the slow path would be the best one, 300000/0.1 > 14520/0.02, as long as its first slow start counts as unlimited.
/// Once packets waited longer in its queue than an empty path takes it carries 14520 bytes in 0.4 s, and a packet is not in time: the other
/// sends 726000 * 0.4 bytes meanwhile, and 11 packets more do not fit. The same is true if SACKs tell of the wait: they may return on a faster path.
#[test]
fn a_path_whose_queue_is_deep_does_not_count_as_unlimited() {
    for (samples, waited, used) in [(0, 0, true), (40, 0, false), (40, 50, true), (40, 150, false)] {
        let (mut rig, mut in_time) = unequal(PathSelection::InTime);
        let config = Config::default();
        rig.paths[P1].window.ssthresh = Some(ByteCount::new(CHUNK));
        for p in [P1, P2] {
            rig.paths[p].flight = ByteCount::new(10 * CHUNK);
        }
        for _ in 0..samples {
            rig.paths[P2].rto.sample(Span::from_millis(400), &config);
        }
        if waited > 0 {
            rig.paths[P2].note_wait(Span::from_millis(waited));
        }
        ordered(&rig, &mut *in_time, 300_000);
        assert_eq!(
            in_time.admits(&at(&rig, 1 << 20, 300_000), P2),
            used,
            "after {samples} samples of 400 ms, with {waited} ms in a queue by SACKs (0: they do not tell)"
        );
        rig.paths[P2].wait = None;
        for _ in 0..100 {
            rig.paths[P2].rto.sample(Span::from_millis(100), &config);
        }
        for _ in 0..60 {
            rig.now += Span::from_secs(1);
            ordered(&rig, &mut *in_time, 300_000);
        }
        assert!(in_time.admits(&at(&rig, 1 << 20, 300_000), P2), "a minute without a queue");
    }
}

/// The slow path delivered 14520 bytes in each 100 ms, and 29 chunks are in flight there. At 5/4 of this rate they and one packet more take 43608/181500 s = 240 ms.
/// Meanwhile the fast path sends 174432 bytes. 174432 + 43608 bytes are 31/32 of 225073.5.
///
/// In slow start the delivered rate does not count, and h is 125 ms: 90750 + 43608 bytes are 31/32 of 138692.1. In the first slow start it counts after a wait of
/// 150 ms in queues.
#[test]
fn what_is_in_flight_takes_as_long_as_the_path_needs_to_deliver_it() {
    const WAIT: Option<Span> = Some(Span::from_millis(150));
    for (ssthresh, wait, least) in
        [(Some(1), None, 225_074), (Some(45), WAIT, 138_693), (None, WAIT, 225_074)]
    {
        for (window, admitted) in [(least, true), (least - 100, false)] {
            let (mut rig, mut in_time) = unequal(PathSelection::InTime);
            rig.paths[P1].window.ssthresh = Some(ByteCount::new(CHUNK));
            rig.paths[P2].window.ssthresh = ssthresh.map(|chunks| ByteCount::new(chunks * CHUNK));
            for p in [P1, P2] {
                rig.paths[p].flight = ByteCount::new(10 * CHUNK);
            }
            for _ in 0..4 {
                ordered(&rig, &mut *in_time, window);
                rig.now += Span::from_millis(100);
                rig.paths[P1].stats.user_bytes += ByteCount::new(50 * CHUNK);
                rig.paths[P2].stats.user_bytes += ByteCount::new(10 * CHUNK);
            }
            wait.into_iter().for_each(|wait| rig.paths[P2].note_wait(wait));
            rig.paths[P2].window.cwnd = ByteCount::new(40 * CHUNK);
            rig.paths[P2].flight = ByteCount::new(29 * CHUNK);
            rig.paths[P2].stats.user_bytes += ByteCount::new(19 * CHUNK);
            ordered(&rig, &mut *in_time, window);
            let admits = in_time.admits(&at(&rig, 1 << 20, window), P2);
            assert_eq!(admits, admitted, "ssthresh of {ssthresh:?} chunks, window {window}");
        }
    }
}

/// The second path has as much in flight as the window has room for, and gets no more: 726 kB/s * 0.125 s and 41 packets are more than 150 kB, 31/32 of the
/// window. The third is to carry nothing either: while a packet is there for 200 ms, the first sends 145 kB, which would leave room for that packet, but the second
/// sends another 116 kB.
#[test]
fn a_path_with_all_that_there_is_room_for_counts_as_in_use() {
    const WINDOW: u64 = 154_839;
    let options = Cmt { path_selection: PathSelection::InTime, ..Cmt::default() };
    let config = cmt(options.clone());
    let mut rig = Rig::new(&config, 3, 1);
    let paths = [P1, P2, PathId(2)];
    for (p, (rtt, packets)) in paths.into_iter().zip([(20, 10), (100, 40), (160, 40)]) {
        rig.paths[p].rto.sample(Span::from_millis(rtt), &config);
        let cwnd = ByteCount::new(packets * CHUNK);
        rig.paths[p].window = cc::CongestionWindow { cwnd, ssthresh: Some(cwnd) };
        rig.paths[p].flight = cwnd;
    }
    let mut in_time = PathSelection::InTime.build(&options);
    ordered(&rig, &mut *in_time, 1 << 30);
    rig.paths[paths[2]].flight = ByteCount::ZERO;
    for (in_flight, admitted) in [(1, true), (40, false)] {
        rig.paths[P2].flight = ByteCount::new(in_flight * CHUNK);
        ordered(&rig, &mut *in_time, WINDOW);
        let admits = paths.map(|p| in_time.admits(&at(&rig, 1 << 20, WINDOW), p));
        assert_eq!(admits, [true, admitted, false], "{in_flight} chunks");
    }
}

/// The slow path was idle for a while, and begins again in slow start. In its last round trips with a full window a queue made them
/// five times as long, so that ssthresh promises 29 kB a second and not 145.
#[test]
fn the_end_of_slow_start_counts_with_the_round_trip_time_that_it_had() {
    for (samples, used) in [(0, true), (100, false)] {
        let (mut rig, mut in_time) = unequal(PathSelection::InTime);
        let config = cmt(Cmt::default());
        rig.paths[P1].window =
            cc::CongestionWindow { cwnd: ByteCount::new(CHUNK), ssthresh: Some(ByteCount::new(CHUNK)) };
        rig.paths[P1].flight = ByteCount::new(CHUNK);
        for _ in 0..samples {
            rig.paths[P2].rto.sample(Span::from_millis(500), &config);
        }
        ordered(&rig, &mut *in_time, 20_000);
        rig.paths[P2].window =
            cc::CongestionWindow { cwnd: ByteCount::new(CHUNK), ssthresh: Some(ByteCount::new(10 * CHUNK)) };
        ordered(&rig, &mut *in_time, 20_000);
        let admitted = [P1, P2].map(|p| in_time.admits(&at(&rig, 1 << 20, 20_000), p));
        assert_eq!(admitted, [true, used], "{samples} samples of 500 ms");
    }
}

/// The slow path has all of a window in flight, and its round-trip time is four times the least one: it carries 50 kB a second, and a fast
/// path that was never used may carry a window in each of its own.
#[test]
fn a_path_that_a_window_fills_carries_a_window_in_its_round_trip_time() {
    const WINDOW: u64 = 20_000;
    for (samples, tried) in [(0, false), (100, true)] {
        let (mut rig, mut in_time) = unequal(PathSelection::InTime);
        let config = cmt(Cmt::default());
        rig.paths[P1].rto = crate::path::Rto::new(&config);
        rig.paths[P1].rto.sample(Span::from_millis(150), &config);
        rig.paths[P2].flight = ByteCount::new(WINDOW);
        for _ in 0..samples {
            rig.paths[P2].rto.sample(Span::from_millis(220), &config);
        }
        ordered(&rig, &mut *in_time, WINDOW);
        assert_eq!(in_time.admits(&at(&rig, 1 << 20, WINDOW), P1), tried, "{samples} samples of 220 ms");
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

/// The fast path has 14520 bytes in flight without a queue. The window has to hold them and one packet more, not what is
/// sent while that packet is on its way.
#[test]
fn in_time_uses_a_slow_path_for_unordered_messages_if_the_window_holds_what_is_in_flight() {
    let (mut rig, mut in_time) = unequal(PathSelection::InTime);
    use_both(&mut rig, &mut *in_time);
    for p in [P1, P2] {
        rig.paths[p].window.ssthresh = Some(ByteCount::new(CHUNK));
    }
    let enough = 10 * CHUNK + rig.paths[P2].mtu.get();
    for (window, admitted) in [(enough, true), (enough - 1, false)] {
        ordered_unblocked(&rig, &mut *in_time, window);
        assert_eq!(in_time.admits(&at_unblocked(&rig, window), P2), admitted);
        ordered(&rig, &mut *in_time, window);
        assert!(!in_time.admits(&at(&rig, 1 << 20, window), P2), "ordered messages would wait");
    }
}

/// With an RTT of 40 ms, 20 of them in its queue, the fast path has twice in flight of what it needs: the window is for the slow one
/// first, although a packet takes 100 ms there.
#[test]
fn in_time_leaves_the_window_to_the_path_that_needs_it_for_unordered_messages() {
    let (mut rig, mut in_time) = unequal(PathSelection::InTime);
    let config = cmt(Cmt::default());
    for _ in 0..50 {
        rig.paths[P1].rto.sample(Span::from_millis(40), &config);
    }
    use_both(&mut rig, &mut *in_time);
    assert_eq!(ordered_unblocked(&rig, &mut *in_time, 1 << 20), [P2, P1]);
    assert_eq!(ordered(&rig, &mut *in_time, 1 << 20), [P1, P2]);
}

/// A window of zero makes every path too slow, and none answers that could be the best one.
#[test]
fn in_time_admits_every_active_path_if_none_answers() {
    let (mut rig, mut in_time) = unequal(PathSelection::InTime);
    rig.paths[P1].state = PathState::Inactive;
    rig.paths[P2].timed_out = true;
    let mut order = [P2];
    in_time.order(&at(&rig, 1 << 20, 0), &mut Draws::new(0), &mut order);
    assert!(in_time.admits(&at(&rig, 1 << 20, 0), P2));
}

/// Both had queues, and the round-trip times then; of the path that is idle now the queue is gone.
#[test]
fn in_time_ignores_the_queueing_delay_of_an_idle_path() {
    let (mut rig, mut in_time) = unequal(PathSelection::InTime);
    let config = cmt(Cmt::default());
    for _ in 0..50 {
        rig.paths[P1].rto.sample(Span::from_millis(300), &config);
        rig.paths[P2].rto.sample(Span::from_millis(400), &config);
    }
    use_both(&mut rig, &mut *in_time);
    assert_eq!(ordered(&rig, &mut *in_time, 1 << 30), [P2, P1], "100 < 300");
    rig.paths[P2].flight = ByteCount::new(7 * CHUNK);
    assert_eq!(ordered(&rig, &mut *in_time, 1 << 30), [P1, P2], "100 + 0.7 * 300 > 300");
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

/// Packets of each path of the first `n`, with windows and bursts out of the way.
fn shares(options: Cmt, n: usize, prepare: fn(&mut Rig)) -> [usize; 2] {
    let config = Config { burst_control: crate::config::BurstControl::Off, ..cmt(options) };
    let mut rig = Rig::new(&config, 2, 1);
    for p in [P1, P2] {
        rig.paths[p].window.cwnd = ByteCount::new(1 << 20);
    }
    prepare(&mut rig);
    for _ in 0..n {
        rig.push(Message::new(Payload::Filler(CHUNK as u32))).unwrap();
    }
    let paths: Vec<PathId> = std::iter::from_fn(|| rig.poll()).map(|(p, _)| p).collect();
    [P1, P2].map(|p| paths.iter().filter(|&&q| q == p).count())
}

#[test]
fn weights_are_kept_packet_by_packet() {
    let options = |weights: &[u32]| Cmt {
        path_selection: PathSelection::Weighted,
        weights: weights.to_vec(),
        ..Cmt::default()
    };
    assert_eq!(shares(options(&[3, 1]), 400, |_| {}), [300, 100]);
    assert_eq!(shares(options(&[1, 1]), 400, |_| {}), [200, 200]);
    // Without weights by rates: the same window, a quarter of the round-trip time.
    let rates = shares(options(&[]), 500, |rig| {
        for (p, rtt) in [(P1, 25), (P2, 100)] {
            rig.paths[p].rto.sample(Span::from_millis(rtt), &Config::default());
        }
    });
    assert_eq!(rates, [400, 100]);
    // A full path does not stop the others.
    let full = shares(options(&[3, 1]), 400, |rig| rig.paths[P1].window.cwnd = ByteCount::new(10 * CHUNK));
    assert_eq!(full, [10, 390]);
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
    // 1 to 5 are acknowledged at once, but the slow path has room only when its round trip is over; then 6 is left.
    rig.sack(5, &[], 2);
    assert_eq!(rig.poll(), None);
    rig.pass(Span::from_millis(100));
    assert_eq!(rig.poll(), Some((P2, vec![6])));
    assert!(rig.paths[P2].t3.is_none(), "no timer runs for a copy");
    rig.sack(6, &[], 1);
    assert!(rig.sender.is_drained());
}

/// The path ahead fails: the other one has carried everything, and goes on.
#[test]
fn a_redundant_path_that_is_ahead_sends_new_data() {
    let (mut rig, _) = unequal(PathSelection::Redundant);
    rig.paths[P1].state = PathState::Inactive;
    rig.push(Message::new(Payload::Filler(CHUNK as u32))).unwrap();
    rig.pass(Span::from_millis(1));
    assert_eq!(rig.poll(), Some((P2, vec![1])));
    assert_eq!(rig.paths[P2].flight.get(), CHUNK);
}
