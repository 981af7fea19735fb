//! Tests over real sockets and a lossy relay: no message is lost or delivered twice, each stream keeps its
//! order, and the connection ends gracefully.
#![cfg(target_os = "linux")] // Other systems have one loopback address only.

use crate::common;

use anabranch_io::blocking::Connection;
use anabranch_io::{Config, Message, Ppid, StreamId};
use common::{SOON, World, quick, small};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;
use testkit::{Faults, Ledger, Script};

const SEEDS: u64 = 200;
/// Number of seeds that run at the same time. Most of their time is waiting.
const WORKERS: usize = 8;
const STREAMS: u16 = 4;

fn speak(connection: &Connection, script: &Script) {
    for (n, line) in script.lines().iter().enumerate() {
        let message = Message::from(script.bytes(n)).stream(StreamId(line.stream)).unordered(line.unordered);
        let sent = connection.send_timeout(message.ppid(Ppid(7)), SOON);
        assert_eq!(sent, Ok(()), "message {n}");
    }
}

fn listen(connection: &Connection, script: &Script, name: &str) {
    let mut ledger = Ledger::new(script);
    while !ledger.is_complete() {
        let heard = ledger.heard();
        let message =
            connection.recv_timeout(SOON).unwrap_or_else(|error| panic!("{name}: {error} after {heard}"));
        let message = message.unwrap_or_else(|| panic!("{name}: shut down after {heard}"));
        assert!(message.end_of_record && message.ppid == Ppid(7), "{name}");
        ledger.hear(message.stream.0, &message.data).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

fn dialogue(seed: u64) {
    let config = match seed % 3 {
        0 => quick(Config::default()),
        1 => quick(Config::recommended()),
        _ => small(),
    };
    let share = (seed % 7) as f64 / 7.0;
    let faults = Faults {
        loss: 0.25 * share,
        duplication: 0.1 * (1.0 - share),
        delay: 0.2 * share,
        longest_delay: Duration::from_millis(seed % 10),
        ..Faults::default()
    };
    let world = World::new(seed, faults, &config);
    let (one, other) = world.connect();
    let scripts =
        [0, 1].map(|side| Script::random(2 * seed + side, 50 + seed as usize % 100, STREAMS, 30_000));
    thread::scope(|scope| {
        scope.spawn(|| speak(&one, &scripts[0]));
        scope.spawn(|| speak(&other, &scripts[1]));
        scope.spawn(|| listen(&other, &scripts[0], &format!("seed {seed}, server")));
        listen(&one, &scripts[1], &format!("seed {seed}, client"));
    });
    let (closer, waits) = if seed.is_multiple_of(2) { (one, other) } else { (other, one) };
    closer.shutdown().unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    assert_eq!(waits.recv_timeout(SOON), Ok(None), "seed {seed}");
    assert!(waits.closed().is_graceful(), "seed {seed}: {}", waits.closed());
}

#[test]
fn everything_arrives_once_and_in_order_and_the_end_is_graceful() {
    let next = AtomicU64::new(0);
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            let seeds = std::iter::from_fn(|| Some(next.fetch_add(1, Ordering::Relaxed)));
            scope.spawn(|| seeds.take_while(|&seed| seed < SEEDS).for_each(dialogue));
        }
    });
}
