//! The hosts of the other end: addresses, or names that are resolved at each attempt to connect.

use std::fmt;
use std::net::{IpAddr, ToSocketAddrs};
use std::str::FromStr;

/// An address or a name of the other end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Host {
    /// An address.
    Address(IpAddr),
    /// A name of DNS or of `/etc/hosts`: all its addresses.
    Name(String),
}

impl FromStr for Host {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let is_part_of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        match text.parse() {
            Ok(address) => Ok(Host::Address(address)),
            // Text without a letter is a mistyped address.
            Err(_) if !text.contains(|c: char| c.is_ascii_alphabetic()) => Err(()),
            Err(_) if text.len() > 253 || !text.chars().all(is_part_of_name) => Err(()),
            Err(_) => Ok(Host::Name(text.to_owned())),
        }
    }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Host::Address(address) => address.fmt(f),
            Host::Name(name) => name.fmt(f),
        }
    }
}

/// The current addresses of these hosts, each once, in order. `log` gets a line about names without an
/// address, unless no host has one.
///
/// # Errors
/// The message to print if no host has an address.
pub(crate) fn resolve(hosts: &[Host], log: impl Fn(&str)) -> Result<Vec<IpAddr>, String> {
    let (mut found, mut lost): (Vec<IpAddr>, Vec<String>) = (Vec::new(), Vec::new());
    for host in hosts {
        let addresses: Vec<IpAddr> = match host {
            Host::Address(address) => vec![*address],
            Host::Name(name) => (name.as_str(), 0)
                .to_socket_addrs()
                .map(|all| all.map(|address| address.ip()).collect())
                .unwrap_or_default(),
        };
        if addresses.is_empty() {
            lost.push(host.to_string());
        }
        for address in addresses {
            if !found.contains(&address) {
                found.push(address);
            }
        }
    }
    let what = |names: &[String]| {
        format!(
            "connect: {} has no address now: no name server answers, or the name is wrong",
            names.join(", ")
        )
    };
    match (found.is_empty(), lost.is_empty()) {
        (true, _) => return Err(what(&lost)),
        (false, false) => log(&what(&lost)),
        (false, true) => {}
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    fn hosts(texts: &[&str]) -> Vec<Host> {
        texts.iter().map(|text| text.parse().expect(text)).collect()
    }

    #[test]
    fn addresses_and_names_are_told_apart_and_others_are_refused() {
        let expected = [
            Host::Address([192, 0, 2, 1].into()),
            Host::Address("2001:db8::1".parse().expect("an address")),
            Host::Name("vpn-1.example.org".into()),
        ];
        assert_eq!(hosts(&["192.0.2.1", "2001:db8::1", "vpn-1.example.org"]), expected);
        for text in ["", "192.0.2", "192.0.2.256", "2001:db8:::1", "a b", "example.org:9901", "[::1]", "a/b"]
        {
            assert_eq!(text.parse::<Host>(), Err(()), "{text}");
        }
    }

    #[test]
    fn names_have_all_their_addresses_and_one_without_is_named() {
        let lines = RefCell::new(Vec::new());
        let log = |line: &str| lines.borrow_mut().push(line.to_owned());
        let found = resolve(&hosts(&["192.0.2.1", "localhost", "nobody.invalid", "192.0.2.1"]), log);
        let found = found.expect("two have addresses");
        assert_eq!(found[0], IpAddr::from([192, 0, 2, 1]));
        assert!(found.len() > 1 && found[1..].iter().all(IpAddr::is_loopback), "{found:?}");
        assert!(matches!(&lines.borrow()[..], [line] if line.contains("nobody.invalid")));
        assert!(resolve(&hosts(&["nobody.invalid"]), log).is_err());
    }
}
