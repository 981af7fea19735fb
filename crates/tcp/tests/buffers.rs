//! Buffers whose size follows the transfer (`receive_buffer = "auto"`, `send_buffer = "auto"`).

use anabranch_tcp::{Config, Payload};
use testkit::{Fate, Side, TcpPair, TcpSent};
use transport::BufferSize;
use units::{BitRate, ByteCount, Span};

const MIB: u64 = 1 << 20;
/// Delay of the wire in each direction; the round-trip time is twice as long.
const DELAY: Span = Span::from_millis(50);

fn auto() -> Config {
    Config { mss: 8960, receive_buffer: BufferSize::Auto, send_buffer: BufferSize::Auto, ..Config::modern() }
}

/// A connection over a wire of 200 Mbit/s whose client has more to send than the test lasts. `fate` decides
/// on each segment after the handshake.
fn saturated(config: &Config, fate: impl FnMut(&TcpSent) -> Fate + 'static) -> TcpPair {
    let mut pair = TcpPair::new(config, config);
    pair.count_only(Side::Server);
    pair.set_wire(DELAY, Some(BitRate::from_mbps(200)));
    pair.connect(Side::Client);
    pair.run_for(Span::from_secs(1));
    pair.on_wire(fate);
    pair.send(Side::Client, Payload::Filler(u32::MAX));
    pair
}

fn arrives(_: &TcpSent) -> Fate {
    Fate::Arrives
}

/// Largest window that the server advertises within `time`.
fn most_told(pair: &mut TcpPair, time: Span) -> u64 {
    let mut most = 0;
    for _ in 0..time.as_nanos() / DELAY.as_nanos() {
        pair.run_for(DELAY);
        most = most.max(pair.info(Side::Client).peer_rwnd.get());
    }
    most
}

/// At 200 Mbit/s the wire carries 2.5 MB in a round trip. The queue of the wire is unlimited, so that the
/// receive buffer limits the sender. The buffer is twice the bytes read in the least round-trip time.
#[test]
fn buffers_grow_until_the_network_limits_the_transfer() {
    // Without timestamps the receiver knows the round-trip time from the handshake.
    for timestamps in [true, false] {
        let mut pair = saturated(&Config { timestamps, ..auto() }, arrives);
        most_told(&mut pair, Span::from_secs(2));
        let before = pair.received_bytes(Side::Server);
        let told = most_told(&mut pair, Span::from_secs(2));
        let rate = (pair.received_bytes(Side::Server) - before) as f64 * 8.0 / 2.0;
        assert!(rate > 0.97 * 200e6, "{rate} bit/s, timestamps {timestamps}");
        assert!((4 * MIB..6 * MIB).contains(&told), "{told} bytes, timestamps {timestamps}");
    }
}

/// 903 Mbit/s at 173 ms need 19.5 MB; with buffers of the default sizes the rate is below 50 Mbit/s.
#[test]
fn a_long_fat_path_is_filled_within_5_s() {
    let config = Config { mss: 1460, ..auto() };
    let mut pair = TcpPair::new(&config, &config);
    pair.count_only(Side::Server);
    pair.set_wire(Span::from_micros(86_500), Some(BitRate::from_mbps(903)));
    pair.connect(Side::Client);
    pair.send(Side::Client, Payload::Filler(u32::MAX));
    let mut read = Vec::new();
    for _ in 0..7 {
        pair.run_for(Span::from_secs(1));
        pair.sent.clear();
        read.push(pair.received_bytes(Side::Server));
    }
    let rate = (read[6] - read[4]) as f64 * 8.0 / 2.0;
    assert!(rate > 810e6, "{rate} bit/s from 5 s to 7 s");
}

#[test]
fn a_slow_reader_does_not_let_the_buffer_grow() {
    let mut pair = saturated(&auto(), arrives);
    pair.set_reading(Side::Server, false);
    let (mut most, mut read) = (0, 0);
    for _ in 0..100 {
        pair.run_for(DELAY * 2);
        let arrived = pair.stats(Side::Client).bytes_acked.get();
        most = most.max(arrived - read);
        let (now, id) = (pair.now, pair.id(Side::Server));
        // The application reads 12,500 bytes per round trip of 100 ms: 1 Mbit/s.
        read += pair.endpoint(Side::Server).receive(now, id, 12_500).map_or(0, |part| part.len() as u64);
    }
    assert!((MIB / 2..2 * MIB).contains(&most), "{most} bytes wait");
}

#[test]
fn data_above_a_gap_that_is_never_closed_does_not_let_the_buffer_grow() {
    let first = |sent: &TcpSent| sent.from == Side::Client && sent.offset == 1 && sent.len > 0;
    let config = Config { initial_window: 100, ..auto() }; // 896 kB wait above the gap
    let mut pair = saturated(&config, move |sent| if first(sent) { Fate::Lost } else { Fate::Arrives });
    let told = most_told(&mut pair, Span::from_secs(3));
    assert_eq!(told >> 11, MIB >> 11, "{told} bytes");
}

/// A buffer takes at most half of the rest of the budget:
/// here 1 MiB of 2 MiB. So it grows from 1 MiB to 2 MiB.
#[test]
fn a_budget_limits_the_buffer() {
    let budget = ByteCount::new(2 * MIB);
    let mut pair = saturated(&Config { buffer_budget: budget, ..auto() }, arrives);
    let told = most_told(&mut pair, Span::from_secs(3));
    assert!((2 * MIB - 4096..=2 * MIB).contains(&told), "{told} bytes");
}
