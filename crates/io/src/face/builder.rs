//! Builder of an endpoint: addresses, ports, options.

use super::Endpoint;
use crate::carrier::Carrier;
use crate::driver::{Answering, Driver, Guarded, Locals, Tapped};
use crate::guard::Guard;
use crate::net::{Sockets, Watch, bind_raw_sockets, bind_sockets, interface_addresses};
use crate::responder::Responder;
use crate::shared::{Hub, NewConnections, OUTBOX, Places, Ports};
use crate::tap::Tap;
use crate::types::BindError;
use sctp::{Config, Encapsulation, EndpointConfig, Seed};
use std::hash::{BuildHasher, RandomState};
use std::marker::PhantomData;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use transport::Checksum;
use units::ByteCount;

/// Describes an endpoint of type `E`: addresses, ports, options.
///
/// [`Endpoint::builder`] makes one for an endpoint with `async` methods, and
/// [`blocking::Endpoint::builder`](crate::blocking::Endpoint::builder) one for an endpoint with calls that
/// wait.
#[derive(Debug)]
pub struct Builder<E = Endpoint> {
    locals: Vec<(IpAddr, Option<String>)>,
    port: u16,
    udp_port: u16,
    remote_udp_port: u16,
    carrier: Carrier,
    config: Arc<Config>,
    seed: Option<Seed>,
    max_associations: Option<usize>,
    socket_buffers: usize,
    watch_addresses: bool,
    outbox: usize,
    guard: Option<Box<dyn Guard>>,
    tap: Option<Box<dyn Tap>>,
    responder: Option<Box<dyn Responder>>,
    qlog: Option<PathBuf>,
    endpoint: PhantomData<fn() -> E>,
}

impl Endpoint {
    /// Returns a builder for an endpoint.
    pub fn builder() -> Builder {
        Builder::default()
    }
}

impl<E> Default for Builder<E> {
    fn default() -> Self {
        Builder {
            locals: Vec::new(),
            port: 0,
            udp_port: Encapsulation::PORT,
            remote_udp_port: Encapsulation::PORT,
            carrier: Carrier::Udp,
            config: Config { pmtud: true, ..Config::recommended() }.into(),
            seed: None,
            max_associations: None,
            socket_buffers: 4 << 20,
            watch_addresses: false,
            outbox: OUTBOX,
            guard: None,
            tap: None,
            responder: None,
            qlog: None,
            endpoint: PhantomData,
        }
    }
}

impl<E> Builder<E> {
    /// Adds a local address. Each has a UDP socket of its own. Without any, all addresses of the host are
    /// used, through one socket for each address family.
    #[must_use]
    pub fn local(mut self, address: impl Into<IpAddr>) -> Self {
        self.locals.push((address.into(), None));
        self
    }

    /// Adds local addresses.
    #[must_use]
    pub fn locals<A: Into<IpAddr>>(self, addresses: impl IntoIterator<Item = A>) -> Self {
        addresses.into_iter().fold(self, Builder::local)
    }

    /// Adds a local address whose packets leave by one interface, regardless of the routes
    /// (`SO_BINDTODEVICE`, Linux only).
    #[must_use]
    pub fn local_on_device(mut self, address: impl Into<IpAddr>, device: impl Into<String>) -> Self {
        self.locals.push((address.into(), Some(device.into())));
        self
    }

    /// Sets the SCTP port; 0, the default, selects a free one. If the UDP port is 0, too, both ports get the
    /// same number, and no two endpoints whose ports are chosen in this way share a number at one address.
    #[must_use]
    pub fn port(mut self, port: u16) -> Self {
        self.port = port;
        self
    }

    /// Sets the UDP port of all local addresses, 9899 unless set; 0: any.
    #[must_use]
    pub fn udp_port(mut self, port: u16) -> Self {
        self.udp_port = port;
        self
    }

    /// Sets the UDP port of peers that have not sent anything yet, 9899 unless set.
    #[must_use]
    pub fn remote_udp_port(mut self, port: u16) -> Self {
        self.remote_udp_port = port;
        self
    }

    /// Sets what carries the packets, [`Carrier::Udp`] unless set. In IP a packet is 8 bytes shorter. In IP,
    /// no two processes of a host may use the same SCTP port; the kernel does not check this.
    #[must_use]
    pub fn carrier(mut self, carrier: Carrier) -> Self {
        self.carrier = carrier;
        self
    }

    /// Sets the protocol options, [`Config::recommended`] with path MTU discovery (`pmtud`) unless set.
    #[must_use]
    pub fn config(mut self, config: impl Into<Arc<Config>>) -> Self {
        self.config = config.into();
        self
    }

    /// Sets the seed of all randomness, for tests; the operating system's randomness unless set.
    #[must_use]
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Sets the largest number of associations, 1024 unless set.
    #[must_use]
    pub fn max_associations(mut self, limit: usize) -> Self {
        self.max_associations = Some(limit);
        self
    }

    /// Sets the requested size of each of a socket's two kernel buffers, 4 MiB unless set. The kernel may
    /// grant less.
    #[must_use]
    pub fn socket_buffers(mut self, bytes: usize) -> Self {
        self.socket_buffers = bytes;
        self
    }

    /// Sets how many bytes of a connection may wait for room in its send buffer, 256 KiB unless set; one
    /// message may be longer. A smaller number, together with [`send_queue`](Config::send_queue), suits a
    /// program that decides late what to send next.
    #[must_use]
    pub fn outbox(mut self, bytes: usize) -> Self {
        self.outbox = bytes;
        self
    }

