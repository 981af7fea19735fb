//! RE-CONFIG (RFC 6525): each side resets streams, adds streams and resets the association, between
//! messages.

use super::BOTH;
use super::endpoint::Ours;
use super::meeting::{Meeting, Opener, Setting};
use super::scripted::Scripted;
use sctp::{AllowReset, Config, Event, ResetDirection, ResetResult};
use std::path::Path;
use testkit::Interop;
use wire::{Data, ReConfig, StreamId};

const LENGTH: usize = 2000;
/// Number of messages that each side sends between two changes, and their stream.
const MESSAGES: usize = 40;
const STREAM: u16 = 1;
/// The values of usrsctp's `SCTP_STREAM_RESET_INCOMING_SSN` and `SCTP_STREAM_RESET_OUTGOING_SSN`.
const INCOMING: u64 = 1;
const OUTGOING: u64 = 2;

/// The association, and the numbers of messages that we and usrsctp have sent so far.
struct Talk {
    meeting: Meeting,
    messages: [usize; 2],
}

impl Talk {
    fn new(program: &Path, opener: Opener) -> Talk {
        let config = Config { stream_reset: true, allow_reset: AllowReset::All, ..Config::default() };
        let (options, commands) = (&[("reconfig", 1)], &["allow-reset"]);
        let setting = Setting { config, options, commands, ..Setting::default() };
        let mut talk = Talk { meeting: Meeting::new(program, opener, &setting), messages: [0; 2] };
        talk.exchange([Some(0), Some(0)]);
        talk
    }

    /// Sends messages in both directions. `ssns` are the expected stream sequence numbers of the first
    /// message of ours and of usrsctp; `None` if that side sends no messages.
    fn exchange(&mut self, ssns: [Option<usize>; 2]) {
        let first = self.messages;
        let all = [0, 1].map(|side| first[side] + if ssns[side].is_some() { MESSAGES } else { 0 });
        if ssns[1].is_some() {
            self.meeting.theirs.tell(&format!("send {MESSAGES} {LENGTH} {STREAM} 0 none 0"));
        }
        let mut given = first[0];
        self.meeting.until("all messages arrive", |ours, theirs| {
            given += ours.send(all[0] - given, LENGTH, |message| message, STREAM);
            [theirs.heard.len(), ours.received.len()] == all
        });
        let heard = self.meeting.theirs.heard[first[0]..].iter().map(|heard| (heard.number, heard.ssn));
        let received = self.meeting.ours.received[first[1]..].iter().map(|received| {
            let bytes = received.payload.to_bytes();
            (u32::from_be_bytes(*bytes.first_chunk().expect("four bytes")), received.ssn.0)
        });
        let expected = |side: usize| {
            let numbers = ssns[side]
                .map(|ssn| (0..MESSAGES).map(move |n| ((first[side] + n) as u32, (ssn + n) as u16)));
            numbers.into_iter().flatten()
        };
        assert!(heard.eq(expected(0)), "in order, with the right stream sequence numbers");
        assert!(received.eq(expected(1)), "in order, with the right stream sequence numbers");
        self.messages = all;
    }

    /// Each side resets its own stream, and requests that the other side reset its stream.
    fn reset_streams(mut self) {
        use ResetDirection::{Incoming, Outgoing};
        let ours = [
            ("we reset our stream", Outgoing, [0, MESSAGES]),
            ("we ask for a reset", Incoming, [MESSAGES, 0]),
        ];
        for (what, direction, ssns) in ours {
            let (now, id) = (self.meeting.ours.now(), self.meeting.ours.id());
            let asked = self.meeting.ours.endpoint.reset_streams(now, id, direction, &[StreamId(STREAM)]);
            asked.expect("it can be asked for");
            let (flag, incoming) = if direction == Outgoing { (INCOMING, false) } else { (OUTGOING, true) };
            self.meeting.until(what, |ours, theirs| {
                was_reset(ours, incoming, !incoming) && usrsctp_resets(theirs, flag)
            });
            self.meeting.ours.events.clear();
            self.exchange(ssns.map(Some));
        }
        let theirs = [("out", OUTGOING, [2 * MESSAGES, 0]), ("in", INCOMING, [0, MESSAGES])];
        for (direction, flag, ssns) in theirs {
            self.meeting.theirs.tell(&format!("reset {direction} {STREAM}"));
            self.meeting.until("usrsctp asks for a reset", |ours, theirs| {
                was_reset(ours, flag == OUTGOING, flag == INCOMING) && usrsctp_resets(theirs, flag)
            });
            self.meeting.ours.events.clear();
            self.exchange(ssns.map(Some));
        }
        self.meeting.finish(&[Data::TYPE, ReConfig::TYPE]);
    }

