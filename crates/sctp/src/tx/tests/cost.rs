//! Tests that SACKs of a hostile peer cause limited work, counted in steps (`crate::steps`). An association
//! with an honest peer is never aborted.

use super::*;
use crate::config::Cuc;
use crate::steps::{self, MOST_OF_64K, MOST_OF_1500};
use proptest::prelude::*;
use std::collections::BTreeSet;

const MANY: u16 = 32_000;

/// A sender with `chunks` outstanding chunks on one path. The first TSN is 1.
fn loaded(chunks: u16) -> Rig {
    let mut rig = Rig::new(&cmt(Cmt::default()), 1, 1);
    (0..chunks).for_each(|_| rig.transmit(P1));
    rig
}

/// Steps that a packet took. Every packet may cause `any` again; earlier transmissions limit the sum of
/// `paid`.
struct Cost {
    any: u64,
    paid: u64,
}

impl Rig {
    /// Processes a SACK or NR-SACK with Gap Ack Blocks in any order, and checks that it takes no more steps
    /// than a packet of its size may take.
    fn hostile(
        &mut self,
        cum: u32,
        gaps: &[(u16, u16)],
        nr_gaps: Option<&[(u16, u16)]>,
    ) -> (Cost, Result<SackOutcome, &'static str>) {
        let blocks = |gaps: &[(u16, u16)]| -> Vec<GapBlock> {
            gaps.iter().map(|&(start, end)| GapBlock { start, end }).collect()
        };
        let header = CommonHeader { source_port: 2, destination_port: 1, verification_tag: 4 };
        let mut buf = PacketBuf::default();
        let mut w = PacketWriter::new(&mut buf, header, 65_515);
        match nr_gaps {
            None => assert!(w.sack(Tsn(cum), 1 << 30, 0, blocks(gaps).into_iter(), &[])),
            Some(nr) => assert!(w.nr_sack(Tsn(cum), 1 << 30, 0, &blocks(gaps), &blocks(nr), &[])),
        }
        w.finish(Checksum::Offloaded);
        let most = if buf.as_octets().len() <= 1480 { MOST_OF_1500 } else { MOST_OF_64K };
        let packet = Packet::parse(buf.as_octets(), Checksum::Offloaded).unwrap();
        let mut outcome = Ok(SackOutcome::default());
        let (any, paid) = steps::taken(|| {
            for chunk in packet.chunks() {
                outcome = match chunk {
                    Ok(Chunk::Sack(sack)) => self.sender.on_sack(self.now, &sack, &mut self.paths),
                    Ok(Chunk::NrSack(sack)) => self.sender.on_nr_sack(self.now, &sack, &mut self.paths),
                    other => panic!("no SACK but {other:?}"),
                };
            }
        });
        assert!(any <= most, "{any} steps for {} gap ack blocks", gaps.len());
        self.sender.wake(self.now, &mut self.paths);
        (Cost { any, paid }, outcome)
    }
}

/// Gap Ack Blocks of every other TSN.
fn every_other(from: u16, to: u16) -> Vec<(u16, u16)> {
    (from..to).step_by(2).map(|offset| (offset, offset)).collect()
}

// rfc9260#section-6.2.1: reneging is allowed, but not without end
#[test]
fn reneging_on_half_of_all_chunks_again_and_again_is_cheap_and_ends_in_an_abort() {
    type Blocks = &'static [(u16, u16)];
    let alternatives: [(Blocks, Blocks); 3] = [
        (&[(2, MANY / 2)], &[]),
        (&[(2, MANY / 2)], &[(MANY / 2, MANY - 1)]),
        (&[(MANY / 2, MANY - 1)], &[(MANY - 1, MANY - 1)]),
    ];
    for (first, second) in alternatives {
        let mut rig = loaded(MANY);
        let (mut any, mut paid, mut packets) = (0, 0, 0);
        let end = loop {
            let gaps = if packets % 2 == 0 { first } else { second };
            let (cost, outcome) = rig.hostile(0, gaps, None);
            (any, paid, packets) = (any + cost.any, paid + cost.paid, packets + 1);
            if let Err(what) = outcome {
                break what;
            }
            assert!(packets < 10_000, "it never ends");
        };
        assert_eq!(end, "gap ack blocks withdrawn again and again");
        assert!(paid <= 4 * u64::from(MANY), "{paid} steps");
        assert!(any <= 5000 * packets, "{any} steps for {packets} packets");
        rig.audit();
    }
}

#[test]
fn many_gap_ack_blocks_withdrawn_by_a_small_packet_are_cheap() {
    let mut rig = loaded(MANY);
    for _ in 0..20 {
        let (_, outcome) = rig.hostile(0, &every_other(2, MANY), None);
        assert!(outcome.is_ok());
        for _ in 0..5 {
            assert!(rig.hostile(0, &[], None).1.is_ok());
        }
        rig.audit();
    }
}

