//! Forges packets for an endpoint: changed packets of the peer, and new packets with the correct verification
//! tag.

use super::Tape;
use transport::{Checksum, Octets, PacketBuf};
use wire::*;

/// The values of an association that an attacker on the path knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Secrets {
    /// Common header of packets to the attacked endpoint.
    pub(super) header: CommonHeader,
    /// Approximately the next TSN that the attacked endpoint expects.
    pub(super) theirs: Tsn,
    /// Approximately the next TSN that the attacked endpoint sends.
    pub(super) ours: Tsn,
}

/// A copy of a packet in which some bytes are changed, removed or repeated.
pub(super) fn change(tape: &mut Tape<'_>, packet: &PacketBuf) -> PacketBuf {
    let mut bytes = packet.as_octets().to_vec();
    for _ in 0..tape.between(1, 4) {
        let at = tape.below(bytes.len().max(1) as u64) as usize;
        match tape.below(4) {
            0 if at < bytes.len() => bytes[at] = tape.byte(),
            1 if at < bytes.len() => bytes[at] ^= 1 << tape.below(8),
            2 => bytes.truncate(at.max(CommonHeader::LEN)),
            _ => {
                let from = CommonHeader::LEN.min(bytes.len());
                let chunks = bytes[from..].to_vec();
                bytes.extend(chunks.into_iter().take(2_000));
            }
        }
    }
    let mut changed = PacketBuf::default();
    changed.head.extend_from_slice(&bytes);
    changed
}

/// A forged packet of one to three chunks of random types.
pub(super) fn packet(tape: &mut Tape<'_>, secrets: &Secrets) -> PacketBuf {
    let mut buf = PacketBuf::default();
    let mut header = secrets.header;
    if tape.once_in(8) {
        header.verification_tag = tape.pick(&[0, 1, header.verification_tag ^ 1]);
    }
    let mut w = PacketWriter::new(&mut buf, header, 65_535);
    for _ in 0..tape.between(1, 3) {
        chunk(tape, secrets, &mut w);
    }
    w.finish(Checksum::Offloaded);
    buf
}

fn chunk(tape: &mut Tape<'_>, secrets: &Secrets, w: &mut PacketWriter<'_>) {
    match tape.below(16) {
        0..=2 => data(tape, secrets, w),
        3..=5 => sack(tape, secrets, w),
        6 => init(tape, w),
        7 => drop(w.push(&Heartbeat { info: tape.take(40) })),
        8 => drop(w.push(&HeartbeatAck { info: tape.take(12) })),
        9 => drop(w.push(&CookieEcho { cookie: tape.take(60) })),
        10 => {
            let cum = near(tape, secrets.ours);
            w.push(&Shutdown { cumulative_tsn_ack: cum });
        }
        11 => match tape.below(4) {
            0 => drop(w.push(&ShutdownAck)),
            1 => drop(w.push(&CookieAck)),
            2 => drop(w.push(&ShutdownComplete { reflected_tag: tape.flag() })),
            _ => {
                let word = tape.word();
                let status = PathStatus { cost: word as u16, heartbeat_interval: (word >> 16) as u16 };
                match word % 2 {
                    0 => drop(w.push(&Timestamp { micros: u64::from(word) })),
                    _ => drop(w.push(&status)),
                }
            }
        },
        12 => {
            let causes = Causes::from_bytes(tape.take(24));
            if tape.once_in(4) {
                w.push(&Abort { reflected_tag: tape.flag(), causes });
            } else {
                w.push(&OperationError { causes });
            }
        }
        13 => {
            let delays: Vec<_> = (0..tape.below(5))
                .map(|_| PacketDelay { tsn: near(tape, secrets.ours), micros: i64::from(tape.word() as i32) })
                .collect();
            w.ledbat_control(&delays);
        }
        14 => notice(tape, secrets, w),
        _ => {
            let mut bytes = vec![tape.byte(), tape.byte(), 0, 0];
            if bytes[0] % 4 == 2 {
                return re_config(tape, secrets, w);
            }
            bytes.extend_from_slice(tape.take(30));
            let length = (bytes.len() as u16).to_be_bytes();
            bytes[2..4].copy_from_slice(&length);
            w.push(&UnknownChunk { chunk_type: bytes[0], bytes: bytes.as_slice().into() });
        }
    }
}

/// Writes an ECNE, a CWR, or the report of a dropped packet that may contain DATA of the attacked endpoint.
fn notice(tape: &mut Tape<'_>, secrets: &Secrets, w: &mut PacketWriter<'_>) {
    let tsn = near(tape, secrets.ours);
    match tape.below(4) {
        0 => drop(w.push(&Ecne { lowest_tsn: tsn, packets: tape.word() })),
        1 => drop(w.push(&Cwr {
            all_paths: tape.flag(),
            same_window: tape.flag(),
            tsn: near(tape, secrets.theirs),
        })),
        _ => {
            let mut packet = vec![0; CommonHeader::LEN];
            for _ in 0..tape.below(3) {
                packet.extend([tape.pick(&[0, 3, 4, 5, 7, 8, 10]), 3, 0, 60]);
                packet.extend(near(tape, secrets.ours).0.to_be_bytes());
                packet.resize(packet.len() + 52, 0);
            }
            w.push(&PacketDrop {
                from_middlebox: tape.flag(),
                bad_checksum: tape.flag(),
                truncated: tape.flag(),
                max_rate: tape.pick(&[0, 1, 100_000, u32::MAX]),
                on_queue: tape.pick(&[0, 1, 100_000, u32::MAX]),
                truncated_length: 0,
                packet: &packet,
            });
        }
    }
}

