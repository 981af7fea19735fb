//! The uplinks of a tunnel: interfaces, whose addresses may change at any time, or addresses.

use crate::idle::idle_options;
use io::blocking::block_on;
use io::{Connection, Endpoint, PathOptions};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::time::{Duration, Instant};

/// Time without a path after which the peer is asked again to add an address. The stack asks for about a
/// minute before it gives up.
const PATIENCE: Duration = Duration::from_secs(75);

/// One uplink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uplink {
    /// Interface or address by which packets leave.
    pub source: Source,
    /// Cost of the uplink, and heartbeat interval while it is idle.
    pub options: PathOptions,
}

/// Interface or address by which packets leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// An interface with its current addresses; packets leave by this interface, whatever the routing table
    /// says.
    Device(String),
    /// An address of this host. The routing table chooses the interface.
    Address(IpAddr),
}

impl fmt::Display for Uplink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::Device(name) => name.fmt(f),
            Source::Address(address) => address.fmt(f),
        }
    }
}

impl FromStr for Source {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text.parse() {
            Ok(address) => Ok(Source::Address(address)),
            Err(_) if text.is_empty() || text.len() > 15 || text.contains(['/', ' ']) => Err(()),
            Err(_) => Ok(Source::Device(text.to_owned())),
        }
    }
}

/// Address and interface of an uplink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) address: IpAddr,
    /// The interface that the packets must use.
    pub(crate) device: Option<String>,
    pub(crate) options: PathOptions,
}

/// Address and interface of each working uplink, the cheapest first. Of an interface, only the
/// first address of each family is used.
pub(crate) fn working(uplinks: &[Uplink]) -> Vec<Place> {
    let Ok(all) = if_addrs::get_if_addrs() else { return Vec::new() };
    let all: Vec<(String, IpAddr)> = all
        .into_iter()
        .filter(|interface| interface.is_oper_up() && !interface.is_link_local())
        .map(|interface| (interface.name.clone(), interface.ip()))
        .collect();
    places(uplinks, &all)
}

fn places(uplinks: &[Uplink], all: &[(String, IpAddr)]) -> Vec<Place> {
    let mut found: Vec<Place> = Vec::new();
    for Uplink { source, options } in uplinks {
        let place = |address, device| Place { address, device, options: *options };
        match source {
            Source::Address(address) => {
                let present = all.iter().filter(|(_, other)| other == address);
                found.extend(present.take(1).map(|_| place(*address, None)));
            }
            Source::Device(name) => {
                for is_ipv4 in [true, false] {
                    let of_family =
                        |(other, address): &&(String, IpAddr)| other == name && address.is_ipv4() == is_ipv4;
                    let first = all.iter().find(of_family);
                    found.extend(first.map(|(_, address)| place(*address, Some(name.clone()))));
                }
            }
        }
    }
    found.sort_by_key(|place| place.options.cost);
    found
}

/// A line for each working uplink without an address of the families of the other end.
pub(crate) fn unreachable_uplinks(uplinks: &[Uplink], remotes: &[IpAddr]) -> Vec<String> {
    let reaches = |place: &Place| remotes.iter().any(|remote| remote.is_ipv4() == place.address.is_ipv4());
    let mut lines = Vec::new();
    for uplink in uplinks {
        let places = working(std::slice::from_ref(uplink));
        if let Some(Place { address, .. }) = places.first().filter(|_| !places.iter().any(reaches)) {
            let (has, lacks) = if address.is_ipv4() { ("IPv4", "IPv6") } else { ("IPv6", "IPv4") };
            lines.push(format!(
                "uplink {uplink} has {has} only, and `connect` gives {lacks} addresses only: it carries nothing until `connect` has an \
                 {has} address of the other end"
            ));
        }
    }
    lines
}

/// Follows the uplinks during an association.
#[derive(Debug)]
pub(crate) struct Follower {
    /// True if this end is behind NATs, so that its addresses join one by one.
    joins: bool,
    /// Addresses without a path, and the time since which they have none.
    idle: BTreeMap<IpAddr, Instant>,
    /// Addresses with a path.
    joined: BTreeSet<IpAddr>,
    /// Options set for the addresses of the association.
    set: BTreeMap<IpAddr, PathOptions>,
}

impl Follower {
    pub(crate) fn new(joins: bool) -> Follower {
        Follower { joins, idle: BTreeMap::new(), joined: BTreeSet::new(), set: BTreeMap::new() }
    }

    /// Sets the options of the paths from these addresses before the paths exist, so that a path
    /// never carries data that its options forbid.
    pub(crate) fn set_options(&mut self, connection: &Connection, places: &[Place]) {
        for &Place { address, options, .. } in places {
            if self.set.insert(address, options).unwrap_or_default() != options {
                // The call fails if the association has ended.
                let _ = block_on(connection.set_path_options(address, options));
            }
        }
    }

