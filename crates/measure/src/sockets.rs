//! Sockets as both sides need them.

use socket2::{Domain, Protocol, SockAddr, SockRef, Socket, Type};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};

/// Buffers asked for, bytes; the system may give less.
const BUFFER: usize = 4 << 20;

/// The addresses that a passive side binds: the chosen one, or all, by one socket for both families where the
/// system has that.
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
                // A server can start again while connections of the one before are not forgotten.
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

/// A listener whose `accept` does not wait.
pub fn listener(local: Option<IpAddr>, port: u16) -> io::Result<TcpListener> {
    let socket = bind(local, port, Type::STREAM, Protocol::TCP)?;
    socket.listen(64)?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// A socket for datagrams with large buffers.
pub fn datagrams(local: Option<IpAddr>, port: u16) -> io::Result<UdpSocket> {
    let socket: UdpSocket = bind(local, port, Type::DGRAM, Protocol::UDP)?.into();
    buffers(SockRef::from(&socket), [None; 2]);
    Ok(socket)
}

/// Asks for buffers: receive and send. A system that gives less is no reason to fail.
pub fn buffers(socket: SockRef<'_>, sizes: [Option<u32>; 2]) {
    let [receive, send] = sizes.map(|size| size.map_or(BUFFER, |size| size as usize));
    let _ = socket.set_recv_buffer_size(receive);
    let _ = socket.set_send_buffer_size(send);
}

/// The local address for a peer: the first of the peer's family; none: the system chooses.
pub fn local_for(locals: &[IpAddr], peer: SocketAddr) -> Option<SocketAddr> {
    locals.iter().find(|local| local.is_ipv4() == peer.is_ipv4()).map(|&local| SocketAddr::new(local, 0))
}
