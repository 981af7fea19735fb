//! Tests how the sender reacts to ECN marks that the peer echoes (draft-stewart-tsvwg-sctpecn-07).

use super::*;
use crate::tx::Echoed;
use wire::{Cwr, Ecne};

/// Odd TSNs from 5 to 13 are on path 1, even TSNs up to 14 on path 2. Both cwnds are 40,000 bytes.
fn rig() -> Rig {
    let mut rig = Rig::new(&cmt(Cmt::default()), 2, 5);
    rig.sender.set_ecn(true);
    for p in [P1, P2] {
        rig.paths[p].window.cwnd = ByteCount::new(40_000);
    }
    (5..=14).for_each(|tsn| rig.transmit(if tsn % 2 == 1 { P1 } else { P2 }));
    rig
}

impl Rig {
    fn ecne(&mut self, tsn: u32) -> Echoed {
        let ecne = Ecne { lowest_tsn: Tsn(tsn), packets: 1 };
        self.sender.on_ecne(self.now, &ecne, &mut self.paths)
    }

    fn windows(&self) -> [u64; 2] {
        [P1, P2].map(|p| self.paths[p].window.cwnd.get())
    }
}

fn answer(path: PathId, tsn: u32, same_window: bool) -> Echoed {
    Echoed { path: Some(path), cwr: Cwr { all_paths: false, same_window, tsn: Tsn(tsn) } }
}

// rfc3168#section-6.1.2
#[test]
fn marks_of_one_window_of_data_reduce_the_window_of_their_path_once() {
    let mut rig = rig();
    assert_eq!(rig.ecne(7), answer(P1, 7, false));
    assert_eq!(rig.windows(), [20_000, 40_000]);
    assert_eq!(rig.ecne(7), answer(P1, 7, true), "each echo is answered");
    assert_eq!(rig.ecne(13), answer(P1, 13, true));
    assert_eq!(rig.windows(), [20_000, 40_000]);
    assert_eq!(rig.ecne(14), answer(P2, 14, false), "each path by itself");
    assert_eq!(rig.windows(), [20_000, 20_000]);
    rig.transmit(P1);
    assert_eq!(rig.ecne(15), answer(P1, 15, false), "sent after the reduction");
    assert_eq!(rig.windows(), [10_000, 20_000]);
    assert_eq!(rig.paths[P1].stats.ecn_reductions, 2);
    assert_eq!(rig.paths[P1].stats.fast_recoveries, 0);
}

// rfc3168#section-6.1.2
#[test]
fn a_mark_and_a_loss_in_one_window_of_data_reduce_it_once() {
    let lose_5 = |rig: &mut Rig| {
        for last in [7, 9, 11] {
            let gaps: Vec<_> = (7..=last).step_by(2).map(|tsn| (tsn, tsn)).collect();
            rig.sack(4, &gaps, 1);
        }
        assert!(rig.paths[P1].recovery.is_some());
        rig.windows()[0]
    };
    let mut rig = rig();
    rig.ecne(13);
    assert_eq!(lose_5(&mut rig), 20_000, "the loss comes after the mark");
    assert_eq!(rig.poll(), Some((P1, vec![5])), "and is repaired");

    let mut rig = self::rig();
    let reduced = lose_5(&mut rig);
    assert!(reduced < 40_000);
    assert_eq!(rig.ecne(13), answer(P1, 13, true), "the mark comes after the loss");
    assert_eq!(rig.windows()[0], reduced);
}

#[test]
fn a_mark_from_before_a_timeout_neither_reduces_nor_raises_the_window() {
    let mut rig = rig();
    rig.pass(Span::from_secs(1));
    rig.t3(P1);
    let least = rig.windows()[0];
    assert!(least < 2 * CHUNK);
    assert_eq!(rig.ecne(13), answer(P1, 13, true));
    rig.transmit(P1);
    assert_eq!(rig.ecne(15), answer(P1, 15, false));
    assert_eq!(rig.windows()[0], least, "below the least threshold");
}

// rfc3168#section-6.1.2
#[test]
fn a_sack_with_an_echo_does_not_let_the_window_grow() {
    let grown = |echoes: bool| {
        let mut rig = rig();
        rig.paths[P1].window.cwnd = ByteCount::new(5 * CHUNK);
        if echoes {
            rig.ecne(5);
        }
        let before = rig.windows()[0];
        rig.sack(5, &[(7, 7)], 1);
        rig.windows()[0] > before
    };
    assert!(grown(false));
    assert!(!grown(true));
}

// rfc3168#section-6.1.3: the receiver repeats the echo until it gets an answer.
#[test]
fn an_echo_that_is_repeated_is_answered_after_its_tsn_is_acknowledged() {
    let mut rig = rig();
    rig.ecne(7);
    rig.sack(10, &[], 1);
    assert_eq!(rig.ecne(7), answer(P1, 7, true));
    for tsn in [8, 15] {
        let cwr = Cwr { all_paths: true, same_window: true, tsn: Tsn(tsn) };
        assert_eq!(
            rig.ecne(tsn),
            Echoed { path: None, cwr },
            "the path of 8 is forgotten, and 15 was never sent"
        );
    }
    assert_eq!(rig.windows(), [20_000, 40_000]);
}
