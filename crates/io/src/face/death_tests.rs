//! Tests that no call hangs after a panic of the driver, neither waiting nor later calls.

use crate::shared::wait::block_on_for;
use crate::{
    AddressError, Config, ConnectError, Connection, ConnectionError, Endpoint, Event, KeyError, Listener,
    NotDelivered, PathError, PathOptions, Peer, ResetDirection, SendError, StreamError, StreamId,
};
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr};
use std::thread;
use std::time::Duration;
use units::ByteCount;

const LOCAL: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn soon<T>(future: impl Future<Output = T>) -> T {
    block_on_for(future, Duration::from_secs(20)).expect("does not hang")
}

fn endpoint() -> Endpoint {
    let (send_buffer, receive_buffer) = (ByteCount::new(100_000), ByteCount::new(100_000));
    let config = Config {
        send_buffer: send_buffer.into(),
        receive_buffer: receive_buffer.into(),
        ..Config::recommended()
    };
    Endpoint::builder().local(LOCAL).udp_port(0).config(config).bind().expect("loopback can be bound")
}

fn peer(server: &Endpoint) -> Peer {
    Peer::from((LOCAL, server.port())).udp_port(server.udp_port())
}

impl Endpoint {
    /// Ends the driver by a panic.
    fn kill(&self) {
        let _ = soon(self.hold.hub.ask(|_, _| -> () { panic!("this test ends the driver") }));
    }
}

/// An endpoint, listener and connection whose driver will panic, and the other end.
fn doomed() -> (Endpoint, Listener, Connection, (Endpoint, Connection)) {
    let (ours, theirs) = (endpoint(), endpoint());
    let listener = ours.listen(1);
    let far = soon(theirs.connect(peer(&ours))).expect("connects");
    let near = soon(listener.accept()).expect("accepts");
    (ours, listener, near, (theirs, far))
}

const DEAD: ConnectionError = ConnectionError::EndpointClosed;

#[test]
fn no_call_hangs_once_the_driver_is_dead() {
    let (ours, listener, near, _far) = doomed();
    let taken = soon(near.send_tracked(vec![1; 90_000])).expect("is taken");
    let mut events = near.events();
    ours.kill();
    assert_eq!(soon(near.closed()), DEAD);
    // The peer may have acknowledged the message before the panic.
    assert!(matches!(soon(taken), Ok(()) | Err(NotDelivered::Ended(DEAD))));
    assert_eq!(soon(near.send("x")), Err(SendError::Ended(DEAD)));
    assert!(near.try_send("x").is_err());
    assert!(soon(near.writer(StreamId(0)).finish()).is_err());
    assert_eq!(soon(near.recv()), Err(DEAD));
    assert_eq!(soon(near.read_stream(StreamId(1)).recv()), Err(DEAD));
    assert_eq!(soon(events.next()), None);
    assert_eq!(soon(near.flush()), Err(NotDelivered::Ended(DEAD)));
    assert_eq!(soon(near.shutdown()), Err(DEAD));
    assert_eq!(soon(near.paths()), Err(DEAD));
    assert_eq!((soon(near.stats()), soon(near.options())), (Err(DEAD), Err(DEAD)));
    assert_eq!((near.peer(), near.outbound_streams()), (Err(DEAD), Err(DEAD)));
    assert_eq!(soon(near.set_path_options(LOCAL, PathOptions::default())), Err(DEAD));
    assert_eq!(soon(near.heartbeat(LOCAL)), Err(PathError::Ended(DEAD)));
    assert_eq!(soon(near.set_primary(LOCAL)), Err(PathError::Ended(DEAD)));
    let ended = Err(StreamError::Ended(DEAD));
    assert_eq!(soon(near.set_stream_value(StreamId(0), 1)), ended);
    assert_eq!(soon(near.reset_streams(ResetDirection::Both, &[])), ended);
    assert_eq!(soon(near.add_streams(1, 1)), ended);
    assert_eq!(soon(near.reset_association()), ended);
    let is_dead = |result| matches!(result, Err(AddressError::Ended(DEAD)));
    let other = IpAddr::from([127, 0, 0, 9]);
    assert!(is_dead(soon(ours.add_local_address(other))) && is_dead(soon(ours.remove_local_address(other))));
    assert!(is_dead(soon(near.add_local_address(LOCAL))) && is_dead(soon(near.remove_local_address(LOCAL))));
    assert!(is_dead(soon(near.set_peer_primary(LOCAL))));
    let ended = Err(KeyError::Ended(DEAD));
    assert_eq!(soon(near.set_auth_key(1, "secret")), ended);
    assert_eq!(soon(near.activate_auth_key(1)), ended);
    assert_eq!(soon(near.deactivate_auth_key(1)), ended);
    assert_eq!(soon(near.remove_auth_key(1)), ended);
    near.abort("x");
    assert!(
        matches!(soon(listener.accept()), Err(DEAD)) && matches!(soon(ours.listen(1).accept()), Err(DEAD))
    );
    assert!(matches!(soon(ours.connect((LOCAL, 9))), Err(ConnectError::Failed(DEAD))));
    assert!(matches!(soon(ours.discarded()), Err(DEAD)));
    soon(ours.close());
}

