//! In-process mode: a real host is a thread of the program that runs the emulation, and its packets pass
//! through bounded queues.

use crate::drive::{Control, drive, node_of, since};
use crate::engine::{Doors, Emulator, Entry};
use crate::error::EmulateError;
use crate::outcome::Outcome;
use lab::output::RunOutput;
use lab::scenario::Scenario;
use net::{InterfaceAddress, NodeId, Outgoing, Packet, Protocol};
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant as Clock};
use transport::{Datagram, Ecn, Endpoint, PacketBuf};
use units::{Instant, Span};

/// Maximum number of packets that a door holds in each direction, like the queue of a network card. Further
/// packets are dropped.
const QUEUE: usize = 1024;
/// Maximum number of packets that may enter before the emulation does other work.
const READS: usize = 256;

/// Emulates the network of a scenario in a thread of this process, without sockets, devices or network
/// namespaces.
/// Each real host of the scenario has a [`Door`], even if the scenario attaches the host in another way.
/// Dropping this value ends the emulation.
///
/// ```
/// use anabranch_emulate::{Control, Door, InProcess};
/// use net::Protocol;
/// use sctp::{Endpoint, EndpointConfig, Message, Payload, Seed};
/// use std::error::Error;
/// use units::Span;
///
/// const LINK: &str = r#"
/// node = [{ name = "client" }, { name = "server" }]
/// host = [{ name = "client", real = { in_process = true } }, { name = "server", real = { in_process = true } }]
///
/// [[link]]
/// between = ["client", "server"]
/// rate = "20 Mbit/s"
/// delay = "5 ms"
/// loss = 0.01
/// "#;
///
/// fn endpoint(door: &Door, port: u16) -> Result<Endpoint, Box<dyn Error>> {
///     Ok(Endpoint::new(EndpointConfig::new(port, door.addresses(), Seed::from_system()?))?)
/// }
///
/// fn main() -> Result<(), Box<dyn Error>> {
///     let scenario = lab::parse(LINK, "link.toml").map_err(|_| "the scenario is wrong")?.variants()[0].scenario.clone();
///     let (emulation, doors) = InProcess::start(&scenario, &Control::default())?;
///     let [mut at_client, mut at_server] = <[Door; 2]>::try_from(doors).map_err(|_| "two hosts")?;
///     let (mut client, mut server) = (endpoint(&at_client, 5001)?, endpoint(&at_server, 5002)?);
///     server.listen(true);
///     let association = client.connect(at_client.now(), 5002, &at_server.addresses())?;
///     client.send(at_client.now(), association, Message::new(Payload::Bytes("hello".into())))?;
///
///     // Each end usually has a thread of its own.
///     let received = loop {
///         at_client.turn(&mut client, Protocol::Sctp, Span::from_millis(1))?;
///         at_server.turn(&mut server, Protocol::Sctp, Span::from_millis(1))?;
///         let theirs = server.associations().next();
///         if let Some(message) = theirs.and_then(|id| server.receive(id, usize::MAX)) {
///             break message;
///         }
///     };
///     assert_eq!(received.payload.to_bytes(), "hello");
///     let (outcome, _) = emulation.stop()?;
///     assert!(outcome.links[0].delivered > 0 && outcome.lateness.count() > 0);
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct InProcess {
    control: Control,
    /// The thread of the emulation; `None` after it was joined.
    thread: Option<JoinHandle<Result<(Outcome, RunOutput), EmulateError>>>,
}

impl InProcess {
    /// Begins to emulate. Returns each real host's door (way into the network), in the order of the scenario.
    ///
    /// # Errors
    /// [`EmulateError`] if the emulation cannot begin.
    ///
    /// # Panics
    /// If the system cannot start another thread.
    pub fn start(scenario: &Scenario, control: &Control) -> Result<(InProcess, Vec<Door>), EmulateError> {
        let (scenario, given) = (scenario.clone(), control.clone());
        let (ready, is_ready) = sync_channel(1);
        let work = move || {
            let began = Clock::now();
            let emulator = Emulator::new(&scenario, &given.run)?;
            let (inside, doors) = open(&scenario, &emulator, began)?;
            // The send fails if the caller no longer exists.
            let _ = ready.send(doors);
            drive(emulator, inside, &scenario, &given, began)
        };
        let thread =
            thread::Builder::new().name("emulate".to_owned()).spawn(work).expect("a thread can start");
        let mut emulation = InProcess { control: control.clone(), thread: Some(thread) };
        match is_ready.recv() {
            Ok(doors) => Ok((emulation, doors)),
            // The thread ended with an error before it sent the doors.
            Err(_) => emulation.join().map(|_| unreachable!("it told that it was ready")),
        }
    }

