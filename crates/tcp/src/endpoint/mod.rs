//! The endpoint: a port, its addresses, and all its connections.

mod config;
mod cookie;
mod isn;
mod reset;
mod slab;

pub use config::EndpointConfig;

use crate::conn::{Connection, Ends, Handled, Local};
use crate::segment::{Flags, Segment};
use crate::{ConnId, Event, Info, SendError, State, Stats};
use cookie::Cookies;
use isn::Births;
use reset::Reply;
use slab::Connections;
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use transport::{
    Agenda, BufferBudget, ConfigError, Datagram, Ecn, PacketBuf, Payload, Transmit, Turn, is_unicast, nearest,
};
use units::Instant;

/// Error: why a connection was not begun.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// No remote address is a unicast address of the family of a local address.
    #[error("no remote address is a unicast address of a kind that we have, too")]
    NoUsableAddress,
    /// The remote port is 0.
    #[error("the remote port is 0: expected 1 to 65535")]
    PortZero,
    /// A connection with this remote address and port exists.
    #[error("there is a connection with {address} at this port already")]
    Exists {
        /// The remote address of the existing connection.
        address: IpAddr,
    },
    /// The number of connections is at its limit.
    #[error("the endpoint has {limit} connections, and may have no more")]
    TooManyConnections {
        /// `max_connections`.
        limit: usize,
    },
}

/// A TCP endpoint without I/O: packets in, packets out, and the time is an argument.
///
/// **After each call that changes the endpoint ([`handle`], [`handle_timeout`], [`connect`], [`send`],
/// [`receive`], [`shutdown`], [`abort`]), call [`poll_transmit`] and [`poll_event`] until nothing is left,
/// then sleep until [`poll_timeout`].** Time must not run backwards.
///
/// [`handle`]: Self::handle
/// [`handle_timeout`]: Self::handle_timeout
/// [`connect`]: Self::connect
/// [`send`]: Self::send
/// [`receive`]: Self::receive
/// [`shutdown`]: Self::shutdown
/// [`abort`]: Self::abort
/// [`poll_transmit`]: Self::poll_transmit
/// [`poll_event`]: Self::poll_event
/// [`poll_timeout`]: Self::poll_timeout
#[derive(Debug)]
pub struct Endpoint {
    local: Arc<Local>,
    addresses: Vec<IpAddr>,
    births: Box<Births>,
    cookies: Box<Cookies>,
    listening: bool,
    max_connections: usize,
    slab: Connections,
    /// By slot: the connections to poll, and the time of the next timer of each connection.
    agenda: Agenda,
    replies: VecDeque<Reply>,
}

/// Largest number of queued answers to segments of no connection: resets and SYN cookies.
const MOST_REPLIES: usize = 64;

impl Endpoint {
    /// An endpoint without connections that does not listen.
    ///
    /// # Errors
    /// [`ConfigError`] names an option whose value cannot work.
    pub fn new(config: EndpointConfig) -> Result<Endpoint, ConfigError> {
        config.check()?;
        let budget = BufferBudget::new(config.config.buffer_budget);
        Ok(Endpoint {
            local: Arc::new(Local {
                port: config.port,
                checksum: config.checksum,
                config: Arc::new(config.config),
                budget: Arc::new(budget),
            }),
            addresses: config.addresses,
            births: Box::new(Births::new(config.seed)),
            cookies: Box::new(Cookies::new(config.seed)),
            listening: false,
            max_connections: config.max_connections,
            slab: Connections::new(config.max_connections),
            agenda: Agenda::default(),
            replies: VecDeque::new(),
        })
    }

    /// Sets whether peers may begin connections. If not, a SYN is answered with a reset.
    pub fn listen(&mut self, accept: bool) {
        self.listening = accept;
    }

