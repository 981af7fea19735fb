//! Peers that are allowed and revoked while the guard runs.

use super::*;
use crate::keys::KeyError;
use io::{GuardError, Identity};

/// A server that accepts `peers` given the client's key, and the client's key.
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
        // It notices the silence and asks for new keys, on and on.
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
