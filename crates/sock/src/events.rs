//! Handles the events of associations that the stack reports.

use crate::associations::Association;
use crate::binding::link_to;
use crate::data::set_peer;
use crate::server::Server;
use crate::socket::{Phase, Socket};
use bytes::Bytes;
use nix::errno::Errno;
use records::notification::{self, AssocState, KeyState, kind};
use records::{Header, Kind};
use sctp::{AssocId, CloseReason, Event, PathState, ResetResult};
use std::net::IpAddr;
use std::sync::Arc;
use transport::Channel;

impl Server {
    /// Handles all events of associations, and all peers that ask for an association.
    pub(crate) fn on_events(&mut self) {
        loop {
            while let Some((port, id, event)) = self.host.poll_event() {
                if let Some(number) = self.associations.number(port, id) {
                    self.on_event(number, event);
                }
            }
            if !self.take_arrivals() {
                break;
            }
        }
    }

    /// Accepts or refuses the peers that ask for associations; true if there were some.
    fn take_arrivals(&mut self) -> bool {
        let now = self.host.now();
        let mut some = false;
        for (port, keys) in self.ports.listeners() {
            while let Some(arrival) = self.host.endpoint_mut(port).and_then(sctp::Endpoint::poll_arrival) {
                some = true;
                let v6 = arrival.peer_addresses.first().is_some_and(IpAddr::is_ipv6);
                let local = arrival.local_address;
                let Some(key) = self.listener_at(&keys, local, v6) else {
                    if let Some(endpoint) = self.host.endpoint_mut(port) {
                        endpoint.refuse(arrival.id, b"no listener at this address");
                    }
                    continue;
                };
                let backlog = |of: &Socket| of.backlog.is_some_and(|most| of.pair.backlog() < most);
                let has_room = self.sockets.get(&key).is_some_and(backlog);
                // A peer that reached a loopback address gets an association at this address alone.
                let usual = self.sockets.get(&key).map(|socket| socket.bound.clone()).unwrap_or_default();
                let usual = if usual.is_empty() { self.host.addresses().to_vec() } else { usual };
                let Some(endpoint) = self.host.endpoint_mut(port) else { break };
                if !has_room {
                    endpoint.refuse(arrival.id, b"backlog full");
                    continue;
                }
                // Other sockets at this port may have other addresses, so each peer gets those of its
                // socket. The addresses were checked when the socket was bound, and `local` is the
                // destination of a packet.
                let addresses = if usual.contains(&local) { usual.clone() } else { vec![local] };
                let _ = endpoint.set_addresses(addresses);
                let accepted = endpoint.accept(now, arrival.id);
                let _ = endpoint.set_addresses(usual);
                // The call fails if the peer has given up its attempt to connect.
                if let Ok(id) = accepted {
                    let number = self.associations.insert(Association::new(
                        port,
                        id,
                        key,
                        arrival.peer_addresses,
                        arrival.peer_port,
                    ));
                    self.own(key, number);
                }
            }
        }
        some
    }

    /// The listening socket for a peer that reached this local address, preferably one of the address's
    /// family. Those that share the port take turns.
    fn listener_at(&mut self, keys: &[usize], local: IpAddr, v6: bool) -> Option<usize> {
        let there = keys.iter().filter_map(|&key| Some((key, self.sockets.get(&key)?)));
        let there: Vec<_> = there.filter(|(_, socket)| socket.meets(&[local])).collect();
        let of_family = |&(key, socket): &(usize, &Socket)| (socket.v6 == v6).then_some(key);
        let mut found: Vec<usize> = there.iter().filter_map(of_family).collect();
        if found.is_empty() {
            found.extend(there.first().map(|&(key, _)| key));
        }
        self.ports.turn = self.ports.turn.wrapping_add(1);
        found.get(self.ports.turn % found.len().max(1)).copied()
    }

    fn own(&mut self, key: usize, number: i32) {
        if let Some(socket) = self.sockets.get_mut(&key) {
            socket.associations.push(number);
        }
        self.give_keys(key, number);
    }

