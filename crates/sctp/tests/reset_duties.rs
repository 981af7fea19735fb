//! The requirements of RFC 6525, one by one, for a server whose client is scripted by the test.

use crate::desk;

use anabranch_sctp::*;
use desk::{Desk, allowing};
use std::cell::Cell;
use std::rc::Rc;
use testkit::*;
use units::{ByteCount, Span};
use wire::*;

// rfc6525#section-5.1.1
#[test]
fn requests_are_numbered_from_the_initial_tsn_and_one_is_outstanding_at_a_time() {
    let mut desk = Desk::new(&allowing(AllowReset::None));
    desk.reset_own(ResetDirection::Outgoing, &[1]).expect("begun");
    desk.reset_own(ResetDirection::Outgoing, &[2]).expect("begun");
    assert_eq!(desk.said(), ["reset 0 answers -1 last 0 [1]"]);
    desk.answer(7, ReConfigResult::Performed);
    assert_eq!(desk.said(), [""; 0], "no answer to this request");
    desk.answer(0, ReConfigResult::Performed);
    assert_eq!(desk.said(), ["reset 1 answers -1 last 0 [2]"]);
    desk.answer(1, ReConfigResult::NothingToDo);
    assert_eq!(desk.told(), ["out [1] performed", "out [2] performed"]);
}

// rfc6525#section-5.1.1
#[test]
fn a_request_is_sent_again_with_its_number_backed_off_and_on_another_path() {
    let mut desk = Desk::in_nets(2, &allowing(AllowReset::None));
    let start = desk.pair.now;
    let first = desk.pair.sent.len();
    desk.reset_own(ResetDirection::Incoming, &[]).expect("begun");
    desk.pass(8000);
    let asked: Vec<_> = desk.pair.sent[first..]
        .iter()
        .filter(|sent| sent.chunks() == "RE_CONFIG")
        .map(|sent| (sent.at.since(start), sent.net(), sent.bytes.as_octets().to_vec()))
        .collect();
    assert!(asked.len() >= 4, "{} requests", asked.len());
    assert!(asked.windows(2).all(|pair| pair[0].1 != pair[1].1), "each on the other path");
    assert!(asked.iter().all(|(.., bytes)| *bytes == asked[0].2), "the same bytes");
    let gaps: Vec<_> = asked.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    assert!(gaps[2] >= gaps[0] * 2, "{gaps:?}");
}

// rfc6525#section-5.1.1, rfc9260#section-8.1
#[test]
fn a_peer_that_never_answers_a_request_is_given_up() {
    let mut desk =
        Desk::new(&Config { association_max_retrans: 3, hb_interval: None, ..allowing(AllowReset::None) });
    desk.reset_own(ResetDirection::Incoming, &[]).expect("begun");
    desk.pass(60_000);
    assert_eq!(desk.said(), ["ask 0 []"; 4]);
    assert_eq!(desk.told(), ["in [] given-up", "closed"]);
}

// rfc6525#section-5.1.2
#[test]
fn an_outgoing_reset_waits_until_its_data_is_acknowledged_and_holds_new_data_until_it_is_performed() {
    let mut desk = Desk::new(&allowing(AllowReset::None));
    desk.send(1, "a");
    assert_eq!(desk.said(), ["data 1 1:0 a"]);
    desk.reset_own(ResetDirection::Outgoing, &[1, 3]).expect("begun");
    desk.send(1, "b");
    desk.send(2, "c");
    assert_eq!(desk.said(), ["data 2 2:0 c"], "other streams go on");
    desk.sack(1);
    assert_eq!(desk.said(), ["reset 0 answers -1 last 2 [1, 3]"]);
    desk.sack(2);
    desk.send(3, "d");
    assert_eq!(desk.said(), [""; 0]);
    desk.answer(0, ReConfigResult::Performed);
    assert_eq!(desk.said(), ["data 3 1:0 b", "data 4 3:0 d"]);
    desk.send(2, "e");
    desk.sack(4);
    assert_eq!(desk.said(), ["data 5 2:1 e"]);
    assert_eq!(desk.told(), ["out [1, 3] performed"]);
}

