//! Addresses: those of family `AF_CONN` become the addresses of a link, and the reverse.

use io::{link_addresses, link_number};
use libc::{AF_INET, AF_INET6, c_int};
use std::net::{IpAddr, Ipv6Addr};

/// The family of addresses whose packets the program carries.
pub const AF_CONN: c_int = 123;
/// Length of a `struct sockaddr_conn`: family, port, and a pointer at offset 8.
const CONN: usize = 16;
const INET6: usize = 28;

/// An end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    Ours,
    Peer,
}

fn family(address: &[u8]) -> c_int {
    address.first_chunk().map_or(0, |&family| u16::from_ne_bytes(family).into())
}

/// The number of a `struct sockaddr_conn`.
fn conn_number(address: &[u8]) -> Option<u64> {
    let number = address.get(8..CONN).filter(|_| family(address) == AF_CONN)?;
    Some(u64::from_ne_bytes(number.try_into().ok()?))
}

/// Translates an address of the program to one of Linux. A null pointer becomes link 0: any link.
pub fn to_linux(address: &[u8], end: End) -> Vec<u8> {
    let Some(number) = conn_number(address) else { return address.to_vec() };
    let mut bytes = vec![0; INET6];
    bytes[..2].copy_from_slice(&(AF_INET6 as u16).to_ne_bytes());
    bytes[2..4].copy_from_slice(&address[2..4]);
    if let IpAddr::V6(address) = link_addresses(number)[end as usize] {
        bytes[8..24].copy_from_slice(&address.octets());
    }
    bytes
}

/// Translates an address of Linux to one of the program.
pub fn to_program(address: &[u8]) -> Vec<u8> {
    let octets = address.get(8..24).filter(|_| family(address) == AF_INET6);
    let octets: Option<[u8; 16]> = octets.and_then(|octets| octets.try_into().ok());
    match octets.and_then(|octets| link_number(Ipv6Addr::from(octets).into())) {
        Some(number) => {
            let mut bytes = (AF_CONN as u16).to_ne_bytes().to_vec();
            bytes.extend(&address[2..4]);
            bytes.extend([0; 4]);
            bytes.extend(number.to_ne_bytes());
            bytes
        }
        None => address.to_vec(),
    }
}

/// Length of the address of this family; `None` if it is unknown.
pub fn len_of(family: c_int) -> Option<usize> {
    match family {
        AF_INET | AF_CONN => Some(CONN),
        AF_INET6 => Some(INET6),
        _ => None,
    }
}

/// Splits packed addresses.
pub fn split(mut packed: &[u8]) -> Vec<&[u8]> {
    let mut all = Vec::new();
    while let Some((address, rest)) = len_of(family(packed)).and_then(|len| packed.split_at_checked(len)) {
        all.push(address);
        packed = rest;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_the_program_comes_back() {
        let conn = [123, 0, 0x13, 0x88, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 0xff];
        let v4 = [2, 0, 0x13, 0x88, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        for end in [End::Ours, End::Peer] {
            assert_eq!(to_linux(&conn, end).len(), 28);
            assert_eq!(to_program(&to_linux(&conn, end)), conn);
            assert_eq!(to_program(&to_linux(&v4, end)), v4);
        }
        assert_ne!(to_linux(&conn, End::Ours), to_linux(&conn, End::Peer));
        let packed = [&to_linux(&conn, End::Peer)[..], &v4, &[9, 9]].concat();
        assert_eq!(split(&packed), [&packed[..28], &v4]);
        assert_eq!(to_linux(&conn[..15], End::Ours), conn[..15], "too short: refused as it is");
    }
}
