//! Channel that carries the messages of a flow.

use crate::clock::Gate;
use crate::npmp::DATA_PPID;
use io::blocking::Connection;
use io::{Message, Ppid, Reliability, SendError, StreamId};
use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long a call waits before it looks whether the flow has been stopped.
pub const PATIENCE: Duration = Duration::from_millis(100);

/// Channel that carries the messages of a flow.
#[derive(Clone, Debug)]
pub enum Channel {
    /// A stream of bytes.
    Tcp(Arc<TcpStream>),
    /// Datagrams to an address; to the connected one if none is named.
    Udp(Arc<UdpSocket>, Option<SocketAddr>),
    /// A stream of an association.
    Sctp(Connection, u16),
}

/// How a message is to be delivered, where the transport has a choice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Service {
    /// Out of order.
    pub unordered: bool,
    /// Abandoned at some time.
    pub reliability: Reliability,
}

impl Channel {
    /// Sends a message, and waits until the transport took it or the flow is stopped; false if the flow is
    /// stopped.
    ///
    /// # Errors
    /// A text for people, if the connection has ended.
    pub fn send(&self, message: &[u8], service: Service, stop: &Gate) -> Result<bool, String> {
        match self {
            Channel::Tcp(stream) => write_all(stream, message, stop),
            Channel::Udp(socket, to) => {
                let sent = match to {
                    Some(to) => socket.send_to(message, to),
                    None => socket.send(message),
                };
                match sent {
                    Ok(_) => Ok(true),
                    Err(error) => recover(&error, stop),
                }
            }
            Channel::Sctp(connection, stream) => {
                let message = Message::from(message)
                    .stream(StreamId(*stream))
                    .ppid(Ppid(DATA_PPID))
                    .unordered(service.unordered)
                    .reliability(service.reliability);
                while !stop.is_closed() {
                    match connection.send_timeout(message.clone(), PATIENCE) {
                        Ok(()) => return Ok(true),
                        Err(SendError::TimedOut) => {}
                        Err(error) => return Err(error.to_string()),
                    }
                }
                Ok(false)
            }
        }
    }
}

/// What a failed call for a datagram means: a full queue, and a peer that is not there any more, are no
/// reason to end.
fn recover(error: &std::io::Error, stop: &Gate) -> Result<bool, String> {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::ConnectionRefused | ErrorKind::Interrupted => {
            Ok(!stop.wait_until(Some(Instant::now() + Duration::from_micros(200))))
        }
        // ENOBUFS has no kind of its own.
        _ if error.raw_os_error() == Some(105) => Ok(!stop.is_closed()),
        _ => Err(error.to_string()),
    }
}

/// Writes all bytes to a stream whose calls time out.
fn write_all(mut stream: &TcpStream, mut bytes: &[u8], stop: &Gate) -> Result<bool, String> {
    while !bytes.is_empty() {
        match stream.write(bytes) {
            Ok(0) => return Err("the connection has ended".to_owned()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if is_timeout(&error) => {}
            Err(error) => return Err(error.to_string()),
        }
        if stop.is_closed() {
            return Ok(bytes.is_empty());
        }
    }
    Ok(true)
}

/// The call was ended by its timeout, or by a signal.
pub fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
