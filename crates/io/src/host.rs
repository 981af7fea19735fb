//! One set of sockets for many SCTP ports, for a program with a loop of its own.

use crate::carrier::Carrier;
use crate::link::{Link, carry, link_addresses, link_number};
use crate::net::{
    Buffers, Clock, OTHERS, Ready, Report, Sockets, bind_raw_sockets, bind_sockets, claim_port,
    interface_addresses, is_claimed,
};
use crate::tap::Tap;
use crate::types::BindError;
use sctp::{Config, Encapsulation, Endpoint, EndpointConfig, IcmpNews, Listen, Seed};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use transport::{ConfigError, Datagram, Octets, PacketBuf};
use units::Instant;

/// Largest number of ICMP messages, and of answers for closed ports, that one [`Host::wait`] handles.
const ANSWERS: usize = 64;
/// Largest number of packets of links that one [`Host::wait`] handles.
const LINKED: usize = 256;

/// Addresses, carrier and UDP ports of a [`Host`].
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "users fill it in")]
pub struct HostOptions {
    /// Local addresses, each with a socket of its own; if empty, all addresses of the host.
    pub locals: Vec<IpAddr>,
    /// What carries the packets. With [`Carrier::Both`], this end connects in UDP.
    pub carrier: Carrier,
    /// UDP port of all sockets; 0: any.
    pub udp_port: u16,
    /// UDP port of peers that have not sent anything yet.
    pub remote_udp_port: u16,
    /// Observes each packet; `None`: no observer.
    pub tap: Option<Box<dyn Tap>>,
    /// Carries packets of addresses of links; `None`: there are no links.
    pub link: Option<Box<dyn Link>>,
}

impl Default for HostOptions {
    fn default() -> Self {
        let port = Encapsulation::PORT;
        HostOptions {
            locals: Vec::new(),
            carrier: Carrier::Udp,
            udp_port: port,
            remote_udp_port: port,
            tap: None,
            link: None,
        }
    }
}

/// Sockets that carry the packets of many SCTP ports, each with an [`Endpoint`]: in UDP (`rfc6951`), in IP,
/// or both.
///
/// There is no thread. The caller changes endpoints, takes [their events](Self::poll_event), calls
/// [`Self::transmit`], and [waits](Self::wait), also for what it registers at [`Self::registry`]. An INIT for
/// a port without an endpoint is answered with an ABORT, unless it came by a [link](Link), or in IP and
/// another process has that port.
#[derive(Debug)]
pub struct Host {
    clock: Clock,
    out: Outlet,
    waker: Arc<mio::Waker>,
    buffers: Buffers,
    quoted: Vec<u8>,
    /// The local addresses of [`HostOptions::locals`].
    locals: Vec<(IpAddr, Option<String>)>,
    addresses: Vec<IpAddr>,
    carrier: Carrier,
    remote_udp_port: u16,
    ports: BTreeMap<u16, Port>,
    /// Deadline of each port that has one.
    deadlines: BTreeSet<(Instant, u16)>,
    /// Ports that may have packets to send.
    unsent: BTreeSet<u16>,
    /// Ports that may have events which the caller has not taken.
    untold: BTreeSet<u16>,
}

#[derive(Debug)]
struct Port {
    endpoint: Endpoint,
    /// The time of this port's entry in [`Host::deadlines`]; `None`: there is no entry.
    armed: Option<Instant>,
    /// While these sockets are open, other processes see that the port is in use for SCTP directly in IP.
    _claims: Vec<socket2::Socket>,
}

impl Host {
    /// The smallest token that the caller may register.
    pub const FIRST_TOKEN: mio::Token = mio::Token(OTHERS);

    /// Binds the sockets.
    ///
    /// # Errors
    /// [`BindError`].
    pub fn bind(options: HostOptions) -> Result<Host, BindError> {
        const BUFFERS: usize = 4 << 20;
        let HostOptions { locals: addresses, carrier, udp_port, remote_udp_port, tap, link } = options;
        let locals: Vec<_> = addresses.iter().map(|&address| (address, None)).collect();
        let (mut sockets, udp_port) = match carrier.has_udp() {
            true => bind_sockets(&locals, udp_port, BUFFERS)?,
            false => (Vec::new(), 0),
        };
        if carrier.has_ip() {
            bind_raw_sockets(&locals, None, BUFFERS, &mut sockets)?;
        }
        let addresses = if locals.is_empty() { interface_addresses()? } else { addresses };
        let (sockets, waker) = Sockets::new(sockets)?;
        Ok(Host {
            clock: Clock::start(),
            out: Outlet { sockets, packet: PacketBuf::default(), tap, link, udp_port },
            waker: Arc::new(waker),
            buffers: Buffers::default(),
            quoted: Vec::new(),
            locals,
            addresses,
            carrier,
            remote_udp_port,
            ports: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            unsent: BTreeSet::new(),
            untold: BTreeSet::new(),
        })
    }

    /// The local addresses.
    pub fn addresses(&self) -> &[IpAddr] {
        &self.addresses
    }