    /// Begins an association of a socket.
    pub(crate) fn associate(&mut self, key: usize, peers: &[IpAddr], peer_port: u16) -> Result<i32, Errno> {
        let port = self.port_for(key, peers)?;
        let socket = self.sockets.get(&key).ok_or(Errno::EBADF)?;
        let (config, bound) = (Arc::new(socket.config.clone()), socket.bound.clone());
        let remote_udp_port = socket.settings.remote_udp_port;
        let now = self.host.now();
        let endpoint = self.host.endpoint_mut(port).ok_or(Errno::EINVAL)?;
        let link = link_to(peers);
        if !link.is_empty() && !socket.meets(&link) {
            return Err(Errno::EADDRNOTAVAIL);
        }
        let addresses = if link.is_empty() { bound } else { link };
        if !addresses.is_empty() {
            // Another socket may have other addresses at this port.
            endpoint.set_addresses(addresses).map_err(|_| Errno::EINVAL)?;
        }
        let id = endpoint.connect_with(now, peer_port, peers, config, Channel::NONE);
        let id = id.map_err(|error| match error {
            sctp::ConnectError::NoUsableAddress => Errno::EADDRNOTAVAIL,
            sctp::ConnectError::Exists { .. } => Errno::EISCONN,
            sctp::ConnectError::TooManyAssociations { .. } => Errno::ENOBUFS,
            _ => Errno::EINVAL,
        })?;
        let mut association = Association::new(port, id, key, peers.to_vec(), peer_port);
        association.udp_port = remote_udp_port;
        let number = self.associations.insert(association);
        self.own(key, number);
        if let Some(udp_port) = remote_udp_port {
            self.reach_at(number, None, udp_port)?;
        }
        Ok(number)
    }

    fn on_event(&mut self, number: i32, event: Event) {
        match event {
            Event::Connected { outbound_streams, inbound_streams, peer_addresses, peer_port } => {
                let path = self.endpoint_of(number).and_then(|(endpoint, id)| endpoint.paths(id)?.next());
                let local = path.map(|path| path.local);
                if let Some(association) = self.associations.get_mut(number) {
                    (association.up, association.local) = (true, local);
                    (association.outbound, association.inbound) = (outbound_streams, inbound_streams);
                    (association.peers, association.peer_port) = (peer_addresses, peer_port);
                }
                self.on_connected(number);
            }
            Event::Readable => self.deliver(number, false),
            Event::Writable => {
                if let Some(key) = self.associations.get(number).and_then(|association| association.owner) {
                    self.pump(key);
                }
            }
            Event::PathChanged { address, state } => self.on_path(number, address, state),
            Event::PeerAddressAdded { address } => self.tell_address(number, address, 3),
            Event::PeerAddressRemoved { address } => self.tell_address(number, address, 2),
            Event::PrimaryChanged { address, .. } => self.tell_address(number, address, 4),
            Event::Restarted => self.tell_change(number, AssocState::Restart, &[]),
            Event::StreamsReset { incoming, outgoing, streams, result } => {
                self.tell_reset(number, incoming, outgoing, &streams, result);
            }
            Event::StreamsAdded { incoming, outgoing, result } => {
                if let Some(association) =
                    self.associations.get_mut(number).filter(|_| result == ResetResult::Performed)
                {
                    association.inbound = association.inbound.saturating_add(incoming);
                    association.outbound = association.outbound.saturating_add(outgoing);
                }
                self.tell_streams(number, result);
            }
            Event::SendFailed { sent, message, .. } => self.tell_failed(number, sent, &message),
            Event::PeerError { causes } => self.tell_errors(number, &causes),
            Event::Adaptation { code } => {
                self.tell(number, kind::ADAPTATION, |number, _| notification::adaptation(number, code));
            }
            Event::AuthKeyUsed { id } => self.tell_key(number, KeyState::New, id),
            Event::AuthKeyUnused { id } => self.tell_key(number, KeyState::Free, id),
            Event::ShutdownReceived => {
                self.deliver(number, false);
                self.tell(number, kind::SHUTDOWN, |number, _| notification::shutdown(number));
            }
            Event::Closed { reason } => self.on_closed(number, &reason),
            _ => {}
        }
    }

