//! Messages smaller than the receive buffer arrive whole, also without reneging (`rfc9260#section-6.9`).

use anabranch_sctp::{Config, Message, Payload};
use testkit::*;
use transport::BufferSize;
use units::{ByteCount, Span};

const BUFFER: u32 = 40_000;
const LENGTH: u32 = BUFFER / 10;
const MESSAGES: usize = 400;

/// Two paths that reorder and lose packets at random. The second has up to 20 times the delay.
fn random_wire(seed: u64) -> impl FnMut(&Sent) -> Fate {
    let mut state = seed;
    move |sent| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let n = state >> 33;
        let spread = if sent.net() == 1 { 5 } else { 100 };
        if n.is_multiple_of(40) { Fate::Lost } else { Fate::Late(Span::from_millis(n / 40 % spread)) }
    }
}

/// Transfers messages of a tenth of the buffer. Returns the lengths read, and the number of dropped chunks.
fn transfer(seed: u64, config: &Config) -> (Vec<(usize, bool)>, u64) {
    let mut pair = Pair::new(2, config);
    let (client, server) = pair.establish();
    pair.run_for(Span::from_millis(100));
    pair.set_delay(Span::from_millis(5));
    pair.on_wire(random_wire(seed));
    let (mut sent, mut read) = (0, Vec::new());
    for _ in 0..100_000 {
        let now = pair.now;
        while sent < MESSAGES
            && pair.endpoint(Side::Client).send(now, client, Message::new(Payload::Filler(LENGTH))).is_ok()
        {
            sent += 1;
        }
        pair.drain();
        pair.run_for(Span::from_millis(1));
        let parts = pair.read_all(Side::Server);
        read.extend(parts.iter().map(|part| (part.payload.len(), part.end_of_record)));
        if read.iter().map(|&(length, _)| length).sum::<usize>() == MESSAGES * LENGTH as usize {
            break;
        }
    }
    let stats = pair.endpoint(Side::Server).stats(server).expect("an association");
    (read, stats.received.dropped)
}

/// Runs a transfer for each seed. Returns the number of transfers that delivered a message in parts,
/// and the largest number of chunks dropped in one transfer.
fn in_parts(seeds: u64, config: &Config) -> (usize, u64) {
    let (mut parts, mut most) = (0, 0);
    for seed in 0..seeds {
        let (read, dropped) = transfer(seed, config);
        let whole = read == vec![(LENGTH as usize, true); MESSAGES];
        let ends = read.iter().filter(|(_, end)| *end).count();
        let length: usize = read.iter().map(|(length, _)| length).sum();
        assert!(ends == MESSAGES && length == MESSAGES * LENGTH as usize, "seed {seed}");
        parts += usize::from(!whole);
        most = most.max(dropped);
    }
    (parts, most)
}

#[test]
fn messages_smaller_than_the_buffer_arrive_whole_over_paths_that_reorder() {
    let recommended = Config::recommended();
    let config = Config { receive_buffer: ByteCount::new(BUFFER.into()).into(), ..recommended };
    let (parts, most) = in_parts(200, &config);
    // The receiver drops probes of a closed window, and copies that arrive too early. It drops a few more
    // chunks, because the room for missing chunks is an estimate: their lengths vary. Of 3000 transfers,
    // none dropped more than 21 chunks.
    assert!(parts == 0 && most <= 21, "{parts} in parts, {most} chunks dropped");
}

// A sender that follows RFC 9260 treats the room of lost chunks as free (`rfc9260#section-6.2.1`). If this
// leaves no room for missing chunks, the receiver must start a partial delivery.
#[test]
fn messages_arrive_whole_from_a_sender_that_overdraws_the_window_but_for_a_few() {
    let recommended = Config::recommended();
    let cmt = anabranch_sctp::Cmt { keep_room: false, ..recommended.cmt.clone() };
    let (receive_buffer, send_buffer) = (ByteCount::new(BUFFER.into()).into(), BufferSize::fixed(8 << 20));
    let config = Config { receive_buffer, send_buffer, cmt, ..recommended };
    let (parts, _) = in_parts(200, &config);
    assert!(parts <= 10, "{parts} of 200"); // 59 if the receiver reserves no room for missing chunks
}
