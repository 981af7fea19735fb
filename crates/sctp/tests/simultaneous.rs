//! Hosts that connect to each other at the same time, more than once. Each host knows only some addresses of
//! the other (rfc9260#section-5.2).

use anabranch_sctp::{AssocId, CloseReason, Config, Event, Message, Payload, State};
use std::net::IpAddr;
use testkit::*;
use units::{Instant, Span};

/// Random numbers (Vigna's splitmix64).
#[derive(Clone)]
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % sides
    }

    fn ms(&mut self, most: u64) -> Span {
        Span::from_millis(self.roll(most))
    }
}

/// The result of a run.
struct Outcome {
    /// The established associations of each side.
    standing: [Vec<AssocId>; 2],
    /// Associations that ended, with the reasons.
    closed: Vec<(Side, AssocId, CloseReason)>,
    /// Number of messages that arrived at each side. One was sent over each established association.
    heard: [usize; 2],
}

const SIDES: [Side; 2] = [Side::Client, Side::Server];

/// Some addresses of a side (at least one) in any order.
fn some(dice: &mut Dice, side: Side, nets: u8) -> Vec<IpAddr> {
    let mut all: Vec<IpAddr> = (1..=nets).map(|net| side.address(net)).collect();
    for n in (1..all.len()).rev() {
        all.swap(n, dice.roll(n as u64 + 1) as usize);
    }
    all.truncate(1 + dice.roll(u64::from(nets)) as usize);
    all
}

/// Each side connects `connects` times within some milliseconds. For two seconds, the network loses,
/// reorders and duplicates packets.
fn run(seed: u64, connects: [usize; 2]) -> Outcome {
    let mut dice = Dice(seed);
    let ms = Span::from_millis;
    let config = Config {
        rto_initial: ms(200),
        rto_min: ms(200),
        rto_max: ms(800),
        max_init_retransmits: 8,
        ..Config::default()
    };
    let nets = [1 + dice.roll(3) as u8, 2 + dice.roll(2) as u8];
    let [client, server] = [0, 1].map(|n| {
        let mut endpoint = endpoint_config(SIDES[n], nets[n], &config);
        endpoint.seed = anabranch_sctp::Seed::for_simulation(2 * seed + n as u64);
        endpoint
    });
    let mut pair = Pair::of(client, server);
    pair.endpoint(Side::Client).listen(true);
    pair.set_delay(ms(5));
    let (mut wire, loss) = (dice.clone(), dice.roll(10));
    pair.on_wire(move |_| match wire.roll(100) {
        n if n < loss => Fate::Lost,
        n if n < 50 => Fate::Arrives,
        n if n < 80 => Fate::Late(wire.ms(60)),
        n if n < 90 => Fate::Twice(wire.ms(100)),
        _ => Fate::Late(wire.ms(400)),
    });
    let begin = pair.now;
    let mut plan: Vec<(Instant, Side)> = Vec::new();
    for (side, count) in SIDES.into_iter().zip(connects) {
        plan.extend((0..count).map(|_| (begin + dice.ms(40), side)));
    }
    plan.sort_by_key(|&(at, _)| at);
    for (at, side) in plan {
        pair.run_until(at);
        let other = usize::from(side == Side::Client);
        let remotes = some(&mut dice, side.other(), nets[other]);
        if let Ok(id) = pair.endpoint(side).connect(at, side.other().port(), &remotes) {
            pair.endpoint(side).send(at, id, Message::new(Payload::Filler(3000))).expect("there is room");
        }
        pair.drain();
    }
    pair.run_for(Span::from_secs(2));
    pair.heal();
    pair.run_for(Span::from_secs(30));
    finish(&mut pair)
}

/// Sends a message over each established association, and counts the arrivals.
fn finish(pair: &mut Pair) -> Outcome {
    let now = pair.now;
    let mut closed = Vec::new();
    let standing = SIDES.map(|side| {
        pair.read_all(side);
        let events = pair.named_events(side).into_iter();
        closed.extend(events.filter_map(|(id, event)| match event {
            Event::Closed { reason } => Some((side, id, reason)),
            _ => None,
        }));
        let ids: Vec<AssocId> = pair.endpoint(side).associations().collect();
        ids.into_iter().filter(|&id| pair.endpoint(side).state(id) == Some(State::Established)).collect()
    });
    for (side, ids) in SIDES.into_iter().zip(&standing) {
        for &id in ids {
            pair.endpoint(side).send(now, id, Message::new(Payload::Filler(10))).expect("it stands");
        }
    }
    pair.drain();
    pair.run_for(Span::from_secs(20));
    let heard = SIDES.map(|side| pair.read_all(side).len());
    Outcome { standing, closed, heard }
}

/// Asserts that both sides have the same number of associations, and that all of them work.
fn check(outcome: &Outcome, what: &str) {
    let Outcome { standing: [ours, theirs], closed, heard } = outcome;
    assert_eq!(ours.len(), theirs.len(), "{what}: {ours:?} {theirs:?} {closed:?}");
    assert_eq!(heard, &[theirs.len(), ours.len()], "{what}: {ours:?} {theirs:?} {closed:?}");
    for (side, id, reason) in closed {
        let violation = matches!(reason, CloseReason::ProtocolViolation { .. });
        assert!(
            !violation && *reason != CloseReason::Duplicate { of: *id },
            "{what}: {side:?} {id:?} {reason:?}"
        );
    }
}

// rfc9260#section-5.2: two endpoints have one association, in whatever order their packets arrive.
#[test]
fn two_connects_to_one_host_that_connects_too_make_one_association() {
    for connects in [[2, 1], [2, 0], [3, 1], [1, 1]] {
        for seed in 0..RUNS {
            let what = format!("seed {seed}, {connects:?}");
            let outcome = run(seed, connects);
            check(&outcome, &what);
            assert_eq!(outcome.standing[0].len(), 1, "{what}: {:?}", outcome.closed);
            for (side, id, reason) in outcome.closed {
                let expected = matches!(reason, CloseReason::Duplicate { .. } | CloseReason::ConnectTimeout);
                assert!(expected, "{what}: {side:?} {id:?} {reason:?}");
            }
        }
    }
}

// rfc9260#section-5.2: if both connect twice, two associations may remain, or one may later fail.
#[test]
fn two_connects_from_either_side_never_leave_half_an_association() {
    for seed in 0..RUNS {
        check(&run(seed, [2, 2]), &format!("seed {seed}"));
    }
}

const RUNS: u64 = 1000;
