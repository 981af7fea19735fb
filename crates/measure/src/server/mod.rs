//! The passive side of a measurement.
//!
//! The server reads packets of unknown peers. A flow exists only if a control connection announced it. The
//! server answers no datagram but the probes of [`echo`]. It sends a UDP flow only to the address of the host
//! with the control connection, so that nobody can make the server send to another host. [`limits`] bounds
//! the state that one peer, and all peers together, can create.

mod data;
mod echo;
mod limits;
mod metrics;
mod registry;
mod session;
mod sessions;

use crate::clock::Gate;
use crate::keys::Keys;
use crate::report::Report;
use crate::sockets;
use echo::Echoes;
use io::blocking::Endpoint;
use io::{BindError, Carrier};
use noise::NoiseError;
use registry::Registry;
use session::Session;
use sessions::Sessions;
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Options of the passive side.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// Local addresses: all for SCTP, the first one for TCP and UDP. If empty, all addresses of the host.
    pub locals: Vec<IpAddr>,
    /// Port for data; the control port is the next one. 0: any port.
    pub port: u16,
    /// UDP port of SCTP (RFC 6951); 0: any port.
    pub udp_port: u16,
    /// What carries SCTP.
    pub carrier: Carrier,
    /// Options of SCTP.
    pub config: sctp::Config,
    /// True if the server ends after one measurement.
    pub one: bool,
    /// Time limit of a measurement.
    pub longest: Duration,
    /// Address of the HTTP server for metrics; `None`: no metrics.
    pub metrics: Option<SocketAddr>,
    /// Keys that encrypt SCTP; `None`: SCTP is sent in clear, as TCP, UDP and the
    /// control connection always are.
    pub keys: Option<Keys>,
    /// Folder of the logs of associations in the format qlog; `None`: no logs.
    pub qlog: Option<PathBuf>,
}

impl Default for ServerOptions {
    fn default() -> Self {
        ServerOptions {
            locals: Vec::new(),
            port: 9000,
            udp_port: sctp::Encapsulation::PORT,
            carrier: Carrier::Udp,
            config: sctp::Config { pmtud: true, ..sctp::Config::recommended() },
            one: false,
            longest: Duration::from_secs(3600),
            metrics: None,
            keys: None,
            qlog: None,
        }
    }
}

