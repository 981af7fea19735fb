//! RE-CONFIG (RFC 6525): either side resets streams, adds streams and resets the association, between messages.

use super::Row;
use super::endpoint::Ours;
use super::meeting::{Meeting, Opener, Setting};
use super::scripted::Scripted;
use sctp::{AllowReset, Config, Event, ResetDirection, ResetResult};
use std::path::Path;
use wire::StreamId;

const LENGTH: usize = 2000;
/// Messages of each side between two changes, on this stream.
const MESSAGES: usize = 40;
const STREAM: u16 = 1;
/// usrsctp's `SCTP_STREAM_RESET_INCOMING_SSN` and `SCTP_STREAM_RESET_OUTGOING_SSN`.
const INCOMING: u64 = 1;
const OUTGOING: u64 = 2;

/// Both sides and the messages they have exchanged so far.
struct Talk {
    meeting: Meeting,
    messages: usize,
}

impl Talk {
    fn new(program: &Path, opener: Opener) -> Talk {
        let config = Config { stream_reset: true, allow_reset: AllowReset::All, ..Config::default() };
        let (options, commands) = (&[("reconfig", 1)], &["allow-reset"]);
        let setting = Setting { config, options, commands, ..Setting::default() };
        let mut talk = Talk { meeting: Meeting::new(program, opener, &setting), messages: 0 };
        talk.exchange([0, 0]);
        talk
    }

    /// Messages pass both ways. The first ones have these stream sequence numbers: ours, and usrsctp's.
    fn exchange(&mut self, ssns: [usize; 2]) {
        let (first, all) = (self.messages, self.messages + MESSAGES);
        self.meeting.theirs.tell(&format!("send {MESSAGES} {LENGTH} {STREAM} 0 none 0"));
        let mut sent = 0;
        self.meeting.until("all messages arrive", |ours, theirs| {
            sent += ours.send(MESSAGES - sent, LENGTH, |message| message, STREAM);
            ours.received.len() == all && theirs.heard.len() == all
        });
        let heard = self.meeting.theirs.heard[first..].iter().map(|heard| (heard.number, heard.ssn));
        let received = self.meeting.ours.received[first..].iter().map(|received| {
            let bytes = received.payload.to_bytes();
            (u32::from_be_bytes(*bytes.first_chunk().expect("four bytes")), received.ssn.0)
        });
        let expected = |ssn: usize| (0..MESSAGES).map(move |n| ((first + n) as u32, (ssn + n) as u16));
        assert!(heard.eq(expected(ssns[0])), "in order, with the right stream sequence numbers");
        assert!(received.eq(expected(ssns[1])), "in order, with the right stream sequence numbers");
        self.messages = all;
    }

    /// Each side resets its own stream and asks the other one to reset its stream.
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
            self.exchange(ssns);
        }
        let theirs = [("out", OUTGOING, [2 * MESSAGES, 0]), ("in", INCOMING, [0, MESSAGES])];
        for (direction, flag, ssns) in theirs {
            self.meeting.theirs.tell(&format!("reset {direction} {STREAM}"));
            self.meeting.until("usrsctp asks for a reset", |ours, theirs| {
                was_reset(ours, flag == OUTGOING, flag == INCOMING) && usrsctp_resets(theirs, flag)
            });
            self.meeting.ours.events.clear();
            self.exchange(ssns);
        }
        self.meeting.finish();
    }

    /// Each side adds streams of its own and asks the other one to do so.
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
        self.exchange([MESSAGES, MESSAGES]);
        self.meeting.finish();
    }

    fn reset_association(mut self, ask: impl Fn(&mut Meeting)) {
        ask(&mut self.meeting);
        self.meeting.until("the association is reset", |ours, theirs| {
            was_reset(ours, true, true) && theirs.event("reset-association", |e| e["flags"] == 0).is_some()
        });
        self.exchange([0, 0]);
        self.meeting.finish();
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

pub fn run(program: &Path) -> Vec<Row> {
    let mut rows = Vec::new();
    for opener in Opener::BOTH {
        let role = opener.name();
        let mut row = |what: &'static str| rows.push(Row { extension: what, role, shown: String::new() });
        Talk::new(program, opener).reset_streams();
        row("reset streams");
        Talk::new(program, opener).add_streams();
        row("add streams");
        Talk::new(program, opener).reset_association(we_ask);
        row("we reset association");
        Talk::new(program, opener).reset_association(usrsctp_asks);
        row("usrsctp resets association");
    }
    rows
}
