//! The loop of the host process, which runs the SCTP stack for programs.

use crate::associations::Associations;
use crate::ended::Ended;
use crate::pair::{Incoming, Pair};
use crate::port::Ports;
use crate::rounds::Rounds;
use crate::socket::{Phase, Settings, Socket};
use bytes::Bytes;
use io::{BindError, Host, HostOptions, Ready};
use mio::{Interest, Token, Waker, unix::SourceFd};
use nix::errno::Errno;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::socket::{UnixAddr, bind};
use nix::unistd::getuid;
use records::{Header, Kind, MAX_DATA, Op, Request};
use sctp::Config;
use socket2::{Domain, SockAddr, Type};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::io::ErrorKind;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use units::{Instant, Span};

/// Largest number of sockets of all programs.
const SOCKETS: usize = 16_384;
/// Connections of programs that wait to be accepted.
const BACKLOG: i32 = 4096;
/// Largest number of connections whose first record has not arrived.
const UNKNOWN: usize = 256;
/// Time between two looks at whether a process uses the server.
const LOOK: Span = Span::from_secs(1);
/// Longest time for which a server runs after [`Stopper::stop_when_idle`].
const LINGER: Span = Span::from_secs(10);

/// Options of a process that runs the SCTP sockets of programs.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "users fill it in")]
pub struct ServerOptions {
    /// Path of the socket that programs connect to.
    pub path: PathBuf,
    /// Addresses, carrier and UDP ports.
    pub host: HostOptions,
    /// Options of associations.
    pub config: Config,
}

/// Reason why the server did not start, as a sentence.
#[derive(Debug)]
#[non_exhaustive]
pub enum ServerError {
    /// The UDP port is in use.
    PortInUse(String),
    /// Another reason.
    Other(String),
}

impl fmt::Display for ServerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ServerError::PortInUse(sentence) | ServerError::Other(sentence)) = self;
        f.write_str(sentence)
    }
}

impl std::error::Error for ServerError {}

/// Ends a server from another thread.
#[derive(Clone, Debug)]
pub struct Stopper {
    state: Arc<AtomicU8>,
    waker: Arc<Waker>,
}

const RUNNING: u8 = 0;
const UNUSED: u8 = 1;
const IDLE: u8 = 2;
const NOW: u8 = 3;

impl Stopper {
    /// Lets the server run while a process has one of its sockets or may open one, and then as long as
    /// [`Self::stop_when_idle`] does.
    pub fn stop_when_unused(&self) {
        self.stop(UNUSED);
    }

    /// Ends the server once no socket and no association is left, after 10 s at most.
    pub fn stop_when_idle(&self) {
        self.stop(IDLE);
    }

    /// Ends the server: all associations are aborted.
    pub fn stop_now(&self) {
        self.stop(NOW);
    }

    fn stop(&self, how: u8) {
        self.state.fetch_max(how, Ordering::SeqCst);
        // The call fails if the server has ended.
        let _ = self.waker.wake();
    }
}

/// The host process: serves the SCTP sockets of the programs of one user.
#[derive(Debug)]
pub struct Server {
    pub(crate) host: Host,
    path: PathBuf,
    listener: socket2::Socket,
    uid: u32,
    pub(crate) sockets: BTreeMap<usize, Socket>,
    /// Connections whose first record has not arrived.
    unknown: BTreeMap<usize, Pair>,
    cookies: BTreeMap<u64, usize>,
    pub(crate) ended: Ended,
    pub(crate) associations: Associations,
    pub(crate) ports: Ports,
    pub(crate) config: Config,
    next_token: usize,
    /// Sockets with more records to read.
    pub(crate) again: BTreeSet<usize>,
    /// Associations whose programs must be told once all data is acknowledged (`SCTP_SENDER_DRY_EVENT`).
    pub(crate) sending: BTreeSet<i32>,
    buffer: Vec<u8>,
    stop: Arc<AtomicU8>,
    rounds: Rounds,
}

