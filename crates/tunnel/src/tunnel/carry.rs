//! The threads between the TUN device and the associations.

use super::log::{Log, Repeated};
use super::options::{STREAMS, URGENT};
use crate::config::TunnelConfig;
use crate::counters::CarrierStats;
use crate::device::{Batch, LONGEST, LONGEST_READ, SEGMENTS};
use crate::error::TunnelError;
use crate::packet::{self, Inner, TCP};
use crate::peers::{Routes, TunnelPeer};
use crate::queue::{LIFETIME, Queue};
use crate::redundant::Redundant;
use crate::stop::Stop;
use crate::urgent::{self, Allowance, Arrived, Way};
use io::blocking::block_on;
use io::sctp::{AssocId, PathId};
use io::{Connection, Message, Received, Reliability, SendError, StreamId};
use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::io as std_io;
use std::iter;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread;
use std::time::{Duration, Instant as Clock};
use tun_rs::SyncDevice;
use units::{Instant, Span};

/// Age up to which measured round-trip times and windows of the paths are used.
const FRESH: Span = Span::from_millis(50);
/// Largest number of queued urgent packets; further ones enter the queue of flows.
const MOST_URGENT: usize = 64;
/// Pause after a failed read of the TUN device.
const BREATH: Duration = Duration::from_millis(10);

/// Largest number of batches that are kept while no receiver uses them. A batch takes more than a megabyte.
const SPARE: usize = 8;

/// Carries packets between the TUN device and the current association of each peer.
#[derive(Clone)]
pub(super) struct Carrier(Arc<Shared>);

struct Shared {
    device: SyncDevice,
    stop: Stop,
    mtu: usize,
    began: Clock,
    hasher: RandomState,
    routes: RwLock<Routes>,
    redundant: Redundant,
    /// The state of each peer, by the number of the peer.
    links: RwLock<Vec<Arc<Link>>>,
    /// Batches that no receiver uses now.
    batches: Mutex<Vec<Batch>>,
    /// Packets read from the TUN device that are no IP packets, or have no peer.
    refused: AtomicU64,
}

/// The queues, the association and the counters of one peer.
#[derive(Debug, Default)]
struct Link {
    line: Mutex<Line>,
    urgent_ready: Condvar,
    counters: Counters,
}

/// Packets that wait to be sent, and the association that sends them.
#[derive(Debug, Default)]
struct Line {
    queue: Queue,
    /// Urgent packets, which do not wait for those in the queue.
    urgent: VecDeque<(Instant, Vec<u8>)>,
    allowance: Allowance,
    /// Rate limit of urgent packets for the flows that the configuration chooses. Other urgent packets have
    /// their own (`allowance`), so they cannot use this one up.
    chosen: Allowance,
    /// The association that carries the packets.
    current: Option<Connection>,
}

#[derive(Debug, Default)]
struct Counters {
    sent: [AtomicU64; 2],
    received: [AtomicU64; 2],
    /// Packets from the peer that are no IP packets or have an address of another peer, and packets that
    /// the TUN device or the association refused.
    refused: AtomicU64,
    copied: AtomicU64,
    duplicates: AtomicU64,
}

impl Carrier {
    /// Starts to read the TUN device; packets for a peer without an association are dropped.
    pub(super) fn start(
        device: SyncDevice,
        config: &TunnelConfig,
        stop: &Stop,
        log: Log,
    ) -> std_io::Result<Carrier> {
        let carrier = Carrier(Arc::new(Shared {
            device,
            stop: stop.clone(),
            mtu: usize::from(config.mtu),
            began: Clock::now(),
            hasher: RandomState::new(),
            routes: RwLock::new(Routes::new(&config.peers)),
            redundant: config.redundant.clone(),
            links: RwLock::new(config.peers.iter().map(|_| Arc::default()).collect()),
            batches: Mutex::default(),
            refused: AtomicU64::new(0),
        }));
        let shared = carrier.0.clone();
        stop.spawn("device", move || Err(shared.read(&log)))?;
        Ok(carrier)
    }

    /// Replaces the peers and their addresses. A peer that stays must keep its number.
    pub(super) fn set_peers(&self, peers: &[TunnelPeer]) {
        let mut links = self.0.links.write().unwrap_or_else(PoisonError::into_inner);
        links.resize_with(peers.len(), Arc::default);
        *self.0.routes.write().unwrap_or_else(PoisonError::into_inner) = Routes::new(peers);
    }

