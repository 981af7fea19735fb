//! Tests of backpressure, and of the ends of connections and endpoints.
#![cfg(target_os = "linux")] // Other systems have one loopback address only.
#![allow(clippy::disallowed_types, reason = "sockets work in real time")]

use crate::common;

use anabranch_io::blocking::{Connection, WaitError};
use anabranch_io::sctp::{AssocOptions, StreamScheduler};
use anabranch_io::{
    CloseReason, Config, ConnectionError, Delivery, Endpoint, Event, Message, NotDelivered, OptionsError,
    PathState, Reliability, SendError, StreamId,
};
use common::{CLIENT, LOSSY, NO_FAULTS, SERVER, SOON, World, poll_times, quick, run, small};
use futures_core::Stream;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};
use testkit::Faults;
use units::{ByteCount, Span};

fn world() -> World {
    World::new(1, NO_FAULTS, &small())
}

/// Sends messages until there is no room, even after some time. Returns the number of messages.
fn fill(connection: &anabranch_io::Connection) -> usize {
    let mut given = 0;
    while poll_times(connection.send(vec![1; 20_000]), 100, Duration::from_millis(3)).is_some() {
        given += 1;
    }
    given
}

fn wait_until(what: &str, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + SOON;
    while !done() {
        assert!(Instant::now() < end, "{what}: not in time");
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn senders_that_wait_get_room_in_the_order_in_which_they_came() {
    let world = world();
    let (one, other) = world.connect();
    let one = one.into_async();
    let given = fill(&one);
    type Sending = Pin<Box<dyn Future<Output = Result<(), SendError>>>>;
    let mut cx = Context::from_waker(Waker::noop());
    let mut waiting: Vec<Option<Sending>> = (0..20)
        .map(|n| {
            let length = if n % 3 == 0 { 150_000 } else { 10 };
            let mut sending: Sending = Box::pin(one.send(vec![n; length]));
            assert!(sending.as_mut().poll(&mut cx).is_pending());
            Some(sending)
        })
        .collect();
    let reading = thread::spawn(move || {
        let messages = std::iter::from_fn(|| other.recv().expect("ends gracefully"));
        messages.skip(given).map(|message| message.data[0]).collect::<Vec<_>>()
    });
    // The callers that came last are polled first. Their small messages would fit before the large ones that
    // wait.
    wait_until("sends", || {
        for sending in waiting.iter_mut().rev() {
            if sending.as_mut().is_some_and(|sending| sending.as_mut().poll(&mut cx).is_ready()) {
                *sending = None;
            }
        }
        waiting.iter().all(Option::is_none)
    });
    run(one.shutdown()).expect("ends gracefully");
    assert_eq!(reading.join().expect("reads"), (0..20).collect::<Vec<_>>());
}

#[test]
fn a_message_whose_lifetime_passes_before_the_stack_has_room_is_not_sent() {
    let world = world();
    let (one, other) = world.connect();
    let one = one.into_async();
    let given = fill(&one);
    let send = |life, byte| {
        let message = Message::from(vec![byte; 10]).reliability(Reliability::Until(Span::from_millis(life)));
        Box::pin(one.send(message))
    };
    let mut waiting = [(50, 2), (60_000, 3)].map(|(life, byte)| Some(send(life, byte)));
    let mut cx = Context::from_waker(Waker::noop());
    let mut poll_all = || {
        for sending in &mut waiting {
            if sending.as_mut().is_some_and(|sending| sending.as_mut().poll(&mut cx).is_ready()) {
                *sending = None;
            }
        }
        waiting.iter().all(Option::is_none)
    };
    poll_all();
    thread::sleep(Duration::from_millis(100));
    let next = thread::spawn(move || {
        std::iter::from_fn(|| other.recv().expect("ends gracefully")).nth(given).map(|next| next.data[0])
    });
    wait_until("sends", poll_all);
    assert_eq!(next.join().expect("no panic"), Some(3));
}

#[test]
fn an_urgent_message_overtakes_those_that_wait_for_room() {
    let world = world();
    let (one, other) = world.connect();
    let one = one.into_async();
    let given = fill(&one);
    let sent = run(one.send_tracked(Message::from("now").urgent(true))).expect("there is room for it");
    let reading = thread::spawn(move || {
        std::iter::from_fn(|| other.recv().expect("ends gracefully"))
            .map(|message| message.data.len())
            .collect::<Vec<_>>()
    });
    run(sent).expect("arrives");
    run(one.flush()).expect("arrives");
    run(one.shutdown()).expect("ends gracefully");
    let lengths = reading.join().expect("reads");
    let place = lengths.iter().position(|&length| length == 3).expect("it arrived");
    assert_eq!(lengths.len(), given + 1);
    assert!(place + 5 < given, "number {place} of {given}");
}

#[test]
fn what_nobody_reads_closes_the_window_and_is_counted() {
    let world = world();
    let (one, other) = world.connect();
    one.send(Message::from("x").stream(StreamId(3))).expect("is taken");
    one.send(Message::from("y").stream(StreamId(3))).expect("is taken");
    let one = one.into_async();
    let given = fill(&one);
    wait_until("a closed window", || run(one.stats()).expect("is open").peer_rwnd.get() < 20_000);
    assert_eq!(other.unread(StreamId(3)), 2);
    assert!(other.unread(StreamId(0)) > 0);
    // All messages are read, because the window would be full again if the reader stopped earlier.
    let mut left = given * 20_000 + 2;
    while left > 0 {
        left -= other.recv().expect("is open").expect("arrives").data.len();
    }
    // If the reader is slower than the sender, the last SACK that the sender got may show a small window. The
    // SACK of the next message shows the present window.
    run(one.send("z")).expect("is taken");
    wait_until("an open window", || run(one.stats()).expect("is open").peer_rwnd.get() > 20_000);
}

#[test]
fn everything_received_can_be_read_after_the_end() {
    let world = World::new(1, NO_FAULTS, &quick(Config::recommended()));
    let (one, other) = world.connect();
    (0..100).for_each(|n| one.send(vec![n; 10_000]).expect("is taken"));
    one.shutdown().expect("ends gracefully");
    assert!(other.closed().is_graceful());
    let read: Vec<u8> = std::iter::from_fn(|| other.recv().expect("ends gracefully"))
        .map(|message| message.data[0])
        .collect();
    assert_eq!(read, (0..100).collect::<Vec<_>>());
}

/// The peer accepts, sends a message and ends the connection before the test polls the attempt again.
#[test]
fn an_attempt_whose_connection_has_ended_meanwhile_gives_the_connection_and_its_messages() {
    for graceful in [true, false] {
        let world = world();
        let mut attempt = Box::pin(world.client.connect(world.peer.clone()));
        assert!(attempt.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        let far = Connection::from(run(world.listener.accept()).expect("is open"));
        far.send("hello").expect("is taken");
        far.flush().expect("arrives");
        if graceful {
            far.shutdown().expect("ends");
        } else {
            far.abort("over");
        }
        run(world.client.close());
        let near = Connection::from(run(attempt).expect("was open"));
        assert_eq!(near.recv().expect("has it").expect("has it").data, "hello");
        assert_eq!(near.recv().map(|end| end.is_none()).ok(), graceful.then_some(true));
    }
}

#[test]
fn the_driver_ends_with_the_last_endpoint_listener_and_connection() {
    let World { client, server, listener, peer, relay } = world();
    let udp_port = server.udp_port();
    let connection = run(client.connect(peer)).expect("connects");
    let accepted = run(listener.accept()).expect("is open");
    drop((server, listener));
    // The connection works without a handle of its endpoint.
    run(accepted.send("alive")).expect("is taken");
    assert_eq!(run(connection.recv()).expect("is open").expect("arrives").data, "alive");
    drop(accepted);
    assert!(run(connection.closed()).is_graceful());
    wait_until("a free port", || Endpoint::builder().locals(SERVER).udp_port(udp_port).bind().is_ok());
    drop(relay);
}

#[test]
fn a_listener_ends_when_its_endpoint_is_closed_and_no_attempt_can_begin() {
    let world = world();
    run(world.server.close());
    assert!(run(world.listener.accept()).is_err());
    assert!(run(world.server.connect((CLIENT, 9))).is_err());
}

#[test]
fn a_listener_that_is_replaced_leaves_the_new_one_listening() {
    let mut world = world();
    world.listener = world.server.listen(3);
    let (one, other) = world.connect();
    one.send("hello").expect("is taken");
    assert_eq!(other.recv().expect("is open").expect("arrives").data, "hello");
}

#[test]
fn accepted_connections_know_their_peer_at_once() {
    let world = world();
    for _ in 0..20 {
        let (one, other) = world.connect();
        assert!(other.peer().is_ok());
        one.abort("next");
        other.closed();
    }
}

#[test]
fn data_for_a_connection_that_nobody_holds_does_not_stop_its_end() {
    let world = world();
    let (one, other) = world.connect();
    let (one, other) = (one.into_async(), other.into_async());
    fill(&one);
    run(other.send("mine")).expect("is taken");
    drop(other);
    assert_eq!(run(one.recv()).expect("is open").expect("arrives").data, "mine");
    assert!(run(one.closed()).is_graceful());
}

#[test]
fn a_peer_that_takes_nothing_cannot_keep_an_endpoint_from_closing() {
    let world = world();
    let (one, other) = world.connect();
    fill(&one.into_async());
    let begin = Instant::now();
    run(world.client.close());
    // The connection is aborted after 1 s, which is five times RTO.Max.
    assert!(begin.elapsed() > Duration::from_millis(900), "{:?}", begin.elapsed());
    assert!(!other.closed().is_graceful());
}

#[test]
fn messages_that_a_peer_no_longer_takes_are_told() {
    let world = world();
    let (one, other) = world.connect();
    let one = one.into_async();
    let mut events = one.events();
    let sending = || poll_times(one.send_tracked(vec![1; 20_000]), 100, Duration::from_millis(3));
    let deliveries: Vec<Delivery> =
        std::iter::from_fn(|| sending().map(|sent| sent.expect("is taken"))).collect();
    let mut given = deliveries.len();
    let received = thread::scope(|scope| {
        scope.spawn(|| other.shutdown());
        // SHUTDOWN arrives before the send buffer has room for more.
        wait_until("SHUTDOWN", || {
            let answer = one.try_send("x");
            given += usize::from(answer.is_ok());
            answer == Err(SendError::Shut.into())
        });
        assert_eq!(run(one.flush()), Err(NotDelivered::Lost));
        std::iter::from_fn(|| other.recv().expect("ends gracefully")).count()
    });
    assert!(run(one.closed()).is_graceful());
    let mut lost = 0;
    while let Some(event) = run(events.next()) {
        lost += usize::from(matches!(event, Ok(Event::SendFailed { tsn: None, .. })));
    }
    assert!(lost > 0);
    assert_eq!(received + lost, given);
    let outcomes = deliveries.into_iter().map(run).collect::<Vec<_>>();
    assert!(outcomes.is_sorted_by_key(Result::is_err) && outcomes[0].is_ok());
    assert!(outcomes.ends_with(&[Err(NotDelivered::Lost)]));
}

#[test]
fn heartbeats_to_a_path_that_fails_are_told_so_and_events_too() {
    let mut config = quick(Config::recommended());
    config.path_max_retrans = 1;
    let world = World::new(1, NO_FAULTS, &config);
    let (one, _other) = world.connect();
    let one = one.into_async();
    let path = SERVER[1];
    wait_until("two confirmed paths", || {
        run(one.paths()).expect("is open").iter().all(|path| path.state == PathState::Active)
    });
    let mut events = one.events();
    let local =
        run(one.paths()).expect("is open").iter().find(|info| info.remote == path).expect("exists").local;
    world.relay.cut(local);
    assert!(run(one.heartbeat(path)).is_err());
    wait_until(
        "an event",
        || matches!(run(events.next()), Some(Ok(Event::PathChanged { address, state: PathState::Inactive })) if address == path),
    );
    assert!(run(one.set_primary(local)).is_err(), "no address of the peer");
}

#[test]
fn a_stream_reader_does_not_wake_for_others() {
    let world = world();
    let (one, other) = world.connect();
    let other = other.into_async();
    let mut reader = other.read_stream(StreamId(2));
    one.send("common").expect("is taken");
    assert_eq!(run(other.recv()).expect("is open").expect("arrives").data, "common");
    assert!(poll_times(reader.recv(), 2, Duration::from_millis(5)).is_none());
    one.send(Message::from("own").stream(StreamId(2))).expect("is taken");
    assert_eq!(run(reader.recv()).expect("is open").expect("arrives").data, "own");
    assert!(poll_times(other.recv(), 2, Duration::from_millis(5)).is_none());
    assert!(matches!(
        Box::pin(other.closed()).as_mut().poll(&mut Context::from_waker(Waker::noop())),
        Poll::Pending
    ));
}

#[test]
fn deliveries_tell_what_the_peer_has_and_what_it_never_got() {
    let world = World::new(3, LOSSY, &small());
    let (one, other) = world.connect();
    let (one, reader) = (one.into_async(), other.clone());
    let reading = thread::spawn(move || std::iter::from_fn(|| reader.recv().ok().flatten()).count());
    let deliveries: Vec<Delivery> =
        (0..100).map(|n| run(one.send_tracked(vec![n; 3_000])).expect("is taken")).collect();
    // Every second `Delivery` future is dropped, and nobody waits for it.
    for delivery in deliveries.into_iter().step_by(2) {
        assert_eq!(run(delivery), Ok(()));
    }
    // The peer may have a message before an earlier one of its stream. If the abort destroyed the earlier
    // message, the peer could not read the later one. So all messages are acknowledged first.
    assert_eq!(run(one.flush()), Ok(()));
    let late = run(one.send_tracked(vec![1; 100_000])).expect("is taken");
    one.abort("enough");
    let reason = run(one.closed());
    assert_eq!(run(late), Err(NotDelivered::Ended(reason)));
    assert!(reading.join().expect("reads") >= 100);
}

/// Ends a connection between two new endpoints by `end`. Returns the other end of the connection, which has
/// a message to read.
fn ended_by(config: &Config, end: impl FnOnce(&World, &Connection)) -> Connection {
    let world = World::new(1, NO_FAULTS, config);
    let (one, other) = world.connect();
    one.send("last").expect("is taken");
    one.flush().expect("is acknowledged");
    end(&world, &one);
    other.closed();
    other
}

#[test]
fn recv_gives_none_after_a_shutdown_and_the_reason_after_any_other_end() {
    let graceful = ConnectionError::Closed(CloseReason::Graceful);
    let aborted =
        |reason: &ConnectionError| reason.to_string().ends_with("aborted the connection: \"crash\"");
    let lost = ConnectionError::Closed(CloseReason::TooManyErrors);
    let no_answer = Config { association_max_retrans: 2, path_max_retrans: 1, ..small() };
    let ends = [
        ended_by(&small(), |_, one| one.shutdown().expect("ends gracefully")),
        ended_by(&small(), |_, one| one.abort("crash")),
        ended_by(&Config { hb_interval: Some(Span::from_millis(20)), ..no_answer }, |world, _| {
            CLIENT.iter().for_each(|&address| world.relay.cut(address));
        }),
    ];
    for (n, other) in ends.into_iter().enumerate() {
        let reason = other.closed();
        assert!([reason == graceful, aborted(&reason), reason == lost][n], "{n}: {reason}");
        let end = if reason == graceful { Ok(None) } else { Err(reason.clone()) };
        assert_eq!(other.recv().expect("is read first").expect("arrived").data, "last");
        assert_eq!(other.recv(), end);
        assert_eq!(other.recv_timeout(SOON), end.clone().map_err(WaitError::Ended));
        let other = other.into_async();
        assert_eq!(run(other.read_stream(StreamId(1)).recv()), end);
        let mut messages = other.messages();
        let mut next = || run(poll_fn(|cx| Pin::new(&mut messages).poll_next(cx)));
        assert_eq!(next(), end.transpose());
        assert_eq!(next(), None);
        // All other calls return the same reason.
        assert_eq!((run(other.paths()), other.peer()), (Err(reason.clone()), Err(reason.clone())));
        assert_eq!(run(other.stats()), Err(reason.clone()));
        let options = AssocOptions::of(&small());
        assert_eq!(run(other.set_options(options)), Err(OptionsError::Ended(reason)));
    }
}

#[test]
fn a_message_longer_than_the_buffers_can_be_written_by_a_thread() {
    let world = world();
    let (one, other) = world.connect();
    let bytes: Vec<u8> = (0..2_000_000).map(|n| (n % 251) as u8).collect();
    let reading = thread::spawn(move || {
        let mut whole = Vec::new();
        while let Some(part) = other.recv().expect("ends gracefully") {
            assert!(part.end_of_record == (whole.len() + part.data.len() == 2_000_000));
            whole.extend_from_slice(&part.data);
        }
        whole
    });
    let mut writer = one.writer(StreamId(0));
    std::io::copy(&mut &bytes[..], &mut writer).expect("is taken");
    writer.finish().expect("is taken");
    one.shutdown().expect("ends gracefully");
    assert!(reading.join().expect("reads") == bytes);
}

#[test]
fn a_connection_that_lingers_ends_gracefully_or_is_aborted_in_time() {
    let world = world();
    let (one, other) = world.connect();
    one.send("read").expect("is taken");
    assert_eq!(one.linger(SOON), Ok(()));
    assert_eq!(other.recv().expect("is open").expect("arrives").data, "read");
    let (one, other) = world.connect();
    fill(&one.clone().into_async());
    let begin = Instant::now();
    let aborted = one.linger(Duration::from_millis(100)).expect_err("nobody reads");
    assert!(!aborted.is_graceful() && begin.elapsed() < SOON);
    assert!(!other.closed().is_graceful());
    let (one, _other) = world.connect();
    fill(&one.into_async());
    let client = anabranch_io::blocking::Endpoint::from(world.client.clone());
    assert_eq!(client.close_timeout(Duration::from_millis(20)), Err(WaitError::TimedOut));
    client.close_timeout(SOON).expect("the end goes on");
}

#[test]
fn a_flush_waits_for_a_stream_that_others_overtake() {
    let config = Config {
        stream_scheduler: StreamScheduler::Priority,
        send_buffer: ByteCount::new(8 << 20).into(),
        ..quick(Config::recommended())
    };
    let world = World::new(1, NO_FAULTS, &config);
    let (one, other) = world.connect();
    let one = one.into_async();
    let reading =
        thread::spawn(move || std::iter::from_fn(|| other.recv().expect("ends gracefully")).count());
    run(one.set_stream_value(StreamId(2), 7)).expect("there is one");
    let bulk = || Message::from(vec![1; 50_000]).stream(StreamId(2));
    (0..40).for_each(|_| run(one.send(bulk())).expect("is taken"));
    let mut last = run(one.send_tracked(bulk())).expect("is taken");
    thread::scope(|scope| {
        let flush = scope.spawn(|| {
            run(one.flush()).expect("is acknowledged");
            let mut cx = Context::from_waker(Waker::noop());
            assert_eq!(Pin::new(&mut last).poll(&mut cx), Poll::Ready(Ok(())), "the flush came too early");
        });
        (0..60).for_each(|_| run(one.send(vec![2; 50_000])).expect("is taken"));
        flush.join().expect("the flush waits");
    });
    run(one.shutdown()).expect("ends gracefully");
    assert_eq!(reading.join().expect("reads"), 101);
}

#[test]
fn messages_of_a_source_follow_those_of_other_calls_and_are_not_limited_to_a_queue_per_round_trip() {
    let faults = Faults { delay: 1.0, longest_delay: Duration::from_millis(20), ..NO_FAULTS };
    let config = Config { send_queue: Some(2), ..small() };
    let world = World::new(7, faults, &config);
    let (one, other) = world.connect();
    const MESSAGES: u32 = 2000;
    let left = Arc::new(AtomicU32::new(0));
    let (numbers, taken) = (left.clone(), left.clone());
    one.send("first").expect("is taken");
    one.send_from(move || {
        let more = numbers.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(1)).ok()?;
        Some(Message::from(more.to_be_bytes().to_vec()))
    });
    let begin = Instant::now();
    left.store(MESSAGES, SeqCst);
    one.source_ready();
    let mut received = Vec::new();
    while received.len() <= MESSAGES as usize {
        assert!(other.recv_many(&mut received).expect("is open") > 0);
    }
    let numbers: Vec<_> = received.iter().map(|message| message.data.to_vec()).collect();
    assert_eq!(numbers[0], b"first");
    assert!(numbers[1..].iter().zip((1..=MESSAGES).rev()).all(|(data, n)| data[..] == n.to_be_bytes()));
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}: a round trip for two messages", begin.elapsed());
    one.shutdown().expect("ends gracefully");
    taken.store(1, SeqCst);
    one.source_ready();
    assert_eq!(other.recv_many(&mut received), Ok(0));
    assert_eq!(taken.load(SeqCst), 1, "a connection that ends takes no more");
}
