//! Tests of cancel safety over a lossy relay: each future is dropped after 0, 1, 2, ... polls, and so at
//! every await point.
#![cfg(target_os = "linux")] // Other systems have one loopback address only.

use crate::common;

use anabranch_io::blocking::{Connection, WaitError};
use anabranch_io::{CloseReason, Config, ConnectionError, Message};
use common::{CLIENT, LOSSY, SERVER, SOON, World, poll_times, quick, run, small};
use std::future::Future;
use std::thread;
use std::time::Duration;
use testkit::Faults;

const SEEDS: u64 = 5;

/// Polls the future `make()` at most k times and drops it, for k = 0, 1, 2, ... until a future is ready.
/// Calls `check` after each drop.
fn drop_at_every_poll<F: Future>(mut make: impl FnMut() -> F, mut check: impl FnMut(usize)) -> F::Output {
    for polls in 0..100 {
        if let Some(result) = poll_times(make(), polls, SOON) {
            return result;
        }
        check(polls);
    }
    panic!("it was never ready");
}

/// True if a message that one end sends arrives at the other end.
fn works(one: &Connection, other: &Connection, text: &'static str) -> bool {
    one.send(text).is_ok()
        && matches!(other.recv_timeout(SOON), Ok(Some(received)) if received.data == text.as_bytes())
}

/// Returns the first message that any accepted connection receives. The server may also have accepted
/// attempts that the client then gave up. Such connections have ended, unless the ABORT was lost: then the
/// server's connection lasts until its heartbeats fail.
fn first_received(world: &World) -> Vec<u8> {
    let (patience, mut accepted) = (Duration::from_millis(1), Vec::new());
    for _ in 0..SOON.as_millis() {
        let next = poll_times(world.listener.accept(), 2, patience);
        accepted.extend(next.map(|it| Connection::from(it.expect("is open"))));
        for connection in std::mem::take(&mut accepted) {
            match connection.recv_timeout(patience) {
                Ok(Some(received)) => return received.data.to_vec(),
                Err(WaitError::TimedOut) => accepted.push(connection),
                Ok(None) | Err(_) => assert!(connection.send("x").is_err()),
            }
        }
    }
    panic!("no message arrived in time");
}

#[test]
fn dropping_connect_aborts_the_attempt() {
    for seed in 0..SEEDS {
        let world = World::new(seed, LOSSY, &quick(Config::recommended()));
        let connection = drop_at_every_poll(|| world.client.connect(world.peer.clone()), |_| ());
        let connection = Connection::from(connection.expect("connects after other attempts were given up"));
        connection.send("hello").expect("is taken");
        assert_eq!(first_received(&world), b"hello");
        // No unfinished association is left for which `close` would wait.
        drop(connection);
        run(world.client.close());
    }
}

/// A graceful shutdown would take a round trip, and the next attempt would find the old association.
#[test]
fn dropping_connect_when_the_peer_has_accepted_aborts_the_association() {
    let world = World::new(1, Faults::default(), &quick(Config::recommended()));
    let mut attempt = Box::pin(world.client.connect(world.peer.clone()));
    assert!(poll_times(attempt.as_mut(), 1, SOON).is_none());
    let accepted = run(world.listener.accept()).expect("is open");
    run(accepted.send("hello")).expect("is taken");
    run(accepted.flush()).expect("arrives, so the client's end is established, too");
    drop(attempt);
    let end = run(accepted.closed());
    assert!(matches!(end, ConnectionError::Closed(CloseReason::PeerAbort { .. })), "{end}");
    run(world.client.connect(world.peer.clone())).expect("connects anew");
}

#[test]
fn dropping_accept_loses_no_connection() {
    let world = World::new(1, LOSSY, &quick(Config::recommended()));
    for polls in 0..4 {
        assert!(poll_times(world.listener.accept(), polls, Duration::from_millis(1)).is_none());
    }
    let (one, other) = world.connect();
    assert!(works(&one, &other, "hello"));
}

