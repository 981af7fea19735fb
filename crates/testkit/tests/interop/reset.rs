//! RE-CONFIG (RFC 6525): streams are reset and used again, as with data channels.

use super::meeting::{Meeting, Opener};
use crate::peers::Extended;
use anabranch_testkit::Speaker;
use sctp::{Event, ResetDirection, ResetResult};
use wire::StreamId;

const STREAM: u16 = 1;
const LENGTH: usize = 3000;
/// Number of messages of each side between two resets.
const MESSAGES: u8 = 20;

/// Sends messages in both directions, and asserts that they arrive in order.
fn exchange<P: Extended>(meeting: &mut Meeting<P>) {
    let (mut given, mut heard) = ([0; 2], [0; 2]);
    meeting.until("all messages arrive", |meeting| {
        let now = meeting.now();
        let speakers: [&mut dyn Speaker; 2] = [&mut meeting.ours, &mut meeting.theirs];
        for (side, speaker) in speakers.into_iter().enumerate() {
            while given[side] < MESSAGES && speaker.send(now, STREAM, false, &[given[side]; LENGTH]) {
                given[side] += 1;
            }
            while let Some((stream, bytes)) = speaker.receive(now) {
                assert_eq!((stream, bytes), (STREAM, vec![heard[side]; LENGTH]), "in order");
                heard[side] += 1;
            }
        }
        heard == [MESSAGES; 2]
    });
}

/// Number of events about a performed reset: of the peer's stream if `of_peer` is true, otherwise of ours.
fn resets<P: Extended>(meeting: &Meeting<P>, of_peer: bool) -> usize {
    let is_reset = |event: &&Event| {
        let done = ResetResult::Performed;
        matches!(event, Event::StreamsReset { incoming, outgoing, streams, result }
            if *result == done && (*incoming, *outgoing) == (of_peer, !of_peer) && streams[..] == [StreamId(STREAM)])
    };
    meeting.events.iter().filter(is_reset).count()
}

/// One side resets its stream, then the other side resets its own, as with data channels. Then both use their
/// streams again.
pub fn run<P: Extended>(mut meeting: Meeting<P>, chunks: &[u8]) {
    exchange(&mut meeting);
    for we_begin in [true, false, true] {
        let counts = |meeting: &Meeting<P>| {
            let told = meeting.theirs.resets().each_ref().map(Vec::len);
            [resets(meeting, true), resets(meeting, false), told[0], told[1]]
        };
        let before = counts(&meeting);
        reset(&mut meeting, we_begin);
        let mut answered = false;
        meeting.until("both streams are reset", |meeting| {
            let now = counts(meeting);
            let [peers, ours, seen, its_own] = [0, 1, 2, 3].map(|n| now[n] > before[n]);
            if !answered && if we_begin { seen } else { peers } {
                reset(meeting, !we_begin);
                answered = true;
            }
            peers && ours && seen && its_own
        });
        exchange(&mut meeting);
    }
    meeting.finish(Opener::Ours, "reset", chunks);
}

/// Asks a peer to reset its stream, and asserts that the peer does nothing.
pub fn peer_does_nothing<P: Extended>(mut meeting: Meeting<P>, chunks: &[u8]) {
    exchange(&mut meeting);
    let (now, id) = (meeting.now(), meeting.id());
    let asked = meeting.ours.endpoint().reset_streams(now, id, ResetDirection::Incoming, &[StreamId(STREAM)]);
    asked.expect("it can be asked for");
    meeting.until("it answers", |meeting| resets(meeting, true) > 0);
    assert_eq!(meeting.theirs.resets(), &[Vec::new(), Vec::new()], "nothing was reset");
    exchange(&mut meeting);
    meeting.finish(Opener::Ours, "reset", chunks);
}

fn reset<P: Extended>(meeting: &mut Meeting<P>, ours: bool) {
    let now = meeting.now();
    if ours {
        let (id, stream) = (meeting.id(), [StreamId(STREAM)]);
        let asked = meeting.ours.endpoint().reset_streams(now, id, ResetDirection::Outgoing, &stream);
        asked.expect("it can be asked for");
    } else {
        meeting.theirs.reset(now, STREAM);
    }
}
