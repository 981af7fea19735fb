//! Tests copies of late chunks, silent paths, and retransmissions: on which path they are sent, and when.

use super::*;
use crate::config::{PathSelection, Reinjection, RtxPolicy};

const P3: PathId = PathId(2);

/// Two paths with RTTs of 20 ms and 100 ms, RTTVAR of half the RTT, and cwnds of ten chunks.
fn unequal(config: &Config) -> Rig {
    let mut rig = Rig::new(config, 2, 1);
    for (p, rtt) in [(P1, 20), (P2, 100)] {
        rig.paths[p].rto.sample(Instant::ZERO, ms(rtt), config);
        rig.paths[p].window.cwnd = ByteCount::new(10 * CHUNK);
    }
    rig
}

fn reinjecting(reinjection: Reinjection) -> Config {
    cmt(Cmt { path_selection: PathSelection::LowestRtt, reinjection, ..Cmt::default() })
}

fn push(rig: &mut Rig, n: usize) {
    for _ in 0..n {
        rig.push(Message { unordered: true, ..Message::new(Payload::Filler(CHUNK as u32)) }).unwrap();
    }
}

/// As `three_arriving`. Then chunks 2 and 3 are acknowledged, and the peer has no room for chunk 4.
fn blocked(config: &Config, later: Span) -> Rig {
    let mut rig = three_arriving(config, later);
    rig.try_sack(0, &[(2, 3)], 2, CHUNK as u32).unwrap();
    rig
}

/// Chunk 1 has been in flight on the slow path for the time `later`; 2 and 3 have arrived on the fast path,
/// and chunk 4 waits.
fn three_arriving(config: &Config, later: Span) -> Rig {
    let mut rig = unequal(config);
    rig.transmit(P2);
    rig.pass(later - ms(20));
    rig.transmit(P1);
    rig.transmit(P1);
    push(&mut rig, 1);
    rig.pass(ms(20));
    rig
}

/// Raiciu et al., section 4.2: a copy is sent if it arrives before the original. After 79 of 100 ms it does:
/// 79 + 20 < 100.
#[test]
fn a_full_buffer_is_freed_by_a_copy_on_a_faster_path() {
    let mut rig = blocked(&reinjecting(Reinjection::Blocked), ms(79));
    assert_eq!(rig.poll(), Some((P1, vec![1])));
    assert_eq!(rig.poll(), None, "once is enough");
    rig.audit();
    let window = rig.paths[P2].window;
    assert_eq!((rig.paths[P2].flight.get(), rig.paths[P1].stats.copies), (CHUNK, 1));
    rig.pass(ms(20));
    rig.sack(3, &[], 1);
    let slow = &rig.paths[P2];
    assert_eq!((slow.flight, slow.window, slow.rto.srtt()), (ByteCount::ZERO, window, Some(ms(100))));
    assert_eq!(rig.poll().map(|(_, tsns)| tsns), Some(vec![4]));
}

#[test]
fn a_chunk_expected_sooner_than_its_copy_is_not_copied() {
    for (reinjection, later, copied) in [
        (Reinjection::Blocked, 80, false),
        (Reinjection::Silent, 79, false),
        (Reinjection::None, 79, false),
        (Reinjection::Both, 79, true),
        (Reinjection::Blocked, 325, false), // overdue after 1.25 SRTT + 4 RTTVAR = 125 + 200 ms
        (Reinjection::Blocked, 326, true),
    ] {
        let mut rig = blocked(&reinjecting(reinjection), ms(later));
        assert_eq!(rig.poll().is_some(), copied, "{reinjection} after {later} ms");
    }
}

/// The peer has delivered chunks 2 and 3, so that only chunk 1 needs room in its buffer. A copy of chunk 1
/// would free no further room, and is sent only when chunk 1 is overdue.
#[test]
fn an_unordered_message_that_blocks_nothing_is_not_copied() {
    for (later, copied) in [(79, false), (325, false), (326, true)] {
        let mut rig = three_arriving(&reinjecting(Reinjection::Blocked), ms(later));
        rig.nr_sack_with(0, &[], &[(2, 3)], CHUNK as u32);
        assert_eq!(rig.poll().is_some(), copied, "after {later} ms");
    }
}

/// A copy is overdue after 1.25 SRTT + 4 RTTVAR of its path: 20 + 20/4 + 4 * 7.5 = 55 ms. Then another copy
/// follows, up to three copies.
#[test]
fn a_copy_that_was_lost_is_sent_again_twice() {
    let mut rig = blocked(&reinjecting(Reinjection::Blocked), ms(40));
    rig.paths[P2].t3 = None; // its expiry would stop the copies
    let begin = rig.now;
    let mut copies = Vec::new();
    loop {
        while let Some((p, tsns)) = rig.poll() {
            assert_eq!((p, tsns), (P1, vec![1]));
            copies.push(rig.now.since(begin));
        }
        let Some(at) = rig.sender.copies_overdue(&rig.paths) else { break };
        assert!(at > rig.now, "a timer that is due has been served");
        rig.pass(at.since(rig.now));
    }
    assert_eq!(copies, [ms(0), ms(55), ms(110)]);
}

