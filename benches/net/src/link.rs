//! Emulated links between loopback addresses, with a rate, a delay, a drop-tail queue and an outage.
//!
//! A relay stands between client and server, like a NAT that changes only UDP ports. The relay receives the
//! client's packets at the server's address and another port. It sends them on from the client's address and
//! another port. The endpoints learn these ports as they learn those of a NAT.

use std::error::Error;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes of the IPv4 and UDP headers of a packet on the link.
const HEADERS: usize = 28;

/// A link, the same in both directions.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// Bits per second, IP header included.
    pub rate: f64,
    /// Round-trip time without queueing.
    pub rtt: Duration,
    /// Beginning and end of the time in which the link loses all packets, measured from the start.
    pub outage: Option<(Duration, Duration)>,
}

impl Link {
    /// A link without an outage; `rate` in Mbit/s and `rtt` in milliseconds.
    pub fn new(rate: f64, rtt: u64) -> Self {
        Link { rate: rate * 1e6, rtt: Duration::from_millis(rtt), outage: None }
    }

    /// Longest queueing delay: one and a half round-trip times.
    fn longest_wait(&self) -> Duration {
        self.rtt.mul_f64(1.5)
    }
}

/// The addresses at the two ends of a link.
#[derive(Clone, Copy, Debug)]
pub struct Ends {
    /// The client's address and UDP port.
    pub client: SocketAddr,
    /// The server's address and UDP port.
    pub server: SocketAddr,
    /// UDP port at the server's address at which the link receives the client's packets.
    pub entrance: u16,
}

/// Starts a relay, which runs until the process ends.
pub fn start(link: Link, ends: Ends, begin: Instant) -> Result<(), Box<dyn Error>> {
    let near_server = Arc::new(UdpSocket::bind((ends.server.ip(), ends.entrance))?);
    let near_client = Arc::new(UdpSocket::bind((ends.client.ip(), 0))?);
    direction(link, begin, near_server.clone(), near_client.clone(), ends.server);
    direction(link, begin, near_client, near_server, ends.client);
    Ok(())
}

/// A UDP port that is free at all of these addresses.
pub fn free_port(addresses: &[IpAddr]) -> Result<u16, Box<dyn Error>> {
    for _ in 0..16 {
        let first = UdpSocket::bind((addresses[0], 0))?;
        let port = first.local_addr()?.port();
        if addresses[1..].iter().all(|&address| UdpSocket::bind((address, port)).is_ok()) {
            return Ok(port);
        }
    }
    Err("no UDP port is free at all addresses".into())
}

/// Starts one direction: packets that arrive at `from` are sent from `to` to `destination`.
fn direction(link: Link, begin: Instant, from: Arc<UdpSocket>, to: Arc<UdpSocket>, destination: SocketAddr) {
    let (queue, arrivals) = channel();
    thread::spawn(move || admit(link, begin, &from, &queue));
    thread::spawn(move || deliver(&to, destination, &arrivals));
}

/// Reads packets, and computes the arrival time of each.
fn admit(link: Link, begin: Instant, from: &UdpSocket, queue: &Sender<(Instant, Vec<u8>)>) {
    let mut free = Instant::now();
    let mut packet = vec![0; 65_536];
    while let Ok(length) = from.recv(&mut packet) {
        let now = Instant::now();
        let dead = link.outage.is_some_and(|(from, to)| (from..to).contains(&(now - begin)));
        free = free.max(now);
        if dead || free - now > link.longest_wait() {
            continue;
        }
        free += Duration::from_secs_f64((length + HEADERS) as f64 * 8.0 / link.rate);
        if queue.send((free + link.rtt / 2, packet[..length].to_vec())).is_err() {
            return;
        }
    }
}

/// Sends each packet at its arrival time.
fn deliver(to: &UdpSocket, destination: SocketAddr, arrivals: &Receiver<(Instant, Vec<u8>)>) {
    while let Ok((at, packet)) = arrivals.recv() {
        thread::sleep(at.saturating_duration_since(Instant::now()));
        // The call fails if the receiver has ended.
        let _ = to.send_to(&packet, destination);
    }
}