    /// Begins a connection to the first of the given addresses that has the family of a local address.
    ///
    /// # Errors
    /// [`ConnectError`]; then nothing changes.
    pub fn connect(&mut self, now: Instant, port: u16, remotes: &[IpAddr]) -> Result<ConnId, ConnectError> {
        if port == 0 {
            return Err(ConnectError::PortZero);
        }
        let usable = |&&remote: &&IpAddr| is_unicast(remote) && nearest(&self.addresses, remote).is_some();
        let remote = *remotes.iter().find(usable).ok_or(ConnectError::NoUsableAddress)?;
        let local = nearest(&self.addresses, remote).ok_or(ConnectError::NoUsableAddress)?;
        let ends = Ends { remote_port: port, remote, local };
        if self.slab.find(&ends).is_some() {
            return Err(ConnectError::Exists { address: remote });
        }
        if !self.make_room() {
            return Err(ConnectError::TooManyConnections { limit: self.max_connections });
        }
        let birth = self.births.draw(now, &ends, self.local.port);
        let limit = self.max_connections;
        let slot = self.slab.insert(Connection::connect(now, &self.local, ends, birth));
        let slot = slot.ok_or(ConnectError::TooManyConnections { limit })?;
        self.schedule(slot);
        Ok(self.slab.id(slot))
    }

    /// Makes room for a connection of the user, or of a peer that proved its address; false if there
    /// is no room. If necessary, drops the oldest half-open connection (`rfc4987#section-3.4`).
    fn make_room(&mut self) -> bool {
        if !self.slab.has_room()
            && let Some(oldest) = self.slab.oldest_half_open()
        {
            self.forget(oldest);
            return true;
        }
        self.slab.has_room()
    }

    /// Drops a half-open connection without a packet to the peer.
    fn forget(&mut self, slot: u32) {
        if let Some(connection) = self.slab.get_mut(slot) {
            connection.forget();
        }
        self.agenda.disarm(slot);
        if self.agenda.is_idle(slot) {
            self.slab.remove(slot);
        } else {
            self.schedule(slot);
        }
    }

    /// Processes a packet from the network, which may hold any bytes.
    pub fn handle(&mut self, now: Instant, datagram: Datagram<'_>) {
        let Datagram { src, dst, ecn, bytes, .. } = datagram;
        let Ok(segment) = Segment::parse(bytes, src, dst, self.local.checksum) else { return };
        if segment.header.destination_port != self.local.port || segment.header.source_port == 0 {
            return;
        }
        let ends = Ends { remote_port: segment.header.source_port, remote: src, local: dst };
        let Some(slot) = self.slab.find(&ends) else {
            self.handle_unmatched(now, &segment, ends, ecn);
            return;
        };
        let Some(connection) = self.slab.get_mut(slot) else { return };
        match connection.handle(now, &segment, ecn) {
            Handled::Here => self.schedule(slot),
            Handled::Refused => {
                // The peer may acknowledge a cookie although its later SYN began a half-open connection.
                if self.slab.is_half_open(slot)
                    && let Some(opened) = self.opened(now, &segment, ends)
                {
                    self.forget(slot);
                    self.begin(now, opened, &segment, ecn);
                } else {
                    self.refuse(&segment, ends);
                }
            }
            Handled::Anew => {
                self.slab.hide(slot);
                if let Some(old) = self.slab.get_mut(slot) {
                    old.abort();
                }
                self.schedule(slot);
                self.handle_unmatched(now, &segment, ends, ecn);
            }
        }
    }

    /// Processes a segment of no connection (`rfc9293#section-3.10.7.1`, `rfc9293#section-3.10.7.2`).
    fn handle_unmatched(&mut self, now: Instant, segment: &Segment<'_>, ends: Ends, ecn: Ecn) {
        if !is_unicast(ends.remote) || !self.addresses.contains(&ends.local) {
            return;
        }
        let flags = segment.header.flags;
        let begins = flags.has(Flags::SYN) && !flags.any(Flags::ACK | Flags::RST);
        if !self.listening {
            self.refuse(segment, ends);
        } else if !begins {
            match self.opened(now, segment, ends) {
                Some(opened) if self.make_room() => self.begin(now, opened, segment, ecn),
                _ => self.refuse(segment, ends),
            }
        } else if self.slab.has_room() {
            let birth = self.births.draw(now, &ends, self.local.port);
            let accepted = Connection::accept(now, &self.local, ends, birth, segment);
            if let Some(slot) = self.slab.insert(accepted) {
                self.schedule(slot);
            }
        } else if self.slab.oldest_half_open().is_some() && self.replies.len() < MOST_REPLIES {
            let birth = self.births.draw(now, &ends, self.local.port);
            self.replies.extend(self.cookies.answer(now, &self.local, ends, birth, segment));
        }
    }

