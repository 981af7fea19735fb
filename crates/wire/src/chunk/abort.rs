use super::{Encode, HEADER_LEN, T_BIT, header};
use crate::cause::Causes;
use transport::PacketBuf;

/// ABORT: the association ends at once (rfc9260#section-3.3.7).
///
/// ```text
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +---------------+-------------+-+-------------------------------+
/// |   type = 6    |  reserved   |T|            length             |
/// +---------------+-------------+-+-------------------------------+
/// \                         error causes                          \
/// +---------------------------------------------------------------+
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abort<'a> {
    /// T: the sender of this ABORT has no association, so the packet carries the verification tag of the
    /// packet that the ABORT answers (rfc9260#section-8.5.1).
    pub reflected_tag: bool,
    /// The causes of the abort; may be empty.
    pub causes: Causes<'a>,
}

impl<'a> Abort<'a> {
    /// The chunk type.
    pub const TYPE: u8 = 6;

    pub(super) fn decode(flags: u8, value: &'a [u8]) -> Self {
        Abort { reflected_tag: flags & T_BIT != 0, causes: Causes::from_bytes(value) }
    }
}

impl Encode for Abort<'_> {
    fn encoded_len(&self) -> usize {
        HEADER_LEN + self.causes.as_bytes().len()
    }

    fn encode(&self, out: &mut PacketBuf) {
        let flags = if self.reflected_tag { T_BIT } else { 0 };
        out.head.extend_from_slice(&header(Self::TYPE, flags, self.encoded_len()));
        out.head.extend_from_slice(self.causes.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause::{Cause, CauseList};
    use crate::chunk::Chunk;
    use crate::testing::{decode, encode, hex};

    #[test]
    fn captured_chunk_decodes_to_its_fields() {
        let bytes = hex("06 01 000f  000c 000b 676f6f64627965 00");
        let Ok(Chunk::Abort(abort)) = decode(&bytes) else { panic!("not ABORT") };
        assert!(abort.reflected_tag);
        assert!(abort.causes.iter().eq([Ok(Cause::UserInitiatedAbort(b"goodbye"))]));
        assert_eq!(encode(&abort), bytes);
    }

    #[test]
    fn encoding_and_decoding_returns_the_same_chunk() {
        let mut list = CauseList::new();
        assert!(list.push(&Cause::OutOfResource));
        for reflected_tag in [false, true] {
            for causes in [list.as_causes(), Causes::default()] {
                let abort = Abort { reflected_tag, causes };
                assert_eq!(decode(&encode(&abort)), Ok(Chunk::Abort(abort)));
            }
        }
    }
}
