//! Tests partial reliability with results calculated by hand; each test acts as the network and the peer.

use super::super::tests::{CHUNK, P1, P2, Rig, cmt};
use crate::config::{BufferSide, Cmt, Config, PathSelection, Reinjection};
use crate::message::{Abandoned, AbandonedByPolicy, Message, MessageId, Payload, Reliability, SendError};
use crate::path::Life;
use crate::path::PathId;
use transport::{Checksum, PacketBuf};
use units::{ByteCount, Span};
use wire::{Chunk, CommonHeader, Packet, PacketWriter, StreamId};

use Reliability::{Priority, Reliable, Retransmissions, Until};

fn options(options: Cmt) -> Config {
    Config { pr_sctp: true, ..cmt(options) }
}

fn agreed(config: &Config, paths: u8, first: u32) -> Rig {
    let mut rig = Rig::new(config, paths, first);
    rig.sender.agree_on_forward_tsn(true);
    rig
}

fn rig(first: u32) -> Rig {
    agreed(&options(Cmt::default()), 1, first)
}

/// An ordered message of filler on stream 0.
fn message(reliability: Reliability, length: u64) -> Message {
    Message { reliability, ..Message::new(Payload::Filler(length as u32)) }
}

/// Path, new cumulative TSN and skipped streams of a FORWARD TSN.
type Forward = (PathId, u32, Vec<(u16, u16)>);

/// Sends the FORWARD TSN that is due, in a packet of at most `limit` bytes.
fn forward_within(rig: &mut Rig, limit: usize) -> Option<Forward> {
    let p = rig.sender.forward_due(&rig.paths)?;
    let header = CommonHeader { source_port: 1, destination_port: 2, verification_tag: 3 };
    let mut buf = PacketBuf::default();
    let mut w = PacketWriter::new(&mut buf, header, limit);
    assert!(rig.sender.write_forward(p, &mut rig.paths, &mut w));
    w.finish(Checksum::Offloaded);
    assert!(rig.paths[p].t3.is_some(), "T3 runs");
    let packet = Packet::parse(buf.as_octets(), Checksum::Offloaded).unwrap();
    let Some(Ok(Chunk::ForwardTsn(chunk))) = packet.chunks().next() else { panic!("no FORWARD TSN") };
    let skips = chunk.skips().map(|(stream, ssn)| (stream.0, ssn.0)).collect();
    Some((p, chunk.new_cumulative_tsn.0, skips))
}

fn forward(rig: &mut Rig) -> Option<Forward> {
    forward_within(rig, 1480)
}

/// Gives `n` messages of 100 bytes and sends them in one packet.
fn sent(rig: &mut Rig, reliability: Reliability, n: u32) {
    for _ in 0..n {
        rig.push(message(reliability, 100)).unwrap();
    }
    assert!(rig.poll().is_some_and(|(_, tsns)| tsns.len() == n as usize));
}

/// Processes three SACKs that report TSN 2 as missing. Each acknowledges one more TSN above it.
fn lose_second(rig: &mut Rig) {
    for last in 3..=5 {
        rig.sack(1, &[(3, last)], 1);
    }
}

fn failures(rig: &mut Rig) -> Vec<(u64, bool)> {
    let told = std::iter::from_fn(|| rig.sender.next_abandoned());
    told.map(|failure| (failure.message.payload.len() as u64, failure.sent)).collect()
}

// rfc3758#section-3.5
#[test]
fn a_lost_chunk_without_retransmissions_is_skipped_and_cuts_the_window() {
    let mut rig = rig(1);
    sent(&mut rig, Retransmissions(0), 5);
    let before = rig.paths[P1].window.ssthresh;
    lose_second(&mut rig);
    assert_eq!(forward(&mut rig), Some((P1, 2, vec![(0, 1)])));
    assert!(rig.paths[P1].recovery.is_some() && rig.paths[P1].window.ssthresh != before, "the window is cut");
    assert_eq!(rig.poll(), None, "nothing is retransmitted");
    assert_eq!(failures(&mut rig), [(100, true)]);
    rig.sack(5, &[], 1);
    assert!(rig.sender.is_drained() && forward(&mut rig).is_none());
    assert_eq!(rig.paths[P1].t3, None);
}

