//! Tests of two endpoints on loopback addresses: real sockets, no loss.
#![cfg(target_os = "linux")] // Other systems have one loopback address only.

use anabranch_io::blocking::{Connection, Endpoint};
use anabranch_io::{BindError, ConnectError, Limit, Message, SendError, StreamId};
use std::net::IpAddr;
use std::thread;
use std::time::Duration;

const LOCAL: [IpAddr; 2] =
    [IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, 1)), IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, 2))];

fn endpoint(remote: Option<&Endpoint>) -> Endpoint {
    let udp = remote.map_or(9899, Endpoint::udp_port);
    Endpoint::builder().locals(LOCAL).udp_port(0).remote_udp_port(udp).bind().expect("binds")
}

/// Two endpoints and the two ends of a connection between them.
fn pair() -> (Endpoint, Endpoint, Connection, Connection) {
    let server = endpoint(None);
    let listener = server.listen(1);
    let client = endpoint(Some(&server));
    let connection = client.connect((LOCAL, server.port())).expect("connects");
    let accepted = listener.accept().expect("accepts");
    (client, server, connection, accepted)
}

#[test]
fn twenty_megabytes_arrive_in_order_over_two_addresses() {
    let (_client, _server, sender, receiver) = pair();
    const MESSAGE: usize = 10_000;
    const MESSAGES: usize = 2000;
    let reading = thread::spawn(move || {
        for n in 0..MESSAGES {
            let message = receiver.recv().expect("is open").expect("a message");
            assert_eq!(message.data.len(), MESSAGE);
            assert!(message.data.iter().all(|&byte| byte == n as u8), "message {n}");
        }
        assert_eq!(receiver.recv(), Ok(None));
        receiver.closed()
    });
    for n in 0..MESSAGES {
        sender.send(vec![n as u8; MESSAGE]).expect("is taken");
    }
    sender.flush().expect("is acknowledged");
    let paths = sender.paths().expect("it is open");
    assert_eq!(paths.len(), 2);
    assert!(paths.iter().all(|path| path.stats.data_packets > 100), "both paths carry data");
    sender.shutdown().expect("ends gracefully");
    assert!(reading.join().expect("everything arrived").is_graceful());
}

#[test]
fn packets_of_a_bulk_transfer_share_system_calls() {
    let (client, _server, sender, receiver) = pair();
    let reading = thread::spawn(move || while receiver.recv().expect("ends gracefully").is_some() {});
    for _ in 0..300 {
        sender.send(vec![7; 65_536]).expect("is taken");
    }
    sender.shutdown().expect("ends gracefully");
    reading.join().expect("ends");
    let sockets = client.stats().sockets;
    let (packets, sends) = sockets
        .iter()
        .fold((0, 0), |(packets, sends), socket| (packets + socket.packets_sent, sends + socket.sends));
    assert!(packets > 10_000, "{packets} packets");
    assert!(packets >= 4 * sends, "{packets} packets in {sends} calls");
}

#[test]
fn a_connection_that_is_dropped_delivers_what_was_given() {
    let (_client, _server, sender, receiver) = pair();
    for n in 0..100 {
        sender.send(vec![n; 1000]).expect("is taken");
    }
    drop(sender);
    let mut received = 0;
    while receiver.recv().expect("ends gracefully").is_some() {
        received += 1;
    }
    assert_eq!(received, 100);
    assert!(receiver.closed().is_graceful());
}

#[test]
fn closing_an_endpoint_ends_its_connections_and_its_driver() {
    let (client, server, sender, receiver) = pair();
    sender.send("last words").expect("is taken");
    client.close();
    assert_eq!(receiver.recv().expect("is open").expect("arrives").data, "last words");
    assert_eq!(receiver.recv(), Ok(None));
    assert!(sender.send("too late").is_err());
    assert!(matches!(client.connect((LOCAL, server.port())), Err(ConnectError::Failed(_))));
}