/// All chunks are lost by a timeout. No acknowledgement may search all of them for a retransmitted chunk.
#[test]
fn pseudo_cumulative_tsns_among_many_lost_chunks_are_cheap_to_find() {
    for cuc in [Cuc::V1, Cuc::V2] {
        let mut rig = Rig::new(&cmt(Cmt { cuc, ..Cmt::default() }), 1, 1);
        (0..MANY).for_each(|_| rig.transmit(P1));
        rig.pass(Span::from_secs(60));
        rig.t3(P1);
        for n in 1..10 {
            assert!(rig.hostile(0, &[(MANY - n, MANY - 1)], None).1.is_ok());
        }
        rig.audit();
    }
}

/// Chunks become lost that belong between chunks lost earlier in the list of lost chunks.
#[test]
fn chunks_lost_in_the_middle_of_lost_ones_are_cheap() {
    for gaps in [vec![(1, MANY / 2)], every_other(1, 1500)] {
        let mut rig = loaded(MANY);
        let above = |k: u16| (MANY - 9 + k, MANY - 9 + k);
        for k in 0..4 {
            let all = [gaps.clone(), (0..=k).map(above).collect()].concat();
            assert!(rig.hostile(0, &all, None).1.is_ok());
        }
        assert!(rig.sender.peer.has_lost());
        for k in 4..8 {
            let all: Vec<_> = (0..=k).map(above).collect();
            assert!(rig.hostile(0, &all, None).1.is_ok());
        }
        rig.audit();
    }
}

#[test]
fn chunks_reneged_beyond_the_limit_are_retransmitted_eventually() {
    let mut rig = loaded(10_000);
    rig.hostile(0, &[(2, 9_999)], None).1.unwrap();
    let mut cum = 0;
    for _ in 0..200_000 {
        // The peer has discarded all chunks above the cumulative TSN, and accepts only the next TSN in order.
        rig.pass(Span::from_millis(1));
        if rig.sender.is_drained() {
            break;
        }
        let mut arrived = Vec::new();
        while let Some((_, tsns)) = rig.poll() {
            arrived.extend(tsns);
        }
        if arrived.is_empty() {
            let at = rig.paths[P1].t3.expect("data in flight has a timer");
            rig.now = rig.now.max(at);
            rig.sender.on_t3(rig.now, P1, &mut rig.paths);
            rig.sender.wake(rig.now, &mut rig.paths);
        }
        cum += arrived.iter().filter(|&&tsn| tsn == cum + 1).count().min(1) as u32;
        assert!(rig.hostile(cum, &[], None).1.is_ok());
    }
    assert!(rig.sender.is_drained(), "{cum} arrived");
}

// draft-natarajan-tsvwg-sctp-nrsack
#[test]
fn nr_sacks_of_many_places_are_cheap() {
    let mut rig = loaded(MANY);
    for k in 0..16 {
        let nr = every_other(2 + 2000 * k, 2 + 2000 * (k + 1));
        let (_, outcome) = rig.hostile(0, &every_other(3, 2000), Some(&nr));
        let small = rig.hostile(0, &[], Some(&[(2, 2)])).1;
        if outcome.is_err() || small.is_err() {
            break;
        }
        rig.audit();
    }
}

// rfc9260#section-6.2: a peer sends at most one SACK for an incoming packet
#[test]
fn only_the_first_sack_of_a_packet_is_processed() {
    let mut rig = loaded(10);
    let header = CommonHeader { source_port: 2, destination_port: 1, verification_tag: 4 };
    let mut buf = PacketBuf::default();
    let mut w = PacketWriter::new(&mut buf, header, 1480);
    for cum in 1..=9 {
        assert!(w.sack(Tsn(cum), 1 << 30, 0, std::iter::empty(), &[]));
    }
    w.finish(Checksum::Offloaded);
    let packet = Packet::parse(buf.as_octets(), Checksum::Offloaded).unwrap();
    for chunk in packet.chunks() {
        let Ok(Chunk::Sack(sack)) = chunk else { panic!("no SACK") };
        rig.sender.on_sack(rig.now, &sack, &mut rig.paths).unwrap();
    }
    assert_eq!(rig.sender.outstanding_chunks(), 9);
}

