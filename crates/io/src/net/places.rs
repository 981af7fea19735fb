//! The addresses and sockets of an endpoint or a host.

use super::{BindSpec, Socket, is_reachable, raw};
use crate::types::BindError;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// Binds all sockets to one UDP port. If any port is allowed, the first socket chooses a free port. If that
/// port is in use at another address, another free port is tried.
pub(crate) fn bind_sockets(
    locals: &[(IpAddr, Option<String>)],
    udp_port: u16,
    buffers: usize,
) -> Result<(Vec<Socket>, u16), BindError> {
    const TRIES: usize = 16;
    let mut tries = 0;
    loop {
        tries += 1;
        match bind_to(locals, udp_port, buffers) {
            Err(BindError::Address { source, .. })
                if udp_port == 0 && is_in_use(&source) && tries < TRIES => {}
            done => return done,
        }
    }
}

fn bind_to(
    locals: &[(IpAddr, Option<String>)],
    udp_port: u16,
    buffers: usize,
) -> Result<(Vec<Socket>, u16), BindError> {
    let mut sockets = Vec::new();
    let mut port = udp_port;
    for (address, device) in places(locals) {
        let address = SocketAddr::new(address, port);
        let spec = BindSpec { address, device, buffers };
        match Socket::bind(&spec) {
            Ok(socket) => {
                port = socket.port()?;
                sockets.push(socket);
            }
            // A host without IPv6 can still use IPv4.
            Err(error) if locals.is_empty() && address.is_ipv6() && !is_in_use(&error) => {}
            Err(source) => return Err(BindError::Address { address, source }),
        }
    }
    Ok((sockets, port))
}

/// Adds a raw socket for each local address, for SCTP port `port` or for all ports. The raw socket shares the
/// counters of the UDP socket at its address.
pub(crate) fn bind_raw_sockets(
    locals: &[(IpAddr, Option<String>)],
    port: Option<u16>,
    buffers: usize,
    sockets: &mut Vec<Socket>,
) -> Result<(), BindError> {
    for (address, device) in places(locals) {
        let spec = BindSpec { address: SocketAddr::new(address, 0), device, buffers };
        let beside = sockets.iter().find(|socket| socket.counters.address() == address);
        match Socket::bind_ip(&spec, port, beside.map(|socket| socket.counters.clone())) {
            Ok(socket) => sockets.push(socket),
            // A host without IPv6 can still use IPv4.
            Err(error) if locals.is_empty() && address.is_ipv6() && !is_in_use(&error) => {}
            Err(source) => return Err(BindError::Ip { address, source }),
        }
    }
    Ok(())
}

fn is_in_use(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AddrInUse
}

/// Claims an SCTP port at each local address, for packets in IP. The port is in use while the result exists.
pub(crate) fn claim_port(
    locals: &[(IpAddr, Option<String>)],
    port: u16,
) -> Result<Vec<socket2::Socket>, BindError> {
    let claim = |(address, device)| {
        let spec = BindSpec { address: SocketAddr::new(address, 0), device, buffers: 0 };
        raw::claim(&spec, port).map_err(|source| BindError::Ip { address, source })
    };
    places(locals).into_iter().map(claim).collect()
}

/// True if a process uses an SCTP port for packets directly in IP, at this
/// address or at all addresses. Such a process has called [`claim_port`].
pub(crate) fn is_claimed(address: IpAddr, port: u16) -> bool {
    [address, raw::all_of(address)].into_iter().any(|address| raw::is_claimed(address, "", port))
}

/// The addresses and interfaces of the sockets.
fn places(locals: &[(IpAddr, Option<String>)]) -> Vec<(IpAddr, Option<String>)> {
    if locals.is_empty() {
        vec![(Ipv4Addr::UNSPECIFIED.into(), None), (Ipv6Addr::UNSPECIFIED.into(), None)]
    } else {
        locals.to_vec()
    }
}

/// The addresses of the host's interfaces, except loopback and link-local ones, up to the limit of an
/// endpoint. If the host has only loopback addresses, returns these.
pub(crate) fn interface_addresses() -> Result<Vec<IpAddr>, BindError> {
    const MOST: usize = 16;
    let all: Vec<IpAddr> = if_addrs::get_if_addrs()?.iter().map(|interface| interface.ip()).collect();
    let global: Vec<IpAddr> =
        all.iter().copied().filter(|&address| is_reachable(address)).take(MOST).collect();
    let loopback = || all.iter().copied().filter(|address| address.is_loopback()).take(MOST).collect();
    let addresses = if global.is_empty() { loopback() } else { global };
    if addresses.is_empty() { Err(BindError::NoAddress) } else { Ok(addresses) }
}
