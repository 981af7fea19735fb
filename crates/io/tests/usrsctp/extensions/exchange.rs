//! Messages in both directions, without extensions and with the extensions that change the chunks: NR-SACK,
//! AUTH for all data, I-DATA.

use super::BOTH;
use super::meeting::{Meeting, Opener, Setting};
use sctp::Config;
use std::path::Path;
use testkit::Interop;
use wire::{Auth, Data, IData, NrSack, Sack};

const MESSAGES: usize = 300;
/// User data of a message in bytes, which needs several chunks.
const LENGTH: usize = 3000;

/// Checks that all messages of both sides arrive, in order on their streams.
fn exchange(program: &Path, opener: Opener, setting: &Setting<'_>, chunks: &[u8]) {
    let mut meeting = Meeting::new(program, opener, setting);
    for stream in [1, 3] {
        meeting.theirs.tell(&format!("send {} {LENGTH} {stream} 0 none 0", MESSAGES / 2));
    }
    let mut sent = [0; 2];
    meeting.until("all messages arrive", |ours, theirs| {
        for (stream, sent) in [2, 4].into_iter().zip(&mut sent) {
            *sent += ours.send((MESSAGES / 2 - *sent).min(10), LENGTH, |message| message, stream);
        }
        ours.received.len() == MESSAGES && theirs.heard.len() == MESSAGES
    });
    for stream in [2, 4] {
        let heard = meeting.theirs.heard.iter().filter(|heard| heard.stream == stream);
        assert!(heard.clone().all(|heard| heard.length == LENGTH), "whole messages");
        assert!(heard.map(|heard| heard.number).eq(0..MESSAGES as u32 / 2), "in the order of their stream");
    }
    let status = meeting.status();
    assert_eq!((&status["auth_missing"], &status["auth_wrong"]), (&0.into(), &0.into()), "{status}");
    meeting.finish(chunks);
}

pub fn run(program: &Path, table: &mut Interop) {
    let plain = Setting::default();
    let config = Config { nr_sack: true, ..Config::default() };
    let nr_sack = Setting { config, options: &[("nrsack", 1)], ..Setting::default() };
    // Each side accepts only authenticated DATA chunks.
    let config = Config { auth: true, auth_chunks: vec![Data::TYPE], ..Config::default() };
    let auth = Setting { config, options: &[("auth", 1)], commands: &["auth-chunk 0"], ..Setting::default() };
    let config = Config { interleaving: true, ..Config::default() };
    let interleaving = Setting { config, commands: &["interleave"], ..Setting::default() };
    for (extension, what, setting, chunks) in [
        ("none", "messages both ways over two paths", plain, &[Data::TYPE, Sack::TYPE]),
        ("NR-SACK", "both sides acknowledge with it", nr_sack, &[Data::TYPE, NrSack::TYPE]),
        ("AUTH", "both sides authenticate all DATA with SHA-1", auth, &[Data::TYPE, Auth::TYPE]),
        ("I-DATA", "both sides send on two streams", interleaving, &[IData::TYPE, Sack::TYPE]),
    ] {
        Opener::BOTH.into_iter().for_each(|opener| exchange(program, opener, &setting, chunks));
        table.works(extension, what, BOTH);
    }
}
