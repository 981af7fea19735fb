use io::Peer;
use std::io::{Error, ErrorKind, Result};
use std::net::IpAddr;

/// The peer with all addresses of a name, as the system's resolver orders them, and this SCTP port. The
/// handshake begins with the first address.
///
/// # Errors
/// The resolver's; [`ErrorKind::NotFound`] if the name has no address.
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
