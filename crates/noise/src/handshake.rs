//! The two messages of a handshake: Noise IKpsk2 by `snow`.

use crate::keys::{KEY, PrivateKey, PublicKey, Secret};
use crate::suite::Suite;
use crate::wire::{MESSAGE_1, MESSAGE_2, PAYLOAD};
use snow::{Builder, HandshakeState};

/// Prologue: data that both ends must agree on in addition to the keys; the number of the suite follows.
const PROLOGUE: &[u8; 17] = b"anabranch noise 2";
/// Position of the shared secret in the pattern IKpsk2.
const PSK: u8 = 2;

/// The keys of the two directions: from the initiator to the responder, and back.
pub(crate) type Keys = [[u8; KEY]; 2];

/// The initiator's state between the two messages.
#[derive(Debug)]
pub(crate) struct Initiator(HandshakeState);

/// The responder's state between the two messages.
#[derive(Debug)]
pub(crate) struct Responder(HandshakeState);

impl Initiator {
    /// Makes the first message. `None` if the system has no randomness.
    pub(crate) fn new(
        suite: Suite,
        own: &PrivateKey,
        peer: &PublicKey,
        psk: &Secret,
    ) -> Option<(Initiator, [u8; MESSAGE_1])> {
        Initiator::build(builder(suite, own)?, suite, peer, psk)
    }

    fn build<'a>(
        builder: Builder<'a>,
        suite: Suite,
        peer: &'a PublicKey,
        psk: &'a Secret,
    ) -> Option<(Initiator, [u8; MESSAGE_1])> {
        let prologue = prologue(suite);
        let builder = builder.prologue(&prologue).ok()?.psk(PSK, psk.bytes()).ok()?;
        let mut state = builder.remote_public_key(peer.bytes()).ok()?.build_initiator().ok()?;
        let mut message = [0; MESSAGE_1];
        state.write_message(&PAYLOAD, &mut message).ok()?;
        Some((Initiator(state), message))
    }

    /// Reads the second message. `None` if it is forged; the peer's own message may still follow.
    pub(crate) fn read(&mut self, message: &[u8]) -> Option<Keys> {
        read(&mut self.0, message)?;
        Some(self.0.dangerously_get_raw_split().into())
    }
}

impl Responder {
    /// Reads a first message, and returns who sent it. `None` if it is not authentic.
    pub(crate) fn new(suite: Suite, own: &PrivateKey, message: &[u8]) -> Option<(Responder, PublicKey)> {
        Responder::build(builder(suite, own)?, suite, message)
    }

    fn build(builder: Builder<'_>, suite: Suite, message: &[u8]) -> Option<(Responder, PublicKey)> {
        let mut state = builder.prologue(&prologue(suite)).ok()?.build_responder().ok()?;
        read(&mut state, message)?;
        let peer: [u8; KEY] = state.get_remote_static()?.try_into().ok()?;
        Some((Responder(state), peer.into()))
    }

    /// Makes the second message. `None` if the system has no randomness.
    pub(crate) fn write(mut self, psk: &Secret) -> Option<([u8; MESSAGE_2], Keys)> {
        self.0.set_psk(PSK.into(), psk.bytes()).ok()?;
        let mut message = [0; MESSAGE_2];
        self.0.write_message(&PAYLOAD, &mut message).ok()?;
        Some((message, self.0.dangerously_get_raw_split().into()))
    }
}

fn builder(suite: Suite, own: &PrivateKey) -> Option<Builder<'_>> {
    Builder::new(suite.protocol().parse().ok()?).local_private_key(own.bytes()).ok()
}

fn prologue(suite: Suite) -> [u8; PROLOGUE.len() + 1] {
    let mut prologue = [suite as u8; PROLOGUE.len() + 1];
    prologue[..PROLOGUE.len()].copy_from_slice(PROLOGUE);
    prologue
}