    /// Ends the emulation, and returns its outcome and the results of simulated hosts.
    ///
    /// # Errors
    /// [`EmulateError`] if the emulation could not go on.
    pub fn stop(mut self) -> Result<(Outcome, RunOutput), EmulateError> {
        self.control.run.cancel.store(true, Ordering::Relaxed);
        self.join()
    }

    fn join(&mut self) -> Result<(Outcome, RunOutput), EmulateError> {
        let thread = self.thread.take().expect("joined once");
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        self.control.run.cancel.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // If the thread panicked, it has already printed the reason.
            let _ = thread.join();
        }
    }
}

/// A packet at a [`Door`], without its IP header.
#[derive(Clone, Debug)]
pub struct DoorPacket {
    /// Source address: an address of the host that sends the packet.
    pub src: IpAddr,
    /// Destination address.
    pub dst: IpAddr,
    /// Transport protocol.
    pub protocol: Protocol,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// The payload of the IP packet.
    pub payload: PacketBuf,
}

/// Error: the emulation has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the emulation has ended")]
pub struct Ended;

/// The way of a real host into the emulated network: a bounded queue in each direction.
#[derive(Debug)]
pub struct Door {
    number: usize,
    own: Vec<InterfaceAddress>,
    began: Clock,
    into: SyncSender<(usize, DoorPacket)>,
    /// Number of packets of this door that wait in `into`.
    entering: Arc<AtomicUsize>,
    out: Receiver<DoorPacket>,
    buf: PacketBuf,
}

impl Door {
    /// The IPv4 address of the host on each of its links.
    pub fn addresses(&self) -> Vec<IpAddr> {
        self.own.iter().map(|own| own.ipv4.into()).collect()
    }

    /// The IPv6 address of the host on each of its links.
    pub fn ipv6_addresses(&self) -> Vec<IpAddr> {
        self.own.iter().map(|own| own.ipv6.into()).collect()
    }

    /// The clock of the emulation: the time since it began.
    pub fn now(&self) -> Instant {
        since(self.began)
    }

    /// Sends a packet; false if the queue is full and the packet is dropped.
    ///
    /// # Errors
    /// [`Ended`] once the emulation has ended.
    pub fn send(&self, packet: DoorPacket) -> Result<bool, Ended> {
        if self.entering.fetch_add(1, Ordering::Relaxed) >= QUEUE {
            self.entering.fetch_sub(1, Ordering::Relaxed);
            return Ok(false);
        }
        // The channel has room for the full queues of all doors. So this call never waits.
        self.into.send((self.number, packet)).map(|()| true).map_err(|_| Ended)
    }

