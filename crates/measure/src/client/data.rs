//! Data connections.

use super::{ANSWER, Client, ClientOptions, MeasureError, Numbered, Opened};
use crate::channel::{Channel, PATIENCE};
use crate::clock::Gate;
use crate::flow::Flow;
use crate::latency::Probe;
use crate::npmp::{EventSize, Identify, Message};
use crate::pcap::Recorder;
use crate::receiver;
use crate::sockets;
use crate::spec::Transport;
use ::io::blocking::Endpoint;
use ::io::{ConnectError, Received};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Number of IDENTIFY messages for a UDP flow, and the time between two of them.
const TRIES: usize = 5;
const AGAIN: Duration = Duration::from_secs(2);

/// Connects over TCP, from the chosen local address of the peer's family if there is one.
pub fn connect_tcp(peer: SocketAddr, locals: &[IpAddr], patience: Duration) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::for_address(peer), Type::STREAM, Some(Protocol::TCP))?;
    if let Some(local) = sockets::local_for(locals, peer) {
        socket.bind(&local.into())?;
    }
    socket.connect_timeout(&peer.into(), patience)?;
    Ok(socket.into())
}

fn connect_udp(peer: SocketAddr, locals: &[IpAddr], buffers: [Option<u32>; 2]) -> io::Result<UdpSocket> {
    let any: IpAddr =
        if peer.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let local = sockets::local_for(locals, peer).unwrap_or(SocketAddr::new(any, 0));
    let socket = UdpSocket::bind(local)?;
    socket.connect(peer)?;
    sockets::buffers(SockRef::from(&socket), buffers);
    Ok(socket)
}

impl Client {
    /// Announces a flow, opens its data connection, and sends IDENTIFY there.
    pub(super) fn open(&mut self, flow: Arc<Flow>, association: u32) -> Result<(), MeasureError> {
        let id = flow.id;
        self.writer.send(&Message::AddFlow(Box::new(flow.spec.to_message(id))))?;
        self.acknowledged(id, &format!("flow {}", id.flow), ANSWER)?;
        let failed = |why: String| MeasureError::Data { flow: id.flow, why };
        let (channel, association) = self.channel(&flow, association).map_err(failed)?;
        let no_vector = self.options.vectors.is_none();
        let identify = Message::Identify(Identify { id, compress_vector: false, no_vector });
        let identify = identify.encode(EventSize::default());
        let datagrams = matches!(channel, Channel::Udp(..));
        let (tries, patience) = if datagrams { (TRIES, AGAIN) } else { (1, ANSWER) };
        let what = format!("the data connection of flow {}", id.flow);
        let mut answered = Err(MeasureError::Silent(what.clone()));
        for _ in 0..tries {
            let sent = channel.send(&identify, Default::default(), &Gate::default());
            sent.map_err(failed)?;
            answered = self.acknowledged(id, &what, patience);
            if !matches!(answered, Err(MeasureError::Silent(_))) {
                break;
            }
        }
        answered?;
        self.flows.push(Opened { flow, channel, association });
        Ok(())
    }

    fn channel(&mut self, flow: &Flow, association: u32) -> Result<(Channel, Option<usize>), String> {
        let text = |error: io::Error| error.to_string();
        let spec = &flow.spec;
        let peer = SocketAddr::new(self.options.peers[0], self.options.port);
        match spec.transport {
            Transport::Tcp => {
                let stream = connect_tcp(peer, &self.options.locals, ANSWER).map_err(text)?;
                stream.set_nodelay(spec.no_delay).map_err(text)?;
                stream.set_write_timeout(Some(PATIENCE)).map_err(text)?;
                if spec.buffers != [None; 2] {
                    sockets::buffers(SockRef::from(&stream), spec.buffers);
                }
                Ok((Channel::Tcp(Arc::new(stream)), None))
            }
            Transport::Udp => {
                let socket = connect_udp(peer, &self.options.locals, spec.buffers).map_err(text)?;
                Ok((Channel::Udp(Arc::new(socket), None), None))
            }
            Transport::Sctp => {
                let place = self.association(association)?;
                let connection = self.associations[place].connection.clone();
                let streams =
                    connection.clone().into_async().outbound_streams().map_err(|error| error.to_string())?;
                if flow.id.stream >= streams {
                    return Err(format!("the association has {streams} streams only"));
                }
                Ok((Channel::Sctp(connection, flow.id.stream), Some(place)))
            }
        }
    }