// rfc3758#section-3.5; sctplab/pr-sctp-improved#11
#[test]
fn the_ack_point_passes_non_renegable_chunks_but_not_renegable_ones() {
    let mut rig = rig(1);
    sent(&mut rig, Retransmissions(0), 5);
    rig.nr_sack(1, &[], &[(3, 3)]);
    rig.nr_sack(1, &[(4, 4)], &[(3, 3)]);
    rig.nr_sack(1, &[(4, 5)], &[(3, 3)]);
    assert_eq!(forward(&mut rig), Some((P1, 3, vec![(0, 1)])));
    rig.nr_sack(1, &[], &[(3, 5)]);
    assert_eq!(forward(&mut rig), Some((P1, 5, vec![(0, 1)])), "there is news");
}

#[test]
fn the_ack_point_does_not_end_within_a_message_that_goes_on() {
    let mut rig = agreed(&options(Cmt { rtt_heuristic: false, ..Cmt::default() }), 1, 1);
    rig.paths[P1].window.cwnd = ByteCount::new(100_000);
    rig.push(message(Retransmissions(0), 100)).unwrap();
    rig.push(message(Reliable, 2 * CHUNK)).unwrap();
    while rig.poll().is_some() {
        rig.pass(Span::from_millis(1));
    }
    rig.pass(Span::from_secs(9));
    rig.nr_sack(0, &[], &[(2, 2)]);
    rig.t3(P1);
    assert!(rig.is_lost(3));
    assert_eq!(forward(&mut rig), Some((P1, 1, vec![(0, 0)])), "TSN 2 begins a message, and 3 is to come");
}

// rfc3758#section-4.1; usrsctp#592, usrsctp#597
#[test]
fn the_rest_of_a_message_that_was_sent_in_part_gets_one_tsn() {
    let mut rig = rig(5);
    rig.paths[P1].window.cwnd = ByteCount::new(2 * CHUNK);
    let id = rig.push(Message { tracked: true, ..message(Until(Span::from_secs(1)), 4 * CHUNK) }).unwrap();
    assert_eq!([rig.poll(), rig.poll(), rig.poll()], [Some((P1, vec![5])), Some((P1, vec![6])), None]);
    rig.push(message(Reliable, 100)).unwrap();
    rig.pass(Span::from_secs(1));
    assert_eq!(rig.sender.unsent_messages(), 2, "its lifetime is not over");
    rig.pass(Span::from_millis(1));
    assert_eq!((rig.sender.unsent_messages(), forward(&mut rig)), (1, None));
    rig.audit();
    rig.pass(Span::from_millis(200));
    assert_eq!(forward(&mut rig), Some((P1, 7, vec![(0, 0)])));
    let failure = rig.sender.next_abandoned().unwrap();
    assert_eq!((failure.id, failure.sent, failure.tsn), (id, true, None));
    assert_eq!(failure.message.payload, Payload::Filler(4 * CHUNK as u32));
    rig.sack(7, &[], 1);
    assert_eq!(rig.poll(), Some((P1, vec![8])));
    assert_eq!(rig.sender.out.data(rig.index(8)).ssn.0, 1, "its number is not used again");
    rig.sack(8, &[], 1);
    assert!(rig.sender.is_drained() && !rig.sender.has_delivered());
}

// rfc3758#section-3.2; pion/sctp#104, pion/sctp#491
#[test]
fn unordered_messages_are_skipped_without_their_streams() {
    let mut rig = rig(10);
    rig.paths[P1].window.cwnd = ByteCount::new(10 * CHUNK);
    rig.push(Message { unordered: true, ..message(Retransmissions(0), 2 * CHUNK) }).unwrap();
    assert_eq!([rig.poll(), rig.poll()], [Some((P1, vec![10])), Some((P1, vec![11]))]);
    rig.sack(9, &[(11, 11)], 1);
    rig.pass(Span::from_secs(9));
    rig.t3(P1);
    // The whole message is abandoned, including chunks that arrived (rfc3758#section-3.5, rule A3).
    assert_eq!(forward(&mut rig), Some((P1, 11, vec![])));
}

