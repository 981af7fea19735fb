//! Tests a send buffer of the size `auto`.

use super::*;
use transport::{BufferBudget, BufferSize};

const MIB: u64 = 1 << 20;
const MESSAGE: u32 = 1000;

/// Gives messages until the buffer is full. Returns the bytes that it holds.
fn fill(rig: &mut Rig) -> u64 {
    while rig.push(Message::new(Payload::Filler(MESSAGE))).is_ok() {}
    rig.sender.buffered().get()
}

#[track_caller]
fn assert_full_at(bytes: u64, size: u64) {
    assert!(bytes <= size && bytes + u64::from(MESSAGE) > size, "{bytes} of {size}");
}

#[test]
fn a_send_buffer_is_twice_what_is_in_flight_within_the_budget() {
    let config = Config { send_buffer: BufferSize::Auto, ..Config::default() };
    let mut rig = Rig::new(&config, 1, 1);
    let budget = Arc::new(BufferBudget::new(ByteCount::new(4 * MIB)));
    rig.sender.join(&budget);
    let first = fill(&mut rig);
    assert_full_at(first, MIB);

    let send_all = |rig: &mut Rig| {
        rig.paths[P1].window.cwnd = ByteCount::new(64 * MIB);
        rig.paths[P1].burst_left = u32::MAX;
        while rig.poll().is_some() {}
    };
    send_all(&mut rig);
    assert_full_at(fill(&mut rig), 2 * first);
    send_all(&mut rig);
    // The first MiB does not count in the budget of 4 MiB. A buffer of 4 MiB would take 3 MiB of the budget,
    // but a buffer may take at most as much of the budget as it leaves for other buffers: 2 MiB.
    assert_full_at(fill(&mut rig), 3 * MIB);

    send_all(&mut rig);
    let last = rig.sender.out.number(rig.sender.out.next_index() - 1);
    rig.sack(last as u32, &[], 1);
    assert_full_at(fill(&mut rig), MIB);
    assert_eq!(budget.left().get(), 4 * MIB, "all was given back");
}