/// Writes requests to reset and add streams, and answers to such requests.
fn re_config(tape: &mut Tape<'_>, secrets: &Secrets, w: &mut PacketWriter<'_>) {
    let mut list = ReConfigList::default();
    for _ in 0..tape.between(1, 2) {
        let (request, response) = (near(tape, secrets.theirs).0, near(tape, secrets.ours).0);
        let numbers: Vec<_> = tape.take(4).iter().map(|&stream| [0, stream % 6]).collect();
        let streams = StreamNumbers::new(&numbers);
        list.push(&match tape.below(7) {
            0 | 1 => {
                let last_tsn = near(tape, secrets.theirs);
                ReConfigParameter::OutgoingReset { request, response, last_tsn, streams }
            }
            2 => ReConfigParameter::IncomingReset { request, streams },
            3 => ReConfigParameter::AssociationReset { request },
            4 => ReConfigParameter::AddOutgoing { request, streams: tape.word() as u16 },
            5 => ReConfigParameter::AddIncoming { request, streams: tape.word() as u16 },
            _ => ReConfigParameter::Response {
                response,
                result: tape.pick(&[
                    ReConfigResult::NothingToDo,
                    ReConfigResult::Performed,
                    ReConfigResult::Denied,
                    ReConfigResult::RequestInProgress,
                    ReConfigResult::InProgress,
                ]),
                next_tsns: tape.flag().then(|| (near(tape, secrets.theirs), near(tape, secrets.ours))),
            },
        });
    }
    w.push(&ReConfig { bytes: list.as_bytes() });
}

fn data(tape: &mut Tape<'_>, secrets: &Secrets, w: &mut PacketWriter<'_>) {
    let bits = tape.byte();
    let flags = DataFlags::from_bits(bits);
    let tsn = near(tape, secrets.theirs);
    let stream = StreamId(if tape.once_in(8) { tape.word() as u16 } else { tape.below(4) as u16 });
    let ssn = Ssn(if tape.once_in(8) { tape.word() as u16 } else { tape.below(6) as u16 });
    let length = if tape.once_in(4) { tape.below(1400) } else { tape.below(40) } as usize;
    let payload = Octets::new(&[], length);
    // The two highest bits choose the chunk: I-DATA if both are set, otherwise DATA.
    if bits & 0xc0 == 0xc0 {
        let fsn = if flags.beginning { 0 } else { u32::from(bits >> 4 & 3) };
        w.push(&IData { flags, tsn, stream, mid: Mid(ssn.0.into()), ppid: Ppid(0), fsn, payload });
    } else {
        w.data(&Data { flags, tsn, stream, ssn, ppid: Ppid(7), payload });
    }
}

fn sack(tape: &mut Tape<'_>, secrets: &Secrets, w: &mut PacketWriter<'_>) {
    let cum = near(tape, secrets.ours);
    let window = tape.pick(&[0, 1, 1500, 100_000, u32::MAX]);
    let mut at = 0u16;
    let blocks: Vec<_> = (0..tape.below(6))
        .map(|_| {
            let start = at.wrapping_add(tape.below(5) as u16);
            at = start.wrapping_add(if tape.once_in(10) { tape.word() as u16 } else { tape.below(4) as u16 });
            GapBlock { start, end: at }
        })
        .collect();
    let duplicates: Vec<_> = (0..tape.below(3)).map(|_| near(tape, secrets.ours)).collect();
    if tape.once_in(3) {
        let (gaps, nr_gaps) = blocks.split_at(blocks.len() / 2);
        w.nr_sack(cum, window, tape.byte() & 3, gaps, nr_gaps, &duplicates);
    } else {
        w.sack(cum, window, tape.byte() & 3, blocks.iter().copied(), &duplicates);
    }
}

fn init(tape: &mut Tape<'_>, w: &mut PacketWriter<'_>) {
    let mut parameters = ParameterList::new();
    for _ in 0..tape.below(4) {
        let [net, host] = [tape.below(4) as u8, tape.below(3) as u8];
        parameters.push(&Parameter::Ipv4([10, net, 0, host].into()));
    }
    if tape.flag() {
        parameters.push(&Parameter::StateCookie(tape.take(20)));
    }
    let init = Init {
        initiate_tag: tape.word(),
        a_rwnd: tape.pick(&[0, 1500, 100_000]),
        outbound_streams: tape.below(5) as u16,
        inbound_streams: tape.below(5) as u16,
        initial_tsn: Tsn(tape.word()),
        parameters: parameters.as_parameters(),
    };
    if tape.flag() {
        w.push(&init)
    } else {
        w.push(&InitAck(init))
    };
}

/// A TSN near `tsn`, or a random one.
fn near(tape: &mut Tape<'_>, tsn: Tsn) -> Tsn {
    if tape.once_in(16) { Tsn(tape.word()) } else { tsn.add(tape.below(24) as u32).add(0u32.wrapping_sub(8)) }
}