    /// True if packets can leave from this address of a link.
    pub fn has_link(&self, address: IpAddr) -> bool {
        let number = link_number(address).filter(|_| self.out.link.is_some());
        number.is_some_and(|number| link_addresses(number)[0] == address)
    }

    /// The UDP port of all sockets; 0 if there are none in UDP.
    pub fn udp_port(&self) -> u16 {
        self.out.udp_port
    }

    /// The present time.
    pub fn now(&self) -> Instant {
        self.clock.now()
    }

    /// The registry for further sources that [`Self::wait`] waits for.
    pub fn registry(&self) -> &mio::Registry {
        self.out.sockets.registry()
    }

    /// Ends [`Self::wait`] from another thread.
    pub fn waker(&self) -> Arc<mio::Waker> {
        self.waker.clone()
    }

    /// Opens an SCTP port with an endpoint at some of the local addresses. An open port stays as it is.
    ///
    /// # Errors
    /// [`BindError`] names an invalid option or address. Its source is `AddrInUse` if another process has the
    /// port in IP.
    pub fn open(&mut self, port: u16, addresses: &[IpAddr], config: Arc<Config>) -> Result<(), BindError> {
        if !self.ports.contains_key(&port) {
            let endpoint = self.make(port, addresses, config)?;
            let in_ip = self.carrier.has_ip();
            let claims = if in_ip { claim_port(&self.locals, port)? } else { Vec::new() };
            self.ports.insert(port, Port { endpoint, armed: None, _claims: claims });
        }
        Ok(())
    }

    fn make(&self, port: u16, addresses: &[IpAddr], config: Arc<Config>) -> Result<Endpoint, ConfigError> {
        let seed = Seed::from_system().map_err(|error| ConfigError {
            option: "seed",
            value: error.to_string(),
            expected: "randomness of the system",
        })?;
        let mut options = EndpointConfig::new(port, addresses.to_vec(), seed);
        options.config = config;
        let encapsulation = Encapsulation { remote_port: self.remote_udp_port };
        options.encapsulation = self.carrier.has_udp().then_some(encapsulation);
        Endpoint::new(options)
    }

    /// Closes a port at once. Packets that wait are sent; then the associations of the
    /// port end without an ABORT.
    pub fn close(&mut self, port: u16) {
        self.transmit();
        if let Some(Port { armed: Some(at), .. }) = self.ports.remove(&port) {
            self.deadlines.remove(&(at, port));
        }
        self.unsent.remove(&port);
        self.untold.remove(&port);
    }

    /// True if [`Self::open`] would open the port: it is not open, and in IP no other process has it.
    pub fn is_free(&self, port: u16) -> bool {
        let in_ip = self.carrier.has_ip();
        !self.ports.contains_key(&port) && (!in_ip || claim_port(&self.locals, port).is_ok())
    }

    /// The endpoint of a port, to read from.
    pub fn endpoint(&self, port: u16) -> Option<&Endpoint> {
        self.ports.get(&port).map(|port| &port.endpoint)
    }

    /// The endpoint of a port, to change.
    pub fn endpoint_mut(&mut self, port: u16) -> Option<&mut Endpoint> {
        let Port { endpoint, .. } = self.ports.get_mut(&port)?;
        self.unsent.insert(port);
        self.untold.insert(port);
        Some(endpoint)
    }

    /// The next event of any port, with the port and the association.
    pub fn poll_event(&mut self) -> Option<(u16, sctp::AssocId, sctp::Event)> {
        while let Some(&port) = self.untold.first() {
            if let Some((id, event)) = self.ports.get_mut(&port).and_then(|port| port.endpoint.poll_event()) {
                return Some((port, id, event));
            }
            self.untold.pop_first();
        }
        None
    }

    /// Sleeps until a packet, something that the caller registered, a timer or `until` is due; then reads
    /// once from each socket and runs timers. Returns which of the caller's registered sources are ready.
    ///
    /// # Errors
    /// The system's error.
    pub fn wait(&mut self, until: Option<Instant>) -> io::Result<Vec<Ready>> {
        let first = self.deadlines.first().map(|&(at, _)| at);
        let deadline = [first, until].into_iter().flatten().min();
        self.out.sockets.wait(deadline.map(|at| self.clock.until(at)))?;
        let mut answers = 0;
        for socket in 0..self.out.sockets.len() {
            if self.out.sockets.receive(socket, &mut self.buffers) {
                self.handle(&mut answers);
            }
        }
        self.read_link(&mut answers);
        self.read_reports();
        let now = self.clock.now();
        while let Some(&(at, port)) = self.deadlines.first()
            && at <= now
        {
            self.deadlines.pop_first();
            if let Some(entry) = self.ports.get_mut(&port) {
                entry.armed = None;
                entry.endpoint.handle_timeout(now);
                self.unsent.insert(port);
                self.untold.insert(port);
            }
        }
        self.transmit();
        Ok(self.out.sockets.take_others())
    }

    /// Passes the datagrams of the last read to the endpoints at their ports.
    fn handle(&mut self, answers: &mut usize) {
        let now = self.clock.now();
        let buffers = std::mem::replace(&mut self.buffers, Buffers::empty());
        for datagram in buffers.datagrams() {
            self.arrive(now, datagram, answers);
        }
        self.buffers = buffers;
    }

