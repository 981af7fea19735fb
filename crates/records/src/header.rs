use crate::array;

/// "ANB1".
const MAGIC: u32 = u32::from_le_bytes(*b"ANB1");

/// Kind of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum Kind {
    /// User data.
    Data = 1,
    /// A notification of RFC 6458.
    Notification = 2,
    /// An accepted association. The record carries the descriptor of its socket.
    Accepted = 3,
    /// Fills the program's send buffer so that the socket is not writable: while an
    /// association is set up, or the socket listens.
    Ballast = 4,
    /// The association failed: [`Header::value`] is the errno.
    Failure = 5,
    /// The first record of each direction. That of the process with the stack has an errno or 0 as its value.
    Hello = 6,
}

/// Flags of records.
pub mod flags {
    /// The message is unordered.
    pub const UNORDERED: u16 = 1;
    /// The record ends its message.
    pub const END: u16 = 2;
    /// The message is for all associations of the socket.
    pub const ALL: u16 = 4;
    /// The program requests an immediate SACK.
    pub const SACK_NOW: u16 = 8;
    /// The address is that of the path to use.
    pub const ADDRESS_OVER: u16 = 0x10;
    /// Shut the association down after this message.
    pub const EOF: u16 = 0x20;
    /// Abort the association; the data is the reason.
    pub const ABORT: u16 = 0x40;
    /// The record has an address.
    pub const ADDRESS: u16 = 0x100;
    /// The program gave no stream or PPID: the defaults of the socket apply.
    pub const DEFAULTS: u16 = 0x200;
    /// The program gave a PR-SCTP policy, which may be none: the default of the socket does not apply.
    pub const POLICY: u16 = 0x400;
    /// The program gave the number of a key for AUTH.
    pub const AUTH_KEY: u16 = 0x800;
    /// Another message follows in the same record.
    pub const MORE: u16 = 0x1000;
}

/// The header of a record, 64 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// What the record is.
    pub kind: Kind,
    /// [`flags`].
    pub flags: u16,
    /// Bytes of data after this header.
    pub length: u32,
    /// The association.
    pub association: i32,
    /// The stream.
    pub stream: u16,
    /// The stream sequence number.
    pub ssn: u16,
    /// The PPID as the program gave it.
    pub ppid: u32,
    /// `sinfo_context`.
    pub context: u32,
    /// TSN of a received message. In a record of kind `Hello` or `Accepted`, this field and the next
    /// one have the cookie of the program's end.
    pub tsn: u32,
    /// Cumulative TSN of a received message.
    pub cumulative_tsn: u32,
    /// In user data of a program: value of the PR-SCTP policy. In a received message: length of the next
    /// message, or 0 if not known. In a record of kind `Failure`: the errno; `Accepted`: the switches of
    /// the new socket; `Hello`: the domain of the socket, or the errno (0 for success) of the answer.
    pub value: u32,
    /// PR-SCTP policy as in `sinfo_flags`; in a record of kind `Hello`, the type of the socket.
    pub policy: u16,
    /// Number of the key for AUTH.
    pub auth_key: u16,
    /// SCTP port of the peer.
    pub port: u16,
    /// Family of the address: 4, 6, or 0 without an address.
    pub family: u8,
    /// Address, of which IPv4 uses the first four bytes.
    pub address: [u8; 16],
}

impl Header {
    /// Bytes of a header.
    pub const LEN: usize = 64;

    /// A header of this kind, with all other fields zero.
    pub const fn new(kind: Kind) -> Self {
        Header {
            kind,
            flags: 0,
            length: 0,
            association: 0,
            stream: 0,
            ssn: 0,
            ppid: 0,
            context: 0,
            tsn: 0,
            cumulative_tsn: 0,
            value: 0,
            policy: 0,
            auth_key: 0,
            port: 0,
            family: 0,
            address: [0; 16],
        }
    }

    /// The cookie in the two fields of TSNs.
    pub fn cookie(&self) -> u64 {
        u64::from(self.tsn) | u64::from(self.cumulative_tsn) << 32
    }

