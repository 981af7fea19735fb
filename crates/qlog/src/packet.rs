//! The chunks of a packet as JSON.

use crate::json::{Object, array, number, object};
use transport::{Checksum, Octets};
use wire::{Chunk, DataFlags, GapBlock, Packet, Tsn};

/// Adds the length of a packet and its chunks. For a packet with only DATA and SACK chunks no length is
/// written, since the lengths of the chunks give it.
pub(crate) fn describe(data: &mut Object<'_>, packet: Octets<'_>) {
    let Ok(parsed) = Packet::parse(packet, Checksum::Offloaded) else { return };
    let mut chunks = parsed.chunks();
    let plain = |chunk: &Result<Chunk<'_>, _>| {
        matches!(chunk, Ok(Chunk::Data(_) | Chunk::IData(_) | Chunk::Sack(_) | Chunk::NrSack(_)))
    };
    if !parsed.chunks().all(|chunk| plain(&chunk)) {
        data.object("raw", |raw| raw.number("length", packet.len() as u64));
    }
    let chunks = std::iter::from_fn(|| chunks.next()?.ok());
    data.array("chunks", chunks, |out, chunk| object(out, |members| members_of(members, &chunk)));
}

fn members_of(members: &mut Object<'_>, chunk: &Chunk<'_>) {
    // Most chunks are DATA, so only others name their type.
    if !matches!(chunk, Chunk::Data(_)) {
        members.text("chunk_type", name(chunk));
    }
    match chunk {
        Chunk::Data(data) => {
            members.number("tsn", data.tsn.0);
            stream(members, data.stream.0, data.flags);
            if !data.flags.unordered {
                members.number("ssn", data.ssn.0);
            }
            members.number("length", data.payload.len() as u64);
        }
        Chunk::IData(data) => {
            members.number("tsn", data.tsn.0);
            stream(members, data.stream.0, data.flags);
            members.number("mid", data.mid.0);
            if !data.flags.beginning {
                members.number("fsn", data.fsn);
            }
            members.number("length", data.payload.len() as u64);
        }
        Chunk::Sack(sack) => {
            acknowledgement(members, sack.cumulative_tsn_ack, sack.a_rwnd);
            blocks(members, "gaps", sack.gap_blocks());
            duplicates(members, sack.duplicates());
        }
        Chunk::NrSack(sack) => {
            acknowledgement(members, sack.cumulative_tsn_ack, sack.a_rwnd);
            blocks(members, "gaps", sack.gap_blocks());
            blocks(members, "nr_gaps", sack.nr_gap_blocks());
            duplicates(members, sack.duplicates());
        }
        Chunk::Init(init) => {
            members.number("initiate_tag", init.initiate_tag);
            members.number("rwnd", init.a_rwnd);
            members.number("outbound_streams", init.outbound_streams);
            members.number("inbound_streams", init.inbound_streams);
            members.number("initial_tsn", init.initial_tsn.0);
        }
        Chunk::InitAck(ack) => {
            members.number("initiate_tag", ack.0.initiate_tag);
            members.number("rwnd", ack.0.a_rwnd);
            members.number("outbound_streams", ack.0.outbound_streams);
            members.number("inbound_streams", ack.0.inbound_streams);
            members.number("initial_tsn", ack.0.initial_tsn.0);
        }
        Chunk::Shutdown(shutdown) => members.number("cum_tsn", shutdown.cumulative_tsn_ack.0),
        Chunk::ForwardTsn(forward) => members.number("new_cum_tsn", forward.new_cumulative_tsn.0),
        Chunk::IForwardTsn(forward) => members.number("new_cum_tsn", forward.new_cumulative_tsn.0),
        Chunk::Unknown(unknown) => members.number("type", unknown.chunk_type),
        _ => {}
    }
}

/// The stream, unless it is stream 0, and the flags, unless the chunk is a whole message in order.
fn stream(members: &mut Object<'_>, stream: u16, flags: DataFlags) {
    if stream != 0 {
        members.number("stream_id", stream);
    }
    let DataFlags { unordered, beginning, ending, immediate } = flags;
    if (unordered, beginning, ending, immediate) != (false, true, true, false) {
        let letters = [(immediate, 'I'), (unordered, 'U'), (beginning, 'B'), (ending, 'E')];
        let set: String = letters.iter().filter(|(on, _)| *on).map(|(_, letter)| letter).collect();
        members.text("flags", &set);
    }
}

fn acknowledgement(members: &mut Object<'_>, cumulative: Tsn, a_rwnd: u32) {
    members.number("cum_tsn", cumulative.0);
    members.number("rwnd", a_rwnd);
}

/// Gap ack blocks, as offsets from the cumulative TSN.
fn blocks(members: &mut Object<'_>, key: &str, blocks: impl ExactSizeIterator<Item = GapBlock>) {
    if blocks.len() > 0 {
        members.array(key, blocks, |out, block| {
            array(out, [block.start, block.end], |out, end| number(out, end.into()))
        });
    }
}

fn duplicates(members: &mut Object<'_>, duplicates: impl ExactSizeIterator<Item = Tsn>) {
    if duplicates.len() > 0 {
        members.array("dups", duplicates, |out, tsn| number(out, tsn.0.into()));
    }
}

const fn name(chunk: &Chunk<'_>) -> &'static str {
    match chunk {
        Chunk::Data(_) => "data",
        Chunk::IData(_) => "i_data",
        Chunk::Init(_) => "init",
        Chunk::InitAck(_) => "init_ack",
        Chunk::Sack(_) => "sack",
        Chunk::NrSack(_) => "nr_sack",
        Chunk::Heartbeat(_) => "heartbeat",
        Chunk::HeartbeatAck(_) => "heartbeat_ack",
        Chunk::Abort(_) => "abort",
        Chunk::Shutdown(_) => "shutdown",
        Chunk::ShutdownAck(_) => "shutdown_ack",
        Chunk::Error(_) => "error",
        Chunk::CookieEcho(_) => "cookie_echo",
        Chunk::CookieAck(_) => "cookie_ack",
        Chunk::ShutdownComplete(_) => "shutdown_complete",
        Chunk::LedbatControl(_) => "ledbat_control",
        Chunk::Timestamp(_) => "timestamp",
        Chunk::PathStatus(_) => "path_status",
        Chunk::ForwardTsn(_) => "forward_tsn",
        Chunk::IForwardTsn(_) => "i_forward_tsn",
        Chunk::Pad(_) => "pad",
        Chunk::Auth(_) => "auth",
        Chunk::Asconf(_) => "asconf",
        Chunk::AsconfAck(_) => "asconf_ack",
        Chunk::Ecne(_) => "ecne",
        Chunk::Cwr(_) => "cwr",
        Chunk::PacketDrop(_) => "packet_drop",
        Chunk::ReConfig(_) => "re_config",
        Chunk::Unknown(_) => "unknown",
    }
}
