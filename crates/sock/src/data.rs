//! Passes messages between the sockets of programs and associations.

use crate::associations::Association;
use crate::pair::Incoming;
use crate::server::Server;
use crate::socket::{Phase, Socket};
use bytes::Bytes;
use records::notification::{self, kind};
use records::number::send;
use records::{Header, Kind, MAX_DELIVERED, flags};
use sctp::{AssocId, Endpoint, Message, Payload, Received, Reliability, SendError};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use units::Span;
use wire::{Ppid, StreamId};

/// Largest number of records that are read from one program's socket before others are served.
const TURN: usize = 64;
/// Bytes of received messages that are gathered before they are written to the program.
const BURST: usize = 32_768;
/// An association whose socket the program has closed is aborted after this time.
const LEFT: Span = Span::from_secs(60);

impl Server {
    /// While the stack has room, passes to it the records that a program wrote.
    pub(crate) fn pump(&mut self, key: usize) {
        let mut buffer = self.borrow_buffer();
        self.pump_with(key, &mut buffer);
        self.return_buffer(buffer);
        self.host.transmit();
    }

    fn pump_with(&mut self, key: usize, buffer: &mut [u8]) {
        for _ in 0..TURN {
            let Some(socket) = self.sockets.get_mut(&key) else { return };
            if socket.pair.is_over() {
                return self.end_socket(key);
            }
            if matches!(socket.phase, Phase::Connecting(_)) && !socket.pair.is_closed() {
                return;
            }
            if let Some((header, data)) = socket.waiting.pop_front() {
                if !self.send(key, header, data) {
                    return;
                }
                continue;
            }
            let Some(socket) = self.sockets.get_mut(&key) else { return };
            if socket.finished {
                if socket.pair.is_closed() {
                    self.close_socket(key);
                }
                return;
            }
            // A ballast keeps the program's send buffer full until the request to connect arrives. The
            // ballast of a listening socket is never read.
            let waits = !socket.many && socket.phase == Phase::Idle;
            if waits && socket.pair.has_ballast() && !socket.pair.is_closed() {
                return;
            }
            match socket.pair.take(buffer) {
                Incoming::Nothing => return,
                Incoming::End => return self.on_end(key),
                Incoming::Record(length) => {
                    let (header, data) = split(&buffer[..length]);
                    // A ballast (a record that only fills the send buffer) is dropped
                    // once it has been read, and so are records of other kinds.
                    if header.kind == Kind::Data && !self.send(key, header, Bytes::copy_from_slice(data)) {
                        return;
                    }
                }
            }
        }
        self.again.insert(key);
    }

    /// Handles the end of the records: the program has shut down or closed the socket.
    fn on_end(&mut self, key: usize) {
        let Some(socket) = self.sockets.get_mut(&key) else { return };
        socket.finished = true;
        if socket.pair.is_closed() {
            self.close_socket(key);
            return;
        }
        if !socket.many {
            let now = self.host.now();
            for number in socket.associations.clone() {
                if let Some((endpoint, id)) = self.endpoint_of(number) {
                    endpoint.shutdown(now, id);
                }
            }
        }
    }

    /// Removes a socket whose association has ended, and keeps it for later requests.
    fn end_socket(&mut self, key: usize) {
        if let Some(socket) = self.close_socket(key) {
            self.ended.keep(key, socket);
        }
    }

    /// Removes a socket that the program has closed. Its associations end in the background.
    pub(crate) fn close_socket(&mut self, key: usize) -> Option<Socket> {
        if let Some((_, new)) = self.sockets.get_mut(&key).and_then(|socket| socket.peeling.take())
            && let Some(socket) = self.sockets.get_mut(&new)
        {
            socket.pair.release();
        }
        let socket = self.sockets.get(&key)?;
        let (now, port, all) = (self.host.now(), socket.port, socket.associations.clone());
        let cookie = socket.cookie;
        let aborts = socket.settings.linger == Some(0) || socket.pair.has_unread_data();
        for number in all {
            let Some(association) = self.associations.get_mut(number) else { continue };
            (association.owner, association.closed) = (None, cookie);
            let up = association.up;
            self.associations.arm(number, now + LEFT);
            if let Some((endpoint, id)) = self.endpoint_of(number) {
                // Before the handshake is complete, queued messages are still delivered.
                let queued = endpoint.stats(id).is_some_and(|stats| !stats.buffered.is_zero());
                let unread = endpoint.next_message_len(id).is_some();
                if aborts || unread || !(up || queued) {
                    endpoint.abort(id, b"");
                } else {
                    endpoint.shutdown(now, id);
                }
            }
        }
        let socket = self.remove_socket(key);
        if let Some(port) = port {
            self.release_port(port, key);
        }
        socket
    }

    pub(crate) fn endpoint_of(&mut self, number: i32) -> Option<(&mut Endpoint, AssocId)> {
        let &Association { port, id, .. } = self.associations.get(number)?;
        Some((self.host.endpoint_mut(port)?, id))
    }

