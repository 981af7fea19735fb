use super::{Encode, HEADER_LEN, header};
use crate::asconf::{self, Requests};
use crate::tlv;
use std::net::IpAddr;
use transport::PacketBuf;

/// ASCONF: asks the peer to change the addresses of the association (rfc5061#section-4.1.1).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+---------------+-------------------------------+
/// |  type = 0xc1  |   flags = 0   |            length             |
/// +---------------+---------------+-------------------------------+
/// |                         serial number                         |
/// +---------------------------------------------------------------+
/// |       address of the sender (IPv4 or IPv6 parameter)          |
/// \                                                               \
/// +---------------------------------------------------------------+
/// |                           request 1                           |
/// \                              ...                              \
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asconf<'a> {
    /// Serial number: one more than in the previous ASCONF.
    pub serial: u32,
    /// An address of the sender by which the receiver finds the association, or the unspecified address.
    pub lookup: IpAddr,
    /// The requests.
    pub requests: Requests<'a>,
}

impl<'a> Asconf<'a> {
    /// The chunk type.
    pub const TYPE: u8 = 0xc1;

    pub(super) fn decode(value: &'a [u8]) -> Option<Self> {
        let (serial, rest) = value.split_first_chunk()?;
        let (lookup, requests) = tlv::split_first(rest).ok()?;
        let lookup = asconf::address_of(lookup)?;
        Some(Asconf { serial: u32::from_be_bytes(*serial), lookup, requests: Requests::from_bytes(requests) })
    }
}

impl Encode for Asconf<'_> {
    fn encoded_len(&self) -> usize {
        HEADER_LEN + 4 + asconf::address_len(self.lookup) + self.requests.as_bytes().len()
    }

    fn encode(&self, out: &mut PacketBuf) {
        out.head.extend_from_slice(&header(Self::TYPE, 0, self.encoded_len()));
        out.head.extend_from_slice(&self.serial.to_be_bytes());
        asconf::write_address(&mut out.head, self.lookup);
        out.head.extend_from_slice(self.requests.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::asconf::{AddressChange, Request};
    use crate::chunk::{Chunk, ChunkError};
    use crate::testing::{decode, encode, hex};

    // rfc5061#section-4.1.1
    #[test]
    fn captured_chunk_decodes_and_encodes_to_the_same_bytes() {
        let bytes = hex("c1000020 00000007 000500080a000001 c001001000000001 000500080a010001");
        let requests = Requests::from_bytes(&bytes[16..]);
        let chunk = Asconf { serial: 7, lookup: [10, 0, 0, 1].into(), requests };
        assert_eq!(decode(&bytes), Ok(Chunk::Asconf(chunk)));
        assert_eq!(encode(&chunk), bytes);
        let add = Request { change: AddressChange::Add, correlation: 1, address: [10, 1, 0, 1].into() };
        assert!(requests.iter().eq([Ok(add)]));
    }

    #[test]
    fn a_chunk_without_an_address_to_look_up_is_malformed() {
        for wrong in [
            "c1000004",
            "c1000008 00000007",
            "c100000c 00000007 00050004",
            "c1000010 00000007 000700080a000001",
            "c1000010 00000007 000500090a000001",
        ] {
            assert_eq!(decode(&hex(wrong)), Err(ChunkError::Value { chunk_type: 0xc1 }), "{wrong}");
        }
    }
}
