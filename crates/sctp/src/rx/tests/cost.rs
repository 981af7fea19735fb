//! Tests the cost of a hostile peer's data in steps (units of work that `crate::steps` counts): limited for
//! each packet, and in proportion to the bytes.

use super::*;
use crate::steps::{self, MOST_OF_64K, MOST_OF_1500};

/// Lengths of SCTP packets (in an Ethernet frame, and the maximum of IPv4), each with the most steps that it
/// may take.
const SIZES: [(usize, u64); 2] = [(1480, MOST_OF_1500), (65_515, MOST_OF_64K)];

/// A hostile peer that may use all streams, and the cost in steps of its packets.
struct Attack {
    f: Fixture,
    size: usize,
    most: u64,
    bytes: usize,
    steps: u64,
}

impl Attack {
    fn new(config: &Config, (size, most): (usize, u64)) -> Self {
        let delays = config.timestamps != Timestamps::Off;
        let rx =
            Receiver::new(config, Tsn(0), u16::MAX, config.nr_sack, delays, config.interleaving, &budget());
        Attack { f: Fixture { rx, now: Instant::ZERO }, size, most, bytes: 0, steps: 0 }
    }

    /// Processes chunks in full packets, and checks the cost of each packet.
    fn flood(&mut self, chunks: impl IntoIterator<Item = Data<'static>>) {
        let mut packet = Vec::new();
        let mut length = 12;
        for data in chunks {
            let more = (Data::HEADER_LEN + data.payload.len()).next_multiple_of(4);
            if length + more > self.size {
                self.packet(&std::mem::take(&mut packet), length);
                length = 12;
            }
            packet.push(data);
            length += more;
        }
        self.packet(&packet, length);
    }

    fn packet(&mut self, chunks: &[Data<'_>], length: usize) {
        let (steps, _) = steps::taken(|| {
            for verdict in self.f.packet(chunks) {
                assert!(!matches!(verdict, DataVerdict::Violation(_)), "{verdict:?}");
            }
        });
        assert!(steps <= self.most, "{steps} steps for {} chunks in {length} bytes", chunks.len());
        self.bytes += length;
        self.steps += steps;
    }

    fn read_all(&mut self) -> usize {
        std::iter::from_fn(|| self.f.rx.read(usize::MAX)).count()
    }
}

impl Drop for Attack {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(self.steps <= 6 * self.bytes as u64, "{} steps for {} bytes", self.steps, self.bytes);
        }
    }
}

/// Runs an attack with packets of both lengths, with the default buffer and with one of 16 MiB. With 16 MiB,
/// the longest packet of tiny chunks may take a quarter more steps.
fn play(attack: impl Fn(&mut Attack, u32)) {
    for size in SIZES {
        for buffer in [1 << 20, 1 << 24] {
            // A tree with 16 times as many entries has about one more level.
            let most = if buffer > 1 << 20 && size.0 > 1480 { size.1 * 5 / 4 } else { size.1 };
            for nr_sack in [false, true] {
                let config = Config { nr_sack, ..with_buffer(buffer) };
                attack(&mut Attack::new(&config, (size.0, most)), buffer as u32 / ChunkCost::LEAST);
            }
        }
    }
}

/// Numbers below `n` in a fixed order that looks random.
fn shuffled(n: u32) -> impl Iterator<Item = u32> + Clone {
    let modulus = u64::from((n | 1).max(3));
    let step = (modulus * 618 / 1000) | 1;
    let step = (step..).find(|&step| gcd(step, modulus) == 1).unwrap_or(1);
    (0..modulus).map(move |k| (k * step % modulus) as u32).filter(move |&k| k < n)
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Maximum number of messages that the test sends on one stream, so that 16 bits can distinguish their
/// numbers.
const SPAN: u32 = 30_000;

/// Message `k` of many ordered messages of one byte that wait for an earlier message of their stream. The
/// messages use as few streams as possible.
fn parked(tsn: u32, k: u32) -> Data<'static> {
    chunk("BE", tsn, (k / SPAN) as u16, (1 + k % SPAN) as u16, 1)
}

// rfc9260#section-6.2: the receiver reneges on the highest TSN
#[test]
fn evictions_are_cheap() {
    play(|attack, most| {
        // First the highest TSNs arrive, in order. Then lower TSNs arrive in descending order, and after them
        // still lower ones in random order; each evicts the highest TSN.
        let base = 3 * most;
        attack.flood((0..most).map(|k| parked(base + k, k)));
        attack.flood((0..most).rev().map(|k| parked(2 * most + k, most + k)));
        attack.flood(shuffled(most / 2).map(|k| parked(most + k, 2 * most + k)));
        assert!(attack.f.rx.stats().reneged >= u64::from(most));
    });
}