// rfc6525#section-5.2.7
#[test]
fn a_reset_that_is_denied_or_fails_leaves_the_numbers_as_they_were() {
    for (result, word) in [
        (ReConfigResult::Denied, "denied"),
        (ReConfigResult::WrongStream, "wrong-stream"),
        (ReConfigResult::BadSequenceNumber, "failed"),
        (ReConfigResult::Unknown(99), "failed"),
    ] {
        let mut desk = Desk::new(&allowing(AllowReset::None));
        desk.send(1, "a");
        desk.sack(1);
        desk.reset_own(ResetDirection::Outgoing, &[1]).expect("begun");
        desk.send(1, "b");
        desk.said();
        desk.answer(0, result);
        assert_eq!(desk.said(), ["data 2 1:1 b"]);
        assert_eq!(desk.told(), [format!("out [1] {word}")]);
    }
}

// rfc7053#section-4.1
#[test]
fn the_last_chunk_before_a_reset_asks_for_an_acknowledgement_at_once() {
    let mut desk = Desk::new(&Config { nagle: true, ..allowing(AllowReset::None) });
    desk.send(0, "z");
    desk.send(1, "a");
    desk.send(1, "b");
    assert_eq!(desk.said(), ["data 1 0:0 z"], "Nagle holds the others");
    desk.reset_own(ResetDirection::Outgoing, &[1]).expect("begun");
    desk.sack(1);
    assert_eq!(desk.said(), ["data 2 1:0 a", "data 3 1:1 b I"]);
}

// rfc6525#section-5.2.2
#[test]
fn a_reset_whose_data_has_arrived_is_performed_at_once_and_the_stream_begins_at_zero() {
    let mut desk = Desk::new(&allowing(AllowReset::Streams));
    desk.data(1, 1, 0, "a");
    desk.data(2, 2, 0, "b");
    desk.reset(0, 2, &[1]);
    assert_eq!(desk.said(), ["Performed 0"]);
    desk.data(3, 1, 0, "c");
    desk.data(4, 2, 1, "d");
    assert_eq!(desk.told(), ["1:0 a", "2:0 b", "in [1] performed", "1:0 c", "2:1 d"]);
    desk.reset(1, 4, &[]);
    desk.data(5, 1, 0, "e");
    desk.data(6, 2, 0, "f");
    assert_eq!(desk.said(), ["Performed 1"]);
    assert_eq!(desk.told(), ["in [] performed", "1:0 e", "2:0 f"]);
}

// rfc6525#section-5.2.2, rule E2
#[test]
fn a_reset_that_overtakes_its_data_is_deferred_and_done_without_being_asked_again() {
    let mut desk = Desk::new(&allowing(AllowReset::Streams));
    desk.data(1, 1, 0, "a");
    desk.reset(0, 3, &[1]);
    assert_eq!(desk.said(), ["InProgress 0"]);
    // After the reset, data of a reset stream is held back, and data of another stream is delivered.
    desk.data(4, 1, 0, "d");
    desk.data(5, 2, 0, "e");
    desk.data(3, 1, 2, "c");
    assert_eq!(desk.told(), ["1:0 a", "2:0 e"]);
    desk.data(2, 1, 1, "b");
    assert_eq!(desk.said(), ["Performed 0"]);
    assert_eq!(desk.told(), ["1:1 b", "1:2 c", "in [1] performed", "1:0 d"]);
    // The request arrives a second time and causes no second reset.
    desk.reset(0, 3, &[1]);
    assert_eq!(desk.said(), ["Performed 0"]);
    desk.data(6, 1, 1, "f");
    assert_eq!(desk.told(), ["1:1 f"]);
}

// rfc6525#section-5.2.2, rule E2: the held data must fit into the receive buffer
#[test]
fn data_behind_a_deferred_reset_is_bounded_by_the_receive_buffer() {
    let buffer = ByteCount::new(2000);
    for reneging in [true, false] {
        let config = Config { receive_buffer: buffer.into(), reneging, ..allowing(AllowReset::Streams) };
        let mut desk = Desk::new(&config);
        desk.reset(0, 1, &[1]);
        for n in 2..200 {
            desk.data(n, 1, (n - 2) as u16, "behind the reset");
        }
        let stats = desk.pair.endpoint(Side::Server).stats(desk.id).expect("it stands");
        assert!(stats.received.dropped > 150, "{:?}", stats.received);
        desk.data(1, 1, 0, "before");
        let told = desk.told();
        assert_eq!(
            told[..3],
            ["1:0 before", "in [1] performed", "1:0 behind the reset"],
            "reneging: {reneging}"
        );
        assert!(told.len() > 20, "{}", told.len());
    }
}

