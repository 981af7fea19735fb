//! Helpers for the tests of chunks, parameters and causes.

use crate::chunk::{Chunk, ChunkError, Encode};
use crate::packet::{CommonHeader, PacketWriter};
use transport::{Octets, PacketBuf};

/// Decodes hexadecimal digits. Blanks are ignored.
pub(crate) fn hex(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

/// Decodes bytes that are one chunk with its padding.
pub(crate) fn decode(bytes: &[u8]) -> Result<Chunk<'_>, ChunkError> {
    Chunk::split_first(Octets::from(bytes)).map(|(chunk, rest)| {
        assert!(rest.is_empty(), "{} bytes after the chunk", rest.len());
        chunk
    })
}

/// Encodes a chunk with its padding.
pub(crate) fn encode(chunk: &impl Encode) -> Vec<u8> {
    let mut buf = PacketBuf::default();
    let mut writer = PacketWriter::new(&mut buf, ANY_HEADER, 1500);
    assert!(writer.push(chunk));
    buf.as_octets().to_vec().split_off(CommonHeader::LEN)
}

pub(crate) const ANY_HEADER: CommonHeader =
    CommonHeader { source_port: 5000, destination_port: 9, verification_tag: 0x0bad_cafe };
