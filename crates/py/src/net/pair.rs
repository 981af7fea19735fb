//! Two connected sockets within the process, as Python's `socket.socketpair` makes them.

use std::io;

#[cfg(unix)]
pub use std::os::unix::net::UnixStream as Stream;

#[cfg(not(unix))]
pub use std::net::TcpStream as Stream;

#[cfg(unix)]
fn connected() -> io::Result<(Stream, Stream)> {
    Stream::pair()
}

/// Connects two sockets over loopback, for systems without Unix sockets.
#[cfg(not(unix))]
fn connected() -> io::Result<(Stream, Stream)> {
    let listener = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
    let writer = Stream::connect(listener.local_addr()?)?;
    writer.set_nodelay(true)?;
    loop {
        let (reader, from) = listener.accept()?;
        if from == writer.local_addr()? {
            return Ok((reader, writer));
        }
    }
}

/// A reader and a writer; neither of them blocks.
pub fn pair() -> io::Result<(Stream, Stream)> {
    let (reader, writer) = connected()?;
    reader.set_nonblocking(true)?;
    writer.set_nonblocking(true)?;
    Ok((reader, writer))
}

/// The number of a socket, as Python's `fileno` returns it.
pub fn number(socket: &Stream) -> i64 {
    #[cfg(unix)]
    let number = std::os::fd::AsRawFd::as_raw_fd(socket).into();
    #[cfg(windows)]
    let number = std::os::windows::io::AsRawSocket::as_raw_socket(socket) as i64;
    number
}
