//! Packets: common header, parser, writer.

mod header;
mod parse;
mod writer;

pub use header::CommonHeader;
pub use parse::{Chunks, Packet, PacketError};
pub use writer::PacketWriter;
