//! The keys of one handshake, one for each direction, with counters and replay windows.

use crate::key::Key;
use crate::lanes::{ReceiveLanes, SendLanes};
use crate::suite::{Suite, TAG};
use crate::wire::{self, HEADER};
use transport::{Octets, Transmit};
use units::{Instant, Span};

/// Largest age at which the initiator of a session requests a new one; see [`JITTER`].
pub(crate) const REKEY: Span = Span::from_secs(120);
/// The initiator requests a new session up to this many milliseconds before [`REKEY`], so that the clients of
/// a server do not all do so at once.
const JITTER: u32 = 10_000;
/// Age at which either end requests a new session, whichever route its next packet takes.
pub(crate) const REKEY_LATE: Span = Span::from_secs(150);
/// Time after which a session neither sends nor receives.
pub(crate) const LIFE: Span = Span::from_secs(180);
/// Number of forged packets after which a session ends, so that a forger's chance stays small.
const MOST_FORGED: u64 = 1 << 36;
/// Bytes that encryption adds to a packet.
pub(crate) const OVERHEAD: usize = HEADER + TAG;

/// Keys of one handshake, with counters and replay windows.
#[derive(Debug)]
pub(crate) struct Session {
    send_key: Key,
    receive_key: Key,
    /// Session index in the packets that the peer sends.
    pub(crate) local: u32,
    /// Session index in the packets that this end sends.
    pub(crate) remote: u32,
    /// True if this end began the handshake.
    pub(crate) is_ours: bool,
    send_lanes: SendLanes,
    receive_lanes: ReceiveLanes,
    /// Sum of the weights of the packets sent (see [`Suite::weight`]).
    sent: u64,
    forged: u64,
    born: Instant,
}

/// The result of a handshake.
#[derive(Debug)]
pub(crate) struct Agreed {
    pub(crate) suite: Suite,
    pub(crate) is_ours: bool,
    pub(crate) local: u32,
    pub(crate) remote: u32,
    /// Keys from the initiator to the responder, and back.
    pub(crate) keys: [[u8; 32]; 2],
}

impl Session {
    pub(crate) fn new(now: Instant, mut agreed: Agreed) -> Session {
        let [from_initiator, from_responder] =
            agreed.keys.each_mut().map(|bytes| Key::new(agreed.suite, bytes));
        let (send_key, receive_key) = match agreed.is_ours {
            true => (from_initiator, from_responder),
            false => (from_responder, from_initiator),
        };
        Session {
            send_key,
            receive_key,
            local: agreed.local,
            remote: agreed.remote,
            is_ours: agreed.is_ours,
            send_lanes: SendLanes::default(),
            receive_lanes: ReceiveLanes::default(),
            sent: 0,
            forged: 0,
            born: now,
        }
    }

    /// True if the session may still be used.
    pub(crate) fn is_alive(&self, now: Instant) -> bool {
        now.since(self.born) < LIFE && self.sent < self.send_key.suite().end() && self.forged < MOST_FORGED
    }

    pub(crate) fn is_older_than(&self, other: &Session) -> bool {
        self.born < other.born
    }

    /// Time at which the session ends, if it has not ended before.
    pub(crate) fn end(&self) -> Instant {
        self.born + LIFE
    }

    /// True if this end should request new keys before a packet on this route: the session is old, or has
    /// sent many packets. Until [`REKEY_LATE`] only the busiest route requests them, since another route may
    /// be metered.
    pub(crate) fn is_worn(&self, now: Instant, route: &Transmit) -> bool {
        let age = now.since(self.born);
        // The index is random, so that it serves as jitter.
        let early = REKEY.saturating_sub(Span::from_millis(u64::from(self.local % JITTER)));
        age >= REKEY_LATE
            || self.sent >= self.send_key.suite().worn()
            || (self.is_ours && age >= early && self.send_lanes.is_busiest(route))
    }

    /// Encrypts a packet and appends the datagram. False if the packet is too long for the cipher.
    pub(crate) fn seal(&mut self, route: &Transmit, packet: Octets<'_>, out: &mut Vec<u8>) -> bool {
        let counter = self.send_lanes.next(route);
        wire::data(self.remote, counter, out);
        let from = out.len();
        packet.append_to(out);
        self.sent += Suite::weight(out.len() - from);
        self.send_key.seal(counter, out, from)
    }

    /// Decrypts a packet and appends it, if it is authentic and new.
    pub(crate) fn open(&mut self, counter: u64, ciphertext: &[u8], out: &mut Vec<u8>) -> bool {
        if !self.receive_lanes.is_new(counter) {
            return false;
        }
        if !self.receive_key.open(counter, ciphertext, out) {
            self.forged += 1;
            return false;
        }
        self.receive_lanes.note(counter);
        true
    }

    /// True if a datagram with this counter was sent lately.
    pub(crate) fn is_recent(&self, counter: u64) -> bool {
        self.send_lanes.is_recent(counter)
    }

    #[cfg(test)]
    pub(crate) fn skip_to(&mut self, sent: u64) {
        self.sent = sent;
    }

    #[cfg(test)]
    pub(crate) fn forged(&self) -> u64 {
        self.forged
    }

    #[cfg(test)]
    pub(crate) fn suite(&self) -> Suite {
        self.send_key.suite()
    }
}
