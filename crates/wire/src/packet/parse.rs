use super::CommonHeader;
use crate::checksum::{Checksum, crc32c};
use crate::chunk::{Chunk, ChunkError};
use crate::octets::Octets;

/// A packet whose common header has been read; its chunks are read one by one.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// The common header.
    pub header: CommonHeader,
    body: Octets<'a>,
}

/// Why bytes are no packet at all. Such bytes are discarded silently (rfc9260#section-6.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PacketError {
    /// Shorter than the common header.
    #[error("a packet of {0} bytes is shorter than the common header")]
    TooShort(usize),
    /// The bytes were damaged on the way.
    #[error("the checksum is {found:#010x}, the bytes give {computed:#010x}")]
    BadChecksum {
        /// The checksum the packet carries.
        found: u32,
        /// The checksum its bytes have.
        computed: u32,
    },
}

impl<'a> Packet<'a> {
    /// Reads the common header and, if it is ours to do, checks the checksum.
    ///
    /// # Errors
    /// [`PacketError`]; chunks are not looked at yet, so their faults are no error here.
    #[inline]
    pub fn parse(bytes: Octets<'a>, checksum: Checksum) -> Result<Packet<'a>, PacketError> {
        let fixed = bytes.first_chunk().ok_or(PacketError::TooShort(bytes.len()))?;
        let (header, found) = CommonHeader::decode(&fixed);
        if checksum == Checksum::Computed {
            let computed = crc32c(bytes);
            if computed != found {
                return Err(PacketError::BadChecksum { found, computed });
            }
        }
        let (_, body) = bytes.split_at(CommonHeader::LEN);
        Ok(Packet { header, body })
    }

    /// The chunks in order.
    #[inline]
    pub fn chunks(&self) -> Chunks<'a> {
        Chunks { rest: self.body }
    }
}

/// The chunks of a packet. After an error it ends: where the next chunk would begin is not known.
#[derive(Clone, Debug)]
pub struct Chunks<'a> {
    rest: Octets<'a>,
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Result<Chunk<'a>, ChunkError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        match Chunk::split_first(self.rest) {
            Ok((chunk, rest)) => {
                self.rest = rest;
                Some(Ok(chunk))
            }
            Err(error) => {
                self.rest = Octets::default();
                Some(Err(error))
            }
        }
    }
}

impl std::iter::FusedIterator for Chunks<'_> {}
