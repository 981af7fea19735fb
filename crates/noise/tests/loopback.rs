//! Encrypted connections over loopback.
#![cfg(target_os = "linux")] // Other systems have one loopback address only.

use anabranch_noise::{Noise, Peers, PrivateKey, PublicKey, Secret};
use io::blocking::{Builder, Connection, Endpoint, Listener};
use io::{CloseReason, ConnectError, ConnectionError, GuardError, Identity, Peer};
use std::net::{IpAddr, Ipv4Addr};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(20);

fn local(last: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(127, 0, 0, last))
}

fn key() -> PrivateKey {
    PrivateKey::generate().expect("randomness")
}

fn bind(addresses: &[u8], guard: Noise) -> Endpoint {
    let builder: Builder = Endpoint::builder().udp_port(0).guard(guard);
    builder.locals(addresses.iter().map(|&last| local(last))).bind().expect("loopback")
}

/// A server on two addresses.
struct Server {
    endpoint: Endpoint,
    listener: Listener,
    key: PublicKey,
}

impl Server {
    fn new(peers: Peers) -> Server {
        let key = key();
        let public = key.public();
        let endpoint = bind(&[2, 4], Noise::new(key, peers).expect("good keys"));
        Server { listener: endpoint.listen(256), endpoint, key: public }
    }

    fn peer(&self) -> Peer {
        let mut peer = Peer::from((vec![local(2), local(4)], self.endpoint.port()));
        peer.udp_port = Some(self.endpoint.udp_port());
        peer
    }

    fn connect(&self, key: PrivateKey) -> Result<Connection, ConnectError> {
        let noise = Noise::new(key, Peers::known([self.key])).expect("good keys");
        bind(&[1, 3], noise).connect(self.peer())
    }
}

fn text(connection: &Connection) -> String {
    let received = connection.recv_timeout(SOON).expect("in time").expect("a message");
    String::from_utf8(received.data.to_vec()).expect("is text")
}

#[test]
fn a_connection_is_encrypted_and_each_end_knows_who_the_other_one_is() {
    let server = Server::new(Peers::any());
    let client = key();
    let connection = server.connect(client.clone()).expect("is accepted");
    let accepted = server.listener.accept().expect("a client");
    assert_eq!(connection.peer_identity(), Some(server.key.into()));
    assert_eq!(accepted.peer_identity(), Some(client.public().into()));
    assert_eq!(Identity::from(server.key).to_string(), server.key.to_string());
    connection.send("over two paths").expect("is queued");
    assert_eq!(text(&accepted), "over two paths");
    assert_eq!(connection.paths().expect("is open").len(), 2);
}

#[test]
fn many_clients_share_a_server() {
    let server = Server::new(Peers::any());
    let clients: Vec<PrivateKey> = (0..60).map(|_| key()).collect();
    thread::scope(|scope| {
        for (n, client) in clients.iter().enumerate() {
            let server = &server;
            scope.spawn(move || {
                let connection = server.connect(client.clone()).expect("is accepted");
                connection.send(format!("{n} {}", client.public())).expect("is queued");
                assert_eq!(text(&connection), "good bye");
            });
        }
        for _ in &clients {
            let accepted = server.listener.accept().expect("a client");
            let text = text(&accepted);
            let (_, key) = text.split_once(' ').expect("two words");
            assert_eq!(accepted.peer_identity().map(|who| who.to_string()).as_deref(), Some(key));
            accepted.send("good bye").expect("is queued");
        }
    });
}

#[test]
fn a_server_that_does_not_know_the_client_does_not_answer() {
    let server = Server::new(Peers::known([key().public()]));
    let noise = Noise::new(key(), Peers::known([server.key])).expect("good keys");
    let endpoint = bind(&[1, 3], noise);
    let refused = endpoint.connect_timeout(server.peer(), Duration::from_secs(2));
    assert!(matches!(refused, Err(ConnectError::TimedOut)), "{refused:?}");
    assert!(server.listener.accept_timeout(Duration::from_millis(1)).is_err());
}

#[test]
fn a_client_with_several_peers_says_which_one_it_means() {
    let server = Server::new(Peers::any());
    let noise = Noise::new(key(), Peers::known([key().public(), server.key])).expect("good keys");
    let endpoint = bind(&[1, 3], noise);
    let refused = endpoint.connect(server.peer()).expect_err("two peers are known");
    assert!(matches!(refused, ConnectError::Guard(GuardError::WhichPeer { known: 2 })), "{refused}");
    let stranger = server.peer().identity(key().public());
    let refused = endpoint.connect(stranger).expect_err("it is not known");
    assert!(matches!(refused, ConnectError::Guard(GuardError::UnknownPeer)), "{refused}");
    let connection = endpoint.connect(server.peer().identity(server.key)).expect("is accepted");
    assert_eq!(connection.peer_identity(), Some(server.key.into()));
}

#[test]
fn a_shared_secret_is_part_of_the_keys() {
    let secret = || Secret::generate().expect("randomness");
    let (right, wrong) = (secret(), secret());
    let server = Server::new(Peers::any().psk_for_all(right.clone()));
    let connect = |secret: &Secret, patience| {
        let peers = Peers::known([server.key]).psk(server.key, secret.clone());
        let endpoint = bind(&[1, 3], Noise::new(key(), peers).expect("good keys"));
        endpoint.connect_timeout(server.peer(), patience).map(|connection| (endpoint, connection))
    };
    assert!(connect(&wrong, Duration::from_secs(2)).is_err());
    assert!(connect(&right, SOON).is_ok());
}

#[test]
fn the_connections_of_a_revoked_peer_end_at_once_and_others_go_on() {
    let key_of_server = key();
    let public = key_of_server.public();
    let noise = Noise::new(key_of_server, Peers::any()).expect("good keys");
    let control = noise.control();
    let endpoint = bind(&[2, 4], noise);
    let server = Server { listener: endpoint.listen(256), endpoint, key: public };
    let [bad, good] = [key(), key()];
    let connections = [&bad, &good].map(|key| server.connect(key.clone()).expect("is accepted"));
    let accepted = [0, 1].map(|_| server.listener.accept().expect("a client"));
    let of = |key: &PrivateKey| {
        let found = accepted.iter().find(|one| one.peer_identity() == Some(key.public().into()));
        found.expect("is connected")
    };
    // No packet is sent, so only `revoke` can wake the thread of the sockets.
    thread::sleep(Duration::from_millis(300));
    control.revoke(bad.public());
    thread::scope(|scope| {
        let (tell, told) = mpsc::channel();
        let connection = of(&bad);
        scope.spawn(move || tell.send(connection.closed()));
        let end = told.recv_timeout(Duration::from_secs(4));
        assert_eq!(end, Ok(ConnectionError::Revoked), "before the next heartbeat");
    });
    connections[1].send("still here").expect("is queued");
    assert_eq!(text(of(&good)), "still here");
}

#[test]
fn a_port_without_a_socket_refuses_at_once() {
    let server = Server::new(Peers::any());
    let (peer, public) = (server.peer(), server.key);
    drop(server);
    let endpoint = bind(&[1, 3], Noise::new(key(), Peers::known([public])).expect("good keys"));
    let refused = endpoint.connect_timeout(peer, Duration::from_secs(10)).expect_err("nobody listens");
    let expected = ConnectError::Failed(ConnectionError::Closed(CloseReason::Unreachable));
    assert_eq!(refused, expected);
}