// rfc9260#section-3.3.4: blocks SHOULD be sorted and isolated, but no rule requires an abort if they are not
#[test]
fn gap_ack_blocks_in_any_order_and_number_mean_the_tsns_in_them() {
    let given: [&[(u16, u16)]; 5] = [
        &[(6, 7), (3, 4)],
        &[(3, 4), (3, 4), (6, 7), (6, 6)],
        &[(3, 3), (0, 9), (4, 4), (6, 7)],
        &[(3, 4), (9, 5), (6, 7)],
        &[(6, 7), (7, 7), (3, 3), (4, 4)],
    ];
    for gaps in given {
        for nr in [false, true] {
            let mut rig = loaded(10);
            let outcome = if nr { rig.hostile(0, &[], Some(gaps)).1 } else { rig.hostile(0, gaps, None).1 };
            assert!(outcome.is_ok(), "{gaps:?}");
            let acked: Vec<u32> = (1..=10).filter(|&tsn| rig.sender.out[rig.index(tsn)].is_acked()).collect();
            assert_eq!(acked, [3, 4, 6, 7], "{gaps:?}");
            rig.audit();
        }
    }
    let mut rig = loaded(10);
    assert!(rig.hostile(0, &[(11, 11), (3, 4)], None).1.is_err(), "never sent");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// For any reports of chunks on two paths, each packet costs few steps, and the sender's lists and sums
    /// of chunks stay right.
    #[test]
    fn every_sack_is_processed_in_bounded_steps(
        chunks in 10u16..6000,
        sacks in prop::collection::vec(
            (0u16..4, any::<bool>(), prop::collection::vec((any::<u16>(), 0u16..700), 0..40)), 1..60,
        ),
    ) {
        let mut rig = Rig::new(&cmt(Cmt::default()), 2, 1);
        for n in 0..chunks {
            rig.transmit(if n % 7 < 3 { P1 } else { P2 });
        }
        let (mut cum, mut paid) = (0, 0);
        for (advance, nr, gaps) in sacks {
            cum = (cum + advance).min(chunks);
            let left = chunks - cum;
            let gaps: Vec<_> = gaps.into_iter().filter(|_| left > 0).map(|(at, length)| {
                let start = at % left;
                (start, (start + length).min(left))
            }).collect();
            let (gaps, nr_gaps) = if nr { (vec![], Some(&gaps[..])) } else { (gaps.clone(), None) };
            let (cost, outcome) = rig.hostile(u32::from(cum), &gaps, nr_gaps);
            paid += cost.paid;
            prop_assert!(outcome.is_ok());
            rig.audit();
        }
        prop_assert!(paid <= 5 * u64::from(chunks));
    }
}

/// SACKs of this peer are reordered and duplicated. At times the peer discards all renegable chunks.
#[test]
fn a_peer_that_acknowledges_packets_is_never_aborted() {
    use rand_chacha::ChaCha8Rng;
    use rand_core::{RngCore, SeedableRng};
    for seed in 0..6 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut below = move |n: usize| random.next_u32() as usize % n.max(1);
        let config = Config { send_buffer: ByteCount::new(1 << 20).into(), ..cmt(Cmt::default()) };
        let mut rig = Rig::new(&config, 1, 1);
        let (mut held, mut cum, mut sacks) = (BTreeSet::new(), 0u32, Vec::new());
        let (mut flying, mut packets) = (Vec::new(), 0);
        for _ in 0..20_000 {
            rig.pass(Span::from_millis(1));
            rig.paths[P1].window.cwnd = ByteCount::new(300 * CHUNK);
            while rig.push(Message::new(Payload::Filler(CHUNK as u32))).is_ok() {}
            while let Some((_, tsns)) = rig.poll() {
                packets += 1;
                for _ in 0..1 + below(2) {
                    flying.push(tsns.clone());
                }
            }
            if let Some(at) =
                rig.paths[P1].t3.filter(|&at| at <= rig.now || flying.is_empty() && sacks.is_empty())
            {
                rig.now = rig.now.max(at);
                rig.sender.on_t3(rig.now, P1, &mut rig.paths);
            }
            for _ in 0..2 {
                if flying.is_empty() {
                    break;
                }
                // Packets arrive in any order.
                for tsn in flying.swap_remove(below(flying.len())) {
                    if tsn > cum {
                        held.insert(tsn);
                    }
                }
                while held.remove(&(cum + 1)) {
                    cum += 1;
                }
                if below(40) == 0 {
                    held.clear();
                }
                let gaps: Vec<_> =
                    ranges(&held).iter().map(|&(a, b)| ((a - cum) as u16, (b - cum) as u16)).collect();
                sacks.extend(vec![(cum, gaps); 1 + below(2)]);
            }
            for _ in 0..3 {
                if !sacks.is_empty() {
                    let (cum, gaps) = sacks.swap_remove(below(sacks.len()));
                    let (_, outcome) = rig.hostile(cum, &gaps, None);
                    assert!(outcome.is_ok(), "{outcome:?} after {packets} packets");
                }
            }
        }
        rig.audit();
        assert!(packets > 2_000, "{packets} packets");
    }
}

/// Ranges of successive TSNs.
fn ranges(held: &BTreeSet<u32>) -> Vec<(u32, u32)> {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &tsn in held {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == tsn => *last = tsn,
            _ => runs.push((tsn, tsn)),
        }
    }
    runs
}
