//! Messages both ways, without an extension and with those that change how they travel: NR-SACK, AUTH for all data.

use super::Row;
use super::meeting::{Meeting, Opener, Setting};
use sctp::Config;
use std::path::Path;

const MESSAGES: usize = 300;
const LENGTH: usize = 3000;

/// All messages of both sides arrive, in order on their streams.
fn exchange(program: &Path, opener: Opener, setting: &Setting<'_>) -> String {
    let mut meeting = Meeting::new(program, opener, setting);
    meeting.theirs.tell(&format!("send {MESSAGES} {LENGTH} 1 0 none 0"));
    let mut sent = 0;
    meeting.until("all messages arrive", |ours, theirs| {
        sent += ours.send(MESSAGES - sent, LENGTH, |message| message, 2);
        ours.received.len() == MESSAGES && theirs.heard.len() == MESSAGES
    });
    let numbers: Vec<u32> = meeting.theirs.heard.iter().map(|heard| heard.number).collect();
    assert_eq!(numbers, (0..MESSAGES as u32).collect::<Vec<_>>(), "in the order of their stream");
    let status = meeting.status();
    assert_eq!((&status["auth_missing"], &status["auth_wrong"]), (&0.into(), &0.into()), "{status}");
    let packets = meeting.finish();
    format!("{MESSAGES} messages each way, {packets} packets")
}

pub fn run(program: &Path) -> Vec<Row> {
    let plain = Setting::default();
    let config = Config { nr_sack: true, ..Config::default() };
    let nr_sack = Setting { config, options: &[("nrsack", 1)], ..Setting::default() };
    // DATA must come authenticated to either side.
    let config = Config { auth: true, auth_chunks: vec![0], ..Config::default() };
    let auth = Setting { config, options: &[("auth", 1)], commands: &["auth-chunk 0"], ..Setting::default() };
    let mut rows = Vec::new();
    for (extension, setting) in [("none", plain), ("NR-SACK", nr_sack), ("AUTH (SHA-1), all data", auth)] {
        for opener in Opener::BOTH {
            rows.push(Row { extension, role: opener.name(), shown: exchange(program, opener, &setting) });
        }
    }
    rows
}
