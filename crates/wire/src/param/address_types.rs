use super::{HOST_NAME_ADDRESS, IPV4_ADDRESS, IPV6_ADDRESS};

/// The kinds of addresses that an endpoint can use (rfc9260#section-3.3.2.1.5). Decoding drops unknown kinds.
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-------------------------------+-------------------------------+
/// |           type = 12           |            length             |
/// +-------------------------------+-------------------------------+
/// |        address type 1         |        address type 2         |
/// \                              ...                              \
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SupportedAddressTypes {
    /// IPv4, type 5.
    pub ipv4: bool,
    /// IPv6, type 6.
    pub ipv6: bool,
    /// Host names, type 11; obsolete in RFC 9260.
    pub host_name: bool,
}

impl SupportedAddressTypes {
    pub(super) fn decode(value: &[u8]) -> Option<Self> {
        let (types, rest) = value.as_chunks::<2>();
        let lists = |kind: u16| types.contains(&kind.to_be_bytes());
        rest.is_empty().then(|| SupportedAddressTypes {
            ipv4: lists(IPV4_ADDRESS),
            ipv6: lists(IPV6_ADDRESS),
            host_name: lists(HOST_NAME_ADDRESS),
        })
    }

    /// The encoded value, and its length in bytes.
    pub(super) fn encode(self) -> ([u8; 6], usize) {
        let mut bytes = [0; 6];
        let mut used = 0;
        let offered =
            [(self.ipv4, IPV4_ADDRESS), (self.ipv6, IPV6_ADDRESS), (self.host_name, HOST_NAME_ADDRESS)];
        for (_, kind) in offered.into_iter().filter(|&(offered, _)| offered) {
            bytes[used..used + 2].copy_from_slice(&kind.to_be_bytes());
            used += 2;
        }
        (bytes, used)
    }
}