    /// The index of the association with this number, which is created if it does not exist.
    fn association(&mut self, number: u32) -> Result<usize, String> {
        if let Some(place) = self.associations.iter().position(|other| other.number == number) {
            return Ok(place);
        }
        let endpoint = bind(&self.options, self.recorder.as_ref())?;
        let peer = io_peer(&self.options.peers, self.options.port);
        let connection = endpoint.connect_timeout(peer, ANSWER).map_err(|error| match error {
            ConnectError::TimedOut => format!(
                "no answer from SCTP port {} in UDP port {}: {}",
                self.options.port,
                self.options.udp_port,
                match self.options.keys {
                    None => "is it blocked on the way, or does the server expect a key?",
                    Some(_) => "wrong key of the server, key unknown there, or blocked on the way",
                }
            ),
            error => error.to_string(),
        })?;
        self.associations.push(Numbered { number, connection, endpoint });
        Ok(self.associations.len() - 1)
    }

    /// Starts the threads that count received messages.
    pub(super) fn receive(&mut self) -> Result<(), MeasureError> {
        let mut threads: Vec<Box<dyn FnOnce() + Send>> = Vec::new();
        for Opened { flow, channel, .. } in &self.flows {
            let flow = flow.clone();
            match channel.clone() {
                Channel::Tcp(stream) => {
                    threads.push(Box::new(move || receiver::tcp(&stream, receiver::frames(), &flow)));
                }
                Channel::Udp(socket, _) => threads.push(Box::new(move || receiver::udp(&socket, &flow))),
                Channel::Sctp(..) => {}
            }
        }
        for (place, Numbered { connection, .. }) in self.associations.iter().enumerate() {
            let connection = connection.clone();
            let flows = self.flows.iter().filter(|opened| opened.association == Some(place));
            let flows: Vec<_> = flows.map(|opened| opened.flow.clone()).collect();
            let probes = self.own_probes.clone();
            let probe = move |message: &Received| {
                if let Some(Probe { sequence, is_answer: true, .. }) = Probe::decode(&message.data) {
                    probes.end(sequence);
                }
            };
            threads.push(Box::new(move || receiver::sctp(&connection, &flows, probe)));
        }
        for run in threads {
            let thread = thread::Builder::new().name("receiver".to_owned()).spawn(run);
            self.receivers.push(thread.map_err(|error| MeasureError::System(error.to_string()))?);
        }
        Ok(())
    }
}

/// Opens an endpoint for one association with the server.
pub(super) fn bind(options: &ClientOptions, recorder: Option<&Recorder>) -> Result<Endpoint, String> {
    let locals = if options.locals.is_empty() && options.peers.iter().all(IpAddr::is_loopback) {
        // The server is on this host: more local addresses would only give more paths to the same host.
        options.peers[..1].to_vec()
    } else {
        options.locals.clone()
    };
    let mut builder = Endpoint::builder()
        .locals(locals)
        .udp_port(0)
        .remote_udp_port(options.udp_port)
        .carrier(options.carrier)
        .config(options.config.clone());
    if let Some(keys) = &options.keys {
        builder = builder.guard(keys.guard().map_err(|error| error.to_string())?);
    }
    if let Some(recorder) = recorder {
        builder = builder.tap(recorder.clone());
    }
    if let Some(dir) = &options.qlog {
        builder = builder.qlog(dir);
    }
    builder.bind().map_err(|error| error.to_string())
}

pub(super) fn io_peer(peers: &[IpAddr], port: u16) -> ::io::Peer {
    ::io::Peer::from((peers, port))
}