    /// The connection that a segment opens with a SYN cookie.
    fn opened(&self, now: Instant, segment: &Segment<'_>, ends: Ends) -> Option<Connection> {
        self.cookies.open(now, &self.local, ends, &self.births, segment)
    }

    /// Stores a connection in a slot and processes the segment that opened it.
    fn begin(&mut self, now: Instant, opened: Connection, segment: &Segment<'_>, ecn: Ecn) {
        let Some(slot) = self.slab.insert(opened) else { return };
        if let Some(connection) = self.slab.get_mut(slot) {
            connection.handle(now, segment, ecn);
        }
        self.schedule(slot);
    }

    /// Answers a segment with a reset (`rfc9293#section-3.5.2`).
    fn refuse(&mut self, segment: &Segment<'_>, ends: Ends) {
        if self.replies.len() < MOST_REPLIES {
            self.replies.extend(reset::answer(segment, ends, self.local.checksum));
        }
    }

    #[cold]
    fn answer_unmatched(&mut self, buf: &mut PacketBuf) -> Option<Transmit> {
        let mut unmatched = self.replies.pop_front()?;
        std::mem::swap(buf, &mut unmatched.packet);
        Some(Transmit::new(unmatched.src, unmatched.dst))
    }

    /// Writes the next packet into `buf` and returns its addresses; `None` if there is nothing
    /// to send now. After any other call with an argument `now`, there may be packets again.
    #[inline]
    pub fn poll_transmit(&mut self, now: Instant, buf: &mut PacketBuf) -> Option<Transmit> {
        if !self.replies.is_empty() {
            return self.answer_unmatched(buf);
        }
        while let Some(slot) = self.agenda.first(Turn::Send) {
            if let Some(connection) = self.slab.get_mut(slot) {
                if let Some(transmit) = connection.poll_transmit(now, buf) {
                    return Some(transmit);
                }
                if let Some(at) = connection.poll_timeout() {
                    self.agenda.arm(slot, at);
                }
            }
            self.agenda.leave(Turn::Send);
            self.reap(slot);
        }
        None
    }

    /// Returns the next event; `None` if there is none. After any call with an
    /// argument `now`, except [`Self::poll_transmit`], there may be events again.
    pub fn poll_event(&mut self) -> Option<(ConnId, Event)> {
        while let Some(slot) = self.agenda.first(Turn::Tell) {
            let id = self.slab.id(slot);
            if let Some(event) = self.slab.get_mut(slot).and_then(Connection::next_event) {
                return Some((id, event));
            }
            self.agenda.leave(Turn::Tell);
            self.reap(slot);
        }
        None
    }

    /// Time of the next call of [`Self::handle_timeout`] if nothing happens before; `None` if never. It may
    /// be earlier than needed. Valid once [`Self::poll_transmit`] has returned `None`.
    #[inline]
    pub fn poll_timeout(&self) -> Option<Instant> {
        self.agenda.next()
    }