    /// The association of a record; begins one if the record has the address of a new peer.
    fn target(&mut self, key: usize, header: &Header) -> Option<i32> {
        self.known_target(key, header).or_else(|| {
            let of = self.sockets.get(&key)?;
            let new = header.flags & flags::ADDRESS != 0 && (of.many || of.associations.is_empty());
            let address = address_of(header).filter(|_| new)?;
            self.associate(key, &[address], header.port).ok()
        })
    }

    /// The association of a record, if there is one.
    pub(crate) fn known_target(&self, key: usize, header: &Header) -> Option<i32> {
        let socket = self.sockets.get(&key)?;
        if !socket.many
            && let [number] = socket.associations[..]
        {
            return Some(number);
        }
        let owned = |number: &i32| socket.associations.contains(number);
        if header.flags & flags::ADDRESS == 0 {
            return Some(header.association).filter(owned);
        }
        self.association_with(key, address_of(header)?, header.port)
    }

    /// The association of a socket with the peer at this address and port.
    pub(crate) fn association_with(&self, key: usize, address: IpAddr, port: u16) -> Option<i32> {
        let same = |&&number: &&i32| {
            let peer = self.associations.get(number);
            peer.is_some_and(|peer| peer.peer_port == port && peer.peers.contains(&address))
        };
        self.sockets.get(&key)?.associations.iter().find(same).copied()
    }

    /// Passes a message to the stack. False if the stack has no room: the message waits.
    fn send(&mut self, key: usize, header: Header, data: Bytes) -> bool {
        let now = self.host.now();
        if header.flags & flags::ALL != 0 {
            self.send_to_all(key, header, &data);
            return true;
        }
        let Some(number) = self.target(key, &header) else { return true };
        let Some(socket) = self.sockets.get(&key) else { return true };
        let defaults = socket.settings.defaults;
        // A tracked message that fails gives one notification, not one for each chunk.
        let tracked = socket.wants(kind::SEND_FAILED) || socket.wants(kind::SEND_FAILED_EVENT);
        if socket.wants(kind::SENDER_DRY) && !data.is_empty() {
            self.sending.insert(number);
        }
        if let Some(association) = self.associations.get_mut(number) {
            association.active = now;
        }
        let Some((endpoint, id)) = self.endpoint_of(number) else { return true };
        if header.flags & flags::ABORT != 0 {
            endpoint.abort(id, &data[..data.len().min(512)]);
            return true;
        }
        if !data.is_empty() {
            let mut message = Message::new(Payload::Bytes(data.clone()));
            message.tracked = tracked;
            message.end_of_record = header.flags & flags::END != 0;
            message.immediate_sack = header.flags & flags::SACK_NOW != 0;
            if header.flags & flags::DEFAULTS != 0 {
                (message.stream, message.ppid) = (StreamId(defaults.stream), ppid(defaults.ppid));
                message.unordered = defaults.flags & 1 != 0;
                message.context = defaults.context;
            } else {
                (message.stream, message.ppid) = (StreamId(header.stream), ppid(header.ppid));
                message.unordered = header.flags & flags::UNORDERED != 0;
                message.context = header.context;
            }
            let (policy, value) = match header.flags & flags::POLICY {
                // A value without a policy is a lifetime.
                0 if defaults.policy == 0 => (send::TTL, defaults.value),
                0 => (defaults.policy, defaults.value),
                _ => (header.policy, header.value),
            };
            message.reliability = reliability(policy, value);
            if header.flags & flags::ADDRESS_OVER != 0 {
                let address = address_of(&header);
                let mut paths = endpoint.paths(id).into_iter().flatten();
                message.path = paths.find(|path| Some(path.remote) == address).map(|path| path.id);
            }
            if let Err(SendError::WouldBlock) = endpoint.send(now, id, message) {
                if let Some(socket) = self.sockets.get_mut(&key) {
                    socket.waiting.push_front((header, data));
                }
                return false;
            }
            if let Some(association) = self.associations.get_mut(number) {
                association.unfinished = header.flags & flags::END == 0;
            }
        }
        if header.flags & flags::EOF != 0
            && let Some((endpoint, id)) = self.endpoint_of(number)
        {
            endpoint.shutdown(now, id);
        }
        true
    }

    /// `SCTP_SENDALL`: a copy of the message waits for each association of a one-to-many socket. Other
    /// sockets ignore the flag, as in Linux.
    fn send_to_all(&mut self, key: usize, mut header: Header, data: &Bytes) {
        let Some(socket) = self.sockets.get_mut(&key) else { return };
        header.flags &= !flags::ALL;
        if socket.many {
            header.flags &= !flags::ADDRESS;
            let copy = |&association: &i32| (Header { association, ..header }, data.clone());
            socket.waiting.extend(socket.associations.iter().map(copy));
        } else {
            socket.waiting.push_back((header, data.clone()));
        }
    }

