use transport::{Checksum, PacketBuf};
use wire::{Chunk, CommonHeader, Packet, PacketWriter};

/// Builds a packet of the given chunks, with its checksum.
///
/// # Panics
/// If the chunks do not fit 64 KB.
pub fn packet(
    source_port: u16,
    destination_port: u16,
    verification_tag: u32,
    chunks: &[Chunk<'_>],
) -> PacketBuf {
    let mut buf = PacketBuf::default();
    let header = CommonHeader { source_port, destination_port, verification_tag };
    let mut w = PacketWriter::new(&mut buf, header, 65_535);
    for chunk in chunks {
        assert!(w.push(chunk), "no room for {chunk:?}");
    }
    w.finish(Checksum::Computed);
    buf
}

/// The common header of a packet.
///
/// # Panics
/// If the bytes are not an SCTP packet.
pub fn header(bytes: &PacketBuf) -> CommonHeader {
    parse(bytes).header
}

/// Parses a packet.
///
/// # Panics
/// If the bytes are not an SCTP packet.
pub fn parse(bytes: &PacketBuf) -> Packet<'_> {
    Packet::parse(bytes.as_octets(), Checksum::Computed).expect("a packet")
}

/// The names of the chunks of a packet, as in `"COOKIE_ECHO DATA"`. The names of some flags follow the name
/// of their chunk.
pub fn describe(bytes: &PacketBuf) -> String {
    let names: Vec<&str> = parse(bytes)
        .chunks()
        .map(|chunk| match chunk.expect("a chunk") {
            Chunk::Data(_) => "DATA",
            Chunk::IData(_) => "I_DATA",
            Chunk::Init(_) => "INIT",
            Chunk::InitAck(_) => "INIT_ACK",
            Chunk::Sack(_) => "SACK",
            Chunk::NrSack(_) => "NR_SACK",
            Chunk::Heartbeat(_) => "HEARTBEAT",
            Chunk::HeartbeatAck(_) => "HEARTBEAT_ACK",
            Chunk::Abort(abort) if abort.reflected_tag => "ABORT/T",
            Chunk::Abort(_) => "ABORT",
            Chunk::Shutdown(_) => "SHUTDOWN",
            Chunk::ShutdownAck(_) => "SHUTDOWN_ACK",
            Chunk::Error(_) => "ERROR",
            Chunk::CookieEcho(_) => "COOKIE_ECHO",
            Chunk::CookieAck(_) => "COOKIE_ACK",
            Chunk::ShutdownComplete(complete) if complete.reflected_tag => "SHUTDOWN_COMPLETE/T",
            Chunk::ShutdownComplete(_) => "SHUTDOWN_COMPLETE",
            Chunk::LedbatControl(_) => "LEDBAT_CONTROL",
            Chunk::Timestamp(_) => "TIMESTAMP",
            Chunk::PathStatus(_) => "PATH_STATUS",
            Chunk::ForwardTsn(_) => "FORWARD_TSN",
            Chunk::IForwardTsn(_) => "I_FORWARD_TSN",
            Chunk::Pad(_) => "PAD",
            Chunk::Auth(_) => "AUTH",
            Chunk::Asconf(_) => "ASCONF",
            Chunk::AsconfAck(_) => "ASCONF_ACK",
            Chunk::Ecne(_) => "ECNE",
            Chunk::Cwr(_) => "CWR",
            Chunk::PacketDrop(_) => "PKTDROP",
            Chunk::ReConfig(_) => "RE_CONFIG",
            Chunk::Unknown(_) => "UNKNOWN",
        })
        .collect();
    names.join(" ")
}

/// The error causes in the ABORT and ERROR chunks of a packet, as text.
pub fn causes(bytes: &PacketBuf) -> Vec<String> {
    let mut all = Vec::new();
    for chunk in parse(bytes).chunks() {
        let causes = match chunk {
            Ok(Chunk::Abort(abort)) => abort.causes,
            Ok(Chunk::Error(error)) => error.causes,
            _ => continue,
        };
        all.extend(causes.iter().map(|cause| format!("{:?}", cause.expect("a cause"))));
    }
    all
}