    /// Runs the expired timers.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(slot) = self.agenda.pop(now) {
            let Some(connection) = self.slab.get_mut(slot) else { continue };
            match connection.poll_timeout() {
                Some(at) if at <= now => {
                    connection.handle_timeout(now);
                    self.schedule(slot);
                }
                Some(at) => self.agenda.arm(slot, at),
                None => {}
            }
        }
    }

    /// Queues data to send and returns the number of bytes queued: fewer than given, or zero, if the send
    /// buffer is full. [`Event::Writable`] then reports when there is room again. Data may be queued before
    /// the handshake is complete.
    ///
    /// # Errors
    /// [`SendError`]; then no data is queued.
    pub fn send(&mut self, now: Instant, id: ConnId, payload: Payload) -> Result<u64, SendError> {
        let _ = now;
        self.change(id, |connection| connection.send(payload)).unwrap_or(Err(SendError::Closed))
    }

    /// Returns the next data, at most `max` bytes; `None` if there is nothing to read. Reading opens the
    /// window. Data that arrived before the connection ended can be read even after [`Event::Closed`].
    pub fn receive(&mut self, now: Instant, id: ConnId, max: usize) -> Option<Payload> {
        let _ = now;
        self.change(id, |connection| connection.receive(max)).flatten()
    }

    /// Closes the sending side (FIN) after all queued data. The peer may go on sending.
    pub fn shutdown(&mut self, now: Instant, id: ConnId) {
        self.change(id, |connection| connection.shutdown(now));
    }

    /// Ends a connection at once with a reset (RST). Unread data is lost.
    pub fn abort(&mut self, now: Instant, id: ConnId) {
        let _ = now;
        self.change(id, Connection::abort);
    }

    /// The state of a connection; `None` if the connection is gone.
    pub fn state(&self, id: ConnId) -> Option<State> {
        self.get(id).map(Connection::state)
    }

    /// Current state and measurements of a connection; `None` if the connection is gone.
    pub fn info(&self, id: ConnId) -> Option<Info> {
        self.get(id).map(Connection::info)
    }

    /// Calls `show` with the inner quantities of the congestion control of a connection
    /// ([`CongestionControl::inspect`](cc::CongestionControl::inspect)).
    pub fn inspect(&self, id: ConnId, show: &mut dyn FnMut(&'static str, f64)) {
        if let Some(connection) = self.get(id) {
            connection.inspect(show);
        }
    }

    /// Counters of a connection; `None` if the connection is gone.
    pub fn stats(&self, id: ConnId) -> Option<Stats> {
        self.get(id).map(Connection::stats)
    }

    /// The remote address and port of a connection; `None` if the connection is gone.
    pub fn remote(&self, id: ConnId) -> Option<(IpAddr, u16)> {
        self.get(id).map(|connection| (connection.ends().remote, connection.ends().remote_port))
    }

    /// The local address of a connection; `None` if the connection is gone.
    pub fn local(&self, id: ConnId) -> Option<IpAddr> {
        self.get(id).map(|connection| connection.ends().local)
    }

    /// All existing connections, including those in TIME-WAIT.
    pub fn connections(&self) -> impl Iterator<Item = ConnId> {
        self.slab.iter().filter(|(_, connection)| !connection.is_closed()).map(|(id, _)| id)
    }

    fn get(&self, id: ConnId) -> Option<&Connection> {
        self.slab.get(self.slab.slot(id)?)
    }

    fn change<T>(&mut self, id: ConnId, f: impl FnOnce(&mut Connection) -> T) -> Option<T> {
        let slot = self.slab.slot(id)?;
        let result = f(self.slab.get_mut(slot)?);
        self.schedule(slot);
        Some(result)
    }

    /// Schedules polls of a connection that may have changed.
    #[inline]
    fn schedule(&mut self, slot: u32) {
        self.slab.note_half_open(slot);
        let Some(connection) = self.slab.get(slot) else { return };
        self.agenda.enter(Turn::Send, slot);
        if connection.has_events() {
            self.agenda.enter(Turn::Tell, slot);
        }
        if connection.is_closed() {
            self.slab.hide(slot);
            self.agenda.disarm(slot);
        }
    }

    /// Frees the slot of an ended connection without pending packets, events or unread data.
    fn reap(&mut self, slot: u32) {
        let over = |connection: &Connection| connection.is_closed() && !connection.is_readable();
        if self.agenda.is_idle(slot) && self.slab.get(slot).is_some_and(over) {
            self.slab.remove(slot);
        }
    }
}

transport::endpoint_by_own_methods!(Endpoint, ConnId, Event);