// rfc7496#section-3.1; sctp-proto#57
#[test]
fn a_message_is_abandoned_when_its_retransmission_is_due_and_not_before() {
    for most in 0..3 {
        let mut rig = rig(1);
        sent(&mut rig, Retransmissions(most), 1);
        for _ in 0..most {
            rig.pass(Span::from_secs(100));
            rig.t3(P1);
            assert_eq!((forward(&mut rig), rig.poll()), (None, Some((P1, vec![1]))));
        }
        rig.pass(Span::from_secs(100));
        assert_eq!(forward(&mut rig), None, "{most}");
        rig.t3(P1);
        assert_eq!((forward(&mut rig), rig.poll()), (Some((P1, 1, vec![(0, 0)])), None), "{most}");
    }
}

// rfc3758#section-4.1: rule TR4; webrtc-rs/rtc#237
#[test]
fn a_message_is_not_retransmitted_after_its_lifetime() {
    for (seconds, abandoned) in [(1, true), (100, false)] {
        let mut rig = rig(1);
        sent(&mut rig, Until(Span::from_secs(seconds)), 5);
        rig.pass(Span::from_secs(2));
        lose_second(&mut rig);
        let skipped = abandoned.then_some((P1, 2, vec![(0, 1)]));
        assert_eq!((forward(&mut rig), rig.poll().is_some()), (skipped, !abandoned));
    }
}

// rfc3758#section-4.1: rule TR4
#[test]
fn a_lost_message_that_waits_to_be_retransmitted_is_abandoned_when_its_lifetime_ends() {
    let mut rig = rig(1);
    sent(&mut rig, Until(Span::from_secs(10)), 1);
    rig.pass(Span::from_secs(9));
    rig.t3(P1);
    rig.pass(Span::from_secs(2));
    assert_eq!((rig.poll(), failures(&mut rig)), (None, vec![(100, true)]));
    rig.pass(Span::from_millis(200));
    assert_eq!(forward(&mut rig), Some((P1, 1, vec![(0, 0)])));
}

// rfc3758#section-4.1: rule TR3
#[test]
fn an_expired_message_that_was_not_sent_takes_neither_a_tsn_nor_a_number() {
    let mut rig = rig(1);
    rig.paths[P1].window.cwnd = ByteCount::new(100);
    sent(&mut rig, Reliable, 1);
    rig.push(message(Until(Span::from_millis(5)), 300)).unwrap();
    rig.push(message(Reliable, 100)).unwrap();
    rig.push(message(Until(Span::from_millis(5)), 200)).unwrap();
    assert_eq!(rig.sender.buffered(), ByteCount::new(700));
    rig.pass(Span::from_millis(6));
    assert_eq!(failures(&mut rig), [(300, false)]);
    rig.sack(1, &[], 1);
    assert_eq!(rig.poll(), Some((P1, vec![2])));
    assert_eq!(rig.sender.out.data(rig.index(2)).ssn.0, 1);
    assert_eq!(rig.sender.partial_deadline(&rig.paths), Some(rig.now), "the next message is to be abandoned");
    rig.pass(Span::ZERO);
    rig.sack(2, &[], 1);
    assert_eq!((failures(&mut rig), rig.sender.is_drained()), (vec![(200, false)], true));
    let until = Abandoned { unsent: 2, sent: 0 };
    let expected = AbandonedByPolicy { until, ..AbandonedByPolicy::default() };
    assert_eq!(rig.sender.abandoned()[&StreamId(0)], expected);
}

// pion/sctp#505
#[test]
fn a_forward_tsn_without_news_is_repeated_at_most_once_in_a_round_trip_time() {
    let mut rig = rig(1);
    sent(&mut rig, Retransmissions(0), 5);
    rig.pass(Span::from_millis(100));
    lose_second(&mut rig);
    assert!(forward(&mut rig).is_some());
    for (ms, repeated) in [(10, false), (80, false), (10, true), (10, false), (90, true)] {
        rig.pass(Span::from_millis(ms));
        rig.sack(1, &[(3, 5)], 1);
        assert_eq!(forward(&mut rig).is_some(), repeated, "after {ms} ms more");
    }
}