#[test]
fn dropping_send_sends_nothing_and_dropping_recv_loses_nothing() {
    for seed in 0..SEEDS {
        let world = World::new(seed, LOSSY, &small());
        let (one, other) = world.connect();
        let (one, other) = (one.into_async(), other.into_async());
        let reading = thread::spawn(move || {
            let mut received = Vec::new();
            for polls in 0.. {
                match poll_times(other.recv(), polls % 4, Duration::from_micros(300)) {
                    // A long message arrives in parts if the receive buffer is full.
                    Some(Ok(Some(part))) => received.extend(part.end_of_record.then(|| part.data[0])),
                    Some(end) => {
                        assert_eq!(end, Ok(None));
                        break;
                    }
                    None => {}
                }
            }
            received
        });
        let mut taken = Vec::new();
        for n in 0..=250 {
            let message = Message::from(vec![n; 10_000 + 100 * usize::from(n)]);
            if poll_times(one.send(message), usize::from(n) % 4, Duration::from_micros(300))
                .is_some_and(|sent| sent.is_ok())
            {
                taken.push(n);
            }
        }
        run(one.shutdown()).expect("ends gracefully");
        assert!(taken.len() > 20, "{} were taken", taken.len());
        assert_eq!(reading.join().expect("reads"), taken, "seed {seed}");
    }
}

#[test]
fn a_send_that_waits_for_room_can_be_dropped_and_lets_the_next_one_pass() {
    let world = World::new(1, LOSSY, &small());
    let (one, other) = world.connect();
    let one = one.into_async();
    let mut given = 0;
    while poll_times(one.send(vec![1; 20_000]), 100, Duration::from_millis(3)).is_some() {
        given += 1;
    }
    for polls in 0..4 {
        assert!(poll_times(one.send(vec![2; 20_000]), polls, Duration::from_millis(1)).is_none());
    }
    thread::scope(|scope| {
        scope.spawn(|| run(one.send("last")).expect("has room in the end"));
        while given > 0 {
            let part = other.recv_timeout(SOON).expect("in time").expect("arrives");
            assert_eq!(part.data[0], 1);
            given -= usize::from(part.end_of_record);
        }
        assert_eq!(other.recv_timeout(SOON).expect("in time").expect("arrives").data, "last");
    });
}

#[test]
fn flush_heartbeat_and_questions_can_be_dropped_and_asked_again() {
    for seed in 0..SEEDS {
        let world = World::new(seed, LOSSY, &quick(Config::recommended()));
        let (one, other) = world.connect();
        let one = one.into_async();
        run(one.send(vec![1; 50_000])).expect("is taken");
        drop_at_every_poll(|| one.flush(), |_| ()).expect("is acknowledged");
        assert_eq!(other.recv_timeout(SOON).expect("in time").expect("arrives").data.len(), 50_000);
        let rtt = drop_at_every_poll(|| one.heartbeat(SERVER[0]), |_| ()).expect("is answered");
        assert!(rtt < SOON);
        assert_eq!(drop_at_every_poll(|| one.paths(), |_| ()).expect("is open").len(), 2);
        assert!(drop_at_every_poll(|| one.heartbeat(CLIENT[0]), |_| ()).is_err());
    }
}

#[test]
fn dropping_shutdown_lets_it_go_on() {
    for seed in 0..SEEDS {
        for polls in 0..3 {
            let world = World::new(seed, LOSSY, &quick(Config::recommended()));
            let (one, other) = world.connect();
            one.send("before").expect("is taken");
            let one = one.into_async();
            let ended = poll_times(one.shutdown(), polls, Duration::from_millis(1));
            let one = Connection::from(one);
            assert_eq!(other.recv_timeout(SOON).expect("in time").expect("arrives").data, "before");
            if polls == 0 {
                // A future that was never polled has done nothing.
                assert!(works(&one, &other, "after"));
                continue;
            }
            assert!(ended.is_none_or(|ended| ended.is_ok()));
            assert!(one.send("after").is_err());
            assert_eq!(other.recv_timeout(SOON), Ok(None));
            assert!(one.closed().is_graceful() && other.closed().is_graceful());
        }
    }
}

#[test]
fn dropping_close_lets_it_go_on() {
    let world = World::new(1, LOSSY, &quick(Config::recommended()));
    let (one, other) = world.connect();
    assert!(poll_times(world.client.close(), 1, SOON).is_none());
    assert!(one.closed().is_graceful() && other.closed().is_graceful());
}
