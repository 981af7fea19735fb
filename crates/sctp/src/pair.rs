//! A path as a pair of addresses.

use std::net::IpAddr;

/// A path as the user names it: a local address and a remote address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AddressPair {
    /// Source address of the packets that we send.
    pub local: IpAddr,
    /// Destination address.
    pub remote: IpAddr,
}

impl AddressPair {
    /// True if both addresses are IPv4, or both are IPv6.
    pub(crate) fn is_of_one_family(&self) -> bool {
        self.local.is_ipv4() == self.remote.is_ipv4()
    }

    /// True if both addresses share a typical subnet prefix: 24 bits of IPv4, or 64 bits of IPv6.
    pub(crate) fn is_in_one_subnet(&self) -> bool {
        match (self.local, self.remote) {
            (IpAddr::V4(local), IpAddr::V4(remote)) => local.octets()[..3] == remote.octets()[..3],
            (IpAddr::V6(local), IpAddr::V6(remote)) => local.segments()[..4] == remote.segments()[..4],
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(local: &str, remote: &str) -> AddressPair {
        AddressPair { local: local.parse().unwrap(), remote: remote.parse().unwrap() }
    }

    #[test]
    fn a_subnet_is_a_24_of_ipv4_and_a_64_of_ipv6() {
        assert!(pair("192.0.2.1", "192.0.2.254").is_in_one_subnet());
        assert!(!pair("192.0.2.1", "192.0.3.1").is_in_one_subnet());
        assert!(pair("2001:db8:0:1::1", "2001:db8:0:1:ffff::1").is_in_one_subnet());
        assert!(!pair("2001:db8:0:1::1", "2001:db8:0:2::1").is_in_one_subnet());
        assert!(!pair("0.0.0.0", "::").is_in_one_subnet());
    }
}