    /// Carries packets between the TUN device and this association of a peer from now on.
    ///
    /// # Errors
    /// The system's error if it cannot create threads.
    pub(super) fn carry(&self, peer: usize, connection: &Connection) -> std_io::Result<()> {
        let link = self.0.link(peer);
        {
            let mut line = link.line();
            line.clear();
            line.current = Some(connection.clone());
        }
        link.urgent_ready.notify_all();
        let (shared, id, source) = (self.0.clone(), connection.id(), link.clone());
        connection.send_from(move || shared.next_message(&source, id));
        let start = |name, run: fn(&Shared, (usize, &Link), &Connection)| {
            let (shared, link, connection) = (self.0.clone(), link.clone(), connection.clone());
            self.0.stop.spawn(name, move || {
                run(&shared, (peer, &link), &connection);
                Ok(())
            })
        };
        start("urgent sender", Shared::send_urgent)?;
        start("receiver", Shared::receive)
    }

    /// Removes the association of a peer if it is the current one.
    pub(super) fn stop(&self, peer: usize, id: AssocId) {
        let link = self.0.link(peer);
        let mut line = link.line();
        if line.is_current(id) {
            line.current = None;
            line.clear();
        }
        link.urgent_ready.notify_all();
    }

    /// Stops carrying packets, and returns the current associations.
    pub(super) fn leave(&self) -> Vec<Connection> {
        let leave = |link: &Arc<Link>| {
            let current = link.line().current.take();
            link.urgent_ready.notify_all();
            current
        };
        self.0.links.read().unwrap_or_else(PoisonError::into_inner).iter().filter_map(leave).collect()
    }

    /// Counters of the packets to and from a peer. Packets read from the TUN device that have no
    /// peer count as refused for each peer.
    pub(super) fn stats(&self, peer: usize) -> CarrierStats {
        let read = |pair: &[AtomicU64; 2]| pair.each_ref().map(|counter| counter.load(Ordering::Relaxed));
        let link = self.0.link(peer);
        let counters = &link.counters;
        let of_device = self.0.refused.load(Ordering::Relaxed);
        CarrierStats {
            sent: read(&counters.sent),
            received: read(&counters.received),
            refused: counters.refused.load(Ordering::Relaxed) + of_device,
            copied: counters.copied.load(Ordering::Relaxed),
            duplicates: counters.duplicates.load(Ordering::Relaxed),
            queue: link.line().queue.stats,
        }
    }
}

impl Line {
    /// Discards all queued packets.
    fn clear(&mut self) {
        self.queue.clear();
        self.urgent.clear();
    }

    fn is_current(&self, id: AssocId) -> bool {
        self.current.as_ref().is_some_and(|connection| connection.id() == id)
    }

    /// Queues a packet. Returns true if it is urgent. A packet is not urgent if others of its flow wait.
    fn push(&mut self, now: Instant, inner: &Inner, is_chosen: bool, packet: Vec<u8>) -> bool {
        let urgent = self.urgent.len() < MOST_URGENT
            && (is_chosen || urgent::is_urgent(&packet, inner))
            && !self.queue.holds(inner.hash)
            && if is_chosen { self.chosen.take(now) } else { self.allowance.take(now) };
        if urgent {
            self.urgent.push_back((now, packet));
        } else {
            self.queue.push(now, inner.hash, packet);
        }
        urgent
    }
}

impl Link {
    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count_refused(&self) {
        self.counters.refused.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits for the next urgent packet. Returns `None` once the association is no longer the current one.
    fn next_urgent(&self, id: AssocId) -> Option<(Instant, Vec<u8>)> {
        let mut line = self.line();
        while line.is_current(id) {
            if let Some(found) = line.urgent.pop_front() {
                return Some(found);
            }
            line = self.urgent_ready.wait(line).unwrap_or_else(PoisonError::into_inner);
        }
        // This thread may have been woken in place of the thread of the current association, so wakes another
        // one.
        self.urgent_ready.notify_one();
        None
    }

    /// The packet in a message; `None` if there is none or if it has arrived before.
    fn packet_of<'m>(&self, message: &'m Received, arrived: &mut Arrived) -> Option<&'m [u8]> {
        // No packet is long enough to arrive in parts, so such a message is not a packet.
        if !message.end_of_record || message.aborted {
            return None;
        }
        if message.ppid != urgent::NUMBERED {
            return Some(&message.data);
        }
        let first = arrived.first_of(&message.data);
        if first.is_none() {
            self.counters.duplicates.fetch_add(1, Ordering::Relaxed);
        }
        first
    }

    /// Counts a packet. Returns false if the association accepts no more packets; a single refused packet is
    /// ignored.
    fn count_sent(&self, length: usize, sent: Result<(), SendError>) -> bool {
        match sent {
            Ok(()) => count(&self.counters.sent, 1, length),
            Err(SendError::Ended(_) | SendError::Shut) => return false,
            Err(_) => self.count_refused(),
        }
        true
    }
}

