//! PR-SCTP (RFC 3758): messages that may be abandoned, and reliable messages.

use super::meeting::{Meeting, Opener};
use crate::peers::{Extended, Unreliable};
use anabranch_testkit::{Ours, Speaker};
use sctp::{Message, Payload, Reliability, SendError};
use std::collections::BTreeMap;
use std::time::Duration;
use units::Span;
use wire::StreamId;

const LENGTH: usize = 1000;
/// Number of messages on each stream.
const MESSAGES: u32 = 300;
/// The streams: 1 and 2 without retransmission (ordered, unordered), 3 with a lifetime, 4 reliable.
const STREAMS: [u16; 4] = [1, 2, 3, 4];
const LIFETIME: u64 = 5;

fn message(number: u32) -> Vec<u8> {
    let mut bytes = vec![0; LENGTH];
    bytes[..4].copy_from_slice(&number.to_be_bytes());
    bytes
}

fn hear(speaker: &mut dyn Speaker, now: units::Instant, heard: &mut BTreeMap<u16, Vec<u32>>) {
    while let Some((stream, bytes)) = speaker.receive(now) {
        assert_eq!(bytes.len(), LENGTH, "whole messages");
        let number = u32::from_be_bytes(*bytes.first_chunk().expect("four bytes"));
        heard.entry(stream).or_default().push(number);
    }
}

/// Asserts that only sent messages arrived, ordered ones in order, and that all reliable messages arrived.
fn check(heard: &BTreeMap<u16, Vec<u32>>) {
    let of = |stream: u16| heard.get(&stream).map_or(&[][..], Vec::as_slice);
    for stream in [1, 3, 4] {
        assert!(of(stream).is_sorted_by(|a, b| a < b), "order and no duplicates on stream {stream}");
    }
    let mut unordered = of(2).to_vec();
    unordered.sort_unstable();
    assert!(unordered.is_sorted_by(|a, b| a < b), "no duplicates on stream 2");
    assert_eq!(of(4).len(), MESSAGES as usize, "all reliable messages arrive");
    let arrived: usize = [1, 2, 3].iter().map(|&stream| of(stream).len()).sum();
    assert!(arrived < 3 * MESSAGES as usize, "some messages are given up");
}

pub fn we_send<P: Extended>(mut meeting: Meeting<P>, chunks: &[u8]) {
    let (mut given, mut heard) = ([0; 4], BTreeMap::new());
    meeting.until("all is given, and the reliable messages arrive", |meeting| {
        let (now, id) = (meeting.now(), meeting.id());
        for (stream, given) in STREAMS.into_iter().zip(&mut given) {
            while *given < MESSAGES {
                let message = Message {
                    stream: StreamId(stream),
                    ppid: Ours::PPID,
                    unordered: stream == 2,
                    reliability: match stream {
                        1 | 2 => Reliability::Retransmissions(0),
                        3 => Reliability::Until(Span::from_millis(LIFETIME)),
                        _ => Reliability::Reliable,
                    },
                    ..Message::new(Payload::Bytes(message(*given).into()))
                };
                match meeting.ours.endpoint().send(now, id, message) {
                    Ok(_) => *given += 1,
                    Err(SendError::WouldBlock) => break,
                    Err(error) => panic!("{error}"),
                }
            }
        }
        hear(&mut meeting.theirs, now, &mut heard);
        given == [MESSAGES; 4] && heard.get(&4).is_some_and(|heard| heard.len() == MESSAGES as usize)
    });
    finish(meeting, Opener::Ours, heard, chunks);
}

/// Messages from the peer. If `lifetimes` is set, the peer also sends messages with a lifetime.
pub fn peer_sends<P: Extended>(mut meeting: Meeting<P>, lifetimes: bool, chunks: &[u8]) {
    let (mut given, mut heard) = ([0; 4], BTreeMap::new());
    meeting.until("all is given, and the reliable messages arrive", |meeting| {
        let now = meeting.now();
        for (stream, given) in STREAMS.into_iter().zip(&mut given) {
            let lifetime = (lifetimes && stream == 3).then_some(Duration::from_millis(LIFETIME));
            let unreliable = Unreliable { stream, unordered: stream == 2, lifetime };
            // A few messages at a time: some stacks do not limit their send buffer.
            for _ in 0..10.min(MESSAGES - *given) {
                let bytes = message(*given);
                let taken = match stream {
                    4 => meeting.theirs.send(now, stream, false, &bytes),
                    _ => meeting.theirs.send_unreliably(now, unreliable, &bytes),
                };
                *given += u32::from(taken);
            }
        }
        hear(&mut meeting.ours, now, &mut heard);
        given == [MESSAGES; 4] && heard.get(&4).is_some_and(|heard| heard.len() == MESSAGES as usize)
    });
    finish(meeting, Opener::Theirs, heard, chunks);
}

/// The sender ends the association. The receiver reads the remaining messages.
fn finish<P: Extended>(
    mut meeting: Meeting<P>,
    sender: Opener,
    mut heard: BTreeMap<u16, Vec<u32>>,
    chunks: &[u8],
) {
    let end = meeting.now() + Span::from_millis(300);
    meeting.until("the rest arrives", |meeting| {
        let now = meeting.now();
        let reader: &mut dyn Speaker =
            if sender == Opener::Ours { &mut meeting.theirs } else { &mut meeting.ours };
        hear(reader, now, &mut heard);
        now > end
    });
    check(&heard);
    meeting.finish(sender, "unreliable", chunks);
}