/// Reads a message; `None` if its payload names another version. Flags are ignored.
fn read(state: &mut HandshakeState, message: &[u8]) -> Option<()> {
    let mut payload = [0; PAYLOAD.len()];
    let length = state.read_message(message, &mut payload).ok()?;
    (length == PAYLOAD.len() && payload[0] == PAYLOAD[0]).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Key;
    use crate::keys::{ALICE, hex};

    /// Bob's private key of `rfc7748#section-6.1`.
    const BOB_PRIVATE: &str = "5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb";

    /// Test vectors computed by another implementation: message 1, message 2, the two keys, and `hello`
    /// sealed by each end with the counter of packet 5 on lane 2 (a pair of addresses). Each text is the end
    /// of a value, in hexadecimal digits; an empty text matches any value.
    #[test]
    fn handshakes_are_those_of_another_implementation() {
        let aes = [
            "7b4e909bbe7ffe44c465a220037d608ee35897d31ef972f07f74892cb0f73f133607b0c9a4f5df452b6a50c33b61910fe9e37b5be076c47ad498a42d9d370525c7c08efda260ccc86ce46038e74a64f14211d2b64b0620ea10f89247aaa98b27cfa4",
            "0faa684ed28867b97f4a6a2dee5df8ce974e76b7018e3f22a1c4cf2678570f20000e0d0a444c2d6c01bf80ccd5c0522bb025",
            "9910e967effdc9e0e5e1cbcc1db5ed3f09266d8077b388b87ceef23fe97c46e5",
            "97273ac4e1a4d19a72bafb7a8204706f4b638b3db74c1f6d23607b3ce0dbc22e",
            "1a93e8dedc12b657b5c950163253cb4766133c0311",
            "c81677b8fe3fe904c207ec6977400d1909d37cb660",
        ];
        let chacha = ["712435", "8a482d87", "", "", "c79806b998f16823361ffa5a07c0052a1e82826add", ""];
        for (suite, expected) in [(Suite::Aes256Gcm, aes), (Suite::ChaCha20Poly1305, chacha)] {
            let [alice, bob] = [ALICE, BOB_PRIVATE].map(|key| key.parse::<PrivateKey>().expect("64 digits"));
            let ephemeral = |own, bytes| {
                let builder = builder(suite, own).expect("a known protocol");
                builder.fixed_ephemeral_key_for_testing_only(bytes)
            };
            let (mut initiator, first) =
                Initiator::build(ephemeral(&alice, &[0x11; 32]), suite, &bob.public(), &Secret::ZERO)
                    .expect("is made");
            let (responder, who) =
                Responder::build(ephemeral(&bob, &[0x22; 32]), suite, &first).expect("is authentic");
            assert_eq!(who, alice.public());
            let (second, keys) = responder.write(&Secret::ZERO).expect("is made");
            assert_eq!(initiator.read(&second), Some(keys));
            let hello = keys.map(|mut key| {
                let mut out = b"hello".to_vec();
                Key::new(suite, &mut key).seal((2 << 56) | 5, &mut out, 0);
                hex(&out)
            });
            let [to, back] = hello;
            let found = [hex(&first), hex(&second), hex(&keys[0]), hex(&keys[1]), to, back];
            for (found, expected) in found.iter().zip(expected) {
                assert!(found.ends_with(expected), "{found} is not {expected}");
            }
        }
    }

    /// `snow` opens packets that our ciphers seal, and the reverse.
    #[test]
    fn packets_are_those_of_snow() {
        for suite in [Suite::Aes256Gcm, Suite::ChaCha20Poly1305] {
            let [alice, bob] = [(); 2].map(|()| PrivateKey::generate().expect("randomness"));
            let (initiator, first) =
                Initiator::new(suite, &alice, &bob.public(), &Secret::ZERO).expect("is made");
            let (responder, _) = Responder::new(suite, &bob, &first).expect("is authentic");
            let (second, mut keys) = responder.write(&Secret::ZERO).expect("is made");
            let mut state = initiator.0;
            read(&mut state, &second).expect("is authentic");
            let snow = state.into_stateless_transport_mode().expect("is complete");
            let [receive, send] = keys.each_mut().map(|key| Key::new(suite, key));
            for length in (0..1500_usize).step_by(77) {
                let counter = (length as u64) << 49;
                let packet: Vec<u8> = (0..length).map(|at| at as u8).collect();
                let mut sealed = vec![0; length + 16];
                snow.write_message(counter, &packet, &mut sealed).expect("is sealed");
                let mut opened = Vec::new();
                assert!(receive.open(counter, &sealed, &mut opened) && opened == packet, "{length}");
                let mut sealed = packet.clone();
                assert!(send.seal(counter, &mut sealed, 0));
                let mut opened = vec![0; length];
                assert_eq!(snow.read_message(counter, &sealed, &mut opened), Ok(length));
                assert_eq!(opened, packet);
            }
        }
    }

    #[test]
    fn another_secret_is_noticed_by_the_initiator() {
        let suite = Suite::ChaCha20Poly1305;
        let [alice, bob] = [(); 2].map(|()| PrivateKey::generate().expect("randomness"));
        let secret = Secret::generate().expect("randomness");
        let (mut initiator, first) = Initiator::new(suite, &alice, &bob.public(), &secret).expect("is made");
        let (responder, _) = Responder::new(suite, &bob, &first).expect("is authentic");
        let (second, _) = responder.write(&Secret::ZERO).expect("is made");
        assert_eq!(initiator.read(&second), None);
    }
}
