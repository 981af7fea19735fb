//! Binding and listening.

use crate::server::Server;
use crate::socket::{Phase, Socket};
use io::BindError;
use nix::errno::Errno;
use sctp::Listen;
use std::io::ErrorKind;
use std::net::{IpAddr, UdpSocket};
use std::sync::Arc;

/// The first port of the dynamic range (`rfc6335#section-6`).
const FIRST: u16 = 49_152;
/// Number of CAP_NET_BIND_SERVICE in a set of capabilities.
const BIND_SERVICE: u32 = 10;
/// Largest number of requested associations that wait until the server accepts or refuses them.
const ARRIVALS: usize = 64;
/// Largest number of addresses of an endpoint.
const ADDRESSES: usize = 16;

impl Server {
    /// Binds a socket to a port (0: any) and addresses (none: all).
    pub(crate) fn bind_socket(&mut self, key: usize, port: u16, addresses: &[IpAddr]) -> Result<(), Errno> {
        let socket = self.sockets.get(&key).ok_or(Errno::EBADF)?;
        if socket.port.is_some() {
            return Err(Errno::EINVAL);
        }
        let named = addresses.iter().filter(|address| !address.is_unspecified());
        let named: Vec<IpAddr> = named.copied().take(ADDRESSES).collect();
        let port = if port == 0 { self.free_port().ok_or(Errno::EADDRINUSE)? } else { port };
        self.check_bind(key, port, &named)?;
        self.open_port(port, &named, key)?;
        if let Some(socket) = self.sockets.get_mut(&key) {
            (socket.port, socket.bound) = (Some(port), named);
        }
        Ok(())
    }

    /// Checks that a socket can have or reach these addresses: an IPv4 socket none of IPv6.
    pub(crate) fn check_families(&self, key: usize, addresses: &[IpAddr]) -> Result<(), Errno> {
        let socket = self.sockets.get(&key).ok_or(Errno::EBADF)?;
        let fits = socket.v6 || addresses.iter().all(IpAddr::is_ipv4);
        if fits { Ok(()) } else { Err(Errno::EINVAL) }
    }

    /// Checks that a socket may have these addresses at a port: they are addresses of this host process, and
    /// no other socket has one of them at this port.
    pub(crate) fn check_bind(&mut self, key: usize, port: u16, named: &[IpAddr]) -> Result<(), Errno> {
        let socket = self.sockets.get(&key).ok_or(Errno::EBADF)?;
        if !named.iter().all(|&address| self.is_local(address)) {
            return Err(Errno::EADDRNOTAVAIL);
        }
        if (1..1024).contains(&port) && !may_bind(socket.pid) {
            return Err(Errno::EACCES);
        }
        let (reuse, v6, v6_only) = (socket.settings.reuse, socket.v6, socket.v6_only());
        let shares_port = socket.shares_port();
        let taken = |other: &Socket| {
            let shares = reuse && other.settings.reuse && other.backlog.is_none();
            let shares = shares || shares_port && other.shares_port();
            // A socket that was accepted does not keep the port of its listener.
            let meets = other.v6 == v6 || !(other.v6_only() || v6_only);
            let meets = meets && other.meets(named);
            other.port == Some(port) && other.phase != Phase::Connected && !shares && meets
        };
        let takers = self.sockets.iter().filter(|&(&other, socket)| other != key && taken(socket));
        for taker in takers.map(|(&other, _)| other).collect::<Vec<_>>() {
            // The program may just have closed the other socket; reading the records of that socket shows it.
            self.pump(taker);
            if self.sockets.contains_key(&taker) {
                return Err(Errno::EADDRINUSE);
            }
        }
        Ok(())
    }

    /// Opens a port, or changes an open one, with these addresses and the options of the socket `key`.
    fn open_port(&mut self, port: u16, named: &[IpAddr], key: usize) -> Result<(), Errno> {
        let config = self.sockets.get(&key).map(|socket| Arc::new(socket.config.clone())).unwrap_or_default();
        let addresses = if named.is_empty() { self.host.addresses().to_vec() } else { named.to_vec() };
        self.host.open(port, &addresses, config.clone()).map_err(|error| match error {
            BindError::Ip { source, .. } if source.kind() == ErrorKind::AddrInUse => Errno::EADDRINUSE,
            _ => Errno::EINVAL,
        })?;
        let endpoint = self.host.endpoint_mut(port).ok_or(Errno::EINVAL)?;
        endpoint.set_addresses(addresses).map_err(|_| Errno::EINVAL)?;
        endpoint.set_config(config).map_err(|_| Errno::EINVAL)?;
        self.ports.all.entry(port).or_default();
        Ok(())
    }

