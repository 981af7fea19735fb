//! Messages in both directions.

use super::meeting::{Meeting, Opener};
use anabranch_testkit::{Ledger, Script, Speaker};

/// Asserts that each message arrives once and in the order of its stream.
pub fn run<P: Speaker>(mut meeting: Meeting<P>, chunks: &[u8]) {
    let scripts = [1, 2].map(|voice| Script::random(voice, 100, 5, 1 << 16));
    let mut said = [0, 0];
    let mut ledgers = [Ledger::new(&scripts[1]), Ledger::new(&scripts[0])];
    meeting.until("all messages arrive", |meeting| {
        let now = meeting.now();
        let speakers: [&mut dyn Speaker; 2] = [&mut meeting.ours, &mut meeting.theirs];
        for (side, speaker) in speakers.into_iter().enumerate() {
            while let Some((stream, bytes)) = speaker.receive(now) {
                ledgers[side].hear(stream, &bytes).unwrap_or_else(|what| panic!("{what}"));
            }
            let script = &scripts[side];
            while let Some(line) = script.lines().get(said[side])
                && speaker.send(now, line.stream, line.unordered, &script.bytes(said[side]))
            {
                said[side] += 1;
            }
        }
        ledgers.iter().all(Ledger::is_complete)
    });
    meeting.finish(Opener::Ours, "exchange", chunks);
}
