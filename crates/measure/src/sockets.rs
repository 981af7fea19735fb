//! Creates the sockets of both sides.

use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, Type};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};

/// Requested size of each socket buffer in bytes; the system may grant less.
const BUFFER: usize = 4 << 20;

/// The addresses that the passive side binds: the chosen address, or all addresses of the host. One socket
/// serves both families if the system allows this.
fn places(local: Option<IpAddr>) -> Vec<IpAddr> {
    local
        .map_or_else(|| vec![Ipv6Addr::UNSPECIFIED.into(), Ipv4Addr::UNSPECIFIED.into()], |local| vec![local])
}

fn bind(local: Option<IpAddr>, port: u16, kind: Type, protocol: Protocol) -> io::Result<Socket> {
    let mut result = Err(io::ErrorKind::AddrNotAvailable.into());
    for place in places(local) {
        let address = SocketAddr::new(place, port);
        result = (|| {
            let socket = Socket::new(Domain::for_address(address), kind, Some(protocol))?;
            if local.is_none() && address.is_ipv6() {
                socket.set_only_v6(false)?;
            }
            if kind == Type::STREAM && cfg!(unix) {
                // With this option a server can restart while its old connections are in TIME-WAIT.
                socket.set_reuse_address(true)?;
            }
            socket.bind(&SockAddr::from(address))?;
            Ok(socket)
        })();
        if result.is_ok() {
            break;
        }
    }
    result
}

/// Creates a listener whose `accept` does not block.
pub fn listener(local: Option<IpAddr>, port: u16) -> io::Result<TcpListener> {
    let socket = bind(local, port, Type::STREAM, Protocol::TCP)?;
    socket.listen(64)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// Creates a UDP socket with large buffers.
pub fn datagrams(local: Option<IpAddr>, port: u16) -> io::Result<UdpSocket> {
    let socket: UdpSocket = bind(local, port, Type::DGRAM, Protocol::UDP)?.into();
    buffers(SockRef::from(&socket), [None; 2]);
    Ok(socket)
}

/// Requests sizes for the receive buffer and the send buffer. Smaller buffers are not an error.
pub fn buffers(socket: SockRef<'_>, sizes: [Option<u32>; 2]) {
    let [receive, send] = sizes.map(|size| size.map_or(BUFFER, |size| size as usize));
    let _ = socket.set_recv_buffer_size(receive);
    let _ = socket.set_send_buffer_size(send);
}

/// The local address to use for a peer: the first one of the peer's family. `None` if the system is to
/// choose.
pub fn local_for(locals: &[IpAddr], peer: SocketAddr) -> Option<SocketAddr> {
    locals.iter().find(|local| local.is_ipv4() == peer.is_ipv4()).map(|&local| SocketAddr::new(local, 0))
}