impl Server {
    /// Binds the sockets of the network and the socket for programs, which only this user can open.
    ///
    /// # Errors
    /// [`ServerError`], whose text is a sentence.
    pub fn bind(options: ServerOptions) -> Result<Server, ServerError> {
        let ServerOptions { path, host, config } = options;
        let host = Host::bind(host).map_err(|error| match &error {
            BindError::Address { source, .. } if source.kind() == ErrorKind::AddrInUse => {
                ServerError::PortInUse(error.to_string())
            }
            _ => ServerError::Other(error.to_string()),
        })?;
        let named = |error: std::io::Error| ServerError::Other(format!("{}: {error}", path.display()));
        let listener = pair_socket().map_err(named)?;
        let address = SockAddr::unix(&path).map_err(named)?;
        remove_stale(&path, &address)?;
        listener.bind(&address).map_err(named)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).map_err(named)?;
        listener.listen(BACKLOG).map_err(named)?;
        listener.set_nonblocking(true).map_err(named)?;
        host.registry()
            .register(&mut SourceFd(&listener.as_raw_fd()), Host::FIRST_TOKEN, Interest::READABLE)
            .map_err(|error| ServerError::Other(error.to_string()))?;
        raise_limit();
        let rounds = Rounds::new(host.waker());
        Ok(Server {
            host,
            path,
            listener,
            uid: getuid().as_raw(),
            sockets: BTreeMap::new(),
            unknown: BTreeMap::new(),
            cookies: BTreeMap::new(),
            ended: Ended::default(),
            associations: Associations::default(),
            ports: Ports::default(),
            config,
            next_token: Host::FIRST_TOKEN.0 + 1,
            again: BTreeSet::new(),
            sending: BTreeSet::new(),
            buffer: vec![0; Header::LEN + 4 * MAX_DATA],
            stop: Arc::new(AtomicU8::new(RUNNING)),
            rounds,
        })
    }

    /// The path at which this server listens.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The UDP port of all packets; 0 if they travel in IP only.
    pub fn udp_port(&self) -> u16 {
        self.host.udp_port()
    }

    /// Ends [`Self::run`] from another thread.
    pub fn stopper(&self) -> Stopper {
        Stopper { state: self.stop.clone(), waker: self.host.waker() }
    }

    pub(crate) fn waker(&self) -> Arc<Waker> {
        self.host.waker()
    }

    pub(crate) fn rounds(&self) -> Rounds {
        self.rounds.clone()
    }

    /// Serves until a [`Stopper`] ends it.
    ///
    /// # Errors
    /// The system's error.
    pub fn run(self) -> std::io::Result<()> {
        self.run_then(|| {})
    }

    /// As [`Self::run`]. Calls `goes_on` if the server goes on after [`Stopper::stop_when_unused`] because
    /// it is used.
    ///
    /// # Errors
    /// The system's error.
    pub fn run_then(mut self, goes_on: impl FnOnce()) -> std::io::Result<()> {
        let (mut last, mut look, mut goes_on) = (None, None, Some(goes_on));
        loop {
            match self.stop.load(Ordering::SeqCst) {
                RUNNING => {}
                UNUSED => {
                    let now = self.host.now();
                    if look.is_none_or(|look| now >= look) {
                        if !self.is_used() {
                            look = None;
                            self.stop.fetch_max(IDLE, Ordering::SeqCst);
                            continue;
                        }
                        look = Some(now + LOOK);
                        if let Some(goes_on) = goes_on.take() {
                            goes_on();
                        }
                    }
                }
                IDLE => {
                    let end = *last.get_or_insert_with(|| self.host.now() + LINGER);
                    let idle = self.sockets.is_empty() && self.associations.len() == 0;
                    if idle || self.host.now() >= end {
                        break;
                    }
                }
                _ => break,
            }
            let until = match self.again.is_empty() {
                true => [last, look, self.associations.deadline()].into_iter().flatten().min(),
                false => Some(Instant::ZERO),
            };
            let ready = self.host.wait(until)?;
            for Ready { token, readable, writable, .. } in ready {
                self.on_ready(token, readable, writable);
            }
            for key in std::mem::take(&mut self.again) {
                self.pump(key);
            }
            self.on_events();
            self.tell_dry();
            self.on_timers();
            self.host.transmit();
            self.rounds.count();
        }
        self.abort_all();
        Ok(())
    }

    fn on_ready(&mut self, token: Token, readable: bool, writable: bool) {
        if token == Host::FIRST_TOKEN {
            self.accept_all();
        } else if self.unknown.contains_key(&token.0) {
            self.greet(token.0);
        } else {
            if writable {
                self.on_writable(token.0);
            }
            if readable {
                self.pump(token.0);
            }
        }
    }

    /// Accepts the connections of programs.
    fn accept_all(&mut self) {
        while let Ok((connection, _)) = self.listener.accept() {
            self.admit(connection.into());
        }
    }

    /// Accepts a connection if it is of this user or of root. Its first record tells its purpose.
    fn admit(&mut self, fd: OwnedFd) {
        let ours = Pair::credentials(&fd).is_ok_and(|of| of.uid() == self.uid || of.uid() == 0);
        if !ours || self.unknown.len() >= UNKNOWN {
            return;
        }
        let key = self.new_token();
        let interest = Interest::READABLE | Interest::WRITABLE;
        if self.host.registry().register(&mut SourceFd(&fd.as_raw_fd()), Token(key), interest).is_ok() {
            self.unknown.insert(key, Pair::new(fd));
            self.greet(key);
        }
    }

    fn new_token(&mut self) -> usize {
        self.next_token += 1;
        self.next_token
    }

    /// Reads the first record of a connection: a hello or a request.
    fn greet(&mut self, key: usize) {
        let Some(mut pair) = self.unknown.remove(&key) else { return };
        let credentials = pair.user();
        let mut buffer = self.borrow_buffer();
        let taken = pair.take(&mut buffer);
        let record = match taken {
            Incoming::Record(length) => buffer[..length].to_vec(),
            _ => Vec::new(),
        };
        // Serving a request may need the buffer, so it is put back first.
        self.return_buffer(buffer);
        match (taken, Header::parse(&record), credentials) {
            (Incoming::Nothing, ..) => {
                self.unknown.insert(key, pair);
            }
            (_, Some(hello), Ok(of)) if hello.kind == Kind::Hello && record.len() == Header::LEN => {
                let socket = self.new_socket(pair, &hello, of.uid(), of.pid());
                self.open_socket(key, socket);
            }
            (_, None, Ok(of)) => {
                if let Some((request, body)) = Request::parse(&record) {
                    if request.op == Op::Outcome {
                        return self.await_outcome(of.uid(), &request, pair);
                    }
                    let (answer, descriptor) = self.serve(of.uid(), &request, body);
                    pair.reply(&answer, descriptor);
                }
                pair.deregister(self.host.registry());
            }
            _ => pair.deregister(self.host.registry()),
        }
    }

    fn new_socket(&self, pair: Pair, hello: &Header, uid: u32, pid: i32) -> Socket {
        const SEQPACKET: u16 = 5;
        const INET6: u32 = 10;
        let mut config = self.config.clone();
        config.nagle = true;
        let many = hello.policy == SEQPACKET;
        Socket {
            // Several processes of a program may read a one-to-many socket at
            // the same time, so each record of such a socket has one message.
            pair: if many { pair } else { pair.packing() },
            cookie: hello.cookie(),
            uid,
            pid,
            many,
            v6: hello.value == INET6,
            phase: Phase::Idle,
            backlog: None,
            port: None,
            bound: Vec::new(),
            config,
            settings: Settings::default(),
            associations: Vec::new(),
            local: None,
            peer: None,
            waiting: VecDeque::new(),
            partial: None,
            peeling: None,
            failed: None,
            finished: false,
        }
    }

    fn open_socket(&mut self, key: usize, mut socket: Socket) {
        let mut hello = Header::new(Kind::Hello);
        let known = self.cookies.contains_key(&socket.cookie);
        if self.sockets.len() >= SOCKETS || known {
            hello.value = Errno::ENFILE as u32;
            socket.pair.put(hello, Bytes::new(), None);
            socket.pair.deregister(self.host.registry());
            return;
        }
        socket.pair.put(hello, Bytes::new(), None);
        self.cookies.insert(socket.cookie, key);
        self.sockets.insert(key, socket);
    }

    /// Makes a socket for an association that was accepted or peeled off. The program's end is
    /// connected to the path of this server, as if the program had done so. Returns the
    /// program's end and the key of the new socket.
    pub(crate) fn make_pair(&mut self, like: usize) -> Option<(OwnedFd, usize)> {
        if self.sockets.len() >= SOCKETS {
            return None;
        }
        let address = SockAddr::unix(&self.path).ok()?;
        let theirs = pair_socket().ok()?;
        // The system chooses a name, by which we find our connection among
        // those of programs that came before.
        bind(theirs.as_raw_fd(), &UnixAddr::new_unnamed()).ok()?;
        let name = theirs.local_addr().ok()?;
        self.accept_all();
        theirs.connect(&address).ok()?;
        let ours = loop {
            let (connection, from) = self.listener.accept().ok()?;
            if from.as_abstract_namespace() == name.as_abstract_namespace() {
                break connection.into();
            }
            self.admit(connection.into());
        };
        let key = self.new_token();
        let pair = Pair::new(ours).packing();
        pair.register(self.host.registry(), Token(key)).ok()?;
        // The program's end gets a buffer of the same size.
        let theirs = Pair::new(theirs.into()).into_fd();
        let cookie = socket2::SockRef::from(&theirs).cookie().ok()?;
        let parent = self.sockets.get(&like)?;
        let socket = Socket {
            pair,
            cookie,
            uid: parent.uid,
            pid: parent.pid,
            many: false,
            v6: parent.v6,
            phase: Phase::Connected,
            backlog: None,
            port: parent.port,
            bound: parent.bound.clone(),
            config: parent.config.clone(),
            settings: parent.settings.clone(),
            associations: Vec::new(),
            local: None,
            peer: None,
            waiting: VecDeque::new(),
            partial: None,
            peeling: None,
            failed: None,
            finished: false,
        };
        self.cookies.insert(cookie, key);
        self.sockets.insert(key, socket);
        Some((theirs, key))
    }

    /// The socket with this cookie, if a process of user `uid` may use it.
    pub(crate) fn socket_of(&self, uid: u32, cookie: u64) -> Option<usize> {
        let &key = self.cookies.get(&cookie)?;
        let socket = self.sockets.get(&key)?;
        socket.may_use(uid).then_some(key)
    }

    /// Takes out a socket, whose pair is no longer served.
    pub(crate) fn remove_socket(&mut self, key: usize) -> Option<Socket> {
        let socket = self.sockets.remove(&key)?;
        socket.pair.deregister(self.host.registry());
        self.cookies.remove(&socket.cookie);
        Some(socket)
    }

    /// Takes out the buffer for reading records. [`Self::return_buffer`] puts it back.
    pub(crate) fn borrow_buffer(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.buffer)
    }

    /// Puts back the buffer that [`Self::borrow_buffer`] took out.
    pub(crate) fn return_buffer(&mut self, buffer: Vec<u8>) {
        self.buffer = buffer;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.rounds.end();
        // The file may be gone already.
        let _ = std::fs::remove_file(&self.path);
    }
}

pub(crate) fn pair_socket() -> std::io::Result<socket2::Socket> {
    socket2::Socket::new(Domain::UNIX, Type::SEQPACKET, None)
}

/// Removes the socket file that a host process left when it ended.
pub(crate) fn remove_stale(path: &Path, address: &SockAddr) -> Result<(), ServerError> {
    match pair_socket().and_then(|probe| probe.connect(address)) {
        Ok(()) => Err(ServerError::Other(format!("{}: another host process serves it", path.display()))),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            // If the call fails, the bind that follows reports the reason.
            let _ = std::fs::remove_file(path);
            Ok(())
        }
        Err(_) => Ok(()),
    }
}

/// Allows as many descriptors as the system lets us have: each socket is one.
fn raise_limit() {
    if let Ok((_, most)) = getrlimit(Resource::RLIMIT_NOFILE) {
        // If the call fails, there is room for fewer sockets.
        let _ = setrlimit(Resource::RLIMIT_NOFILE, most, most);
    }
}
