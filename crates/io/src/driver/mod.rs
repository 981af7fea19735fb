//! The thread that owns an endpoint and its sockets.

mod answering;
mod commands;
mod connections;
mod entry;
mod guarded;
mod locals;
mod tapped;
#[cfg_attr(not(feature = "tracing"), path = "no_trace.rs")]
mod trace;

use crate::net::{Buffers, Clock, Report, Sockets};
use crate::shared::{Command, Hub, NewConnections};
pub(crate) use answering::Answering;
use connections::Connections;
pub(crate) use guarded::Guarded;
pub(crate) use locals::Locals;
use sctp::{Event, IcmpNews};
use std::hint::black_box;
use std::io;
use std::sync::Arc;
use std::thread;
pub(crate) use tapped::Tapped;
use trace::Trace;
use transport::PacketBuf;
use units::{Instant, Span};

/// Longest time for reading before packets are sent and commands are executed.
const READING: Span = Span::from_millis(1);

/// Largest number of ICMP messages in a round.
const REPORTS: usize = 64;

/// The thread that owns the endpoint and the sockets. In each round it reads, executes commands, runs timers,
/// exchanges messages with the mailboxes, and sends.
#[derive(Debug)]
pub(crate) struct Driver {
    clock: Clock,
    endpoint: sctp::Endpoint,
    sockets: Sockets,
    locals: Locals,
    guard: Option<Guarded>,
    tap: Option<Tapped>,
    responder: Option<Answering>,
    buffers: Buffers,
    packet: PacketBuf,
    /// The beginning of the packet that an ICMP message quotes.
    quoted: Vec<u8>,
    hub: Arc<Hub>,
    new_connections: Arc<NewConnections>,
    connections: Connections,
    trace: Trace,
    commands: Vec<Command>,
    /// True once the endpoint was closed or its last handle dropped. The driver ends with the last
    /// connection.
    leaving: bool,
    /// Dropped last, so that the sockets are closed and their ports free when the end is reported.
    _end: End,
}

/// Reports the end of the driver to all waiting callers, also after a panic.
#[derive(Debug)]
struct End(Arc<Hub>, Arc<NewConnections>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.end();
        self.1.end();
    }
}

impl Driver {
    /// Starts the driver thread.
    ///
    /// # Errors
    /// The system's error if it cannot create a thread.
    pub(crate) fn start(
        endpoint: sctp::Endpoint,
        sockets: Sockets,
        locals: Locals,
        (guard, tap, responder): (Option<Guarded>, Option<Tapped>, Option<Answering>),
        (hub, new_connections): (Arc<Hub>, Arc<NewConnections>),
    ) -> io::Result<()> {
        keep_memory();
        let mut driver = Driver {
            clock: Clock::start(),
            endpoint,
            sockets,
            locals,
            guard,
            tap,
            responder,
            buffers: Buffers::default(),
            packet: PacketBuf::default(),
            quoted: Vec::new(),
            _end: End(hub.clone(), new_connections.clone()),
            hub,
            new_connections,
            connections: Connections::default(),
            trace: Trace::default(),
            commands: Vec::new(),
            leaving: false,
        };
        thread::Builder::new().name("anabranch".to_owned()).spawn(move || while driver.round() {})?;
        Ok(())
    }

    /// Runs one round; false when the driver has finished.
    fn round(&mut self) -> bool {
        if self.sleep().is_err() {
            return false;
        }
        let now = self.clock.now();
        self.read(now);
        self.read_reports(now);
        self.obey(now);
        if self.sockets.interfaces_changed() {
            self.follow_interfaces(now);
        }
        self.close_leaving(now);
        // Timers run after reading, so that a delay of this thread does not make a packet look late.
        if self.endpoint.poll_timeout().is_some_and(|at| at <= now) {
            self.endpoint.handle_timeout(now);
            self.transmit(now);
        }
        if let Some(guard) = &mut self.guard {
            guard.run_timer(now, &mut self.sockets);
            while let Some((channel, end)) = guard.poll_end() {
                self.connections.end_channel(&mut self.endpoint, channel, end);
            }
        }
        self.exchange(now);
        self.trace.look(now, &self.endpoint);
        self.sockets.flush();
        if self.sockets.is_empty() {
            self.connections.tell_ends();
        }
        !(self.leaving && self.connections.is_empty())
    }

    /// Waits for packets, commands or the next timeout.
    fn sleep(&mut self) -> io::Result<()> {
        let guard = self.guard.as_ref().and_then(Guarded::deadline);
        let deadlines = [self.endpoint.poll_timeout(), self.locals.deadline(), guard];
        let deadline = deadlines.into_iter().flatten().min();
        let deadline = deadline.map(|at| self.clock.until(at));
        let timeout = if self.hub.fall_asleep() { deadline } else { Some(Default::default()) };
        let result = self.sockets.wait(timeout);
        self.hub.awake();
        result
    }