#[test]
fn calls_that_wait_end_when_the_driver_dies() {
    let (ours, listener, near, _far) = doomed();
    let mut events = near.events();
    let mut waiting = None;
    while let Some(sent) = block_on_for(near.send_tracked(vec![1; 50_000]), Duration::from_millis(100)) {
        waiting = sent.ok();
    }
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(soon(near.send(vec![1; 50_000])), Err(SendError::Ended(DEAD))));
        let waiting = waiting.expect("one was taken");
        scope.spawn(|| assert_eq!(soon(waiting), Err(NotDelivered::Ended(DEAD))));
        scope.spawn(|| assert_eq!(soon(near.recv()), Err(DEAD)));
        scope.spawn(|| while soon(events.next()).is_some() {});
        scope.spawn(|| assert_eq!(soon(near.closed()), DEAD));
        scope.spawn(|| assert!(soon(listener.accept()).is_err()));
        scope.spawn(|| assert_eq!(soon(near.flush()), Err(NotDelivered::Ended(DEAD))));
        // The reset waits behind messages that wait for room.
        let reset = || soon(near.reset_streams(ResetDirection::Outgoing, &[]));
        scope.spawn(move || assert_eq!(reset(), Err(StreamError::Ended(DEAD))));
        // The peer does not exist, so the attempt waits for an answer.
        scope.spawn(|| assert!(soon(ours.connect((IpAddr::from([192, 0, 2, 1]), 9))).is_err()));
        thread::sleep(Duration::from_millis(30));
        ours.kill();
    });
}

#[test]
fn a_restart_of_the_peer_is_told_and_flush_tells_what_is_lost() {
    let server = endpoint();
    let listener = server.listen(1);
    let bind = |port, udp_port| {
        let config = Config { rto_initial: units::Span::from_millis(50), ..Config::recommended() };
        let builder = Endpoint::builder().local(LOCAL).port(port).udp_port(udp_port).config(config);
        builder.bind().expect("binds")
    };
    let first = bind(0, 0);
    let _dead = soon(first.connect(peer(&server))).expect("connects");
    let connection = soon(listener.accept()).expect("accepts");
    let mut events = connection.events();
    first.kill();
    soon(first.close());
    // The peer, which has ended, acknowledges nothing. The message is sent early, so that the next peer does
    // not receive it as an out-of-the-blue packet.
    let lost = soon(connection.send_tracked("lost")).expect("is taken");
    while soon(connection.stats()).expect("is open").outstanding_chunks == 0 {}
    let again = bind(first.port(), first.udp_port());
    let restarted = soon(again.connect(peer(&server))).expect("connects anew");
    while soon(events.next()).expect("is open") != Ok(Event::Restarted) {}
    assert_eq!(soon(connection.flush()), Err(NotDelivered::Lost));
    assert_eq!(soon(lost), Err(NotDelivered::Lost));
    soon(connection.send("new")).expect("is taken");
    assert_eq!(soon(connection.flush()), Ok(()));
    assert_eq!(soon(restarted.recv()).expect("is open").expect("arrives").data, "new");
}
