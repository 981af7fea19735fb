//! Buffers that grow and shrink with the transfer (`receive_buffer = "auto"`, `send_buffer = "auto"`).

use anabranch_sctp::{AssocId, Config, Message, Payload, SendError};
use testkit::*;
use transport::BufferSize;
use units::{ByteCount, Span};

const MIB: u64 = 1 << 20;
const ROUND: Span = Span::from_millis(100);

fn auto() -> Config {
    Config {
        receive_buffer: BufferSize::Auto,
        send_buffer: BufferSize::Auto,
        hb_interval: Some(Span::from_secs(5)),
        ..Config::recommended()
    }
}

/// An association with a round-trip time of [`ROUND`].
fn connected(config: &Config) -> (Pair, [AssocId; 2]) {
    let mut pair = Pair::new(1, config);
    pair.set_delay(ROUND / 2);
    let (client, server) = pair.establish();
    pair.run_for(ROUND * 4);
    (pair, [client, server])
}

/// Sends all that the client's send buffer takes. Returns the number of bytes in the buffer.
fn fill(pair: &mut Pair, client: AssocId) -> u64 {
    let now = pair.now;
    while pair.endpoint(Side::Client).send(now, client, Message::new(Payload::Filler(10_000))).is_ok() {}
    pair.drain();
    pair.endpoint(Side::Client).stats(client).expect("an association").buffered.get()
}

/// The a_rwnd that the client got last: its view of the server's window plus the flight size.
fn told(pair: &mut Pair, client: AssocId) -> u64 {
    let endpoint = pair.endpoint(Side::Client);
    let flight: u64 = endpoint.paths(client).expect("paths").map(|path| path.flight.get()).sum();
    endpoint.stats(client).expect("an association").peer_rwnd.get() + flight
}

/// Sends as much as the buffers allow, and reads the data immediately. Returns for each round trip the most
/// bytes in the send buffer, and the bytes read.
fn saturate(pair: &mut Pair, client: AssocId, rounds: usize) -> Vec<(u64, u64)> {
    let round = |_| {
        let (mut sent, mut read) = (0, 0);
        for _ in 0..100 {
            sent = sent.max(fill(pair, client));
            pair.run_for(Span::from_millis(1));
            read += pair.read_all(Side::Server).iter().map(|part| part.payload.len() as u64).sum::<u64>();
        }
        (sent, read)
    };
    (0..rounds).map(round).collect()
}

/// Both buffers grow to several times their first size of 1 MiB, and shrink to it after a pause.
#[test]
fn both_buffers_grow_with_a_reader_that_keeps_up_and_fall_back_in_a_pause() {
    let (mut pair, [client, _]) = connected(&auto());
    let rounds = saturate(&mut pair, client, 18);
    let most = rounds.iter().map(|&(_, read)| read).max().expect("rounds");
    let window = told(&mut pair, client);
    assert!(most > 8 * MIB, "{rounds:?}");
    assert!(window > 8 * MIB && window <= 64 * MIB, "{window}");
    assert!(rounds.iter().all(|&(sent, _)| sent <= 64 * MIB), "{rounds:?}");

    pair.run_for(Span::from_secs(2));
    pair.read_all(Side::Server);
    pair.run_for(Span::from_secs(80));
    assert_eq!(told(&mut pair, client), MIB, "after a minute without data");
}

/// Each endpoint has a budget of 2 MiB. A buffer takes at most half of it, in addition to its first MiB,
/// which does not count in the budget.
#[test]
fn a_budget_limits_both_buffers() {
    let (mut pair, [client, _]) = connected(&Config { buffer_budget: ByteCount::new(2 * MIB), ..auto() });
    let rounds = saturate(&mut pair, client, 12);
    let window = told(&mut pair, client);
    assert!((2 * MIB - 100_000..=2 * MIB).contains(&window), "{window}");
    let most = rounds.iter().map(|&(sent, _)| sent).max().expect("rounds");
    assert!((MIB + 100_000..=2 * MIB).contains(&most), "{most} bytes in the send buffer");
}

#[test]
fn a_slow_reader_does_not_let_the_buffer_grow() {
    let (mut pair, [client, server]) = connected(&auto());
    let mut most = 0;
    for _ in 0..300 {
        fill(&mut pair, client);
        pair.run_for(ROUND);
        most = most
            .max(pair.endpoint(Side::Server).unread(server).values().map(|unread| unread.bytes.get()).sum());
        pair.endpoint(Side::Server).receive(server, 12_500); // 1 Mbit/s
    }
    assert!((MIB / 2..2 * MIB).contains(&most), "{most} bytes wait");
}

#[test]
fn a_message_as_long_as_the_largest_buffer_can_be_sent() {
    let (mut pair, [client, _]) = connected(&auto());
    let now = pair.now;
    let long = Message::new(Payload::Filler(64 << 20));
    assert!(pair.endpoint(Side::Client).send(now, client, long).is_ok());
    let longer = Message::new(Payload::Filler((64 << 20) + 1));
    let refused = pair.endpoint(Side::Client).send(now, client, longer);
    assert_eq!(refused, Err(SendError::TooLong { length: (64 << 20) + 1, limit: 64 << 20 }));
}