    /// Passes messages of an association to the program's socket while this has room. With `all`, the
    /// association has ended, and the messages for which there is no room are queued, too.
    pub(crate) fn deliver(&mut self, number: i32, all: bool) {
        let now = self.host.now();
        let Some(association) = self.associations.get_mut(number) else { return };
        let (port, id, owner) = (association.port, association.id, association.owner);
        let Some(endpoint) = self.host.endpoint_mut(port) else { return };
        let Some(socket) = owner.and_then(|key| self.sockets.get_mut(&key)) else {
            // No program reads these messages any more.
            while endpoint.receive(id, usize::MAX).is_some() {}
            return;
        };
        let (interleave, partial) = (socket.settings.interleave, socket.partial);
        let mut unwritten = 0;
        while all
            || (unwritten > 0 || socket.pair.has_room())
                && socket.partial.is_none_or(|other| other == number || interleave)
        {
            let Some(received) = endpoint.receive(id, MAX_DELIVERED) else { break };
            association.active = now;
            socket.partial = (!received.end_of_record && !received.aborted).then_some(number);
            if !received.aborted {
                let header = received_header(socket, association, number, &received);
                let data = received.payload.to_bytes();
                unwritten += data.len();
                socket.pair.queue(header, data, None);
            } else if socket.wants(kind::PARTIAL_DELIVERY) {
                let (stream, ssn) = (received.stream.0, received.ssn.0);
                let told = notification::partial_delivery_aborted(number, stream, ssn);
                let mut header = Header::new(Kind::Notification);
                (header.flags, header.association) = (flags::END, number);
                unwritten += told.len();
                socket.pair.queue(header, told.into(), None);
            }
            if unwritten >= BURST {
                socket.pair.flush();
                unwritten = 0;
            }
        }
        socket.pair.flush();
        let others_wait = partial == Some(number) && socket.partial.is_none();
        if let Some(key) = owner.filter(|_| others_wait) {
            self.on_writable(key);
        }
    }

    /// Writes the waiting records of a socket to the program, which has made room.
    pub(crate) fn on_writable(&mut self, key: usize) {
        let Some(socket) = self.sockets.get_mut(&key) else { return };
        socket.pair.flush();
        if socket.pair.is_over() {
            return self.end_socket(key);
        }
        if socket.pair.has_room() {
            // The association whose message was delivered in part comes first.
            let rest = socket.associations.clone();
            for number in socket.partial.into_iter().chain(rest) {
                self.deliver(number, false);
            }
        }
    }
}

/// The header and the data of a record. What a program writes past its library, for example by stdio, is a
/// message without a header.
fn split(record: &[u8]) -> (Header, &[u8]) {
    if let Some(header) = Header::parse(record) {
        return (header, record.get(Header::LEN..).unwrap_or_default());
    }
    let mut header = Header::new(Kind::Data);
    header.flags = flags::END | flags::DEFAULTS;
    (header, record)
}

fn received_header(socket: &Socket, association: &Association, number: i32, received: &Received) -> Header {
    let mut header = Header::new(Kind::Data);
    header.flags = if received.end_of_record { flags::END } else { 0 };
    header.flags |= if received.unordered { flags::UNORDERED } else { 0 };
    header.association = number;
    (header.stream, header.ssn) = (received.stream.0, received.ssn.0);
    // The program gets the four bytes of the PPID as the peer sent them.
    header.ppid = received.ppid.0.to_be();
    header.context = socket.settings.received_context;
    header.tsn = received.tsn.0;
    set_peer(&mut header, association);
    header
}

/// Puts the peer's address into a header.
pub fn set_peer(header: &mut Header, association: &Association) {
    header.port = association.peer_port;
    match association.peers.first() {
        Some(IpAddr::V4(address)) => {
            header.family = 4;
            header.address[..4].copy_from_slice(&address.octets());
        }
        Some(IpAddr::V6(address)) => {
            header.family = 6;
            header.address = address.octets();
        }
        None => {}
    }
}

fn address_of(header: &Header) -> Option<IpAddr> {
    match header.family {
        4 => Some(Ipv4Addr::from(*header.address.first_chunk::<4>()?).into()),
        6 => Some(Ipv6Addr::from(header.address).to_canonical()),
        _ => None,
    }
}

/// The PPID of a program. Its bytes are sent in the order in which the program gave them.
fn ppid(given: u32) -> Ppid {
    Ppid(u32::from_be(given))
}

fn reliability(policy: u16, value: u32) -> Reliability {
    match policy & 0x30 {
        0x10 if value > 0 => Reliability::Until(Span::from_millis(value.into())),
        0x20 => Reliability::Retransmissions(value),
        0x30 => Reliability::Priority(value),
        _ => Reliability::Reliable,
    }
}
