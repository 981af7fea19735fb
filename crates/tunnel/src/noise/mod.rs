//! Encryption below SCTP and above UDP: `Noise_IK_25519_ChaChaPoly_BLAKE2s`, both static keys known
//! beforehand.
//!
//! Sans-IO. There is one peer. A session is found by the index in a packet, never by its address, so that any
//! path and any NAT works. Either end begins a handshake when it has no session for data, when the session is
//! old, or when the peer does not answer; both may do so at once. The first message of a handshake has a MAC
//! with a key of the two ends. Without a cookie of the responder, it costs the responder only the check of
//! this MAC. See `docs/security.md`.

mod cookie;
mod handshake;
mod mac;
mod replay;
mod session;
#[cfg(test)]
mod tests;
mod wire;

use crate::keys::{KeyError, PrivateKey, PublicKey};
use crate::trace::{self, Refusals};
use cookie::Jar;
use handshake::Attempt;
use io::Guard;
use mac::MacKey;
pub(crate) use replay::Replay;
use session::{OVERHEAD, Session};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use transport::{Datagram, Octets, Transmit};
use units::{Instant, Span};
use wire::Parsed;

/// Age at which the initiator of a session requests a new one.
const REKEY: Span = Span::from_secs(120);
/// Age at which the responder requests a new one, if the initiator has not.
const REKEY_LATE: Span = Span::from_secs(150);
/// Time for which a replaced session still receives.
const KEPT: Span = Span::from_secs(10);
/// Time after which a peer that answers no packets may have lost its keys.
const SILENCE: Span = Span::from_secs(5);
/// The same for a peer to which packets are sent without a pause of this length.
const STEADY_SILENCE: Span = Span::from_secs(1);
/// Time for which a packet waits for a session that replaces another one; later its content would be too
/// late.
const PATIENCE: Span = Span::from_millis(500);
/// Largest number of packets that wait for a session.
const WAITING: usize = 8;
/// Largest number of routes on which a handshake is tried.
const ROUTES: usize = 8;
/// Largest number of queued datagrams of the guard itself.
const OUTGOING: usize = 16;

/// Encrypts and authenticates all datagrams between this end and one peer.
#[derive(Debug)]
pub struct Noise {
    private: PrivateKey,
    peer: PublicKey,
    /// Keys of the MACs that we send, and of those that we receive.
    macs: [MacKey; 2],
    /// The session that packets use, and whether we began it.
    current: Option<(Session, bool)>,
    /// The session before it, and the time of its replacement.
    previous: Option<(Session, Instant)>,
    /// A session that the peer began and has not used yet.
    next: Option<Session>,
    attempt: Option<Attempt>,
    jar: Jar,
    /// Routes of sent packets, the latest first.
    routes: Vec<Transmit>,
    waiting: VecDeque<(Instant, Transmit, Vec<u8>)>,
    outgoing: VecDeque<(Transmit, Vec<u8>)>,
    unanswered: Option<Unanswered>,
    packet: Vec<u8>,
    stats: Stats,
    refusals: Refusals,
}

/// Packets sent to the peer since the last packet from it.
#[derive(Debug)]
struct Unanswered {
    /// Time of the first packet after a pause. A last packet before a pause may have needed no answer.
    since: Option<Instant>,
    /// Time of the first packet after the last pause.
    steady: Instant,
    last: Instant,
}

impl Unanswered {
    fn note(&mut self, now: Instant) {
        if now.since(self.last) >= STEADY_SILENCE {
            self.steady = now;
            self.since.get_or_insert(now);
        }
        self.last = now;
    }

    /// True if the peer should have answered by now.
    fn is_silence(&self, now: Instant) -> bool {
        let is_steady = now.since(self.last) < STEADY_SILENCE;
        self.since.is_some_and(|since| now.since(since) >= SILENCE)
            || (is_steady && now.since(self.steady) >= STEADY_SILENCE)
    }
}

/// Counters that other threads may read.
pub type Stats = Arc<NoiseStats>;

/// Counters since the start.
#[derive(Debug, Default)]
pub struct NoiseStats {
    /// Handshakes that made a session.
    pub sessions: AtomicU64,
    /// Curve computations, at most six for each handshake: the expensive part.
    pub curves: AtomicU64,
    /// Initiations answered with a cookie.
    pub cookies: AtomicU64,
    /// Datagrams dropped because they were not authentic, not new or of no known form.
    pub refused: AtomicU64,
    /// Packets dropped because there was no session.
    pub unsent: AtomicU64,
    /// Last address that began a handshake with another key, and the number of such handshakes.
    stranger: Mutex<Option<(IpAddr, u64)>>,
}