    /// Reads all sockets in turn until they are empty, or for a short time.
    fn read(&mut self, begin: Instant) {
        let mut now = begin;
        let mut more = true;
        while more && now.since(begin) < READING {
            more = false;
            for socket in 0..self.sockets.len() {
                if !self.sockets.receive(socket, &mut self.buffers) {
                    continue;
                }
                more = true;
                // Earlier commands, such as listening, take effect before these packets.
                self.obey(now);
                // All packets are sent after each datagram, because Max.Burst limits the packets per SACK.
                for datagram in self.buffers.datagrams() {
                    if let Some(responder) = &mut self.responder
                        && responder.take(&datagram, &mut self.sockets)
                    {
                        continue;
                    }
                    let opened = match &mut self.guard {
                        None => Some(datagram),
                        Some(guard) => guard.open(now, datagram),
                    };
                    if let Some(datagram) = opened {
                        if let Some(tap) = &mut self.tap {
                            tap.received(&datagram);
                        }
                        self.endpoint.handle(now, datagram);
                    }
                    drain(
                        &mut self.endpoint,
                        &mut self.sockets,
                        &mut self.packet,
                        (&mut self.guard, &mut self.tap),
                        now,
                    );
                }
                self.exchange(now);
                now = self.clock.now();
            }
        }
    }

    /// Passes ICMP messages about our packets to the endpoint.
    fn read_reports(&mut self, now: Instant) {
        for _ in 0..REPORTS {
            let Some(Report { src, dst, what }) = self.sockets.next_report(&mut self.quoted) else { break };
            let news = IcmpNews { src, dst: dst.ip(), udp_port: dst.port(), quoted: &self.quoted, what };
            match &self.guard {
                None => self.endpoint.on_icmp(now, news),
                // The quoted packet is encrypted, so only the guard can check that this endpoint sent it.
                Some(guard) => guard.quoted(&self.quoted, what).is_some_and(|(channel, what)| {
                    self.endpoint.on_guarded_icmp(now, channel, IcmpNews { what, ..news })
                }),
            };
            self.transmit(now);
        }
    }

    /// Takes packets from the endpoint while the sockets have room.
    fn transmit(&mut self, now: Instant) {
        drain(&mut self.endpoint, &mut self.sockets, &mut self.packet, (&mut self.guard, &mut self.tap), now);
    }

    /// Passes events and received messages from the endpoint to the
    /// mailboxes, and messages to send from the mailboxes to the endpoint.
    fn exchange(&mut self, now: Instant) {
        loop {
            while let Some((id, event)) = self.endpoint.poll_event() {
                if matches!(event, Event::Connected { .. }) {
                    self.locals.catch_up(now, &mut self.endpoint, id);
                }
                self.trace.on_event(&self.endpoint, id, &event);
                self.connections.on_event(&mut self.endpoint, &self.new_connections, id, event);
            }
            // First the events of an accepted association fill the
            // backlog; only then is the next request of a peer examined.
            let backlog = &self.new_connections;
            if !self.connections.accept(now, &mut self.endpoint, self.guard.as_ref(), (&self.hub, backlog)) {
                break;
            }
        }
        self.connections.abort_stalled(now, &mut self.endpoint);
        while self.connections.send(now, &mut self.endpoint) {
            self.transmit(now);
        }
        self.transmit(now);
        self.connections.answer_flushes(&self.endpoint);
    }
}

/// Allocates and frees a large block. From then on the allocator of glibc keeps the memory of long messages
/// that were read, instead of returning it to the system and fetching it again page by page (mallopt(3),
/// `M_MMAP_THRESHOLD`).
fn keep_memory() {
    drop(black_box(Vec::<u8>::with_capacity(LARGE)));
}

/// Size in bytes of the block that [`keep_memory`] allocates: about that of a full receive buffer.
const LARGE: usize = 4 << 20;

fn drain(
    endpoint: &mut sctp::Endpoint,
    sockets: &mut Sockets,
    packet: &mut PacketBuf,
    (guard, tap): (&mut Option<Guarded>, &mut Option<Tapped>),
    now: Instant,
) {
    while sockets.has_room()
        && let Some(transmit) = endpoint.poll_transmit(now, packet)
    {
        if let Some(tap) = tap {
            tap.sent(&transmit, packet.as_octets());
        }
        match guard {
            None => sockets.push(&transmit, packet.as_octets()),
            Some(guard) => guard.seal(now, &transmit, packet.as_octets(), sockets),
        }
    }
    if let Some(guard) = guard {
        guard.transmit(now, sockets);
    }
}
