//! The chunks of a packet as JSON.

use crate::json::{Object, number, object, signed};
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
    // Most chunks are DATA or SACK. A reader recognises these by their
    // fields, so only chunks of other types have the field for the type.
    if !matches!(chunk, Chunk::Data(_) | Chunk::Sack(_) | Chunk::NrSack(_)) {
        members.text("chunk_type", name(chunk));
    }
    match chunk {
        Chunk::Data(data) => {
            members.number("tsn", data.tsn.0);
            // A reader recognises an unordered chunk by its missing SSN, so the flag is not written.
            stream(members, data.stream.0, DataFlags { unordered: false, ..data.flags });
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
            members.number("sack", sack.cumulative_tsn_ack.0);
            members.number("rwnd", sack.a_rwnd);
            blocks(members, "gaps", sack.gap_blocks());
            duplicates(members, sack.duplicates());
        }
        Chunk::NrSack(sack) => {
            members.number("nr_sack", sack.cumulative_tsn_ack.0);
            members.number("rwnd", sack.a_rwnd);
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

/// Gap ack blocks as runs after the cumulative TSN: how many TSNs are missing, how many have arrived, and so
/// on. A peer may send blocks that overlap; then a number is negative.
fn blocks(members: &mut Object<'_>, key: &str, blocks: impl ExactSizeIterator<Item = GapBlock>) {
    if blocks.len() > 0 {
        let mut last = 0;
        let runs = blocks.flat_map(|block| {
            let [start, end] = [block.start, block.end].map(i64::from);
            let missing = start - last - 1;
            last = end;
            [missing, end + 1 - start]
        });
        members.array(key, runs, signed);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_written_for_fragments_only_and_unordered_data_has_no_ssn() {
        let shown = |bits, payload: &[u8]| {
            let (stream, ppid) = (wire::StreamId(0), wire::Ppid(0));
            let flags = DataFlags::from_bits(bits);
            let chunk =
                wire::Data { flags, tsn: Tsn(7), stream, ssn: wire::Ssn(3), ppid, payload: payload.into() };
            let mut out = Vec::new();
            object(&mut out, |members| members_of(members, &Chunk::Data(chunk)));
            String::from_utf8(out).unwrap()
        };
        assert_eq!(shown(0b0011, b"abc"), r#"{"tsn":7,"ssn":3,"length":3}"#);
        assert_eq!(shown(0b0111, b"abc"), r#"{"tsn":7,"length":3}"#);
        assert_eq!(shown(0b0110, b"abc"), r#"{"tsn":7,"flags":"B","length":3}"#);
        assert_eq!(shown(0b1001, b"abc"), r#"{"tsn":7,"flags":"IE","ssn":3,"length":3}"#);
    }

    #[test]
    fn gaps_are_runs_of_missing_and_arrived_tsns_and_overlaps_are_negative() {
        let shown = |list: &[(u16, u16)]| {
            let mut out = Vec::new();
            let list = list.iter().map(|&(start, end)| GapBlock { start, end });
            object(&mut out, |members| blocks(members, "gaps", list));
            String::from_utf8(out).unwrap()
        };
        assert_eq!(shown(&[(2, 3), (5, 5), (1000, 65_535)]), r#"{"gaps":[1,2,1,1,994,64536]}"#);
        assert_eq!(shown(&[(0, 9), (4, 2)]), r#"{"gaps":[-1,10,-6,-1]}"#);
        assert_eq!(shown(&[]), "{}");
    }
}
