//! RE-CONFIG (RFC 6525): either side resets streams, asks the other one to, and adds streams, between messages.

use super::Row;
use super::endpoint::Ours;
use super::meeting::{Meeting, Opener, Setting};
use sctp::{AllowReset, Config, Event, ResetDirection, ResetResult};
use std::path::Path;
use wire::StreamId;

const LENGTH: usize = 2000;
const MESSAGES: usize = 40;

fn was_reset(ours: &Ours, in_: bool, out: bool) -> bool {
    ours.saw(|event| {
        matches!(event, Event::StreamsReset { incoming, outgoing, result: ResetResult::Performed, .. }
            if (*incoming, *outgoing) == (in_, out))
    })
}

/// Sends so many messages both ways on stream 1 and waits for them.
fn talk(meeting: &mut Meeting, rounds: &mut usize) {
    *rounds += 1;
    let (mut sent, all) = (0, *rounds * MESSAGES);
    meeting.theirs.tell(&format!("send {MESSAGES} {LENGTH} 1 0 none 0"));
    meeting.until("all messages arrive", |ours, theirs| {
        sent += ours.send(MESSAGES - sent, LENGTH, |message| message, 1);
        ours.received.len() == all && theirs.heard.len() == all
    });
}

fn resets(program: &Path, opener: Opener) -> String {
    let config = Config { stream_reset: true, allow_reset: AllowReset::All, ..Config::default() };
    let (options, commands) = (&[("reconfig", 1)], &["allow-reset"]);
    let setting = Setting { config, options, commands, ..Setting::default() };
    let mut meeting = Meeting::new(program, opener, &setting);
    let mut rounds = 0;
    talk(&mut meeting, &mut rounds);
    let (now, id) = (meeting.ours.now(), meeting.ours.id());
    let endpoint = &mut meeting.ours.endpoint;
    endpoint.reset_streams(now, id, ResetDirection::Outgoing, &[StreamId(1)]).expect("it can be asked for");
    meeting.until("our stream is reset", |ours, theirs| {
        was_reset(ours, false, true) && theirs.event("reset", |e| e["streams"][0] == 1).is_some()
    });
    talk(&mut meeting, &mut rounds);
    let again = meeting.ours.received.len();
    meeting.theirs.tell("reset out 1");
    meeting.until("usrsctp's stream is reset", |ours, _| was_reset(ours, true, false));
    talk(&mut meeting, &mut rounds);
    assert_eq!(meeting.ours.received[again].ssn.0, 0, "usrsctp counts from 0 again");
    meeting.theirs.tell("add-streams 0 3");
    meeting.until("usrsctp adds streams", |ours, _| {
        ours.saw(|event| {
            matches!(event, Event::StreamsAdded { incoming: 3, result: ResetResult::Performed, .. })
        })
    });
    let now = meeting.ours.now();
    meeting.ours.endpoint.add_streams(now, id, 2, 0).expect("it can be asked for");
    meeting.until("we add streams", |ours, _| {
        ours.saw(|event| {
            matches!(event, Event::StreamsAdded { outgoing: 2, result: ResetResult::Performed, .. })
        })
    });
    talk(&mut meeting, &mut rounds);
    let numbers: Vec<u32> = meeting.theirs.heard.iter().map(|heard| heard.number).collect();
    assert_eq!(numbers, (0..(rounds * MESSAGES) as u32).collect::<Vec<_>>(), "in order, none lost");
    let packets = meeting.finish();
    format!("streams reset and added by both sides, {packets} packets")
}

pub fn run(program: &Path) -> Vec<Row> {
    let row = |opener: Opener| Row {
        extension: "RE-CONFIG: outgoing reset, adding streams",
        role: opener.name(),
        shown: resets(program, opener),
    };
    Opener::BOTH.into_iter().map(row).collect()
}