    /// Adds new addresses to all associations, and removes lost addresses. The last address stays, because it
    /// may return. An address that the peer did not add, because its uplink did not work for some time, is
    /// added again. With `is_idle`, heartbeats are rarer. `log` gets a line for each address that joined or
    /// failed to join.
    pub(crate) fn follow(
        &mut self,
        endpoint: &Endpoint,
        connection: &Connection,
        uplinks: &[Uplink],
        is_idle: bool,
        log: impl Fn(&str),
    ) {
        let mut working = working(uplinks);
        if is_idle {
            working.iter_mut().for_each(|place| place.options = idle_options(place.options));
        }
        self.set_options(connection, &working);
        if self.joins {
            let paths = block_on(connection.paths()).unwrap_or_default();
            let used: Vec<IpAddr> = paths.iter().map(|path| path.local).collect();
            for address in used.iter().filter(|&&address| self.joined.insert(address)) {
                log(&format!("uplink address {address} joined"));
            }
            self.joined.retain(|address| used.contains(address));
            for address in self.given_up(Instant::now(), &endpoint.local_addresses(), &used) {
                log(&format!(
                    "uplink address {address} did not join: no answer for {} s; it asks again",
                    PATIENCE.as_secs()
                ));
                let _ = block_on(endpoint.remove_local_address(address));
            }
        }
        let before = endpoint.local_addresses();
        // New addresses are added before old ones are removed, because the association may have no other
        // uplink that works.
        for Place { address, device, .. } in working.iter().filter(|place| !before.contains(&place.address)) {
            // The call fails, for example, for an IPv6 address that is still checked for duplicates. Then the
            // next call of this function tries again.
            let _ = match device {
                Some(device) => block_on(endpoint.add_local_address_on_device(*address, device.clone())),
                None => block_on(endpoint.add_local_address(*address)),
            };
        }
        for &address in before.iter().filter(|&&address| working.iter().all(|place| place.address != address))
        {
            let _ = block_on(endpoint.remove_local_address(address));
        }
    }

    /// Returns the addresses that have had no path for too long. From now on, their time without a path is
    /// counted anew.
    fn given_up(&mut self, now: Instant, addresses: &[IpAddr], used: &[IpAddr]) -> Vec<IpAddr> {
        self.idle.retain(|address, _| addresses.contains(address) && !used.contains(address));
        for &address in addresses.iter().filter(|address| !used.contains(address)) {
            self.idle.entry(address).or_insert(now);
        }
        let late = |since: &Instant| now.duration_since(*since) >= PATIENCE;
        let given_up =
            self.idle.iter().filter(|(_, since)| late(since)).map(|(&address, _)| address).collect();
        self.idle.retain(|_, since| !late(since));
        given_up
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_gives_its_first_address_of_each_family_and_an_address_is_used_while_it_exists() {
        let ip = |text: &str| text.parse::<IpAddr>().expect("an address");
        let all = [
            ("eth0".to_owned(), ip("192.0.2.1")),
            ("eth0".to_owned(), ip("192.0.2.2")),
            ("eth0".to_owned(), ip("2001:db8::1")),
            ("wlan0".to_owned(), ip("198.51.100.1")),
        ];
        let uplink = |(text, cost): (&str, u16)| Uplink {
            source: text.parse().expect("an uplink"),
            options: PathOptions { cost, ..PathOptions::default() },
        };
        let uplinks = [("eth0", 1), ("wwan0", 0), ("198.51.100.1", 0), ("203.0.113.1", 0)].map(uplink);
        let found: Vec<_> = places(&uplinks, &all)
            .into_iter()
            .map(|place| (place.address, place.device, place.options.cost))
            .collect();
        let expected = [
            (ip("198.51.100.1"), None, 0),
            (ip("192.0.2.1"), Some("eth0".to_owned()), 1),
            (ip("2001:db8::1"), Some("eth0".to_owned()), 1),
        ];
        assert_eq!(found, expected, "the cheapest first");
    }

    #[test]
    fn an_address_without_a_path_is_given_up_after_some_time_and_again_later() {
        let mut follower = Follower::new(true);
        let begin = Instant::now();
        let all: [IpAddr; 2] = [[10, 0, 0, 1].into(), [10, 0, 0, 2].into()];
        let mut given_up =
            |seconds, used: &[IpAddr]| follower.given_up(begin + Duration::from_secs(seconds), &all, used);
        assert!(given_up(0, &all).is_empty());
        assert!(given_up(1, &all[..1]).is_empty());
        assert!(given_up(70, &all).is_empty(), "it has a path after all");
        assert!(given_up(71, &all[..1]).is_empty());
        assert_eq!(given_up(71 + PATIENCE.as_secs(), &all[..1]), [all[1]]);
        assert!(given_up(72 + PATIENCE.as_secs(), &all[..1]).is_empty());
        assert_eq!(given_up(72 + 2 * PATIENCE.as_secs(), &all[..1]), [all[1]]);
    }
}