    /// The port of a socket. A socket without a port is bound to any free one. If the peer has a loopback
    /// address, the association uses only loopback addresses of this end; if it is at the end of a link, only
    /// that link.
    pub(crate) fn port_for(&mut self, key: usize, peers: &[IpAddr]) -> Result<u16, Errno> {
        let socket = self.sockets.get(&key).ok_or(Errno::EBADF)?;
        let scope = match peers {
            [first, ..] if first.is_loopback() && !self.host.addresses().contains(first) => vec![*first],
            _ => link_to(peers),
        };
        match socket.port {
            Some(port) => {
                if !scope.is_empty() && socket.bound.is_empty() && self.associations.len() == 0 {
                    self.open_port(port, &scope, key)?;
                }
                Ok(port)
            }
            None => {
                self.bind_socket(key, 0, &scope)?;
                self.sockets.get(&key).and_then(|socket| socket.port).ok_or(Errno::EINVAL)
            }
        }
    }

    fn free_port(&mut self) -> Option<u16> {
        for _ in FIRST..=u16::MAX {
            self.ports.next = self.ports.next.checked_add(1).filter(|&port| port >= FIRST).unwrap_or(FIRST);
            if self.host.is_free(self.ports.next) {
                return Some(self.ports.next);
            }
        }
        None
    }

    fn is_local(&self, address: IpAddr) -> bool {
        let there = self.host.addresses().contains(&address) || self.host.has_link(address);
        there || UdpSocket::bind((address, 0)).is_ok()
    }

    /// Lets peers begin associations with a socket, or stops this if the
    /// backlog of a one-to-many socket is 0.
    pub(crate) fn listen(&mut self, key: usize, backlog: i32) -> Result<(), Errno> {
        let port = self.port_for(key, &[])?;
        let socket = self.sockets.get(&key).ok_or(Errno::EBADF)?;
        if !socket.many && socket.phase != Phase::Idle {
            return Err(Errno::EINVAL);
        }
        let (v6, bound, shares_port) = (socket.v6, socket.bound.clone(), socket.shares_port());
        let on = backlog > 0 || !socket.many;
        let same =
            |other: &Socket| other.v6 == v6 && other.meets(&bound) && !(shares_port && other.shares_port());
        let same = |other: &usize| self.sockets.get(other).is_some_and(same);
        let entry = self.ports.all.entry(port).or_default();
        entry.listeners.retain(|&other| other != key);
        if entry.listeners.iter().any(same) {
            return Err(Errno::EADDRINUSE);
        }
        if on {
            entry.listeners.push(key);
        }
        let some = !entry.listeners.is_empty();
        if let Some(socket) = self.sockets.get_mut(&key) {
            socket.backlog = on.then_some(backlog.clamp(1, 512) as usize);
        }
        self.refresh(key);
        if let Some(endpoint) = self.host.endpoint_mut(port) {
            endpoint.listen(if some { Listen::Ask { waiting: ARRIVALS } } else { Listen::Off });
        }
        Ok(())
    }

    /// Gives the endpoint of a listening socket the present options of the socket.
    pub(crate) fn refresh(&mut self, key: usize) {
        let Some(socket) = self.sockets.get(&key) else { return };
        if let (Some(_), Some(port)) = (socket.backlog, socket.port)
            && let Some(endpoint) = self.host.endpoint_mut(port)
        {
            // The options were checked when they were set.
            let _ = endpoint.set_config(Arc::new(socket.config.clone()));
        }
    }

    /// Ends listening by a socket. Then closes the port if no socket and no association uses it.
    pub(crate) fn release_port(&mut self, port: u16, key: usize) {
        if let Some(entry) = self.ports.all.get_mut(&port)
            && entry.listeners.contains(&key)
        {
            entry.listeners.retain(|&other| other != key);
            if entry.listeners.is_empty()
                && let Some(endpoint) = self.host.endpoint_mut(port)
            {
                endpoint.listen(Listen::Off);
            }
        }
        let used = self.sockets.values().any(|socket| socket.port == Some(port))
            || self.associations.iter().any(|(_, association)| association.port == port);
        if !used {
            self.ports.all.remove(&port);
            self.host.close(port);
        }
    }
}

/// This end of the link at whose other end a peer is; none if its address is not of a link.
pub fn link_to(peers: &[IpAddr]) -> Vec<IpAddr> {
    let number = peers.first().and_then(|&peer| io::link_number(peer));
    number.map(|number| io::link_addresses(number)[0]).into_iter().collect()
}

/// True if a program may bind ports below 1024.
fn may_bind(pid: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let bits = effective.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok());
    bits.is_some_and(|bits| bits & (1 << BIND_SERVICE) != 0)
}
