//! Counts the received messages of a flow.

use crate::channel::{PATIENCE, is_timeout};
use crate::flow::Flow;
use crate::npmp::{FlowId, Frames, Malformed, Message};
use io::Received;
use io::blocking::{Connection, WaitError};
use std::io::Read;
use std::net::{TcpStream, UdpSocket};
use std::sync::Arc;

/// Largest number of bytes in one read call.
const ROOM: usize = 1 << 18;
/// Longest message in bytes.
pub const LONGEST: usize = u16::MAX as usize;

/// Creates the buffer for messages of a TCP flow.
pub fn frames() -> Frames {
    Frames::new(ROOM, LONGEST)
}

/// Counts the messages of a TCP flow until the peer closes it, or the flow is over. `frames` may already
/// contain bytes.
pub fn tcp(mut stream: &TcpStream, mut frames: Frames, flow: &Flow) {
    if stream.set_read_timeout(Some(PATIENCE)).is_err() {
        return;
    }
    loop {
        if count(&mut frames, flow).is_err() {
            return flow.fail("the peer sent what is no NPMP".to_owned());
        }
        match stream.read(frames.space()) {
            Ok(0) => return,
            Ok(read) => frames.written(read),
            Err(error) if is_timeout(&error) => {}
            Err(_) => return,
        }
        if flow.over.is_closed() {
            return;
        }
    }
}

fn count(frames: &mut Frames, flow: &Flow) -> Result<(), Malformed> {
    while let Some(length) = frames.complete()? {
        if let Message::Data(data, _) = Message::decode(frames.take(length))? {
            flow.received(&data, length);
        }
    }
    Ok(())
}

/// Counts the datagrams of a flow until the flow is over. The socket accepts only datagrams of the peer.
pub fn udp(socket: &UdpSocket, flow: &Flow) {
    if socket.set_read_timeout(Some(PATIENCE)).is_err() {
        return;
    }
    let mut buffer = vec![0; LONGEST];
    while !flow.over.is_closed() {
        // The error is a timeout, or an ICMP error for a datagram that was sent earlier.
        let Ok(length) = socket.recv(&mut buffer) else { continue };
        datagram(&buffer[..length], flow);
    }
}

/// Counts a message if it belongs to this flow.
pub fn datagram(bytes: &[u8], flow: &Flow) {
    if let Ok(Message::Data(data, _)) = Message::decode(bytes)
        && is_of(data.id, flow.id)
    {
        flow.received(&data, bytes.len());
    }
}

fn is_of(id: FlowId, flow: FlowId) -> bool {
    id.flow == flow.flow && id.measurement == flow.measurement
}

/// Counts the messages of the flows of an association, by stream, and passes those of other streams to
/// `other`. Ends with the association, or when all flows are over.
pub fn sctp(connection: &Connection, flows: &[Arc<Flow>], other: impl Fn(&Received)) {
    while !flows.iter().all(|flow| flow.over.is_closed()) {
        match connection.recv_timeout(PATIENCE) {
            Err(WaitError::TimedOut) => {}
            Ok(None) | Err(_) => return,
            Ok(Some(message)) => match flows.iter().find(|flow| flow.id.stream == message.stream.0) {
                Some(flow) => datagram(&message.data, flow),
                None => other(&message),
            },
        }
    }
}