/// Without a lower limit, a copy on a path with an RTT of zero would be overdue at once.
#[test]
fn a_copy_is_not_overdue_before_10_ms() {
    let config = reinjecting(Reinjection::Both);
    let mut rig = on_both(&config);
    for _ in 0..200 {
        rig.paths[P1].rto.sample(Instant::ZERO, Span::ZERO, &config);
    }
    assert_eq!(rig.paths[P1].overdue(), ms(10));
    rig.sender.end_silence(rig.now, &mut rig.paths[P1]);
    assert_eq!(rig.paths[P1].liveness.deadline(), Some(rig.now + ms(10)));
}

/// Chunks 1 and 2 are in flight on the first path, which is silent. The third path is faster than the second.
fn silent_of_three(config: &Config) -> Rig {
    let mut rig = Rig::new(config, 3, 1);
    for (p, rtt) in [(P1, 20), (P2, 100), (P3, 50)] {
        rig.paths[p].rto.sample(Instant::ZERO, ms(rtt), config);
    }
    rig.transmit(P1);
    rig.transmit(P1);
    rig.paths[P1].liveness.set(Life::Silent);
    rig.pass(ms(1));
    rig
}

#[test]
fn copies_take_the_fastest_path_that_has_room() {
    let mut rig = silent_of_three(&reinjecting(Reinjection::Silent));
    rig.paths[P3].window.cwnd = ByteCount::new(CHUNK);
    assert_eq!((rig.poll(), rig.poll()), (Some((P3, vec![1])), Some((P2, vec![2]))));
}

/// Copies take room in the cwnd of their path: new data waits.
#[test]
fn new_data_and_copies_share_a_window() {
    let mut rig = blocked(&reinjecting(Reinjection::Blocked), ms(79));
    rig.paths[P1].window.cwnd = ByteCount::new(CHUNK);
    rig.paths[P2].window.cwnd = ByteCount::new(CHUNK);
    assert_eq!(rig.poll(), Some((P1, vec![1])));
    rig.try_sack(0, &[(2, 3)], 1, 1 << 30).unwrap();
    assert_eq!(rig.poll(), None, "there is room at the peer, but none in the windows");
}

/// Two packets are in flight on the fast path, and one on the slow path.
fn on_both(config: &Config) -> Rig {
    let mut rig = unequal(config);
    rig.paths[P1].window.cwnd = ByteCount::new(2 * CHUNK);
    push(&mut rig, 3);
    rig.pass(ms(1));
    for (p, tsn) in [(P1, 1), (P1, 2), (P2, 3)] {
        assert_eq!(rig.poll(), Some((p, vec![tsn])));
    }
    rig
}

/// The fast path is silent after SRTT + SRTT/4 + 4 * RTTVAR, here 20 + 20/4 + 4 * 10 ms. Then all its chunks
/// are copied.
#[test]
fn chunks_of_a_silent_path_are_copied_on_another_path() {
    let mut rig = on_both(&reinjecting(Reinjection::Silent));
    assert_eq!(rig.paths[P1].liveness.deadline(), Some(rig.now + ms(65)));
    assert_eq!(
        rig.paths[P2].liveness.deadline(),
        Some(rig.now + ms(525)),
        "a lone packet's acknowledgement may be delayed"
    );
    rig.pass(ms(64));
    assert!(!rig.sender.fall_silent(rig.now, P1, &mut rig.paths));
    rig.pass(ms(1));
    assert!(rig.sender.fall_silent(rig.now, P1, &mut rig.paths));
    assert_eq!((rig.poll(), rig.poll()), (Some((P2, vec![1])), Some((P2, vec![2]))));
    // Acknowledgements of earlier chunks are no answer of a silent path, and the path gets no new data.
    let before = (rig.paths[P1].window, rig.paths[P1].rto.srtt());
    push(&mut rig, 2);
    rig.pass(ms(100));
    rig.sack(3, &[], 2);
    assert_eq!((rig.paths[P1].window, rig.paths[P1].rto.srtt()), before);
    assert!(rig.paths[P1].liveness.is_silent() && rig.paths[P1].t3.is_none());
    assert_eq!(rig.poll(), Some((P2, vec![4])));
    rig.sender.end_silence(rig.now, &mut rig.paths[P1]);
    rig.pass(ms(1));
    assert_eq!(rig.poll(), Some((P1, vec![5])));
}