    /// Tells of the state of an address: an address is available again only after the program was told that
    /// it failed.
    fn on_path(&mut self, number: i32, address: IpAddr, state: PathState) {
        const AVAILABLE: u32 = 0;
        const UNREACHABLE: u32 = 1;
        const CONFIRMED: u32 = 5;
        const FAILING: u32 = 6;
        let tells = self.tells_of_failing(number);
        let Some(association) = self.associations.get_mut(number) else { return };
        let failed = &mut association.failed;
        let told = match state {
            PathState::Active => match failed.insert(address, false) {
                Some(true) => AVAILABLE,
                Some(false) => return,
                None => CONFIRMED,
            },
            PathState::Inactive => UNREACHABLE,
            PathState::PotentiallyFailed if tells => FAILING,
            _ => {
                failed.entry(address).or_insert(false);
                return;
            }
        };
        if state != PathState::Active {
            failed.insert(address, true);
        }
        self.tell_address(number, address, told);
    }

    /// True if the program is told of paths that are potentially failed (`SCTP_PF_EXPOSE_ENABLE`).
    fn tells_of_failing(&self, number: i32) -> bool {
        let owner = self.associations.get(number).and_then(|of| self.sockets.get(&of.owner?));
        owner.is_some_and(|socket| socket.settings.exposes_failing == 2)
    }

    fn on_connected(&mut self, number: i32) {
        let now = self.host.now();
        let Some(association) = self.associations.get_mut(number) else { return };
        let Some(key) = association.owner else { return };
        let Some(socket) = self.sockets.get_mut(&key) else { return };
        let (udp_port, awaited) = (association.udp_port, association.awaited.take());
        if let Some(idle) = socket.settings.autoclose {
            (association.active, association.autoclose) = (now, Some(idle));
            self.associations.arm(number, now + idle);
        }
        if socket.backlog.is_some() && !socket.many {
            return self.hand_over(key, number);
        }
        let connects = socket.phase == Phase::Connecting(number);
        if !socket.many {
            socket.phase = Phase::Connected;
        }
        if let Some(udp_port) = udp_port {
            // The peer may have listed more addresses than the program did. They get the port, too.
            let _ = self.reach_at(number, None, udp_port);
        }
        self.tell_up(number);
        if let Some(connection) = awaited {
            connection.answer(None);
        }
        if connects {
            self.pump(key);
        }
    }

    /// Makes a socket for an accepted association and passes the socket to the program.
    fn hand_over(&mut self, listener: usize, number: i32) {
        let made = self.make_pair(listener);
        if let Some(socket) = self.sockets.get_mut(&listener) {
            socket.associations.retain(|&other| other != number);
        }
        let Some((descriptor, key)) = made else {
            if let Some((endpoint, id)) = self.endpoint_of(number) {
                endpoint.abort(id, b"too many sockets");
            }
            return;
        };
        let Some(association) = self.associations.get_mut(number) else { return };
        association.owner = Some(key);
        let mut header = Header::new(Kind::Accepted);
        header.association = number;
        set_peer(&mut header, association);
        if let Some(socket) = self.sockets.get_mut(&key) {
            socket.associations.push(number);
            header.set_cookie(socket.cookie);
            header.value = socket.switches().into();
        }
        if let Some(socket) = self.sockets.get_mut(&listener) {
            socket.pair.put(header, Bytes::new(), Some(descriptor));
        }
        self.tell_up(number);
        self.deliver(number, false);
    }