// rfc3758#section-3.5: rule A5
#[test]
fn t3_repeats_a_forward_tsn_that_is_not_answered() {
    let mut rig = rig(1);
    sent(&mut rig, Retransmissions(0), 5);
    rig.pass(Span::from_millis(100));
    lose_second(&mut rig);
    assert!(forward(&mut rig).is_some());
    rig.sack(1, &[(3, 5)], 1);
    for _ in 0..3 {
        let due = rig.paths[P1].t3.unwrap();
        rig.pass(due.since(rig.now));
        assert_eq!(forward(&mut rig), None);
        rig.t3(P1);
        assert_eq!(forward(&mut rig), Some((P1, 2, vec![(0, 1)])));
    }
    let outcome = rig.sack(5, &[], 1);
    assert_eq!(outcome.acked_paths, 1, "the peer answers on this path");
    assert_eq!(rig.paths[P1].t3, None);
}

// rfc3758#section-3.5: rule C4
#[test]
fn streams_that_do_not_fit_a_packet_are_skipped_by_the_next_forward_tsn() {
    let mut rig = Rig::new(&options(Cmt::default()), 1, 1);
    rig.sender.agree_on_forward_tsn(true);
    rig.sender.queue.set_streams(9);
    for stream in [3, 1, 3, 2] {
        rig.push(Message { stream: StreamId(stream), ..message(Retransmissions(0), 100) }).unwrap();
    }
    assert!(rig.poll().is_some());
    rig.pass(Span::from_secs(9));
    rig.t3(P1);
    let limit = 12 + 8 + 2 * 4;
    assert_eq!(forward_within(&mut rig, limit), Some((P1, 3, vec![(1, 0), (3, 1)])));
    rig.sack(3, &[], 1);
    assert_eq!(forward_within(&mut rig, limit), Some((P1, 4, vec![(2, 0)])));
}

fn full(policies: &[Reliability]) -> Rig {
    let config = Config { send_buffer: ByteCount::new(1000).into(), ..options(Cmt::default()) };
    let mut rig = agreed(&config, 1, 1);
    rig.paths[P1].window.cwnd = ByteCount::new(1);
    for &policy in policies {
        rig.push(Message { tracked: true, ..message(policy, 250) }).unwrap();
    }
    rig
}

fn failed_ids(rig: &mut Rig) -> Vec<u64> {
    let told = std::iter::from_fn(|| rig.sender.next_abandoned());
    told.filter_map(|failure| failure.id.map(|MessageId(id)| id)).collect()
}

// rfc7496#section-3.2
#[test]
fn a_more_urgent_message_displaces_the_least_urgent_and_of_these_the_oldest() {
    let mut rig = full(&[Priority(2), Priority(3), Priority(3), Priority(2)]);
    assert!(rig.push(message(Priority(1), 250)).is_ok());
    assert_eq!(failed_ids(&mut rig), [1]);
    assert!(rig.push(message(Priority(1), 500)).is_ok());
    assert_eq!(failed_ids(&mut rig), [2, 0]);
    assert_eq!(rig.sender.buffered(), ByteCount::new(1000));
}

// rfc7496#section-3.2
#[test]
fn nothing_is_displaced_by_an_equal_priority_another_policy_or_where_it_does_not_help() {
    let mut rig = full(&[Priority(2), Reliable, Until(Span::from_secs(1)), Priority(1)]);
    for refused in [message(Priority(2), 1), message(Reliable, 1), message(Priority(0), 501)] {
        assert_eq!(rig.push(refused), Err(SendError::WouldBlock));
        assert_eq!(failed_ids(&mut rig), [0; 0]);
    }
    assert!(rig.push(message(Priority(0), 500)).is_ok());
    assert_eq!(failed_ids(&mut rig), [0, 3]);
}

