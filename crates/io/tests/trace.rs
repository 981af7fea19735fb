//! Test of the events that a subscriber of `tracing` gets. The process has a single subscriber, and so this
//! file has a single test.
#![cfg(target_os = "linux")] // Other systems have one loopback address only.

mod common;

use anabranch_io::{Config, ConnectionError};
use common::{CLIENT, World, quick};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;
use testkit::Faults;

/// All lines of the log.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Lines {
    /// Waits until a line contains all of these words.
    fn expect(&self, words: &[&str]) {
        let mut text = String::new();
        for _ in 0..1000 {
            text = String::from_utf8(self.0.lock().expect("no panic").clone()).expect("is text");
            if text.lines().any(|line| words.iter().all(|word| line.contains(word))) {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
        panic!("no line with {words:?}:\n{text}");
    }
}

#[test]
fn associations_paths_and_losses_are_events_with_peer_path_and_reason() {
    let lines = Lines::default();
    let writer = lines.clone();
    tracing_subscriber::fmt()
        .with_max_level(tracing_subscriber::filter::LevelFilter::DEBUG)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .init();
    let config = Config { path_max_retrans: 1, ..quick(Config::recommended()) };
    let world = World::new(1, Faults::default(), &config);
    let port = world.server.port();
    let (client, server) = world.connect();
    let peer = format!("peer=\"127.0.0.2 127.0.0.4 port {port}\"");
    for event in ["begun", "established"] {
        lines.expect(&["INFO anabranch_io:", &format!("association {event}"), &peer]);
    }
    lines.expect(&["INFO", "path state", "path=\"127.0.0.3 > ", "state=\"active\""]);
    world.relay.cut(CLIENT[1]);
    client.send(vec![0; 500_000]).expect("is taken");
    lines.expect(&["DEBUG anabranch_io:", "losses", "path=\"127.0.0.3 > ", "retransmissions=", "timeouts="]);
    lines.expect(&["DEBUG", "path state", "path=\"127.0.0.3 > ", "state=\"silent\""]);
    for state in ["potentially-failed", "inactive"] {
        lines.expect(&["INFO", "path=\"127.0.0.3 > ", &format!("state=\"{state}\"")]);
    }
    // The client knows which path works, so its ABORT arrives.
    client.abort("bye \x1b[31m");
    assert!(matches!(server.closed(), ConnectionError::Closed(_)));
    lines.expect(&["INFO", "association ended", "reason=the peer aborted the connection: \"bye \\u{1b}"]);
    lines.expect(&["INFO", "association ended", &peer, "reason=the connection was aborted on this side"]);
}
