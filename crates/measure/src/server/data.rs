//! Data connections: their identification and their received messages.

use super::echo::Echoing;
use super::{Counted, Shared, accept, limits};
use crate::channel::{Channel, PATIENCE, is_timeout};
use crate::flow::Flow;
use crate::latency::Probe;
use crate::npmp::{Identify, Malformed, Message};
use crate::receiver;
use crate::sockets;
use crate::spec::Transport;
use io::blocking::{Connection, Listener, WaitError};
use socket2::SockRef;
use std::collections::BTreeMap;
use std::io::Read;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

/// Accepts TCP data connections until the server ends.
pub fn accept_tcp(shared: &Arc<Shared>, listener: &TcpListener) {
    while !shared.over.is_closed() {
        let Some((stream, _)) = accept(listener, &shared.over) else { continue };
        let shared = shared.clone();
        let run = move || {
            if let Some(_counted) = Counted::new(&shared.connections, limits::CONNECTIONS) {
                serve_tcp(&shared, Arc::new(stream));
            }
        };
        // If no thread can be started, the connection is closed.
        drop(thread::Builder::new().name("data".to_owned()).spawn(run));
    }
}

fn serve_tcp(shared: &Shared, stream: Arc<TcpStream>) {
    let timeouts = stream.set_read_timeout(Some(PATIENCE)).and(stream.set_write_timeout(Some(PATIENCE)));
    if stream.set_nonblocking(false).and(timeouts).is_err() {
        return;
    }
    let mut frames = receiver::frames();
    let deadline = Instant::now() + limits::IDENTIFY;
    let identify = loop {
        match frames.complete() {
            Ok(Some(length)) => match Message::decode(frames.take(length)) {
                Ok(Message::Identify(identify)) => break identify,
                _ => return,
            },
            Ok(None) => {}
            Err(_) => return,
        }
        if shared.over.is_closed() || Instant::now() > deadline {
            return;
        }
        match (&*stream).read(frames.space()) {
            Ok(0) => return,
            Ok(read) => frames.written(read),
            Err(error) if is_timeout(&error) => {}
            Err(_) => return,
        }
    };
    let channel = Channel::Tcp(stream.clone());
    let Some(flow) = shared.registry.bind(&identify, Transport::Tcp, channel) else { return };
    if flow.spec.no_delay {
        // If the call fails, the flow is only slower.
        let _ = stream.set_nodelay(true);
    }
    if flow.spec.buffers != [None; 2] {
        sockets::buffers(SockRef::from(&*stream), flow.spec.buffers);
    }
    receiver::tcp(&stream, frames, &flow);
}

/// Counts UDP datagrams until the server ends. The server answers none of them.
pub fn receive_udp(shared: &Shared) {
    if shared.udp.set_read_timeout(Some(PATIENCE)).is_err() {
        return;
    }
    let mut buffer = vec![0; receiver::LONGEST];
    while !shared.over.is_closed() {
        let Ok((length, source)) = shared.udp.recv_from(&mut buffer) else { continue };
        let bytes = &buffer[..length];
        if let Some(flow) = shared.registry.of_source(source) {
            receiver::datagram(bytes, &flow);
        } else if let Ok(Message::Identify(identify)) = Message::decode(bytes) {
            let channel = Channel::Udp(shared.udp.clone(), Some(source));
            shared.registry.bind(&identify, Transport::Udp, channel);
        }
    }
}

/// Accepts associations until the server ends.
pub fn accept_sctp(shared: &Arc<Shared>, listener: &Listener) {
    while !shared.over.is_closed() {
        match listener.accept_timeout(PATIENCE) {
            Err(WaitError::TimedOut) => {}
            Err(_) => return,
            Ok(connection) => {
                let shared = shared.clone();
                let run = move || serve_sctp(&shared, &connection);
                // If no thread can be started, the association is shut down.
                drop(thread::Builder::new().name("data".to_owned()).spawn(run));
            }
        }
    }
}

fn serve_sctp(shared: &Shared, connection: &Connection) {
    // The flows of the association, by stream.
    let mut flows: BTreeMap<u16, Arc<Flow>> = BTreeMap::new();
    let mut echoing = None;
    let deadline = Instant::now() + limits::IDENTIFY;
    loop {
        let unknown = flows.is_empty() && Instant::now() > deadline;
        let over = !flows.is_empty() && flows.values().all(|flow| flow.over.is_closed());
        if unknown || over || shared.over.is_closed() {
            return connection.abort("no flow of this association is known");
        }
        match connection.recv_timeout(PATIENCE) {
            Err(WaitError::TimedOut) => {}
            Ok(None) | Err(_) => return,
            Ok(Some(message)) => {
                if let Some(probe) = Probe::decode(&message.data) {
                    echo(shared, connection, &mut echoing, (message.stream.0, probe));
                } else if take(shared, connection, &mut flows, message.stream.0, &message.data).is_err() {
                    return connection.abort("that is no NPMP");
                }
            }
        }
    }
}

/// Echoes a probe of latency on its stream, if its cookie is known.
fn echo(
    shared: &Shared,
    connection: &Connection,
    echoing: &mut Option<Echoing>,
    (stream, probe): (u16, Probe),
) {
    if let Some(echo) = shared.echoes.of_message(probe) {
        if echoing.is_none() {
            *echoing = Echoing::start(connection);
        }
        if let Some(echoing) = echoing {
            echoing.send(stream, echo);
        }
    }
}

/// Counts a DATA message, or assigns a stream to the flow that an IDENTIFY message names.
fn take(
    shared: &Shared,
    connection: &Connection,
    flows: &mut BTreeMap<u16, Arc<Flow>>,
    stream: u16,
    bytes: &[u8],
) -> Result<(), Malformed> {
    match (Message::decode(bytes)?, flows.get(&stream)) {
        (Message::Data(data, _), Some(flow)) => flow.received(&data, bytes.len()),
        (Message::Identify(Identify { id, .. }), None) if id.stream != stream => {}
        (Message::Identify(identify), None) => {
            let channel = Channel::Sctp(connection.clone(), stream);
            if let Some(flow) = shared.registry.bind(&identify, Transport::Sctp, channel) {
                flows.insert(stream, flow);
            }
        }
        _ => {}
    }
    Ok(())
}