    /// Waits for a packet, at most for `longest`; returns `None` if no packet arrived.
    ///
    /// # Errors
    /// [`Ended`] once the emulation has ended and all packets were received.
    pub fn receive(&self, longest: Span) -> Result<Option<DoorPacket>, Ended> {
        match self.out.recv_timeout(Duration::from_nanos(longest.as_nanos())) {
            Ok(packet) => Ok(Some(packet)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(Ended),
        }
    }

    /// Runs a sans-IO endpoint for one turn. The turn sends the packets of the endpoint, waits for a packet
    /// or for the next timer of the endpoint, at most for `longest`, and passes arrived packets to the
    /// endpoint. The caller polls the events.
    ///
    /// Packets of other protocols are dropped. The door sends each packet without UDP encapsulation.
    ///
    /// # Errors
    /// [`Ended`] once the emulation has ended.
    pub fn turn(
        &mut self,
        endpoint: &mut impl Endpoint,
        protocol: Protocol,
        longest: Span,
    ) -> Result<(), Ended> {
        self.flush(endpoint, protocol)?;
        let due = endpoint.poll_timeout().map_or(longest, |due| due.since(self.now()).min(longest));
        let mut next = self.receive(due)?;
        for _ in 0..READS {
            let Some(packet) = next else { break };
            if packet.protocol == protocol {
                let DoorPacket { src, dst, ecn, payload, .. } = &packet;
                let datagram = Datagram { ecn: *ecn, ..Datagram::new(*src, *dst, payload.as_octets()) };
                endpoint.handle(self.now(), datagram);
                self.flush(endpoint, protocol)?;
            }
            next = self.receive(Span::ZERO)?;
        }
        let now = self.now();
        if endpoint.poll_timeout().is_some_and(|due| due <= now) {
            endpoint.handle_timeout(now);
            self.flush(endpoint, protocol)?;
        }
        Ok(())
    }

    /// Sends all packets that the endpoint has.
    fn flush(&mut self, endpoint: &mut impl Endpoint, protocol: Protocol) -> Result<(), Ended> {
        while let Some(transmit) = endpoint.poll_transmit(since(self.began), &mut self.buf) {
            let payload = std::mem::take(&mut self.buf);
            self.send(DoorPacket {
                src: transmit.src,
                dst: transmit.dst,
                protocol,
                ecn: transmit.ecn,
                payload,
            })?;
        }
        Ok(())
    }
}

/// The emulation's ends of all doors (the queues from and to real hosts).
struct Inside {
    ends: Vec<End>,
    from: Receiver<(usize, DoorPacket)>,
    /// The packet whose arrival ended the last wait, until this packet enters the network.
    first: Option<(usize, DoorPacket)>,
    /// Keeps the channel of `from` open after all doors were dropped.
    _into: SyncSender<(usize, DoorPacket)>,
}

struct End {
    node: NodeId,
    entering: Arc<AtomicUsize>,
    out: SyncSender<DoorPacket>,
}

fn open(scenario: &Scenario, emulator: &Emulator, began: Clock) -> Result<(Inside, Vec<Door>), EmulateError> {
    let network = emulator.live().network();
    let (into, from) = sync_channel(QUEUE * scenario.real.len());
    let (mut ends, mut doors) = (Vec::new(), Vec::new());
    for (number, host) in scenario.real.iter().enumerate() {
        let node = node_of(scenario, network, host.node)?;
        let (out, receiver) = sync_channel(QUEUE);
        let entering = Arc::new(AtomicUsize::new(0));
        doors.push(Door {
            number,
            own: network.addresses(node).to_vec(),
            began,
            into: into.clone(),
            entering: Arc::clone(&entering),
            out: receiver,
            buf: PacketBuf::default(),
        });
        ends.push(End { node, entering, out });
    }
    Ok((Inside { ends, from, first: None, _into: into }, doors))
}

impl Doors for Inside {
    fn read(&mut self, enter: &mut dyn FnMut(NodeId, Entry, &mut Vec<u8>)) {
        for _ in 0..READS {
            let Some((door, packet)) = self.first.take().or_else(|| self.from.try_recv().ok()) else { break };
            let end = &self.ends[door];
            end.entering.fetch_sub(1, Ordering::Relaxed);
            let DoorPacket { src, dst, protocol, ecn, mut payload } = packet;
            let outgoing = Outgoing { src, dst, protocol, ecn, zeros: payload.zeros };
            enter(end.node, Entry::Payload(outgoing), &mut payload.head);
        }
    }

    fn write(&mut self, to: NodeId, packet: &Packet<'_>) -> bool {
        let Some(end) = self.ends.iter().find(|end| end.node == to) else { return false };
        let payload = PacketBuf { head: packet.head.to_vec(), zeros: packet.zeros };
        let Packet { src, dst, protocol, ecn, .. } = *packet;
        end.out.try_send(DoorPacket { src, dst, protocol, ecn, payload }).is_ok()
    }

    fn wait(&mut self, longest: Span) -> io::Result<()> {
        if self.first.is_none() {
            self.first = self.from.recv_timeout(Duration::from_nanos(longest.as_nanos())).ok();
        }
        Ok(())
    }
}