impl NoiseStats {
    fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// The address of the last initiation with other keys, which anybody can forge, and the number of such
    /// initiations.
    pub fn stranger(&self) -> Option<(IpAddr, u64)> {
        *self.stranger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note_stranger(&self, from: IpAddr) {
        let mut stranger = self.stranger.lock().unwrap_or_else(PoisonError::into_inner);
        *stranger = Some((from, stranger.map_or(1, |(_, count)| count + 1)));
    }
}

impl Noise {
    /// The encryption between the owner of `private` and the owner of `peer`.
    ///
    /// # Errors
    /// [`KeyError::Weak`]; or an error of the system if it has no randomness.
    pub fn new(private: PrivateKey, peer: PublicKey) -> Result<Noise, NoiseError> {
        let shared = private.agree(&peer)?;
        let macs = [MacKey::toward(&peer, &shared), MacKey::toward(&private.public(), &shared)];
        Ok(Noise {
            private,
            peer,
            macs,
            current: None,
            previous: None,
            next: None,
            attempt: None,
            jar: Jar::new(Instant::ZERO)?,
            routes: Vec::new(),
            waiting: VecDeque::new(),
            outgoing: VecDeque::new(),
            unanswered: None,
            packet: Vec::new(),
            stats: Stats::default(),
            refusals: Refusals::default(),
        })
    }

    /// Counters of the guard.
    pub fn stats(&self) -> Stats {
        self.stats.clone()
    }

    /// Stores a route as the latest one.
    fn note_route(&mut self, route: &Transmit) {
        let same = |other: &Transmit| {
            (other.src, other.dst, other.udp_port) == (route.src, route.dst, route.udp_port)
        };
        match self.routes.iter().position(same) {
            Some(0) => {}
            Some(n) => self.routes[..=n].rotate_right(1),
            None => {
                self.routes.truncate(ROUTES - 1);
                let mut route = Transmit::new(route.src, route.dst);
                route.udp_port = 0;
                self.routes.insert(0, route);
            }
        }
        self.routes[0].udp_port = route.udp_port;
    }

    /// Begins a handshake if one is due before the next packet.
    fn renew(&mut self, now: Instant) {
        if self.current.as_ref().is_some_and(|(session, _)| !session.is_alive(now)) {
            self.current = None;
        }
        let silent = self.unanswered.as_ref().is_some_and(|unanswered| unanswered.is_silence(now));
        let due = self.current.as_ref().is_none_or(|(session, is_ours)| {
            silent || session.is_worn(now, if *is_ours { REKEY } else { REKEY_LATE })
        });
        if due {
            // While the keys are valid, the route of the packet is enough at first: another route may be
            // metered.
            let routes = if silent || self.current.is_none() { ROUTES } else { 1 };
            self.want_session(now, routes);
        }
    }

    fn send(&mut self, route: Transmit, datagram: Vec<u8>) {
        if self.outgoing.len() < OUTGOING {
            self.outgoing.push_back((route, datagram));
        }
    }

    /// A session takes the place of the current one; `from` sent what ended its handshake.
    fn replace(&mut self, now: Instant, from: IpAddr, session: Session, is_ours: bool) {
        trace::handshake(from, is_ours);
        let before = self.current.replace((session, is_ours));
        self.previous = before.map(|(session, _)| (session, now));
        self.unanswered = None;
        NoiseStats::count(&self.stats.sessions);
    }

    /// Decrypts a data packet with the session that it names.
    fn open_data(
        &mut self,
        now: Instant,
        from: IpAddr,
        receiver: u32,
        counter: u64,
        cipher: &[u8],
        out: &mut Vec<u8>,
    ) -> bool {
        if self.next.as_ref().is_some_and(|session| session.local == receiver) {
            let Some(mut session) = self.next.take().filter(|session| session.is_alive(now)) else {
                return false;
            };
            if !session.open(counter, cipher, out) {
                self.next = Some(session);
                return false;
            }
            // The packet shows that the peer has the keys.
            self.replace(now, from, session, false);
            return true;
        }
        let current = self.current.as_mut().map(|(session, _)| session);
        let previous = self.previous.as_mut().filter(|(_, at)| now.since(*at) < KEPT);
        let mut sessions = current.into_iter().chain(previous.map(|(session, _)| session));
        let session = sessions.find(|session| session.local == receiver);
        session.is_some_and(|session| session.is_alive(now) && session.open(counter, cipher, out))
    }