// rfc6525#section-5.2.2: a request is repeated until it is performed, and others wait
#[test]
fn while_a_reset_is_deferred_another_one_is_refused() {
    let mut desk = Desk::new(&allowing(AllowReset::Streams));
    desk.reset(0, 1, &[1]);
    desk.reset(1, 1, &[2]);
    desk.reset(0, 1, &[1]);
    assert_eq!(desk.said(), ["InProgress 0", "RequestInProgress 1", "InProgress 0"]);
}

// rfc6525#section-5.2.7: the result "in progress" is no error
#[test]
fn a_request_in_progress_is_asked_again_after_an_rto_without_counting_errors() {
    let config = Config { association_max_retrans: 2, hb_interval: None, ..allowing(AllowReset::None) };
    let mut desk = Desk::new(&config);
    desk.reset_own(ResetDirection::Outgoing, &[1]).expect("begun");
    for _ in 0..20 {
        assert_eq!(desk.said(), ["reset 0 answers -1 last 0 [1]"]);
        desk.answer(0, ReConfigResult::InProgress);
        assert_eq!(desk.said(), [""; 0]);
        desk.pass(1000);
    }
    let stats = desk.pair.endpoint(Side::Server).stats(desk.id).expect("it stands");
    assert_eq!((stats.errors, stats.reset_requests), (0, 21));
    desk.answer(0, ReConfigResult::Performed);
    assert_eq!(desk.told(), ["out [1] performed"]);
}

// rfc6525#section-4.4: the peer rejects the request because a request of the peer is in progress
#[test]
fn a_request_that_met_another_is_asked_again_later_with_the_next_number() {
    let mut desk = Desk::new(&allowing(AllowReset::None));
    desk.reset_own(ResetDirection::Incoming, &[1]).expect("begun");
    assert_eq!(desk.said(), ["ask 0 [1]"]);
    desk.answer(0, ReConfigResult::RequestInProgress);
    assert_eq!(desk.said(), [""; 0]);
    desk.pass(2000);
    assert_eq!(desk.said()[0], "ask 1 [1]");
}

// rfc6525#section-5.2.1
#[test]
fn a_repeated_request_gets_the_same_answer_and_only_the_last_two_are_known() {
    let mut desk = Desk::new(&allowing(AllowReset::Streams));
    desk.reset(0, 0, &[1]);
    desk.reset(1, 0, &[60_000]);
    desk.reset(2, 0, &[2]);
    assert_eq!(desk.said(), ["Performed 0", "WrongStream 1", "Performed 2"]);
    for (number, answer) in [(1, "WrongStream 1"), (2, "Performed 2"), (0, "BadSequenceNumber 0")] {
        desk.reset(number, 0, &[1]);
        assert_eq!(desk.said(), [answer]);
    }
    desk.reset(4, 0, &[1]);
    desk.reset(u32::MAX, 0, &[1]);
    assert_eq!(desk.said(), ["BadSequenceNumber 4", "BadSequenceNumber -1"]);
    assert_eq!(desk.told(), ["in [1] performed", "in [2] performed"]);
}

// rfc6525#section-5.2.3
#[test]
fn a_request_to_reset_our_streams_is_answered_by_our_own_request() {
    let mut desk = Desk::new(&allowing(AllowReset::Streams));
    desk.send(1, "a");
    desk.said();
    desk.ask_for_reset(0, &[1]);
    assert_eq!(desk.said(), ["InProgress 0"], "data is not acknowledged");
    desk.sack(1);
    assert_eq!(desk.said(), ["reset 0 answers 0 last 1 [1]"]);
    desk.ask_for_reset(0, &[1]);
    assert_eq!(desk.said(), ["reset 0 answers 0 last 1 [1]"], "the same again");
    desk.answer(0, ReConfigResult::Performed);
    desk.ask_for_reset(0, &[1]);
    assert_eq!(desk.said(), ["Performed 0"]);
    assert_eq!(desk.told(), ["out [1] performed"]);
}

