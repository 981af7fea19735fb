//! A pair of keys, one for each direction, with counters and replay window.

use super::replay::Replay;
use super::wire::{self, HEADER, TAG};
use snow::StatelessTransportState;
use units::{Instant, Span};

/// Time after which a session neither sends nor receives.
const LIFE: Span = Span::from_secs(180);
/// Number of packets after which the keys are no longer used.
const MOST_PACKETS: u64 = 1 << 60;
/// Number of packets after which new keys are requested.
const REKEY_PACKETS: u64 = 1 << 32;

/// Keys of one handshake, with counters and replay window.
#[derive(Debug)]
pub(super) struct Session {
    keys: StatelessTransportState,
    /// Index by which the peer names the session to us.
    pub(super) local: u32,
    /// Index by which we name the session to the peer.
    remote: u32,
    sent: u64,
    replay: Replay,
    born: Instant,
}

impl Session {
    pub(super) fn new(now: Instant, keys: StatelessTransportState, local: u32, remote: u32) -> Self {
        Session { keys, local, remote, sent: 0, replay: Replay::default(), born: now }
    }

    /// True if the session may still be used.
    pub(super) fn is_alive(&self, now: Instant) -> bool {
        now.since(self.born) < LIFE && self.sent < MOST_PACKETS
    }

    /// True if new keys should replace it: it is older than `age`, or has sent many packets.
    pub(super) fn is_worn(&self, now: Instant, age: Span) -> bool {
        now.since(self.born) >= age || self.sent >= REKEY_PACKETS
    }

    /// Encrypts a packet and appends the datagram. False if the packet is too long for UDP.
    pub(super) fn seal(&mut self, packet: &[u8], out: &mut Vec<u8>) -> bool {
        wire::data(self.remote, self.sent, out);
        let header = out.len();
        out.resize(header + packet.len() + TAG, 0);
        let sealed = self.keys.write_message(self.sent, packet, &mut out[header..]);
        self.sent += 1;
        sealed.is_ok()
    }

    /// Decrypts a packet and appends it, if it is authentic and new.
    pub(super) fn open(&mut self, counter: u64, ciphertext: &[u8], out: &mut Vec<u8>) -> bool {
        if counter >= MOST_PACKETS || !self.replay.is_new(counter) || ciphertext.len() < TAG {
            return false;
        }
        let before = out.len();
        out.resize(before + ciphertext.len() - TAG, 0);
        if self.keys.read_message(counter, ciphertext, &mut out[before..]).is_err() {
            out.truncate(before);
            return false;
        }
        self.replay.note(counter);
        true
    }

    #[cfg(test)]
    pub(super) fn skip_to(&mut self, counter: u64) {
        self.sent = counter;
    }
}

/// Bytes that encryption adds to a packet.
pub(super) const OVERHEAD: usize = HEADER + TAG;
