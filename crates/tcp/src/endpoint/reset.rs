use crate::conn::Ends;
use crate::segment::{Flags, Header, Options, Segment, seal};
use crate::sequence::Seq;
use std::net::IpAddr;
use transport::{Checksum, PacketBuf};

/// A pending segment that belongs to no connection: a reset, or a SYN ACK with a cookie.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) src: IpAddr,
    pub(super) dst: IpAddr,
    pub(super) packet: PacketBuf,
}

/// The answer to a segment that belongs to no connection (`rfc9293#section-3.10.7.1`); `None` if the
/// segment is a reset.
pub(super) fn answer(segment: &Segment<'_>, ends: Ends, checksum: Checksum) -> Option<Reply> {
    let their = &segment.header;
    if their.flags.has(Flags::RST) {
        return None;
    }
    let (seq, ack, flags) = if their.flags.has(Flags::ACK) {
        (their.ack, Seq(0), Flags::RST)
    } else {
        (Seq(0), their.seq.add(segment.sequence_len()), Flags::RST | Flags::ACK)
    };
    let header = Header {
        source_port: their.destination_port,
        destination_port: their.source_port,
        seq,
        ack,
        flags,
        window: 0,
        urgent: 0,
    };
    let mut packet = PacketBuf::default();
    header.write(&mut packet, &Options::default());
    seal(&mut packet, ends.local, ends.remote, checksum);
    Some(Reply { src: ends.local, dst: ends.remote, packet })
}
