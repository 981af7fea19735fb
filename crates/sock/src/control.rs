//! Requests of programs.

use crate::address;
use crate::pair::Pair;
use crate::server::Server;
use crate::socket::Phase;
use nix::errno::Errno;
use records::number as n;
use records::{Answer, Header, Op, Request};
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::OwnedFd;

/// The answer to a request: a value, a body, and a descriptor for the program.
type Served = Result<(i32, Vec<u8>, Option<OwnedFd>), Errno>;

fn done(result: Result<(), Errno>) -> Served {
    result.map(|()| (0, Vec::new(), None))
}

/// Shortens the value of an option to the structure that older programs expect.
fn shortened(mut answer: Vec<u8>, name: i32, room: usize) -> Result<Vec<u8>, Errno> {
    match name {
        n::EVENTS | n::GET_ASSOC_STATS => answer.truncate(room),
        n::DELAYED_SACK if room >= 8 => answer.truncate(8),
        n::PEER_ADDR_PARAMS if room >= 152 => answer.truncate(152),
        // Older programs expect only the value, without the number of an association before it.
        n::MAXSEG | n::MAX_BURST if room >= 4 => return Ok(answer.split_off(4)),
        // libsctp asks again with more room.
        n::GET_PEER_ADDRS | n::GET_LOCAL_ADDRS => return Err(Errno::ENOMEM),
        _ => return Err(Errno::EINVAL),
    }
    Ok(answer)
}

impl Server {
    /// Serves a request of a process of user `uid`, and returns the answer.
    pub(crate) fn serve(&mut self, uid: u32, request: &Request, body: &[u8]) -> (Vec<u8>, Option<OwnedFd>) {
        if request.op != Op::Connect {
            self.read_before(uid, request);
        }
        let key = self.socket_of(uid, request.cookie);
        if request.op == Op::Status {
            let answer = Answer { value: 0, switches: 0 }.to_bytes();
            return ([&answer[..], self.report().as_bytes()].concat(), None);
        }
        if request.op == Op::Linger {
            let answer = Answer { value: self.lingers(key, request.cookie).into(), switches: 0 };
            return (answer.to_bytes().to_vec(), None);
        }
        // For this request, a socket whose association has ended is one of the others again.
        let ended = if key.is_none() { self.ended.take(uid, request.cookie) } else { None };
        let ended = ended.map(|(key, socket)| {
            self.sockets.insert(key, socket);
            key
        });
        let key = key.or(ended);
        let served = key.ok_or(Errno::ENOTCONN).and_then(|key| self.serve_socket(key, request, body));
        let (value, body, descriptor) = served.unwrap_or_else(|error| (-(error as i32), Vec::new(), None));
        let switches = key.and_then(|key| self.sockets.get(&key)).map_or(0, |socket| socket.switches());
        if let Some(key) = ended
            && let Some(socket) = self.sockets.remove(&key)
        {
            self.ended.keep(key, socket);
        }
        ([&Answer { value, switches }.to_bytes()[..], &body].concat(), descriptor)
    }

    /// Reads the records that the program wrote before a request, while the stack has room.
    fn read_before(&mut self, uid: u32, request: &Request) {
        /// Largest number of calls of `pump`: more than the records of a full connection need. There is
        /// a limit because other threads of the program may go on writing.
        const TURNS: usize = 16;
        let Some(key) = self.socket_of(uid, request.cookie) else { return };
        for _ in 0..TURNS {
            self.again.remove(&key);
            self.pump(key);
            if !self.again.contains(&key) {
                return;
            }
        }
    }

    /// True if a socket that the program has closed still has associations.
    fn lingers(&self, key: Option<usize>, cookie: u64) -> bool {
        if let Some(socket) = key.and_then(|key| self.sockets.get(&key)) {
            // The socket still exists: the program has another descriptor of it, or has not read all
            // messages.
            return socket.pair.is_closed();
        }
        self.associations.iter().any(|(_, association)| association.closed == cookie)
    }