// rfc6525#section-5.2.1, rfc6525#section-3.1
#[test]
fn both_directions_in_one_chunk_are_answered_in_one_chunk() {
    let mut desk = Desk::new(&allowing(AllowReset::Streams));
    let numbers = [4u16.to_be_bytes()];
    let (streams, request) = (StreamNumbers::new(&numbers), desk.theirs.0);
    let last_tsn = desk.theirs.previous();
    let both = [
        ReConfigParameter::OutgoingReset { request, response: 0, last_tsn, streams },
        ReConfigParameter::IncomingReset { request: request.wrapping_add(1), streams },
    ];
    desk.ask(&both);
    assert_eq!(desk.said(), ["Performed 0 + reset 0 answers 1 last 0 [4]"]);
    desk.answer(0, ReConfigResult::Performed);
    desk.ask(&both);
    assert_eq!(desk.said(), ["Performed 0 + Performed 1"]);
    assert_eq!(desk.told(), ["in [4] performed", "out [4] performed"]);
}

// rfc6525#section-5.2.3, rfc6525#section-5.1.3
#[test]
fn two_that_wait_for_each_other_do_not_wait_for_ever() {
    let mut desk = Desk::new(&allowing(AllowReset::Streams));
    desk.reset_own(ResetDirection::Incoming, &[1]).expect("begun");
    desk.ask_for_reset(0, &[1]);
    assert_eq!(desk.said(), ["ask 0 [1]", "RequestInProgress 0"]);
    desk.answer(0, ReConfigResult::RequestInProgress);
    desk.ask_for_reset(1, &[1]);
    assert_eq!(desk.said(), ["reset 1 answers 1 last 0 [1]"]);
}

// rfc6525#section-5.1.3: a reset that the server's user requested is allowed although others are not
#[test]
fn the_peer_may_do_what_we_asked_for() {
    for first in [None, Some(ReConfigResult::Performed)] {
        let mut desk = Desk::new(&allowing(AllowReset::None));
        desk.reset_own(ResetDirection::Incoming, &[1]).expect("begun");
        assert_eq!(desk.said(), ["ask 0 [1]"]);
        if let Some(result) = first {
            desk.answer(0, result);
        }
        let numbers = [1u16.to_be_bytes()];
        let (streams, request) = (StreamNumbers::new(&numbers), desk.theirs.0);
        let (response, last_tsn) = (desk.ours.0, desk.theirs.previous());
        desk.ask(&[ReConfigParameter::OutgoingReset { request, response, last_tsn, streams }]);
        assert_eq!(desk.said(), ["Performed 0"]);
        desk.pass(10_000);
        assert_eq!(desk.said(), [""; 0], "the request is answered");
        assert_eq!(desk.told(), ["in [1] performed"]);
        desk.reset(1, 0, &[1]);
        assert_eq!(desk.said(), ["Denied 1"], "once");
    }
}

// rfc6525#section-5.2.1: requests are denied unless an option allows them
#[test]
fn everything_the_peer_asks_for_is_denied_by_default() {
    let table = [
        (AllowReset::None, ["Denied 0", "Denied 1", "Denied 2", "Denied 3", "Denied 4"]),
        (
            AllowReset::Streams,
            ["Performed 0", "reset 0 answers 1 last 0 [1]", "Denied 2", "Denied 3", "Denied 4"],
        ),
        (
            AllowReset::Add,
            ["Performed 0", "reset 0 answers 1 last 0 [1]", "Performed 2", "Performed 3", "Denied 4"],
        ),
        (
            AllowReset::All,
            [
                "Performed 0",
                "reset 0 answers 1 last 0 [1]",
                "Performed 2",
                "Performed 3",
                "Performed 4 1 0x80000000",
            ],
        ),
    ];
    for (allowed, expected) in table {
        let mut desk = Desk::new(&allowing(allowed));
        desk.reset(0, 0, &[1]);
        desk.ask_for_reset(1, &[1]);
        let number = |n: u32| desk.theirs.0.wrapping_add(n);
        let rest = [
            ReConfigParameter::AddOutgoing { request: number(2), streams: 5 },
            ReConfigParameter::AddIncoming { request: number(3), streams: 5 },
            ReConfigParameter::AssociationReset { request: number(4) },
        ];
        let mut said = desk.said();
        if allowed != AllowReset::None {
            desk.answer(0, ReConfigResult::Performed);
        }
        for parameter in rest {
            desk.ask(&[parameter]);
            let mut answers = desk.said();
            if answers.iter().any(|text| text.starts_with("add 1")) {
                answers.retain(|text| !text.starts_with("add 1"));
                desk.answer(1, ReConfigResult::Performed);
            }
            said.extend(answers);
        }
        assert_eq!(said, expected, "{allowed:?}");
    }
}

