//! The endpoint: a port, its addresses, and all its connections.

mod config;

pub use config::EndpointConfig;

use crate::{ConnId, Event, Info, SendError, State, Stats};
use cc::ConfigError;
use std::net::IpAddr;
use units::Instant;
use wire::{Octets, PacketBuf, Payload};

/// The ECN field of an IP header (`rfc3168#section-5`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not speak ECN.
    #[default]
    NotCapable = 0,
    /// ECT(1).
    Capable1 = 1,
    /// ECT(0).
    Capable0 = 2,
    /// Congestion experienced.
    CongestionExperienced = 3,
}

/// A packet that arrived.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a> {
    /// Where it came from.
    pub src: IpAddr,
    /// Which of our addresses it came to.
    pub dst: IpAddr,
    /// The ECN field of its IP header.
    pub ecn: Ecn,
    /// The TCP segment.
    pub bytes: Octets<'a>,
}

/// Where a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    /// Which of our addresses it leaves from.
    pub src: IpAddr,
    /// Where it goes.
    pub dst: IpAddr,
    /// The ECN field of its IP header.
    pub ecn: Ecn,
}

/// Why no connection was begun.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConnectError {
    /// None of the addresses can be reached from ours.
    #[error("no remote address is a unicast address of a kind that we have, too")]
    NoUsableAddress,
    /// Port 0 is nobody's.
    #[error("the remote port is 0: expected 1 to 65535")]
    PortZero,
    /// There is a connection with this address and port already.
    #[error("there is a connection with {address} at this port already")]
    Exists {
        /// The address it has.
        address: IpAddr,
    },
    /// All places are taken.
    #[error("the endpoint has {limit} connections, and may have no more")]
    TooManyConnections {
        /// `max_connections`.
        limit: usize,
    },
}

/// A TCP endpoint: packets in, packets out, and the time is an argument.
///
/// **Change once ([`handle`], [`handle_timeout`], [`connect`], [`send`], [`receive`], [`shutdown`], [`abort`]), then
/// call [`poll_transmit`] and [`poll_event`] until nothing is left, then sleep until [`poll_timeout`].** Time must not
/// run backwards.
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
    config: EndpointConfig,
    listening: bool,
}

impl Endpoint {
    /// An endpoint without connections that does not listen.
    ///
    /// # Errors
    /// [`ConfigError`] names an option whose value cannot work.
    pub fn new(config: EndpointConfig) -> Result<Endpoint, ConfigError> {
        config.check()?;
        Ok(Endpoint { config, listening: false })
    }

    /// Whether others may begin connections. If not, a SYN is answered with a reset.
    pub fn listen(&mut self, accept: bool) {
        self.listening = accept;
    }

    /// Begins a connection with the peer at the first of the given addresses that is of a kind we have.
    ///
    /// # Errors
    /// [`ConnectError`]; nothing changes then.
    pub fn connect(&mut self, now: Instant, port: u16, remotes: &[IpAddr]) -> Result<ConnId, ConnectError> {
        let _ = (now, port, remotes);
        Err(ConnectError::TooManyConnections { limit: self.config.max_connections })
    }

    /// Takes a packet. Whatever its bytes, it does no harm.
    pub fn handle(&mut self, now: Instant, datagram: Datagram<'_>) {
        let _ = (now, datagram);
    }

    /// Writes the next packet into `buf` and says where it goes; none if there is nothing to send now. The answer may
    /// change after every call that takes the time.
    pub fn poll_transmit(&mut self, now: Instant, buf: &mut PacketBuf) -> Option<Transmit> {
        let _ = (now, buf);
        None
    }

    /// The next event; none if nothing happened. The answer may change after every call that takes the time but
    /// [`Self::poll_transmit`].
    pub fn poll_event(&mut self) -> Option<(ConnId, Event)> {
        None
    }

    /// When to call [`Self::handle_timeout`] if nothing happens before; none if never. It may be earlier than
    /// needed. Valid once [`Self::poll_transmit`] has nothing left.
    pub fn poll_timeout(&self) -> Option<Instant> {
        None
    }

    /// Does what has become due.
    pub fn handle_timeout(&mut self, now: Instant) {
        let _ = now;
    }

    /// Takes data to send, and says how many bytes of it: fewer than there are, or none, if the send buffer is full;
    /// then [`Event::Writable`] tells when it has room again. It may be given before the connection stands, and waits
    /// then.
    ///
    /// # Errors
    /// [`SendError`]; nothing is taken then.
    pub fn send(&mut self, now: Instant, id: ConnId, payload: Payload) -> Result<u64, SendError> {
        let _ = (now, id, payload);
        Err(SendError::Closed)
    }

    /// The next data, at most `max` bytes of it; none if there is nothing to read. Reading opens the window.
    pub fn receive(&mut self, now: Instant, id: ConnId, max: usize) -> Option<Payload> {
        let _ = (now, id, max);
        None
    }

    /// Sends nothing more once everything is delivered (FIN). The peer may go on sending.
    pub fn shutdown(&mut self, now: Instant, id: ConnId) {
        let _ = (now, id);
    }

    /// Ends a connection at once and tells the peer (RST). What arrived and was not read is lost.
    pub fn abort(&mut self, now: Instant, id: ConnId) {
        let _ = (now, id);
    }

    /// The state of a connection; none if it is gone.
    pub fn state(&self, id: ConnId) -> Option<State> {
        self.info(id).map(|info| info.state)
    }

    /// A connection as it is now; none if it is gone.
    pub fn info(&self, id: ConnId) -> Option<Info> {
        let _ = id;
        None
    }

    /// What a connection did so far; none if it is gone.
    pub fn stats(&self, id: ConnId) -> Option<Stats> {
        let _ = id;
        None
    }

    /// The address and port of a connection's peer; none if it is gone.
    pub fn remote(&self, id: ConnId) -> Option<(IpAddr, u16)> {
        let _ = id;
        None
    }

    /// The address a connection has on our side; none if it is gone.
    pub fn local(&self, id: ConnId) -> Option<IpAddr> {
        let _ = id;
        None
    }

    /// The connections that have not ended.
    pub fn connections(&self) -> impl Iterator<Item = ConnId> {
        std::iter::empty()
    }
}