/// The chunk is overdue after 1.25 SRTT + 4 RTTVAR = 125 + 4 * 50 ms. If its packet does not request a SACK,
/// 200 ms (the peer's delay of SACKs) are added.
#[test]
fn a_lone_packet_that_asks_for_a_sack_is_answered_at_once() {
    for (asks, patience) in [(true, 325), (false, 525)] {
        let mut rig = on_both(&reinjecting(Reinjection::Silent));
        let last = rig.sender.out.first_index() + 2;
        let chunk = &mut rig.sender.out[last];
        if asks {
            chunk.ask_for_sack();
        }
        rig.sender.end_silence(rig.now, &mut rig.paths[P2]);
        assert_eq!(rig.paths[P2].liveness.deadline(), Some(rig.now + ms(patience)));
    }
}

/// Chunk 1 is lost on the slow path and retransmitted on the fast path, 5 ms after chunk 3 was sent there. So
/// chunk 3 is overdue first.
#[test]
fn a_path_is_silent_once_the_chunk_that_left_first_is_overdue() {
    let mut config = reinjecting(Reinjection::Silent);
    config.cmt.rtx = RtxPolicy::Fastest;
    let mut rig = unequal(&config);
    for (p, wait) in [(P2, 0), (P1, 10), (P1, 5)] {
        rig.transmit(p);
        rig.pass(ms(wait));
    }
    rig.sender.mark_lost(rig.index(1), crate::LossTrigger::MissingReports, &mut rig.paths);
    assert_eq!(rig.poll(), Some((P1, vec![1])));
    rig.pass(ms(5));
    rig.sack(0, &[(2, 2)], 1);
    assert_eq!(rig.paths[P1].liveness.deadline().unwrap().since(rig.now), ms(10 + 55 - 20));
}

#[test]
fn the_last_path_that_answers_is_never_silent() {
    let mut rig = on_both(&reinjecting(Reinjection::Silent));
    rig.pass(ms(700));
    assert!(rig.sender.fall_silent(rig.now, P1, &mut rig.paths));
    assert!(!rig.sender.fall_silent(rig.now, P2, &mut rig.paths));
}

/// Four chunks are sent on the slow path, and the first one is lost.
fn one_lost(config: &Config) -> Rig {
    let mut rig = unequal(config);
    for _ in 0..4 {
        rig.transmit(P2);
    }
    rig.pass(ms(100));
    for last in 2..=4 {
        rig.sack(0, &[(2, last)], 1);
    }
    assert!(rig.is_lost(1));
    rig
}

#[test]
fn lost_chunks_go_to_the_fastest_path_that_answers() {
    let config = cmt(Cmt { rtx: RtxPolicy::Fastest, ..Cmt::default() });
    assert_eq!(one_lost(&config).poll(), Some((P1, vec![1])));
    for ails in [|path: &mut Path| path.timed_out = true, |path: &mut Path| path.liveness.set(Life::Silent)] {
        let mut rig = one_lost(&config);
        ails(&mut rig.paths[P1]);
        assert_eq!(rig.poll(), Some((P2, vec![1])));
    }
}

/// rfc9260#section-6.4: after a timeout the chunk is retransmitted on another path that is not silent.
#[test]
fn after_a_timeout_no_silent_path_is_asked() {
    let config = cmt(Cmt { rtx: RtxPolicy::Fastest, ..Cmt::default() });
    for (silent, asked) in [(false, P1), (true, P2)] {
        let mut rig = unequal(&config);
        rig.transmit(P2);
        rig.paths[P1].liveness.set(if silent { Life::Silent } else { Life::Proven });
        rig.pass(ms(1000));
        rig.t3(P2);
        assert_eq!(rig.poll(), Some((asked, vec![1])));
    }
}

/// If the path of the timeout has answered and is the fastest, the chunk is retransmitted on it.
#[test]
fn after_a_timeout_and_an_answer_the_same_path_is_asked() {
    let config = cmt(Cmt { rtx: RtxPolicy::Fastest, ..Cmt::default() });
    for (answers, asked) in [(false, P2), (true, P1)] {
        let mut rig = unequal(&config);
        rig.transmit(P1);
        rig.pass(ms(1000));
        rig.t3(P1);
        rig.paths[P1].timed_out = !answers;
        assert_eq!(rig.poll(), Some((asked, vec![1])));
    }
}

/// When chunk 1 was acknowledged, a new wait for an answer of path 1 began; at its end the path fell silent.
/// Chunk 2 was sent before this wait, and is acknowledged late.
#[test]
fn an_old_acknowledgement_does_not_end_the_silence_of_a_path() {
    let mut rig = on_both(&reinjecting(Reinjection::Silent));
    rig.pass(ms(20));
    rig.sack(1, &[], 1);
    rig.pass(ms(500));
    assert!(rig.sender.fall_silent(rig.now, P1, &mut rig.paths));
    let measured = rig.paths[P1].rto.srtt();
    rig.sack(2, &[], 1);
    assert!(rig.paths[P1].liveness.is_silent());
    assert_eq!(rig.paths[P1].rto.srtt(), measured, "the SACK may have come on a slower path");
}