    /// Sets the cookie.
    pub fn set_cookie(&mut self, cookie: u64) {
        (self.tsn, self.cumulative_tsn) = (cookie as u32, (cookie >> 32) as u32);
    }

    /// The bytes of the header.
    pub fn to_bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        let mut put = |at: usize, field: &[u8]| bytes[at..at + field.len()].copy_from_slice(field);
        put(0, &MAGIC.to_ne_bytes());
        put(4, &(self.kind as u16).to_ne_bytes());
        put(6, &self.flags.to_ne_bytes());
        put(8, &self.length.to_ne_bytes());
        put(12, &self.association.to_ne_bytes());
        put(16, &self.stream.to_ne_bytes());
        put(18, &self.ssn.to_ne_bytes());
        put(20, &self.ppid.to_ne_bytes());
        put(24, &self.context.to_ne_bytes());
        put(28, &self.tsn.to_ne_bytes());
        put(32, &self.cumulative_tsn.to_ne_bytes());
        put(36, &self.value.to_ne_bytes());
        put(40, &self.policy.to_ne_bytes());
        put(42, &self.auth_key.to_ne_bytes());
        put(44, &self.port.to_ne_bytes());
        put(46, &[self.family]);
        put(48, &self.address);
        bytes
    }

    /// Reads a header at the beginning of a record; `None` if the bytes are no header.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let u16_at = |at| array(bytes, at).map(u16::from_ne_bytes);
        let u32_at = |at| array(bytes, at).map(u32::from_ne_bytes);
        if u32_at(0)? != MAGIC {
            return None;
        }
        let kind = match u16_at(4)? {
            1 => Kind::Data,
            2 => Kind::Notification,
            3 => Kind::Accepted,
            4 => Kind::Ballast,
            5 => Kind::Failure,
            6 => Kind::Hello,
            _ => return None,
        };
        Some(Header {
            kind,
            flags: u16_at(6)?,
            length: u32_at(8)?,
            association: u32_at(12)?.cast_signed(),
            stream: u16_at(16)?,
            ssn: u16_at(18)?,
            ppid: u32_at(20)?,
            context: u32_at(24)?,
            tsn: u32_at(28)?,
            cumulative_tsn: u32_at(32)?,
            value: u32_at(36)?,
            policy: u16_at(40)?,
            auth_key: u16_at(42)?,
            port: u16_at(44)?,
            family: *bytes.get(46)?,
            address: array(bytes, 48)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn a_data_record_has_the_documented_bytes() {
        let mut header = Header::new(Kind::Data);
        header.flags = flags::END;
        (header.length, header.association, header.stream) = (5, 3, 3);
        header.ppid = 46_u32.to_be();
        let bytes = header.to_bytes();
        let expected =
            [0x41, 0x4e, 0x42, 0x31, 1, 0, 2, 0, 5, 0, 0, 0, 3, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0x2e];
        assert_eq!(bytes[..24], expected);
        assert_eq!(bytes[24..], [0; 40]);
        assert_eq!(Header::parse(&bytes), Some(header));
    }

    #[test]
    fn each_field_survives_and_short_or_foreign_bytes_are_no_header() {
        let mut header = Header {
            flags: 1,
            length: 2,
            association: -3,
            stream: 4,
            ssn: 5,
            ppid: 6,
            context: 7,
            value: 8,
            policy: 9,
            auth_key: 12,
            port: 10,
            family: 6,
            address: [11; 16],
            ..Header::new(Kind::Failure)
        };
        header.set_cookie(0x0123_4567_89ab_cdef);
        let bytes = header.to_bytes();
        assert_eq!(Header::parse(&bytes), Some(header));
        assert_eq!(header.cookie(), 0x0123_4567_89ab_cdef);
        assert_eq!(Header::parse(&bytes[..63]), None);
        for at in [0, 4] {
            let mut other = bytes;
            other[at] = 0xff;
            assert_eq!(Header::parse(&other), None);
        }
    }
}
