//! Datagrams that the kernel dropped because a socket's receive buffer was full.
//!
//! The protocol cannot distinguish these drops from loss in the network; only this counter shows the cause.

use std::fs;
use std::net::IpAddr;

/// Drops of the sockets at one UDP port, by address; empty on systems without this counter.
pub(crate) fn dropped(port: u16) -> Vec<(IpAddr, u64)> {
    ["/proc/net/udp", "/proc/net/udp6"]
        .into_iter()
        .filter_map(|path| fs::read_to_string(path).ok())
        .flat_map(|table| table.lines().filter_map(entry).collect::<Vec<_>>())
        .filter(|&(_, of, _)| of == port)
        .map(|(address, _, drops)| (address, drops))
        .collect()
}

/// Address, port and drops of a line of `/proc/net/udp` or `udp6`.
fn entry(line: &str) -> Option<(IpAddr, u16, u64)> {
    let mut fields = line.split_ascii_whitespace();
    let (address, port) = fields.nth(1)?.split_once(':')?;
    let drops = fields.next_back()?.parse().ok()?;
    Some((parse_address(address)?, u16::from_str_radix(port, 16).ok()?, drops))
}

/// Parses an address. The kernel prints each 32-bit word of it as a number in the byte order of the host.
fn parse_address(digits: &str) -> Option<IpAddr> {
    let word = |n: usize| u32::from_str_radix(digits.get(8 * n..8 * n + 8)?, 16).ok().map(u32::to_ne_bytes);
    match digits.len() {
        8 => Some(IpAddr::from(word(0)?)),
        32 => {
            let words = [word(0)?, word(1)?, word(2)?, word(3)?];
            let mut octets = [0; 16];
            octets.iter_mut().zip(words.as_flattened()).for_each(|(octet, byte)| *octet = *byte);
            Some(IpAddr::from(octets))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, Ipv6Addr};

    #[test]
    #[cfg(target_endian = "little")]
    fn lines_of_both_tables_are_read() {
        let v4 = " 3043: 0100007F:26AB 00000000:0000 07 00000000:00000000 00:00000000 00000000     0        0 14372 2 0000000000000000 17";
        assert_eq!(entry(v4), Some((Ipv4Addr::LOCALHOST.into(), 9899, 17)));
        let v6 = "  120: 00000000000000000000000001000000:26AB 00000000000000000000000000000000:0000 07 00000000:00000000 00:00000000 00000000 0 0 1 2 0 5";
        assert_eq!(entry(v6), Some((Ipv6Addr::LOCALHOST.into(), 9899, 5)));
        assert_eq!(entry("  sl  local_address rem_address   st tx_queue rx_queue drops"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_receive_buffer_that_overflows_is_counted() {
        let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("binds");
        let address = socket.local_addr().expect("is bound");
        let sender = std::net::UdpSocket::bind("127.0.0.1:0").expect("binds");
        for _ in 0..20_000 {
            sender.send_to(&[0; 1000], address).expect("is sent");
        }
        let drops = dropped(address.port());
        assert!(matches!(drops[..], [(of, drops)] if of == address.ip() && drops > 0), "{drops:?}");
    }
}