    /// Passes packets that arrived on links to the endpoints at their ports.
    fn read_link(&mut self, answers: &mut usize) {
        for _ in 0..LINKED {
            let Some((number, bytes)) = self.out.link.as_mut().and_then(|link| link.receive()) else {
                return;
            };
            let [ours, peer] = link_addresses(number);
            // A link has no UDP port. The endpoint expects that of peers which have not sent anything.
            let udp_port = if self.carrier.has_udp() { self.remote_udp_port } else { 0 };
            let packet = Datagram::new(peer, ours, Octets::from(&bytes[..]));
            self.arrive(self.clock.now(), Datagram { udp_port, ..packet }, answers);
        }
        // There may be more; the call fails only if the host ends.
        let _ = self.waker.wake();
    }

    fn arrive(&mut self, now: Instant, datagram: Datagram<'_>, answers: &mut usize) {
        if let Some(tap) = &mut self.out.tap {
            tap.received(&datagram, self.out.udp_port);
        }
        let Some(port) = destination(&datagram) else { return };
        match self.ports.get_mut(&port) {
            Some(entry) => {
                entry.endpoint.handle(now, datagram);
                self.untold.insert(port);
                self.unsent.insert(port);
                // Max.Burst limits the packets per SACK, so the packets are sent before
                // the next SACK is handled.
                self.send(now, port);
            }
            None if *answers < ANSWERS => {
                *answers += 1;
                self.answer(now, port, datagram);
            }
            None => {}
        }
    }

    /// Answers a packet for a port without an endpoint as an endpoint that does not listen would.
    #[cold]
    fn answer(&mut self, now: Instant, port: u16, datagram: Datagram<'_>) {
        // Both ends of a link usually connect (`rfc8831#section-6.2`): the program may not be that far.
        let silent = link_number(datagram.dst).is_some();
        if silent || datagram.udp_port == 0 && is_claimed(datagram.dst, port) {
            return;
        }
        let Ok(mut endpoint) = self.make(port, &self.addresses, Arc::default()) else { return };
        endpoint.listen(Listen::Off);
        endpoint.handle(now, datagram);
        self.out.drain(&mut endpoint, now);
    }

    fn read_reports(&mut self) {
        let now = self.clock.now();
        for _ in 0..ANSWERS {
            let Some(Report { src, dst, what }) = self.out.sockets.next_report(&mut self.quoted) else {
                break;
            };
            // The quoted packet came from this host, so its source port identifies the endpoint.
            let Some(&[high, low]) = self.quoted.first_chunk() else { continue };
            let port = u16::from_be_bytes([high, low]);
            if let Some(entry) = self.ports.get_mut(&port) {
                let news = IcmpNews { src, dst: dst.ip(), udp_port: dst.port(), quoted: &self.quoted, what };
                entry.endpoint.on_icmp(now, news);
                self.unsent.insert(port);
                self.untold.insert(port);
            }
        }
    }

    /// Sends all packets for which there is room. Call it after each change of an endpoint.
    pub fn transmit(&mut self) {
        let now = self.clock.now();
        for port in std::mem::take(&mut self.unsent) {
            self.send(now, port);
        }
        self.out.sockets.flush();
    }

    fn send(&mut self, now: Instant, port: u16) {
        let Some(entry) = self.ports.get_mut(&port) else { return };
        self.out.drain(&mut entry.endpoint, now);
        if self.out.sockets.has_room() {
            self.unsent.remove(&port);
        } else {
            self.unsent.insert(port);
        }
        let due = entry.endpoint.poll_timeout();
        if due != entry.armed {
            if let Some(at) = entry.armed {
                self.deadlines.remove(&(at, port));
            }
            self.deadlines.extend(due.map(|at| (at, port)));
            entry.armed = due;
        }
    }
}

/// The destination port of an SCTP packet.
fn destination(datagram: &Datagram<'_>) -> Option<u16> {
    let bytes = datagram.bytes.head.get(2..4)?;
    Some(u16::from_be_bytes([bytes[0], bytes[1]]))
}

/// What takes the packets of endpoints.
#[derive(Debug)]
struct Outlet {
    sockets: Sockets,
    packet: PacketBuf,
    tap: Option<Box<dyn Tap>>,
    link: Option<Box<dyn Link>>,
    /// The UDP port of all sockets.
    udp_port: u16,
}

impl Outlet {
    /// Sends the packets of an endpoint while there is room.
    fn drain(&mut self, endpoint: &mut Endpoint, now: Instant) {
        while self.sockets.has_room()
            && let Some(transmit) = endpoint.poll_transmit(now, &mut self.packet)
        {
            let packet = self.packet.as_octets();
            if let Some(tap) = &mut self.tap {
                tap.sent(&transmit, self.udp_port, packet);
            }
            let carried = self.link.as_mut().is_some_and(|link| carry(link.as_mut(), &transmit, packet));
            if !carried {
                self.sockets.push(&transmit, packet);
            }
        }
    }
}