/// Reason why a server could not start.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// A port of TCP or UDP could not be bound.
    #[error("cannot bind port {port}: {source}; choose another one with -p")]
    Port {
        /// The port.
        port: u16,
        /// The system's error.
        source: std::io::Error,
    },
    /// The address for metrics could not be bound.
    #[error("cannot bind {address} for metrics: {source}")]
    Metrics {
        /// The address.
        address: SocketAddr,
        /// The system's error.
        source: std::io::Error,
    },
    /// The sockets of SCTP could not be bound.
    #[error(transparent)]
    Sctp(#[from] BindError),
    /// The keys cannot be used.
    #[error(transparent)]
    Keys(#[from] NoiseError),
    /// A thread could not be started.
    #[error("cannot start: {0}")]
    System(#[from] std::io::Error),
}

/// Reports of a server to its caller.
#[derive(Clone, Debug)]
pub enum Notice {
    /// A measurement begins: a peer announced flows and starts them.
    Began {
        /// Address of the active side.
        peer: IpAddr,
        /// Number of flows.
        flows: usize,
    },
    /// A measurement has ended.
    Ended {
        /// Address of the active side.
        peer: IpAddr,
        /// Results of the measurement.
        report: Box<Report>,
    },
    /// A peer was refused, or its measurement ended early.
    Refused {
        /// Address of the active side.
        peer: IpAddr,
        /// Reason.
        why: String,
    },
}

/// State that all threads share.
struct Shared {
    registry: Registry,
    /// The cookies of the latency probes that are echoed.
    echoes: Echoes,
    /// The control connections.
    sessions: Sessions,
    /// Number of data connections.
    connections: AtomicUsize,
    /// Number of measurements that have ended.
    measured: AtomicUsize,
    /// Closed when the server ends.
    over: Gate,
    udp: Arc<UdpSocket>,
    longest: Duration,
    notify: Box<dyn Fn(Notice) + Send + Sync>,
}

/// Adds one to a counter, and subtracts one when this value is dropped.
struct Counted<'c>(&'c AtomicUsize);

impl<'c> Counted<'c> {
    /// Increments the counter; `None` if it is `most` already.
    fn new(counter: &'c AtomicUsize, most: usize) -> Option<Self> {
        let add = |n: usize| (n < most).then_some(n + 1);
        counter.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).ok().map(|_| Counted(counter))
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The passive side of a measurement.
pub struct Server {
    control: TcpListener,
    data: TcpListener,
    endpoint: Endpoint,
    /// Listener for requests of metrics.
    metrics: Option<TcpListener>,
    shared: Arc<Shared>,
    port: u16,
    one: bool,
}

impl Server {
    /// Binds all sockets.
    ///
    /// # Errors
    /// [`ServerError`].
    pub fn bind(
        options: ServerOptions,
        notify: impl Fn(Notice) + Send + Sync + 'static,
    ) -> Result<Self, ServerError> {
        let metrics = options.metrics.map(metrics::bind).transpose()?;
        let local = options.locals.first().copied();
        let (data, control, udp, port) = bind_ports(local, options.port)?;
        let echoes = Echoes::default();
        let mut builder = Endpoint::builder()
            .locals(options.locals)
            .port(port)
            .udp_port(options.udp_port)
            .carrier(options.carrier)
            .config(options.config)
            .responder(echoes.clone())
            .max_associations(limits::CONNECTIONS);
        if let Some(keys) = &options.keys {
            builder = builder.guard(keys.guard()?);
        }
        if let Some(dir) = options.qlog {
            builder = builder.qlog(dir);
        }
        let endpoint = builder.bind()?;
        let shared = Arc::new(Shared {
            registry: Registry::default(),
            echoes,
            sessions: Sessions::default(),
            connections: AtomicUsize::new(0),
            measured: AtomicUsize::new(0),
            over: Gate::default(),
            udp: Arc::new(udp),
            longest: options.longest,
            notify: Box::new(notify),
        });
        Ok(Server { control, data, endpoint, metrics, shared, port, one: options.one })
    }

    /// The port for data; the control port is the next one.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The UDP port of SCTP.
    pub fn udp_port(&self) -> u16 {
        self.endpoint.udp_port()
    }

    /// The address of the HTTP server for metrics.
    pub fn metrics(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().and_then(|listener| listener.local_addr().ok())
    }

    /// Serves until `cancel` is set, or with [`ServerOptions::one`] until one measurement has ended.
    ///
    /// # Errors
    /// [`ServerError::System`].
    pub fn run(self, cancel: &AtomicBool) -> Result<(), ServerError> {
        let listener = self.endpoint.listen(16);
        let mut threads = Vec::new();
        let spawn = |name: &str, run: Box<dyn FnOnce() + Send>| {
            thread::Builder::new().name(name.to_owned()).spawn(run)
        };
        let (shared, data) = (self.shared.clone(), self.data);
        threads.push(spawn("tcp", Box::new(move || data::accept_tcp(&shared, &data)))?);
        let shared = self.shared.clone();
        threads.push(spawn("udp", Box::new(move || data::receive_udp(&shared)))?);
        let shared = self.shared.clone();
        threads.push(spawn("sctp", Box::new(move || data::accept_sctp(&shared, &listener)))?);
        if let Some(requests) = self.metrics {
            let (shared, endpoint) = (self.shared.clone(), self.endpoint.clone().into());
            threads.push(spawn("metrics", Box::new(move || metrics::serve(&shared, &requests, &endpoint)))?);
        }
        let measured = || self.one && self.shared.measured.load(Ordering::Relaxed) > 0;
        // After the measurement, the active side fetches its results over the control
        // connection: the server waits until all control connections have ended.
        while !(cancel.load(Ordering::Relaxed) || measured() && self.shared.sessions.len() == 0) {
            if measured() {
                thread::sleep(POLL);
            } else if let Some((stream, peer)) = accept(&self.control, &self.shared.over)
                && let Err(why) = begin_session(&self.shared, stream, peer)
            {
                (self.shared.notify)(Notice::Refused { peer, why });
            }
        }
        self.shared.over.close();
        for thread in threads {
            drop(thread.join());
        }
        let deadline = Instant::now() + limits::FAREWELL;
        while self.shared.sessions.len() > 0 && Instant::now() < deadline {
            thread::sleep(POLL);
        }
        // If the time limit passes, the endpoint closes in the background.
        let _ = self.endpoint.close_timeout(limits::FAREWELL);
        Ok(())
    }
}

/// Interval of checks for new connections.
const POLL: Duration = Duration::from_millis(20);

/// Accepts a connection; waits a short time if there is none.
fn accept(listener: &TcpListener, over: &Gate) -> Option<(TcpStream, IpAddr)> {
    match listener.accept() {
        Ok((stream, peer)) => Some((stream, peer.ip().to_canonical())),
        Err(_) => {
            over.wait_until(Some(Instant::now() + POLL));
            None
        }
    }
}

fn begin_session(shared: &Arc<Shared>, stream: TcpStream, peer: IpAddr) -> Result<(), String> {
    let place = shared.sessions.begin(peer)?;
    crate::control::prepare(&stream).map_err(|error| error.to_string())?;
    let shared = shared.clone();
    let run = move || {
        Session::new(&shared, stream, peer).run();
        drop(place);
    };
    let thread = thread::Builder::new().name("control".to_owned()).spawn(run);
    thread.map(drop).map_err(|error| error.to_string())
}

/// Binds the sockets for TCP data, control and UDP. Returns the port for data, too.
fn bind_ports(
    local: Option<IpAddr>,
    port: u16,
) -> Result<(TcpListener, TcpListener, UdpSocket, u16), ServerError> {
    const TRIES: usize = 32;
    let mut tries = 0;
    loop {
        tries += 1;
        let tried = (|| {
            let data = sockets::listener(local, port).map_err(|source| ServerError::Port { port, source })?;
            let port = data.local_addr()?.port();
            let next = port
                .checked_add(1)
                .ok_or(ServerError::Port { port, source: std::io::ErrorKind::AddrNotAvailable.into() })?;
            let control =
                sockets::listener(local, next).map_err(|source| ServerError::Port { port: next, source })?;
            let udp = sockets::datagrams(local, port).map_err(|source| ServerError::Port { port, source })?;
            Ok((data, control, udp, port))
        })();
        match tried {
            // If the system chose the port, the ports next to it may be in use. Another port is tried.
            Err(ServerError::Port { .. }) if port == 0 && tries < TRIES => {}
            done => return done,
        }
    }
}

/// Locks a mutex. A panic cannot have left its content in the middle of a change.
fn lock<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