impl Shared {
    fn link(&self, peer: usize) -> Arc<Link> {
        self.links.read().unwrap_or_else(PoisonError::into_inner)[peer].clone()
    }

    fn peer_of(&self, address: IpAddr) -> Option<usize> {
        self.routes.read().unwrap_or_else(PoisonError::into_inner).peer_of(address)
    }

    fn now(&self) -> Instant {
        Instant::ZERO + Span::from_nanos(self.began.elapsed().as_nanos() as u64)
    }

    /// Reads the TUN device until it is deleted. Logs other errors and reads again.
    fn read(&self, log: &Log) -> TunnelError {
        let mut frame = vec![0; LONGEST_READ];
        let mut memory = vec![0; LONGEST + SEGMENTS * self.mtu];
        let (first, others) = memory.split_at_mut(LONGEST);
        let mut packets: Vec<_> = iter::once(first).chain(others.chunks_exact_mut(self.mtu)).collect();
        let mut lengths = vec![0; packets.len()];
        let mut errors = Repeated::default();
        loop {
            match self.device.recv_multiple(&mut frame, &mut packets, &mut lengths, 0) {
                Ok(number) => {
                    let read = packets.iter_mut().zip(&lengths).take(number);
                    self.take_packets(read.map(|(packet, &length)| &mut packet[..length]));
                }
                Err(_) if self.device.name().is_err() => return TunnelError::DeviceGone,
                Err(error) => {
                    errors.say(log, &format!("the TUN device cannot be read now: {error}"));
                    thread::sleep(BREATH);
                }
            }
        }
    }

    /// Queues packets that were read from the TUN device for their peers.
    fn take_packets<'p>(&self, packets: impl Iterator<Item = &'p mut [u8]>) {
        let packets: Vec<(usize, Inner, Vec<u8>)> = packets
            .filter_map(|packet| {
                let found = self.destination(packet);
                if found.is_none() {
                    self.refused.fetch_add(1, Ordering::Relaxed);
                }
                let (peer, inner) = found?;
                packet::clamp_mss(packet, &inner, self.mtu);
                Some((peer, inner, packet.to_vec()))
            })
            .collect();
        let mut packets = packets.into_iter().peekable();
        while let Some(&(peer, ..)) = packets.peek() {
            let of_peer = iter::from_fn(|| packets.next_if(|&(other, ..)| other == peer));
            self.queue_packets(&self.link(peer), of_peer.map(|(_, inner, packet)| (inner, packet)));
        }
    }

    /// The peer for a packet from the TUN device, and its headers; `None` if it
    /// has no peer or is no IP packet.
    fn destination(&self, packet: &[u8]) -> Option<(usize, Inner)> {
        let inner = packet::inspect(&self.hasher, packet)?;
        let (_, destination) = packet::addresses(packet)?;
        Some((self.peer_of(destination)?, inner))
    }

    /// The headers of a packet of a peer; `None` if it is no IP packet, or its source is not one of the
    /// peer's addresses.
    fn inspect_of(&self, peer: usize, packet: &[u8]) -> Option<Inner> {
        let inner = packet::inspect(&self.hasher, packet)?;
        let (source, _) = packet::addresses(packet)?;
        (self.peer_of(source) == Some(peer)).then_some(inner)
    }

    fn queue_packets(&self, link: &Link, packets: impl Iterator<Item = (Inner, Vec<u8>)>) {
        let mut line = link.line();
        let Some(connection) = line.current.clone() else {
            packets.for_each(drop);
            return;
        };
        let (now, mut urgent, mut other) = (self.now(), false, false);
        for (inner, packet) in packets {
            match line.push(now, &inner, self.redundant.chooses(&packet, &inner), packet) {
                true => urgent = true,
                false => other = true,
            }
        }
        drop(line);
        if urgent {
            link.urgent_ready.notify_one();
        }
        if other {
            connection.source_ready();
        }
    }

    /// The next packet for this association, as a message. The thread of the sockets calls
    /// this when the association has room.
    fn next_message(&self, link: &Link, id: AssocId) -> Option<Message> {
        let mut line = link.line();
        if !line.is_current(id) {
            return None;
        }
        let now = self.now();
        let (since, packet) = line.queue.pop(now)?;
        drop(line);
        count(&link.counters.sent, 1, packet.len());
        let inner = packet::inspect(&self.hasher, &packet);
        Some(message(packet, inner).reliability(left(now, since)))
    }

    fn send_urgent(&self, (_, link): (usize, &Link), connection: &Connection) {
        let mut fastest = Fastest::default();
        while let Some((since, packet)) = link.next_urgent(connection.id()) {
            let (length, left) = (packet.len(), left(self.now(), since));
            let urgent_message = |packet| urgent_message(packet).reliability(left);
            let paths = match self.redundant {
                // In this mode the association itself sends copies on all paths.
                Redundant::Everything => None,
                _ => fastest.paths(self.now(), connection),
            };
            let sent = match paths {
                None => block_on(connection.send(urgent_message(packet))),
                Some((path, None)) => block_on(connection.send(urgent_message(packet).path(path))),
                Some((first, Some(second))) => {
                    link.counters.copied.fetch_add(1, Ordering::Relaxed);
                    let numbered = urgent::numbered(fastest.next_number(), &packet);
                    let copy = urgent_message(numbered).ppid(urgent::NUMBERED).path(first);
                    let other = copy.clone().path(second);
                    block_on(connection.send(copy)).and_then(|()| block_on(connection.send(other)))
                }
            };
            if !link.count_sent(length, sent) {
                return;
            }
        }
    }

    fn receive(&self, (peer, link): (usize, &Link), connection: &Connection) {
        let (mut arrived, mut messages) = (Arrived::default(), Vec::new());
        while block_on(connection.recv_many(&mut messages)).is_ok_and(|number| number > 0) {
            let mut batch = self.batches().pop().unwrap_or_default();
            for message in messages.drain(..) {
                let Some(packet) = link.packet_of(&message, &mut arrived) else { continue };
                let Some(inner) = self.inspect_of(peer, packet) else {
                    link.count_refused();
                    continue;
                };
                packet::clamp_mss(batch.add(packet), &inner, self.mtu);
                if batch.is_full() {
                    self.write(link, &mut batch);
                }
            }
            self.write(link, &mut batch);
            let mut batches = self.batches();
            if batches.len() < SPARE {
                batches.push(batch);
            }
        }
    }

    fn batches(&self) -> MutexGuard<'_, Vec<Batch>> {
        self.batches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self, link: &Link, batch: &mut Batch) {
        let (packets, bytes, written) = batch.write(&self.device);
        match written {
            Ok(()) => count(&link.counters.received, packets, bytes),
            // The TUN device does not say which of the packets it refused: all count as refused.
            Err(_) => drop(link.counters.refused.fetch_add(packets as u64, Ordering::Relaxed)),
        }
    }
}

