//! A capture of SCTP packets without IP headers, and its check by tshark.

use anabranch_testkit::dissect::{BAD_CHECKSUM, MALFORMED, count, tshark};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use units::Instant;

/// LINKTYPE_SCTP of the pcap format.
const SCTP: u32 = 248;

/// Packets in the pcap format, with times in nanoseconds.
pub struct Capture(Vec<u8>);

impl Capture {
    pub fn new() -> Capture {
        let mut bytes = Vec::new();
        for word in [0xa1b2_3c4d, 2 | 4 << 16, 0, 0, 1 << 16, SCTP] {
            bytes.extend(u32::to_le_bytes(word));
        }
        Capture(bytes)
    }

    pub fn record(&mut self, now: Instant, packet: &[u8]) {
        let (seconds, nanos) = (now.as_nanos() / 1_000_000_000, now.as_nanos() % 1_000_000_000);
        for word in [seconds as u32, nanos as u32, packet.len() as u32, packet.len() as u32] {
            self.0.extend(word.to_le_bytes());
        }
        self.0.extend(packet);
    }

    /// Writes the capture to a file.
    pub fn write(&self, name: &str) -> PathBuf {
        static FILES: AtomicU32 = AtomicU32::new(0);
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        let name = format!("{name}-{}-{number}.pcap", std::process::id());
        let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::write(&file, &self.0).expect("the folder of tests can be written");
        file
    }

    /// Asserts that no packet is malformed or has a wrong checksum, and that all these chunk types occur.
    pub fn check(&self, name: &str, chunks: &[u8]) {
        if Command::new("tshark").arg("-v").output().is_err() {
            assert!(std::env::var_os("ANABRANCH_REQUIRE_TOOLS").is_none(), "required and missing: tshark");
            // Writes to standard error without a macro, because cargo hides the macro output of a test that
            // passes.
            let note = b"NOT DISSECTED: this is missing: the program tshark\n";
            return std::io::stderr().write_all(note).expect("standard error is open");
        }
        let file = self.write(name);
        let mut filters = vec!["sctp".to_owned(), BAD_CHECKSUM.into(), MALFORMED.into()];
        filters.extend(chunks.iter().map(|kind| format!("sctp.chunk_type == {kind}")));
        let rows = count(&file, 0.0, &filters);
        let [[all, _], [bad, _], [malformed, _], ref kinds @ ..] = rows[0][..] else { panic!("{rows:?}") };
        if bad + malformed > 0 || all == 0 || kinds.iter().any(|[packets, _]| *packets == 0) {
            let mut command = tshark(&file);
            let output = command.args(["-V", "-Y", &format!("({BAD_CHECKSUM}) || {MALFORMED}")]).output();
            let text = String::from_utf8_lossy(&output.expect("tshark runs").stdout).into_owned();
            panic!("{rows:?}, expected {chunks:?} in {}: {text}", file.display());
        }
        std::fs::remove_file(&file).expect("it was there");
    }
}