// rfc7496#section-3.2
#[test]
fn displaced_messages_that_were_sent_are_skipped() {
    let mut rig = full(&[Priority(2), Priority(2), Priority(2), Priority(2)]);
    assert!(rig.poll().is_some(), "one of the four");
    assert!(rig.push(message(Priority(1), 250)).is_ok());
    assert_eq!(failed_ids(&mut rig), [0]);
    assert_eq!(forward(&mut rig), None, "it may be bundled with data");
    rig.pass(Span::from_millis(200));
    assert_eq!(forward(&mut rig), Some((P1, 1, vec![(0, 0)])));
    let priority = Abandoned { unsent: 0, sent: 1 };
    assert_eq!(rig.sender.abandoned()[&StreamId(0)].priority, priority);
}

// rfc7496#section-3.2
#[test]
fn a_queue_that_is_full_of_messages_is_relieved_like_a_full_buffer() {
    let config = Config { send_queue: Some(2), ..options(Cmt::default()) };
    let mut rig = agreed(&config, 1, 1);
    rig.paths[P1].window.cwnd = ByteCount::ZERO;
    for _ in 0..2 {
        rig.push(message(Priority(2), 100)).unwrap();
    }
    assert_eq!(rig.push(message(Priority(2), 100)), Err(SendError::WouldBlock));
    assert!(rig.push(message(Priority(1), 100)).is_ok());
    assert_eq!((rig.sender.unsent_messages(), failures(&mut rig)), (2, vec![(100, false)]));
}

#[test]
fn pieces_of_a_message_that_was_abandoned_meanwhile_are_not_taken() {
    let mut rig = rig(1);
    let piece = |end_of_record| Message { end_of_record, ..message(Until(Span::from_secs(1)), 100) };
    rig.push(piece(false)).unwrap();
    assert_eq!(rig.poll(), Some((P1, vec![1])));
    rig.push(piece(false)).unwrap();
    rig.pass(Span::from_secs(2));
    assert_eq!((failures(&mut rig), rig.sender.buffered()), (vec![(200, true)], ByteCount::ZERO));
    for end_of_record in [false, true] {
        assert_eq!(rig.push(piece(end_of_record)), Ok(None));
    }
    assert_eq!((rig.poll(), rig.sender.unsent_messages()), (None, 0));
    rig.push(message(Reliable, 100)).unwrap();
    assert_eq!(rig.poll(), Some((P1, vec![3])), "TSN 2 ends the abandoned message");
    assert_eq!(rig.sender.out.data(rig.index(3)).ssn.0, 1);
}

#[test]
fn with_a_peer_without_forward_tsn_every_message_is_reliable() {
    let mut rig = Rig::new(&options(Cmt::default()), 1, 1);
    rig.sender.agree_on_forward_tsn(false);
    sent(&mut rig, Retransmissions(0), 1);
    rig.push(message(Until(Span::ZERO), 100)).unwrap();
    rig.pass(Span::from_secs(9));
    rig.t3(P1);
    assert_eq!((forward(&mut rig), rig.poll()), (None, Some((P1, vec![1]))));
    rig.sack(1, &[], 1);
    assert_eq!((rig.poll(), failures(&mut rig)), (Some((P1, vec![2])), vec![]));
}

#[test]
fn a_forward_tsn_leaves_on_the_path_of_the_lowest_chunk_or_on_one_that_works() {
    let mut rig = agreed(&options(Cmt::default()), 2, 1);
    let sent = |rig: &mut Rig, p| {
        rig.push(Message { path: Some(p), ..message(Retransmissions(0), CHUNK) }).unwrap();
        assert!(rig.poll().is_some_and(|(path, _)| path == p));
    };
    rig.paths[P2].window.cwnd = ByteCount::new(10 * CHUNK);
    for _ in 0..4 {
        sent(&mut rig, P2);
        rig.pass(Span::from_millis(1));
    }
    for last in 2..=4 {
        rig.sack(0, &[(2, last)], 1);
    }
    assert_eq!(forward(&mut rig), Some((P2, 1, vec![(0, 0)])), "only a packet was lost");
    rig.pass(Span::from_secs(9));
    rig.t3(P2);
    assert_eq!(forward(&mut rig), Some((P1, 1, vec![(0, 0)])), "it may have failed");
    rig.pass(Span::from_secs(9));
    rig.t3(P1);
    assert!(forward(&mut rig).is_some(), "no path is known to work");
}