/// State of the thread that sends the urgent packets of one association.
#[derive(Debug, Default)]
struct Fastest {
    /// Number of the last packet that was sent twice.
    numbers: u64,
    ways: Vec<Way>,
    /// Time at which `ways` was last updated.
    looked: Option<Instant>,
}

impl Fastest {
    fn next_number(&mut self) -> u64 {
        self.numbers += 1;
        self.numbers
    }

    /// The path for an urgent packet, and the path for its copy.
    fn paths(&mut self, now: Instant, connection: &Connection) -> Option<(PathId, Option<PathId>)> {
        if self.looked.is_none_or(|at| now.since(at) >= FRESH) {
            self.ways = Way::of(&block_on(connection.paths()).unwrap_or_default());
            self.looked = Some(now);
        }
        urgent::choose(&self.ways)
    }
}

fn count(pair: &[AtomicU64; 2], packets: usize, bytes: usize) {
    pair[0].fetch_add(packets as u64, Ordering::Relaxed);
    pair[1].fetch_add(bytes as u64, Ordering::Relaxed);
}

/// The rest of the lifetime of a packet that was read from the TUN device at `since`,
/// after which the association abandons it.
fn left(now: Instant, since: Instant) -> Reliability {
    // A lifetime of zero would still allow an immediate transmission.
    Reliability::Until(LIFETIME.saturating_sub(now.since(since)).max(Span::from_nanos(1)))
}

/// An urgent packet as a message.
fn urgent_message(packet: Vec<u8>) -> Message {
    Message::from(packet).stream(URGENT).unordered(true).urgent(true)
}

/// A packet as a message. Packets of a TCP flow are ordered; all others are unordered.
fn message(packet: Vec<u8>, inner: Option<Inner>) -> Message {
    let message = Message::from(packet);
    match inner.filter(|inner| inner.protocol == TCP) {
        Some(inner) => message.stream(StreamId((inner.hash % u64::from(STREAMS)) as u16)),
        None => message.unordered(true),
    }
}
