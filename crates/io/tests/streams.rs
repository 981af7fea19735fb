//! Tests of stream values and resets of streams (`rfc6525`) over a relay between real sockets.
#![cfg(target_os = "linux")] // Other systems have one loopback address only.

use crate::common;

use anabranch_io::sctp::{self, AllowReset, StreamScheduler};
use anabranch_io::{
    Config, Connection, Event, Events, Message, ResetDirection, ResetError, ResetResult, StreamError,
    StreamId,
};
use common::{LOSSY, NO_FAULTS, World, poll_times, run, small};
use std::thread;
use std::time::Duration;

/// Options with small buffers. The peer may perform every kind of reset.
fn resetting() -> Config {
    Config { stream_reset: true, allow_reset: AllowReset::All, outbound_streams: 10, ..small() }
}

fn pair(config: &Config) -> (World, Connection, Connection) {
    let world = World::new(1, NO_FAULTS, config);
    let (one, other) = world.connect();
    (world, one.into_async(), other.into_async())
}

fn on(stream: u16, data: &'static str) -> Message {
    Message::from(data).stream(StreamId(stream))
}

fn read(connection: &Connection) -> String {
    let received = run(connection.recv()).expect("is open").expect("arrives");
    String::from_utf8(received.data.to_vec()).expect("is text")
}

/// The next event that concerns streams.
async fn next_of_streams(events: &mut Events) -> Event {
    loop {
        let event = events.next().await.expect("is open").expect("none is lost");
        if matches!(event, Event::StreamsReset { .. } | Event::StreamsAdded { .. }) {
            return event;
        }
    }
}

fn next(events: &mut Events) -> Event {
    run(next_of_streams(events))
}

fn is_waiting(events: &mut Events) -> bool {
    poll_times(next_of_streams(events), 3, Duration::from_millis(30)).is_none()
}

fn reset(direction: ResetDirection, streams: &[u16], result: ResetResult) -> Event {
    let streams = streams.iter().copied().map(StreamId).collect();
    Event::StreamsReset {
        incoming: direction == ResetDirection::Incoming,
        outgoing: direction == ResetDirection::Outgoing,
        streams,
        result,
    }
}

use ResetDirection::{Both, Incoming, Outgoing};
use ResetResult::{Denied, Performed};

#[test]
fn a_reset_of_the_peer_is_told_between_what_came_before_and_behind() {
    let (_world, one, other) = pair(&resetting());
    let (mut ours, mut theirs) = (one.events(), other.events());
    for message in [on(1, "first"), on(2, "on stream 2"), on(1, "second")] {
        run(one.send(message)).expect("is taken");
    }
    run(one.reset_streams(Outgoing, &[StreamId(1)])).expect("begins");
    run(one.send(on(1, "behind"))).expect("is taken");
    assert_eq!(next(&mut ours), reset(Outgoing, &[1], Performed));
    assert_eq!(read(&other), "first");
    assert!(is_waiting(&mut theirs), "stream 1 has a message from before the reset");
    assert_eq!([read(&other), read(&other)], ["on stream 2", "second"]);
    assert_eq!(next(&mut theirs), reset(Incoming, &[1], Performed));
    assert_eq!(read(&other), "behind");
}

#[test]
fn a_stream_that_nobody_reads_does_not_keep_back_the_reset_of_another() {
    let (_world, one, other) = pair(&resetting());
    let (mut ours, mut theirs) = (one.events(), other.events());
    let mut reader = other.read_stream(StreamId(3));
    run(one.send(on(3, "unread"))).expect("is taken");
    run(one.send(on(1, "before"))).expect("is taken");
    run(one.reset_streams(Outgoing, &[StreamId(1)])).expect("begins");
    assert_eq!(read(&other), "before");
    assert_eq!(next(&mut theirs), reset(Incoming, &[1], Performed));
    assert_eq!(next(&mut ours), reset(Outgoing, &[1], Performed));
    // The reset of all streams is reported only after the unread message of stream 3 is read.
    run(one.reset_streams(Outgoing, &[])).expect("begins");
    run(one.send(on(1, "behind"))).expect("is taken");
    assert!(is_waiting(&mut theirs));
    assert!(poll_times(other.recv(), 3, Duration::from_millis(30)).is_none());
    assert_eq!(run(reader.recv()).expect("is open").expect("arrives").data, "unread");
    assert_eq!(next(&mut theirs), reset(Incoming, &[], Performed));
    assert_eq!(read(&other), "behind");
}

