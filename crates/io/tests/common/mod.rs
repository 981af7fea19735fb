//! Two endpoints with two addresses each, and a lossy relay between them.
#![allow(dead_code)] // Each test uses a part of it.

use anabranch_io::blocking;
use anabranch_io::{Config, Endpoint, Listener, Peer};
use std::future::Future;
use std::net::{IpAddr, Ipv4Addr};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;
use testkit::{Faults, Relay};
use units::{ByteCount, Span};

/// Time limit for every event that must happen.
pub const SOON: Duration = Duration::from_secs(20);

const fn local(last: u8) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(127, 0, 0, last))
}

pub const CLIENT: [IpAddr; 2] = [local(1), local(3)];
pub const SERVER: [IpAddr; 2] = [local(2), local(4)];

/// Faults of a bad network.
pub const LOSSY: Faults =
    Faults { loss: 0.1, duplication: 0.05, delay: 0.2, longest_delay: Duration::from_millis(5), ..NO_FAULTS };

pub const NO_FAULTS: Faults = Faults {
    loss: 0.0,
    duplication: 0.0,
    delay: 0.0,
    longest_delay: Duration::ZERO,
    least_delay: Duration::ZERO,
};

/// Options whose timers suit a network without propagation delay.
pub fn quick(config: Config) -> Config {
    Config {
        rto_initial: Span::from_millis(30),
        rto_min: Span::from_millis(20),
        rto_max: Span::from_millis(200),
        sack_delay: Span::from_millis(10),
        association_max_retrans: 200,
        max_init_retransmits: 200,
        ..config
    }
}

/// As [`quick`], with small buffers.
pub fn small() -> Config {
    let (send_buffer, receive_buffer) = (ByteCount::new(200_000), ByteCount::new(200_000));
    Config {
        send_buffer: send_buffer.into(),
        receive_buffer: receive_buffer.into(),
        ..quick(Config::recommended())
    }
}

pub struct World {
    pub client: Endpoint,
    pub server: Endpoint,
    pub listener: Listener,
    /// Address of the server for the client: the relay.
    pub peer: Peer,
    pub relay: Relay,
}

impl World {
    pub fn new(seed: u64, faults: Faults, config: &Config) -> World {
        let endpoint = |addresses: [IpAddr; 2]| {
            let builder = Endpoint::builder().locals(addresses).udp_port(0).config(config.clone());
            builder.bind().expect("loopback addresses can be bound")
        };
        let (client, server) = (endpoint(CLIENT), endpoint(SERVER));
        let relay = Relay::start(&CLIENT, &SERVER, server.udp_port(), faults, seed).expect("starts");
        let peer = Peer::from((SERVER, server.port())).udp_port(relay.port().expect("is bound"));
        World { listener: server.listen(8), client, server, peer, relay }
    }

    /// Connects the client to the server, and returns the two ends of the connection.
    pub fn connect(&self) -> (blocking::Connection, blocking::Connection) {
        let client = blocking::Endpoint::from(self.client.clone());
        let connection = client.connect_timeout(self.peer.clone(), SOON).expect("connects in time");
        let accepted = run(self.listener.accept()).expect("is open");
        (connection, accepted.into())
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls a future at most `polls` times and then drops it. Returns its result if it was ready. Polls again
/// when the future is woken, or after `patience`.
pub fn poll_times<T>(future: impl Future<Output = T>, polls: usize, patience: Duration) -> Option<T> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    for n in 1..=polls {
        if let Poll::Ready(result) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(result);
        }
        if n < polls {
            thread::park_timeout(patience);
        }
    }
    None
}

/// Returns the result of a future that must be ready within [`SOON`].
pub fn run<T>(future: impl Future<Output = T>) -> T {
    poll_times(future, 100_000, SOON).expect("is ready")
}