    /// Each side adds streams of its own, and requests that the other side add streams.
    fn add_streams(mut self) {
        for (out, in_) in [(2, 0), (0, 3)] {
            let (now, id) = (self.meeting.ours.now(), self.meeting.ours.id());
            self.meeting.ours.endpoint.add_streams(now, id, out, in_).expect("it can be asked for");
            self.meeting.until("we ask for streams", |ours, theirs| {
                were_added(ours, in_, out) && theirs.event("streams", |e| e["flags"] == 0).is_some()
            });
        }
        self.meeting.ours.events.clear();
        for (in_, out) in [(0, 3), (2, 0)] {
            self.meeting.theirs.tell(&format!("add-streams {in_} {out}"));
            self.meeting.until("usrsctp asks for streams", |ours, theirs| {
                were_added(ours, out, in_) && theirs.event("streams", |e| e["flags"] == 0).is_some()
            });
        }
        self.exchange([Some(MESSAGES), Some(MESSAGES)]);
        self.meeting.finish(&[Data::TYPE, ReConfig::TYPE]);
    }

    fn reset_association(mut self, ask: impl Fn(&mut Meeting), usrsctp_can_send: bool) {
        ask(&mut self.meeting);
        self.meeting.until("the association is reset", |ours, theirs| {
            was_reset(ours, true, true) && theirs.event("reset-association", |e| e["flags"] == 0).is_some()
        });
        self.exchange([Some(0), usrsctp_can_send.then_some(0)]);
        self.meeting.finish(&[Data::TYPE, ReConfig::TYPE]);
    }
}

fn was_reset(ours: &Ours, in_: bool, out: bool) -> bool {
    ours.saw(|event| {
        matches!(event, Event::StreamsReset { incoming, outgoing, result: ResetResult::Performed, .. }
            if (*incoming, *outgoing) == (in_, out))
    })
}

fn usrsctp_resets(theirs: &mut Scripted, flag: u64) -> bool {
    theirs.event("reset", |e| e["flags"] == flag && e["streams"][0] == STREAM).is_some()
}

fn were_added(ours: &Ours, in_: u16, out: u16) -> bool {
    ours.saw(|event| {
        *event == Event::StreamsAdded { incoming: in_, outgoing: out, result: ResetResult::Performed }
    })
}

fn we_ask(meeting: &mut Meeting) {
    let (now, id) = (meeting.ours.now(), meeting.ours.id());
    meeting.ours.endpoint.reset_association(now, id).expect("it can be asked for");
}

fn usrsctp_asks(meeting: &mut Meeting) {
    meeting.theirs.tell("reset-association");
}

pub fn run(program: &Path, table: &mut Interop) {
    for opener in Opener::BOTH {
        Talk::new(program, opener).reset_streams();
        Talk::new(program, opener).add_streams();
        Talk::new(program, opener).reset_association(we_ask, true);
        // After its own reset, usrsctp compares our SACKs with our TSNs instead of its own, and may discard
        // them as old.
        Talk::new(program, opener).reset_association(usrsctp_asks, false);
    }
    for what in [
        "we reset a stream of ours",
        "we ask usrsctp to reset a stream",
        "usrsctp resets a stream of its own",
        "usrsctp asks us to reset a stream",
        "each side adds streams",
        "each side asks the other one to add streams",
        "we reset the association",
        "usrsctp resets the association, and we send",
    ] {
        table.works("RE-CONFIG", what, BOTH);
    }
    let why = "it compares our SACKs with our TSNs (`sctp_handle_stream_reset_response` sets `last_acked_seq` to the cumulative TSN)";
    table.hole("RE-CONFIG", "usrsctp resets the association, and usrsctp sends", why);
}
