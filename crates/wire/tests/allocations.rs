//! Decoding does not allocate. Encoding does not allocate once its buffer is large enough.

use anabranch_wire::{
    Cause, CauseList, Chunk, CommonHeader, Data, DataFlags, GapBlock, Init, OperationError, Packet,
    PacketDelay, PacketWriter, Parameter, ParameterList, Ppid, Ssn, StreamId, Tsn,
};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::hint::black_box;
use transport::{Checksum, Octets, PacketBuf};

thread_local! {
    static ALLOCATIONS: Cell<u32> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on to the system allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller fulfils the contract of this method, which is that of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(work: impl FnOnce()) -> u32 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

fn write(buf: &mut PacketBuf, init: Init<'_>, error: OperationError<'_>) {
    let header = CommonHeader { source_port: 1, destination_port: 2, verification_tag: 3 };
    let mut writer = PacketWriter::new(buf, header, 3000);
    let gaps: [GapBlock; 49] =
        std::array::from_fn(|i| GapBlock { start: 2 * i as u16 + 2, end: 2 * i as u16 + 2 });
    let payload = Octets::new(b"head", 1400);
    let flags = DataFlags::default();
    assert!(writer.sack(Tsn(1), 2, 3, gaps.into_iter(), &[Tsn(4)]));
    assert!(writer.nr_sack(Tsn(1), 2, 3, &gaps, &gaps, &[Tsn(4)]));
    assert!(writer.ledbat_control(&[PacketDelay { tsn: Tsn(5), micros: 6 }; 3]));
    assert!(writer.push(&init) && writer.push(&error));
    assert!(writer.data(&Data {
        flags,
        tsn: Tsn(5),
        stream: StreamId(0),
        ssn: Ssn(0),
        ppid: Ppid(0),
        payload
    }));
    writer.finish(Checksum::Computed);
}

fn read(buf: &PacketBuf) -> usize {
    let packet = Packet::parse(buf.as_octets(), Checksum::Computed).unwrap();
    let mut seen = 0;
    for chunk in packet.chunks() {
        seen += match chunk.unwrap() {
            Chunk::Sack(sack) => sack.gap_blocks().len() + sack.duplicates().len(),
            Chunk::NrSack(sack) => sack.gap_blocks().chain(sack.nr_gap_blocks()).count(),
            Chunk::LedbatControl(control) => control.delays().len(),
            Chunk::Init(init) => init.parameters.iter().filter(Result::is_ok).count(),
            Chunk::Error(error) => error.causes.iter().filter(Result::is_ok).count(),
            Chunk::Data(data) => data.payload.len(),
            other => panic!("never written: {other:?}"),
        };
    }
    seen
}

#[test]
fn a_packet_is_read_and_written_again_without_an_allocation() {
    let mut parameters = ParameterList::new();
    assert!(parameters.push(&Parameter::StateCookie(&[1; 61])));
    let mut causes = CauseList::new();
    assert!(causes.push(&Cause::ProtocolViolation(b"why")));
    let init = Init {
        initiate_tag: 1,
        a_rwnd: 2,
        outbound_streams: 3,
        inbound_streams: 4,
        initial_tsn: Tsn(5),
        parameters: parameters.as_parameters(),
    };
    let error = OperationError { causes: causes.as_causes() };
    let mut buf = PacketBuf::default();
    assert!(allocations(|| write(&mut buf, init, error)) > 0, "allocations are counted");
    assert_eq!(allocations(|| write(&mut buf, init, error)), 0);
    let mut seen = 0;
    assert_eq!(allocations(|| seen = black_box(read(&buf))), 0);
    assert_eq!(seen, 49 + 1 + 2 * 49 + 3 + 1 + 1 + 1404);
}
