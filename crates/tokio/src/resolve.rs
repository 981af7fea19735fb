use io::Peer;
use std::io::{Error, ErrorKind, Result};
use std::net::IpAddr;

/// Returns the peer with this SCTP port and all addresses of a name, in the order of the system's resolver.
/// The handshake begins with the first address.
///
/// # Errors
/// The error of the resolver; [`ErrorKind::NotFound`] if the name has no address.
pub async fn resolve(name: &str, port: u16) -> Result<Peer> {
    let mut addresses: Vec<IpAddr> = Vec::new();
    for address in tokio::net::lookup_host((name, port)).await? {
        if !addresses.contains(&address.ip()) {
            addresses.push(address.ip());
        }
    }
    if addresses.is_empty() {
        return Err(Error::new(ErrorKind::NotFound, format!("the name {name} has no address")));
    }
    Ok(Peer::from((addresses, port)))
}
