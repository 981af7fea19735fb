//! Channel that carries the messages of a flow.

use crate::clock::Gate;
use crate::npmp::DATA_PPID;
use io::blocking::Connection;
use io::{Message, Ppid, Reliability, SendError, StreamId};
use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Longest time that a call blocks before it checks whether the flow has been stopped.
pub const PATIENCE: Duration = Duration::from_millis(100);

/// Channel that carries the messages of a flow.
#[derive(Clone, Debug)]
pub enum Channel {
    /// A stream of bytes.
    Tcp(Arc<TcpStream>),
    /// Datagrams to this address, or to the address to which the socket is connected.
    Udp(Arc<UdpSocket>, Option<SocketAddr>),
    /// A stream of an association; the number is that of the stream.
    Sctp(Connection, u16),
}

/// Delivery service of a message, for transports that offer a choice.
#[derive(Clone, Copy, Debug, Default)]
pub struct Service {
    /// True if the message is sent unordered.
    pub unordered: bool,
    /// When the message is abandoned.
    pub reliability: Reliability,
}

impl Channel {
    /// Sends a message. Waits until the transport accepts it or the flow is stopped. Returns false if the
    /// flow is stopped.
    ///
    /// # Errors
    /// A readable text, if the connection has ended.
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

/// Handles a failed call for a datagram. A full queue or a closed port of the
/// peer is no error: waits a moment, and returns true if the flow continues.
fn recover(error: &std::io::Error, stop: &Gate) -> Result<bool, String> {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::ConnectionRefused | ErrorKind::Interrupted => {
            Ok(!stop.wait_until(Some(Instant::now() + Duration::from_micros(200))))
        }
        // 105 is ENOBUFS (the queue of the network device is full), which has no `ErrorKind`.
        _ if error.raw_os_error() == Some(105) => Ok(!stop.is_closed()),
        _ => Err(error.to_string()),
    }
}

/// Writes all bytes to a stream whose calls time out. Returns false if the flow is stopped.
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

/// True if a timeout or a signal ended the call.
pub fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