// rfc6525#section-3: without negotiation the chunk type is unknown, and its top bits mean skip
#[test]
fn without_agreement_a_request_is_skipped_and_none_can_be_made() {
    let mut desk = Desk::new(&Config::default());
    assert_eq!(desk.reset_own(ResetDirection::Both, &[]), Err(ResetError::NotSupported));
    let bytes = [0, 15, 0, 8, 0, 0, 0, 1];
    let info: &[u8] = b"behind";
    desk.inject(&[Chunk::ReConfig(ReConfig { bytes: &bytes }), Chunk::Heartbeat(Heartbeat { info })]);
    let last = desk.pair.sent.last().map(Sent::chunks);
    assert_eq!((desk.said(), last.as_deref()), (Vec::new(), Some("HEARTBEAT_ACK")));
}

// rfc6525#section-5.2.4
#[test]
fn a_reset_of_the_association_waits_for_our_data_and_moves_the_tsns_of_the_peer() {
    let mut desk = Desk::new(&allowing(AllowReset::All));
    desk.data(1, 1, 0, "a");
    desk.send(1, "x");
    desk.said();
    let request = desk.theirs.0;
    desk.ask(&[ReConfigParameter::AssociationReset { request }]);
    assert_eq!(desk.said(), ["InProgress 0"]);
    desk.send(1, "y");
    assert_eq!(desk.said(), [""; 0], "new data waits");
    desk.sack(1);
    // The answer precedes the data, so that the peer learns the new TSNs first.
    assert_eq!(desk.said(), ["Performed 0 2 0x80000001", "Performed 0 2 0x80000001", "data 2 1:0 y"]);
    desk.ask(&[ReConfigParameter::AssociationReset { request }]);
    assert_eq!(desk.said(), ["Performed 0 2 0x80000001"], "the same answer");
    desk.data(2, 2, 0, "old");
    desk.data(0x8000_0002, 1, 0, "b");
    desk.data(0x8000_0003, 2, 0, "c");
    assert_eq!(desk.told(), ["1:0 a", "both [] performed", "1:0 b", "2:0 c"]);
    desk.sack(2);
    desk.send(1, "z");
    assert_eq!(desk.said(), ["data 3 1:1 z"], "the peer has the answer");
}

// rfc6525#section-5.2.4
#[test]
fn a_reset_of_the_association_is_answered_after_the_sack_in_the_same_packet() {
    let mut desk = Desk::new(&allowing(AllowReset::All));
    desk.send(1, "x");
    desk.said();
    let mut list = ReConfigList::default();
    list.push(&ReConfigParameter::AssociationReset { request: desk.theirs.0 });
    let mut bytes = transport::PacketBuf::default();
    let header = CommonHeader { source_port: 5001, destination_port: 5002, verification_tag: desk.tag };
    let mut w = PacketWriter::new(&mut bytes, header, 1480);
    assert!(w.push(&ReConfig { bytes: list.as_bytes() }));
    assert!(w.sack(desk.ours, 1 << 20, 0, std::iter::empty(), &[]));
    w.finish(transport::Checksum::Computed);
    desk.pair.inject(Side::Server, Side::Client.address(1), Side::Server.address(1), &bytes);
    assert_eq!(desk.said(), ["Performed 0 2 0x80000000"]);
}

// rfc6525#section-5.1.4, rfc6525#section-5.2.7
#[test]
fn our_reset_of_the_association_continues_with_the_tsns_of_the_answer() {
    let mut desk = Desk::new(&allowing(AllowReset::None));
    desk.send(1, "a");
    desk.said();
    let (now, id) = (desk.pair.now, desk.id);
    assert_eq!(desk.pair.endpoint(Side::Server).reset_association(now, id), Ok(()));
    assert_eq!(desk.pair.endpoint(Side::Server).reset_association(now, id), Err(ResetError::InProgress));
    desk.send(1, "b");
    assert_eq!(desk.said(), [""; 0]);
    desk.sack(1);
    assert_eq!(desk.said(), ["all 0"]);
    desk.sack(77); // acknowledges TSNs after the reset, which the server does not know yet
    let next_tsns = Some((desk.theirs.add(9), desk.ours.add(0x9000_0000)));
    let result = ReConfigResult::Performed;
    desk.ask(&[ReConfigParameter::Response { response: desk.ours.0, result, next_tsns }]);
    assert_eq!(desk.said(), [format!("data {} 1:0 b", 0x9000_0001_u32 as i32)]);
    desk.sack(1); // was sent before the reset; the answer overtook it
    desk.data(10, 3, 0, "c");
    assert_eq!(desk.told(), ["both [] performed", "3:0 c"]);
    desk.sack(0x9000_0001);
    desk.send(1, "d");
    assert_eq!(desk.said(), [format!("data {} 1:1 d", 0x9000_0002_u32 as i32)]);
}