#[test]
fn messages_that_wait_for_room_are_sent_before_a_reset_that_was_asked_for_later() {
    let (_world, one, other) = pair(&resetting());
    let mut theirs = other.events();
    let mut given = 0;
    while poll_times(one.send(vec![1; 20_000]), 100, Duration::from_millis(3)).is_some() {
        given += 1;
    }
    let resetting = one.clone();
    thread::scope(|scope| {
        scope.spawn(move || run(resetting.reset_streams(Outgoing, &[StreamId(0)])).expect("begins"));
        thread::sleep(Duration::from_millis(20));
        scope.spawn(|| run(one.send("behind")).expect("is taken"));
        for n in 0..given {
            assert!(is_waiting(&mut theirs) || n > 0, "before message {n}");
            assert_eq!(run(other.recv()).expect("is open").expect("arrives").data.len(), 20_000);
        }
        assert_eq!(next(&mut theirs), reset(Incoming, &[0], Performed));
        assert_eq!(read(&other), "behind");
    });
}

#[test]
fn streams_that_the_peer_sends_on_are_reset_if_it_allows_that() {
    let (_world, one, other) = pair(&resetting());
    let (mut ours, mut theirs) = (one.events(), other.events());
    run(one.reset_streams(Both, &[StreamId(1)])).expect("begins");
    let told = [next(&mut ours), next(&mut ours)];
    for direction in [Outgoing, Incoming] {
        assert!(told.contains(&reset(direction, &[1], Performed)), "{told:?}");
    }
    let told = [next(&mut theirs), next(&mut theirs)];
    for direction in [Outgoing, Incoming] {
        assert!(told.contains(&reset(direction, &[1], Performed)), "{told:?}");
    }
    let (_world, one, _other) = pair(&Config { allow_reset: AllowReset::None, ..resetting() });
    let mut events = one.events();
    run(one.reset_streams(Incoming, &[StreamId(1)])).expect("begins");
    assert_eq!(next(&mut events), reset(Incoming, &[1], Denied));
    run(one.add_streams(3, 0)).expect("begins");
    assert_eq!(next(&mut events), Event::StreamsAdded { incoming: 0, outgoing: 3, result: Denied });
    assert_eq!(one.outbound_streams(), Ok(10));
}

#[test]
fn all_streams_and_tsns_are_reset_and_messages_go_on() {
    let (_world, one, other) = pair(&resetting());
    let (mut ours, mut theirs) = (one.events(), other.events());
    run(one.send(on(1, "before"))).expect("is taken");
    assert_eq!(read(&other), "before");
    run(one.reset_association()).expect("begins");
    run(one.send(on(1, "behind"))).expect("is taken");
    let all = Event::StreamsReset { incoming: true, outgoing: true, streams: vec![], result: Performed };
    assert_eq!([next(&mut ours), next(&mut theirs)], [all.clone(), all]);
    assert_eq!(read(&other), "behind");
    run(one.flush()).expect("is acknowledged");
}

#[test]
fn messages_can_be_sent_on_streams_that_were_added() {
    let (_world, one, other) = pair(&resetting());
    let (mut ours, mut theirs) = (one.events(), other.events());
    assert!(run(one.send(on(11, "too early"))).is_err());
    run(one.add_streams(2, 1)).expect("begins");
    let told = [next(&mut ours), next(&mut ours)];
    assert!(told.contains(&Event::StreamsAdded { incoming: 0, outgoing: 2, result: Performed }), "{told:?}");
    assert!(told.contains(&Event::StreamsAdded { incoming: 1, outgoing: 0, result: Performed }), "{told:?}");
    assert_eq!(one.outbound_streams(), Ok(12));
    run(one.send(on(11, "there"))).expect("is taken");
    assert_eq!(read(&other), "there");
    while other.outbound_streams() != Ok(11) {
        next(&mut theirs);
    }
    run(other.send(on(10, "and back"))).expect("is taken");
    assert_eq!(read(&one), "and back");
}

