//! The number of present control connections of each host.

use super::{limits, lock};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

/// Counts the control connections of each host.
#[derive(Clone, Debug, Default)]
pub struct Sessions(Arc<Mutex<BTreeMap<IpAddr, usize>>>);

/// Counts one control connection of a host as long as this value exists.
#[derive(Debug)]
pub struct Place {
    sessions: Sessions,
    host: IpAddr,
}

impl Sessions {
    /// Number of control connections of all hosts.
    pub fn len(&self) -> usize {
        lock(&self.0).values().sum()
    }

    /// Adds a control connection of this peer.
    ///
    /// # Errors
    /// A text if its host, or all hosts together, already have the allowed number.
    pub fn begin(&self, peer: IpAddr) -> Result<Place, String> {
        let host = host_of(peer);
        let mut hosts = lock(&self.0);
        if hosts.values().sum::<usize>() >= limits::SESSIONS {
            return Err(format!("{} control connections are open already", limits::SESSIONS));
        }
        let of_host = hosts.entry(host).or_default();
        if *of_host >= limits::SESSIONS_OF_HOST {
            return Err(format!(
                "{} control connections of this host are open already",
                limits::SESSIONS_OF_HOST
            ));
        }
        *of_host += 1;
        Ok(Place { sessions: self.clone(), host })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut hosts = lock(&self.sessions.0);
        if let Some(count) = hosts.get_mut(&self.host) {
            *count -= 1;
            if *count == 0 {
                hosts.remove(&self.host);
            }
        }
    }
}

/// The host of an address. An IPv6 host can use any address of its 64-bit prefix
/// (`rfc4291#section-2.5.1`).
fn host_of(peer: IpAddr) -> IpAddr {
    match peer.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => (address.to_bits() & !u128::from(u64::MAX)).to_be_bytes().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_ipv6_prefix_are_one_host() {
        let sessions = Sessions::default();
        let address = |text: &str| text.parse::<IpAddr>().expect("an address");
        let mut places: Vec<Place> = (1..=limits::SESSIONS_OF_HOST)
            .map(|n| sessions.begin(address(&format!("2001:db8::{n}"))).expect("a place"))
            .collect();
        assert!(sessions.begin(address("2001:db8::ffff:0:0:9")).is_err());
        assert!(sessions.begin(address("2001:db8:0:1::9")).is_ok());
        assert!(sessions.begin(address("::ffff:192.0.2.1")).is_ok());
        assert_eq!(sessions.len(), limits::SESSIONS_OF_HOST);
        places.pop();
        assert!(sessions.begin(address("2001:db8::9")).is_ok());
        places.clear();
        assert!(lock(&sessions.0).is_empty(), "nothing is kept of hosts that left");
    }
}
