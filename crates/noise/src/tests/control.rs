//! Peers that are allowed and revoked while an endpoint runs.

use super::*;
use crate::keys::KeyError;
use io::{ChannelEnd, GuardError, Identity};

/// A world whose server accepts the peers that `peers` makes from the client's key. Also returns that key.
fn world(peers: impl FnOnce(PublicKey) -> Peers) -> (World, PublicKey) {
    let mut client_key = None;
    let world = server_and_client(|client, to_server| {
        client_key = Some(client);
        (peers(client), to_server)
    });
    (world, client_key.expect("is called"))
}

#[test]
fn nothing_of_a_revoked_peer_is_opened_or_answered_and_nothing_is_sent_to_it() {
    for everybody in [false, true] {
        let (mut world, client) =
            world(|client| if everybody { Peers::any() } else { Peers::known([client]) });
        world.seal(0, b"hello");
        world.run_all();
        world.assert_works();
        world.seal(0, b"in flight");
        let opened = world.opened[1].len();
        world.ends[1].control().revoke(client);
        world.run_all();
        assert_eq!(world.opened[1].len(), opened);
        let unbound = read(&world.stats(1).unbound);
        world.seal(1, b"secret");
        assert!(world.flying.is_empty());
        assert_eq!(read(&world.stats(1).unbound), unbound + 1);
        // The revoked client notices the silence and requests new keys again and again.
        let (before, curves) = (world.sent.len(), read(&world.stats(1).curves));
        for _ in 0..12 {
            world.seal(0, b"again");
            world.run_all();
            world.wait(Span::from_secs(1));
        }
        assert_eq!(world.opened[1].len(), opened);
        let answers = world.sent[before..].iter().filter(|(end, _)| *end == 1);
        assert!(answers.clone().count() > 0 && answers.clone().all(|(_, flying)| flying.bytes[0] == 3));
        assert!(read(&world.stats(1).curves) > curves, "only the curves tell who asks");
        assert_eq!(world.ends[1].channel(Some(&client.into())), Err(GuardError::UnknownPeer));
    }
}

#[test]
fn a_revoked_peer_that_is_allowed_again_gets_another_channel() {
    let (mut world, client) = world(|client| Peers::known([client]));
    let control = world.ends[1].control();
    world.seal(0, b"hello");
    world.run_all();
    let identity = Identity::from(client);
    let before = world.ends[1].channel(Some(&identity)).expect("is known");
    control.revoke(client);
    control.allow(client, None).expect("a good key");
    let after = world.ends[1].channel(Some(&identity)).expect("is known");
    assert_ne!(before, after, "its associations of before stay closed");
    assert_eq!(world.ends[1].identity(before), None);
    for _ in 0..12 {
        world.seal(0, b"again");
        world.run_all();
        world.wait(Span::from_secs(1));
    }
    assert_eq!(world.opened[1].last().map(Vec::as_slice), Some(&b"again"[..]));
}

#[test]
fn a_peer_is_allowed_with_its_secret_while_the_guard_runs() {
    let secret = Secret::generate().expect("randomness");
    let of_client = secret.clone();
    let mut client_key = None;
    let mut world = server_and_client(|client, to_server| {
        client_key = Some(client);
        (Peers::known([]), to_server.psk_for_all(of_client))
    });
    let (control, client) = (world.ends[1].control(), client_key.expect("is called"));
    let attempt = |world: &mut World| {
        world.seal(0, b"hello");
        world.run_all();
        world.wait(Span::from_secs(6));
        !world.opened[1].is_empty()
    };
    assert!(!attempt(&mut world), "it is not known");
    control.allow(client, None).expect("a good key");
    assert!(!attempt(&mut world), "the secret is missing");
    control.allow(client, Some(secret)).expect("a good key");
    assert!(attempt(&mut world));
    let weak = PublicKey::from([0; 32]);
    assert_eq!(control.allow(weak, None), Err(KeyError::Weak));
}

#[test]
fn the_driver_is_told_once_that_a_peer_was_revoked_and_that_there_is_no_session() {
    let (mut world, client) = world(|client| Peers::known([client]));
    world.seal(0, b"hello");
    world.run_all();
    assert_eq!(world.ends[1].poll_end(), None);
    world.ends[1].control().revoke(client);
    assert_eq!(world.ends[1].poll_end(), Some((Channel(1), ChannelEnd::Revoked)));
    assert_eq!(world.ends[1].poll_end(), None);
    // The client's session ends after 180 s. The client then tries in vain for half a minute.
    world.wait(Span::from_secs(181));
    for second in 0..40 {
        world.seal(0, b"again");
        world.run_all();
        world.wait(Span::from_secs(1));
        let told = world.ends[0].poll_end();
        assert_eq!(told.is_some(), told == Some((Channel(1), ChannelEnd::NoSession)));
        assert!(second >= 29 || told.is_none(), "after {second} s");
        if told.is_some() {
            return;
        }
    }
    panic!("the driver is not told");
}

#[test]
fn a_quote_counts_only_if_it_is_of_the_running_handshake_or_of_a_recent_packet() {
    let mut world = World::new();
    world.seal(0, b"hello");
    let initiation = world.flying[0].1.bytes.clone();
    assert_eq!(world.ends[0].quoted(&initiation[..8]), Some(Channel(1)));
    assert_eq!(world.ends[1].quoted(&initiation), None, "it did not send it");
    world.run_all();
    assert_eq!(world.ends[0].quoted(&initiation), None, "the handshake is complete");
    world.seal(0, b"data");
    let packet = world.flying[0].1.bytes.clone();
    assert_eq!(world.ends[0].quoted(&packet), Some(Channel(1)));
    assert_eq!(world.ends[0].quoted(&packet[..16]), Some(Channel(1)));
    assert_eq!(world.ends[0].quoted(&packet[..15]), None);
    assert_eq!(world.ends[1].quoted(&packet), None, "it received it");
    for bit in 0..8 * 16 {
        let mut forged = packet[..16].to_vec();
        forged[bit / 8] ^= 1 << (bit % 8);
        // The counters of the sent packets are 0, 1 and 2: a change of one of the two lowest bits may give
        // the counter of another sent packet.
        let is_another_one = (64..66).contains(&bit);
        assert!(is_another_one || world.ends[0].quoted(&forged).is_none(), "bit {bit}");
    }
    for _ in 0..1024 {
        world.seal(0, b"more");
    }
    assert_eq!(world.ends[0].quoted(&packet), None, "it is too old");
}

#[test]
fn a_rule_that_panics_refuses_the_peer_and_the_guard_goes_on() {
    let (mut world, client) = world(|_| Peers::any_if(|_| panic!("a rule with a defect")));
    world.seal(0, b"hello");
    world.run_all();
    assert!(world.opened[1].is_empty());
    world.ends[1].control().allow(client, None).expect("a good key");
    world.wait(Span::from_secs(2));
    world.assert_works();
}