// rfc6525#section-5.1.4: usrsctp relates a later SACK to TSNs that it never sent, and aborts
#[test]
fn data_is_acknowledged_before_a_reset_of_the_association() {
    let mut desk = Desk::new(&allowing(AllowReset::None));
    let first = desk.pair.sent.len();
    desk.data(1, 1, 0, "a");
    desk.data(2, 1, 1, "b");
    let (now, id) = (desk.pair.now, desk.id);
    desk.pair.endpoint(Side::Server).reset_association(now, id).expect("begun");
    desk.pair.drain();
    let ours = desk.pair.sent[first..].iter().filter(|sent| sent.from == Side::Server);
    let chunks: Vec<_> = ours.map(|sent| sent.chunks()).collect();
    assert_eq!(chunks, ["SACK", "RE_CONFIG SACK"]);
}

// rfc6525#section-4.4: the answer to a reset of the association has both TSNs
#[test]
fn a_reset_of_the_association_without_tsns_breaks_the_protocol() {
    let mut desk = Desk::new(&allowing(AllowReset::None));
    let (now, id) = (desk.pair.now, desk.id);
    desk.pair.endpoint(Side::Server).reset_association(now, id).expect("begun");
    desk.pair.drain();
    desk.answer(0, ReConfigResult::Performed);
    assert_eq!(desk.told(), ["closed"]);
}

// rfc6525#section-5.2.5
#[test]
fn more_streams_than_there_can_be_are_denied() {
    let mut desk = Desk::new(&allowing(AllowReset::Add));
    let number = desk.theirs.0;
    for (n, streams) in [(0, 65_525), (1, 65_526), (2, 65_525), (3, 0), (4, 1)] {
        desk.ask(&[ReConfigParameter::AddOutgoing { request: number.wrapping_add(n), streams }]);
    }
    assert_eq!(desk.said(), ["Performed 0", "Denied 1", "Denied 2", "NothingToDo 3", "Denied 4"]);
    desk.data(1, 65_534, 0, "a");
    assert_eq!(desk.told(), ["added 0 65525 performed", "65534:0 a"]);
}

// rfc6525#section-5.2.6, rfc6525#section-5.1.5
#[test]
fn streams_that_the_peer_asks_us_to_add_can_be_used_once_it_agreed() {
    let mut desk = Desk::new(&allowing(AllowReset::Add));
    let request = desk.theirs.0;
    desk.ask(&[ReConfigParameter::AddIncoming { request, streams: 5 }]);
    assert_eq!(desk.said(), ["Performed 0", "add 0 5"]);
    let (now, id) = (desk.pair.now, desk.id);
    let message = Message { stream: StreamId(14), ..Message::new(Payload::Filler(1)) };
    let refused = desk.pair.endpoint(Side::Server).send(now, id, message);
    assert_eq!(refused, Err(SendError::NoSuchStream { stream: StreamId(14), streams: 10 }));
    desk.answer(0, ReConfigResult::Performed);
    desk.send(14, "a");
    assert_eq!(desk.said(), ["data 1 14:0 a"]);
    assert_eq!(desk.told(), ["added 5 0 performed"]);
}

// rfc9260#section-9.2: pending resets do not prevent a shutdown
#[test]
fn a_shutdown_ends_resets_that_wait_and_sends_what_they_held() {
    let mut desk = Desk::new(&allowing(AllowReset::None));
    desk.send(1, "a");
    desk.reset_own(ResetDirection::Outgoing, &[1]).expect("begun");
    desk.reset_own(ResetDirection::Incoming, &[2]).expect("begun");
    desk.send(1, "b");
    assert_eq!(desk.said(), ["data 1 1:0 a"]);
    desk.pair.shutdown(Side::Server);
    assert_eq!(desk.said(), ["data 2 1:1 b I"], "numbered as if there had been no reset");
    desk.sack(2);
    assert_eq!(desk.pair.state(Side::Server), Some(State::ShutdownSent));
    assert_eq!(desk.told(), ["out [1] given-up", "in [2] given-up"]);
    assert_eq!(desk.reset_own(ResetDirection::Outgoing, &[1]), Err(ResetError::Closed));
}

