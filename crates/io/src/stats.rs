//! Counters of an endpoint and of its sockets.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counters of an endpoint since its start.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct EndpointStats {
    /// One entry for each local address: its UDP socket, its raw socket, or both.
    pub sockets: Vec<SocketStats>,
}

/// Counters of the sockets at an address since their start.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct SocketStats {
    /// The address of the socket; the unspecified address for all addresses of a family.
    pub address: IpAddr,
    /// Packets sent.
    pub packets_sent: u64,
    /// Bytes of the packets sent, without headers of UDP and IP.
    pub bytes_sent: u64,
    /// System calls that sent packets.
    pub sends: u64,
    /// Packets received.
    pub packets_received: u64,
    /// Bytes received: UDP payload, and SCTP packets directly in IP. Those in IPv4
    /// count with their IP header.
    pub bytes_received: u64,
    /// System calls that received packets.
    pub receives: u64,
    /// Packets that the system dropped because the receive buffer was full; UDP on Linux only.
    pub receive_overflow: u64,
    /// Packets that the system refused to send.
    pub send_errors: u64,
    /// Error number (`errno`) of the last send error; 0: none.
    pub last_error: i32,
}

impl SocketStats {
    /// Mean number of packets for each system call that sent packets.
    pub fn mean_packets_per_send(&self) -> f64 {
        self.packets_sent as f64 / self.sends.max(1) as f64
    }
}

impl fmt::Display for SocketStats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: sent {} packets by {} calls, received {} by {} and lost {} to a full buffer, {} send errors",
            self.address,
            self.packets_sent,
            self.sends,
            self.packets_received,
            self.receives,
            self.receive_overflow,
            self.send_errors
        )
    }
}

/// Counters of a socket: the driver writes them, handles read them.
#[derive(Debug)]
pub(crate) struct SocketCounters {
    address: IpAddr,
    packets_sent: AtomicU64,
    bytes_sent: AtomicU64,
    sends: AtomicU64,
    packets_received: AtomicU64,
    bytes_received: AtomicU64,
    receives: AtomicU64,
    send_errors: AtomicU64,
    last_error: AtomicU64,
}

impl SocketCounters {
    pub(crate) fn new(address: IpAddr) -> Self {
        SocketCounters {
            address,
            packets_sent: AtomicU64::new(0),
            bytes_sent: AtomicU64::new(0),
            sends: AtomicU64::new(0),
            packets_received: AtomicU64::new(0),
            bytes_received: AtomicU64::new(0),
            receives: AtomicU64::new(0),
            send_errors: AtomicU64::new(0),
            last_error: AtomicU64::new(0),
        }
    }

    pub(crate) fn address(&self) -> IpAddr {
        self.address
    }

    pub(crate) fn sent(&self, packets: usize, bytes: usize) {
        add(&self.packets_sent, packets);
        add(&self.bytes_sent, bytes);
        add(&self.sends, 1);
    }

    pub(crate) fn received(&self, packets: usize, bytes: usize) {
        add(&self.packets_received, packets);
        add(&self.bytes_received, bytes);
        add(&self.receives, 1);
    }

    pub(crate) fn send_failed(&self, packets: usize, error: &io::Error) {
        add(&self.send_errors, packets);
        let number = error.raw_os_error().unwrap_or(-1);
        self.last_error.store(number as u64, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> SocketStats {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        SocketStats {
            address: self.address,
            packets_sent: get(&self.packets_sent),
            bytes_sent: get(&self.bytes_sent),
            sends: get(&self.sends),
            packets_received: get(&self.packets_received),
            bytes_received: get(&self.bytes_received),
            receives: get(&self.receives),
            receive_overflow: 0,
            send_errors: get(&self.send_errors),
            last_error: get(&self.last_error) as i32,
        }
    }
}

fn add(counter: &AtomicU64, n: usize) {
    counter.fetch_add(n as u64, Ordering::Relaxed);
}

impl EndpointStats {
    /// Reads the counters of all sockets; `drops` has the receive overflows of some of them.
    pub(crate) fn read(counters: &[Arc<SocketCounters>], drops: &[(IpAddr, u64)]) -> Self {
        let mut sockets: Vec<SocketStats> = counters.iter().map(|counters| counters.read()).collect();
        for socket in &mut sockets {
            let drops = drops.iter().find(|(address, _)| *address == socket.address);
            socket.receive_overflow = drops.map_or(0, |&(_, drops)| drops);
        }
        EndpointStats { sockets }
    }
}
