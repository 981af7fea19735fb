use std::net::IpAddr;

/// True unless the address is unspecified, multicast or broadcast.
pub fn is_unicast(address: IpAddr) -> bool {
    let broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    !address.is_unspecified() && !address.is_multicast() && !broadcast
}

/// Selects the source address for packets to `remote`: of the same family, with the longest common prefix.
pub fn nearest(ours: &[IpAddr], remote: IpAddr) -> Option<IpAddr> {
    let bits = |address: IpAddr| match address {
        IpAddr::V4(address) => u128::from(u32::from(address)),
        IpAddr::V6(address) => u128::from(address),
    };
    let same_kind = ours.iter().filter(|address| address.is_ipv4() == remote.is_ipv4());
    same_kind.min_by_key(|&&address| bits(address) ^ bits(remote)).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_address_shares_the_longest_prefix_with_the_remote_one() {
        let ours = ["10.1.0.1", "10.2.0.1", "fd00:1::1", "fd00:2::1"].map(|a| a.parse().unwrap());
        let towards = |remote: &str| nearest(&ours, remote.parse().unwrap()).unwrap().to_string();
        assert_eq!(towards("10.1.7.7"), "10.1.0.1");
        assert_eq!(towards("10.2.7.7"), "10.2.0.1");
        assert_eq!(towards("fd00:2::9"), "fd00:2::1");
        assert_eq!(towards("192.0.2.1"), "10.1.0.1");
    }
}