#[test]
fn evictions_of_small_messages_by_large_ones_are_cheap() {
    play(|attack, most| {
        attack.flood((0..most).map(|k| parked(100_000_000 + k, k)));
        let long = attack.size - 12 - Data::HEADER_LEN;
        attack.flood((0..8).map(|k| chunk("BE", 2 + k, 60_000, 1 + k as u16, long)));
        assert!(attack.f.rx.stats().reneged > 100);
    });
}

#[test]
fn messages_parked_on_all_streams_are_cheap() {
    play(|attack, most| {
        let all = most.min(u32::from(u16::MAX));
        let on = |k: u32, ssn: u16, tsn: u32| chunk("BE", tsn, k as u16, ssn, 1);
        attack.flood(shuffled(all).map(|k| on(k, 2, 4 * all + k)));
        attack.flood((0..all / 2).map(|k| on(k, 1, 2 * all + k)));
        attack.flood((0..all / 2).rev().map(|k| on(k, 3, all + k)));
        attack.flood((0..all / 2).map(|k| on(k, 0, 2 + k)));
        attack.read_all();
    });
}

#[test]
fn messages_that_wait_for_one_are_released_cheaply() {
    play(|attack, most| {
        let many = most.min(SPAN);
        for order in 0..3 {
            let first = 1 + order * (many + 1);
            let ssn = |k: u32| (first - 1 + k) as u16;
            let at = |k: u32| chunk("BE", first + k, 0, ssn(k), 1);
            match order {
                0 => attack.flood((1..many).map(at)),
                1 => attack.flood((1..many).rev().map(at)),
                _ => attack
                    .flood((1..many).filter(|k| k % 2 == 0).chain((1..many).filter(|k| k % 2 == 1)).map(at)),
            }
            attack.flood([at(0)]);
            attack.read_all();
            attack.flood([at(many)]);
            attack.flood([message(first - 1, 1)]);
            attack.read_all();
            if attack.f.rx.cumulative_tsn() != Tsn(first + many) {
                return; // more gaps than the receiver keeps
            }
        }
    });
}

// rfc9260#section-6.9
#[test]
fn messages_of_one_byte_fragments_are_cheap() {
    play(|attack, most| {
        let many = most - 2;
        let at = |first: u32, k: u32| {
            chunk(
                if k == 0 {
                    "B"
                } else if k == many - 1 {
                    "E"
                } else {
                    ""
                },
                first + k,
                1,
                0,
                1,
            )
        };
        // The fragments arrive in reverse order. Of the next message every second TSN arrives first, so that
        // there are as many gaps as the receiver keeps.
        attack.flood((1..many).rev().map(|k| at(0, k)));
        attack.flood([at(0, 0)]);
        assert_eq!(attack.read_all(), 1);
        assert!(attack.f.rx.reassembly.is_idle());
        let first = many + 1;
        attack.flood((0..2000).map(|k| at(first, 2 * k)));
        attack.flood((0..1999).rev().map(|k| at(first, 2 * k + 1)));
        attack.flood((0..2000).map(|k| at(first, 2 * k)));
    });
}

/// A complete message of very many fragments waits for earlier messages, and one chunk evicts it.
#[test]
fn a_long_message_is_evicted_cheaply() {
    play(|attack, most| {
        let base = 100_000;
        let long = most - 40;
        let at = |k: u32| {
            chunk(
                if k == 0 {
                    "B"
                } else if k == long - 1 {
                    "E"
                } else {
                    ""
                },
                base + k,
                1,
                1,
                1,
            )
        };
        attack.flood((0..long).map(at));
        attack.flood((0..100).map(|k| chunk("BE", 2 + k, 2, 1 + k as u16, 1)));
        assert_eq!(attack.f.rx.stats().reneged, u64::from(long));
        attack.flood((0..(most / 2).min(SPAN)).map(|k| chunk("BE", 200 + k, 3, 1 + k as u16, 1)));
    });
}

#[test]
fn gaps_as_many_as_are_kept_and_duplicates_are_cheap() {
    play(|attack, _| {
        let odd = |k: u32| message(2 * k + 1, 1);
        attack.flood(shuffled(4000).map(odd));
        attack.read_all();
        attack.flood((0..20_000).map(|k| odd(k % 4500)));
        attack.flood((0..20_000).map(|k| message(10_000_000 + 2 * k, 1)));
        attack.flood(shuffled(4000).map(|k| message(2 * k, 1)));
        attack.read_all();
        attack.f.report_any();
    });
}

impl Fixture {
    /// Writes a SACK of any kind.
    fn report_any(&mut self) {
        let header = CommonHeader { source_port: 1, destination_port: 2, verification_tag: 3 };
        let mut buf = PacketBuf::default();
        assert!(self.rx.write_sack(self.now, PathId(0), &mut PacketWriter::new(&mut buf, header, 1480)));
    }
}
