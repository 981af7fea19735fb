//! Options of multipath transfer, each tested between two endpoints.

use anabranch_sctp::{Cmt, Config, Message, Payload, SackPath, Timestamps};
use testkit::*;
use units::{ByteCount, Span};
use wire::Chunk;

fn cmt() -> Config {
    Config { cmt: Cmt { enabled: true, ..Cmt::default() }, sack_frequency: 1, ..Config::default() }
}

/// Two endpoints with two confirmed paths.
fn pair(config: &Config) -> Pair {
    let mut pair = Pair::new(2, config);
    pair.establish();
    pair.run_for(ms(100));
    pair
}

/// For eight packets, sent alternately in networks 1 and 2, the networks in which their SACKs return.
fn sack_nets(choice: SackPath) -> Vec<u8> {
    let mut pair = pair(&Config { sack_path: choice, ..cmt() });
    let client = pair.only(Side::Client);
    pair.set_delay(ms(10));
    pair.sent.clear();
    for _ in 0..8 {
        pair.send(Side::Client, 1000);
        pair.run_for(ms(50));
    }
    let data: Vec<u8> = pair.sent.iter().filter(|s| s.chunks() == "DATA").map(Sent::net).collect();
    assert_eq!(data, [1, 2, 1, 2, 1, 2, 1, 2], "the paths take turns");
    assert!(pair.endpoint(Side::Client).stats(client).unwrap().buffered.is_zero());
    pair.sent.iter().filter(|s| s.chunks() == "SACK").map(Sent::net).collect()
}

// rfc9260#section-6.4, paper 001 section 4.1
#[test]
fn sacks_take_the_path_chosen() {
    assert_eq!(sack_nets(SackPath::Standard), [1, 2, 1, 2, 1, 2, 1, 2]);
    assert_eq!(sack_nets(SackPath::Primary), [1; 8]);
    let mut turns = sack_nets(SackPath::RoundRobin);
    turns.dedup();
    assert_eq!(turns.len(), 8, "never twice the same");
    let mut smallest = sack_nets(SackPath::SmallestSrtt);
    smallest.dedup();
    assert_eq!(smallest.len(), 1, "{smallest:?}");
}

/// Transfers 200 messages over lossy paths. Also returns the number of messages read.
fn transfer(client: &Config, server: &Config) -> (Pair, usize) {
    let configs = [(Side::Client, client), (Side::Server, server)];
    let [client, server] = configs.map(|(side, config)| endpoint_config(side, 2, config));
    let mut pair = Pair::of(client, server);
    pair.establish();
    pair.on_wire(|sent| if sent.number % 17 == 3 { Fate::Lost } else { Fate::Arrives });
    let mut got = 0;
    for _ in 0..200 {
        pair.send(Side::Client, 1400);
        pair.run_for(ms(3));
        got += pair.read_all(Side::Server).len();
    }
    pair.run_for(Span::from_secs(20));
    got += pair.read_all(Side::Server).len();
    (pair, got)
}

fn count(pair: &Pair, chunk: &str) -> usize {
    pair.sent.iter().filter(|sent| sent.chunks().split(' ').any(|name| name == chunk)).count()
}

// draft-natarajan-tsvwg-sctp-nrsack: NR-SACK replaces SACK only if both sides announce it
#[test]
fn nr_sack_takes_the_place_of_sack_where_both_know_it() {
    let (plain, nr) = (cmt(), Config { nr_sack: true, ..cmt() });
    for (client, server, used) in [(&nr, &nr, true), (&nr, &plain, false), (&plain, &nr, false)] {
        let (mut pair, got) = transfer(client, server);
        assert_eq!(got, 200);
        assert_eq!((count(&pair, "NR_SACK") > 0, count(&pair, "SACK") > 0), (used, !used));
        let id = pair.only(Side::Client);
        let path = pair.endpoint(Side::Client).paths(id).unwrap().next().unwrap();
        assert_eq!(path.queued, ByteCount::ZERO);
    }
}

fn delays_said(pair: &Pair, from: Side) -> Vec<i64> {
    let mut said = Vec::new();
    for sent in pair.sent.iter().filter(|sent| sent.from == from) {
        for chunk in parse(&sent.bytes).chunks() {
            if let Ok(Chunk::LedbatControl(control)) = chunk {
                said.extend(control.delays().map(|delay| delay.micros));
            }
        }
    }
    said
}

// Paper 004, section III: each SACK reports the delay of each packet, with both kinds of timestamps.
#[test]
fn every_sack_brings_the_delays_of_the_packets_it_answers() {
    for timestamps in [Timestamps::Chunk, Timestamps::Metadata] {
        let config = Config { timestamps, sack_frequency: 2, ..cmt() };
        let (pair, got) = transfer(&config, &config);
        assert_eq!(got, 200);
        assert_eq!(count(&pair, "TIMESTAMP") > 0, timestamps == Timestamps::Chunk);
        assert_eq!(count(&pair, "SACK"), count(&pair, "LEDBAT_CONTROL"));
        let said = delays_said(&pair, Side::Server);
        assert!(said.len() >= 180 && said.iter().all(|&micros| micros == 10_000), "{said:?}");
        for sent in &pair.sent {
            assert!(sent.bytes.len() <= 1480, "{} bytes", sent.bytes.len());
            assert!(!sent.chunks().starts_with("DATA") || timestamps == Timestamps::Metadata);
        }
    }
}

// A delay-based control uses one-way delays, so a queue on the return path does not reduce its rate.
#[test]
fn one_way_delays_reach_the_congestion_control() {
    let cwnd = |timestamps| {
        let config = Config { timestamps, congestion_control: cc::Algorithm::Ledbat.into(), ..cmt() };
        let mut pair = pair(&config);
        let client = pair.only(Side::Client);
        pair.on_wire(|sent| match sent.from {
            Side::Server if sent.number > 200 => Fate::Late(ms(300)),
            _ => Fate::Arrives,
        });
        for _ in 0..400 {
            let now = pair.now;
            while pair.endpoint(Side::Client).send(now, client, Message::new(Payload::Filler(1400))).is_ok() {
            }
            pair.drain();
            pair.run_for(ms(20));
            pair.read_all(Side::Server);
        }
        pair.endpoint(Side::Client).paths(client).unwrap().map(|path| path.cwnd.get()).min().unwrap()
    };
    let (round_trips, one_way) = (cwnd(Timestamps::Off), cwnd(Timestamps::Metadata));
    assert!(one_way > 2 * round_trips, "{one_way} and {round_trips}");
}

// A peer that does not announce the chunks with timestamps and delays gets none. A receiver without
// timestamps reports no delays.
#[test]
fn delays_need_both_ends() {
    let (plain, stamped) = (cmt(), Config { timestamps: Timestamps::Chunk, ..cmt() });
    for (client, server) in [(&plain, &stamped), (&stamped, &plain)] {
        let (pair, got) = transfer(client, server);
        assert_eq!((got, count(&pair, "TIMESTAMP"), count(&pair, "LEDBAT_CONTROL")), (200, 0, 0));
    }
}