    fn on_closed(&mut self, number: i32, reason: &CloseReason) {
        self.deliver(number, true);
        let up = self.associations.get(number).is_some_and(|association| association.up);
        let (state, causes): (_, &[u8]) = match reason {
            CloseReason::Graceful => (AssocState::ShutdownComplete, &[]),
            CloseReason::PeerAbort { causes } if up => (AssocState::CommLost, causes),
            _ if up => (AssocState::CommLost, &[]),
            _ => (AssocState::CannotStart, &[]),
        };
        // `SO_ERROR` and connect find the error only before all notifications, and a program reads
        // the messages that have arrived before the error.
        if !up {
            self.fail_connect(number, reason);
        }
        self.tell_change(number, state, causes);
        let Some(association) = self.associations.remove(number) else { return };
        if let Some(connection) = association.awaited {
            connection.answer(error_of(reason, up));
        }
        let key = association.owner.unwrap_or_default();
        if let Some(socket) = self.sockets.get_mut(&key) {
            socket.associations.retain(|&other| other != number);
            let others_wait = socket.partial.take_if(|other| *other == number).is_some();
            let connects = socket.phase == Phase::Connecting(number);
            if !socket.many {
                if up {
                    if let Some(error) = error_of(reason, up) {
                        put_failure(socket, error);
                    }
                    socket.phase = Phase::Ended;
                    socket.local = association.local;
                    socket.peer = association.peers.first().map(|&first| (first, association.peer_port));
                    socket.pair.end();
                } else if connects {
                    // The socket may connect again.
                    socket.phase = Phase::Idle;
                    self.drop_ballast(key);
                }
                self.pump(key);
            } else {
                self.again.insert(key);
            }
            if others_wait {
                self.on_writable(key);
            }
        }
        self.release_port(association.port, usize::MAX);
    }

    /// Reports the error of an association that did not come up: by a record of a one-to-one socket, or to a
    /// call that will wait for the association of a one-to-many socket.
    fn fail_connect(&mut self, number: i32, reason: &CloseReason) {
        let owner = self.associations.get(number).and_then(|association| association.owner);
        let Some(socket) = owner.and_then(|key| self.sockets.get_mut(&key)) else { return };
        match error_of(reason, false) {
            Some(error) if socket.many => socket.failed = Some((number, error)),
            Some(error) => put_failure(socket, error),
            None => {}
        }
    }

    /// Shuts idle associations down, and aborts those that stay open although their program has ended.
    pub(crate) fn on_timers(&mut self) {
        let now = self.host.now();
        while let Some(number) = self.associations.take_due(now) {
            let Some(&Association { owner, active, autoclose, .. }) = self.associations.get(number) else {
                continue;
            };
            match autoclose.filter(|_| owner.is_some()) {
                Some(idle) if active + idle > now => self.associations.arm(number, active + idle),
                Some(_) => {
                    if let Some((endpoint, id)) = self.endpoint_of(number) {
                        endpoint.shutdown(now, id);
                    }
                }
                None => {
                    if let Some((endpoint, id)) = self.endpoint_of(number) {
                        endpoint.abort(id, b"the program has ended");
                    }
                }
            }
        }
    }

    /// Aborts all associations, because this process ends.
    pub(crate) fn abort_all(&mut self) {
        let all: Vec<(u16, AssocId)> = self.associations.iter().map(|(_, of)| (of.port, of.id)).collect();
        for (port, id) in all {
            if let Some(endpoint) = self.host.endpoint_mut(port) {
                endpoint.abort(id, b"the host process ends");
            }
        }
        self.host.transmit();
    }
}

/// Lets the program's next call that receives or asks for `SO_ERROR` have this error.
fn put_failure(socket: &mut Socket, error: Errno) {
    let mut failure = Header::new(Kind::Failure);
    failure.value = error as u32;
    socket.pair.put(failure, Bytes::new(), None);
}

/// The errno of the end of an association; `None` if it ended gracefully.
fn error_of(reason: &CloseReason, up: bool) -> Option<Errno> {
    Some(match reason {
        CloseReason::Graceful => return None,
        CloseReason::LocalAbort => Errno::ECONNABORTED,
        CloseReason::PeerAbort { .. } if up => Errno::ECONNRESET,
        CloseReason::PeerAbort { .. } | CloseReason::Unreachable => Errno::ECONNREFUSED,
        CloseReason::Duplicate { .. } => Errno::EISCONN,
        CloseReason::ProtocolViolation { .. } => Errno::ECONNABORTED,
        _ => Errno::ETIMEDOUT,
    })
}
