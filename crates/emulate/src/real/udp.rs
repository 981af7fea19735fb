//! UDP mode: a socket for each link end. This mode needs no privileges.
//!
//! The socket of a link end represents the host of that end. Programs of other hosts send to the socket to
//! reach this host, and receive from the socket the packets that this host sends.

use super::wait;
use crate::drive::{node_of, problem};
use crate::engine::{Doors, Entry};
use crate::error::EmulateError;
use lab::scenario::{Attachment, RealHost, Scenario};
use net::{Network, NodeId, Outgoing, Packet, Protocol};
use nix::poll::{PollFd, PollFlags};
use quinn_udp::{EcnCodepoint, RecvMeta, Transmit, UdpSockRef, UdpSocketState};
use std::collections::BTreeMap;
use std::io::{self, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::AsFd;
use transport::Ecn;
use units::Span;

/// Bytes of the UDP header.
const HEADER: usize = 8;
/// UDP port of SCTP at simulated hosts (`rfc6951#section-7`).
const ENCAPSULATION: u16 = 9899;
/// Maximum number of trains that one call reads, and of bytes in one. A train holds
/// datagrams that the kernel joined (GRO).
const TRAINS: usize = 8;
const TRAIN: usize = 65_536;
/// Maximum number of receive calls on each socket before the emulation does other work.
const CALLS: usize = 8;
/// Requested size of each buffer of the kernel in bytes. The kernel may grant less.
const BUFFER: usize = 4 << 20;

/// The sockets of an emulation.
pub(super) struct Sockets {
    ends: Vec<End>,
    /// The link end of each address of the network, as an index into `ends`.
    by_address: BTreeMap<IpAddr, usize>,
    /// The link end of each real program, as an index into `ends`.
    by_program: BTreeMap<SocketAddr, usize>,
    bytes: Vec<u8>,
}

/// A link end of a host.
struct End {
    node: NodeId,
    /// The address of the host at this link, in the network.
    address: IpAddr,
    /// The program of a real host; `None` for a simulated host.
    program: Option<Program>,
    socket: UdpSocket,
    state: UdpSocketState,
}

struct Program {
    at: SocketAddr,
    /// True if the scenario gives no port: the port is then the source port of the
    /// latest datagram from the address.
    learns: bool,
}

/// A link end that is to get a socket.
struct Wanted {
    node: usize,
    link: usize,
    program: Option<SocketAddr>,
    appears_at: SocketAddr,
}

impl Sockets {
    /// Binds the sockets. Also returns a line of text for each socket.
    pub(super) fn open(
        scenario: &Scenario,
        network: &Network,
    ) -> Result<(Sockets, Vec<String>), EmulateError> {
        let (mut ends, mut ways) = (Vec::new(), Vec::new());
        for Wanted { node, link, program, appears_at } in wanted(scenario)? {
            let id = node_of(scenario, network, node)?;
            let own = network.addresses(id).get(link);
            let own = own.ok_or_else(|| problem(scenario, node, format!("has no link {}", link + 1)))?;
            let address = if appears_at.is_ipv4() { IpAddr::V4(own.ipv4) } else { own.ipv6.into() };
            let cannot = |error: io::Error| {
                problem(
                    scenario,
                    node,
                    format!("cannot appear at {appears_at}: {error}; expected another address or port"),
                )
            };
            let (socket, state) =
                bind_beside(appears_at, ends.last().filter(|end: &&End| end.node == id)).map_err(cannot)?;
            let name = &scenario.nodes[node].name;
            let mut way = format!("{name} appears at {}", socket.local_addr().map_err(cannot)?);
            match program {
                Some(at) if at.port() == 0 => way += &format!(", its program is at {} and any port", at.ip()),
                Some(at) => way += &format!(", its program is at {at}"),
                None => way += ", simulated",
            }
            ways.push(way);
            let program = program.map(|at| Program { at, learns: at.port() == 0 });
            ends.push(End { node: id, address, program, socket, state });
        }
        let by_address = ends.iter().enumerate().map(|(at, end)| (end.address, at)).collect();
        let program = |(at, end): (usize, &End)| Some((end.program.as_ref()?.at, at));
        let by_program: BTreeMap<_, _> = ends.iter().enumerate().filter_map(program).collect();
        let programs = ends.iter().filter(|end| end.program.is_some()).count();
        if let (true, Some(host)) = (by_program.len() < programs, scenario.real.first()) {
            let message =
                "shares the UDP address of its program with another link; expected one for each".to_owned();
            return Err(problem(scenario, host.node, message));
        }
        Ok((Sockets { ends, by_address, by_program, bytes: vec![0; TRAINS * TRAIN] }, ways))
    }

    /// The link end that a datagram of `from` comes from. Records the port if the port is not known yet.
    fn sender(&mut self, from: SocketAddr) -> Option<usize> {
        if let Some(&known) = self.by_program.get(&from) {
            return Some(known);
        }
        let learns =
            |end: &End| end.program.as_ref().is_some_and(|one| one.learns && one.at.ip() == from.ip());
        let at = self.ends.iter().position(learns)?;
        let program = self.ends[at].program.as_mut()?;
        self.by_program.remove(&program.at);
        program.at = from;
        self.by_program.insert(from, at);
        Some(at)
    }

    /// Passes a train of datagrams (joined by the kernel) from the socket of an end into the network.
    fn enter(
        &mut self,
        to: usize,
        meta: &RecvMeta,
        train: &[u8],
        enter: &mut dyn FnMut(NodeId, Entry, &mut Vec<u8>),
    ) {
        // A datagram from port 0 is ignored, because it cannot be answered.
        let Some(from) = (meta.addr.port() != 0).then(|| self.sender(meta.addr)).flatten() else { return };
        let (src, dst) = (&self.ends[from], &self.ends[to]);
        let port = dst.program.as_ref().map_or(ENCAPSULATION, |program| program.at.port());
        let outgoing = Outgoing {
            src: src.address,
            dst: dst.address,
            protocol: Protocol::Udp,
            ecn: ecn(meta.ecn),
            zeros: 0,
        };
        for datagram in train.chunks(meta.stride.max(1)) {
            let length = (HEADER + datagram.len()).min(usize::from(u16::MAX)) as u16;
            let fields = [meta.addr.port(), port, length, 0].map(u16::to_be_bytes);
            let mut head = Vec::with_capacity(HEADER + datagram.len());
            head.extend(fields.into_iter().flatten());
            head.extend_from_slice(datagram);
            enter(src.node, Entry::Payload(outgoing), &mut head);
        }
    }
}

impl Doors for Sockets {
    fn read(&mut self, enter: &mut dyn FnMut(NodeId, Entry, &mut Vec<u8>)) {
        let mut bytes = std::mem::take(&mut self.bytes);
        for to in 0..self.ends.len() {
            for _ in 0..CALLS {
                let mut meta = [RecvMeta::default(); TRAINS];
                let mut chunks = bytes.chunks_exact_mut(TRAIN);
                let mut slices: [IoSliceMut<'_>; TRAINS] =
                    std::array::from_fn(|_| IoSliceMut::new(chunks.next().unwrap_or_default()));
                let End { socket, state, .. } = &self.ends[to];
                // An error concerns a datagram that was sent earlier and is now lost.
                let Ok(trains) = state.recv(UdpSockRef::from(socket), &mut slices, &mut meta) else { break };
                for (meta, train) in meta[..trains].iter().zip(bytes.chunks_exact(TRAIN)) {
                    self.enter(to, meta, &train[..meta.len.min(TRAIN)], enter);
                }
            }
        }
        self.bytes = bytes;
    }

    fn write(&mut self, to: NodeId, packet: &Packet<'_>) -> bool {
        let end = |address: &IpAddr| self.by_address.get(address).map(|&at| &self.ends[at]);
        let (Some(src), Some(dst)) = (end(&packet.src), end(&packet.dst)) else { return false };
        let Some(program) = dst.program.as_ref().filter(|program| dst.node == to && program.at.port() != 0)
        else {
            return false;
        };
        let mut padded;
        let mut contents = packet.head.get(HEADER..).unwrap_or_default();
        if packet.zeros > 0 {
            padded = contents.to_vec();
            padded.resize(contents.len() + packet.zeros, 0);
            contents = &padded;
        }
        let transmit = Transmit {
            destination: program.at,
            ecn: EcnCodepoint::from_bits(packet.ecn as u8),
            contents,
            segment_size: None,
            src_ip: None,
        };
        packet.protocol == Protocol::Udp
            && src.state.try_send(UdpSockRef::from(&src.socket), &transmit).is_ok()
    }

    fn wait(&mut self, longest: Span) -> io::Result<()> {
        let sockets = self.ends.iter().map(|end| PollFd::new(end.socket.as_fd(), PollFlags::POLLIN));
        let mut descriptors: Vec<PollFd<'_>> = sockets.collect();
        wait(&mut descriptors, longest)
    }
}

/// Binds the socket of a link end. If the system may choose the port, tries the port of the previous end of
/// the host first. Then programs reach all addresses of the host at one port.
fn bind_beside(address: SocketAddr, before: Option<&End>) -> io::Result<(UdpSocket, UdpSocketState)> {
    if let (0, Some(before)) = (address.port(), before) {
        let port = before.socket.local_addr()?.port();
        if let Ok(bound) = bind(SocketAddr::new(address.ip(), port)) {
            return Ok(bound);
        }
    }
    bind(address)
}

fn bind(address: SocketAddr) -> io::Result<(UdpSocket, UdpSocketState)> {
    let socket = UdpSocket::bind(address)?;
    let state = UdpSocketState::new(UdpSockRef::from(&socket))?;
    let _ = state.set_recv_buffer_size(UdpSockRef::from(&socket), BUFFER);
    let _ = state.set_send_buffer_size(UdpSockRef::from(&socket), BUFFER);
    socket.set_nonblocking(true)?;
    Ok((socket, state))
}

fn ecn(bits: Option<EcnCodepoint>) -> Ecn {
    match bits {
        None => Ecn::NotCapable,
        Some(EcnCodepoint::Ect1) => Ecn::Capable1,
        Some(EcnCodepoint::Ect0) => Ecn::Capable0,
        Some(EcnCodepoint::Ce) => Ecn::CongestionExperienced,
    }
}

/// Lists the link ends of real hosts, and of simulated hosts that have flows with real hosts.
fn wanted(scenario: &Scenario) -> Result<Vec<Wanted>, EmulateError> {
    let mut all = Vec::new();
    for RealHost { node, attachment } in &scenario.real {
        let Attachment::Udp { at, appears_at } = attachment else { continue };
        for (link, (&program, &appears_at)) in at.iter().zip(appears_at).enumerate() {
            all.push(Wanted { node: *node, link, program: Some(program), appears_at });
        }
    }
    let real = |node: usize| scenario.real.iter().find(|host| host.node == node);
    for flow in &scenario.flows {
        let (host, node) = match (real(flow.client), real(flow.server)) {
            (Some(host), None) => (host, flow.server),
            (None, Some(host)) => (host, flow.client),
            _ => continue,
        };
        if all.iter().any(|one| one.node == node) {
            continue;
        }
        if scenario.links.iter().filter(|link| link.between.contains(&node)).count() > 1 {
            let message = "is simulated and has several links, whose addresses a real program cannot reach by UDP; expected \
                           one link, or TUN devices";
            return Err(problem(scenario, node, message.to_owned()));
        }
        let Attachment::Udp { at, .. } = &host.attachment else { continue };
        let appears_at = SocketAddr::new(at[0].ip(), 0);
        all.push(Wanted { node, link: 0, program: None, appears_at });
    }
    Ok(all)
}
