//! When keys change, and how an end notices that the other end lost its keys.

use super::*;

#[test]
fn keys_change_every_two_minutes_and_the_old_ones_receive_for_ten_seconds() {
    let mut world = World::connected();
    world.seal(0, b"late");
    let late = world.flying.pop_back().expect("was sent").1;
    world.seal(0, b"too late");
    let too_late = world.flying.pop_back().expect("was sent").1;
    // The peer answers, so that it does not count as silent.
    world.assert_works();
    world.wait(Span::from_secs(109));
    world.assert_works();
    assert_eq!(read(&world.stats(0).sessions), 1);
    world.wait(Span::from_secs(11));
    world.assert_works();
    world.assert_works();
    assert_eq!([0, 1].map(|end| read(&world.stats(end).sessions)), [2, 2]);
    assert!(world.deliver(0, &late));
    world.wait(KEPT);
    assert!(!world.deliver(0, &too_late));
    world.assert_works();
}

#[test]
fn a_responder_rekeys_if_the_initiator_does_not() {
    let mut world = World::connected();
    world.now += REKEY_LATE;
    world.seal(1, b"from the responder");
    world.run_all();
    assert_eq!([0, 1].map(|end| read(&world.stats(end).sessions)), [2, 2]);
    assert_eq!(world.opened[0].last().map(Vec::as_slice), Some(&b"from the responder"[..]));
}

#[test]
fn a_session_ends_after_three_minutes_whatever_happens() {
    let mut world = World::connected();
    world.seal(0, b"old");
    let old = world.flying.pop_back().expect("was sent").1;
    world.now += Span::from_secs(180);
    assert!(!world.deliver(0, &old));
    world.seal(1, b"new");
    assert!(world.flying.iter().all(|(_, flying)| flying.bytes[0] == 1), "nothing leaves by old keys");
    world.run_all();
    world.assert_works();
}

#[test]
fn a_peer_that_lost_its_keys_is_noticed() {
    let [one, two] = [key(), key()];
    let mut world = World::with(&one, &two);
    world.seal(0, b"hello");
    world.run_all();
    world.ends[1] = noise(&two, &one);
    for _ in 0..7 {
        world.seal(0, b"is anybody there");
        world.run_all();
        world.wait(Span::from_secs(1));
    }
    assert_eq!(read(&world.stats(0).sessions), 2);
    world.assert_works();
}

#[test]
fn a_peer_that_lost_its_keys_is_noticed_within_a_second_if_it_is_sent_packets_all_the_time() {
    let [one, two] = [key(), key()];
    let mut world = World::with(&one, &two);
    world.seal(0, b"hello");
    world.run_all();
    world.ends[1] = noise(&two, &one);
    for _ in 0..12 {
        world.seal(0, b"is anybody there");
        world.run_all();
        world.wait(Span::from_millis(100));
    }
    assert_eq!(read(&world.stats(0).sessions), 2);
    world.assert_works();
}

#[test]
fn a_pause_after_a_packet_that_needs_no_answer_begins_no_handshake() {
    let mut world = World::connected();
    for _ in 0..20 {
        world.seal(0, b"heartbeat");
        world.run_all();
        world.wait(Span::from_millis(20));
        world.seal(1, b"answer");
        world.run_all();
        world.wait(Span::from_secs(1));
        world.seal(1, b"heartbeat");
        world.run_all();
        world.seal(0, b"answer");
        world.run_all();
        world.wait(Span::from_secs(2));
    }
    assert_eq!([0, 1].map(|end| read(&world.stats(end).sessions)), [1, 1]);
}

#[test]
fn heartbeats_and_their_answers_begin_no_handshake_before_the_keys_are_old() {
    let mut world = World::connected();
    let before = world.sent.len();
    for end in (0..2).cycle().take(18) {
        world.wait(Span::from_secs(6));
        world.seal(end, b"heartbeat");
        world.run_all();
        world.seal(1 - end, b"answer");
        world.run_all();
    }
    assert_eq!(kinds(&world)[before..].iter().filter(|&&(_, kind)| kind != 4).count(), 0);
}

#[test]
fn new_keys_are_asked_for_on_the_busiest_route_first_and_then_on_all() {
    let mut world = World::connected();
    let metered = Transmit { src: [10, 0, 1, 1].into(), ..route(0) };
    let mut out = Vec::new();
    assert!(world.ends[0].seal(world.now, &metered, b"heartbeat"[..].into(), &mut out));
    world.launch(0, metered, out);
    world.run_all();
    world.assert_works();
    let before = world.sent.len();
    let asked = |world: &World| -> Vec<IpAddr> {
        let without_cookie = |flying: &Flying| flying.bytes[0] == 1 && flying.bytes.ends_with(&[0; 16]);
        let initiations = world.sent[before..].iter().filter(|(_, flying)| without_cookie(flying));
        initiations.map(|(_, flying)| flying.route.src).collect()
    };
    let heartbeat = |world: &mut World| {
        assert!(world.ends[0].seal(world.now, &metered, b"heartbeat"[..].into(), &mut Vec::new()));
        world.collect(0);
    };
    world.now += REKEY;
    heartbeat(&mut world);
    assert!(asked(&world).is_empty(), "another route carries more");
    world.seal(0, b"packet");
    assert_eq!(asked(&world), [ADDRESSES[0]]);
    world.flying.clear();
    world.wait(Span::from_millis(250));
    assert_eq!(asked(&world), [ADDRESSES[0], ADDRESSES[0], metered.src]);
    world.assert_works();
    // Without packets on the other route, a heartbeat asks for new keys before the old ones end.
    let before = asked(&world).len();
    world.now += REKEY_LATE;
    heartbeat(&mut world);
    assert_eq!(asked(&world)[before..], [metered.src]);
}