/// The maximum number of retransmissions of a message holds for all paths together.
#[test]
fn a_chunk_without_retransmissions_is_neither_rescheduled_nor_sent_on_another_path() {
    for (most, moves) in [(0, false), (1, true)] {
        let config = Config {
            send_buffer: ByteCount::new(4 * CHUNK).into(),
            ..options(Cmt { rescheduling: BufferSide::Both, ..Cmt::default() })
        };
        let mut rig = agreed(&config, 2, 1);
        for _ in 0..4 {
            rig.push(Message { path: Some(P1), ..message(Retransmissions(most), CHUNK) }).unwrap();
        }
        rig.paths[P1].window.cwnd = ByteCount::new(4 * CHUNK);
        while rig.poll().is_some() {}
        rig.sack(0, &[(2, 4)], 1);
        rig.pass(Span::from_secs(1));
        assert_eq!(rig.poll().is_some_and(|(_, tsns)| tsns == [1]), moves);
    }
}

#[test]
fn no_copy_is_sent_of_a_message_after_its_lifetime() {
    for (seconds, copies) in [(1, false), (3, true)] {
        let cmt = Cmt {
            path_selection: PathSelection::LowestRtt,
            reinjection: Reinjection::Silent,
            ..Cmt::default()
        };
        let mut rig = agreed(&options(cmt), 2, 1);
        rig.push(message(Until(Span::from_secs(seconds)), CHUNK)).unwrap();
        assert_eq!(rig.poll(), Some((P1, vec![1])));
        rig.pass(Span::from_secs(2));
        rig.paths[P1].liveness.set(Life::Silent);
        rig.pass(Span::ZERO);
        assert_eq!(rig.poll().is_some(), copies);
    }
}

// rfc6458#section-6.1.11
#[test]
fn a_failed_message_is_told_with_its_identifier_context_and_bytes() {
    let mut rig = rig(1);
    let given = Message {
        ppid: wire::Ppid(7),
        context: 9,
        unordered: true,
        payload: Payload::Bytes("hello".into()),
        ..message(Until(Span::ZERO), 1)
    };
    rig.push(given.clone()).unwrap();
    rig.pass(Span::from_millis(1));
    let failure = rig.sender.next_abandoned().unwrap();
    assert_eq!((failure.message, failure.sent, failure.abandoned), (given, false, true));
    let kept = Message { reliability: Reliable, context: 8, ..message(Reliable, 5) };
    rig.push(kept.clone()).unwrap();
    let mut failed = Vec::new();
    rig.sender.failed(|failure| failed.push(failure.message));
    assert_eq!(failed, [kept]);
}

/// The sender drops a record when the peer has the whole message.
#[test]
fn delivered_messages_leave_nothing_behind() {
    let mut rig = rig(1);
    for policy in [Until(Span::from_secs(9)), Retransmissions(1), Priority(1)] {
        rig.push(message(policy, 100)).unwrap();
    }
    rig.push(Message { context: 3, ..message(Reliable, 100) }).unwrap();
    assert!(rig.poll().is_some());
    rig.nr_sack(1, &[], &[(3, 4)]);
    rig.nr_sack(4, &[], &[]);
    let partial = rig.sender.partial.as_ref().unwrap();
    assert!(partial.records.is_empty() && partial.by_priority.is_empty() && partial.timed == 0);
}

/// If the peer's window is full, the chunks to be skipped may fill its buffer.
#[test]
fn a_forward_tsn_that_may_open_the_window_is_not_delayed() {
    for (a_rwnd, at_once) in [(1 << 30, false), (0, true)] {
        let mut rig = rig(1);
        rig.paths[P1].window.cwnd = ByteCount::new(2 * CHUNK);
        rig.push(message(Until(Span::from_secs(1)), 4 * CHUNK)).unwrap();
        rig.push(message(Reliable, CHUNK)).unwrap();
        while rig.poll().is_some() {}
        rig.try_sack(0, &[(2, 2)], 1, a_rwnd).unwrap();
        rig.pass(Span::from_secs(2));
        assert_eq!(forward(&mut rig).is_some(), at_once, "window {a_rwnd}");
    }
}