// rfc9260#section-9.2: data held back by an unanswered request is not lost
#[test]
fn a_shutdown_waits_for_the_answer_that_held_data_needs() {
    let mut desk = Desk::new(&allowing(AllowReset::None));
    desk.reset_own(ResetDirection::Outgoing, &[1]).expect("begun");
    desk.send(1, "a");
    assert_eq!(desk.said(), ["reset 0 answers -1 last 0 [1]"]);
    desk.pair.shutdown(Side::Server);
    assert_eq!(desk.pair.state(Side::Server), Some(State::ShutdownPending));
    desk.answer(0, ReConfigResult::Performed);
    assert_eq!(desk.said(), ["data 1 1:0 a I"]);
    desk.sack(1);
    assert_eq!(desk.pair.state(Side::Server), Some(State::ShutdownSent));
    assert_eq!(desk.told(), ["out [1] performed"]);
}

// rfc6525#section-6.3.2
#[test]
fn what_cannot_be_reset_is_refused_and_changes_nothing() {
    let mut desk = Desk::new(&allowing(AllowReset::None));
    let none = ResetError::NoSuchStream { stream: StreamId(10), streams: 10 };
    assert_eq!(desk.reset_own(ResetDirection::Both, &[3, 10]), Err(none));
    let (now, id) = (desk.pair.now, desk.id);
    let endpoint = desk.pair.endpoint(Side::Server);
    assert_eq!(endpoint.add_streams(now, id, 65_526, 0), Err(ResetError::TooManyStreams));
    let begun = Message { end_of_record: false, stream: StreamId(2), ..Message::new(Payload::Filler(1)) };
    endpoint.send(now, id, begun).expect("there is room");
    desk.pair.drain();
    desk.said();
    let stream = StreamId(2);
    assert_eq!(desk.reset_own(ResetDirection::Outgoing, &[]), Err(ResetError::UnfinishedMessage { stream }));
    assert_eq!(desk.said(), [""; 0]);
    desk.reset_own(ResetDirection::Outgoing, &[1]).expect("begun");
    assert_eq!(desk.reset_own(ResetDirection::Both, &[0, 1]), Err(ResetError::InProgress));
}

#[test]
fn a_malformed_request_is_ignored_and_the_chunks_behind_it_are_read() {
    let mut desk = Desk::new(&allowing(AllowReset::All));
    let malformed: [&[u8]; 5] =
        [&[], &[0, 13, 0, 4], &[0, 15, 0, 9, 0, 0, 0, 0, 0], &[0, 16, 0, 3], &[0, 13, 0, 200, 1]];
    for bytes in malformed {
        desk.inject(&[Chunk::ReConfig(ReConfig { bytes }), Chunk::Heartbeat(Heartbeat { info: b"x" })]);
        let last = desk.pair.sent.last().map(Sent::chunks);
        assert_eq!((desk.said(), last.as_deref()), (Vec::new(), Some("HEARTBEAT_ACK")), "{bytes:?}");
    }
}

// rfc6525#section-7: a peer that requests many resets
#[test]
fn resets_of_which_the_user_was_not_told_are_bounded() {
    let mut desk = Desk::new(&allowing(AllowReset::All));
    desk.data(1, 1, 0, "unread");
    for n in 0..100 {
        desk.reset(n, 1, &[1]);
    }
    let said = desk.said();
    assert_eq!(said.iter().filter(|text| text.starts_with("Performed")).count(), 32);
    assert_eq!(said.iter().filter(|text| text.starts_with("InProgress 32")).count(), 1);
    assert_eq!(desk.told().len(), 33);
    desk.reset(32, 1, &[1]);
    assert_eq!(desk.said(), ["Performed 32"], "once the user has read");
}

