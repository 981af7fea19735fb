//! A lossy network between two programs on one host: a relay of UDP datagrams on loopback addresses.
#![allow(clippy::disallowed_types, reason = "sockets work in real time")]

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Probabilities of the faults of a network.
#[derive(Clone, Copy, Debug, Default)]
pub struct Faults {
    /// A datagram is lost.
    pub loss: f64,
    /// A datagram is duplicated.
    pub duplication: f64,
    /// A datagram is delayed by a random time of at most `longest_delay`, so that others overtake it.
    pub delay: f64,
    /// Maximum additional delay of a datagram.
    pub longest_delay: Duration,
    /// Delay of every datagram.
    pub least_delay: Duration,
}

/// Forwards UDP datagrams between a client and a server on loopback, each of which may have several
/// addresses. Both receive datagrams from the addresses of the other side, but from UDP ports of the relay.
/// The fate of the nth datagram that a socket receives depends only on the seed.
#[derive(Debug)]
pub struct Relay {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

/// A socket of the relay that represents one address of the client or the server. It is bound to this
/// address, and the other side sends its datagrams to it.
#[derive(Debug)]
struct Facing {
    socket: UdpSocket,
    address: IpAddr,
}

#[derive(Debug)]
struct Shared {
    /// Sockets to which the client sends: bound to the server's addresses, all with the same port.
    facing_client: Vec<Facing>,
    /// Sockets to which the server sends: bound to the client's addresses.
    facing_server: Vec<Facing>,
    server_port: u16,
    state: Mutex<State>,
    changed: Condvar,
    stop: AtomicBool,
    faults: Faults,
}

#[derive(Debug, Default)]
struct State {
    /// UDP port of each address of the client, known after the first datagram from it.
    client_ports: BTreeMap<IpAddr, u16>,
    /// Addresses of the client from and to which all datagrams are lost.
    cut: Vec<IpAddr>,
    held: BinaryHeap<Reverse<Held>>,
}

/// A delayed datagram. Datagrams are ordered by the time at which they must be sent.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Held {
    at: Instant,
    bytes: Vec<u8>,
    hop: Hop,
}

/// The path of a datagram through the relay, as indices into the lists of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Hop {
    to_server: bool,
    client: usize,
    server: usize,
}

impl Relay {
    /// Starts a relay between a client with these addresses and a server, given by its addresses and its UDP
    /// port.
    ///
    /// # Errors
    /// The error of the system, if an address cannot be bound.
    pub fn start(
        clients: &[IpAddr],
        servers: &[IpAddr],
        server_port: u16,
        faults: Faults,
        seed: u64,
    ) -> io::Result<Relay> {
        let facing_server = bind(clients, 0)?;
        let shared = Arc::new(Shared {
            facing_client: bind_to_one_port(servers)?,
            facing_server,
            server_port,
            state: Mutex::default(),
            changed: Condvar::new(),
            stop: AtomicBool::new(false),
            faults,
        });
        let sockets = servers.iter().enumerate().map(|(n, _)| (true, n));
        let sockets = sockets.chain(clients.iter().enumerate().map(|(n, _)| (false, n)));
        let mut threads: Vec<_> = sockets
            .enumerate()
            .map(|(stream, (to_server, n))| {
                let (shared, dice) = (shared.clone(), Dice(seed << 8 | stream as u64));
                thread::spawn(move || shared.receive(to_server, n, dice))
            })
            .collect();
        let holding = shared.clone();
        threads.push(thread::spawn(move || holding.release()));
        Ok(Relay { shared, threads })
    }

    /// The UDP port at which the client reaches the server's addresses.
    ///
    /// # Errors
    /// The error of the system.
    pub fn port(&self) -> io::Result<u16> {
        Ok(self.shared.facing_client[0].socket.local_addr()?.port())
    }

    /// Loses all datagrams from and to this address of the client from now on.
    pub fn cut(&self, client: IpAddr) {
        self.shared.state().cut.push(client);
    }
}

impl Drop for Relay {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        for facing in self.shared.facing_client.iter().chain(&self.shared.facing_server) {
            // The thread waits for a datagram. An empty datagram of its own socket wakes it.
            let _ = facing.socket.local_addr().and_then(|own| facing.socket.send_to(&[], own));
        }
        drop(self.shared.state());
        self.shared.changed.notify_all();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// Receives from one socket until the relay stops.
    fn receive(&self, to_server: bool, n: usize, mut dice: Dice) {
        let socket = if to_server { &self.facing_client[n] } else { &self.facing_server[n] };
        let mut bytes = vec![0; 65_536];
        while !self.stopped() {
            let Ok((length, from)) = socket.socket.recv_from(&mut bytes) else { continue };
            let others = if to_server { &self.facing_server } else { &self.facing_client };
            let Some(other) = others.iter().position(|facing| facing.address == from.ip()) else { continue };
            let (client, server) = if to_server { (other, n) } else { (n, other) };
            if to_server {
                self.state().client_ports.insert(from.ip(), from.port());
            }
            self.pass(Hop { to_server, client, server }, &bytes[..length], &mut dice);
        }
    }

