//! PR-SCTP (RFC 3758, 7496): messages that may be abandoned, on a link whose queue is too short for the
//! sender.

use super::BOTH;
use super::meeting::{Meeting, Opener, Setting};
use sctp::{Config, Event, Message, Reliability};
use std::collections::BTreeMap;
use std::path::Path;
use testkit::Interop;
use units::Span;
use wire::{Data, ForwardTsn, IData, IForwardTsn};

const LENGTH: usize = 1400;
/// Number of messages on each stream whose messages may be abandoned, and on the reliable stream.
const UNRELIABLE: usize = 1500;
const RELIABLE: usize = 300;
/// The streams: no retransmissions and ordered; no retransmissions and unordered; a lifetime; reliable.
const STREAMS: [u16; 4] = [1, 2, 3, 4];

fn setting(interleaving: bool) -> Setting<'static> {
    let config = Config { pr_sctp: true, interleaving, ..Config::default() };
    let commands: &[&str] = if interleaving { &["interleave"] } else { &[] };
    let options = &[("pr", 1)];
    Setting { rates: [10, 10], queue: 2, paths: 1, config, options, commands }
}

/// The types of chunks that the capture must contain.
fn chunks(interleaving: bool) -> &'static [u8] {
    if interleaving { &[IData::TYPE, IForwardTsn::TYPE] } else { &[Data::TYPE, ForwardTsn::TYPE] }
}

/// Checks that no message arrived twice, that messages are in order except on the unordered stream, and that
/// all reliable messages arrived. Returns how many messages did not arrive.
fn check(numbers: &BTreeMap<u16, Vec<u32>>) -> usize {
    let of = |stream: u16| numbers.get(&stream).map_or(&[][..], Vec::as_slice);
    for stream in [1, 3, 4] {
        assert!(of(stream).is_sorted_by(|a, b| a < b), "order and no duplicates on stream {stream}");
    }
    let mut unordered = of(2).to_vec();
    unordered.sort_unstable();
    assert!(unordered.is_sorted_by(|a, b| a < b), "no duplicates on stream 2");
    assert_eq!(of(4).len(), RELIABLE, "all reliable messages arrive");
    3 * UNRELIABLE - [1, 2, 3].map(|stream| of(stream).len()).iter().sum::<usize>()
}

fn we_send(program: &Path, opener: Opener, interleaving: bool) {
    let mut meeting = Meeting::new(program, opener, &setting(interleaving));
    let mut sent = [0; 4];
    meeting.until("all is given", |ours, _| {
        for (stream, sent) in STREAMS.into_iter().zip(&mut sent) {
            let most = if stream == 4 { RELIABLE } else { UNRELIABLE };
            let make = |message: Message| Message {
                unordered: stream == 2,
                reliability: match stream {
                    1 | 2 => Reliability::Retransmissions(0),
                    3 => Reliability::Until(Span::from_millis(60)),
                    _ => Reliability::Reliable,
                },
                ..message
            };
            *sent += ours.send((most - *sent).min(10), LENGTH, make, stream);
        }
        sent == [UNRELIABLE, UNRELIABLE, UNRELIABLE, RELIABLE]
    });
    let now = meeting.ours.now();
    meeting.ours.endpoint.shutdown(now, meeting.ours.id());
    meeting.until("it ends", |ours, _| ours.saw(|event| matches!(event, Event::Closed { .. })));
    meeting.until("usrsctp notices", |_, theirs| theirs.event("end", |_| true).is_some());
    let mut numbers = BTreeMap::<u16, Vec<u32>>::new();
    for heard in &meeting.theirs.heard {
        assert_eq!(heard.length, LENGTH, "whole messages");
        numbers.entry(heard.stream).or_default().push(heard.number);
    }
    let given_up = check(&numbers);
    let told = meeting.ours.events.iter().filter(|event| matches!(event, Event::SendFailed { .. })).count();
    assert!(given_up > 0, "something is lost on this link");
    assert!(told >= given_up, "{told} messages failed, {given_up} did not arrive");
    meeting.await_end(chunks(interleaving));
}

fn usrsctp_sends(program: &Path, opener: Opener, interleaving: bool) {
    let mut meeting = Meeting::new(program, opener, &setting(interleaving));
    let thirds = UNRELIABLE / 3;
    for _ in 0..3 {
        for line in [
            format!("send {thirds} {LENGTH} 1 0 rtx 0"),
            format!("send {thirds} {LENGTH} 2 1 rtx 0"),
            format!("send {thirds} {LENGTH} 3 0 ttl 60"),
            format!("send {} {LENGTH} 4 0 none 0", RELIABLE / 3),
        ] {
            meeting.theirs.tell(&line);
        }
    }
    meeting.theirs.tell("shutdown");
    meeting.until("it ends", |ours, _| ours.saw(|event| matches!(event, Event::Closed { .. })));
    let mut numbers = BTreeMap::<u16, Vec<u32>>::new();
    for received in &meeting.ours.received {
        let bytes = received.payload.to_bytes();
        assert_eq!((bytes.len(), received.aborted), (LENGTH, false), "whole messages");
        let number = u32::from_be_bytes(*bytes.first_chunk().expect("four bytes"));
        numbers.entry(received.stream.0).or_default().push(number);
    }
    let given_up = check(&numbers);
    assert!(given_up > 0, "something is lost on this link");
    meeting.await_end(chunks(interleaving));
}

pub fn run(program: &Path, table: &mut Interop) {
    for (interleaving, extension) in [(false, "PR-SCTP"), (true, "PR-SCTP with I-DATA")] {
        for opener in Opener::BOTH {
            we_send(program, opener, interleaving);
            usrsctp_sends(program, opener, interleaving);
        }
        table.works(extension, "we give up messages after a lifetime or their first loss", BOTH);
        table.works(extension, "usrsctp gives up messages after a lifetime or their first loss", BOTH);
    }
}