    /// True if an index names no session.
    fn is_free(&self, index: u32) -> bool {
        let current = self.current.as_ref().map(|(session, _)| session);
        let previous = self.previous.as_ref().map(|(session, _)| session);
        let sessions = [current, previous, self.next.as_ref()];
        let attempt = self.attempt.as_ref().map(|attempt| attempt.index);
        sessions.into_iter().flatten().map(|session| session.local).chain(attempt).all(|used| used != index)
    }
}

impl Guard for Noise {
    fn overhead(&self) -> usize {
        OVERHEAD
    }

    fn seal(&mut self, now: Instant, route: &Transmit, packet: Octets<'_>, out: &mut Vec<u8>) -> bool {
        self.note_route(route);
        self.renew(now);
        let Some((session, _)) = &mut self.current else {
            if self.waiting.len() == WAITING {
                self.waiting.pop_front();
                NoiseStats::count(&self.stats.unsent);
            }
            self.waiting.push_back((now, *route, packet.to_vec()));
            return false;
        };
        self.unanswered.get_or_insert(Unanswered { since: None, steady: now, last: now }).note(now);
        self.packet.clear();
        packet.append_to(&mut self.packet);
        session.seal(&self.packet, out)
    }

    fn open(&mut self, now: Instant, datagram: &Datagram<'_>, out: &mut Vec<u8>) -> bool {
        // Datagrams from a socket have all zeros stored.
        let bytes = datagram.bytes.head;
        let accepted = match wire::parse(bytes) {
            Some(Parsed::Data { receiver, counter, ciphertext }) => {
                let opened = self.open_data(now, datagram.src, receiver, counter, ciphertext, out);
                if opened {
                    self.unanswered = None;
                }
                opened
            }
            Some(Parsed::Initiation { sender, message, signed, mac, cookie }) => {
                let ours = self.macs[1].verify(&[signed], &mac);
                if !ours {
                    self.stats.note_stranger(datagram.src);
                }
                let accepted = ours && self.on_initiation(now, datagram, sender, message, (mac, cookie));
                if !accepted {
                    let reason =
                        if ours { "repeated, too many, or of another version" } else { "other keys" };
                    self.refusals.note(now, datagram.src, reason);
                }
                accepted
            }
            Some(Parsed::Response { sender, receiver, message, signed, mac }) => {
                self.is_awaited(receiver)
                    && self.macs[1].verify(&[signed], &mac)
                    && self.on_response(now, datagram, sender, message)
            }
            Some(Parsed::Cookie { receiver, cookie, signed, mac }) => {
                self.is_awaited(receiver) && self.on_cookie(datagram, cookie, signed, &mac)
            }
            None => false,
        };
        if !accepted {
            NoiseStats::count(&self.stats.refused);
        }
        // An empty packet only confirms the keys.
        accepted && !out.is_empty()
    }

    fn poll_transmit(&mut self, now: Instant, out: &mut Vec<u8>) -> Option<Transmit> {
        if let Some((route, datagram)) = self.outgoing.pop_front() {
            out.extend_from_slice(&datagram);
            return Some(route);
        }
        let (session, _) = self.current.as_mut()?;
        // Before the first session only packets of the SCTP handshake wait, which may be late.
        let is_first = self.stats.sessions.load(Ordering::Relaxed) == 1;
        while let Some((since, route, packet)) = self.waiting.pop_front() {
            if is_first || now.since(since) < PATIENCE {
                return session.seal(&packet, out).then_some(route);
            }
            NoiseStats::count(&self.stats.unsent);
        }
        None
    }

    fn poll_timeout(&self) -> Option<Instant> {
        self.attempt.as_ref().map(|attempt| attempt.deadline)
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.on_timer(now);
    }
}

/// Error: encryption cannot start.
#[derive(Debug, thiserror::Error)]
pub enum NoiseError {
    /// The peer's key cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The system has no randomness.
    #[error(transparent)]
    System(#[from] std::io::Error),
}