    fn pass(&self, hop: Hop, bytes: &[u8], dice: &mut Dice) {
        let Faults { loss, duplication, delay, longest_delay, least_delay } = self.faults;
        let [lost, twice, late] = [loss, duplication, delay].map(|chance| dice.roll() < chance);
        let more = longest_delay.mul_f64(dice.roll());
        if lost || self.state().cut.contains(&self.facing_server[hop.client].address) {
            return;
        }
        if twice {
            self.send_after(least_delay, hop, bytes);
        }
        self.send_after(if late { least_delay + more } else { least_delay }, hop, bytes);
    }

    fn send_after(&self, wait: Duration, hop: Hop, bytes: &[u8]) {
        if wait.is_zero() {
            return self.send(hop, bytes);
        }
        let held = Held { at: Instant::now() + wait, bytes: bytes.to_vec(), hop };
        self.state().held.push(Reverse(held));
        self.changed.notify_all();
    }

    /// Sends a datagram. If the system refuses to send the datagram, it is lost.
    fn send(&self, hop: Hop, bytes: &[u8]) {
        let (client, server) = (&self.facing_server[hop.client], &self.facing_client[hop.server]);
        if hop.to_server {
            let _ = client.socket.send_to(bytes, SocketAddr::new(server.address, self.server_port));
            return;
        }
        let port = self.state().client_ports.get(&client.address).copied();
        if let Some(port) = port {
            let _ = server.socket.send_to(bytes, SocketAddr::new(client.address, port));
        }
    }

    /// Sends each delayed datagram at its time.
    fn release(&self) {
        let mut state = self.state();
        while !self.stopped() {
            let now = Instant::now();
            let wait = state.held.peek().map(|Reverse(next)| next.at.saturating_duration_since(now));
            match wait {
                Some(wait) if wait.is_zero() => {
                    let Some(Reverse(held)) = state.held.pop() else { continue };
                    drop(state);
                    self.send(held.hop, &held.bytes);
                    state = self.state();
                }
                Some(wait) => {
                    let woken = self.changed.wait_timeout(state, wait);
                    state = woken.unwrap_or_else(PoisonError::into_inner).0;
                }
                None => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

fn bind(addresses: &[IpAddr], port: u16) -> io::Result<Vec<Facing>> {
    addresses
        .iter()
        .map(|&address| Ok(Facing { socket: UdpSocket::bind(SocketAddr::new(address, port))?, address }))
        .collect()
}

/// Binds sockets to all addresses with one port. If the free port of the first address is in use at another
/// address, tries again.
fn bind_to_one_port(addresses: &[IpAddr]) -> io::Result<Vec<Facing>> {
    const TRIES: usize = 16;
    let mut tries = 0;
    loop {
        tries += 1;
        let port = UdpSocket::bind(SocketAddr::new(addresses[0], 0))?.local_addr()?.port();
        match bind(addresses, port) {
            Err(error) if error.kind() == ErrorKind::AddrInUse && tries < TRIES => {}
            done => return done,
        }
    }
}

/// Random numbers from a seed (SplitMix64).
#[derive(Debug)]
struct Dice(u64);

impl Dice {
    /// A random number from 0 to 1.
    fn roll(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(all(test, target_os = "linux"))] // Other systems have one loopback address only.
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        [127, 0, 0, last].into()
    }

    #[test]
    fn datagrams_cross_both_ways_with_the_addresses_of_their_senders_until_the_path_is_cut() -> io::Result<()>
    {
        let server = UdpSocket::bind(SocketAddr::new(address(2), 0))?;
        let relay =
            Relay::start(&[address(3)], &[address(2)], server.local_addr()?.port(), Faults::default(), 1)?;
        let client = UdpSocket::bind(SocketAddr::new(address(3), 0))?;
        client.send_to(b"there", SocketAddr::new(address(2), relay.port()?))?;
        let mut bytes = [0; 9];
        let (length, from) = server.recv_from(&mut bytes)?;
        assert_eq!((&bytes[..length], from.ip()), (&b"there"[..], address(3)));
        server.send_to(b"back", from)?;
        let (length, from) = client.recv_from(&mut bytes)?;
        assert_eq!((&bytes[..length], from), (&b"back"[..], SocketAddr::new(address(2), relay.port()?)));
        relay.cut(address(3));
        client.send_to(b"lost", from)?;
        server.set_read_timeout(Some(Duration::from_millis(50)))?;
        assert!(server.recv_from(&mut bytes).is_err());
        Ok(())
    }
}
