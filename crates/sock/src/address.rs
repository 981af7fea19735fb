//! `struct sockaddr` of Linux, as bytes.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

const INET: u16 = 2;
const INET6: u16 = 10;

/// Reads an address and a port, and returns them with the bytes that follow. An IPv4-mapped IPv6 address
/// becomes an IPv4 address.
pub fn parse(bytes: &[u8]) -> Option<(IpAddr, u16, &[u8])> {
    let family = u16::from_ne_bytes(*bytes.first_chunk()?);
    let port = u16::from_be_bytes([*bytes.get(2)?, *bytes.get(3)?]);
    match family {
        INET => {
            let octets: [u8; 4] = bytes.get(4..8)?.try_into().ok()?;
            Some((Ipv4Addr::from(octets).into(), port, bytes.get(16..)?))
        }
        INET6 => {
            let octets: [u8; 16] = bytes.get(8..24)?.try_into().ok()?;
            Some((Ipv6Addr::from(octets).to_canonical(), port, bytes.get(28..).unwrap_or_default()))
        }
        _ => None,
    }
}

/// Reads packed addresses, and the port of the first.
pub fn parse_all(mut bytes: &[u8]) -> Option<(Vec<IpAddr>, u16)> {
    const MOST: usize = 64;
    let (mut addresses, mut port) = (Vec::new(), None);
    while !bytes.is_empty() && addresses.len() < MOST {
        let (address, its_port, rest) = parse(bytes)?;
        addresses.push(address);
        port = port.or(Some(its_port));
        bytes = rest;
    }
    Some((addresses, port?))
}

/// Writes an address: `sockaddr_in` of 16 bytes or `sockaddr_in6` of 28. With `mapped`, an IPv4 address
/// becomes an IPv4-mapped IPv6 address.
pub fn write(address: IpAddr, port: u16, mapped: bool) -> Vec<u8> {
    let address = match address {
        IpAddr::V4(address) if mapped && address.is_unspecified() => Ipv6Addr::UNSPECIFIED.into(),
        IpAddr::V4(address) if mapped => address.to_ipv6_mapped().into(),
        address => address,
    };
    let mut bytes = Vec::with_capacity(28);
    match address {
        IpAddr::V4(address) => {
            bytes.extend(INET.to_ne_bytes());
            bytes.extend(port.to_be_bytes());
            bytes.extend(address.octets());
            bytes.resize(16, 0);
        }
        IpAddr::V6(address) => {
            bytes.extend(INET6.to_ne_bytes());
            bytes.extend(port.to_be_bytes());
            bytes.extend([0; 4]);
            bytes.extend(address.octets());
            bytes.resize(28, 0);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_addresses_are_read_as_they_are_written() {
        let (v4, v6): (IpAddr, IpAddr) = ([10, 2, 0, 2].into(), Ipv6Addr::LOCALHOST.into());
        let packed = [write(v4, 5001, false), write(v6, 5001, false), write(v4, 5001, true)].concat();
        assert_eq!(packed.len(), 16 + 28 + 28);
        assert_eq!(packed[..8], [2, 0, 0x13, 0x89, 10, 2, 0, 2]);
        assert_eq!(parse_all(&packed), Some((vec![v4, v6, v4], 5001)));
        assert_eq!(parse_all(&packed[..70]).map(|all| all.0.len()), Some(3));
        for wrong in [&[][..], &[2, 0, 1], &[1; 28], &packed[..15]] {
            assert_eq!(parse_all(wrong), None);
        }
    }
}