    fn serve_socket(&mut self, key: usize, request: &Request, body: &[u8]) -> Served {
        match request.op {
            Op::Attach => done(Ok(())),
            Op::Bind => {
                let (address, port, _) = address::parse(body).ok_or(Errno::EINVAL)?;
                self.check_families(key, &[address])?;
                done(self.bind_socket(key, port, &[address]))
            }
            Op::Connect => {
                let result = self.connect(key, body);
                if result.is_err() {
                    self.drop_ballast(key);
                    self.again.insert(key);
                }
                result.map(|number| (number, Vec::new(), None))
            }
            Op::Listen => done(self.listen(key, request.first)),
            Op::SetOption => done(self.set_option(key, request.first, request.second, body)),
            Op::GetOption => {
                let room = body.first_chunk().map_or(0, |&room| u32::from_ne_bytes(room));
                let given = body.get(4..).unwrap_or_default();
                let answer = self.get_option(key, request.first, request.second, given)?;
                let fits = answer.len() <= room as usize || request.first != n::SCTP;
                let answer = if fits { answer } else { shortened(answer, request.second, room as usize)? };
                Ok((0, answer, None))
            }
            Op::LocalName => {
                let socket = self.sockets.get(&key).ok_or(Errno::EBADF)?;
                let address = self.local_address(key);
                let mapped = socket.maps() || socket.v6 && address.is_unspecified();
                Ok((0, address::write(address, socket.port.unwrap_or(0), mapped), None))
            }
            Op::PeerName => {
                let socket = self.sockets.get(&key).ok_or(Errno::EBADF)?;
                let number = socket.associations.first().filter(|_| !socket.many);
                let peer = number.and_then(|&number| self.associations.get(number));
                let peer = peer.filter(|peer| peer.up);
                let name = peer.and_then(|peer| Some((*peer.peers.first()?, peer.peer_port)));
                let (address, port) = name.or(socket.peer).ok_or(Errno::ENOTCONN)?;
                Ok((0, address::write(address, port, socket.maps()), None))
            }
            Op::Check => {
                let header = Header::parse(body).ok_or(Errno::EINVAL)?;
                let streams = self.check(key, &header, request.first.cast_unsigned())?;
                Ok((streams.into(), Vec::new(), None))
            }
            Op::PeelBegin => {
                let (switches, descriptor) = self.peel_begin(key, request.first)?;
                Ok((switches, Vec::new(), Some(descriptor)))
            }
            Op::Return => done(self.take_back(key, body)),
            Op::PeelEnd => done(self.peel_end(key)),
            // These requests do not come here: they are answered elsewhere.
            Op::Linger | Op::Status | Op::Outcome => Err(Errno::EINVAL),
        }
    }

    /// The address that `getsockname` returns: the local address of the association's first path (one-to-one
    /// sockets only), also after its end, or else the first address to which the socket is bound.
    fn local_address(&self, key: usize) -> IpAddr {
        let socket = self.sockets.get(&key);
        let first = socket.filter(|socket| !socket.many).and_then(|socket| {
            let association = self.associations.get(*socket.associations.first()?)?;
            let mut paths = self.host.endpoint(association.port)?.paths(association.id)?;
            paths.next().map(|path| path.local)
        });
        let bound = socket.and_then(|socket| socket.local.or(socket.bound.first().copied()));
        first.or(bound).unwrap_or(Ipv4Addr::UNSPECIFIED.into())
    }

    /// Answers [`Op::Outcome`], or keeps the connection of the request until the association is up or has
    /// failed.
    pub(crate) fn await_outcome(&mut self, uid: u32, request: &Request, connection: Pair) {
        let key = self.socket_of(uid, request.cookie);
        let socket = key.and_then(|key| self.sockets.get(&key));
        let owned = socket.is_some_and(|socket| socket.associations.contains(&request.first));
        let failed = socket.and_then(|socket| socket.failed).filter(|&(number, _)| number == request.first);
        connection.deregister(self.host.registry());
        match self.associations.get_mut(request.first).filter(|association| owned && !association.up) {
            Some(association) => association.awaited = Some(connection),
            None => connection.answer(failed.map(|(_, error)| error)),
        }
    }

    fn connect(&mut self, key: usize, body: &[u8]) -> Result<i32, Errno> {
        let (peers, port) = address::parse_all(body).ok_or(Errno::EINVAL)?;
        self.check_families(key, &peers)?;
        let socket = self.sockets.get(&key).ok_or(Errno::EBADF)?;
        match socket.phase {
            Phase::Connecting(_) => return Err(Errno::EALREADY),
            Phase::Idle if socket.many || socket.backlog.is_none() => {}
            _ => return Err(Errno::EISCONN),
        }
        if !socket.many && !socket.associations.is_empty() {
            return Err(Errno::EISCONN);
        }
        let begun = |number: &i32| {
            let other = self.associations.get(*number);
            other.is_some_and(|of| !of.up && of.peer_port == port && of.peers.first() == peers.first())
        };
        if socket.associations.iter().any(begun) {
            return Err(Errno::EALREADY);
        }
        let number = self.associate(key, &peers, port)?;
        if let Some(socket) = self.sockets.get_mut(&key).filter(|socket| !socket.many) {
            socket.phase = Phase::Connecting(number);
        }
        self.host.transmit();
        Ok(number)
    }

    /// Removes the ballast (it fills the program's send buffer) of a connect that was refused or has failed.
    pub(crate) fn drop_ballast(&mut self, key: usize) {
        let Some(socket) = self.sockets.get_mut(&key) else { return };
        if !matches!(socket.phase, Phase::Connecting(_)) && socket.pair.has_ballast() {
            // The record is longer than this buffer: the kernel discards the rest.
            socket.pair.take(&mut [0; Header::LEN]);
        }
    }
}
