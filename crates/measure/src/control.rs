//! The control connection: messages over TCP.

use crate::channel::is_timeout;
use crate::npmp::{Acknowledge, EventSize, FlowId, Frames, Malformed, Message, RESULTS_PIECE};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Longest time for which the peer may leave a message unread.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

/// Reason why the control connection can no longer be used.
#[derive(Debug, thiserror::Error)]
pub enum ControlError {
    /// A call of the system failed.
    #[error("the control connection failed: {0}")]
    Io(#[from] io::Error),
    /// The peer closed the connection.
    #[error("the peer closed the control connection")]
    Closed,
    /// The received bytes are not an NPMP message.
    #[error("the peer sent what is no NPMP: {0}")]
    Malformed(#[from] Malformed),
}

/// Sets the socket options of a control connection: no delay, timeouts, and keepalive packets that detect
/// a failed peer host.
///
/// # Errors
/// The system's error.
pub fn prepare(stream: &TcpStream) -> io::Result<()> {
    let keepalive =
        socket2::TcpKeepalive::new().with_time(Duration::from_secs(10)).with_interval(Duration::from_secs(5));
    socket2::SockRef::from(stream).set_tcp_keepalive(&keepalive)?;
    stream.set_nodelay(true)?;
    stream.set_nonblocking(false)?;
    stream.set_write_timeout(Some(WRITE_TIMEOUT))
}

/// Writes messages to the control connection; several threads can share it.
#[derive(Clone, Debug)]
pub struct ControlWriter {
    stream: Arc<Mutex<TcpStream>>,
    events: EventSize,
}

impl ControlWriter {
    /// Creates a writer to this stream.
    pub fn new(stream: TcpStream, events: EventSize) -> Self {
        ControlWriter { stream: Arc::new(Mutex::new(stream)), events }
    }

    /// Sends a message.
    ///
    /// # Errors
    /// [`ControlError::Io`].
    pub fn send(&self, message: &Message<'_>) -> Result<(), ControlError> {
        let bytes = message.encode(self.events);
        self.stream.lock().unwrap_or_else(PoisonError::into_inner).write_all(&bytes)?;
        Ok(())
    }

    /// Sends the result of a request.
    ///
    /// # Errors
    /// [`ControlError::Io`].
    pub fn acknowledge(&self, id: FlowId, done: bool) -> Result<(), ControlError> {
        self.send(&Message::Acknowledge(Acknowledge { id, status: u32::from(!done) }))
    }

    /// Sends a file, whose content `write` writes.
    ///
    /// # Errors
    /// [`ControlError::Io`].
    pub fn file(&self, write: impl FnOnce(&mut Pieces<'_>) -> io::Result<()>) -> Result<(), ControlError> {
        let mut pieces = Pieces { writer: self, pending: Vec::with_capacity(RESULTS_PIECE) };
        write(&mut pieces)?;
        pieces.send(true)?;
        Ok(())
    }
}

/// A file that is sent in pieces while it is written.
pub struct Pieces<'w> {
    writer: &'w ControlWriter,
    pending: Vec<u8>,
}

impl Pieces<'_> {
    fn send(&mut self, last: bool) -> io::Result<()> {
        let sent = self.writer.send(&Message::Results { last, piece: &self.pending });
        self.pending.clear();
        sent.map_err(io::Error::other)
    }
}

impl Write for Pieces<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(RESULTS_PIECE - self.pending.len());
        self.pending.extend_from_slice(&bytes[..taken]);
        if self.pending.len() == RESULTS_PIECE {
            self.send(false)?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads messages from the control connection.
#[derive(Debug)]
pub struct ControlReader {
    stream: TcpStream,
    frames: Frames,
}

impl ControlReader {
    /// Creates a reader of this stream for messages of at most `longest` bytes.
    pub fn new(stream: TcpStream, longest: usize) -> Self {
        ControlReader { stream, frames: Frames::new(longest, longest) }
    }

    /// Waits at most `patience` for a message, and calls the given function with it; `None` if the time
    /// passed.
    ///
    /// # Errors
    /// [`ControlError`].
    pub fn next<T>(
        &mut self,
        patience: Duration,
        take: impl FnOnce(Message<'_>) -> T,
    ) -> Result<Option<T>, ControlError> {
        let deadline = std::time::Instant::now() + patience;
        loop {
            if let Some(length) = self.frames.complete()? {
                let message = Message::decode(self.frames.take(length))?;
                return Ok(Some(take(message)));
            }
            let left = deadline.saturating_duration_since(std::time::Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            self.stream.set_read_timeout(Some(left))?;
            match self.stream.read(self.frames.space()) {
                Ok(0) => return Err(ControlError::Closed),
                Ok(read) => self.frames.written(read),
                Err(error) if is_timeout(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}
