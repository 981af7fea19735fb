//! Decodes any bytes as a packet, encodes the decoded chunks, and decodes the result again.
//!
//! The first byte of the input is the number of zeros after the packet that are not stored.
#![no_main]

use libfuzzer_sys::fuzz_target;
use transport::{Checksum, Octets, PacketBuf};
use wire::{Cause, CauseList, Causes, Chunk, CommonHeader, Packet, PacketWriter, ParameterList, Parameters};

fuzz_target!(|input: &[u8]| {
    let Some((&zeros, bytes)) = input.split_first() else { return };
    let octets = Octets::new(bytes, usize::from(zeros));
    let _ = Packet::parse(octets, Checksum::Computed);
    if let Ok(packet) = Packet::parse(octets, Checksum::Offloaded) {
        packet.chunks().flatten().for_each(|chunk| check(packet.header, chunk));
    }
});

fn check(header: CommonHeader, chunk: Chunk<'_>) {
    let mut buf = PacketBuf::default();
    let mut writer = PacketWriter::new(&mut buf, header, 1 << 17);
    if !writer.push(&chunk) {
        return; // The few lengths whose padding would end past 65,535.
    }
    writer.finish(Checksum::Computed);
    let again = Packet::parse(buf.as_octets(), Checksum::Computed).expect("our own packet");
    assert!(again.header == header && again.chunks().eq([Ok(chunk)]), "{chunk:?}");
    match chunk {
        Chunk::Init(init) => check_parameters(init.parameters),
        Chunk::InitAck(ack) => check_parameters(ack.0.parameters),
        Chunk::Abort(abort) => check_causes(abort.causes),
        Chunk::Error(error) => check_causes(error.causes),
        Chunk::Sack(sack) => {
            sack.gap_blocks().zip(sack.duplicates()).for_each(drop);
        }
        Chunk::NrSack(sack) => {
            sack.gap_blocks().chain(sack.nr_gap_blocks()).zip(sack.duplicates()).for_each(drop);
        }
        Chunk::ForwardTsn(forward) => forward.skips().for_each(drop),
        Chunk::IForwardTsn(forward) => forward.skipped().for_each(drop),
        Chunk::Asconf(asconf) => asconf.requests.iter().for_each(drop),
        Chunk::AsconfAck(ack) => ack.responses.iter().for_each(drop),
        Chunk::LedbatControl(control) => control.delays().for_each(drop),
        _ => {}
    }
}

fn check_parameters(parameters: Parameters<'_>) {
    let mut list = ParameterList::new();
    let good = parameters.iter().flatten().filter(|parameter| list.push(parameter)).count();
    let again = list.as_parameters();
    assert_eq!(again.iter().filter(Result::is_ok).count(), good);
    assert!(again.iter().eq(parameters.iter().filter(Result::is_ok)), "{parameters:?}");
}

fn check_causes(causes: Causes<'_>) {
    let mut list = CauseList::new();
    for cause in causes.iter().flatten() {
        assert!(list.push(&cause));
        if let Cause::UnrecognizedParameters(inner) | Cause::RestartWithNewAddresses(inner) = cause {
            check_parameters(inner);
        }
    }
    assert!(list.as_causes().iter().eq(causes.iter().filter(Result::is_ok)), "{causes:?}");
}