#[test]
fn a_reset_that_cannot_begin_says_why() {
    let (_world, one, _other) = pair(&Config { stream_reset: false, ..small() });
    let refused = run(one.reset_streams(Outgoing, &[])).expect_err("the option is off");
    assert_eq!(refused, StreamError::Refused(ResetError::NotSupported));
    assert!(refused.to_string().contains("stream_reset"));
    let (_world, one, _other) = pair(&resetting());
    let refused = run(one.reset_streams(Outgoing, &[StreamId(99)])).expect_err("there is none");
    assert!(refused.to_string().contains("99") && refused.to_string().contains("10"), "{refused}");
    let mut writer = one.writer(StreamId(4));
    run(writer.write_all(&[1; 70_000])).expect("is taken");
    let unfinished = ResetError::UnfinishedMessage { stream: StreamId(4) };
    assert_eq!(run(one.reset_streams(Outgoing, &[])), Err(StreamError::Refused(unfinished)));
    run(writer.finish()).expect("is taken");
    one.abort("enough");
    let reason = run(one.closed());
    assert_eq!(run(one.reset_association()), Err(StreamError::Ended(reason.clone())));
    assert_eq!(run(one.set_stream_value(StreamId(0), 1)), Err(StreamError::Ended(reason)));
}

#[test]
fn a_stream_of_less_value_waits_for_one_of_more_and_wrong_values_are_named() {
    let config = Config { stream_scheduler: StreamScheduler::Priority, ..resetting() };
    let (_world, one, other) = pair(&config);
    run(one.set_stream_value(StreamId(2), 7)).expect("there is one");
    let mut bulk = 0;
    while poll_times(
        one.send(Message::from(vec![1; 20_000]).stream(StreamId(2))),
        100,
        Duration::from_millis(3),
    )
    .is_some()
    {
        bulk += 1;
    }
    thread::scope(|scope| {
        scope.spawn(|| run(one.send(on(1, "urgent"))).expect("has room in the end"));
        let streams: Vec<u16> =
            (0..=bulk).map(|_| run(other.recv()).expect("is open").expect("arrives").stream.0).collect();
        let urgent = streams.iter().position(|&stream| stream == 1).expect("it came");
        assert!(urgent < bulk, "{urgent} of {bulk}");
    });
    let missing = sctp::StreamError::NoSuchStream { stream: StreamId(10), streams: 10 };
    assert_eq!(run(one.set_stream_value(StreamId(10), 1)), Err(StreamError::Value(missing)));
    let (_world, one, _other) = pair(&Config { stream_scheduler: StreamScheduler::Wfq, ..resetting() });
    let zero = sctp::StreamError::ZeroWeight { stream: StreamId(1) };
    assert_eq!(run(one.set_stream_value(StreamId(1), 0)), Err(StreamError::Value(zero)));
}

#[test]
fn dropping_a_reset_lets_it_go_on_once_it_was_polled() {
    for seed in 0..5 {
        for polls in 0..3 {
            let world = World::new(seed, LOSSY, &resetting());
            let (one, other) = world.connect();
            let (one, other) = (one.into_async(), other.into_async());
            let (mut ours, mut theirs) = (one.events(), other.events());
            run(one.send(on(1, "before"))).expect("is taken");
            poll_times(one.reset_streams(Outgoing, &[StreamId(1)]), polls, Duration::from_millis(1));
            run(one.send(on(1, "behind"))).expect("is taken");
            assert_eq!(read(&other), "before");
            if polls > 0 {
                assert_eq!(next(&mut theirs), reset(Incoming, &[1], Performed));
                assert_eq!(next(&mut ours), reset(Outgoing, &[1], Performed));
            }
            assert_eq!(read(&other), "behind");
        }
    }
}