    /// Follows the interfaces of the host (Linux only). An address that disappears, or whose link goes down,
    /// is removed, and a new one is added, as by [`Endpoint::remove_local_address`] and
    /// [`Endpoint::add_local_address`]. An endpoint with configured addresses follows only these. Connections
    /// need [`asconf`](Config::asconf) to use addresses that they did not begin with.
    #[must_use]
    pub fn watch_addresses(mut self, watch: bool) -> Self {
        self.watch_addresses = watch;
        self
    }

    /// Puts a guard (encryption) between endpoint and sockets. Packets carry no CRC32c, since the guard
    /// protects them. [`mtu`](Config::mtu) becomes smaller by the bytes that the guard adds. The endpoint
    /// processes an ICMP message only if the guard recognises the datagram that the message quotes
    /// ([`Guard::quoted`]).
    #[must_use]
    pub fn guard(mut self, guard: impl Guard + 'static) -> Self {
        self.guard = Some(Box::new(guard));
        self
    }

    /// Adds a tap that sees each packet between endpoint and sockets. With a [guard](Self::guard), the tap
    /// sees unprotected packets: those to send before the guard seals them, and those that the guard opened.
    #[must_use]
    pub fn tap(mut self, tap: impl Tap + 'static) -> Self {
        self.tap = Some(Box::new(tap));
        self
    }

    /// Adds a responder to datagrams that are not SCTP. It sees each datagram before the
    /// [guard](Self::guard) and the endpoint.
    #[must_use]
    pub fn responder(mut self, responder: impl Responder + 'static) -> Self {
        self.responder = Some(Box::new(responder));
        self
    }

    /// Writes a log in the format qlog for each association, into this folder, which is created if it does
    /// not exist. The logs grow until their association ends. A log that cannot be written ends, with a
    /// warning on standard error, and the association goes on. The stack waits while the driver's thread
    /// writes.
    #[must_use]
    pub fn qlog(mut self, dir: impl Into<PathBuf>) -> Self {
        self.qlog = Some(dir.into());
        self
    }

    /// Binds the sockets and starts the driver.
    ///
    /// # Errors
    /// [`BindError`].
    pub fn bind(mut self) -> Result<E, BindError>
    where
        E: From<Endpoint>,
    {
        if let Some(guard) = &self.guard {
            if self.carrier.has_ip() {
                return Err(BindError::GuardNeedsUdp);
            }
            let mtu = ByteCount::new(self.config.mtu.get().saturating_sub(guard.overhead() as u64));
            Arc::make_mut(&mut self.config).mtu = mtu;
        }
        let (mut sockets, udp_port) = match self.carrier.has_udp() {
            true => bind_sockets(&self.locals, self.udp_port, self.socket_buffers)?,
            false => (Vec::new(), 0),
        };
        // The watch starts before the addresses are read, so that no change is missed.
        let watch = self.watch_addresses.then(Watch::start).transpose()?;
        let addresses = match &self.locals[..] {
            [] => interface_addresses()?,
            locals => locals.iter().map(|&(address, _)| address).collect(),
        };
        let port = match (self.port, self.udp_port) {
            // The system gives each endpoint a different UDP port. Because the SCTP port has the same number,
            // several endpoints of this host can connect to the same port of a peer.
            (0, 0) if udp_port != 0 => udp_port,
            (0, _) => any_port(),
            (port, _) => port,
        };
        if self.carrier.has_ip() {
            bind_raw_sockets(&self.locals, Some(port), self.socket_buffers, &mut sockets)?;
        }
        let seed = self.seed.map_or_else(Seed::from_system, Ok)?;
        let mut config = EndpointConfig::new(port, addresses.clone(), seed);
        config.config = self.config.clone();
        let encapsulation = Encapsulation { remote_port: self.remote_udp_port };
        config.encapsulation = self.carrier.has_udp().then_some(encapsulation);
        if self.guard.is_some() {
            config.checksum = Checksum::Offloaded;
        }
        config.max_associations = self.max_associations.unwrap_or(config.max_associations);
        let mut endpoint = sctp::Endpoint::new(config)?;
        if let Some(dir) = self.qlog {
            let folder = qlog::Folder::create(&dir).map_err(|source| BindError::Log { dir, source })?;
            endpoint.observe(folder);
        }

        let own = sockets.iter().filter(|socket| socket.is_udp() || !self.carrier.has_udp());
        let counters = own.map(|socket| socket.counters.clone()).collect();
        let (mut sockets, waker) = Sockets::new(sockets)?;
        if let Some(watch) = watch {
            sockets.watch(watch)?;
        }
        let (places, ports) = (Places { addresses, counters }, Ports { sctp: port, udp: udp_port });
        let locals = Locals::new(self.locals, self.carrier, self.socket_buffers, self.config.rto_max);
        let hub = Arc::new(Hub::new(waker, places, ports, self.config, self.outbox));
        if let Some(guard) = &mut self.guard {
            guard.set_waker(hub.clone().into());
        }
        let new_connections = Arc::new(NewConnections::new(hub.clone()));
        let between = (
            self.guard.map(Guarded::new),
            self.tap.map(|tap| Tapped::new(tap, udp_port)),
            self.responder.map(Answering::new),
        );
        Driver::start(endpoint, sockets, locals, between, (hub.clone(), new_connections.clone()))?;
        Ok(Endpoint::new(hub, new_connections).into())
    }
}

/// A port from the dynamic range (`rfc6335#section-6`).
fn any_port() -> u16 {
    const FIRST: u16 = 49_152;
    let random = RandomState::new().hash_one(FIRST);
    FIRST + (random % u64::from(u16::MAX - FIRST)) as u16
}