#[test]
fn messages_that_cannot_be_sent_are_refused_with_the_reason() {
    let (_client, _server, sender, _receiver) = pair();
    assert_eq!(sender.send(Vec::new()), Err(SendError::Empty));
    assert!(matches!(
        sender.send(Message::from("x").stream(StreamId(9999))),
        Err(SendError::NoSuchStream { .. })
    ));
    assert!(matches!(sender.send(vec![0; 100 << 20]), Err(SendError::TooLong { .. })));
    sender.shutdown().expect("ends gracefully");
    assert!(matches!(sender.send("x"), Err(SendError::Ended(_))));
}

#[test]
fn what_nobody_reads_stops_the_sender() {
    let (_client, _server, sender, receiver) = pair();
    let mut given = 0;
    let refused = loop {
        match sender.send_timeout(vec![1; 60_000], Duration::from_millis(300)) {
            Ok(()) => given += 1,
            Err(refused) => break refused,
        }
        assert!(given < 2000, "120 MB were taken though nobody reads");
    };
    assert_eq!(refused, SendError::TimedOut);
    assert_eq!(std::io::Error::from(refused).kind(), std::io::ErrorKind::TimedOut);
    let limits = sender.stats().expect("it is open").limits;
    // If the system lost a packet, the receive window is full of data behind the gap (head-of-line blocking).
    let closed = limits.of(Limit::PeerWindow) + limits.of(Limit::HeadOfLine);
    assert!(
        closed > Duration::from_millis(100),
        "the window of a peer that does not read is the limit: {limits:?}"
    );
    let mut received = 0;
    drop(sender);
    while receiver.recv().expect("ends gracefully").is_some() {
        received += 1;
    }
    assert_eq!(received, given);
}

#[test]
fn a_full_backlog_refuses_further_peers() {
    let server = endpoint(None);
    let _listener = server.listen(1);
    let [first, second] = [(); 2].map(|()| endpoint(Some(&server)));
    let _held = first.connect((LOCAL, server.port())).expect("the backlog has room");
    assert!(matches!(second.connect((LOCAL, server.port())), Err(ConnectError::Failed(_))));
}

#[test]
fn nobody_listens_so_that_the_peer_refuses() {
    let server = endpoint(None);
    let client = endpoint(Some(&server));
    assert!(matches!(client.connect((LOCAL, server.port())), Err(ConnectError::Failed(_))));
}

#[test]
fn an_address_that_refuses_does_not_end_the_attempt_at_the_others() {
    for refusing in [0, 1] {
        let server = Endpoint::builder().local(LOCAL[1 - refusing]).udp_port(0).bind().expect("binds");
        let listener = server.listen(1);
        let client = endpoint(Some(&server));
        let connection = client.connect_timeout((LOCAL, server.port()), Duration::from_millis(900));
        let connection = connection.expect("connects before an RTO has passed");
        connection.send("hello").expect("is taken");
        assert_eq!(
            listener.accept().expect("accepts").recv().expect("is open").expect("arrives").data,
            "hello"
        );
    }
}

#[test]
fn an_address_of_another_host_is_named_in_the_error() {
    let error = Endpoint::builder().local([192, 0, 2, 1]).bind().expect_err("it is not ours");
    assert!(matches!(error, BindError::Address { .. }));
    assert!(error.to_string().contains("192.0.2.1:9899") && error.to_string().contains("no interface"));
}

#[test]
fn a_port_that_nobody_has_ends_the_attempt_at_once_and_the_endpoint_goes_on() {
    let gone = endpoint(None);
    let udp_port = gone.udp_port();
    gone.close();
    let server = endpoint(None);
    let listener = server.listen(1);
    let client = endpoint(Some(&server));
    let refused = client.connect_timeout(
        anabranch_io::Peer::from((LOCAL, 5001)).udp_port(udp_port),
        // The timer of the first INIT expires after 1 s at the earliest.
        Duration::from_millis(900),
    );
    assert!(matches!(refused, Err(ConnectError::Failed(_))), "{refused:?}");
    let connection = client.connect((LOCAL, server.port())).expect("connects");
    connection.send("hello").expect("is taken");
    assert_eq!(listener.accept().expect("accepts").recv().expect("is open").expect("arrives").data, "hello");
}