// rfc6525#section-5.1.1, rfc9260#section-5.2.4: action A
#[test]
fn after_a_restart_both_ends_count_requests_anew() {
    let config = allowing(AllowReset::Streams);
    let mut pair = Pair::new(1, &config);
    let (_, server) = pair.establish();
    let now = pair.now;
    for _ in 0..3 {
        pair.endpoint(Side::Server).reset_streams(now, server, ResetDirection::Outgoing, &[]).expect("begun");
        pair.drain();
        pair.run_for(Span::from_secs(1));
    }
    pair.replace(
        Side::Client,
        EndpointConfig { seed: Seed::for_simulation(99), ..endpoint_config(Side::Client, 1, &config) },
    );
    let client = pair.connect(Side::Client, 1);
    pair.run_for(Span::from_secs(1));
    for (side, id) in [(Side::Client, client), (Side::Server, server)] {
        pair.events(side);
        let now = pair.now;
        pair.endpoint(side).reset_streams(now, id, ResetDirection::Both, &[StreamId(1)]).expect("begun");
        pair.drain();
        pair.run_for(Span::from_secs(3));
        let performed =
            |event: &Event| matches!(event, Event::StreamsReset { result: ResetResult::Performed, .. });
        assert_eq!(pair.events(side).iter().filter(|event| performed(event)).count(), 2, "{side:?}");
    }
}

// rfc6525#section-5.2.4: late packets with TSNs from before the reset do not count as new
#[test]
fn after_a_reset_of_the_association_old_packets_change_nothing() {
    let config = allowing(AllowReset::All);
    let mut pair = Pair::new(1, &config);
    let (client, server) = pair.establish();
    let late = Rc::new(Cell::new(false));
    let seen = late.clone();
    pair.on_wire(move |_| if seen.get() { Fate::Arrives } else { Fate::Twice(Span::from_millis(400)) });
    for (side, id) in [(Side::Client, client), (Side::Server, server)] {
        for _ in 0..20 {
            let now = pair.now;
            pair.endpoint(side).send(now, id, Message::new(Payload::Filler(100))).expect("there is room");
        }
        pair.drain();
    }
    let now = pair.now;
    pair.endpoint(Side::Client).reset_association(now, client).expect("begun");
    pair.drain();
    pair.run_for(Span::from_millis(300));
    late.set(true);
    let now = pair.now;
    pair.endpoint(Side::Client).send(now, client, Message::new(Payload::Filler(7))).expect("there is room");
    pair.endpoint(Side::Server).send(now, server, Message::new(Payload::Filler(8))).expect("there is room");
    pair.run_for(Span::from_secs(5));
    for (side, last) in [(Side::Client, 8), (Side::Server, 7)] {
        let mut read = pair.read_all(side);
        read.extend(pair.read_all(side));
        assert_eq!(read.len(), 21, "{side:?}");
        assert_eq!(read.last().map(|m| (m.ssn, m.payload.len())), Some((Ssn(0), last)));
        assert_eq!(pair.state(side), Some(State::Established));
    }
    let stats = pair.endpoint(Side::Client).paths(client).expect("it stands").next().expect("a path").stats;
    assert_eq!((stats.fast_retransmissions, stats.timer_retransmissions), (0, 0), "data goes on");
}

// rfc6525#section-5.2.4: the SHUTDOWN arrives before the answer to the reset of the association
#[test]
fn a_shutdown_of_a_peer_that_has_reset_its_tsns_breaks_nothing() {
    let mut desk = Desk::new(&allowing(AllowReset::None));
    let (now, id) = (desk.pair.now, desk.id);
    desk.pair.endpoint(Side::Server).reset_association(now, id).expect("begun");
    desk.send(1, "a");
    assert_eq!(desk.said(), ["all 0"]);
    let cumulative_tsn_ack = desk.ours.add(0x7fff_ffff);
    desk.inject(&[Chunk::Shutdown(Shutdown { cumulative_tsn_ack })]);
    assert_eq!(desk.pair.state(Side::Server), Some(State::ShutdownReceived));
    let next_tsns = Some((desk.theirs, desk.ours.add(0x8000_0000)));
    let result = ReConfigResult::Performed;
    desk.ask(&[ReConfigParameter::Response { response: desk.ours.0, result, next_tsns }]);
    assert_eq!(desk.said(), [format!("data {} 1:0 a I", 0x8000_0001_u32 as i32)]);
    desk.sack(0x8000_0001);
    assert_eq!(desk.pair.state(Side::Server), Some(State::ShutdownAckSent));
}
