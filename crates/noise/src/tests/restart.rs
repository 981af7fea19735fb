//! Tests of an end that lost its sessions by a restart, and of attackers that pretend such a loss.

use super::*;

/// A world whose server has restarted: it has the same key and no sessions.
fn restarted() -> World {
    let [one, two] = [key(), key()];
    let mut world = World::with(&one, &two);
    world.seal(0, b"hello");
    world.run_all();
    world.assert_works();
    world.ends[1] = noise(&two, &one);
    world
}

/// Seals a packet in each interval until the other end opens one. Returns how long this took.
fn time_to_open(world: &mut World, interval: Span) -> Span {
    let (begin, opened) = (world.now, world.opened[1].len());
    while world.now.since(begin) < Span::from_secs(60) {
        world.seal(0, b"are you there?");
        world.run_all();
        if world.opened[1].len() > opened {
            return world.now.since(begin);
        }
        world.wait(interval);
    }
    panic!("it is not found again");
}

#[test]
fn an_end_that_restarted_is_found_again_within_a_second_of_steady_packets() {
    let mut world = restarted();
    let took = time_to_open(&mut world, Span::from_millis(10));
    assert!(took <= Span::from_millis(1050), "{took:?}");
    world.assert_works();
}

#[test]
fn an_end_that_restarted_is_found_again_within_ten_seconds_of_rare_packets() {
    let mut world = restarted();
    // The five seconds of silence begin with the second packet. The first packet after them begins a
    // handshake, and the next one uses the new keys.
    let took = time_to_open(&mut world, Span::from_secs(2));
    assert!(took <= Span::from_secs(10), "{took:?}");
    world.assert_works();
}

#[test]
fn an_end_that_restarted_and_sends_first_replaces_the_session_at_once() {
    let mut world = restarted();
    world.seal(1, b"I am back");
    world.run_all();
    assert_eq!(world.opened[0].last().map(Vec::as_slice), Some(&b"I am back"[..]));
    world.assert_works();
}

#[test]
fn packets_of_unknown_sessions_cost_no_decryption_and_get_no_answer() {
    let mut world = World::connected();
    world.seal(0, b"data");
    let (_, packet) = world.flying.pop_back().expect("was sent");
    let (mut state, sent) = (1_u64, world.sent.len());
    let refused = read(&world.stats(1).refused);
    for n in 0..1_000_000_u32 {
        let mut guess = packet.clone();
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        guess.bytes[4..8].copy_from_slice(&((state >> 32) as u32).to_le_bytes());
        guess.route.src = n.to_be_bytes().into();
        assert!(!world.deliver(0, &guess));
    }
    assert_eq!(world.sent.len(), sent, "there is no answer that could be amplified or forged");
    assert_eq!(read(&world.stats(1).refused) - refused, 1_000_000);
    let forged = world.session(1).map(|session| session.forged());
    assert_eq!(forged, Some(0), "no guess was decrypted");
    assert!(world.deliver(0, &packet));
}

/// An attacker on the path, who sees indices and counters, forges packets of all kinds in both directions.
#[test]
fn forged_packets_end_no_session_and_begin_no_handshake() {
    let mut world = World::connected();
    let local = |world: &mut World| [0, 1].map(|end| world.session(end).map(|session| session.local));
    let (before, seen) = (local(&mut world), world.sent.clone());
    let handshakes = |world: &World| world.sent.iter().filter(|(_, flying)| flying.bytes[0] == 1).count();
    let began = handshakes(&world);
    for round in 0..60_u8 {
        for (from, flying) in &seen {
            let mut forged = flying.clone();
            let last = forged.bytes.len() - 1;
            forged.bytes[last] ^= 1 + round;
            world.deliver(*from, &forged);
            let mut ahead = forged.clone();
            if ahead.bytes[0] == 4 {
                // A counter far ahead must not move the replay window.
                ahead.bytes[12] = 255;
                world.deliver(*from, &ahead);
            }
        }
        world.flying.clear();
        world.wait(Span::from_millis(100));
        world.assert_works();
    }
    assert_eq!(local(&mut world), before);
    assert_eq!(handshakes(&world), began);
}

#[test]
fn datagrams_of_before_count_neither_after_new_keys_nor_after_a_restart() {
    let [one, two] = [key(), key()];
    let mut world = World::with(&one, &two);
    world.seal(0, b"hello");
    world.run_all();
    world.assert_works();
    let replay = |world: &mut World, seen: Vec<(usize, Flying)>| {
        let curves = [0, 1].map(|end| read(&world.stats(end).curves));
        for (from, flying) in seen {
            assert!(!world.deliver(from, &flying));
            world.flying.clear();
        }
        assert_eq!([0, 1].map(|end| read(&world.stats(end).curves)), curves);
        world.assert_works();
    };
    let seen = world.sent.clone();
    world.wait(REKEY_LATE);
    world.assert_works();
    assert!(read(&world.stats(0).sessions) > 1, "the keys are new");
    replay(&mut world, seen);
    let seen = world.sent.clone();
    world.ends[1] = noise(&two, &one);
    time_to_open(&mut world, Span::from_millis(10));
    replay(&mut world, seen);
}

#[test]
fn an_initiation_is_repeated_for_eight_cookies() {
    let mut world = World::new();
    world.seal(0, b"hello");
    let (_, initiation) = world.flying.pop_front().expect("was sent");
    let mut repeated = 0;
    for _ in 0..20 {
        world.deliver(0, &initiation);
        let (_, cookie) = world.flying.pop_front().expect("a cookie");
        assert_eq!(cookie.bytes[0], 3);
        world.deliver(1, &cookie);
        repeated += std::mem::take(&mut world.flying).len();
    }
    assert_eq!(repeated, 8);
}
